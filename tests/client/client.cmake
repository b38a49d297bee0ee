# libstrobe from outside: a program that is linked with it, and a reader.

set(client_dir ${CMAKE_CURRENT_SOURCE_DIR}/client)

add_executable(client_subject ${client_dir}/subject.c)
target_compile_definitions(client_subject PRIVATE TRACY_ENABLE _GNU_SOURCE)
target_link_libraries(client_subject PRIVATE strobe_shared Threads::Threads)

add_executable(client_host_ops ${client_dir}/host_ops.c)
target_compile_definitions(client_host_ops PRIVATE TRACY_ENABLE)
target_link_libraries(client_host_ops PRIVATE strobe_shared)

add_library(client_plugin MODULE ${client_dir}/plugin.c)
target_compile_definitions(client_plugin PRIVATE STROBE_ENABLE PLUGIN_NAME="plugin one")
target_link_libraries(client_plugin PRIVATE strobe_shared)

add_executable(test_client ${client_dir}/test_client.c ${client_dir}/collector.c)
target_link_libraries(test_client PRIVATE strobe_flags strobe_record strobe_wire strobe_base
  PkgConfig::cmocka)
target_compile_options(test_client PRIVATE -Wno-missing-prototypes)
add_test(NAME client.recording
  COMMAND test_client $<TARGET_FILE:client_subject> $<TARGET_FILE:client_plugin>)

# The same where zones are not compiled into the program but call the library.
add_executable(client_small_subject ${client_dir}/subject.c)
target_compile_definitions(client_small_subject PRIVATE TRACY_ENABLE _GNU_SOURCE)
target_compile_options(client_small_subject PRIVATE -Os)
set_target_properties(client_small_subject PROPERTIES OUTPUT_NAME client_subject
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/small)
target_link_libraries(client_small_subject PRIVATE strobe_shared Threads::Threads)
add_test(NAME client.recording_by_calls
  COMMAND test_client $<TARGET_FILE:client_small_subject> $<TARGET_FILE:client_plugin>)
set_tests_properties(client.recording client.recording_by_calls PROPERTIES TIMEOUT 600
  ENVIRONMENT "${STROBE_TEST_ENVIRONMENT}")

# A part of it alone, without the library that the other unit tests have through the device.
add_executable(test_client_clock ${client_dir}/test_client_clock.c)
target_include_directories(test_client_clock PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit)
target_link_libraries(test_client_clock PRIVATE strobe_flags strobe_client strobe_record
  strobe_wire strobe_base PkgConfig::cmocka)
target_compile_definitions(test_client_clock PRIVATE STROBE_ENABLE STROBE_MANUAL_LIFETIME)
target_compile_options(test_client_clock PRIVATE -Wno-missing-prototypes)
target_link_options(test_client_clock PRIVATE ${STROBE_PLAIN_LINK})
add_test(NAME client.clock COMMAND test_client_clock)

# Every public macro of Tracy's is listed, and is there or is not as the list says.
add_test(NAME client.macros COMMAND python3 ${client_dir}/macros.py)

# The programs that the documentation shows.
if(NOT STROBE_SANITIZE)
  add_test(NAME client.snippets COMMAND python3 ${client_dir}/snippets.py ${CMAKE_BINARY_DIR})
  set_tests_properties(client.snippets PROPERTIES TIMEOUT 300)
endif()
