# The page of `strobe view`: TypeScript in web/, bundled by esbuild and laid into a C file.

find_program(STROBE_NODE NAMES node nodejs)
find_program(STROBE_NPM npm)
if(NOT STROBE_NODE OR NOT STROBE_NPM)
  message(FATAL_ERROR "the page of strobe view is built with Node.js 18 or later and npm, "
    "which are not there: run tools/deps, or install nodejs and npm")
endif()

set(STROBE_WEB ${CMAKE_SOURCE_DIR}/web)
set(STROBE_WEB_ASSETS ${CMAKE_BINARY_DIR}/web/view_assets.c)
file(GLOB STROBE_WEB_SOURCES CONFIGURE_DEPENDS
  ${STROBE_WEB}/src/*.ts ${STROBE_WEB}/src/*.tsx ${STROBE_WEB}/src/*.css)
add_custom_command(OUTPUT ${STROBE_WEB_ASSETS}
  COMMAND ${CMAKE_SOURCE_DIR}/tools/web
  COMMAND ${STROBE_NODE} ${STROBE_WEB}/build.mjs ${CMAKE_BINARY_DIR}/web
  DEPENDS ${STROBE_WEB_SOURCES} ${STROBE_WEB}/build.mjs ${STROBE_WEB}/index.html
    ${STROBE_WEB}/package-lock.json ${CMAKE_SOURCE_DIR}/tools/web
  COMMENT "Bundling the page of strobe view" VERBATIM)
