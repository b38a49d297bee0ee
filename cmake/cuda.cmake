# libstrobe_cuda, the library for programs with zones in CUDA kernels. Built without CUDA: the driver
# and the run-time compiler are loaded where they are. It exports what strobe/cuda_host.h,
# strobe/cuda_gpu.h and strobe/error.h declare and nothing else.

# Headers for kernels travel inside the library.
set(STROBE_CUDA_FILES
  strobe/cuda.h=${CMAKE_CURRENT_SOURCE_DIR}/include/strobe/cuda.h
  cuda_layout.h=${CMAKE_CURRENT_SOURCE_DIR}/include/strobe/cuda_layout.h
  cuda_record.h=${CMAKE_CURRENT_SOURCE_DIR}/include/strobe/cuda_record.h)
list(TRANSFORM STROBE_CUDA_FILES REPLACE "^[^=]*=" "" OUTPUT_VARIABLE STROBE_CUDA_PATHS)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/cuda_sources.c
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${CMAKE_BINARY_DIR}/cuda_sources.c
          -DHEADER=cuda/cuda_sources.h -DPREFIX=cuda "-DFILES=${STROBE_CUDA_FILES}"
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${STROBE_CUDA_PATHS} cmake/embed.cmake VERBATIM)

strobe_module(cuda
  USES strobe_shared strobe_base
  PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_sources(strobe_cuda PRIVATE ${CMAKE_BINARY_DIR}/cuda_sources.c)
# Zones of kernels go into the recording of the program.
set_source_files_properties(src/cuda/cuda_tracks.c PROPERTIES
  COMPILE_DEFINITIONS "STROBE_ENABLE;STROBE_MANUAL_LIFETIME")

# Where a library lies is told by the system's own functions.
set_source_files_properties(src/cuda/cuda_units.c src/cuda/cuda_compile.c
  PROPERTIES COMPILE_DEFINITIONS _GNU_SOURCE)

add_library(strobe_cuda_shared SHARED $<TARGET_OBJECTS:strobe_cuda>)
# As those call it that find it installed.
add_library(strobe::cuda ALIAS strobe_cuda_shared)
set_target_properties(strobe_cuda_shared PROPERTIES OUTPUT_NAME strobe_cuda EXPORT_NAME cuda
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} BUILD_RPATH "$ORIGIN"
  INSTALL_RPATH "$ORIGIN")
target_link_libraries(strobe_cuda_shared PRIVATE $<BUILD_INTERFACE:strobe_base> strobe_shared
  m Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(strobe_cuda_shared INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Its thread may outlive whoever loaded it, so it must never be unloaded.
target_link_options(strobe_cuda_shared PRIVATE -Wl,--as-needed -Wl,-z,nodelete)
if(NOT STROBE_SANITIZE)
  target_link_options(strobe_cuda_shared PRIVATE -Wl,-z,defs)
endif()
