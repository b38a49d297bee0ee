/*
 * The report of `strobe profile`: rows of one or more ops reports in one file, with the columns
 * that tt-torch's wrapper adds to them from messages of its compiler.
 */
#include "cli/cli_profile.h"

#include <stdlib.h>

/* ---- messages of the compiler ---- */

enum { NOTE_COUNT = 3 };

/* A message holds for the operations behind it, up to the next of its kind. */
static const struct {
    const char *message;
    const char *title;
    const char *otherwise;
} notes[NOTE_COUNT] = {
    {"MLIR_OP_LOCATION", "LOC", "loc(unknown)"},
    {"MLIR_CONST_EVAL_OP", "CONST_EVAL_OP", "false"},
    {"MLIR_PROGRAM_METADATA", "PROGRAM_METADATA", "{}"},
};

typedef struct noted {
    sb_slice values[NOTE_COUNT];
} noted;

/* What is said of each operation: by its id the place in the list. */
typedef struct notebook {
    sb_idmap places;
    sb_vector list; /* noted */
} notebook;

/* The last number in front of the description, or of the end of the message. */
static bool find_id(sb_slice line, int64_t *id) {
    size_t end = sb_slice_find(line, " ->");
    if (end == SB_NOT_FOUND) {
        end = line.size;
        while (end > 0 && line.data[end - 1] != '`')
            end--;
        end = end > 0 ? end - 1 : 0;
    }
    size_t start = end;
    while (start > 0 && line.data[start - 1] != ',')
        start--;
    return sb_parse_int64(sb_slice_trim((sb_slice){line.data + start, end - start}), id) &&
           *id >= 0;
}

static void read_notes(sb_slice text, notebook *book) {
    noted current;
    for (size_t i = 0; i < NOTE_COUNT; i++)
        current.values[i] = sb_slice_of(notes[i].otherwise);
    while (text.size > 0) {
        int64_t id = 0;
        const sb_slice line = sb_slice_cut(text, '\n', &text);
        for (size_t i = 0; i < NOTE_COUNT; i++) {
            if (!sb_slice_contains(line, notes[i].message))
                continue;
            sb_slice rest;
            sb_slice_cut(line, ';', &rest);
            current.values[i] = sb_slice_cut(rest, ';', &rest);
        }
        if (sb_slice_contains(line, "TT_DNN_DEVICE_OP") && find_id(line, &id)) {
            sb_idmap_set(&book->places, (uint64_t)id, (uint32_t)book->list.count);
            *(noted *)sb_vector_push(&book->list) = current;
        }
    }
}

static sb_slice note_of(const notebook *book, sb_slice id, size_t note) {
    int64_t number = 0;
    uint32_t place = 0;
    if (!sb_parse_int64(sb_slice_trim(id), &number) ||
        !sb_idmap_get(&book->places, (uint64_t)number, &place))
        return sb_slice_of(notes[note].otherwise);
    return ((noted *)sb_vector_at(&book->list, place))->values[note];
}

/* ---- columns ---- */

static size_t place_of(const sb_vector *titles, sb_slice title) {
    for (size_t i = 0; i < titles->count; i++) {
        if (sb_slice_equal(*(sb_slice *)sb_vector_at(titles, i), title))
            return i;
    }
    return SB_NOT_FOUND;
}

/* Those of the report that are not there yet. */
static void add_titles(sb_slice text, sb_arena *arena, sb_vector *titles) {
    sb_csv csv;
    sb_csv_begin(&csv, text);
    if (sb_csv_next(&csv)) {
        for (size_t i = 0; i < csv.field_count; i++) {
            if (place_of(titles, csv.fields[i]) == SB_NOT_FOUND)
                *(sb_slice *)sb_vector_push(titles) = sb_arena_copy(arena, csv.fields[i]);
        }
    }
    sb_csv_end(&csv);
}

/* ---- rows ---- */

