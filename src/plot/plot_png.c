/*
 * Pixels -> PNG.
 *
 * A chart has few colours: its fills, and the shades at the edges of letters. So the file gets a
 * palette of 256, a third of the bytes to compress, which is where nearly all the time goes. The
 * most frequent colours are exact; of the shades beyond them each takes the nearest.
 */
#include "plot/plot.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { PALETTE_SIZE = 256, TABLE_SIZE = 1 << 16, RGB = 0xffffff };

typedef struct colour_entry {
    uint32_t colour;
    uint32_t count; /* pixels of it; 0: a free slot */
    uint8_t index;  /* in the palette */
} colour_entry;

typedef struct colour_table {
    colour_entry *slots;
    size_t used;
} colour_table;

/* The slot of a colour, or the free one where it belongs. */
static colour_entry *find_colour(const colour_table *table, uint32_t colour) {
    size_t slot = (colour * UINT32_C(2654435761)) >> 16;
    while (table->slots[slot].count != 0 && table->slots[slot].colour != colour)
        slot = (slot + 1) % TABLE_SIZE;
    return &table->slots[slot];
}

static bool is_like_row_above(const sb_pixels *pixels, size_t row) {
    const uint32_t *data = pixels->data + row * pixels->stride;
    return row > 0 && memcmp(data, data - pixels->stride, pixels->width * sizeof *data) == 0;
}

/* Counts runs of one colour; false if there are more colours than a chart can have. */
static bool count_row(colour_table *table, const uint32_t *row, size_t width) {
    for (size_t i = 0; i < width;) {
        const uint32_t colour = row[i] & RGB;
        size_t end = i + 1;
        while (end < width && (row[end] & RGB) == colour)
            end++;
        colour_entry *entry = find_colour(table, colour);
        if (entry->count == 0 && ++table->used > TABLE_SIZE / 2)
            return false;
        entry->colour = colour;
        entry->count += (uint32_t)(end - i);
        i = end;
    }
    return true;
}

static int compare_counts(const void *a, const void *b) {
    const colour_entry *first = *(colour_entry *const *)a;
    const colour_entry *second = *(colour_entry *const *)b;
    if (first->count != second->count)
        return first->count > second->count ? -1 : 1;
    return first->colour < second->colour ? -1 : 1;
}

static int squared(int value) {
    return value * value;
}

static int distance(uint32_t colour, png_color entry) {
    return squared((int)(colour >> 16) - entry.red) +
           squared((int)(colour >> 8 & 0xff) - entry.green) +
           squared((int)(colour & 0xff) - entry.blue);
}

static uint8_t find_nearest(uint32_t colour, const png_color *palette) {
    size_t nearest = 0;
    for (size_t i = 1; i < PALETTE_SIZE; i++) {
        if (distance(colour, palette[i]) < distance(colour, palette[nearest]))
            nearest = i;
    }
    return (uint8_t)nearest;
}

/* Fills the palette and gives each colour its index in it. Returns how many entries it has. */
static int make_palette(colour_table *table, png_color palette[PALETTE_SIZE]) {
    colour_entry **order = sb_alloc_zeroed(table->used, sizeof(colour_entry *));
    size_t count = 0;
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        if (table->slots[i].count != 0)
            order[count++] = &table->slots[i];
    }
    qsort(order, count, sizeof(colour_entry *), compare_counts);
    for (size_t i = 0; i < count; i++) {
        const uint32_t colour = order[i]->colour;
        if (i < PALETTE_SIZE) {
            palette[i] = (png_color){(png_byte)(colour >> 16), (png_byte)(colour >> 8 & 0xff),
                                     (png_byte)(colour & 0xff)};
            order[i]->index = (uint8_t)i;
        } else {
            order[i]->index = find_nearest(colour, palette);
        }
    }
    free(order);
    return (int)(count < PALETTE_SIZE ? count : PALETTE_SIZE);
}

static void pack_row(const colour_table *table, const uint32_t *row, size_t width, png_bytep out) {
    for (size_t i = 0; i < width;) {
        const uint32_t colour = row[i] & RGB;
        size_t end = i + 1;
        while (end < width && (row[end] & RGB) == colour)
            end++;
        memset(out + i, find_colour(table, colour)->index, end - i);
        i = end;
    }
}

static void put_data(png_structp png, png_bytep data, size_t size) {
    sb_put(png_get_io_ptr(png), (sb_slice){(const char *)data, size});
}

static void flush_nothing(png_structp png) {
    (void)png;
}

typedef struct png_job {
    const sb_pixels *pixels;
    const colour_table *table;
    png_colorp palette;
    int palette_count;
    png_uint_32 dots_per_metre;
    png_bytep row;
} png_job;

/* libpng reports errors by jumping out of here, so nothing is allocated below this point. */
static bool write_file(png_structp png, png_infop info, const png_job *job, sb_output *output) {
    if (setjmp(png_jmpbuf(png)) != 0)
        return false;
    const sb_pixels *pixels = job->pixels;
    png_set_write_fn(png, output, put_data, flush_nothing);
    png_set_IHDR(png, info, (png_uint_32)pixels->width, (png_uint_32)pixels->height, 8,
                 PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(png, info, job->palette, job->palette_count);
    png_set_pHYs(png, info, job->dots_per_metre, job->dots_per_metre, PNG_RESOLUTION_METER);
    png_set_compression_level(png, 1); /* flat areas: the cheapest setting finds them too */
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_write_info(png, info);
    for (size_t i = 0; i < pixels->height; i++) {
        if (!is_like_row_above(pixels, i))
            pack_row(job->table, pixels->data + i * pixels->stride, pixels->width, job->row);
        png_write_row(png, job->row);
    }
    png_write_end(png, info);
    return true;
}

bool sb_encode_png(sb_pixels pixels, double dots_per_inch, sb_output *output) {
    png_color palette[PALETTE_SIZE] = {{0, 0, 0}};
    colour_table table = {.slots = sb_alloc_zeroed(TABLE_SIZE, sizeof(colour_entry))};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    bool done = info != NULL;
    for (size_t i = 0; i < pixels.height && done; i++) {
        if (!is_like_row_above(&pixels, i))
            done = count_row(&table, pixels.data + i * pixels.stride, pixels.width);
    }
    png_job job = {.pixels = &pixels,
                   .table = &table,
                   .palette = palette,
                   .palette_count = make_palette(&table, palette),
                   .dots_per_metre = (png_uint_32)(dots_per_inch / 0.0254 + 0.5),
                   .row = sb_alloc_zeroed(pixels.width, 1)};
    done = done && write_file(png, info, &job, output);
    png_destroy_write_struct(&png, &info);
    free(job.row);
    free(table.slots);
    return done;
}
