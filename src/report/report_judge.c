/*
 * How complete a report is, in numbers and in words.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_model.h"

const char *sb_completeness_name(sb_completeness completeness) {
    static const char *const names[SB_COMPLETENESS_COUNT] = {
        "complete",     "host only", "truncated",   "no device data",
        "no host data", "duplicate", "not replayed"};
    return names[completeness];
}

__attribute__((format(printf, 2, 0))) static void add_text(sb_vector *texts, const char *format,
                                                           va_list arguments) {
    enum { LONGEST = 1024 };
    char text[LONGEST];
    vsnprintf(text, sizeof text, format, arguments);
    const size_t size = strlen(text) + 1;
    *(char **)sb_vector_push(texts) = memcpy(sb_alloc(size), text, size);
}

void report_add_problem(sb_report *report, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_text(&report->problems, format, arguments);
    va_end(arguments);
}

void report_add_note(sb_report *report, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_text(&report->notes, format, arguments);
    va_end(arguments);
}

/* ---- sentences ---- */

static void judge_log(sb_report *report) {
    const report_device_log *device = &report->device;
    const report_log *log = &device->log;
    if (!report->has_device_file)
        return;
    if (!log->has_preamble || !log->has_titles)
        report_add_problem(report, "the device log lacks its %s line",
                           !log->has_preamble ? "first" : "second");
    if (log->is_cut)
        report_add_problem(report, "the device log ends in the middle of line %" PRIu64, log->line);
    if (log->bad_rows > 0)
        report_add_problem(report,
                           "%" PRIu64 " rows of the device log cannot be read, the first of them "
                           "in line %" PRIu64,
                           log->bad_rows, log->first_bad_line);
    if (device->repeated_rows > 0)
        report_add_problem(report, "%" PRIu64 " rows of the device log stand there twice",
                           device->repeated_rows);
    if (device->rows_beyond_limits > 0)
        report_add_problem(report, "%" PRIu64 " rows of the device log name more cores than exist",
                           device->rows_beyond_limits);
    if (device->sub_device_conflicts > 0)
        report_add_problem(report, "%" PRIu64 " rows contradict others about the sub-device",
                           device->sub_device_conflicts);
}

static void judge_findings(sb_report *report) {
    enum { SHOWN = 8 };
    const report_device_log *device = &report->device;
    size_t shown = 0;
    size_t all = 0;
    for (size_t i = 0; i < device->findings.count; i++) {
        const report_finding *finding = sb_vector_at(&device->findings, i);
        if (finding->is_repeated)
            continue;
        all++;
        if (shown == SHOWN)
            continue;
        shown++;
        const report_program *program = report_program_at(device, finding->program);
        const report_core *core = report_core_at(device, finding->core);
        const char *what = finding->missing == REPORT_MARKER_START ? "the start of "
                           : finding->missing == REPORT_MARKER_END ? "the end of "
                                                                   : "the ";
        report_add_problem(report, "device %u, core %u,%u, %s, run %" PRIu64 ": %s%.*s is missing",
                           core->device, core->x, core->y,
                           report_processor_name(finding->processor), program->id, what,
                           (int)finding->zone.size, finding->zone.data);
    }
    if (all + device->unfinished_findings > shown)
        report_add_problem(report, "and %" PRIu64 " more markers are missing",
                           (uint64_t)(all - shown) + device->unfinished_findings);
}

static void add_count(sb_report *report, uint64_t count, const char *what) {
    if (count > 0)
        report_add_problem(report, "%" PRIu64 " %s", count, what);
}

static uint64_t count_ops_without_zone(const report_host *host) {
    uint64_t count = 0;
    for (size_t i = 0; i < host->ops.count; i++)
        count += report_op_at(host, i)->has_zone ? 0 : 1;
    return count;
}

static void judge_host(sb_report *report) {
    const report_host *host = &report->host;
    add_count(report, report->clocks.bad_rows, "rows of sync_device_info.csv cannot be read");
    add_count(report, host->cut_messages, "messages of ops were cut off");
    add_count(report, host->unknown_calls, "calls refer to an op that was never described");
    add_count(report, host->bad_messages, "messages of the host cannot be understood");
    add_count(report, host->bad_zones, "zones of the host cannot be understood");
    add_count(report, host->zones_without_message, "ops have a zone on the host, but no message");
    add_count(report, report->has_host ? count_ops_without_zone(host) : 0,
              "ops have a message on the host, but no zone");
    add_count(report, host->repeated_ops, "ops were reported twice by the host");
    add_count(report, report->has_cpp ? report->cpp.bad_rows : 0,
              "rows of cpp_device_perf_report.csv lack device or op");
}

static void judge_recording(sb_report *report) {
    const report_recording *recording = &report->recording;
    for (size_t i = 0; i < recording->losses.count; i++) {
        const report_loss *loss = sb_vector_at(&recording->losses, i);
        if (loss->cause == SB_LOSS_NOT_STORED || loss->cause == SB_LOSS_FILE_DAMAGED)
            continue; /* nothing that a report needs, or said when the file was read */
        if (loss->count > 0)
            report_add_problem(report, "%s: %" PRIu64 " %.*s", recording->path, loss->count,
                               (int)loss->what.size, loss->what.data);
        else
            report_add_problem(report, "%s: %.*s", recording->path, (int)loss->what.size,
                               loss->what.data);
    }
}

