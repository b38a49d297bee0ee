/* The host's messages and zones: ops from them, and the text of their cells. */
#include "report/report_host.h"
#include "report/report_json.h"
#include "testing.h"

static void check_python(const char *json, const char *expected) {
    sb_output output = sb_output_to_memory();
    json_t *value = report_json_load(sb_slice_of(json));
    assert_non_null(value);
    report_put_python(&output, value);
    check_slice(sb_output_text(&output), expected);
    json_decref(value);
    sb_output_discard(&output);
}

static void values_are_shown_as_python_shows_them(void **state) {
    (void)state;
    static const struct {
        const char *json;
        const char *text;
    } cases[] = {
        {"\"plain, text\"", "plain, text"},
        {"null", "None"},
        {"[true, false, null]", "[True, False, None]"},
        {"13580271832445190761", "13580271832445190761"},
        {"[13580271832445190761]", "[13580271832445190761]"},
        {"[0.1, 1.0, 1e-07, 1e16, 292.5714416503906]",
         "[0.1, 1.0, 1e-07, 1e+16, 292.5714416503906]"},
        {"{\"k\": \"it's\", \"q\": \"a\\\"b\"}", "{'k': \"it's\", 'q': 'a\"b'}"},
        {"[\"both ' and \\\"\"]", "['both \\' and \"']"},
        {"[\"a\\\\b\\n\\t\\u0001\\u00a0\\u00b5\"]", "['a\\\\b\\n\\t\\x01\\xa0\xc2\xb5']"},
        {"{\"b\": 1, \"a\": {}}", "{'b': 1, 'a': {}}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_python(cases[i].json, cases[i].text);
    assert_null(report_json_load(sb_slice_of("{\"cut\": [1, ")));
}

#define OP_JSON                                                                           \
    "{\"attributes\": {\"x\": \"1\"}, \"device_id\": 0, \"global_call_count\": 1024, "    \
    "\"input_tensors\": [], \"op_code\": \"Matmul\", \"op_hash\": 13580271832445190761, " \
    "\"op_type\": \"tt_dnn_device\", \"program_cache_hit\": false}"

static sb_slice cell_of(const report_op *op, report_column column) {
    for (size_t i = 0; i < op->info->cell_count; i++) {
        if (op->info->cells[i].column == column)
            return op->info->cells[i].text;
    }
    return (sb_slice){"", 0};
}

static void short_messages_refer_to_full_ones(void **state) {
    (void)state;
    report_host host;
    report_host_init(&host);
    report_read_messages(
        &host,
        sb_slice_of("MessageName;total_ns\n"
                    "`TT_DNN_DEVICE_OP: \"Matmul\", 13580271832445190761, 0, false, 1024 "
                    "->\n" OP_JSON "`;100\n"
                    "`TT_DNN_DEVICE_OP: \"Matmul\", 13580271832445190761, 0, true, 2048`;200\n"
                    "`TT_DNN_DEVICE_OP: \"Matmul\", 99, 0, true, 3072`;300\n"));
    assert_int_equal(host.ops.count, 3);
    check_slice(cell_of(report_op_at(&host, 1), REPORT_COLUMN_OP_CODE), "Matmul");
    check_slice(cell_of(report_op_at(&host, 1), REPORT_COLUMN_PROGRAM_HASH),
                "13580271832445190761");
    check_slice(report_op_at(&host, 1)->cache_hit, "True");
    assert_true(report_op_at(&host, 2)->info->is_cut);
    assert_int_equal(host.unknown_calls, 1);
    report_host_free(&host);
}

static void a_cut_message_ends_where_the_next_begins(void **state) {
    (void)state;
    report_host host;
    report_host_init(&host);
    report_read_messages(
        &host,
        sb_slice_of("MessageName;total_ns\n"
                    "`TT_DNN_DEVICE_OP: \"Matmul\", 5, 0, false, 1024 ->\n{\"op_code\": \"Ma\n"
                    "`TT_SIGNPOST: after; it\nmore`;300\n"));
    assert_int_equal(host.ops.count, 1);
    assert_true(report_op_at(&host, 0)->info->is_cut);
    check_slice(cell_of(report_op_at(&host, 0), REPORT_COLUMN_OP_CODE), "Matmul");
    assert_int_equal(host.signposts.count, 1);
    const report_signpost *signpost = sb_vector_at(&host.signposts, 0);
    check_slice(signpost->header, "after; it");
    check_slice(signpost->message, "more");
    report_host_free(&host);
}

static void a_partial_message_goes_over_the_one_before(void **state) {
    (void)state;
    report_host host;
    report_host_init(&host);
    report_read_messages(
        &host, sb_slice_of("MessageName;total_ns\n"
                           "`TT_DNN_DEVICE_OP: \"Matmul\", 13580271832445190761, 0, false, 1024 "
                           "->\n" OP_JSON "`;100\n"
                           "`TT_DNN_DEVICE_OP: \"Matmul\", 13580271832445190761, 0, true, 2048 ->\n"
                           "{\"attributes\": {\"x\": \"2\"}}`;200\n"));
    assert_int_equal(host.ops.count, 2);
    check_slice(cell_of(report_op_at(&host, 1), REPORT_COLUMN_ATTRIBUTES), "{'x': '2'}");
    check_slice(cell_of(report_op_at(&host, 1), REPORT_COLUMN_OP_CODE), "Matmul");
    report_host_free(&host);
}

static void zones_give_times_and_children(void **state) {
    (void)state;
    report_host host;
    report_host_init(&host);
    report_read_messages(&host, sb_slice_of("MessageName;total_ns\n`TT_DNN_DEVICE_OP: \"Matmul\", "
                                            "1, 0, false, 1024 ->\n" OP_JSON "`;100\n"));
    report_read_zones(
        &host, sb_slice_of("name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,"
                           "thread,value,special_parent_text\n"
                           "Compile,c.cpp,1,,,7,30,1,,id:1024\n"
                           "TT_DNN_DEVICE_OP,f,1,,\"id:1024\",5,20,1,id:1024,\n"
                           "Compile,c.cpp,1,,\"a, b\",9,12,1,a, b,id:1024\n"
                           "TT_DNN_DEVICE_OP,f,1,,\"id:9216\",6,20,1,id:9216,\n"));
    const report_op *op = report_op_at(&host, 0);
    assert_true(op->has_zone);
    assert_int_equal(op->start, 5);
    const report_child *child = sb_vector_at(&host.children, op->children - 1);
    assert_int_equal(child->total, 42);
    assert_int_equal(host.zones_without_message, 1);
    assert_int_equal(host.ops.count, 2);
    report_host_free(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_shown_as_python_shows_them),
        cmocka_unit_test(short_messages_refer_to_full_ones),
        cmocka_unit_test(a_cut_message_ends_where_the_next_begins),
        cmocka_unit_test(a_partial_message_goes_over_the_one_before),
        cmocka_unit_test(zones_give_times_and_children),
    };
    return RUN(tests);
}
