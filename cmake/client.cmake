# libstrobe, the library that instrumented programs link: shared and static.
#
# It lives in other people's processes: besides the C library it needs liblz4 only, and it exports
# what include/ declares and nothing else.

strobe_module(client
  USES strobe_record strobe_wire strobe_base
  PRIVATE Threads::Threads)
target_include_directories(strobe_client PUBLIC include)
# Thread names, memory advice, event descriptors: what it needs of the system is the system's own.
target_compile_definitions(strobe_client PRIVATE _GNU_SOURCE STROBE_ENABLE STROBE_MANUAL_LIFETIME)

add_library(strobe_shared SHARED $<TARGET_OBJECTS:strobe_client>)
# As those call it that find it installed.
add_library(strobe::client ALIAS strobe_shared)
set_target_properties(strobe_shared PROPERTIES OUTPUT_NAME strobe EXPORT_NAME client
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(strobe_shared PRIVATE $<BUILD_INTERFACE:strobe_record>
  $<BUILD_INTERFACE:strobe_wire> $<BUILD_INTERFACE:strobe_base> $<BUILD_INTERFACE:PkgConfig::lz4>
  Threads::Threads)
target_include_directories(strobe_shared INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Its thread outlives whoever loaded it, so it must never be unloaded.
target_link_options(strobe_shared PRIVATE -Wl,--as-needed -Wl,-z,nodelete)
# The functions of a sanitizer are in the program that loads the library.
if(NOT STROBE_SANITIZE)
  target_link_options(strobe_shared PRIVATE -Wl,-z,defs)
endif()

# The static library holds all it needs of the other modules, and no intermediate code of the
# compiler's: whoever links it may have another one.
set(static_sources)
foreach(module client record wire)
  get_target_property(sources strobe_${module} SOURCES)
  list(APPEND static_sources ${sources})
endforeach()
list(FILTER static_sources EXCLUDE REGEX "/(wire_journal|record_file)\\.c$")
add_library(strobe_static STATIC ${static_sources} src/base/map.c src/base/slice.c
  src/base/status.c src/base/thread.c)
set_target_properties(strobe_static PROPERTIES OUTPUT_NAME strobe EXPORT_NAME client_static
  INTERPROCEDURAL_OPTIMIZATION OFF)
target_compile_definitions(strobe_static PRIVATE _GNU_SOURCE STROBE_ENABLE STROBE_MANUAL_LIFETIME)
target_include_directories(strobe_static PRIVATE src include INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(strobe_static PRIVATE $<BUILD_INTERFACE:strobe_flags>
  $<BUILD_INTERFACE:PkgConfig::lz4> INTERFACE $<INSTALL_INTERFACE:lz4> Threads::Threads)
