/*
 * The summary as a picture, for the renderers that embed it.
 */
#ifndef SB_PERF_PICTURE_H
#define SB_PERF_PICTURE_H

#include "perf/perf.h"

/* An SVG document of the stacked bar. */
void perf_write_svg(const sb_perf_report *report, sb_output *output);

/* Pixels as 0xRRGGBB, row by row; stride is the distance between two rows. */
typedef struct perf_pixels {
    const uint32_t *data;
    size_t width;
    size_t height;
    size_t stride;
} perf_pixels;

/* A PNG file of the pixels. False if the library refuses. */
bool perf_encode_png(perf_pixels pixels, double dots_per_inch, sb_output *output);

#endif
