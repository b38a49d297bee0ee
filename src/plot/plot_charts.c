#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"

static const double points_per_inch = 72;
static const double dots_per_inch = 144;

static const uint32_t colours[SB_PLOT_SERIES] = {0x2f6db3, 0xe08a1e, 0x7fb069,
                                                 0xb0b0b0, 0x8e5ea2, 0xc14953};

/* ---- either format ---- */

typedef struct picture {
    double width;
    double height;
    void (*draw)(cairo_t *cairo, const struct picture *picture, const void *chart);
} picture;

static cairo_status_t put_stream(void *closure, const unsigned char *data, unsigned length) {
    sb_put(closure, (sb_slice){(const char *)data, length});
    return CAIRO_STATUS_SUCCESS;
}

static bool draw_on(cairo_surface_t *surface, double scale, const picture *what,
                    const void *chart) {
    cairo_t *cairo = cairo_create(surface);
    cairo_scale(cairo, scale, scale);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    what->draw(cairo, what, chart);
    const bool done = cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(cairo);
    cairo_surface_flush(surface);
    return done && cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS;
}

static bool draw_svg(const picture *what, const void *chart, sb_output *output) {
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(put_stream, output, what->width, what->height);
    const bool done = draw_on(surface, 1, what, chart);
    cairo_surface_destroy(surface);
    return done;
}

static bool draw_png(const picture *what, const void *chart, sb_output *output) {
    const double scale = dots_per_inch / points_per_inch;
    cairo_surface_t *surface = cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, (int)round(what->width * scale), (int)round(what->height * scale));
    const bool done =
        draw_on(surface, scale, what, chart) &&
        sb_encode_png(
            (sb_pixels){(const uint32_t *)(const void *)cairo_image_surface_get_data(surface),
                        (size_t)cairo_image_surface_get_width(surface),
                        (size_t)cairo_image_surface_get_height(surface),
                        (size_t)cairo_image_surface_get_stride(surface) / 4},
            dots_per_inch, output);
    cairo_surface_destroy(surface);
    return done;
}

static bool draw(const picture *what, const void *chart, sb_picture_format format,
                 sb_output *output) {
    return format == SB_PICTURE_SVG ? draw_svg(what, chart, output) : draw_png(what, chart, output);
}

/* ---- texts ---- */

enum { MARGIN = 12, TITLE_FONT = 15, FONT = 11, LABEL_BYTES = 160 };

static void set_colour(cairo_t *cairo, uint32_t rgb) {
    cairo_set_source_rgb(cairo, (rgb >> 16 & 0xff) / 255.0, (rgb >> 8 & 0xff) / 255.0,
                         (rgb & 0xff) / 255.0);
}

static void set_font(cairo_t *cairo, double size) {
    cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, size);
}

/* Cairo takes valid UTF-8 only; a label that is too long is cut. */
static void clean_text(const char *text, char out[LABEL_BYTES]) {
    sb_arena arena = {0};
    sb_slice clean = sb_utf8_clean(&arena, sb_slice_of(text));
    size_t size = 0;
    while (clean.size > 0) {
        const sb_slice before = clean;
        bool valid = true;
        sb_utf8_next(&clean, &valid);
        const size_t step = before.size - clean.size;
        if (!valid || size + step >= LABEL_BYTES)
            break;
        memcpy(out + size, before.data, step);
        size += step;
    }
    out[size] = '\0';
    sb_arena_free(&arena);
}

static void show_left(cairo_t *cairo, const char *text, double x, double y) {
    char label[LABEL_BYTES];
    clean_text(text, label);
    cairo_move_to(cairo, x, y);
    cairo_show_text(cairo, label);
}

/* Text that ends at x. One that has no room begins at the margin and is cut by what it meets. */
static void show_right(cairo_t *cairo, const char *text, double x, double y) {
    char label[LABEL_BYTES];
    cairo_text_extents_t extents;
    clean_text(text, label);
    cairo_text_extents(cairo, label, &extents);
    cairo_save(cairo);
    cairo_rectangle(cairo, MARGIN / 2.0, y - FONT * 1.5, x - MARGIN / 2.0, FONT * 2);
    cairo_clip(cairo);
    cairo_move_to(cairo, fmax(MARGIN / 2.0, x - extents.x_advance), y);
    cairo_show_text(cairo, label);
    cairo_restore(cairo);
}

static void show_title(cairo_t *cairo, const char *title) {
    set_colour(cairo, 0x000000);
    set_font(cairo, TITLE_FONT);
    show_left(cairo, title, MARGIN, MARGIN + TITLE_FONT);
    set_font(cairo, FONT);
}

/* ---- bars ---- */

enum {
    LABEL_WIDTH = 260,
    BAR_WIDTH = 480,
    VALUE_WIDTH = 90,
    BAR_HEIGHT = 16,
    BAR_GAP = 6,
    TOP = 62
};

static double bar_step(const sb_bar_chart *chart) {
    return chart->is_stacked ? BAR_HEIGHT + BAR_GAP
                             : (double)chart->series_count * BAR_HEIGHT / 2 + BAR_GAP + 2;
}

static double largest_bar(const sb_bar_chart *chart) {
    double largest = 0;
    for (size_t i = 0; i < chart->bar_count; i++) {
        double sum = 0;
        for (size_t k = 0; k < chart->series_count; k++) {
            const double value = fmax(0, chart->values[i * chart->series_count + k]);
            sum = chart->is_stacked ? sum + value : fmax(sum, value);
        }
        largest = fmax(largest, sum);
    }
    return largest > 0 ? largest : 1;
}

