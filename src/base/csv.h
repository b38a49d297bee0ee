/*
 * Reading comma-separated values.
 *
 * The reader hands out one record at a time as slices of the text it was given: nothing is copied
 * but fields with doubled quotes (or text behind a closing quote), which are put together in an
 * arena. It never fails: whatever the bytes are, some records come out, and `flaws` says what was
 * wrong with the last one.
 *
 *     sb_csv csv;
 *     sb_csv_begin(&csv, text);
 *     while (sb_csv_next(&csv))
 *         use(csv.fields, csv.field_count);
 *     sb_csv_end(&csv);
 *
 * Syntax: separator ','; a '"' that opens a field quotes it, and is doubled inside; line breaks in
 * quotes are data; lines end in LF, CRLF or CR; the last line end may be missing; a UTF-8 byte
 * order mark in front is dropped; lines of blanks and tabs only are skipped. Records may have any
 * number of fields.
 *
 * Speed: the text is classified 64 bytes at a time into a bit mask of the four characters that
 * matter, and the reader walks from bit to bit.
 */
#ifndef SB_BASE_CSV_H
#define SB_BASE_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/slice.h"

enum {
    SB_CSV_OPEN_QUOTE = 1,  /* the text ends inside quotes */
    SB_CSV_AFTER_QUOTE = 2, /* text stood between a closing quote and the next separator */
};

typedef struct sb_csv {
    sb_slice *fields; /* of the current record; valid until the next one is read */
    size_t field_count;
    size_t line;       /* the line on which the current record begins, from 1 */
    size_t offset;     /* the byte at which the next record begins */
    unsigned flaws;    /* SB_CSV_... of the current record */
    bool non_ascii;    /* some byte so far was not ASCII */
    bool ended_by_eof; /* the current record was ended by the end of the text, not of a line */

    sb_slice text;
    size_t block;  /* where the classified 64 bytes begin */
    uint64_t mask; /* their special characters from here on */
    size_t lines_passed;
    size_t field_capacity;
    sb_arena arena; /* fields that had to be put together */
} sb_csv;

/* text must stay valid until sb_csv_end. */
void sb_csv_begin(sb_csv *csv, sb_slice text);
/* Reads the next record; false at the end of the text. */
bool sb_csv_next(sb_csv *csv);
void sb_csv_end(sb_csv *csv);

#endif
