# The Python package, complete in build/.../python: sources, the native part for each interpreter
# that is found, and the binary with its library, as an installation has them.

set(STROBE_PYTHONS "" CACHE STRING "Python interpreters to build for (default: all that are found)")

function(strobe_find_pythons found)
  set(all)
  foreach(name python3 python3.9 python3.10 python3.11 python3.12 python3.13)
    find_program(path_of_${name} ${name})
    list(APPEND all ${path_of_${name}})
  endforeach()
  file(GLOB more $ENV{HOME}/.pyenv/versions/3.*/bin/python3)
  set(${found} ${all} ${more} PARENT_SCOPE)
endfunction()

# Asks an interpreter for its version, headers and the ending of its extensions.
function(strobe_ask_python python version headers suffix)
  execute_process(COMMAND ${python} -c "import sys, sysconfig
print('%d.%d' % sys.version_info[:2], sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'))"
    OUTPUT_VARIABLE answer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    set(answer "0;none;none")
  endif()
  string(REPLACE " " ";" answer "${answer}")
  list(GET answer 0 first)
  list(GET answer 1 second)
  list(GET answer 2 third)
  set(${version} ${first} PARENT_SCOPE)
  set(${headers} ${second} PARENT_SCOPE)
  set(${suffix} ${third} PARENT_SCOPE)
endfunction()

# Where it is installed; `strobe run` looks there, seen from the binary.
set(STROBE_PYTHON_PLACE ${CMAKE_INSTALL_LIBDIR}/strobe/python)
set(STROBE_PYTHON_FOLDER ${CMAKE_BINARY_DIR}/python)
set(STROBE_PYTHON_VERSIONS)
set(pythons ${STROBE_PYTHONS})
if(NOT pythons)
  strobe_find_pythons(pythons)
endif()

file(GLOB native_sources CONFIGURE_DEPENDS python/native/*.c)
# Python's interface wants names of arguments as texts that could be changed, and functions as
# pointers to nothing.
set_source_files_properties(${native_sources} PROPERTIES
  COMPILE_OPTIONS "-Wno-write-strings;-Wno-pedantic")
foreach(python ${pythons})
  strobe_ask_python(${python} version headers suffix)
  if(version VERSION_LESS 3.9 OR version IN_LIST STROBE_PYTHON_VERSIONS
     OR NOT EXISTS ${headers}/Python.h)
    continue()
  endif()
  list(APPEND STROBE_PYTHON_VERSIONS ${version})
  list(APPEND STROBE_PYTHON_INTERPRETERS ${python})
  set(target strobe_python_${version})
  add_library(${target} MODULE ${native_sources})
  target_include_directories(${target} PRIVATE include)
  target_include_directories(${target} SYSTEM PRIVATE ${headers})
  target_compile_definitions(${target} PRIVATE STROBE_ENABLE STROBE_MANUAL_LIFETIME)
  target_link_libraries(${target} PRIVATE strobe_flags strobe_shared)
  # The library lies in the package where it is installed, and in the build tree before that.
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME _native SUFFIX ${suffix}
    LIBRARY_OUTPUT_DIRECTORY ${STROBE_PYTHON_FOLDER}/tracy
    BUILD_RPATH "$ORIGIN/lib;${CMAKE_BINARY_DIR}" INSTALL_RPATH "$ORIGIN/../../..")
  install(TARGETS ${target} DESTINATION ${STROBE_PYTHON_PLACE}/tracy)
  list(APPEND STROBE_PYTHON_TARGETS ${target})
endforeach()
message(STATUS "Python package for: ${STROBE_PYTHON_VERSIONS}")

# The sources, copied when they change.
file(GLOB_RECURSE package_files RELATIVE ${CMAKE_SOURCE_DIR}/python CONFIGURE_DEPENDS
  python/tracy/*.py python/tracy/*.pyi python/tracy/py.typed python/ttnn.py)
foreach(file ${package_files})
  configure_file(python/${file} ${STROBE_PYTHON_FOLDER}/${file} COPYONLY)
endforeach()
add_custom_target(strobe_python ALL DEPENDS ${STROBE_PYTHON_TARGETS} strobe strobe_cuda_shared)

# The device and its operations for the package's ttnn; the sources of their kernels go along.
add_library(strobe_bridge SHARED python/bridge/bridge.c)
target_link_libraries(strobe_bridge PRIVATE strobe_flags strobe_ops strobe_device strobe_base)
set_target_properties(strobe_bridge PROPERTIES LIBRARY_OUTPUT_DIRECTORY
  ${STROBE_PYTHON_FOLDER}/tracy/lib BUILD_RPATH "$ORIGIN;${CMAKE_BINARY_DIR}"
  INSTALL_RPATH "$ORIGIN/../../../..")
install(TARGETS strobe_bridge DESTINATION ${STROBE_PYTHON_PLACE}/tracy/lib)
install(DIRECTORY python/tracy DESTINATION ${STROBE_PYTHON_PLACE} PATTERN __pycache__ EXCLUDE)
install(FILES python/ttnn.py DESTINATION ${STROBE_PYTHON_PLACE})
install(DIRECTORY examples/ops/kernels DESTINATION ${STROBE_PYTHON_PLACE}/tracy)
file(GLOB kernels RELATIVE ${CMAKE_SOURCE_DIR}/examples/ops/kernels CONFIGURE_DEPENDS
  examples/ops/kernels/*)
foreach(kernel ${kernels})
  configure_file(examples/ops/kernels/${kernel} ${STROBE_PYTHON_FOLDER}/tracy/kernels/${kernel}
    COPYONLY)
endforeach()
add_dependencies(strobe_python strobe_bridge)
