/*
 * Frame images: BC1 ("DXT1") blocks of 4 x 4 pixels, two colours of 16 bits and a choice between
 * them and two mixtures for each pixel.
 *
 * The two colours are the ends of the block's range in each channel, moved inwards a little, which
 * gives a smaller error than the ends themselves for nearly all pictures and needs no search.
 */
#include "client/client.h"

#include <string.h>

enum { BLOCK_PIXELS = 16, CHANNELS = 3, INSET_SHIFT = 4 };

typedef struct image_block {
    uint8_t low[CHANNELS];
    uint8_t high[CHANNELS];
    uint8_t pixels[BLOCK_PIXELS][4];
} image_block;

static void gather(image_block *block, const uint8_t *pixels, size_t width) {
    memset(block->low, 255, sizeof block->low);
    memset(block->high, 0, sizeof block->high);
    for (size_t i = 0; i < BLOCK_PIXELS; i++) {
        const uint8_t *pixel = pixels + 4 * (i / 4 * width + i % 4);
        memcpy(block->pixels[i], pixel, 4);
        for (size_t c = 0; c < CHANNELS; c++) {
            if (pixel[c] < block->low[c])
                block->low[c] = pixel[c];
            if (pixel[c] > block->high[c])
                block->high[c] = pixel[c];
        }
    }
    for (size_t c = 0; c < CHANNELS; c++) {
        const int inset = (block->high[c] - block->low[c]) >> INSET_SHIFT;
        block->low[c] = (uint8_t)(block->low[c] + inset);
        block->high[c] = (uint8_t)(block->high[c] - inset);
    }
}

static uint16_t to_565(const uint8_t colour[CHANNELS]) {
    return (uint16_t)(colour[0] >> 3 << 11 | colour[1] >> 2 << 5 | colour[2] >> 3);
}

/* Where each pixel lies between the two ends, in thirds, as the codes of the format. */
static uint32_t choose(const image_block *block) {
    static const uint8_t codes[4] = {1, 3, 2, 0}; /* low end, 1/3, 2/3, high end */
    int direction[CHANNELS];
    int length = 0;
    for (size_t c = 0; c < CHANNELS; c++) {
        direction[c] = block->high[c] - block->low[c];
        length += direction[c] * direction[c];
    }
    uint32_t choices = 0;
    for (size_t i = 0; i < BLOCK_PIXELS && length > 0; i++) {
        int along = 0;
        for (size_t c = 0; c < CHANNELS; c++)
            along += direction[c] * (block->pixels[i][c] - block->low[c]);
        int third = (3 * along + length / 2) / length;
        third = third < 0 ? 0 : third > 3 ? 3 : third;
        choices |= (uint32_t)codes[third] << (2 * i);
    }
    return choices;
}

void client_compress_image(const void *pixels, uint16_t width, uint16_t height, uint8_t *to) {
    for (size_t y = 0; y < height; y += 4) {
        for (size_t x = 0; x < width; x += 4) {
            image_block block;
            gather(&block, (const uint8_t *)pixels + 4 * (y * width + x), width);
            uint16_t ends[2] = {to_565(block.high), to_565(block.low)};
            /* The format mixes in thirds only if the first colour is the larger number. */
            uint32_t choices = ends[0] > ends[1] ? choose(&block) : 0;
            memcpy(to, ends, sizeof ends);
            memcpy(to + sizeof ends, &choices, sizeof choices);
            to += sizeof ends + sizeof choices;
        }
    }
}
