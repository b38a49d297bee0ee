/*
 * The summary as a stacked bar: one bar, or one per device, from the bottom up by category and
 * size. Lengths are in points (1/72 inch).
 */
#include "perf/perf_picture.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/perf_model.h"
#include "plot/plot.h"

#define POINTS_PER_INCH 72.0
#define DOTS_PER_INCH 300.0
#define HEIGHT_INCHES 8.0
#define MIN_WIDTH_INCHES 6.0
#define WIDTH_INCHES_PER_BAR 2.0
#define MAX_WIDTH_INCHES 64.0

/* Where the plot area lies in the picture, as shares of its size. */
#define PLOT_LEFT 0.125
#define PLOT_RIGHT 0.95
#define PLOT_TOP 0.08
#define PLOT_BOTTOM 0.92

/* A segment smaller than this share of its bar has no text. */
#define LABEL_SHARE 0.02
/* Bars below this (microseconds) are drawn as empty: no clock can tell them from nothing. */
#define SMALLEST_TIME 1e-6
enum { TICKS_MAX = 20 };
#define LABEL_FONT 6.0
#define AXIS_FONT 8.0
#define TITLE_FONT 10.0

/* ---- colours ---- */

static const uint32_t compute_colours[] = {0x3f007d, 0x470f84, 0x4f1f8b, 0x582f93,
                                           0x61409b, 0x6a51a3, 0x7262ac, 0x7b74b5,
                                           0x8683bd, 0x928fc3, 0x9e9bc8, 0xaaa8d0};
static const uint32_t tensor_colours[] = {0x00441b, 0x005321, 0x006428, 0x077331,
                                          0x157f3b, 0x238b45, 0x2f974e, 0x3ba458,
                                          0x4bb062, 0x60ba6c, 0x75c477, 0x86cc85};
static const uint32_t movement_colours[] = {0xc54102, 0xd84801, 0xe25508, 0xec620f, 0xf3701b,
                                            0xf87f2c, 0xfd8e3d, 0xfd9a4e, 0xfda762, 0xfdb576,
                                            0xfdc38d, 0xfdd1a3, 0xfdd9b4};
static const uint32_t other_colours[] = {0x000000, 0x0e0e0e, 0x1d1d1d, 0x2e2e2e,
                                         0x404040, 0x525252, 0x5f5f5f, 0x6c6c6c,
                                         0x7a7a7a, 0x888888, 0x979797, 0xa5a5a5};
static const uint32_t many_colours[] = {
    0x1f77b4, 0xaec7e8, 0xff7f0e, 0xffbb78, 0x2ca02c, 0x98df8a, 0xd62728, 0xff9896, 0x9467bd,
    0xc5b0d5, 0x8c564b, 0xc49c94, 0xe377c2, 0xf7b6d2, 0x7f7f7f, 0xc7c7c7, 0xbcbd22, 0xdbdb8d,
    0x17becf, 0x9edae5, 0x393b79, 0x5254a3, 0x6b6ecf, 0x9c9ede, 0x637939, 0x8ca252, 0xb5cf6b,
    0xcedb9c, 0x8c6d31, 0xbd9e39, 0xe7ba52, 0xe7cb94, 0x843c39, 0xad494a, 0xd6616b, 0xe7969c,
    0x7b4173, 0xa55194, 0xce6dbd, 0xde9ed6, 0x3182bd, 0x6baed6, 0x9ecae1, 0xc6dbef, 0xe6550d,
    0xfd8d3c, 0xfdae6b, 0xfdd0a2, 0x31a354, 0x74c476, 0xa1d99b, 0xc7e9c0, 0x756bb1, 0x9e9ac8,
    0xbcbddc, 0xdadaeb, 0x636363, 0x969696, 0xbdbdbd, 0xd9d9d9};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* From the bottom of a bar to its top. */
static const struct {
    const char *category;
    const uint32_t *colours;
    size_t colour_count;
} category_styles[] = {
    {"Compute", compute_colours, COUNT_OF(compute_colours)},
    {"TM", tensor_colours, COUNT_OF(tensor_colours)},
    {"DM", movement_colours, COUNT_OF(movement_colours)},
    {"Other", other_colours, COUNT_OF(other_colours)},
    {"Host", NULL, 0},
};

