/*
 * The CSV reader against a second one that is too simple to be wrong: byte by byte, copying.
 * Both must give the same records for any input.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct simple_reader {
    sb_slice text;
    size_t at;
    sb_output field;
    sb_output record; /* fields, each followed by a byte that separates it from the next */
    size_t field_count;
    bool is_blank;
} simple_reader;

static char take(simple_reader *reader) {
    const char c = reader->text.data[reader->at++];
    if (c != ' ' && c != '\t')
        reader->is_blank = false;
    return c;
}

static bool is_at(const simple_reader *reader, char c) {
    return reader->at < reader->text.size && reader->text.data[reader->at] == c;
}

static bool is_at_end_of_field(const simple_reader *reader) {
    return reader->at == reader->text.size || is_at(reader, ',') || is_at(reader, '\n') ||
           is_at(reader, '\r');
}

static void read_quoted(simple_reader *reader) {
    take(reader);
    while (reader->at < reader->text.size) {
        const char c = take(reader);
        if (c == '"' && !is_at(reader, '"'))
            return;
        if (c == '"')
            take(reader);
        sb_put_char(&reader->field, c);
    }
}

static void read_field(simple_reader *reader) {
    sb_output_truncate(&reader->field, 0);
    if (is_at(reader, '"'))
        read_quoted(reader);
    while (!is_at_end_of_field(reader))
        sb_put_char(&reader->field, take(reader));
    sb_put(&reader->record, sb_output_text(&reader->field));
    sb_put_format(&reader->record, "\n%zu\n", sb_output_text(&reader->field).size);
    reader->field_count++;
}

static bool read_record(simple_reader *reader) {
    while (reader->at < reader->text.size) {
        sb_output_truncate(&reader->record, 0);
        reader->field_count = 0;
        reader->is_blank = true;
        read_field(reader);
        while (is_at(reader, ',')) {
            take(reader);
            read_field(reader);
        }
        const bool is_blank = reader->is_blank;
        if (is_at(reader, '\r'))
            reader->at +=
                reader->at + 1 < reader->text.size && reader->text.data[reader->at + 1] == '\n' ? 2
                                                                                                : 1;
        else if (is_at(reader, '\n'))
            reader->at++;
        if (!is_blank)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const sb_slice text = {(const char *)data, size};
    simple_reader simple = {
        .text = sb_slice_starts_with(text, "\xef\xbb\xbf") ? sb_slice_after(text, 3) : text,
        .field = sb_output_to_memory(),
        .record = sb_output_to_memory()};
    sb_output record = sb_output_to_memory();
    sb_csv csv;
    sb_csv_begin(&csv, text);
    while (sb_csv_next(&csv)) {
        assert(read_record(&simple));
        assert(simple.field_count == csv.field_count);
        sb_output_truncate(&record, 0);
        for (size_t i = 0; i < csv.field_count; i++) {
            sb_put(&record, csv.fields[i]);
            sb_put_format(&record, "\n%zu\n", csv.fields[i].size);
        }
        assert(sb_slice_equal(sb_output_text(&record), sb_output_text(&simple.record)));
    }
    assert(!read_record(&simple));
    sb_csv_end(&csv);
    sb_output_discard(&record);
    sb_output_discard(&simple.field);
    sb_output_discard(&simple.record);
    return 0;
}
