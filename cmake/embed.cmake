# Writes files as C arrays, so that a binary carries what it needs at run time.
#   cmake -DOUTPUT=x.c -DHEADER=x.h -DPREFIX=device -DFILES="name=path;..." -P embed.cmake
set(text "/* Made by cmake/embed.cmake. */\n#include \"${HEADER}\"\n\n")
set(table "")
set(index 0)
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" _ "${entry}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
         "\\1\n" bytes "${bytes}")
  string(APPEND text "static const unsigned char file_${index}[] = {\n${bytes}};\n")
  string(APPEND table "    {\"${name}\", file_${index}, sizeof file_${index}},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(APPEND text "\nconst ${PREFIX}_source_file ${PREFIX}_source_files[] = {\n${table}};\n")
string(APPEND text "const size_t ${PREFIX}_source_file_count = ${index};\n")
file(WRITE "${OUTPUT}" "${text}")