static size_t category_rank(const char *category) {
    size_t rank = 0;
    while (rank < COUNT_OF(category_styles) - 1 &&
           strcmp(category_styles[rank].category, category) != 0)
        rank++;
    return rank;
}

/* nth: place within the category; place: within the bar. */
static uint32_t segment_colour(const sb_perf_report *report, size_t rank, size_t nth,
                               size_t place) {
    const size_t own = category_styles[rank].colour_count;
    if (report->options.classic_colours || own == 0)
        return many_colours[place % COUNT_OF(many_colours)];
    return nth < own ? category_styles[rank].colours[nth]
                     : many_colours[(nth - own) % COUNT_OF(many_colours)];
}

/* ---- layout ---- */

typedef struct bar_picture {
    const sb_perf_report *report;
    cairo_t *cairo;
    double width;
    double height;
    double largest; /* time of the highest bar */
    const sb_perf_group **order;
    double *devices; /* of the bars, ascending; one when devices are merged */
    double *bar_times;
    size_t bar_count;
} bar_picture;

static bool is_apart(const sb_perf_report *report) {
    return report->options.no_merge_devices;
}

static int compare_segments(const void *a, const void *b) {
    const sb_perf_group *first = *(const sb_perf_group *const *)a;
    const sb_perf_group *second = *(const sb_perf_group *const *)b;
    const size_t rank_a = category_rank(first->category);
    const size_t rank_b = category_rank(second->category);
    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    return (first > second) - (first < second); /* groups come largest first */
}

static int compare_devices(const void *a, const void *b) {
    const double first = *(const double *)a;
    const double second = *(const double *)b;
    return (first > second) - (first < second);
}

/* The bar a group belongs to; bar_count if there is none yet. */
static size_t find_bar(const bar_picture *picture, const sb_perf_group *group) {
    size_t bar = 0;
    if (!is_apart(picture->report) && picture->bar_count > 0)
        return 0;
    while (bar < picture->bar_count && picture->devices[bar] != sb_perf_or_zero(group->device))
        bar++;
    return bar;
}

static bool is_in_bar(const bar_picture *picture, const sb_perf_group *group, size_t bar) {
    return !is_apart(picture->report) || sb_perf_or_zero(group->device) == picture->devices[bar];
}

static void find_bars(bar_picture *picture) {
    const sb_perf_report *report = picture->report;
    for (size_t i = 0; i < report->group_count; i++) {
        if (find_bar(picture, &report->groups[i]) == picture->bar_count)
            picture->devices[picture->bar_count++] = sb_perf_or_zero(report->groups[i].device);
    }
    if (picture->bar_count > 0)
        qsort(picture->devices, picture->bar_count, sizeof(double), compare_devices);
    for (size_t i = 0; i < report->group_count; i++)
        picture->bar_times[find_bar(picture, &report->groups[i])] += report->groups[i].device_time;
    for (size_t i = 0; i < picture->bar_count; i++)
        picture->largest = fmax(picture->largest, picture->bar_times[i]);
    if (picture->largest < SMALLEST_TIME)
        picture->largest = 1;
}

static bar_picture lay_out(const sb_perf_report *report) {
    bar_picture picture = {.report = report, .height = HEIGHT_INCHES * POINTS_PER_INCH};
    picture.order = sb_alloc_zeroed(report->group_count, sizeof(sb_perf_group *));
    picture.devices = sb_alloc_zeroed(report->group_count, sizeof(double));
    picture.bar_times = sb_alloc_zeroed(report->group_count, sizeof(double));
    for (size_t i = 0; i < report->group_count; i++)
        picture.order[i] = &report->groups[i];
    if (!report->options.classic_colours && report->group_count > 0)
        qsort(picture.order, report->group_count, sizeof(sb_perf_group *), compare_segments);
    find_bars(&picture);
    const double bars_inches = WIDTH_INCHES_PER_BAR * (double)picture.bar_count;
    const double inches = is_apart(report) ? fmax(MIN_WIDTH_INCHES, bars_inches) : MIN_WIDTH_INCHES;
    picture.width = fmin(inches, MAX_WIDTH_INCHES) * POINTS_PER_INCH;
    return picture;
}

