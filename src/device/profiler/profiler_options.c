#include "device/profiler/profiler_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

#define DEFAULT_PROGRAMS 1000
/* A full buffer fits into a slot for so many. */
#define LEAST_PROGRAMS 43
/* Slots of so many fill an eighth of the DRAM. */
#define MOST_PROGRAMS 80000
/* Two letters that are wrong, missing or too many make a misspelt name. */
#define MISSPELT_DISTANCE 2
#define NAME_MAX_LENGTH 64

typedef struct variable {
    const char *name;
    size_t flag;      /* offset of a bool in profiler_options; NO_FLAG: not a flag of ours */
    bool is_inverted; /* set means false */
} variable;

#define NO_FLAG SIZE_MAX
#define FLAG(member) offsetof(profiler_options, member)

static const variable variables[] = {
    {"TT_METAL_DEVICE_PROFILER", FLAG(is_on), false},
    {"TT_METAL_DEVICE_PROFILER_DISPATCH", FLAG(records_steps), false},
    {"TT_METAL_PROFILER_SYNC", FLAG(syncs), false},
    {"TT_METAL_PROFILER_SUM", FLAG(adds_up), false},
    {"TT_METAL_PROFILER_ACCUMULATE", FLAG(accumulates), false},
    {"TT_METAL_PROFILER_TRACE_TRACKING", FLAG(tracks_traces), false},
    {"TT_METAL_TRACE_PROFILER", FLAG(joins_replays), false},
    {"TT_METAL_PROFILER_MID_RUN_DUMP", FLAG(dumps_in_time), false},
    {"TT_METAL_TRACY_MID_RUN_PUSH", FLAG(pushes_in_time), false},
    {"TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES", FLAG(writes_files), true},
    {"TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY", FLAG(pushes), true},
    {"TT_METAL_DEVICE_PROFILER_NOC_EVENTS", FLAG(records_noc), false},
    {"TT_METAL_NOC_DEBUG_DUMP", FLAG(records_noc_steps), false},
    {"TT_METAL_MEM_PROFILER", FLAG(records_memory), false},
    {"TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", NO_FLAG, false},
    {"TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH", NO_FLAG, false},
    {"TT_METAL_PROFILER_DIR", NO_FLAG, false},
    {"TT_METAL_PROFILER_NO_CACHE_OP_INFO", NO_FLAG, false},
    {"STROBE_PROFILER_MODE", NO_FLAG, false},
    {"STROBE_PROCESS_LOGS", NO_FLAG, false},
    {"TT_METAL_PROFILER_CPP_POST_PROCESS", NO_FLAG, false}, /* `strobe report` does it */
    {"TT_METAL_PROFILE_PERF_COUNTERS", NO_FLAG, false},
};

#define VARIABLE_COUNT (sizeof variables / sizeof variables[0])

static const char *value_of(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool is_set(const char *name) {
    const char *value = value_of(name);
    return value != NULL && !sb_slice_is(sb_slice_of(value), "0");
}

/* ---- misspelt names ---- */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Letters to change, add or remove to make one name of the other. */
static size_t distance(sb_slice a, sb_slice b) {
    size_t row[NAME_MAX_LENGTH + 1];
    if (a.size > NAME_MAX_LENGTH || b.size > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (size_t i = 0; i <= b.size; i++)
        row[i] = i;
    for (size_t i = 0; i < a.size; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.size; j++) {
            const size_t changed = diagonal + (a.data[i] != b.data[j] ? 1 : 0);
            diagonal = row[j + 1];
            row[j + 1] = least(changed, least(row[j], diagonal) + 1);
        }
    }
    return row[b.size];
}

/* The known name that is nearest, and how near. */
static const char *nearest(sb_slice name, size_t *found) {
    const char *known = NULL;
    *found = NAME_MAX_LENGTH;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        const size_t steps = distance(name, sb_slice_of(variables[i].name));
        if (steps < *found) {
            *found = steps;
            known = variables[i].name;
        }
    }
    return known;
}

void profiler_options_find_misspelt(const char *const *environment,
                                    void (*tell)(void *context, sb_slice name, const char *meant),
                                    void *context) {
    for (; *environment != NULL; environment++) {
        sb_slice rest;
        const sb_slice name = sb_slice_cut(sb_slice_of(*environment), '=', &rest);
        if (!sb_slice_starts_with(name, "TT_METAL_"))
            continue;
        size_t steps = 0;
        const char *known = nearest(name, &steps);
        if (steps == 0)
            continue;
        if (steps <= MISSPELT_DISTANCE)
            tell(context, name, known);
        else if (sb_slice_starts_with(name, "TT_METAL_PROFILER_") ||
                 sb_slice_starts_with(name, "TT_METAL_DEVICE_PROFILER"))
            tell(context, name, NULL);
    }
}

static void warn_of_misspelt(void *context, sb_slice name, const char *meant) {
    (void)context;
    if (meant != NULL)
        sb_log(SB_LOG_WARNING, "%.*s is set, which nobody knows; did you mean %s?", (int)name.size,
               name.data, meant);
    else
        sb_log(SB_LOG_WARNING, "%.*s is set, which the profiler does not know", (int)name.size,
               name.data);
}

/* ---- reading ---- */

/* Once in the life of a process, whatever it opens. */
static void warn_of_all_misspelt(void) {
    static bool was_said;
    if (was_said)
        return;
    was_said = true;
    profiler_options_find_misspelt((const char *const *)environ, warn_of_misspelt, NULL);
}

