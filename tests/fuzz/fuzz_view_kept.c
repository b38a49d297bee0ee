/*
 * Kept indexes against any change: an input is a list of changes to a good one, each the place (3
 * bytes), what is put there (8 bytes) and how many bytes of that. Without checksums, which are off
 * here, what still opens must be safe to ask.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_view.h"
#include "view/view_kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const sb_view_stamp stamp = {.size = 1, .changed_ns = 2, .ends = 3};

static sb_output make_image(void) {
    view_index index;
    sb_output image = sb_output_to_memory();
    sb_trace *trace = make_fuzz_trace();
    view_index_init(&index, trace);
    view_index_extend(&index, NULL, NULL);
    view_kept_write(trace, &index, &stamp, &image);
    view_index_free(&index);
    sb_trace_free(trace);
    return image;
}

/* Half of the places are counted from the end, where the head is. */
static void change(char *image, size_t image_size, const uint8_t *data, size_t size) {
    enum { CHANGE = 12 };
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        const size_t place = (size_t)(data[0] | data[1] << 8 | data[2] << 16) % image_size;
        const size_t at = (data[11] & 1) != 0 ? image_size - 1 - place : place;
        const size_t count = 1 + (data[11] >> 1) % 8;
        memcpy(image + at, data + 3, count < image_size - at ? count : image_size - at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sb_output good;
    if (good.buffer == NULL)
        good = make_image();
    const size_t image_size = sb_output_text(&good).size;
    char *image = NULL;
    /* Pieces are used in place, so the copy begins where a page would. */
    if (posix_memalign((void **)&image, 4096, image_size) != 0)
        return 0;
    memcpy(image, good.buffer, image_size);
    change(image, image_size, data, size);
    sb_view_kept *kept = sb_alloc_zeroed(1, sizeof *kept);
    sb_error error = {0};
    if (view_kept_read(kept, (sb_slice){image, image_size}, &stamp, NULL, NULL, &error) == SB_OK) {
        const sb_view_source source = {
            .trace = sb_view_kept_trace(kept), .kept = kept, .name = "fuzz", .version = "0"};
        sb_view *view = sb_view_create(&source);
        ask_view_all(view);
        sb_view_free(view);
    }
    sb_view_kept_free(kept);
    free(image);
    return 0;
}
