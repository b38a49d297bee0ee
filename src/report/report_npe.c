#include "report/report_npe.h"

#include <stdlib.h>

#include "report/report_log.h"

/* The program's exit code if the package is not there. */
#define EXIT_MISSING 77
#define EXIT_MISSING_TEXT "77"

/*
 * A line per operation and device, with the figures as the original rounds and writes them. The
 * package talks on standard output; that goes to standard error, so that only our lines come back.
 */
static const char program[] =
    "import os, sys\n"
    "out = os.fdopen(os.dup(1), 'w')\n"
    "os.dup2(2, 1)\n"
    "try:\n"
    "    from npe_analyze_noc_trace_dir import analyze_noc_traces_in_dir\n"
    "except ImportError:\n"
    "    sys.exit(" EXIT_MISSING_TEXT ")\n"
    "stats = analyze_noc_traces_in_dir(noc_trace_dir=sys.argv[1], emit_viz_timeline_files=True,\n"
    "                                  quiet=True, compress_timeline_files=True)\n"
    "for (op, device), point in stats:\n"
    "    result = point.result\n"
    "    trace = '-' if op.metal_trace_id is None else op.metal_trace_id\n"
    "    print(op.ttnn_op_id, device, trace, round(result.overall_avg_link_util, 1),\n"
    "          round(result.overall_avg_mcast_write_link_util, 1), round(result.dram_bw_util, 1),\n"
    "          ' '.join(result.getDramBwUtilPerControllerStr().replace(',', ';').split()),\n"
    "          ' '.join(result.getEthBwUtilPerCoreStr().replace(',', ';').split()),\n"
    "          round(result.getCongestionImpact(), 2), sep='\\t', file=out)\n";

enum { DEVICE_BITS = 10 };

/* ---- what it printed ---- */

static bool take_number(sb_slice *line, uint64_t *value) {
    return report_parse_number(sb_slice_cut(*line, '\t', line), value);
}

static bool take_point(sb_slice line, report_npe_point *point) {
    *point = (report_npe_point){0};
    if (!take_number(&line, &point->op) || !take_number(&line, &point->device))
        return false;
    const sb_slice trace = sb_slice_cut(line, '\t', &line);
    point->has_trace = !sb_slice_is(trace, "-");
    if (point->has_trace && !report_parse_number(trace, &point->trace))
        return false;
    for (int i = 0; i < REPORT_NPE_CELLS; i++)
        point->cells[i] = sb_slice_cut(line, '\t', &line);
    return true;
}

static int compare_numbers(uint64_t left, uint64_t right) {
    return left < right ? -1 : left > right ? 1 : 0;
}

static int compare_points(const void *a, const void *b) {
    const report_npe_point *left = a;
    const report_npe_point *right = b;
    int order = compare_numbers(left->op, right->op);
    if (order == 0)
        order = compare_numbers(left->device, right->device);
    if (order == 0)
        order = compare_numbers(left->has_trace, right->has_trace);
    return order != 0 ? order : compare_numbers(left->trace, right->trace);
}

void report_npe_take(report_npe *npe, sb_slice text) {
    report_npe_point point;
    npe->points = sb_vector_of(sizeof point);
    while (text.size > 0) {
        if (take_point(sb_slice_cut(text, '\n', &text), &point))
            *(report_npe_point *)sb_vector_push(&npe->points) = point;
    }
    if (npe->points.count > 1)
        qsort(npe->points.data, npe->points.count, sizeof point, compare_points);
}

const report_npe_point *report_npe_find(const report_npe *npe, uint64_t run, bool has_trace,
                                        uint64_t trace) {
    const report_npe_point key = {.op = (run & UINT32_MAX) >> DEVICE_BITS,
                                  .device = run & ((1U << DEVICE_BITS) - 1),
                                  .has_trace = has_trace,
                                  .trace = has_trace ? trace : 0};
    if (npe->points.count == 0)
        return NULL;
    return bsearch(&key, npe->points.data, npe->points.count, sizeof key, compare_points);
}

/* ---- running it ---- */

void report_npe_run(report_npe *npe, const char *folder) {
    const size_t most = (size_t)256 << 20; /* a hundred bytes for each of millions of operations */
    const char *named = getenv("PYTHON");
    const char *python = named != NULL && named[0] != '\0' ? named : "python3";
    const char *const arguments[] = {python, "-c", program, folder, NULL};
    npe->text = sb_output_to_memory();
    const int code = sb_process_run(arguments, most, &npe->text);
    const bool is_cut = sb_output_text(&npe->text).size == most;
    report_npe_take(npe, sb_output_text(&npe->text));
    if (code == 0 && !is_cut)
        npe->state = REPORT_NPE_DONE;
    else if (code == EXIT_MISSING || code == -1)
        npe->state = REPORT_NPE_MISSING;
    else
        npe->state = REPORT_NPE_FAILED;
}

void report_npe_free(report_npe *npe) {
    if (npe->state != REPORT_NPE_NOT_RUN)
        sb_output_discard(&npe->text);
    sb_vector_free(&npe->points);
}
