# libstrobe, the library that instrumented programs link: shared and static.
#
# It lives in other people's processes: besides the C library it needs liblz4 only, and it exports
# what include/ declares and nothing else.

set(client_sources client_clock.c client_define.c client_event.c client_file.c client_host.c
  client_image.c client_lane.c client_listener.c client_pool.c client_sender.c client_serial.c
  client_session.c client_set.c client_start.c client_tracy.c client_tracy_device.c
  client_tracy_lock.c client_zone.c)

strobe_module(client
  SOURCES ${client_sources}
  USES strobe_record strobe_wire strobe_base
  PRIVATE Threads::Threads)
target_include_directories(strobe_client PUBLIC include)
# Thread names, memory advice, event descriptors: what it needs of the system is the system's own.
target_compile_definitions(strobe_client PRIVATE _GNU_SOURCE STROBE_ENABLE STROBE_MANUAL_LIFETIME)

add_library(strobe_shared SHARED $<TARGET_OBJECTS:strobe_client>)
set_target_properties(strobe_shared PROPERTIES OUTPUT_NAME strobe EXPORT_NAME client
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(strobe_shared PRIVATE strobe_record strobe_wire strobe_base PkgConfig::lz4
  Threads::Threads)
target_include_directories(strobe_shared INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# Its thread outlives whoever loaded it, so it must never be unloaded.
target_link_options(strobe_shared PRIVATE -Wl,--as-needed -Wl,-z,nodelete -Wl,-z,defs)
