/*
 * Sessions in the viewer: the traces of all programs that were recorded together, as one.
 *
 * session.json lists them with their clocks: zero_tick is what a program's clock showed when its
 * trace begins, and programs on one machine count the same ticks. `strobe capture --all` writes one
 * beside the traces, `strobe run` one in .logs/processes.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_view.h"

/* A program of a session. */
typedef struct member {
    const char *path;
    const char *program;
    uint64_t process_id;
    int64_t zero_tick;  /* on the clock that all share */
    double ns_per_tick; /* 0: it has none */
} member;

static const char *text_of(const json_t *entry, const char *key) {
    const char *text = json_string_value(json_object_get(entry, key));
    return text == NULL ? "" : text;
}

static bool can_be_read(const char *path) {
    return sb_file_is_regular(path) && access(path, R_OK) == 0;
}

/*
 * Where a file of the session is now: folders are moved and copied. Of a program that is still
 * recorded, or whose recorder was killed, there is the journal.
 */
static const char *find_file(sb_arena *arena, const char *folder, const char *file) {
    const char *slash = strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    const char *const places[] = {
        sb_arena_format(arena, "%s/%s", folder, name).data,
        sb_arena_format(arena, "%s/../%s", folder, name).data,
        sb_arena_format(arena, "%s", file).data,
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *journal = sb_arena_format(arena, "%s.journal", places[i]).data;
        if (can_be_read(places[i]))
            return places[i];
        if (can_be_read(journal))
            return journal;
    }
    return NULL;
}

static void take_member(cli_view_inputs *inputs, const char *folder, const json_t *entry,
                        sb_vector *members) {
    sb_arena *arena = &inputs->arena;
    const char *file = text_of(entry, "file");
    const char *path = file[0] == '\0' ? NULL : find_file(arena, folder, file);
    if (path == NULL) {
        cli_view_tell_flaw(inputs, "%s: the trace of %s is not there", folder,
                           file[0] == '\0' ? text_of(entry, "program") : file);
        return;
    }
    *(member *)sb_vector_push(members) = (member){
        .path = path,
        .program = sb_arena_format(arena, "%s", text_of(entry, "program")).data,
        .process_id = (uint64_t)json_integer_value(json_object_get(entry, "process_id")),
        .zero_tick = json_integer_value(json_object_get(entry, "zero_tick")),
        .ns_per_tick = json_number_value(json_object_get(entry, "ns_per_tick")),
    };
    /* The one that matters most comes first. */
    if (json_is_true(json_object_get(entry, "main")) && members->count > 1) {
        member *first = sb_vector_at(members, 0);
        member *last = sb_vector_at(members, members->count - 1);
        const member kept = *first;
        *first = *last;
        *last = kept;
    }
}

/* A list that cannot be read is no reason to show nothing: traces are found without it. */
static void read_list(cli_view_inputs *inputs, const char *folder, const char *path,
                      sb_vector *members) {
    json_error_t flaw;
    if (!sb_file_is_regular(path)) {
        cli_view_tell_flaw(inputs, "%s: is no file", path);
        return;
    }
    json_t *list = json_load_file(path, 0, &flaw);
    if (list == NULL)
        cli_view_tell_flaw(inputs, "%s: line %d: %s", path, flaw.line, flaw.text);
    const json_t *programs = json_object_get(list, "programs");
    for (size_t i = 0; i < json_array_size(programs); i++)
        take_member(inputs, folder, json_array_get(programs, i), members);
    json_decref(list);
}

/*
 * How much later a trace begins than the first. Each program measures the rate of the clock for
 * itself; the ticks are the same, so one rate serves for all.
 */
