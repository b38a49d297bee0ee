/*
 * Answers for drawing: the spans of many tracks in one binary document, and the overview.
 *
 * The document is made for typed arrays: little-endian, each column in one piece and aligned.
 *
 *     header   u32 magic "SBZ1", tracks, flags (1: cut at VIEW_SPANS), offset of texts, their size,
 *              three zeroes
 *     a track  u32 number, spans n, rows, zero
 *              f64 start[n], end[n], busy[n]
 *              u32 source[n], zone[n], count[n], depth[n], flags[n] (1: open), name[n], text[n],
 *              colour[n]
 *     texts    JSON, an object from the numbers in name and text to what they stand for
 *
 * Name, text and colour are those a program gave to this one zone; 0 is none.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_call.h"

enum { REQUEST_TRACKS = 512, TEXTS = 20000, TEXT_SIZE = 200, FLAG_CUT = 1, FLAG_OPEN = 1 };

/* ---- pieces ---- */

static void put_u32(sb_output *output, uint32_t value) {
    const char bytes[] = {(char)(value & 0xFF), (char)(value >> 8 & 0xFF),
                          (char)(value >> 16 & 0xFF), (char)(value >> 24 & 0xFF)};
    sb_put(output, (sb_slice){bytes, sizeof bytes});
}

/* A column of words or of times, at once: an answer has millions of them. */
static void put_words(sb_output *output, const uint32_t *words, size_t count) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they lie");
    sb_put(output, (sb_slice){(const char *)words, count * sizeof *words});
}

static void put_times(sb_output *output, const double *times, size_t count) {
    sb_put(output, (sb_slice){(const char *)times, count * sizeof *times});
}

/* ---- which tracks ---- */

static sb_status read_tracks(view_call *call, sb_vector *tracks) {
    const int64_t known = (int64_t)sb_series_count(&call->view->trace->tracks);
    sb_slice rest = view_call_text(call, "tracks");
    while (rest.size > 0) {
        int64_t number = 0;
        const sb_slice part = sb_slice_cut(rest, ',', &rest);
        if (!sb_parse_int64(part, &number) || number < 0 || number >= known)
            SB_FAIL(&call->error, SB_ERR_USAGE, "tracks: '%.*s' is no track",
                    (int)(part.size < 20 ? part.size : 20), part.data);
        if (tracks->count == REQUEST_TRACKS)
            SB_FAIL(&call->error, SB_ERR_USAGE, "tracks: more than %d", REQUEST_TRACKS);
        *(uint32_t *)sb_vector_push(tracks) = (uint32_t)number;
    }
    return SB_OK;
}

/* ---- spans ---- */

/* The columns of one track while they are put together. */
typedef struct columns {
    double *times;
    uint32_t *words;
    size_t capacity;
} columns;

static void make_room(columns *room, size_t count) {
    if (count <= room->capacity)
        return;
    room->times = sb_realloc(room->times, count, sizeof *room->times);
    room->words = sb_realloc(room->words, count, sizeof *room->words);
    room->capacity = count;
}

typedef enum time_column { COLUMN_START, COLUMN_END, COLUMN_BUSY, TIME_COLUMNS } time_column;

static int64_t time_of(const view_span *span, time_column column) {
    return column == COLUMN_START ? span->start : column == COLUMN_END ? span->end : span->busy;
}

typedef enum word_column {
    COLUMN_SOURCE,
    COLUMN_ZONE,
    COLUMN_COUNT,
    COLUMN_DEPTH,
    COLUMN_FLAGS,
    WORD_COLUMNS
} word_column;

static uint32_t word_of(const view_span *span, word_column column) {
    switch (column) {
    case COLUMN_SOURCE:
        return span->source;
    case COLUMN_ZONE:
        return span->zone;
    case COLUMN_COUNT:
        return span->count;
    case COLUMN_DEPTH:
        return span->depth;
    default:
        return span->is_open ? FLAG_OPEN : 0;
    }
}

static void put_span_columns(sb_output *output, const sb_vector *spans, columns *room) {
    const view_span *all = (const view_span *)(const void *)spans->data;
    for (time_column column = COLUMN_START; column < TIME_COLUMNS; column++) {
        for (size_t i = 0; i < spans->count; i++)
            room->times[i] = (double)time_of(&all[i], column);
        put_times(output, room->times, spans->count);
    }
    for (word_column column = COLUMN_SOURCE; column < WORD_COLUMNS; column++) {
        for (size_t i = 0; i < spans->count; i++)
            room->words[i] = word_of(&all[i], column);
        put_words(output, room->words, spans->count);
    }
}

