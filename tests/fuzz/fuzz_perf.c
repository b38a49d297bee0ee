/*
 * The whole of `strobe perf` on any bytes: analysis in both modes and every way to render it. The
 * page, whose drawing is slow, is rendered for half of the inputs; the picture is that drawing.
 *
 * The last two bytes also choose the options, so that the fuzzer explores them too. A line of "%%"
 * splits the text into two files.
 */
#include <string.h>

#include "perf/perf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sb_perf_options choose_options(uint8_t first, uint8_t second) {
    sb_perf_options options = sb_perf_defaults();
    options.compat = (first & 1) != 0;
    options.no_merge_devices = (first & 2) != 0;
    options.ignore_signposts = (first & 4) != 0;
    options.print_signposts = (first & 8) != 0;
    options.no_host_ops = (first & 16) != 0;
    options.tracing_mode = (first & 32) != 0;
    options.raw_op_codes = (first & 64) != 0;
    options.no_advice = (first & 128) != 0;
    options.grouping = (sb_perf_grouping)(second % 3);
    options.start_signpost = (second & 4) != 0 ? "a" : NULL;
    options.end_signpost = (second & 8) != 0 ? "a" : NULL;
    options.top = (second & 16) != 0 ? 2 : 0;
    options.arch = (second & 32) != 0 ? "blackhole" : NULL;
    if ((second & 64) != 0)
        options.id_range = (sb_perf_id_range){true, 3, 5};
    return options;
}

const char *__lsan_default_suppressions(void);

/* fontconfig keeps what it once loaded. */
const char *__lsan_default_suppressions(void) {
    return "leak:libfontconfig\n";
}

static void render(const sb_perf_report *report, bool with_page) {
    sb_output output = sb_output_to_memory();
    const sb_style plain = {.colours = false};
    const sb_style coloured = {.colours = true};
    sb_perf_print_table(report, coloured, &output);
    sb_perf_print_advice(report, plain, &output);
    sb_perf_print_summary(report, coloured, &output);
    sb_perf_print_verdict(report, plain, &output);
    sb_perf_write_csv(report, &output);
    sb_perf_write_summary_csv(report, &output);
    sb_perf_write_json(report, &output);
    if (with_page)
        sb_perf_write_html(report, &output);
    sb_output_discard(&output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    const sb_perf_options options = choose_options(data[size - 2], data[size - 1]);
    const sb_slice text = {(const char *)data, size};
    const size_t split = sb_slice_find(text, "\n%%\n");
    const bool has_two = split != SB_NOT_FOUND;
    sb_file files[2] = {
        sb_file_of(has_two ? sb_slice_first(text, split + 1) : text),
        sb_file_of(has_two ? sb_slice_after(text, split + 4) : text),
    };
    const sb_perf_input inputs[2] = {
        {.name = "first", .host = "a", .file = &files[0]},
        {.name = "second", .host = "b", .file = &files[1]},
    };
    sb_error error;
    sb_perf_report *report = NULL;
    if (sb_perf_analyse(&options, inputs, has_two ? 2 : 1, &report, &error) == SB_OK)
        render(report, (data[size - 1] & 128) != 0);
    sb_perf_free(report);
    return 0;
}
