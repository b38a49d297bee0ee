# How the code is compiled: the language, the warnings, the sanitizers.

option(STROBE_TESTS "Build the tests" ON)
option(STROBE_BENCH "Build the benchmarks" ON)
option(STROBE_FUZZ "Build the fuzz targets (clang only)" OFF)
set(STROBE_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Assertions stay on in every build: they state what the code relies on, and cost little.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")

# Small functions of base are called from every module; link-time optimisation lets them be inlined.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT STROBE_SANITIZE)
  include(CheckIPOSupported)
  check_ipo_supported(RESULT STROBE_HAS_IPO LANGUAGES C)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${STROBE_HAS_IPO})
  # Objects that can also be linked as they are: the many test programs are.
  if(STROBE_HAS_IPO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-ffat-lto-objects)
    set(STROBE_PLAIN_LINK -fno-lto)
  endif()
endif()

add_library(strobe_flags INTERFACE)
target_compile_definitions(strobe_flags INTERFACE _DEFAULT_SOURCE _POSIX_C_SOURCE=200809L)
target_compile_options(strobe_flags INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes
  -Wmissing-prototypes -Wold-style-definition -Wwrite-strings -Wcast-qual -Wformat=2 -Wundef
  -Wvla -Wpointer-arith
  # Reports are compared digit by digit: a fused multiply-add would round once instead of twice.
  -ffp-contract=off
  -fno-common)

if(STROBE_SANITIZE)
  # For all targets and not only ours, so that every object agrees on the layout of its memory.
  add_compile_options(-fsanitize=${STROBE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STROBE_SANITIZE})
endif()