typedef enum note_column { COLUMN_NAME, COLUMN_TEXT, COLUMN_COLOUR, NOTE_COLUMNS } note_column;

/* What a program gave to a single zone; the texts among it are remembered. */
static uint32_t note_of(const sb_zone_note *note, note_column column, sb_vector *texts) {
    if (note == NULL)
        return 0;
    if (column == COLUMN_COLOUR)
        return note->colour;
    const uint32_t text = column == COLUMN_NAME ? note->name : note->text;
    if (text != 0)
        *(uint32_t *)sb_vector_push(texts) = text;
    return text;
}

/* Most tracks have no notes, and whether one does is known at once. */
static bool has_notes(const sb_track *track) {
    for (unsigned i = 0; i < SB_SERIES_SEGMENTS; i++) {
        if (__atomic_load_n(&track->note.segments[i], __ATOMIC_ACQUIRE) != NULL)
            return true;
    }
    return false;
}

static void put_note_columns(sb_output *output, const sb_trace *trace, const sb_track *track,
                             const sb_vector *spans, columns *room, sb_vector *texts) {
    const view_span *all = (const view_span *)(const void *)spans->data;
    if (!has_notes(track)) {
        if (spans->count > 0)
            memset(room->words, 0, spans->count * sizeof *room->words);
        for (int i = 0; i < NOTE_COLUMNS; i++)
            put_words(output, room->words, spans->count);
        return;
    }
    for (note_column column = COLUMN_NAME; column < NOTE_COLUMNS; column++) {
        for (size_t i = 0; i < spans->count; i++) {
            const sb_zone_note *note =
                all[i].count == 1 ? sb_trace_zone_note(trace, track, all[i].zone) : NULL;
            room->words[i] = note_of(note, column, texts);
        }
        put_words(output, room->words, spans->count);
    }
}

static void put_track(view_call *call, uint32_t number, const sb_vector *spans, columns *room,
                      sb_vector *texts) {
    const sb_trace *trace = call->view->trace;
    sb_output *output = call->body;
    put_u32(output, number);
    put_u32(output, (uint32_t)spans->count);
    put_u32(output, view_index_depth(call->view->index, number));
    put_u32(output, 0);
    make_room(room, spans->count);
    put_span_columns(output, spans, room);
    put_note_columns(output, trace, sb_trace_track(trace, number), spans, room, texts);
}

