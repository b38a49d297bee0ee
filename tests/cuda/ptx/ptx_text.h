/*
 * Reading a text of PTX: words, numbers, marks. Comments and blanks are passed over. Names point
 * into the text.
 */
#ifndef PTX_TEXT_H
#define PTX_TEXT_H

#include "ptx.h"

typedef struct ptx_text {
    const char *at;
    uint32_t line;
    sb_error *error;
} ptx_text;

void ptx_skip(ptx_text *text);
bool ptx_is_at_end(ptx_text *text);
/* Takes a mark if it comes next. */
bool ptx_take(ptx_text *text, char mark);
bool ptx_next_is(ptx_text *text, char mark);
sb_status ptx_expect(ptx_text *text, char mark);
/* Letters, digits and "_$%."; "::" too, but no single colon. Empty: something else comes next. */
ptx_name ptx_word(ptx_text *text);
/* 12, -3, 0x1F, 0f3F800000 (the bits of a float). */
sb_status ptx_number(ptx_text *text, uint64_t *number);
bool ptx_is_number_next(ptx_text *text);
/* Cuts a name at its first dot: the part before it. */
ptx_name ptx_cut(ptx_name *rest);

/* Says the line. */
#define PTX_FAIL(text, ...) return ptx_fail((text), __VA_ARGS__)
sb_status ptx_fail(const ptx_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- what names mean, for the decoder (ptx_parse.c) ---- */

typedef struct ptx_names ptx_names;

bool ptx_find_register(const ptx_names *names, ptx_name name, ptx_operand *operand);
/* A variable or a parameter: its address in its own memory. */
bool ptx_find_symbol(const ptx_names *names, ptx_name name, uint64_t *address);

/* One instruction, behind labels, up to its semicolon. A branch's target is in *label. */
sb_status ptx_decode(ptx_text *text, const ptx_names *names, ptx_instruction *op, ptx_name *label);
/* "u32" and the like. */
bool ptx_type_of(ptx_name name, ptx_type *type);

#endif
