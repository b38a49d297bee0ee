#include "trace_testing.h"
#include "trace_vector.h"

static sb_trace *read_vector(void) {
    static char bytes[VECTOR_SIZE + 2];
    sb_trace *trace = NULL;
    sb_error error = {0};
    const sb_trace_read_options options = {.threads = 1};
    assert_int_equal(sb_trace_read(decode_vector(bytes), &options, &trace, &error), SB_OK);
    return trace;
}

static sb_trace_csv_options defaults(void) {
    return (sb_trace_csv_options){.compat = true, .separator = SB_SLICE(",")};
}

static void check_csv(const sb_trace *trace, const sb_trace_csv_options *options,
                      const char *expected) {
    sb_output output = sb_output_to_memory();
    sb_trace_write_csv(trace, options, &output);
    check_slice(sb_output_text(&output), expected);
    sb_output_discard(&output);
}

static void statistics_are_those_of_the_tool(void **state) {
    (void)state;
    sb_trace *trace = read_vector();
    sb_trace_csv_options options = defaults();
    check_csv(trace, &options,
              "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns\n"
              "static_name,src/static.c,77,4500,9.000000,1,4500,4500,4500,0.000000\n"
              "main_zone,src/main.c,10,28000,56.000000,2,14000,8000,20000,8485.281374\n"
              "kid_func,src/kid.c,20,3000,6.000000,3,1000,1000,1000,0.000000\n");
    options.filter = sb_slice_of("MAIN");
    options.truncated_mean = 50;
    check_csv(
        trace, &options,
        "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns,"
        "percentile_ns,truncated_mean_ns\n"
        "main_zone,src/main.c,10,28000,56.000000,2,14000,8000,20000,8485.281374,14000,8000\n");
    options.with_case = true;
    options.truncated_mean = 0;
    check_csv(trace, &options,
              "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns\n");
    sb_trace_free(trace);
}

static void zones_repeat_texts_only_in_compat(void **state) {
    (void)state;
    sb_trace *trace = read_vector();
    sb_trace_csv_options options = defaults();
    options.mode = SB_TRACE_CSV_ZONES;
    options.layout = SB_TRACE_CSV_TT_0_10;
    check_csv(trace, &options,
              "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,"
              "special_parent_text\n"
              "static_name,src/static.c,77,,,3500,4500,1,\n"
              "main_zone,src/main.c,10,custom name,\"hello, text\",1000,8000,1,\n"
              "main_zone,src/main.c,10,custom name,\"hello, text\",20000,20000,1,\n"
              "kid_func,src/kid.c,20,,\"kid text\",2000,1000,1,\n"
              "kid_func,src/kid.c,20,,\"kid text\",4000,1000,1,\n"
              "kid_func,src/kid.c,20,,\"kid text\",1500,1000,2,\n");
    options.compat = false;
    options.layout = SB_TRACE_CSV_TRACY;
    options.special_parent = sb_slice_of("main");
    check_csv(trace, &options,
              "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value\n"
              "static_name,src/static.c,77,3500,4500,1,\n"
              "main_zone,src/main.c,10,1000,8000,1,\"hello, text\"\n"
              "main_zone,src/main.c,10,20000,20000,1,\n"
              "kid_func,src/kid.c,20,2000,1000,1,kid text\n"
              "kid_func,src/kid.c,20,4000,1000,1,\n"
              "kid_func,src/kid.c,20,1500,1000,2,\n");
    sb_trace_free(trace);
}

static void special_parents_give_their_text(void **state) {
    (void)state;
    sb_trace *trace = read_vector();
    sb_trace_csv_options options = defaults();
    options.compat = false;
    options.mode = SB_TRACE_CSV_ZONES;
    options.layout = SB_TRACE_CSV_TT_0_10;
    options.filter = sb_slice_of("static");
    options.special_parent = sb_slice_of("main");
    options.special_functions = sb_slice_of("other,static_name");
    check_csv(trace, &options,
              "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,"
              "special_parent_text\n"
              "static_name,src/static.c,77,,,3500,4500,1,\"hello, text\"\n");
    sb_trace_free(trace);
}

