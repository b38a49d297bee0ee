#include "testing.h"

/* Records as text: fields in brackets, each record closed by a newline. */
static sb_slice dump(sb_slice text, sb_output *output) {
    sb_csv csv;
    sb_csv_begin(&csv, text);
    while (sb_csv_next(&csv)) {
        for (size_t i = 0; i < csv.field_count; i++) {
            sb_put_char(output, '[');
            sb_put(output, csv.fields[i]);
            sb_put_char(output, ']');
        }
        sb_put_char(output, '\n');
    }
    sb_csv_end(&csv);
    return sb_output_text(output);
}

static void check_records(const char *text, const char *expected) {
    sb_output output = sb_output_to_memory();
    check_slice(dump(sb_slice_of(text), &output), expected);
    sb_output_discard(&output);
}

typedef struct syntax_case {
    const char *text;
    const char *records;
} syntax_case;

static void check_cases(const syntax_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        check_records(cases[i].text, cases[i].records);
}

static void fields_are_split_at_commas(void **state) {
    (void)state;
    static const syntax_case cases[] = {
        {"a,b\n", "[a][b]\n"},         {"a,,b\n", "[a][][b]\n"}, {",\n", "[][]\n"},
        {",a,\n", "[][a][]\n"},        {"a\n", "[a]\n"},         {" a , b \n", "[ a ][ b ]\n"},
        {"a,b\nc\n", "[a][b]\n[c]\n"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void lines_end_in_lf_crlf_or_cr(void **state) {
    (void)state;
    static const syntax_case cases[] = {
        {"a\nb\n", "[a]\n[b]\n"},     {"a\r\nb\r\n", "[a]\n[b]\n"}, {"a\rb\r", "[a]\n[b]\n"},
        {"a\r\n\nb\n", "[a]\n[b]\n"}, {"a\n\rb", "[a]\n[b]\n"},     {"a,\r\nb", "[a][]\n[b]\n"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void last_line_end_may_be_missing(void **state) {
    (void)state;
    static const syntax_case cases[] = {
        {"a,b", "[a][b]\n"},
        {"a,", "[a][]\n"},
        {"a\nb", "[a]\n[b]\n"},
        {"\"a\"", "[a]\n"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void texts_without_records_have_none(void **state) {
    (void)state;
    static const syntax_case cases[] = {
        {"", ""}, {"\n\n", ""}, {" \t\n\r\n  ", ""}, {"\xef\xbb\xbf", ""}, {"\xef\xbb\xbf\n", ""},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void blank_lines_are_skipped(void **state) {
    (void)state;
    static const syntax_case cases[] = {
        {"a\n\n\nb\n", "[a]\n[b]\n"},  {"a\n \t \nb\n", "[a]\n[b]\n"}, {"\n\na\n", "[a]\n"},
        {"a\n , \n", "[a]\n[ ][ ]\n"}, {"a\n\"\"\n", "[a]\n[]\n"},     {"a\n\" \"\n", "[a]\n[ ]\n"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void byte_order_mark_is_dropped_in_front_only(void **state) {
    (void)state;
    check_records("\xef\xbb\xbf"
                  "a,b\n",
                  "[a][b]\n");
    check_records("\xef\xbb\xbf\"a,b\"\n", "[a,b]\n");
    check_records("a\n\xef\xbb\xbf"
                  "b\n",
                  "[a]\n[\xef\xbb\xbf"
                  "b]\n");
}

static void quoted_field_keeps_separators(void **state) {
    (void)state;
    check_records("\"a,b\",c\n", "[a,b][c]\n");
    check_records("x,\",\"\n", "[x][,]\n");
}

static void quoted_field_keeps_line_breaks(void **state) {
    (void)state;
    check_records("\"a\nb\r\nc\rd\",e\nf\n", "[a\nb\r\nc\rd][e]\n[f]\n");
}

static void doubled_quotes_stand_for_one(void **state) {
    (void)state;
    static const syntax_case cases[] = {
        {"\"a\"\"b\"\n", "[a\"b]\n"},     {"\"\"\"\"\n", "[\"]\n"},
        {"\"\"\"a\"\"\"\n", "[\"a\"]\n"}, {"\"\",\"\"\n", "[][]\n"},
        {"\"\"\"\"\"\"\n", "[\"\"]\n"},
    };
    check_cases(cases, COUNT_OF(cases));
}

static void quote_inside_a_bare_field_is_text(void **state) {
    (void)state;
    check_records("a\"b,c\"\n", "[a\"b][c\"]\n");
    check_records(" \"a\",b\n", "[ \"a\"][b]\n");
}

static void text_behind_a_closing_quote_is_kept_and_reported(void **state) {
    (void)state;
    sb_csv csv;
    sb_csv_begin(&csv, sb_slice_of("\"a\"b,c\n\"d\",e\n\"f\"\"g\" \"h\",i\n"));
    assert_true(sb_csv_next(&csv));
    check_slice(csv.fields[0], "ab");
    assert_int_equal(csv.flaws, SB_CSV_AFTER_QUOTE);
    assert_true(sb_csv_next(&csv));
    assert_int_equal(csv.flaws, 0);
    assert_true(sb_csv_next(&csv));
    check_slice(csv.fields[0], "f\"g \"h\"");
    assert_int_equal(csv.field_count, 2);
    sb_csv_end(&csv);
}

static void open_quote_takes_the_rest_and_is_reported(void **state) {
    (void)state;
    static const syntax_case cases[] = {
        {"a,\"b\nc,d\n", "b\nc,d\n"},
        {"a,\"", ""},
        {"a,\"b\"\"", "b\""},
        {"a,\"b\"\"c", "b\"c"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_csv csv;
        sb_csv_begin(&csv, sb_slice_of(cases[i].text));
        assert_true(sb_csv_next(&csv));
        assert_int_equal(csv.field_count, 2);
        check_slice(csv.fields[1], cases[i].records);
        assert_int_equal(csv.flaws, SB_CSV_OPEN_QUOTE);
        assert_true(csv.ended_by_eof);
        assert_false(sb_csv_next(&csv));
        sb_csv_end(&csv);
    }
}

static void records_know_the_line_they_begin_on(void **state) {
    (void)state;
    static const size_t lines[] = {1, 2, 5, 8, 9, 10};
    sb_csv csv;
    sb_csv_begin(&csv, sb_slice_of("a\n\"b\n\r\n\",c\nd\r\n\r\n \re\rf\n\"x\",y"));
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        assert_true(sb_csv_next(&csv));
        assert_int_equal(csv.line, lines[i]);
    }
    assert_false(sb_csv_next(&csv));
    sb_csv_end(&csv);
}

static void end_of_text_and_end_of_line_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool ended_by_eof;
    } cases[] = {{"a,b\n", false}, {"a,b", true},   {"a,b\r", false},
                 {"a,", true},     {"\"a\"", true}, {"\"a\"\n", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_csv csv;
        sb_csv_begin(&csv, sb_slice_of(cases[i].text));
        assert_true(sb_csv_next(&csv));
        assert_int_equal(csv.ended_by_eof, cases[i].ended_by_eof);
        sb_csv_end(&csv);
    }
}

static void offset_is_where_the_next_record_begins(void **state) {
    (void)state;
    sb_csv csv;
    sb_csv_begin(&csv, sb_slice_of("ab,c\r\n\"d\n\"\ne"));
    static const size_t offsets[] = {6, 11, 12};
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        assert_true(sb_csv_next(&csv));
        assert_int_equal(csv.offset, offsets[i]);
    }
    sb_csv_end(&csv);
}

static void bytes_beyond_ascii_are_noticed(void **state) {
    (void)state;
    static const size_t places[] = {0, 1, 62, 63, 64, 65, 200};
    char text[201];
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        memset(text, 'x', sizeof text);
        sb_csv csv;
        sb_csv_begin(&csv, (sb_slice){text, sizeof text});
        assert_true(sb_csv_next(&csv));
        assert_false(csv.non_ascii);
        sb_csv_end(&csv);
        text[places[i]] = '\x80';
        sb_csv_begin(&csv, (sb_slice){text, sizeof text});
        assert_true(sb_csv_next(&csv));
        assert_true(csv.non_ascii);
        sb_csv_end(&csv);
    }
}

static void records_may_have_any_number_of_fields(void **state) {
    (void)state;
    char text[2000];
    memset(text, ',', sizeof text);
    sb_csv csv;
    sb_csv_begin(&csv, (sb_slice){text, sizeof text});
    assert_true(sb_csv_next(&csv));
    assert_int_equal(csv.field_count, sizeof text + 1);
    assert_false(sb_csv_next(&csv));
    sb_csv_end(&csv);
}

/* ---- the same by a reader that goes byte by byte ---- */

typedef struct naive_reader {
    sb_slice text;
    size_t at;
} naive_reader;

static char naive_char(const naive_reader *reader) {
    return reader->at < reader->text.size ? reader->text.data[reader->at] : '\0';
}

static bool naive_at_end(const naive_reader *reader) {
    return reader->at >= reader->text.size || naive_char(reader) == ',' ||
           naive_char(reader) == '\n' || naive_char(reader) == '\r';
}

static void naive_field(naive_reader *reader, sb_output *output) {
    sb_put_char(output, '[');
    if (naive_char(reader) == '"' && reader->at < reader->text.size) {
        for (reader->at++; reader->at < reader->text.size; reader->at++) {
            if (naive_char(reader) == '"') {
                reader->at++;
                if (reader->at >= reader->text.size || naive_char(reader) != '"')
                    break;
            }
            sb_put_char(output, naive_char(reader));
        }
    }
    for (; !naive_at_end(reader); reader->at++)
        sb_put_char(output, naive_char(reader));
    sb_put_char(output, ']');
}

static bool naive_skip_blank_line(naive_reader *reader) {
    size_t at = reader->at;
    while (at < reader->text.size &&
           (reader->text.data[at] == ' ' || reader->text.data[at] == '\t'))
        at++;
    if (at < reader->text.size && reader->text.data[at] != '\n' && reader->text.data[at] != '\r')
        return false;
    reader->at = at + 1;
    return true;
}

static sb_slice naive_dump(sb_slice text, sb_output *output) {
    naive_reader reader = {text, sb_slice_starts_with(text, "\xef\xbb\xbf") ? 3 : 0};
    while (reader.at < text.size) {
        if (naive_skip_blank_line(&reader))
            continue;
        for (;;) {
            naive_field(&reader, output);
            const bool more = naive_char(&reader) == ',' && reader.at < text.size;
            const bool carriage = naive_char(&reader) == '\r';
            reader.at++;
            if (more)
                continue;
            if (carriage && naive_char(&reader) == '\n')
                reader.at++;
            break;
        }
        sb_put_char(output, '\n');
    }
    return sb_output_text(output);
}

static void check_against_naive(sb_slice text) {
    sb_output output = sb_output_to_memory();
    sb_output naive = sb_output_to_memory();
    check_slices(dump(text, &output), naive_dump(text, &naive));
    sb_output_discard(&output);
    sb_output_discard(&naive);
}

static void specials_at_block_boundaries_are_read_like_elsewhere(void **state) {
    (void)state;
    static const char specials[] = {',', '"', '\n', '\r', 'x', ' '};
    enum { FIRST = 62, PLACES = 5, KINDS = sizeof specials };
    char text[140];
    size_t combinations = 1;
    for (int i = 0; i < PLACES; i++)
        combinations *= KINDS;
    for (size_t combination = 0; combination < combinations; combination++) {
        memset(text, 'a', sizeof text);
        text[10] = ','; /* so that a quote at the boundary may open a field */
        text[61] = combination % 2 == 0 ? ',' : 'b';
        size_t rest = combination;
        for (int i = 0; i < PLACES; i++, rest /= KINDS)
            text[FIRST + i] = specials[rest % KINDS];
        check_against_naive((sb_slice){text, sizeof text});
        check_against_naive((sb_slice){text, FIRST + PLACES});
        check_against_naive((sb_slice){text, 64});
        check_against_naive((sb_slice){text, 65});
    }
}

static void random_texts_are_read_as_a_naive_reader_does(void **state) {
    (void)state;
    static const char alphabet[] = "aaaaaabc,,,,\"\"\"\n\n\r \t";
    uint64_t random = 2024;
    char text[400];
    for (int round = 0; round < 30000; round++) {
        const size_t size = next_random(&random) % sizeof text;
        for (size_t i = 0; i < size; i++)
            text[i] = alphabet[next_random(&random) % (sizeof alphabet - 1)];
        char *exact = sb_alloc(size); /* so that reading beyond the end is seen */
        memcpy(exact, text, size);
        check_against_naive((sb_slice){exact, size});
        free(exact);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_split_at_commas),
        cmocka_unit_test(lines_end_in_lf_crlf_or_cr),
        cmocka_unit_test(last_line_end_may_be_missing),
        cmocka_unit_test(texts_without_records_have_none),
        cmocka_unit_test(blank_lines_are_skipped),
        cmocka_unit_test(byte_order_mark_is_dropped_in_front_only),
        cmocka_unit_test(quoted_field_keeps_separators),
        cmocka_unit_test(quoted_field_keeps_line_breaks),
        cmocka_unit_test(doubled_quotes_stand_for_one),
        cmocka_unit_test(quote_inside_a_bare_field_is_text),
        cmocka_unit_test(text_behind_a_closing_quote_is_kept_and_reported),
        cmocka_unit_test(open_quote_takes_the_rest_and_is_reported),
        cmocka_unit_test(records_know_the_line_they_begin_on),
        cmocka_unit_test(end_of_text_and_end_of_line_are_told_apart),
        cmocka_unit_test(offset_is_where_the_next_record_begins),
        cmocka_unit_test(bytes_beyond_ascii_are_noticed),
        cmocka_unit_test(records_may_have_any_number_of_fields),
        cmocka_unit_test(specials_at_block_boundaries_are_read_like_elsewhere),
        cmocka_unit_test(random_texts_are_read_as_a_naive_reader_does),
    };
    return RUN(tests);
}
