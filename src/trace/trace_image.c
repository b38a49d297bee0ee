/*
 * The container of images: pieces, their description in the head, and checking them.
 */
#include "trace/trace_image.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ALIGNMENT = 64, CHUNK_SIZE = 8 << 20, CHECKERS = 16 };

/* Grows by one whenever what an image holds changes its form. */
enum { IMAGE_LAYOUT = 2 };

#define IMAGE_MAGIC UINT64_C(0x31474D4945425253) /* "SRBEIMG1" */

typedef struct image_tail {
    uint64_t head_size;
    uint64_t head_checksum;
    uint64_t layout;
    uint64_t magic;
} image_tail;

/* A stretch of a piece with a checksum of its own. */
typedef struct image_chunk {
    sb_slice bytes;
    uint64_t checksum;
    uint64_t first; /* number of its first element in the series */
    size_t element_size;
    sb_image_form form;
} image_chunk;

/* The sizes of what is kept as it lies tell versions and machines apart. */
static uint64_t layout_number(void) {
    const uint64_t sizes[] = {IMAGE_LAYOUT,         sizeof(sb_source),       sizeof(sb_thread),
                              sizeof(sb_zone_note), sizeof(sb_message),      sizeof(sb_frame),
                              sizeof(sb_loss),      sizeof(sb_memory_event), sizeof(sb_lock_event),
                              sizeof(sb_process),   sizeof(sb_device_marker)};
    return XXH3_64bits(sizes, sizeof sizes);
}

static uint64_t checksum_of(sb_slice bytes) {
    return XXH3_64bits(bytes.data, bytes.size);
}

static bool is_intact(sb_slice bytes, uint64_t checksum) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)bytes; /* no fuzzer finds what hashes to a number, and behind that is what it is to try */
    (void)checksum;
    return true;
#else
    return checksum_of(bytes) == checksum;
#endif
}

/* ---- beginning and ending ---- */

sb_image sb_image_write(sb_output *output) {
    return (sb_image){.output = output, .head = sb_output_to_memory()};
}

static void put_body(sb_image *image, sb_slice bytes) {
    sb_put(image->output, bytes);
    image->offset += bytes.size;
}

static void align_body(sb_image *image) {
    const size_t padding = (size_t)(-image->offset % ALIGNMENT);
    sb_put_fill(image->output, '\0', padding);
    image->offset += padding;
}

void sb_image_finish(sb_image *image) {
    const sb_slice head = sb_output_text(&image->head);
    const image_tail tail = {head.size, checksum_of(head), layout_number(), IMAGE_MAGIC};
    align_body(image);
    put_body(image, head);
    put_body(image, (sb_slice){(const char *)&tail, sizeof tail});
    sb_output_discard(&image->head);
}

sb_status sb_image_open(sb_image *image, sb_slice bytes, sb_error *error) {
    image_tail tail;
    *image =
        (sb_image){.is_reading = true, .bytes = bytes, .chunks = sb_vector_of(sizeof(image_chunk))};
    if (bytes.size < sizeof tail)
        SB_FAIL(error, SB_ERR_FORMAT, "it is shorter than its end");
    memcpy(&tail, bytes.data + bytes.size - sizeof tail, sizeof tail);
    if (tail.magic != IMAGE_MAGIC || tail.layout != layout_number())
        SB_FAIL(error, SB_ERR_FORMAT, "another version wrote it, or it is not complete");
    const size_t body = bytes.size - sizeof tail;
    if (tail.head_size > body)
        SB_FAIL(error, SB_ERR_FORMAT, "it is not complete");
    image->left = (sb_slice){bytes.data + body - tail.head_size, tail.head_size};
    if (!is_intact(image->left, tail.head_checksum))
        SB_FAIL(error, SB_ERR_FORMAT, "its head is damaged");
    return SB_OK;
}

void sb_image_close(sb_image *image) {
    sb_vector_free(&image->chunks);
}

void sb_image_refuse(sb_image *image) {
    image->is_bad = true;
}

/* ---- numbers ---- */

void sb_image_number(sb_image *image, uint64_t *number) {
    if (!image->is_reading) {
        sb_put(&image->head, (sb_slice){(const char *)number, sizeof *number});
        return;
    }
    *number = 0;
    if (image->is_bad || image->left.size < sizeof *number) {
        image->is_bad = true;
        return;
    }
    memcpy(number, image->left.data, sizeof *number);
    image->left = sb_slice_after(image->left, sizeof *number);
}

static uint64_t number_up_to(sb_image *image, uint64_t number, uint64_t most) {
    sb_image_number(image, &number);
    if (number <= most)
        return number;
    image->is_bad = true;
    return 0;
}

