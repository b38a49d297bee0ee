/*
 * base: what every other module stands on.
 *
 * Small parts with no knowledge of profiling, each in a header of its own and each explained there:
 *
 *   status.h    how functions say that they failed (sb_status, sb_error, SB_TRY, SB_FAIL)
 *   slice.h     pieces of text with a length (sb_slice)
 *   memory.h    allocation that cannot fail, arena, vector (sb_arena, sb_vector)
 *   intern.h    hash map from text to a small number (sb_intern)
 *   idmap.h     hash map from a 64-bit id to a small number (sb_idmap)
 *   map.h       hash map from number to number, for code in other people's processes (sb_map)
 *   key.h       content as a name, for what is found again by it (sb_key)
 *   number.h    numbers to text and back, exactly
 *   unicode.h   UTF-8: checking, cleaning, width on a terminal
 *   file.h      input files, mapped (sb_file)
 *   output.h    buffered output to a descriptor, to memory, or to a file that appears whole
 *               (sb_output)
 *   folder.h    folders and paths
 *   kept.h      files of a cache folder, for code in other people's processes
 *   clock.h     clocks
 *   socket.h    connections and datagrams, with a limit on every wait
 *   csv.h       reading comma-separated values without copying (sb_csv)
 *   json.h      texts and numbers in JSON
 *   style.h     colours, and whether to use them (sb_style)
 *   table.h     tables of text (sb_table)
 *   parallel.h  work split over threads
 *   thread.h    threads in other people's processes
 *   process.h   other programs, run for what they print
 *   log.h       messages to the person at the terminal
 *
 * Other modules include this header only. base uses the C library and nothing else of Strobe's.
 * Unless a header says otherwise an object belongs to one thread at a time.
 */
#ifndef SB_BASE_BASE_H
#define SB_BASE_BASE_H

#include "base/clock.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/kept.h"
#include "base/key.h"
#include "base/log.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/output.h"
#include "base/parallel.h"
#include "base/process.h"
#include "base/slice.h"
#include "base/socket.h"
#include "base/status.h"
#include "base/style.h"
#include "base/table.h"
#include "base/thread.h"
#include "base/unicode.h"

#endif