static void free_picture(bar_picture *picture) {
    free(picture->order);
    free(picture->devices);
    free(picture->bar_times);
}

static double y_of(const bar_picture *picture, double time) {
    const double top = PLOT_TOP * picture->height;
    const double bottom = PLOT_BOTTOM * picture->height;
    return bottom - (bottom - top) * time / (picture->largest * 1.05);
}

/* The left and right edge of a bar. */
static void bar_edges(const bar_picture *picture, size_t bar, double *left, double *right) {
    const double plot_left = PLOT_LEFT * picture->width;
    const double plot_width = (PLOT_RIGHT - PLOT_LEFT) * picture->width;
    double slot = plot_width / (double)picture->bar_count;
    double share = 0.5;
    if (!is_apart(picture->report)) {
        slot = plot_width;
        share = 0.5 / 0.6; /* the axis runs from 0.7 to 1.3, the bar from 0.75 to 1.25 */
    }
    const double centre = plot_left + slot * ((double)bar + 0.5);
    *left = centre - slot * share / 2;
    *right = centre + slot * share / 2;
}

/* ---- drawing ---- */

static void set_colour(cairo_t *cairo, uint32_t rgb, double alpha) {
    cairo_set_source_rgba(cairo, (rgb >> 16 & 0xff) / 255.0, (rgb >> 8 & 0xff) / 255.0,
                          (rgb & 0xff) / 255.0, alpha);
}

/* Text with its middle at x, y. */
static void show_centred(cairo_t *cairo, const char *text, double x, double y) {
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, text, &extents);
    cairo_move_to(cairo, x - extents.width / 2 - extents.x_bearing,
                  y - extents.height / 2 - extents.y_bearing);
    cairo_show_text(cairo, text);
}

static void show_turned(cairo_t *cairo, const char *text, double x, double y) {
    cairo_save(cairo);
    cairo_translate(cairo, x, y);
    cairo_rotate(cairo, -M_PI / 2);
    show_centred(cairo, text, 0, 0);
    cairo_restore(cairo);
}

static void set_font(cairo_t *cairo, double size, bool bold) {
    cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
}

/* Up to three lines, one under the other, around y. */
static void show_lines(cairo_t *cairo, char *text, double x, double y) {
    size_t lines = 1;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n' ? 1 : 0;
    double at = y - (double)(lines - 1) * LABEL_FONT * 1.2 / 2;
    char *line = text;
    while (line != NULL) {
        char *end = strchr(line, '\n');
        if (end != NULL)
            *end = '\0';
        show_centred(cairo, line, x, at);
        at += LABEL_FONT * 1.2;
        line = end != NULL ? end + 1 : NULL;
    }
}

enum { LABEL_SIZE = 1024, KEY_SHOWN = 120 };

/* The key as a C string that cairo takes: valid UTF-8, not too long. */
static const char *label_key(sb_slice key, sb_arena *arena) {
    const sb_slice clean = sb_utf8_clean(arena, key);
    sb_slice rest = clean;
    for (size_t i = 0; i < KEY_SHOWN && rest.size > 0; i++) {
        bool valid = true;
        sb_utf8_next(&rest, &valid);
    }
    return sb_arena_format(arena, "%.*s", (int)(clean.size - rest.size), clean.data).data;
}

static void label_text(const bar_picture *picture, const sb_perf_group *group, double share,
                       char text[LABEL_SIZE]) {
    sb_arena scratch = {0};
    const char *key = label_key(group->key, &scratch);
    int used = 0;
    if (is_apart(picture->report))
        used = snprintf(text, LABEL_SIZE, "%.1f %%\n%s\n%.0f μs", share * 100, key,
                        group->device_time);
    else
        used = snprintf(text, LABEL_SIZE, "(%.1f %%) %s total=%.1f μs; %zu ops", share * 100, key,
                        group->device_time, group->op_count);
    sb_arena_free(&scratch);
    if (is_apart(picture->report) || !sb_perf_has(group->flops_mean) || used >= LABEL_SIZE)
        return;
    snprintf(text + used, LABEL_SIZE - (size_t)used,
             "\nFLOPs %.1f – %.1f %%, weighted mean %.1f %%, mean %.1f ± %.1f %%",
             group->flops_min.value, group->flops_max.value, sb_perf_or_zero(group->flops_weighted),
             group->flops_mean.value,
             sb_perf_has(group->flops_deviation) ? group->flops_deviation.value : NAN);
}