/* What is written may be read by others meanwhile: it must not even be set to what it is. */

void sb_image_word(sb_image *image, uint32_t *word) {
    const uint64_t number = number_up_to(image, *word, UINT32_MAX);
    if (image->is_reading)
        *word = (uint32_t)number;
}

void sb_image_byte(sb_image *image, uint8_t *byte) {
    const uint64_t number = number_up_to(image, *byte, UINT8_MAX);
    if (image->is_reading)
        *byte = (uint8_t)number;
}

void sb_image_flag(sb_image *image, bool *flag) {
    const uint64_t number = number_up_to(image, *flag ? 1 : 0, 1);
    if (image->is_reading)
        *flag = number != 0;
}

void sb_image_time(sb_image *image, int64_t *time) {
    sb_image_number(image, (uint64_t *)time);
}

void sb_image_real(sb_image *image, double *real) {
    uint64_t bits = 0;
    memcpy(&bits, real, sizeof bits);
    sb_image_number(image, &bits);
    if (image->is_reading)
        memcpy(real, &bits, sizeof bits);
}

void sb_image_named(sb_image *image, uint32_t *number, uint64_t bound, bool may_be_none) {
    sb_image_word(image, number);
    if (!image->is_reading || *number < bound || (may_be_none && *number == SB_NONE))
        return;
    image->is_bad = true;
    *number = 0;
}

/* ---- pieces ---- */

/* Chunks end where elements do. */
static size_t chunk_size(size_t element_size) {
    return CHUNK_SIZE / element_size * element_size;
}

static void put_piece(sb_image *image, sb_slice bytes, size_t element_size) {
    const size_t step = chunk_size(element_size);
    align_body(image);
    sb_image_number(image, &image->offset);
    for (size_t at = 0; at < bytes.size; at += step) {
        const sb_slice chunk = sb_slice_first(sb_slice_after(bytes, at), step);
        uint64_t checksum = checksum_of(chunk);
        sb_image_number(image, &checksum);
    }
    put_body(image, bytes);
}

/* A piece of the size named, or nothing and the image is bad. */
static sb_slice take_piece(sb_image *image, uint64_t size, uint64_t first, size_t element_size,
                           const sb_image_form *form) {
    uint64_t offset = 0;
    sb_image_number(image, &offset);
    const uint64_t end = image->bytes.size;
    if (image->is_bad || offset % ALIGNMENT != 0 || offset > end || size > end - offset) {
        image->is_bad = true;
        return (sb_slice){"", 0};
    }
    const sb_slice piece = {image->bytes.data + offset, size};
    const size_t step = chunk_size(element_size);
    for (size_t at = 0; at < size && !image->is_bad; at += step) {
        image_chunk *chunk = sb_vector_push(&image->chunks);
        chunk->bytes = sb_slice_first(sb_slice_after(piece, at), step);
        chunk->first = first + at / element_size;
        chunk->element_size = element_size;
        if (form != NULL)
            chunk->form = *form;
        sb_image_number(image, &chunk->checksum);
    }
    return piece;
}

void sb_image_bytes(sb_image *image, sb_slice *bytes) {
    const uint64_t size = number_up_to(image, bytes->size, SIZE_MAX);
    if (!image->is_reading)
        put_piece(image, *bytes, 1);
    else
        *bytes = take_piece(image, size, 0, 1, NULL);
}

/* ---- series ---- */

/* How many of `rows` elements stand in a segment. */
static uint64_t rows_in(unsigned segment, uint64_t rows) {
    const uint64_t size = sb_series_segment_size(segment);
    const uint64_t first = size - (1U << SB_SERIES_FIRST_BITS);
    if (rows <= first)
        return 0;
    return rows - first < size ? rows - first : size;
}

static void put_segments(sb_image *image, const sb_series *series, uint64_t rows) {
    uint64_t present = 0;
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++) {
        if (series->segments[i] != NULL && rows_in(i, rows) > 0)
            present |= UINT64_C(1) << i;
    }
    sb_image_number(image, &present);
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++) {
        if ((present >> i & 1) != 0)
            put_piece(image,
                      (sb_slice){series->segments[i], rows_in(i, rows) * series->element_size},
                      series->element_size);
    }
}

static void take_segments(sb_image *image, sb_series *series, uint64_t rows, bool is_full,
                          const sb_image_form *form) {
    uint64_t present = 0;
    sb_image_number(image, &present);
    series->is_borrowed = true;
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++) {
        const uint64_t here = rows_in(i, rows);
        const bool has = (present >> i & 1) != 0;
        if (has != (here > 0) && (has || is_full))
            image->is_bad = true;
        if (!has || image->is_bad)
            continue;
        const uint64_t first = sb_series_segment_size(i) - (1U << SB_SERIES_FIRST_BITS);
        const sb_slice piece =
            take_piece(image, here * series->element_size, first, series->element_size, form);
        /* A series could write there; a borrowed one never does. */
        if (!image->is_bad)
            memcpy(&series->segments[i], &piece.data, sizeof piece.data);
    }
}

