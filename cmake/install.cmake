# What `make install` lays down. Libraries that later modules add join the export set, so that
# find_package(strobe) and pkg-config grow without changing their names.

include(CMakePackageConfigHelpers)

install(TARGETS strobe EXPORT strobe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# The library for instrumented programs: strobe::client, or strobe::client_static.
install(TARGETS strobe_shared strobe_static EXPORT strobe
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/strobe include/tracy DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY examples/client DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The library for programs on a device, strobe::device, and programs that use it. Their kernels are
# compiled where they lie.
install(TARGETS strobe_device_shared EXPORT strobe LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES examples/CMakeLists.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY examples/cuda examples/ops examples/tiny_gpt DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The library for zones in CUDA kernels, strobe::cuda.
install(TARGETS strobe_cuda_shared EXPORT strobe LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The names of the tools that commands stand in for.
install(CODE "
  set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  foreach(name tt-perf-report tracy-csvexport csvexport-release tracy-capture capture-release)
    file(CREATE_LINK strobe \"\${bin}/\${name}\" SYMBOLIC)
    message(STATUS \"Installing: \${bin}/\${name} -> strobe\")
  endforeach()
")

# Completion scripts come from the option tables of the binary itself.
foreach(shell bash zsh)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/completion/${shell}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completion
    COMMAND strobe completion ${shell} > ${CMAKE_BINARY_DIR}/completion/${shell}
    DEPENDS strobe VERBATIM)
endforeach()
add_custom_target(strobe_completion ALL
  DEPENDS ${CMAKE_BINARY_DIR}/completion/bash ${CMAKE_BINARY_DIR}/completion/zsh)
install(FILES ${CMAKE_BINARY_DIR}/completion/bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME strobe)
install(CODE "
  set(completions \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions\")
  file(CREATE_LINK strobe \"\${completions}/tt-perf-report\" SYMBOLIC)
")
install(FILES ${CMAKE_BINARY_DIR}/completion/zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _strobe)

install(FILES README.md CONTRIBUTING.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(STROBE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/strobe)
configure_package_config_file(cmake/strobeConfig.cmake.in
  ${CMAKE_BINARY_DIR}/strobeConfig.cmake INSTALL_DESTINATION ${STROBE_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/strobeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT strobe NAMESPACE strobe:: FILE strobeTargets.cmake DESTINATION ${STROBE_CMAKE_DIR})
install(FILES ${CMAKE_BINARY_DIR}/strobeConfig.cmake ${CMAKE_BINARY_DIR}/strobeConfigVersion.cmake
  DESTINATION ${STROBE_CMAKE_DIR})

# Found from where the file lies, so that the installed tree can be moved.
file(RELATIVE_PATH STROBE_PREFIX_FROM_PC
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name strobe strobe-device strobe-cuda)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