static void draw_segment(const bar_picture *picture, const sb_perf_group *group, size_t bar,
                         double below, uint32_t colour) {
    double left = 0;
    double right = 0;
    bar_edges(picture, bar, &left, &right);
    const double bottom = y_of(picture, below);
    const double top = y_of(picture, below + group->device_time);
    set_colour(picture->cairo, colour, 1);
    cairo_rectangle(picture->cairo, left, top, right - left, bottom - top);
    cairo_fill(picture->cairo);
    const double total = picture->bar_times[bar];
    if (total <= 0 || group->device_time < LABEL_SHARE * total)
        return;
    char text[LABEL_SIZE];
    label_text(picture, group, group->device_time / total, text);
    set_font(picture->cairo, LABEL_FONT, false);
    set_colour(picture->cairo, 0xffffff, 1);
    show_lines(picture->cairo, text, (left + right) / 2, (top + bottom) / 2);
}

/* The part of a bar that one category takes: a frame and its name. */
static void draw_category(const bar_picture *picture, size_t rank, size_t bar, double below,
                          double time) {
    cairo_t *cairo = picture->cairo;
    double left = 0;
    double right = 0;
    const double total = picture->bar_times[bar];
    if (time <= 0 || total <= 0)
        return;
    bar_edges(picture, bar, &left, &right);
    const double bottom = y_of(picture, below);
    const double top = y_of(picture, below + time);
    if (picture->report->groups_have_flops) {
        set_colour(cairo, category_styles[rank].colours != NULL ? 0x000000 : 0x808080, 0.8);
        cairo_set_line_width(cairo, 2);
        cairo_rectangle(cairo, left, top, right - left, bottom - top);
        cairo_stroke(cairo);
    }
    char text[64];
    snprintf(text, sizeof text, "%s(%.1f%%)", category_styles[rank].category, time / total * 100);
    set_font(cairo, LABEL_FONT, true);
    set_colour(cairo, 0x000000, 1);
    show_turned(cairo, text, left - LABEL_FONT, (top + bottom) / 2);
}

static void draw_bar(const bar_picture *picture, size_t bar) {
    const sb_perf_report *report = picture->report;
    double time[COUNT_OF(category_styles)] = {0};
    size_t members[COUNT_OF(category_styles)] = {0};
    double below = 0;
    size_t place = 0;
    for (size_t i = 0; i < report->group_count; i++) {
        const sb_perf_group *group = picture->order[i];
        if (!is_in_bar(picture, group, bar))
            continue;
        const size_t rank = category_rank(group->category);
        draw_segment(picture, group, bar, below,
                     segment_colour(report, rank, members[rank], place));
        below += group->device_time;
        time[rank] += group->device_time;
        members[rank]++;
        place++;
    }
    if (report->options.classic_colours)
        return;
    below = 0;
    for (size_t rank = 0; rank < COUNT_OF(category_styles); rank++) {
        draw_category(picture, rank, bar, below, time[rank]);
        below += time[rank];
    }
}

