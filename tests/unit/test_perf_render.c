#include <jansson.h>

#include "perf_testing.h"

typedef void renderer(const sb_perf_report *report, sb_output *output);

static sb_output render(const sb_perf_options *options, const test_op *ops, size_t count,
                        renderer *write) {
    sb_perf_report *report = analyse_ops(options, ops, count);
    sb_output output = sb_output_to_memory();
    write(report, &output);
    sb_perf_free(report);
    return output;
}

static void check_rendered(const sb_perf_options *options, const test_op *ops, size_t count,
                           renderer *write, const char *expected) {
    sb_output output = render(options, ops, count, write);
    check_slice(sb_output_text(&output), expected);
    sb_output_discard(&output);
}

#define CSV_HEADER                                                                \
    "ID,Total %,Bound,OP Code,Device,Device Time,Op-to-Op Gap,Cores,DRAM,DRAM %," \
    "FLOPs,FLOPs %,Math Fidelity,Output Datatype,Input 0 Datatype,"               \
    "Input 1 Datatype,DRAM Sharded,Input 0 Memory,Inner Dim Block Size,"          \
    "Output Subblock H,Output Subblock W,Global Call Count"

#define MATMUL                                                                    \
    {                                                                             \
        .code = "Matmul", .fidelity = "LoFi", .duration = "2000", .cores = "20",  \
        .types = {"BFLOAT8_B", "BFLOAT4_B", "BFLOAT8_B"},                         \
        .memories = {"DEV_0_L1_INTERLEAVED", "DEV_0_L1_INTERLEAVED", "DEV_0_L1"}, \
        .sizes = {"1,1,32,64", "1,1,64,32", "1,1,32,32"},                         \
    }

/* ---- CSV ---- */