static int compare_numbers(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The texts that were named, each once. Long ones are cut; the details of a zone have them whole.
 */
static void put_texts(sb_output *output, const sb_trace *trace, sb_vector *texts) {
    if (texts->count > 0)
        qsort(texts->data, texts->count, sizeof(uint32_t), compare_numbers);
    uint32_t last = 0;
    size_t written = 0;
    sb_put_char(output, '{');
    for (size_t i = 0; i < texts->count && written < TEXTS; i++) {
        const uint32_t number = *(uint32_t *)sb_vector_at(texts, i);
        if (number == last)
            continue;
        last = number;
        sb_put_format(output, "%s\"%u\":", written == 0 ? "" : ",", number);
        sb_put_json(output, sb_slice_first(sb_trace_text(trace, number), TEXT_SIZE));
        written++;
    }
    sb_put_char(output, '}');
}

static void patch_u32(sb_output *output, size_t at, uint32_t value) {
    for (size_t i = 0; i < sizeof value; i++)
        output->buffer[at + i] = (char)(value >> (8 * i) & 0xFF);
}

sb_status view_answer_zones(view_call *call) {
    enum { HEADER_WORDS = 8, FLAGS_AT = 8, TEXTS_AT = 12, SIZE_AT = 16 };
    view_window window;
    SB_TRY(view_call_window(call, &window));
    if (call->wants_all)
        window.grain = 1;
    sb_vector tracks = sb_vector_of(sizeof(uint32_t));
    const sb_status status = read_tracks(call, &tracks);
    if (status != SB_OK) {
        sb_vector_free(&tracks);
        return status;
    }
    sb_output *output = call->body;
    const size_t head = sb_output_text(output).size;
    put_u32(output, 0x315A4253);
    put_u32(output, (uint32_t)tracks.count);
    for (int i = 2; i < HEADER_WORDS; i++)
        put_u32(output, 0);
    sb_vector spans = sb_vector_of(sizeof(view_span));
    sb_vector texts = sb_vector_of(sizeof(uint32_t));
    columns room = {0};
    size_t total = 0;
    bool is_complete = true;
    for (size_t i = 0; i < tracks.count; i++) {
        const uint32_t number = *(uint32_t *)sb_vector_at(&tracks, i);
        sb_vector_clear(&spans);
        if (total < VIEW_SPANS && !view_index_spans(call->view->index, number, &window, &spans))
            is_complete = false;
        if (spans.count > VIEW_SPANS - total)
            spans.count = VIEW_SPANS - total;
        total += spans.count;
        put_track(call, number, &spans, &room, &texts);
    }
    const size_t texts_at = sb_output_text(output).size;
    put_texts(output, call->view->trace, &texts);
    patch_u32(output, head + FLAGS_AT, is_complete && total < VIEW_SPANS ? 0 : FLAG_CUT);
    patch_u32(output, head + TEXTS_AT, (uint32_t)(texts_at - head));
    patch_u32(output, head + SIZE_AT, (uint32_t)(sb_output_text(output).size - texts_at));
    free(room.times);
    free(room.words);
    sb_vector_free(&spans);
    sb_vector_free(&texts);
    sb_vector_free(&tracks);
    call->content_type = "application/octet-stream";
    return SB_OK;
}

/* ---- overview ---- */

typedef struct buckets {
    sb_range range;
    double width_ns;
    int64_t count;
    double *busy;
} buckets;

/* Spreads the busy time of a span over the buckets it covers. */
static void spread(buckets *into, const view_span *span) {
    const double length = (double)span->end - (double)span->start;
    const double from = ((double)span->start - (double)into->range.from) / into->width_ns;
    const double to = ((double)span->end - (double)into->range.from) / into->width_ns;
    const int64_t first = from < 0 ? 0 : (int64_t)from;
    for (int64_t i = first; i < into->count && (double)i <= to; i++) {
        const double left = from > (double)i ? from : (double)i;
        const double right = to < (double)i + 1 ? to : (double)i + 1;
        const double share = length > 0 ? (right - left) * into->width_ns / length : 1;
        into->busy[i] += share * (double)span->busy;
    }
}

static void put_busy(sb_output *output, const char *name, const buckets *shown) {
    double highest = 0;
    for (int64_t i = 0; i < shown->count; i++)
        highest = fmax(highest, shown->busy[i]);
    sb_put_format(output, "\"%s\":[", name);
    for (int64_t i = 0; i < shown->count; i++) {
        const double part = highest > 0 ? shown->busy[i] / highest : 0;
        sb_put_format(output, "%s%.3g", i == 0 ? "" : ",", part);
    }
    sb_put_char(output, ']');
}

/* How busy host and devices are over time, as parts of their busiest moment. */
sb_status view_answer_overview(view_call *call) {
    enum { OVERVIEW_WIDTH = 4096 };
    view_window window;
    SB_TRY(view_call_window(call, &window));
    int64_t width = 1024;
    SB_TRY(view_call_integer(call, "width", 1, OVERVIEW_WIDTH, &width));
    const double width_ns = (double)(window.range.to - window.range.from) / (double)width;
    buckets sums[2];
    for (size_t i = 0; i < 2; i++)
        sums[i] = (buckets){window.range, width_ns, width,
                            sb_alloc_zeroed((size_t)width, sizeof(double))};
    sb_vector spans = sb_vector_of(sizeof(view_span));
    const sb_trace *trace = call->view->trace;
    const uint64_t tracks = sb_series_count(&trace->tracks);
    pthread_mutex_lock(&call->view->heavy);
    for (uint64_t i = 0; i < tracks; i++) {
        sb_vector_clear(&spans);
        view_index_roots(call->view->index, (uint32_t)i, &window, &spans);
        buckets *into = &sums[sb_trace_track(trace, i)->kind == SB_TRACK_LANE];
        for (size_t k = 0; k < spans.count; k++)
            spread(into, sb_vector_at(&spans, k));
    }
    pthread_mutex_unlock(&call->view->heavy);
    sb_put_char(call->body, '{');
    put_busy(call->body, "host", &sums[0]);
    sb_put_char(call->body, ',');
    put_busy(call->body, "device", &sums[1]);
    sb_put_char(call->body, '}');
    sb_vector_free(&spans);
    free(sums[0].busy);
    free(sums[1].busy);
    return SB_OK;
}
