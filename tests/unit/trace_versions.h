/*
 * A second, small writer of trace files, for versions that the real one does not write: one entry
 * in every section whose layout ever changed. It is written from the description of the format, not
 * from the reader, so that the two check each other.
 */
#ifndef SB_TESTS_UNIT_TRACE_VERSIONS_H
#define SB_TESTS_UNIT_TRACE_VERSIONS_H

#include "testing.h"

#define VERSION(major, minor, patch) ((uint32_t)((major) << 16 | (minor) << 8 | (patch)))

typedef struct body_writer {
    sb_output output;
    uint32_t version;
    bool tenstorrent;
} body_writer;

static inline void put(body_writer *body, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++)
        sb_put_char(&body->output, (char)(value >> (8 * i)));
}

static inline void put_zeroes(body_writer *body, size_t size) {
    sb_put_fill(&body->output, '\0', size);
}

static inline void put_text(body_writer *body, const char *text) {
    put(body, strlen(text), 8);
    sb_put_text(&body->output, text);
}

/* A string by its position, from 0. */
static inline void put_reference(body_writer *body, uint64_t position) {
    put(body, position, 8);
    put(body, 3, 1);
}

static inline void put_versioned_head(body_writer *body) {
    sb_put_text(&body->output, "tracy");
    put(body, body->version >> 16, 1);
    put(body, body->version >> 8, 1);
    put(body, body->version, 1);
    if (body->version < VERSION(0, 12, 3))
        put(body, 0, 8);
    put_zeroes(body, 16);
    put(body, 1000, 8); /* last time */
    put_zeroes(body, 24 + 1 + 4 + 12);
    if (body->version >= VERSION(0, 9, 2))
        put(body, 1, 1);
    put_text(body, "capture");
    put_text(body, "program");
    put_zeroes(body, 16);
    put_text(body, "host");
    put(body, 1, 8); /* topology: one package, */
    put(body, 5, 4);
    if (body->version >= VERSION(0, 11, 2)) {
        put(body, 1, 8); /* one die, */
        put(body, 6, 4);
    }
    put(body, 1, 8); /* one core, */
    put(body, 7, 4);
    put(body, 1, 8); /* one thread */
    put(body, 8, 4);
    put_zeroes(body, 28); /* no crash */
}

static inline void put_versioned_names(body_writer *body) {
    put(body, 1, 8); /* frames */
    put(body, 0, 8);
    put(body, 1, 1);
    put(body, 2, 8);
    for (int i = 0; i < 2; i++) {
        put(body, 10, 8);
        put(body, UINT32_MAX, 4);
    }
    const bool has_ranges = body->version >= VERSION(0, 13, 4) &&
                            !(body->tenstorrent && body->version <= VERSION(0, 13, 5));
    if (has_ranges && body->version >= VERSION(0, 13, 5)) {
        put(body, 1, 8);
        put(body, 3, 2);
    }
    if (has_ranges) {
        put(body, 1, 8);
        put_zeroes(body, 15);
    }
    if (has_ranges && body->version >= VERSION(0, 13, 5)) {
        put(body, 1, 8);
        put(body, 3, 2);
        put(body, 1, 3);
    }
    put(body, 2, 8); /* strings */
    put(body, 1, 8);
    put_text(body, "zone name");
    put(body, 2, 8);
    put_text(body, "text");
    put_zeroes(body, 3 * 8);
    put(body, 2, 8); /* threads */
    put(body, 0, 8);
    put(body, 77, 8);
    put_zeroes(body, 2 * 8);
    put(body, 1, 8);
    put(body, 0, 8);
    put(body, 1, 8); /* a source */
    put_reference(body, 0);
    put_reference(body, 0);
    put_reference(body, 1);
    put(body, 12, 4);
    put(body, 0, 4);
    put_zeroes(body, 3 * 8); /* counts of zones, locks */
}