static void columns_follow_the_options(void **state) {
    (void)state;
    static const struct {
        bool compat, no_advice, raw;
        const char *more;
    } cases[] = {
        {true, false, false, ",Advice\r\n"},
        {true, true, false, "\r\n"},
        {true, false, true, ",Advice,Raw OP Code\r\n"},
        {true, true, true, ",Raw OP Code\r\n"},
        {false, false, false, ",Advice,Util %\r\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_options options = sb_perf_defaults();
        options.compat = cases[i].compat;
        options.no_advice = cases[i].no_advice;
        options.raw_op_codes = cases[i].raw;
        options.id_range = (sb_perf_id_range){true, 99, 99}; /* a header without rows */
        char expected[512];
        snprintf(expected, sizeof expected, "%s%s", CSV_HEADER, cases[i].more);
        check_rendered(&options, OPS({0}), 1, sb_perf_write_csv, expected);
    }
}

static void check_csv_row(sb_perf_options options, test_op op, const char *expected) {
    options.no_advice = true;
    char text[1024];
    snprintf(text, sizeof text, "%s\r\n%s\r\n", CSV_HEADER, expected);
    check_rendered(&options, &op, 1, sb_perf_write_csv, text);
}

static void cells_of_a_plain_row(void **state) {
    (void)state;
    check_csv_row(compat_options(),
                  (test_op){.code = "Softmax",
                            .duration = "1234",
                            .calls = "1024",
                            .types = {"BFLOAT16", "", "BFLOAT16"},
                            .memories = {"DEV_0_L1_INTERLEAVED"}},
                  "2,100.0,,Softmax,0,1.234,,64,,,,,BF16 => BF16,BFLOAT16,BFLOAT16,nan,False,"
                  "DEV_0_L1_INTERLEAVED,,,,1024");
}

static void cells_of_missing_values(void **state) {
    (void)state;
    check_csv_row(compat_options(), (test_op){.duration = "", .cores = "", .calls = ""},
                  "2,,,Add,0,0,,,,,,,,nan,nan,nan,False,,,,,nan");
}

static void cells_of_a_host_op(void **state) {
    (void)state;
    check_csv_row(compat_options(), (test_op)HOST_OP("(torch) add, \"quoted\""),
                  "2,,HOST,\"(torch) add, \"\"quoted\"\"\",,,,,,,,,,nan,nan,nan,False,,,,,1");
}

static void cells_of_a_signpost(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.ignore_signposts = true;
    check_csv_row(options, (test_op)SIGNPOST("begin"),
                  "2,,,begin (signpost),,,,,,,,,,nan,nan,nan,False,,,,,nan");
}

static void cores_and_call_counts_are_real_where_the_column_is(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.ignore_signposts = true;
    options.no_advice = true;
    const test_op ops[] = {MATMUL, {0}, SIGNPOST("x")};
    sb_output output = render(&options, ops, COUNT_OF(ops), sb_perf_write_csv);
    check_contains(sb_output_text(&output), "Matmul 32 x 64 x 32,0,2.0,,20.0,,,");
    check_contains(sb_output_text(&output), "False,DEV_0_L1_INTERLEAVED,,,,1.0\r\n");
    check_contains(sb_output_text(&output), "Add,0,1.0,,64,");
    sb_output_discard(&output);
}

static void matmul_without_duration_has_nan_cells(void **state) {
    (void)state;
    test_op op = MATMUL;
    op.duration = "";
    op.memories[0] = "DEV_0_DRAM_INTERLEAVED";
    check_csv_row(compat_options(), op,
                  "2,,SLOW,Matmul 32 x 64 x 32,0,0,,20,nan,nan,,nan,LoFi BFP8 x BFP4 => BFP8,"
                  "BFLOAT8_B,BFLOAT8_B,BFLOAT4_B,False,DEV_0_DRAM_INTERLEAVED,,,,1");
}

static void advice_is_joined_by_bullets(void **state) {
    (void)state;
    test_op op = MATMUL;
    op.memories[0] = "DEV_0_DRAM_INTERLEAVED";
    const sb_perf_options options = compat_options();
    sb_output output = render(&options, &op, 1, sb_perf_write_csv);
    const sb_slice text = sb_output_text(&output);
    sb_csv csv;
    sb_csv_begin(&csv, text);
    assert_true(sb_csv_next(&csv) && sb_csv_next(&csv));
    assert_int_equal(csv.field_count, 23);
    check_contains(csv.fields[22], " • ");
    sb_csv_end(&csv);
    sb_output_discard(&output);
}

static void several_hosts_have_a_column_in_plain_mode(void **state) {
    (void)state;
    const sb_slice text = SB_SLICE("OP CODE,OP TYPE,DEVICE ID,DEVICE KERNEL DURATION [ns]\n"
                                   "A,tt_dnn_device,0,1000\n");
    const sb_slice texts[] = {text, text};
    sb_perf_options options = sb_perf_defaults();
    options.no_merge_devices = true;
    for (int compat = 0; compat <= 1; compat++) {
        options.compat = compat == 1;
        sb_perf_report *report = NULL;
        assert_int_equal(analyse_texts(&options, texts, 2, &report, NULL), SB_OK);
        sb_output output = sb_output_to_memory();
        sb_perf_write_csv(report, &output);
        if (compat == 1)
            check_lacks(sb_output_text(&output), "beta");
        else
            check_contains(sb_output_text(&output), ",beta\r\n");
        sb_output_discard(&output);
        sb_perf_free(report);
    }
}

/* ---- summary CSV ---- */

#define FLOPS_TITLES                                                                             \
    ",Op Category,Min FLOPs [%],Max FLOPs [%],Mean FLOPs [%],Std FLOPs [%],Weighted Mean FLOPs " \
    "[%]\n"

static void summary_csv_has_the_columns_of_its_grouping(void **state) {
    (void)state;
    const test_op ops[] = {{.code = "Tilize", .duration = "3000"}, {.code = "Softmax"}};
    static const struct {
        sb_perf_grouping grouping;
        bool apart;
        const char *text;
    } cases[] = {
        {SB_PERF_BY_OP, false,
         "Total % [%],Op Code,Device Time Sum [μs],Op Count" FLOPS_TITLES
         "75.00,Tilize,3.00,1,TM,,,,,\n25.00,Softmax,1.00,1,Compute,,,,,\n"},
        {SB_PERF_BY_OP, true,
         "Total % [%],Op Code,Device,Device Time Sum [μs],Op Count" FLOPS_TITLES
         "75.00,Tilize,0,3.00,1,TM,,,,,\n25.00,Softmax,0,1.00,1,Compute,,,,,\n"},
        {SB_PERF_BY_CATEGORY, false,
         "Total % [%],Op Code,Device Time Sum [μs],Op Count\n75.00,TM,3.00,1\n"
         "25.00,Compute,1.00,1\n"},
        {SB_PERF_BY_CATEGORY, true,
         "Total % [%],Op Code,Device,Device Time Sum [μs],Op Count\n75.00,TM,0,3.00,1\n"
         "25.00,Compute,0,1.00,1\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        sb_perf_options options = compat_options();
        options.grouping = cases[i].grouping;
        options.no_merge_devices = cases[i].apart;
        check_rendered(&options, ops, COUNT_OF(ops), sb_perf_write_summary_csv, cases[i].text);
    }
}

static void summary_csv_of_no_time_is_written_in_integers(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.grouping = SB_PERF_BY_CATEGORY;
    const char *header = "Total % [%],Op Code,Device Time Sum [μs],Op Count\n";
    char expected[256];
    snprintf(expected, sizeof expected, "%s0,TM,0,1\n", header);
    check_rendered(&options, OPS({.code = "Tilize", .duration = ""}), 1, sb_perf_write_summary_csv,
                   expected);
    snprintf(expected, sizeof expected, "%s0,TM,0.00,1\n", header);
    check_rendered(&options, OPS({.code = "Tilize", .duration = "0"}), 1, sb_perf_write_summary_csv,
                   expected);
}

/* ---- JSON ---- */

static json_t *render_json(const sb_perf_options *options, const test_op *ops, size_t count) {
    sb_output output = render(options, ops, count, sb_perf_write_json);
    const sb_slice text = sb_output_text(&output);
    json_error_t error;
    json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        fail_msg("%s in %.*s", error.text, (int)text.size, text.data);
    sb_output_discard(&output);
    return root;
}

static void json_has_one_entry_per_row_and_group(void **state) {
    (void)state;
    const test_op ops[] = {MATMUL, {.code = "Tilize", .cores = "many"}, HOST_OP("(torch) \"x\"\\")};
    for (int compat = 0; compat <= 1; compat++) {
        sb_perf_options options = sb_perf_defaults();
        options.compat = compat == 1;
        json_t *root = render_json(&options, ops, COUNT_OF(ops));
        assert_int_equal(json_integer_value(json_object_get(root, "schema_version")), 1);
        assert_string_equal(json_string_value(json_object_get(root, "schema")), "strobe.perf");
        const json_t *rows = json_object_get(root, "ops");
        assert_int_equal(json_array_size(rows), 3);
        const json_t *row = json_array_get(rows, 0);
        assert_int_equal(json_integer_value(json_object_get(row, "id")), 2);
        assert_string_equal(json_string_value(json_object_get(row, "op_code")),
                            "Matmul 32 x 64 x 32");
        check_double(json_real_value(json_object_get(row, "device_time_us")), 2);
        assert_true(json_is_null(json_object_get(row, "gap_us")));
        assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 2), "op_code")),
                            "(torch) \"x\"\\");
        assert_int_equal(json_array_size(json_object_get(root, "summary")), 3);
        assert_int_equal(json_integer_value(json_object_get(root, "problem_count")), 1);
        const json_t *problem = json_array_get(json_object_get(root, "problems"), 0);
        assert_int_equal(json_integer_value(json_object_get(problem, "row")), 3);
        assert_true(json_is_false(json_object_get(root, "complete")));
        assert_int_equal(json_object_get(root, "verdict") != NULL, compat == 0);
        json_decref(root);
    }
}

