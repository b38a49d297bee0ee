/* From recordings to traces, when all processes have ended. */
#include "run/run_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY_MIB = 1024 };

/* ---- what a trace holds ---- */

static bool is_operation(sb_slice text) {
    return sb_slice_contains(text, "TT_DNN") || sb_slice_contains(text, "TT_METAL") ||
           sb_slice_contains(text, "TT_SIGNPOST");
}

static void describe(const sb_trace *trace, const sb_capture_report *report,
                     sb_run_process *process) {
    snprintf(process->program, sizeof process->program, "%s", report->program);
    process->zones = report->last.zones;
    process->span_ns = report->last.span_ns;
    process->zero_tick = report->zero_tick;
    process->ns_per_tick = report->ns_per_tick;
    process->lost = report->lost;
    process->messages = sb_series_count(&trace->messages);
    for (uint64_t i = 0; i < process->messages; i++) {
        const sb_message *message = sb_series_at(&trace->messages, i);
        process->operations += is_operation(sb_trace_text(trace, message->text)) ? 1 : 0;
    }
}

/* ---- files of libstrobe's ---- */

static sb_status write_trace(const sb_trace *trace, const char *path, sb_error *error) {
    sb_output output;
    SB_TRY(sb_output_to_file(&output, path, error));
    sb_trace_write(trace, &(sb_trace_write_options){0}, &output, NULL);
    return sb_output_finish(&output, error);
}

static sb_status convert(const run_file *recording, const char *folder, sb_run_process *process,
                         sb_error *error) {
    char path[4096];
    sb_file file;
    sb_trace *trace = NULL;
    sb_capture_report report = {0};
    sb_error damage = {0};
    /* Through the descriptor, since the name may be gone. */
    if (recording->descriptor >= 0)
        snprintf(path, sizeof path, "/proc/self/fd/%d", recording->descriptor);
    else
        snprintf(path, sizeof path, "%s/%s", folder, recording->name);
    SB_TRY(sb_file_open(&file, path, error));
    const sb_trace_bound bound = {.bytes = (uint64_t)MEMORY_MIB << 20};
    const sb_capture_recover_options options = {.bound = &bound, .file = &file, .has_ended = true};
    sb_status status = sb_capture_recover(file.text, &options, &trace, &report, &damage, error);
    if (status == SB_OK) {
        process->state = report.ending == SB_JOURNAL_CUT ? SB_RUN_CUT : SB_RUN_WHOLE;
        describe(trace, &report, process);
        status = write_trace(trace, process->path, error);
    }
    sb_trace_free(trace);
    sb_file_close(&file);
    return status;
}

/* The number behind the last dash of NAME-PID.rec. */
static pid_t process_of(const char *name) {
    const char *dash = strrchr(name, '-');
    return dash == NULL ? 0 : (pid_t)strtol(dash + 1, NULL, 10);
}

static void collect_file(run_file *file, const char *folder, sb_run_process *process) {
    sb_error error = {0};
    const size_t stem = sb_slice_find(sb_slice_of(file->name), ".rec");
    const char *copy =
        file->name + stem + strlen(".rec"); /* ".2": of another copy of the library */
    process->process_id = process_of(file->name);
    process->seen_ns = file->seen_ns;
    snprintf(process->program, sizeof process->program, "%.*s", (int)stem, file->name);
    snprintf(process->path, sizeof process->path, "%s/%.*s%s.tracy", folder, (int)stem, file->name,
             copy);
    const sb_status status = convert(file, folder, process, &error);
    run_file_close(file);
    if (status == SB_OK) {
        char recording[4096];
        snprintf(recording, sizeof recording, "%s/%s", folder, file->name);
        unlink(recording);
        return;
    }
    process->state = SB_RUN_LOST;
    snprintf(process->reason, sizeof process->reason, "%s", error.message);
}

/* ---- sessions with Tracy's client ---- */

static void collect_follower(const run_follower *follower, sb_run_process *process) {
    process->process_id = follower->process;
    process->seen_ns = follower->seen_ns;
    snprintf(process->path, sizeof process->path, "%s", follower->path);
    if (follower->trace != NULL)
        describe(follower->trace, &follower->report, process);
    if (follower->status == SB_OK) {
        const sb_journal_ending ending = follower->report.ending;
        const bool is_cut = ending == SB_JOURNAL_CUT || ending == SB_JOURNAL_MALFORMED;
        process->state = is_cut ? SB_RUN_CUT : SB_RUN_WHOLE;
        snprintf(process->reason, sizeof process->reason, "%s", follower->report.ending_text);
        return;
    }
    process->state = SB_RUN_LOST;
    snprintf(process->reason, sizeof process->reason, "%s", follower->error.message);
}

/* ---- the main one ---- */

/* More is better: operations, then use of a device, then being the target, then zones. */
static int compare(const sb_run_process *a, const sb_run_process *b) {
    if ((a->operations > 0) != (b->operations > 0))
        return a->operations > 0 ? 1 : -1;
    if (a->uses_device != b->uses_device)
        return a->uses_device ? 1 : -1;
    if (a->operations > 0 || a->is_target != b->is_target)
        return a->is_target == b->is_target ? 0 : a->is_target ? 1 : -1;
    return a->zones == b->zones ? 0 : a->zones > b->zones ? 1 : -1;
}

static void choose_main(sb_run_result *result, const char *processes_folder, const char *logs) {
    sb_run_process *best = NULL;
    for (size_t i = 0; i < result->processes.count; i++) {
        sb_run_process *each = sb_vector_at(&result->processes, i);
        if (each->state != SB_RUN_LOST && (best == NULL || compare(each, best) > 0))
            best = each;
    }
    if (best == NULL)
        return;
    const char *goal =
        sb_arena_format(&result->arena, "%s/tracy_profile_log_host.tracy", logs).data;
    best->is_main = true;
    if (rename(best->path, goal) == 0)
        snprintf(best->path, sizeof best->path, "%s", goal);
    result->trace_path = sb_arena_format(&result->arena, "%s", best->path).data;
    run_devices_take(processes_folder, best->process_id, logs);
}

static int by_time(const void *a, const void *b) {
    const int64_t first = ((const sb_run_process *)a)->seen_ns;
    const int64_t second = ((const sb_run_process *)b)->seen_ns;
    return first == second ? 0 : first > second ? 1 : -1;
}

void run_collect(run_recorder *recorder, const char *logs, pid_t target, sb_run_result *result) {
    for (size_t i = 0; i < recorder->files.count; i++)
        collect_file(sb_vector_at(&recorder->files, i), recorder->folder,
                     sb_vector_push(&result->processes));
    for (size_t i = 0; i < recorder->followers.count; i++)
        collect_follower(*(run_follower **)sb_vector_at(&recorder->followers, i),
                         sb_vector_push(&result->processes));
    if (result->processes.count > 1)
        qsort(result->processes.data, result->processes.count, sizeof(sb_run_process), by_time);
    for (size_t i = 0; i < result->processes.count; i++) {
        sb_run_process *each = sb_vector_at(&result->processes, i);
        each->is_target = each->process_id == target;
        each->uses_device = run_devices_has(recorder->folder, each->process_id);
    }
    choose_main(result, recorder->folder, logs);
    for (size_t i = 0; i < result->processes.count; i++) {
        sb_run_process *each = sb_vector_at(&result->processes, i);
        if (!each->is_main && each->state != SB_RUN_LOST &&
            (each->operations > 0 || each->uses_device))
            run_devices_complete(recorder->folder, each);
    }
}