static inline void put_versioned_zones(body_writer *body) {
    put(body, 1, 8); /* a message */
    put(body, 9, 8);
    put(body, 300, 8);
    put_reference(body, 1);
    put(body, UINT32_MAX, 4);
    put(body, 0, 3);
    if (body->version >= VERSION(0, 13, 2)) {
        put(body, 1, 1);
        put(body, 4, 1);
    }
    put(body, 1, 8); /* no notes */
    put_zeroes(body, 12);
    put(body, 1, 8); /* zones: one thread with one zone */
    put(body, 0, 8);
    put(body, 1, 8);
    put(body, 77, 8);
    put(body, 1, 8);
    put(body, 0, 8);
    put(body, 0, 1);
    if (body->version >= VERSION(0, 11, 1))
        put(body, (uint32_t)-4, 4);
    put(body, 1, 4);
    put(body, 0xFFFF, 2);
    put(body, 100, 8);
    put_zeroes(body, 8);
    put(body, 50, 8);
    put(body, 1, 8); /* its message */
    put(body, 9, 8);
    put_zeroes(body, 16);
}

static inline void put_versioned_device(body_writer *body) {
    const bool has_values = body->version >= VERSION(0, 12, 4);
    put(body, 1, 8);
    put(body, 0, 8);
    put(body, 1, 8);
    put_zeroes(body, 9);
    put(body, 1, 8);
    put(body, 0x3F800000, 4);
    put(body, 3, 1);
    put(body, 2, 3);
    put(body, 0, 8);
    if (has_values) {
        put(body, 1, 8);
        put(body, 5, 8);
        put(body, 2, 3);
    }
    put(body, 1, 8); /* a lane with a zone */
    put(body, 77, 8);
    put(body, 1, 8);
    put(body, 200, 8);
    put(body, 210, 8);
    put(body, 0xFFFF, 2);
    put(body, 0, 3);
    put(body, 1, 2);
    put(body, 0, 8);
    put(body, 20, 8);
    put(body, 30, 8);
    if (has_values) {
        put(body, 6, 2);
        put(body, 1, 8); /* a value for its query */
        put(body, 6, 2);
        put(body, 1, 8);
        put(body, 5, 8);
        put(body, UINT64_C(0x4000000000000000), 8); /* 2.0 */
    }
    if (body->tenstorrent && body->version >= VERSION(0, 13, 4)) {
        put(body, 1, 8); /* a marker */
        put(body, 77, 8);
        put(body, 1, 8);
        put(body, 222, 8);
        put(body, 0xFFFF, 2);
        put(body, 4, 1);
        put(body, 2, 3);
    }
}

static inline void put_versioned_rest(body_writer *body) {
    put(body, 0, 8); /* plots */
    put(body, 1, 8); /* the default pool */
    put_zeroes(body, 8 + 4 * 8 + 8);
    put(body, UINT64_MAX, 8);
    put_zeroes(body, 16);
    put_zeroes(body, 3 * 8); /* callstacks, frames, application info */
    put_zeroes(body, 12);    /* images */
    put(body, 1, 8);         /* a context switch */
    put(body, 77, 8);
    put(body, 1, 8);
    put_zeroes(body, 24);
    put(body, 3, 1);
    put(body, (uint8_t)-2, 1);
    put_zeroes(body, 9);
    if (body->version >= VERSION(0, 11, 3))
        put(body, 9, 1);
    put_zeroes(body, 8 + 256 * 8); /* switches per processor */
    put_zeroes(body, 9 * 8);
}

/* The body of a file of this version. */
static inline sb_output make_versioned_body(uint32_t version, bool tenstorrent) {
    body_writer body = {sb_output_to_memory(), version, tenstorrent};
    put_versioned_head(&body);
    put_versioned_names(&body);
    put_versioned_zones(&body);
    put_versioned_device(&body);
    put_versioned_rest(&body);
    return body.output;
}

#endif
