/*
 * Images: lists and columns as they lie in memory, in a file that is mapped and used in place.
 *
 * Reading a large trace file means decoding it, zone by zone. An image of the trace is opened in
 * the time that checking it takes, and its pages are memory the system may take back.
 *
 *     file     := piece, piece, ..., head, tail          pieces begin at multiples of 64
 *     piece    := elements of one segment of a series (trace_series.h), or bytes
 *     head     := numbers, and of each piece its place and checksums (XXH3, one per 8 MB)
 *     tail     := size and checksum of the head, layout, magic
 *
 * One function goes over what is to be kept and names each part, whether it is written or read:
 *
 *     sb_image image = sb_image_write(output);       sb_image_open(&image, bytes, &error);
 *     keep_all(&image, &what);                       keep_all(&image, &what);
 *     sb_image_finish(&image);                       sb_image_check(&image, NULL, NULL, &error);
 *
 * An image is for the machine and the version that wrote it: layouts are those of structures, and
 * sb_image_open refuses any other. What is in it is not trusted: no piece is used whose checksum is
 * wrong, and numbers that name something are held against the count of what they name.
 */
#ifndef SB_TRACE_IMAGE_H
#define SB_TRACE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "trace/trace_model.h"

/* Part of an element that names something: it must be below a bound. */
typedef struct sb_image_reference {
    uint16_t offset;
    uint16_t width; /* in bytes: 1 or 4; 0 ends a list */
    bool may_be_none;
    uint64_t bound;
} sb_image_reference;

enum { SB_IMAGE_REFERENCES = 4 };

typedef enum sb_image_rule {
    SB_IMAGE_ANY,
    SB_IMAGE_PARENTS, /* words: at most the element's own number */
    SB_IMAGE_ENDS,    /* durations: `ends` has something for those that are SB_ZONE_LONG */
} sb_image_rule;

/* What the elements of a series must keep to. */
typedef struct sb_image_form {
    sb_image_reference references[SB_IMAGE_REFERENCES];
    sb_image_rule rule;
    const sb_series *ends;
} sb_image_form;

typedef struct sb_image {
    bool is_reading;
    /* writing */
    sb_output *output;
    uint64_t offset;
    sb_output head;
    /* reading */
    sb_slice bytes;
    sb_slice left;    /* of the head */
    sb_vector chunks; /* image_chunk: what has to be checked */
    bool is_bad;      /* the head makes no sense; numbers read from then on are 0 */
} sb_image;

sb_image sb_image_write(sb_output *output);
/* Writes head and tail. The caller finishes the output. */
void sb_image_finish(sb_image *image);

/* bytes must stay. Fails if they are not an image of this version, or its head is damaged. */
sb_status sb_image_open(sb_image *image, sb_slice bytes, sb_error *error);
/* Says how far a check is, in bytes. */
typedef void (*sb_image_progress)(void *context, uint64_t done, uint64_t total);
/* Checks all that has been read, in several threads. */
sb_status sb_image_check(sb_image *image, sb_image_progress progress, void *context,
                         sb_error *error);
void sb_image_close(sb_image *image);
/* Says that something read makes no sense. */
void sb_image_refuse(sb_image *image);

/* ---- parts: written from what is there, or read into it ---- */

void sb_image_number(sb_image *image, uint64_t *number);
void sb_image_word(sb_image *image, uint32_t *word);
void sb_image_byte(sb_image *image, uint8_t *byte);
void sb_image_flag(sb_image *image, bool *flag);
void sb_image_time(sb_image *image, int64_t *time);
void sb_image_real(sb_image *image, double *real);
/* A number below bound, or the image is refused; or SB_NONE, where that is allowed. */
void sb_image_named(sb_image *image, uint32_t *number, uint64_t bound, bool may_be_none);
/* Bytes; read, they are those of the image. */
void sb_image_bytes(sb_image *image, sb_slice *bytes);
/* All elements of a series. */
void sb_image_list(sb_image *image, sb_series *series, const sb_image_form *form);
/* A series that belongs to `rows` things, such as the zones of a track: full, or sparse. */
void sb_image_column(sb_image *image, sb_series *series, uint64_t rows, bool is_full,
                     const sb_image_form *form);

/* ---- traces ---- */

/*
 * All of a trace. One that is read must have been made by sb_trace_create; the image's bytes must
 * outlive it, and nothing may be added to it.
 */
void sb_image_trace(sb_image *image, sb_trace *trace);

#endif