static void json_survives_texts_that_are_not_utf8(void **state) {
    (void)state;
    for (int compat = 0; compat <= 1; compat++) {
        sb_perf_options options = sb_perf_defaults();
        options.compat = compat == 1;
        json_t *root = render_json(&options, OPS({.code = "bad \xff\xc3 text"}), 1);
        assert_int_equal(json_array_size(json_object_get(root, "ops")), 1);
        json_decref(root);
    }
}

static void json_writes_null_where_a_value_is_missing(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    test_op op = MATMUL;
    op.duration = "";
    json_t *root = render_json(&options, &op, 1);
    const json_t *row = json_array_get(json_object_get(root, "ops"), 0);
    static const char *const members[] = {"total_percent", "tflops", "flops_percent",
                                          "utilisation_percent"};
    for (size_t i = 0; i < COUNT_OF(members); i++)
        assert_true(json_is_null(json_object_get(row, members[i])));
    json_decref(root);
}

/* ---- HTML ---- */

/* Every value of that attribute points into the page itself. */
static void check_attribute(sb_slice text, const char *attribute) {
    for (size_t at = sb_slice_find(text, attribute); at != SB_NOT_FOUND;
         at = sb_slice_find(text, attribute)) {
        text = sb_slice_after(text, at + strlen(attribute));
        sb_slice value = text;
        if (sb_slice_starts_with(value, "\"") || sb_slice_starts_with(value, "'"))
            value = sb_slice_after(value, 1);
        if (!sb_slice_starts_with(value, "#") && !sb_slice_starts_with(value, "data:"))
            fail_msg("%s%.*s", attribute, 40, value.data);
    }
}

