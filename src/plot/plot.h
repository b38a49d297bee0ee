/*
 * plot: charts as pictures.
 *
 * Two kinds of chart, bars and heat maps, drawn the same as SVG and as PNG, and the PNG encoder for
 * those who draw themselves. A chart is a plain struct that borrows all it points to; drawing keeps
 * nothing. Any thread may draw.
 */
#ifndef SB_PLOT_PLOT_H
#define SB_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Pixels as 0xRRGGBB, row by row; stride is the distance between two rows. */
typedef struct sb_pixels {
    const uint32_t *data;
    size_t width;
    size_t height;
    size_t stride;
} sb_pixels;

/* A PNG file of the pixels. False if the library refuses. */
bool sb_encode_png(sb_pixels pixels, double dots_per_inch, sb_output *output);

enum { SB_PLOT_SERIES = 6 };

/* Horizontal bars, one below the other, each of up to SB_PLOT_SERIES parts. */
typedef struct sb_bar_chart {
    const char *title;
    const char *unit;
    const char *series[SB_PLOT_SERIES]; /* names of the parts */
    size_t series_count;
    bool is_stacked;      /* else the parts of a bar stand below each other */
    const char **labels;  /* of the bars */
    const double *values; /* series_count for each bar */
    size_t bar_count;
} sb_bar_chart;

/* A grid of cells, coloured from their values between 0 and 1. NAN: nothing there. */
typedef struct sb_heat_map {
    const char *title;
    const char *legend;   /* what the colour stands for */
    const double *values; /* row by row */
    size_t columns;
    size_t rows;
} sb_heat_map;

typedef enum sb_picture_format { SB_PICTURE_SVG, SB_PICTURE_PNG } sb_picture_format;

/* False if it cannot be drawn. */
bool sb_plot_bars(const sb_bar_chart *chart, sb_picture_format format, sb_output *output);
bool sb_plot_heat(const sb_heat_map *map, sb_picture_format format, sb_output *output);

#endif