static void judge_noc(sb_report *report) {
    static const char *const words[] = {
        [REPORT_NPE_NOT_RUN] = "--analyze-noc-traces fills NOC UTIL, DRAM BW UTIL, ETH BW UTIL and "
                               "NPE CONG IMPACT from them, where tt-npe is installed",
        [REPORT_NPE_MISSING] = "NOC UTIL, DRAM BW UTIL, ETH BW UTIL and NPE CONG IMPACT are empty: "
                               "they come from tt-npe, which python3 (or $PYTHON) cannot import",
        [REPORT_NPE_FAILED] =
            "NOC UTIL, DRAM BW UTIL, ETH BW UTIL and NPE CONG IMPACT are empty or "
            "in part: tt-npe failed",
        [REPORT_NPE_DONE] = "tt-npe simulated them",
    };
    if (report->noc_traces > 0)
        report_add_note(report, "%" PRIu64 " NoC traces are here; %s", report->noc_traces,
                        words[report->npe.state]);
    else if (report->options.analyse_noc)
        report_add_note(report, "%s: there are no NoC traces to analyse", report->log_folder);
}

/* Devices that the host used and that report nothing. */
static void judge_devices(sb_report *report) {
    sb_vector silent = sb_vector_of(sizeof(int64_t));
    for (size_t i = 0; i < report->rows.count; i++) {
        const report_row *row = sb_vector_at(&report->rows, i);
        if (row->completeness != SB_NO_DEVICE_DATA || row->kind == REPORT_ROW_SIGNPOST)
            continue;
        const int64_t device = report_op_at(&report->host, row->op)->info->device;
        bool is_known = false;
        for (size_t k = 0; k < report->device.cores.count && !is_known; k++)
            is_known = report_core_at(&report->device, k)->device == device;
        for (size_t k = 0; k < silent.count && !is_known; k++)
            is_known = *(int64_t *)sb_vector_at(&silent, k) == device;
        if (is_known)
            continue;
        *(int64_t *)sb_vector_push(&silent) = device;
        report_add_problem(report, "device %" PRId64 " reports nothing at all", device);
    }
    sb_vector_free(&silent);
}

/* Rows that lack a whole side or are too many: which op, on which device. */
static void judge_rows(sb_report *report) {
    enum { SHOWN = 8 };
    uint64_t found = 0;
    for (size_t i = 0; i < report->rows.count; i++) {
        const report_row *row = sb_vector_at(&report->rows, i);
        if (row->kind == REPORT_ROW_SIGNPOST ||
            (row->completeness != SB_NO_DEVICE_DATA && row->completeness != SB_NO_HOST_DATA &&
             row->completeness != SB_DUPLICATE && row->completeness != SB_NOT_REPLAYED))
            continue;
        if (++found > SHOWN)
            continue;
        uint64_t id = 0;
        int64_t device = 0;
        if (row->kind == REPORT_ROW_DEVICE) {
            const report_program *program = report_program_at(&report->device, row->program - 1);
            id = program->id;
            device = program->device;
        } else {
            const report_op *op = report_op_at(&report->host, row->op);
            id = op->id;
            device = op->info->device;
        }
        report_add_problem(report, "device %" PRId64 ", run %" PRIu64 ": %s", device, id,
                           sb_completeness_name(row->completeness));
    }
    if (found > SHOWN)
        report_add_problem(report, "and %" PRIu64 " more rows like these", found - SHOWN);
}

/* ---- numbers ---- */

static void count_rows(sb_report *report) {
    sb_report_summary *summary = &report->summary;
    for (size_t i = 0; i < report->rows.count; i++) {
        const report_row *row = sb_vector_at(&report->rows, i);
        if (row->kind == REPORT_ROW_SIGNPOST) {
            summary->signpost_count++;
            continue;
        }
        summary->rows[row->completeness]++;
        summary->op_count++;
    }
    summary->row_count = report->rows.count;
}

static void count_programs(sb_report *report) {
    sb_report_summary *summary = &report->summary;
    for (size_t i = 0; i < report->program_count; i++) {
        const report_program *program =
            report_program_at(&report->device, report->programs_by_id[i]);
        summary->rows[program->is_broken     ? SB_TRUNCATED
                      : program->is_repeated ? SB_DUPLICATE
                                             : SB_COMPLETE]++;
    }
    summary->op_count = report->program_count;
    summary->row_count = report->program_count;
}

static void count_devices(sb_report *report) {
    for (size_t i = 0; i < report->device.cores.count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = report_core_at(&report->device, k)->device !=
                     report_core_at(&report->device, i)->device;
        report->summary.device_count += is_new ? 1 : 0;
    }
}

void report_judge(sb_report *report) {
    sb_report_summary *summary = &report->summary;
    summary->is_device_only = !report->has_host;
    if (report->has_host)
        count_rows(report);
    else
        count_programs(report);
    count_devices(report);
    summary->program_count = report->program_count;
    summary->log_rows = report->device.log.rows;
    summary->log_bytes = report->device_file.text.size;
    judge_log(report);
    judge_findings(report);
    judge_recording(report); /* first: what it lost explains what the host lacks */
    judge_host(report);
    judge_rows(report);
    judge_devices(report);
    judge_noc(report);
    for (int i = SB_TRUNCATED; i < SB_COMPLETENESS_COUNT; i++)
        summary->is_partial = summary->is_partial || summary->rows[i] > 0;
    summary->is_partial = summary->is_partial || report->problems.count > 0;
    summary->problems = (const char *const *)(void *)report->problems.data;
    summary->problem_count = report->problems.count;
    summary->notes = (const char *const *)(void *)report->notes.data;
    summary->note_count = report->notes.count;
}