/* A round step that gives some eight ticks. */
static double tick_step(double largest) {
    const double rough = largest / 8;
    const double power = pow(10, floor(log10(rough)));
    const double ratio = rough / power;
    return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

static void draw_y_axis(const bar_picture *picture) {
    cairo_t *cairo = picture->cairo;
    const double left = PLOT_LEFT * picture->width;
    const double step = tick_step(picture->largest);
    set_font(cairo, AXIS_FONT, false);
    set_colour(cairo, 0x000000, 1);
    cairo_set_line_width(cairo, 0.8);
    for (int i = 0; i < TICKS_MAX && i * step <= picture->largest * 1.05; i++) {
        char text[64];
        cairo_text_extents_t extents;
        const double y = y_of(picture, i * step);
        snprintf(text, sizeof text, "%.6g", i * step);
        cairo_text_extents(cairo, text, &extents);
        cairo_move_to(cairo, left - 6 - extents.x_advance, y + AXIS_FONT * 0.35);
        cairo_show_text(cairo, text);
        cairo_move_to(cairo, left - 3.5, y);
        cairo_line_to(cairo, left, y);
        cairo_stroke(cairo);
    }
    show_turned(cairo, "Device Time [μs]", AXIS_FONT, picture->height / 2);
}

static void draw_frame(const bar_picture *picture) {
    cairo_t *cairo = picture->cairo;
    char title[128];
    if (is_apart(picture->report))
        snprintf(title, sizeof title, "Device time per device");
    else
        snprintf(title, sizeof title, "Total device time: %.1f μs", picture->bar_times[0]);
    set_colour(cairo, 0x000000, 1);
    set_font(cairo, TITLE_FONT, false);
    show_centred(cairo, title, picture->width / 2, PLOT_TOP * picture->height / 2);
    cairo_set_line_width(cairo, 0.8);
    cairo_rectangle(cairo, PLOT_LEFT * picture->width, PLOT_TOP * picture->height,
                    (PLOT_RIGHT - PLOT_LEFT) * picture->width,
                    (PLOT_BOTTOM - PLOT_TOP) * picture->height);
    cairo_stroke(cairo);
    set_font(cairo, AXIS_FONT, false);
    for (size_t i = 0; i < picture->bar_count && is_apart(picture->report); i++) {
        char label[64];
        double left = 0;
        double right = 0;
        bar_edges(picture, i, &left, &right);
        snprintf(label, sizeof label, "Dev %.0f", picture->devices[i]);
        show_centred(cairo, label, (left + right) / 2,
                     PLOT_BOTTOM * picture->height + AXIS_FONT * 1.5);
    }
}

static void draw_picture(const bar_picture *picture) {
    set_colour(picture->cairo, 0xffffff, 1);
    cairo_paint(picture->cairo);
    draw_frame(picture);
    draw_y_axis(picture);
    for (size_t i = 0; i < picture->bar_count; i++)
        draw_bar(picture, i);
}

/* ---- SVG ---- */

static cairo_status_t put_stream(void *closure, const unsigned char *data, unsigned length) {
    sb_put(closure, (sb_slice){(const char *)data, length});
    return CAIRO_STATUS_SUCCESS;
}

void perf_write_svg(const sb_perf_report *report, sb_output *output) {
    bar_picture picture = lay_out(report);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(put_stream, output, picture.width, picture.height);
    picture.cairo = cairo_create(surface);
    draw_picture(&picture);
    cairo_destroy(picture.cairo);
    cairo_surface_destroy(surface);
    free_picture(&picture);
}

/* ---- PNG ---- */

sb_status sb_perf_write_png(const sb_perf_report *report, sb_output *output, sb_error *error) {
    bar_picture picture = lay_out(report);
    const double scale = DOTS_PER_INCH / POINTS_PER_INCH;
    cairo_surface_t *surface = cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, (int)round(picture.width * scale), (int)round(picture.height * scale));
    picture.cairo = cairo_create(surface);
    cairo_scale(picture.cairo, scale, scale);
    draw_picture(&picture);
    const bool drawn = cairo_status(picture.cairo) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(picture.cairo);
    cairo_surface_flush(surface);
    const bool done =
        drawn && cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS &&
        sb_encode_png(
            (sb_pixels){(const uint32_t *)(const void *)cairo_image_surface_get_data(surface),
                        (size_t)cairo_image_surface_get_width(surface),
                        (size_t)cairo_image_surface_get_height(surface),
                        (size_t)cairo_image_surface_get_stride(surface) / 4},
            DOTS_PER_INCH, output);
    cairo_surface_destroy(surface);
    free_picture(&picture);
    if (!done)
        SB_FAIL(error, SB_ERR_IO, "the picture of the summary cannot be drawn");
    return SB_OK;
}
