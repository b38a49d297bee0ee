/*
 * Statistics of the device log alone, and the folder that they are written to.
 */
#include "report/report_dump.h"
#include "report/report_model.h"

static sb_status find_setup(const char *name, const report_setup **setup, sb_error *error) {
    *setup = report_find_setup(sb_slice_of(name == NULL ? "default_setup" : name));
    if (*setup != NULL)
        return SB_OK;
    sb_output names = sb_output_to_memory();
    size_t count = 0;
    const report_setup *all = report_setups(&count);
    for (size_t i = 0; i < count; i++)
        sb_put_format(&names, "%s%s", i == 0 ? "" : ", ", all[i].name);
    const sb_slice text = sb_output_text(&names);
    sb_error_set(error, SB_ERR_USAGE, "there is no setup '%s'; there are %.*s", name,
                 (int)text.size, text.data);
    sb_output_discard(&names);
    return SB_ERR_USAGE;
}

typedef struct measured {
    report_marks marks;
    const report_setup *setup;
    const char *folder;
    const char *log_path;
    bool has_ops;
} measured;

static sb_status write_stats(const measured *work, const char *path, sb_error *error) {
    sb_output output;
    SB_TRY(sb_output_to_file(&output, path, error));
    report_put_device_stats(&work->marks, &output);
    return sb_output_finish(&output, error);
}

static sb_status write_dump(const measured *work, const char *path, sb_error *error) {
    sb_output output;
    SB_TRY(sb_output_to_file(&output, path, error));
    report_put_dump(&work->marks, work->setup, work->has_ops, work->log_path, &output);
    return sb_output_finish(&output, error);
}

static sb_status write_files(sb_report *report, const measured *work, bool without_json,
                             sb_error *error) {
    sb_arena *arena = &report->arena;
    SB_TRY(sb_folder_make(work->folder, error));
    SB_TRY(report_copy_file(work->log_path, work->folder, "profile_log_device.csv", error));
    SB_TRY(
        write_stats(work, sb_arena_format(arena, "%s/device_stats.txt", work->folder).data, error));
    if (without_json)
        return SB_OK;
    const char *path = sb_arena_format(arena, "%s/device_analysis_data.json", work->folder).data;
    return write_dump(work, path, error);
}

static sb_status measure(sb_report *report, const sb_report_device_options *how,
                         const report_setup *setup, sb_output *printed,
                         sb_report_device_flaws *flaws, sb_error *error) {
    if (!report->has_device_file)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: there is no profile_log_device.csv here",
                report->log_folder);
    measured work = {
        .setup = setup,
        .has_ops = setup->detects_ops && !how->without_ops,
        .folder = sb_arena_format(&report->arena, "%s/output/device", report->output_folder).data,
        .log_path =
            sb_arena_format(&report->arena, "%s/profile_log_device.csv", report->log_folder).data,
    };
    report_marks_read(&work.marks, report->device_file.text);
    const report_log *log = &work.marks.log;
    *flaws = (sb_report_device_flaws){log->bad_rows, log->first_bad_line, log->is_cut};
    if (work.has_ops)
        report_marks_detect_ops(&work.marks);
    report_measure_all(&work.marks, setup);
    const sb_status status = write_files(report, &work, how->without_json, error);
    if (status == SB_OK && printed != NULL)
        report_put_device_stats(&work.marks, printed);
    report_marks_free(&work.marks);
    return status;
}

sb_status sb_report_measure_device(const sb_report_options *options,
                                   const sb_report_device_options *how, sb_output *printed,
                                   sb_report_device_flaws *flaws, sb_error *error) {
    const report_setup *setup = NULL;
    SB_TRY(find_setup(how->setup, &setup, error));
    sb_report_options only_device = *options;
    only_device.device_only = true;
    sb_report *report = report_create(&only_device);
    sb_status status = report_open_inputs(report, error);
    if (status == SB_OK)
        status = measure(report, how, setup, printed, flaws, error);
    sb_report_free(report);
    return status;
}