static int64_t shift_of(cli_view_inputs *inputs, const member *one, const member *first) {
    const double same_rate = 0.01;
    const double longest_ns = 30.0 * 24 * 3600 * 1e9;
    const double rate = first->ns_per_tick;
    int64_t ticks = 0;
    const bool fits = !__builtin_sub_overflow(one->zero_tick, first->zero_tick, &ticks);
    const double shift = (double)ticks * rate;
    if (fits && rate > 0 && fabs(one->ns_per_tick / rate - 1) < same_rate && shift >= 0 &&
        shift < longest_ns)
        return (int64_t)llround(shift);
    cli_view_tell_flaw(inputs, "%s: its clock is not that of the other programs; it begins at 0",
                       one->path);
    return 0;
}

/* The one that began first, of those that have a clock. */
static const member *find_first(const sb_vector *members) {
    const member *first = sb_vector_at(members, 0);
    for (size_t i = 1; i < members->count; i++) {
        const member *one = sb_vector_at(members, i);
        const bool is_earlier = one->zero_tick < first->zero_tick || first->ns_per_tick <= 0;
        if (one->ns_per_tick > 0 && is_earlier)
            first = one;
    }
    return first;
}

static sb_status join_member(cli_view_inputs *inputs, sb_trace_joint *joint, const member *one,
                             int64_t shift, sb_error *error) {
    cli_trace opened;
    const sb_status status = cli_trace_open(&opened, one->path, error);
    if (status == SB_OK) {
        const sb_slice name = sb_arena_format(&inputs->arena, "%s %llu", one->program,
                                              (unsigned long long)one->process_id);
        sb_trace_join(joint, opened.trace, shift, name, one->process_id);
        if (opened.is_partial)
            cli_view_note_flaw(inputs, opened.damage);
    }
    cli_trace_close(&opened);
    return status;
}

static sb_status join_members(cli_view_inputs *inputs, const sb_vector *members, sb_error *error) {
    const member *first = find_first(members);
    inputs->joined = sb_trace_create();
    inputs->trace = inputs->joined;
    sb_trace_joint *joint = sb_trace_joint_create(inputs->joined);
    size_t shown = 0;
    for (size_t i = 0; i < members->count; i++) {
        const member *one = sb_vector_at(members, i);
        sb_error reason = {0};
        if (join_member(inputs, joint, one, shift_of(inputs, one, first), &reason) == SB_OK)
            shown++;
        else
            cli_view_tell_flaw(inputs, "%s", reason.message);
    }
    sb_trace_joint_finish(joint);
    if (shown == 0)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "none of the session's traces can be read");
    if (shown > 1) {
        inputs->joined->info.program =
            sb_arena_format(&inputs->joined->arena, "%zu programs", shown);
        inputs->joined->info.process_id = 0;
    }
    return SB_OK;
}

/* What was kept of the session, or its traces joined. One that has a flaw has to be looked at. */
static sb_status open_members(cli_view_inputs *inputs, const char *list, const sb_vector *members,
                              sb_error *error) {
    const char **paths = sb_arena_alloc(&inputs->arena, (members->count + 1) * sizeof *paths);
    sb_view_files files = {.paths = paths, .count = members->count + 1};
    paths[0] = list;
    for (size_t i = 0; i < members->count; i++)
        paths[i + 1] = ((const member *)sb_vector_at(members, i))->path;
    if (!inputs->is_partial)
        cli_view_open_kept(inputs, &files);
    if (inputs->trace != NULL)
        return SB_OK;
    SB_TRY(join_members(inputs, members, error));
    cli_view_keep_later(inputs, &files);
    return SB_OK;
}

sb_status cli_view_open_session(cli_view_inputs *inputs, const char *folder, bool *found,
                                sb_error *error) {
    const char *path = sb_arena_format(&inputs->arena, "%s/session.json", folder).data;
    sb_vector members = sb_vector_of(sizeof(member));
    *found = false;
    if (access(path, R_OK) != 0)
        return SB_OK;
    sb_status status = SB_OK;
    read_list(inputs, folder, path, &members);
    /* One alone is opened as any trace is. */
    if (members.count > 1) {
        *found = true;
        inputs->session = sb_arena_format(&inputs->arena, "%s", folder).data;
        status = open_members(inputs, path, &members, error);
    }
    sb_vector_free(&members);
    return status;
}
