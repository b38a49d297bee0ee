#include "report/report.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_model.h"

/* In the order of report_analysis. */
static const char *const analysis_names[REPORT_ANALYSES + 1] = {
    "device_compute_cb_wait_front",
    "device_compute_cb_reserve_back",
    "device_fw_duration",
    "device_kernel_duration",
    "device_kernel_duration_dm_start",
    "device_kernel_duration_per_core",
    "device_kernel_first_to_last_start",
    "device_brisc_kernel_duration",
    "device_ncrisc_kernel_duration",
    "device_trisc0_kernel_duration",
    "device_trisc1_kernel_duration",
    "device_trisc2_kernel_duration",
    "device_erisc_kernel_duration",
    "dispatch_total_cq_cmd_op_time",
    "dispatch_go_send_wait_time",
    "op2op",
    "perf_counter_data",
    NULL,
};

const char *const *sb_report_analyses(void) {
    return analysis_names;
}

static sb_status choose_analyses(sb_report *report, sb_error *error) {
    const sb_report_options *options = &report->options;
    report->analyses = options->analysis_count == 0 ? UINT32_MAX : 0;
    for (size_t i = 0; i < options->analysis_count; i++) {
        int found = 0;
        while (found < REPORT_ANALYSES && strcmp(analysis_names[found], options->analyses[i]) != 0)
            found++;
        if (found == REPORT_ANALYSES)
            SB_FAIL(error, SB_ERR_USAGE, "there is no device analysis '%s'", options->analyses[i]);
        report->analyses |= UINT32_C(1) << found;
    }
    return SB_OK;
}

/* ---- reading ---- */

static void *read_host(void *context) {
    sb_report *report = context;
    const report_host_files *files = &report->host_files;
    if (!files->is_there)
        return NULL;
    report->host.old_signposts = report->options.compat;
    report_read_messages(&report->host, files->is_made ? sb_output_text(&files->messages_made)
                                                       : files->messages_file.text);
    report_read_zones(&report->host,
                      files->is_made ? sb_output_text(&files->zones_made) : files->zones_file.text);
    return NULL;
}

static void read_device(sb_report *report) {
    const sb_report_options *options = &report->options;
    const report_progress progress = {options->progress, options->progress_context};
    report_read_device_log(&report->device, &report->device_file,
                           options->progress == NULL ? NULL : &progress);
    report_log *log = &report->device.log;
    enum { ASSUMED_MHZ = 1000 };
    if (!report->has_device_file || log->clock_mhz > 0)
        return;
    report_add_problem(report, "the device log does not say its clock: %d MHz are assumed",
                       ASSUMED_MHZ);
    log->clock_mhz = ASSUMED_MHZ;
}

static void read_all(sb_report *report) {
    pthread_t thread;
    const bool is_parallel = pthread_create(&thread, NULL, read_host, report) == 0;
    read_device(report);
    if (report->has_cpp)
        report_read_cpp(&report->cpp, report->cpp_file.text);
    if (is_parallel)
        pthread_join(thread, NULL);
    else
        read_host(report);
}

sb_report *report_create(const sb_report_options *options) {
    sb_report *report = sb_alloc_zeroed(1, sizeof *report);
    report->options = *options;
    report->analyses = UINT32_MAX;
    report->rows = sb_vector_of(sizeof(report_row));
    report->problems = sb_vector_of(sizeof(char *));
    report->notes = sb_vector_of(sizeof(char *));
    report->recording.losses = sb_vector_of(sizeof(report_loss));
    report->device_file = sb_file_of((sb_slice){"", 0});
    report->cpp_file = report->device_file;
    report->host_files.messages_file = report->device_file;
    report->host_files.zones_file = report->device_file;
    report->recording.file = report->device_file;
    report_host_init(&report->host);
    return report;
}

/* Without ops there are signposts at best, which are worth a report where devices have none. */
static bool has_host_rows(const sb_report *report) {
    if (report->options.device_only)
        return false;
    const bool has_devices = report->has_device_file || report->has_cpp;
    return report->host.ops.count > 0 ||
           (report->host_files.is_there && !has_devices && !report->options.compat);
}

void report_process(sb_report *report) {
    read_all(report);
    report_sort_programs(report);
    report->has_host = has_host_rows(report);
    if (report->has_host)
        report_join(report);
    report_judge(report);
}

sb_status sb_report_read(const sb_report_options *options, sb_report **report, sb_error *error) {
    sb_report *made = report_create(options);
    sb_status status = choose_analyses(made, error);
    if (status == SB_OK)
        status = report_open_inputs(made, error);
    if (status != SB_OK) {
        sb_report_free(made);
        return status;
    }
    made->noc_traces = report_count_noc_traces(made);
    if (options->analyse_noc && made->noc_traces > 0)
        report_npe_run(&made->npe, made->log_folder);
    report_process(made);
    *report = made;
    return SB_OK;
}

const sb_report_summary *sb_report_summarise(const sb_report *report) {
    return &report->summary;
}

static void free_texts(sb_vector *texts) {
    for (size_t i = 0; i < texts->count; i++)
        free(*(char **)sb_vector_at(texts, i));
    sb_vector_free(texts);
}

void sb_report_free(sb_report *report) {
    if (report == NULL)
        return;
    if (report->programs_by_id != NULL)
        report_device_log_free(&report->device);
    if (report->has_cpp)
        report_cpp_free(&report->cpp);
    report_host_free(&report->host);
    report_close_inputs(report);
    free_texts(&report->problems);
    free_texts(&report->notes);
    report_clocks_free(&report->clocks);
    report_npe_free(&report->npe);
    sb_vector_free(&report->rows);
    free(report->programs_by_id);
    sb_arena_free(&report->arena);
    free(report);
}
