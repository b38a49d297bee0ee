/*
 * Call stacks. A trace keeps both tables as the bytes of a file (0.11.0):
 *
 *     callstacks   u64 count, each: u16 depth, depth * u64 frame; numbers count from 1
 *     frames       u64 count, each: u64 frame, u8 parts, u24 image,
 *                  parts * { u24 name, u24 file, u32 line, u64 symbol }     inlined ones first
 *
 * They are gone through from the front. Each function takes one thing off `rest`, and returns false
 * where there is no whole one left.
 */
#ifndef SB_TRACE_STACKS_H
#define SB_TRACE_STACKS_H

#include "trace/trace_model.h"

typedef struct sb_stack_frame {
    uint64_t id;
    uint32_t image;
    sb_slice parts;
} sb_stack_frame;

typedef struct sb_stack_part {
    sb_string name;
    sb_string file;
    uint32_t line;
    uint64_t symbol;
} sb_stack_part;

/* The count that both tables begin with; 0 for one that is not there. */
uint64_t sb_stack_take_count(sb_slice *rest);
/* The frames of a call stack, for sb_stack_take_id. */
bool sb_stack_take(sb_slice *rest, sb_slice *frames);
bool sb_stack_take_id(sb_slice *frames, uint64_t *id);
bool sb_stack_take_frame(sb_slice *rest, sb_stack_frame *frame);
bool sb_stack_take_part(sb_slice *parts, sb_stack_part *part);

/* ---- tables that are made of others ---- */

/* The tables of several traces as one: frames get new ids, stacks new numbers. */
typedef struct sb_stack_tables {
    sb_output stacks;
    sb_output frames;
    uint64_t stack_count;
    uint64_t frame_count;
} sb_stack_tables;

sb_stack_tables sb_stack_tables_make(void);
/*
 * Adds those of a trace. strings has its texts' numbers in the trace that the tables are for.
 * Returns how many stacks there were: number n of them is now n plus what stack_count was before.
 */
uint64_t sb_stack_tables_add(sb_stack_tables *tables, const sb_trace *from,
                             const sb_string *strings);
/* Gives the trace the tables, and frees them. */
void sb_stack_tables_finish(sb_stack_tables *tables, sb_trace *into);

#endif