static void read_flags(profiler_options *options) {
    for (size_t i = 0; i < VARIABLE_COUNT; i++)
        if (variables[i].flag != NO_FLAG)
            *(bool *)((char *)options + variables[i].flag) =
                is_set(variables[i].name) != variables[i].is_inverted;
}

static sb_status read_programs(profiler_options *options, sb_error *error) {
    const char *text = value_of("TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT");
    int64_t count = DEFAULT_PROGRAMS;
    if (text != NULL &&
        (!sb_parse_int64(sb_slice_of(text), &count) || count < 1 || count > MOST_PROGRAMS))
        SB_FAIL(error, SB_ERR_USAGE,
                "TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT: '%s' is no number of programs, 1 to %d",
                text, MOST_PROGRAMS);
    options->programs = count < LEAST_PROGRAMS ? LEAST_PROGRAMS : (uint32_t)count;
    return SB_OK;
}

/* Groups of counters, by bit, as TT_METAL_PROFILE_PERF_COUNTERS numbers them. */
static const char *const counter_groups[] = {"fpu",    "pack", "unpack", "l1_0", "l1_1",
                                             "instrn", "l1_2", "l1_3",   "l1_4"};
#define GROUP_COUNT (sizeof counter_groups / sizeof counter_groups[0])
#define GROUP_INSTRUCTIONS 5

/* A counter that stands still says nothing; so nothing is said, but why. Once in a process. */
static void say_what_is_not_counted(uint32_t groups, bool has_counters) {
    static bool was_said;
    sb_output names = sb_output_to_memory();
    for (uint32_t i = 0; i < GROUP_COUNT; i++)
        if ((groups >> i & 1) != 0 && (i != GROUP_INSTRUCTIONS || !has_counters))
            sb_put_format(&names, "%s%s", names.used > 0 ? ", " : "", counter_groups[i]);
    if (names.used > 0 && !was_said)
        sb_log(SB_LOG_NOTE,
               "TT_METAL_PROFILE_PERF_COUNTERS: this machine does not count %.*s; nothing is "
               "recorded of it",
               (int)names.used, names.buffer);
    was_said = was_said || names.used > 0;
    sb_output_discard(&names);
}

static sb_status read_counters(profiler_options *options, bool has_counters, sb_error *error) {
    const char *text = value_of("TT_METAL_PROFILE_PERF_COUNTERS");
    int64_t groups = 0;
    if (text == NULL)
        return SB_OK;
    if (!sb_parse_int64(sb_slice_of(text), &groups) || groups < 0 || groups >= 1 << GROUP_COUNT)
        SB_FAIL(error, SB_ERR_USAGE,
                "TT_METAL_PROFILE_PERF_COUNTERS: '%s' is no sum of groups, 1 to %d", text,
                (1 << GROUP_COUNT) - 1);
    options->is_on |= groups != 0;
    options->counts_instructions = has_counters && (groups >> GROUP_INSTRUCTIONS & 1) != 0;
    say_what_is_not_counted((uint32_t)groups, has_counters);
    return SB_OK;
}

static sb_status read_mode(profiler_options *options, sb_error *error) {
    const char *text = value_of("STROBE_PROFILER_MODE");
    const sb_slice mode = sb_slice_of(text != NULL ? text : "never-drop");
    if (sb_slice_is(mode, "never-drop"))
        options->mode = PROFILER_NEVER_DROP;
    else if (sb_slice_is(mode, "drop-newest"))
        options->mode = PROFILER_DROP_NEWEST;
    else if (sb_slice_is(mode, "keep-newest"))
        options->mode = PROFILER_KEEP_NEWEST;
    else
        SB_FAIL(error, SB_ERR_USAGE,
                "STROBE_PROFILER_MODE is never-drop, drop-newest or keep-newest, not '%s'", text);
    return SB_OK;
}

static sb_status read_folders(profiler_options *options, sb_error *error) {
    const char *apart = value_of("STROBE_PROCESS_LOGS");
    const char *folder = value_of("TT_METAL_PROFILER_DIR");
    const char *home = value_of("TT_METAL_HOME");
    const char *noc = value_of("TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH");
    int size = 0;
    if (apart != NULL)
        size = snprintf(options->folder, sizeof options->folder, "%s/%d", apart, (int)getpid());
    else if (folder != NULL)
        size = snprintf(options->folder, sizeof options->folder, "%s", folder);
    else
        size = snprintf(options->folder, sizeof options->folder, "%s%sgenerated/profiler",
                        home != NULL ? home : "", home != NULL ? "/" : "");
    const int noc_size =
        snprintf(options->noc_folder, sizeof options->noc_folder, "%s", noc != NULL ? noc : "");
    if ((size_t)size >= sizeof options->folder || (size_t)noc_size >= sizeof options->noc_folder)
        SB_FAIL(error, SB_ERR_LIMIT, "a folder for the profiler's files has too long a name");
    return SB_OK;
}

sb_status profiler_options_read(profiler_options *options, bool has_counters, sb_error *error) {
    *options = (profiler_options){0};
    read_flags(options);
    options->records_noc |= options->records_noc_steps;
    options->is_on |= options->records_noc;
    SB_TRY(read_counters(options, has_counters, error));
    SB_TRY(read_programs(options, error));
    SB_TRY(read_mode(options, error));
    if (options->accumulates && options->mode == PROFILER_DROP_NEWEST)
        SB_FAIL(error, SB_ERR_USAGE,
                "TT_METAL_PROFILER_ACCUMULATE and STROBE_PROFILER_MODE=drop-newest exclude each "
                "other");
    SB_TRY(read_folders(options, error));
    warn_of_all_misspelt();
    return SB_OK;
}
