/*
 * The summary as a picture, for the renderers that embed it.
 */
#ifndef SB_PERF_PICTURE_H
#define SB_PERF_PICTURE_H

#include "perf/perf.h"

/* An SVG document of the stacked bar. */
void perf_write_svg(const sb_perf_report *report, sb_output *output);

#endif
