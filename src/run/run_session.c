/* session.json: the processes of a run, for tools that want all of them. */
#include "run/run_parts.h"

#include <inttypes.h>

static const char *const state_names[] = {
    [SB_RUN_WHOLE] = "done", [SB_RUN_CUT] = "cut", [SB_RUN_LOST] = "failed"};

static void put_process(const sb_run_process *process, sb_output *output) {
    sb_put_text(output, "    { \"file\": ");
    sb_put_json(output, sb_slice_of(process->path));
    sb_put_format(output, ", \"state\": \"%s\", \"program\": ", state_names[process->state]);
    sb_put_json(output, sb_slice_of(process->program));
    sb_put_format(output,
                  ", \"process_id\": %d, \"target\": %s, \"main\": %s, \"zones\": %" PRIu64
                  ", \"messages\": %" PRIu64 ", \"operations\": %" PRIu64 ", \"lost\": %" PRIu64
                  ", \"span_ns\": %" PRId64 ", \"zero_tick\": %" PRId64 ", \"ns_per_tick\": %.9g",
                  (int)process->process_id, process->is_target ? "true" : "false",
                  process->is_main ? "true" : "false", process->zones, process->messages,
                  process->operations, process->lost, process->span_ns, process->zero_tick,
                  process->ns_per_tick);
    if (process->folder[0] != '\0') {
        sb_put_text(output, ", \"folder\": ");
        sb_put_json(output, sb_slice_of(process->folder));
    }
    if (process->reason[0] != '\0') {
        sb_put_text(output, ", \"reason\": ");
        sb_put_json(output, sb_slice_of(process->reason));
    }
    sb_put_text(output, " }");
}

sb_status run_session_write(const sb_run_result *result, const char *folder, sb_error *error) {
    sb_arena arena = {0};
    sb_output output;
    const char *path = sb_arena_format(&arena, "%s/session.json", folder).data;
    sb_status status = sb_output_to_file(&output, path, error);
    if (status == SB_OK) {
        sb_put_format(
            &output,
            "{ \"schema\": \"strobe.session\", \"schema_version\": 1, \"exit_code\": %d,\n"
            "  \"seconds\": %.3f,\n  \"programs\": [",
            sb_run_exit_code(result->wait_status), result->seconds);
        for (size_t i = 0; i < result->processes.count; i++) {
            sb_put_text(&output, i == 0 ? "\n" : ",\n");
            put_process(sb_vector_at(&result->processes, i), &output);
        }
        sb_put_text(&output, " ] }\n");
        status = sb_output_finish(&output, error);
    }
    sb_arena_free(&arena);
    return status;
}