static void device_zones_and_messages_have_rows(void **state) {
    (void)state;
    sb_trace *trace = read_vector();
    sb_trace_csv_options options = defaults();
    options.mode = SB_TRACE_CSV_DEVICE;
    check_csv(trace, &options,
              "name,src_file,Time from start of program,GPU execution time\n"
              "BRISC-FW,kernels/a.cpp,5000,4000\n"
              "BRISC-FW,kernels/a.cpp,12000,1000\n"
              "BRISC-KERNEL,kernels/a.cpp,5500,3000\n");
    options.mode = SB_TRACE_CSV_MESSAGES;
    options.separator = sb_slice_of(";");
    sb_output output = sb_output_to_memory();
    sb_trace_write_csv(trace, &options, &output);
    check_contains(sb_output_text(&output), "MessageName;total_ns\nmsg one;");
    sb_output_discard(&output);
    sb_trace_free(trace);
}

static void a_trace_without_messages_says_so_in_compat(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_trace_csv_options options = defaults();
    options.mode = SB_TRACE_CSV_MESSAGES;
    check_csv(trace, &options, "There are currently no messages!\n");
    options.compat = false;
    check_csv(trace, &options, "MessageName,total_ns\n");
    sb_trace_free(trace);
}

static void empty_zones_have_rows_only_outside_compat(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    const sb_source source = {.name = sb_trace_string(trace, sb_slice_of("say \"hi\"")),
                              .file = sb_trace_string(trace, sb_slice_of("a,b.c")),
                              .line = 3};
    const uint32_t number = sb_trace_add_source(trace, &source);
    sb_track *track =
        sb_trace_add_track(trace, SB_TRACK_THREAD, sb_trace_thread(trace, 9), SB_NONE);
    sb_track_begin(track, 5, number);
    sb_track_end(track, 5);
    trace->info.last_time = 10;
    sb_trace_csv_options options = defaults();
    options.mode = SB_TRACE_CSV_ZONES;
    options.layout = SB_TRACE_CSV_TRACY_0_11;
    check_csv(trace, &options, "name,src_file,src_line,ns_since_start,exec_time_ns,thread\n");
    options.compat = false;
    check_csv(trace, &options,
              "name,src_file,src_line,ns_since_start,exec_time_ns,thread\n"
              "\"say \"\"hi\"\"\",\"a,b.c\",3,5,0,1\n");
    sb_trace_free(trace);
}

static void plots_follow_the_zones(void **state) {
    (void)state;
    sb_trace *trace = sb_trace_create();
    sb_plot *plot = sb_trace_add_plot(trace, sb_trace_string(trace, sb_slice_of("load")));
    *(sb_plot_point *)sb_series_push(&plot->points) = (sb_plot_point){7, 0.5};
    sb_trace_csv_options options = defaults();
    options.mode = SB_TRACE_CSV_ZONES;
    options.plots = true;
    options.layout = SB_TRACE_CSV_TRACY;
    check_csv(trace, &options,
              "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value\n"
              "load,,,7,,,0.500000\n");
    options.layout = SB_TRACE_CSV_TT;
    check_csv(trace, &options,
              "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,value,"
              "special_parent_text\nload,,,7,,,0.500000,,,\n");
    sb_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_those_of_the_tool),
        cmocka_unit_test(zones_repeat_texts_only_in_compat),
        cmocka_unit_test(special_parents_give_their_text),
        cmocka_unit_test(device_zones_and_messages_have_rows),
        cmocka_unit_test(a_trace_without_messages_says_so_in_compat),
        cmocka_unit_test(empty_zones_have_rows_only_outside_compat),
        cmocka_unit_test(plots_follow_the_zones),
    };
    return RUN(tests);
}