static void draw_legend(cairo_t *cairo, const sb_bar_chart *chart) {
    double x = LABEL_WIDTH;
    for (size_t k = 0; k < chart->series_count; k++) {
        cairo_text_extents_t extents;
        set_colour(cairo, colours[k]);
        cairo_rectangle(cairo, x, TOP - 26, FONT, FONT);
        cairo_fill(cairo);
        set_colour(cairo, 0x000000);
        show_left(cairo, chart->series[k], x + FONT + 4, TOP - 16);
        cairo_text_extents(cairo, chart->series[k], &extents);
        x += FONT + 20 + extents.x_advance;
    }
}

static void draw_bar(cairo_t *cairo, const sb_bar_chart *chart, size_t index, double scale) {
    const double *values = chart->values + index * chart->series_count;
    const double top = TOP + (double)index * bar_step(chart);
    const double height = chart->is_stacked ? BAR_HEIGHT : BAR_HEIGHT / 2.0;
    double left = LABEL_WIDTH;
    double sum = 0;
    for (size_t k = 0; k < chart->series_count; k++) {
        const double value = fmax(0, values[k]);
        const double y = chart->is_stacked ? top : top + (double)k * height;
        set_colour(cairo, colours[k]);
        cairo_rectangle(cairo, left, y, value * scale, height);
        cairo_fill(cairo);
        left += chart->is_stacked ? value * scale : 0;
        sum = chart->is_stacked ? sum + value : fmax(sum, value);
    }
    char text[64];
    snprintf(text, sizeof text, "%.4g %s", sum, chart->unit);
    set_colour(cairo, 0x000000);
    show_left(cairo, text, LABEL_WIDTH + sum * scale + 4, top + BAR_HEIGHT - 4);
    show_right(cairo, chart->labels[index], LABEL_WIDTH - 6, top + BAR_HEIGHT - 4);
}

static void draw_bars(cairo_t *cairo, const picture *what, const void *data) {
    const sb_bar_chart *chart = data;
    const double scale = BAR_WIDTH / largest_bar(chart);
    (void)what;
    show_title(cairo, chart->title);
    draw_legend(cairo, chart);
    for (size_t i = 0; i < chart->bar_count; i++)
        draw_bar(cairo, chart, i, scale);
}

bool sb_plot_bars(const sb_bar_chart *chart, sb_picture_format format, sb_output *output) {
    const picture what = {LABEL_WIDTH + BAR_WIDTH + VALUE_WIDTH,
                          TOP + (double)chart->bar_count * bar_step(chart) + MARGIN, draw_bars};
    return draw(&what, chart, format, output);
}

/* ---- heat maps ---- */

enum { CELL = 34, HEAT_LEFT = 40, HEAT_TOP = 66 };

/* From a pale blue over yellow to a dark red. */
static void set_heat(cairo_t *cairo, double value) {
    static const double stops[][3] = {{0.85, 0.92, 0.97}, {0.99, 0.85, 0.46}, {0.70, 0.05, 0.15}};
    const double place = fmin(1, fmax(0, value)) * 2;
    const int low = place >= 1 ? 1 : 0;
    const double part = place - low;
    double mixed[3];
    for (int i = 0; i < 3; i++)
        mixed[i] = stops[low][i] * (1 - part) + stops[low + 1][i] * part;
    cairo_set_source_rgb(cairo, mixed[0], mixed[1], mixed[2]);
}

static void draw_cell(cairo_t *cairo, const sb_heat_map *map, size_t column, size_t row) {
    const double value = map->values[row * map->columns + column];
    const double x = HEAT_LEFT + (double)column * CELL;
    const double y = HEAT_TOP + (double)row * CELL;
    if (isnan(value))
        return;
    set_heat(cairo, value);
    cairo_rectangle(cairo, x, y, CELL - 1, CELL - 1);
    cairo_fill(cairo);
    char text[16];
    snprintf(text, sizeof text, "%.0f", value * 100);
    set_colour(cairo, value > 0.75 ? 0xffffff : 0x000000);
    show_left(cairo, text, x + 7, y + CELL / 2.0 + 4);
}

static void draw_heat(cairo_t *cairo, const picture *what, const void *data) {
    const sb_heat_map *map = data;
    char text[32];
    (void)what;
    show_title(cairo, map->title);
    show_left(cairo, map->legend, MARGIN, MARGIN + TITLE_FONT + 18);
    for (size_t column = 0; column < map->columns; column++) {
        snprintf(text, sizeof text, "%zu", column);
        show_left(cairo, text, HEAT_LEFT + (double)column * CELL + 10, HEAT_TOP - 4);
    }
    for (size_t row = 0; row < map->rows; row++) {
        set_colour(cairo, 0x000000);
        snprintf(text, sizeof text, "%zu", row);
        show_left(cairo, text, MARGIN, HEAT_TOP + (double)row * CELL + CELL / 2.0 + 4);
        for (size_t column = 0; column < map->columns; column++)
            draw_cell(cairo, map, column, row);
    }
}

bool sb_plot_heat(const sb_heat_map *map, sb_picture_format format, sb_output *output) {
    const double width = HEAT_LEFT + (double)map->columns * CELL + MARGIN;
    const picture what = {fmax(width, 460), HEAT_TOP + (double)map->rows * CELL + MARGIN,
                          draw_heat};
    return draw(&what, map, format, output);
}