static void put_titles(const sb_vector *titles, bool has_processes, sb_output *output) {
    for (size_t i = 0; i < titles->count; i++) {
        sb_put_csv(output, *(sb_slice *)sb_vector_at(titles, i));
        sb_put_char(output, ',');
    }
    for (size_t i = 0; i < NOTE_COUNT; i++)
        sb_put_format(output, "%s%s", i == 0 ? "" : ",", notes[i].title);
    sb_put_text(output, has_processes ? ",PROCESS ID\r\n" : "\r\n");
}

/* Cells by the places that they have in the file. */
static void put_cells(const sb_csv *csv, const size_t *columns, size_t count, sb_output *output) {
    for (size_t i = 0; i < count; i++) {
        if (columns[i] < csv->field_count)
            sb_put_csv(output, csv->fields[columns[i]]);
        sb_put_char(output, ',');
    }
}

static void put_rows(const cli_profile_source *source, sb_slice text, const sb_vector *titles,
                     const notebook *book, bool has_processes, sb_output *output) {
    sb_csv csv;
    size_t *columns = sb_alloc((titles->count + 1) * sizeof *columns);
    sb_vector own = sb_vector_of(sizeof(sb_slice));
    sb_arena arena = {0};
    add_titles(text, &arena, &own);
    for (size_t i = 0; i < titles->count; i++)
        columns[i] = place_of(&own, *(sb_slice *)sb_vector_at(titles, i));
    const size_t id = place_of(&own, sb_slice_of("GLOBAL CALL COUNT"));
    sb_csv_begin(&csv, text);
    sb_csv_next(&csv); /* the titles */
    while (sb_csv_next(&csv)) {
        const sb_slice number = id < csv.field_count ? csv.fields[id] : sb_slice_of("");
        put_cells(&csv, columns, titles->count, output);
        for (size_t i = 0; i < NOTE_COUNT; i++) {
            sb_put_text(output, i == 0 ? "" : ",");
            sb_put_csv(output, note_of(book, number, i));
        }
        if (has_processes)
            sb_put_format(output, ",%d", source->process_id);
        sb_put_text(output, "\r\n");
    }
    sb_csv_end(&csv);
    sb_vector_free(&own);
    sb_arena_free(&arena);
    free(columns);
}

static sb_status put_source(const cli_profile_source *source, const sb_vector *titles,
                            bool has_processes, sb_output *output, sb_error *error) {
    sb_file report;
    sb_file messages;
    notebook book = {.list = sb_vector_of(sizeof(noted))};
    SB_TRY(sb_file_open(&report, source->csv, error));
    sb_idmap_init(&book.places);
    const bool has_messages = sb_file_open(&messages, source->messages, NULL) == SB_OK;
    if (has_messages)
        read_notes(messages.text, &book);
    put_rows(source, report.text, titles, &book, has_processes, output);
    if (has_messages)
        sb_file_close(&messages);
    sb_file_close(&report);
    sb_idmap_free(&book.places);
    sb_vector_free(&book.list);
    return SB_OK;
}

static sb_status find_titles(const cli_profile_source *sources, size_t count, sb_arena *arena,
                             sb_vector *titles, sb_error *error) {
    for (size_t i = 0; i < count; i++) {
        sb_file report;
        SB_TRY(sb_file_open(&report, sources[i].csv, error));
        add_titles(report.text, arena, titles);
        sb_file_close(&report);
    }
    return SB_OK;
}

sb_status cli_profile_write(const cli_profile_source *sources, size_t count, const char *goal,
                            sb_error *error) {
    sb_arena arena = {0};
    sb_output output;
    sb_vector titles = sb_vector_of(sizeof(sb_slice));
    sb_status status = find_titles(sources, count, &arena, &titles, error);
    if (status == SB_OK)
        status = sb_output_to_file(&output, goal, error);
    if (status == SB_OK) {
        put_titles(&titles, count > 1, &output);
        for (size_t i = 0; i < count && status == SB_OK; i++)
            status = put_source(&sources[i], &titles, count > 1, &output, error);
        const sb_status written = sb_output_finish(&output, status == SB_OK ? error : NULL);
        status = status != SB_OK ? status : written;
    }
    sb_vector_free(&titles);
    sb_arena_free(&arena);
    return status;
}