static void html_escapes_texts_and_asks_nothing_of_a_server(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    const test_op ops[] = {{.code = "<script>alert(\"1\")</script> & co"}, MATMUL};
    sb_output output = render(&options, ops, COUNT_OF(ops), sb_perf_write_html);
    const sb_slice text = sb_output_text(&output);
    check_lacks(text, "<script>alert");
    check_contains(text, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; co");
    check_attribute(text, "src=");
    check_attribute(text, "href=");
    check_lacks(text, "url(http");
    check_lacks(text, "@import");
    check_contains(text, "default-src 'none'");
    sb_output_discard(&output);
}

/* ---- picture ---- */

/* Four bytes, most significant first. */
static uint32_t number_at(sb_slice text, size_t at) {
    uint32_t number = 0;
    for (size_t i = at; i < at + 4; i++)
        number = number << 8 | (unsigned char)text.data[i];
    return number;
}

static void picture_is_a_png_of_6_by_8_inches(void **state) {
    (void)state;
    const sb_perf_options options = sb_perf_defaults();
    sb_perf_report *report = ANALYSE(&options, OPS({.code = "Tilize"}, {.code = "Softmax"}));
    sb_output output = sb_output_to_memory();
    assert_int_equal(sb_perf_write_png(report, &output, NULL), SB_OK);
    const sb_slice text = sb_output_text(&output);
    assert_true(sb_slice_starts_with(text, "\x89PNG\r\n\x1a\n"));
    assert_int_equal(number_at(text, 16), 1800);
    assert_int_equal(number_at(text, 20), 2400);
    assert_memory_equal(text.data + text.size - 8, "IEND", 4);
    sb_output_discard(&output);
    sb_perf_free(report);
}

/* ---- tables ---- */

static sb_output without_colours(sb_slice text) {
    sb_output stripped = sb_output_to_memory();
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\x1b') {
            while (text.data[i] != 'm')
                i++;
            continue;
        }
        sb_put_char(&stripped, text.data[i]);
    }
    return stripped;
}

typedef void printer(const sb_perf_report *report, sb_style style, sb_output *output);

static void tables_have_the_same_widths_with_and_without_colours(void **state) {
    (void)state;
    static printer *const printers[] = {sb_perf_print_table, sb_perf_print_advice,
                                        sb_perf_print_summary, sb_perf_print_verdict};
    const test_op ops[] = {MATMUL,
                           {.latency = "1234567", .code = "Tilizé 漢"},
                           SIGNPOST("a mark"),
                           HOST_OP("(torch) add"),
                           {.code = "HaloDeviceOperation"},
                           {.duration = "1", .cores = "3"},
                           {.code = "OptimizedConvNew", .duration = ""}};
    for (int compat = 0; compat <= 1; compat++) {
        sb_perf_options options = sb_perf_defaults();
        options.compat = compat == 1;
        options.ignore_signposts = true;
        sb_perf_report *report = ANALYSE(&options, ops);
        for (size_t i = 0; i < COUNT_OF(printers); i++) {
            sb_output plain = sb_output_to_memory();
            sb_output coloured = sb_output_to_memory();
            printers[i](report, (sb_style){.colours = false}, &plain);
            printers[i](report, (sb_style){.colours = true}, &coloured);
            sb_output stripped = without_colours(sb_output_text(&coloured));
            check_lacks(sb_output_text(&plain), "\x1b");
            check_slices(sb_output_text(&stripped), sb_output_text(&plain));
            sb_output_discard(&plain);
            sb_output_discard(&coloured);
            sb_output_discard(&stripped);
        }
        sb_perf_free(report);
    }
}

