# libstrobe_device, the library for programs on a device. Its sources are the module's; it exports
# what strobe/device.h and strobe/error.h declare and nothing else.

# The same name as find_package gives, so that examples are built alike here and elsewhere.
add_library(strobe::device ALIAS strobe_device)

add_library(strobe_device_shared SHARED $<TARGET_OBJECTS:strobe_device>)
set_target_properties(strobe_device_shared PROPERTIES OUTPUT_NAME strobe_device EXPORT_NAME device
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN")
# What it records goes through the libstrobe that the program has too, never a second one inside it.
target_link_libraries(strobe_device_shared PRIVATE $<BUILD_INTERFACE:strobe_base> strobe_shared
  strobe_cuda_shared
  m Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(strobe_device_shared INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_options(strobe_device_shared PRIVATE -Wl,--as-needed)
if(NOT STROBE_SANITIZE)
  target_link_options(strobe_device_shared PRIVATE -Wl,-z,defs)
endif()