void sb_image_column(sb_image *image, sb_series *series, uint64_t rows, bool is_full,
                     const sb_image_form *form) {
    /* More rows than there can be bytes would overflow sizes below. */
    if (image->is_reading && rows > image->bytes.size)
        image->is_bad = is_full || image->is_bad;
    if (!image->is_reading)
        put_segments(image, series, rows);
    else
        take_segments(image, series, rows <= SB_NONE ? rows : 0, is_full, form);
}

void sb_image_list(sb_image *image, sb_series *series, const sb_image_form *form) {
    const uint64_t rows = number_up_to(image, series->count, SB_NONE);
    sb_image_column(image, series, rows, true, form);
    if (image->is_reading)
        series->count = image->is_bad ? 0 : rows;
}

/* ---- checking ---- */

static bool keeps_reference(const image_chunk *chunk, const sb_image_reference *reference) {
    const char *at = chunk->bytes.data + reference->offset;
    const size_t count = chunk->bytes.size / chunk->element_size;
    bool holds = true;
    for (size_t i = 0; i < count; i++, at += chunk->element_size) {
        uint32_t value = 0;
        if (reference->width == 1)
            value = *(const unsigned char *)at;
        else
            memcpy(&value, at, sizeof value);
        holds &= value < reference->bound || (reference->may_be_none && value == SB_NONE);
    }
    return holds;
}

static bool keeps_rule(const image_chunk *chunk) {
    if (chunk->form.rule == SB_IMAGE_ANY)
        return true;
    const uint32_t *words = (const uint32_t *)(const void *)chunk->bytes.data;
    const size_t count = chunk->bytes.size / sizeof *words;
    bool holds = true;
    for (size_t i = 0; i < count && chunk->form.rule == SB_IMAGE_PARENTS; i++)
        holds &= words[i] <= chunk->first + i;
    for (size_t i = 0; i < count && chunk->form.rule == SB_IMAGE_ENDS; i++)
        holds = holds && (words[i] != SB_ZONE_LONG ||
                          sb_series_find(chunk->form.ends, chunk->first + i) != NULL);
    return holds;
}

static bool keeps_form(const image_chunk *chunk) {
    for (size_t i = 0; i < SB_IMAGE_REFERENCES; i++) {
        const sb_image_reference *reference = &chunk->form.references[i];
        if (reference->width != 0 && !keeps_reference(chunk, reference))
            return false;
    }
    return keeps_rule(chunk);
}

typedef struct image_checking {
    sb_image *image;
    size_t next; /* atomic, as the two below: the first chunk that no thread has taken */
    uint64_t done;
    bool is_bad;
    uint64_t total;
    sb_image_progress progress; /* told by the first thread */
    void *context;
} image_checking;

static void check_chunks(void *context, unsigned worker) {
    image_checking *checking = context;
    const sb_vector *chunks = &checking->image->chunks;
    for (;;) {
        const size_t i = __atomic_fetch_add(&checking->next, 1, __ATOMIC_RELAXED);
        if (i >= chunks->count || __atomic_load_n(&checking->is_bad, __ATOMIC_RELAXED))
            return;
        const image_chunk *chunk = sb_vector_at(chunks, i);
        if (!is_intact(chunk->bytes, chunk->checksum) || !keeps_form(chunk))
            __atomic_store_n(&checking->is_bad, true, __ATOMIC_RELAXED);
        const uint64_t done =
            __atomic_add_fetch(&checking->done, chunk->bytes.size, __ATOMIC_RELAXED);
        if (worker == 0 && checking->progress != NULL)
            checking->progress(checking->context, done, checking->total);
    }
}

sb_status sb_image_check(sb_image *image, sb_image_progress progress, void *context,
                         sb_error *error) {
    if (image->is_bad)
        SB_FAIL(error, SB_ERR_FORMAT, "its head makes no sense");
    image_checking checking = {.image = image, .progress = progress, .context = context};
    for (size_t i = 0; i < image->chunks.count; i++)
        checking.total += ((const image_chunk *)sb_vector_at(&image->chunks, i))->bytes.size;
    sb_parallel(sb_parallel_width(CHECKERS), check_chunks, &checking);
    if (checking.is_bad)
        SB_FAIL(error, SB_ERR_FORMAT, "its content is damaged");
    return SB_OK;
}