/* The example of the specification. */
static void table_looks_like_the_original(void **state) {
    (void)state;
    const sb_perf_options options = compat_options();
    sb_perf_report *report =
        ANALYSE(&options,
                OPS({.code = "Softmax", .duration = "1000", .types = {"BFLOAT16", "", "BFLOAT16"}},
                    {.code = "Tilize",
                     .duration = "2000",
                     .latency = "500",
                     .types = {"BFLOAT16", "", "BFLOAT16"}}));
    sb_output output = sb_output_to_memory();
    sb_perf_print_table(report, (sb_style){.colours = false}, &output);
    const char *expected =
        "\n🚀 Performance Report 🚀\n========================\n\n"
        "ID  Total %  Bound  OP Code  Device   Device Time  Op-to-Op Gap  Cores  DRAM  DRAM %  "
        "FLOPs  FLOPs %  Math Fidelity\n"
        "--------------------------------------------------------------------------------------"
        "-----------------------------\n"
        " 2   28.6 %         Softmax        0         1 μs                   64                "
        "                 BF16 => BF16\n"
        " 3   71.4 %         Tilize         0         2 μs          0 μs     64                "
        "                 BF16 => BF16\n"
        "--------------------------------------------------------------------------------------"
        "-----------------------------\n";
    check_slice(sb_slice_first(sb_output_text(&output), strlen(expected)), expected);
    check_contains(sb_output_text(&output),
                   "    100.0 %         2 device ops, 0 host ops, 0 signposts                  3 "
                   "μs          0 μs");
    sb_output_discard(&output);
    sb_perf_free(report);
}

static void shares_of_devices_are_sorted_as_text_in_compat(void **state) {
    (void)state;
    sb_perf_options options = compat_options();
    options.no_merge_devices = true;
    options.grouping = SB_PERF_BY_OP;
    const test_op ops[] = {{.code = "Tilize", .duration = "590"},
                           {.code = "Softmax", .duration = "310"},
                           {.code = "Reshape", .duration = "100"},
                           {.code = "Move", .duration = "95"}};
    for (int compat = 0; compat <= 1; compat++) {
        options.compat = compat == 1;
        sb_perf_report *report = ANALYSE(&options, ops);
        sb_output output = sb_output_to_memory();
        sb_perf_print_summary(report, (sb_style){.colours = false}, &output);
        const sb_slice text = sb_output_text(&output);
        /* "8.68 %" comes before "53.88 %" as text. */
        const bool move_first = sb_slice_find(text, "Move") < sb_slice_find(text, "Tilize");
        assert_int_equal(move_first, compat == 1);
        sb_output_discard(&output);
        sb_perf_free(report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_follow_the_options),
        cmocka_unit_test(cells_of_a_plain_row),
        cmocka_unit_test(cells_of_missing_values),
        cmocka_unit_test(cells_of_a_host_op),
        cmocka_unit_test(cells_of_a_signpost),
        cmocka_unit_test(cores_and_call_counts_are_real_where_the_column_is),
        cmocka_unit_test(matmul_without_duration_has_nan_cells),
        cmocka_unit_test(advice_is_joined_by_bullets),
        cmocka_unit_test(several_hosts_have_a_column_in_plain_mode),
        cmocka_unit_test(summary_csv_has_the_columns_of_its_grouping),
        cmocka_unit_test(summary_csv_of_no_time_is_written_in_integers),
        cmocka_unit_test(json_has_one_entry_per_row_and_group),
        cmocka_unit_test(json_survives_texts_that_are_not_utf8),
        cmocka_unit_test(json_writes_null_where_a_value_is_missing),
        cmocka_unit_test(html_escapes_texts_and_asks_nothing_of_a_server),
        cmocka_unit_test(picture_is_a_png_of_6_by_8_inches),
        cmocka_unit_test(tables_have_the_same_widths_with_and_without_colours),
        cmocka_unit_test(table_looks_like_the_original),
        cmocka_unit_test(shares_of_devices_are_sorted_as_text_in_compat),
    };
    return RUN(tests);
}
