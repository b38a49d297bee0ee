#include "device/device_options.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_NAME "emu"
/* Far beyond what the examples take; a kernel in an endless loop ends after a minute or so. */
#define DEFAULT_LIMIT 2000000000ull
#define DEFAULT_DELAY 1000
#define ALL_PROCESSORS 0x1F

/* ---- sets of cores and processors ---- */

static sb_slice skip_blanks(sb_slice text) {
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = sb_slice_after(text, 1);
    return text;
}

static bool take(sb_slice *text, char wanted) {
    *text = skip_blanks(*text);
    if (text->size == 0 || text->data[0] != wanted)
        return false;
    *text = sb_slice_after(*text, 1);
    return true;
}

static bool take_number(sb_slice *text, uint32_t *number) {
    *text = skip_blanks(*text);
    size_t digits = 0;
    *number = 0;
    while (digits < text->size && digits < 6 && text->data[digits] >= '0' &&
           text->data[digits] <= '9')
        *number = *number * 10 + (uint32_t)(text->data[digits++] - '0');
    *text = sb_slice_after(*text, digits);
    return digits > 0;
}

/* "x,y" or "(x,y)". */
static bool take_core(sb_slice *text, sb_core *core) {
    const bool has_bracket = take(text, '(');
    return take_number(text, &core->x) && take(text, ',') && take_number(text, &core->y) &&
           (!has_bracket || take(text, ')'));
}

static sb_status add_range(device_mask *mask, const device_options *grid, sb_core first,
                           sb_core last, uint8_t processors, sb_error *error) {
    if (last.x >= grid->columns || last.y >= grid->rows || first.x > last.x || first.y > last.y)
        SB_FAIL(error, SB_ERR_USAGE, "cores (%u,%u)-(%u,%u) do not lie in the grid of %u x %u",
                first.x, first.y, last.x, last.y, grid->columns, grid->rows);
    for (uint32_t y = first.y; y <= last.y; y++)
        for (uint32_t x = first.x; x <= last.x; x++)
            mask->processors[y * grid->columns + x] |= processors;
    return SB_OK;
}

sb_status device_mask_add(device_mask *mask, const device_options *grid, sb_slice cores,
                          uint8_t processors, sb_error *error) {
    sb_slice rest = sb_slice_trim(cores);
    if (sb_slice_is(rest, "all") || sb_slice_is(rest, "worker"))
        return add_range(mask, grid, (sb_core){0, 0}, (sb_core){grid->columns - 1, grid->rows - 1},
                         processors, error);
    while (rest.size > 0) {
        sb_core first;
        if (!take_core(&rest, &first))
            SB_FAIL(error, SB_ERR_USAGE,
                    "'%.*s' is no set of cores; write x,y or (x,y),(x,y) or (x,y)-(x,y) or all",
                    (int)cores.size, cores.data);
        sb_core last = first;
        if (take(&rest, '-') && !take_core(&rest, &last))
            SB_FAIL(error, SB_ERR_USAGE, "'%.*s': a core must follow the dash", (int)cores.size,
                    cores.data);
        SB_TRY(add_range(mask, grid, first, last, processors, error));
        (void)(take(&rest, ',') || take(&rest, ';'));
        rest = skip_blanks(rest);
    }
    return SB_OK;
}

sb_status device_parse_processors(sb_slice text, uint8_t *processors, sb_error *error) {
    static const struct {
        const char *name;
        uint8_t mask;
    } known[] = {{"BR", 1},
                 {"NC", 2},
                 {"TR0", 4},
                 {"TR1", 8},
                 {"TR2", 16},
                 {"TR*", 28},
                 {"*", ALL_PROCESSORS},
                 {"BRISC", 1},
                 {"NCRISC", 2},
                 {"TRISC0", 4},
                 {"TRISC1", 8},
                 {"TRISC2", 16}};
    *processors = 0;
    size_t at = 0;
    while (at < text.size) {
        size_t end = at;
        while (end < text.size && text.data[end] != '+' && text.data[end] != ',' &&
               text.data[end] != '|')
            end++;
        const sb_slice word = sb_slice_trim((sb_slice){text.data + at, end - at});
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (sb_slice_is(word, known[i].name)) {
                *processors |= known[i].mask;
                is_known = true;
            }
        if (!is_known)
            SB_FAIL(error, SB_ERR_USAGE,
                    "'%.*s' is no processor; known are BR NC TR0 TR1 TR2 TR* *", (int)word.size,
                    word.data);
        at = end + 1;
    }
    return SB_OK;
}

/* ---- environment ---- */

static sb_status mask_from_environment(device_mask *mask, const device_options *grid,
                                       const char *cores_variable, const char *riscvs_variable,
                                       sb_error *error) {
    const char *cores = getenv(cores_variable);
    const char *riscvs = getenv(riscvs_variable);
    uint8_t processors = ALL_PROCESSORS;
    sb_error inner;
    sb_status status = SB_OK;
    if (riscvs != NULL && riscvs[0] != '\0')
        status = device_parse_processors(sb_slice_of(riscvs), &processors, &inner);
    if (status != SB_OK)
        SB_FAIL(error, status, "%s: %s", riscvs_variable, inner.message);
    if (cores == NULL || cores[0] == '\0')
        return SB_OK;
    status = device_mask_add(mask, grid, sb_slice_of(cores), processors, &inner);
    if (status != SB_OK)
        SB_FAIL(error, status, "%s: %s", cores_variable, inner.message);
    return SB_OK;
}

static sb_status read_environment(device_options *options, sb_error *error) {
    SB_TRY(mask_from_environment(&options->read_delays, options, "TT_METAL_READ_DEBUG_DELAY_CORES",
                                 "TT_METAL_READ_DEBUG_DELAY_RISCVS", error));
    SB_TRY(mask_from_environment(&options->write_delays, options,
                                 "TT_METAL_WRITE_DEBUG_DELAY_CORES",
                                 "TT_METAL_WRITE_DEBUG_DELAY_RISCVS", error));
    SB_TRY(mask_from_environment(&options->prints, options, "TT_METAL_DPRINT_CORES",
                                 "TT_METAL_DPRINT_RISCVS", error));
    const char *delay = getenv("TT_METAL_WATCHER_DEBUG_DELAY");
    int64_t clocks = DEFAULT_DELAY;
    if (delay != NULL && delay[0] != '\0' &&
        (!sb_parse_int64(sb_slice_of(delay), &clocks) || clocks < 0 || clocks > 1000000000))
        SB_FAIL(error, SB_ERR_USAGE, "TT_METAL_WATCHER_DEBUG_DELAY: '%s' is no number of clocks",
                delay);
    options->delay_clocks = (uint32_t)clocks;
    return SB_OK;
}

static bool is_empty(const device_mask *mask) {
    for (size_t i = 0; i < DEVICE_MAX_CORES; i++)
        if (mask->processors[i] != 0)
            return false;
    return true;
}

/* ---- options of emu ---- */

static sb_status set_time(device_options *options, sb_slice value, sb_error *error) {
    if (!sb_slice_is(value, "count") && !sb_slice_is(value, "modelled"))
        SB_FAIL(error, SB_ERR_USAGE, "option time of the emulator is count or modelled, not '%.*s'",
                (int)value.size, value.data);
    options->counts_time = sb_slice_is(value, "count");
    return SB_OK;
}

static sb_status set_drift(device_options *options, sb_slice value, sb_error *error) {
    if (!sb_parse_double(value, &options->drift_ppm) || options->drift_ppm < 0 ||
        options->drift_ppm > 1000)
        SB_FAIL(error, SB_ERR_USAGE,
                "option drift of the emulator is 0 to 1000 millionths, not '%.*s'", (int)value.size,
                value.data);
    return SB_OK;
}

/* Options that are whole numbers, with their bounds. */
typedef struct number_option {
    const char *name;
    int64_t least;
    int64_t most;
    void (*set)(device_options *options, int64_t value);
} number_option;

static void set_rows(device_options *options, int64_t value) {
    options->rows = (uint32_t)value;
}

static void set_columns(device_options *options, int64_t value) {
    options->columns = (uint32_t)value;
}

static void set_chips(device_options *options, int64_t value) {
    options->chips = (uint32_t)value;
}

static void set_threads(device_options *options, int64_t value) {
    options->threads = (uint32_t)value;
}

static void set_watcher(device_options *options, int64_t value) {
    options->watches = value == 1;
}

static void set_limit(device_options *options, int64_t value) {
    options->limit_clocks = (uint64_t)value;
}

static void set_skew(device_options *options, int64_t value) {
    options->skew_clocks = (uint32_t)value;
}

static void set_offset(device_options *options, int64_t value) {
    options->offset_clocks = value;
}

static const number_option number_options[] = {
    {"rows", 1, 10, set_rows},      {"cols", 1, 8, set_columns},
    {"chips", 1, 8, set_chips},     {"threads", 1, 16, set_threads},
    {"watcher", 0, 1, set_watcher}, {"limit", 0, INT64_MAX / 2, set_limit},
    {"skew", 0, 1000000, set_skew}, {"offset", 0, INT64_MAX / 16, set_offset},
};

static sb_status set_option(device_options *options, sb_slice name, sb_slice value,
                            sb_error *error) {
    if (sb_slice_is(name, "time"))
        return set_time(options, value, error);
    if (sb_slice_is(name, "drift"))
        return set_drift(options, value, error);
    for (size_t i = 0; i < sizeof number_options / sizeof number_options[0]; i++) {
        const number_option *option = &number_options[i];
        int64_t number = 0;
        if (!sb_slice_is(name, option->name))
            continue;
        if (!sb_parse_int64(value, &number) || number < option->least || number > option->most)
            SB_FAIL(error, SB_ERR_USAGE, "option %s of the emulator is %lld to %lld, not '%.*s'",
                    option->name, (long long)option->least, (long long)option->most,
                    (int)value.size, value.data);
        option->set(options, number);
        return SB_OK;
    }
    SB_FAIL(error, SB_ERR_USAGE,
            "the emulator has no option '%.*s'; there are rows, cols, chips, time, threads, "
            "watcher, limit, skew, offset and drift",
            (int)name.size, name.data);
}

static sb_status parse_emu(device_options *options, sb_slice text, sb_error *error) {
    while (text.size > 0) {
        sb_slice value;
        sb_slice name = sb_slice_cut(text, ',', &text);
        name = sb_slice_trim(sb_slice_cut(name, '=', &value));
        SB_TRY(set_option(options, name, sb_slice_trim(value), error));
    }
    return SB_OK;
}

/* ---- names ---- */

static sb_status parse_cuda(device_options *options, sb_slice text, sb_error *error) {
    sb_slice value;
    int64_t gpus = 1;
    const sb_slice name = sb_slice_trim(sb_slice_cut(text, '=', &value));
    if (text.size > 0 && (!sb_slice_is(name, "gpus") || !sb_parse_int64(value, &gpus) || gpus < 1 ||
                          gpus > DEVICE_MAX_GPUS))
        SB_FAIL(error, SB_ERR_USAGE, "cuda has one option, gpus=1 to gpus=%d, not '%.*s'",
                DEVICE_MAX_GPUS, (int)text.size, text.data);
    options->kind = DEVICE_CUDA;
    options->chips = (uint32_t)gpus;
    return SB_OK;
}

static sb_status parse_ttsim(device_options *options, sb_slice path, sb_error *error) {
    if (path.size == 0)
        SB_FAIL(error, SB_ERR_USAGE, "ttsim needs the path of its library: ttsim:PATH");
    if (path.size >= sizeof options->path)
        SB_FAIL(error, SB_ERR_LIMIT,
                "ttsim: a path of %zu bytes is too long; at most %zu are taken", path.size,
                sizeof options->path - 1);
    options->kind = DEVICE_TTSIM;
    options->rows = 10;
    options->counts_time = true;
    snprintf(options->path, sizeof options->path, "%s", path.data);
    SB_TRY(read_environment(options, error));
    if (!is_empty(&options->read_delays) || !is_empty(&options->write_delays))
        SB_FAIL(error, SB_ERR_USAGE,
                "TT_METAL_READ_DEBUG_DELAY_CORES and TT_METAL_WRITE_DEBUG_DELAY_CORES are for emu: "
                "ttsim has no delays");
    return SB_OK;
}

sb_status device_options_parse(const char *name, device_options *options, sb_error *error) {
    *options = (device_options){
        .rows = 8, .columns = 8, .chips = 1, .threads = 1, .limit_clocks = DEFAULT_LIMIT};
    if (name == NULL)
        name = getenv("STROBE_DEVICE");
    if (name == NULL || name[0] == '\0')
        name = DEFAULT_NAME;
    sb_slice rest;
    const sb_slice kind = sb_slice_cut(sb_slice_of(name), ':', &rest);
    if (sb_slice_is(kind, "emu")) {
        SB_TRY(parse_emu(options, rest, error));
        return read_environment(options, error);
    }
    if (sb_slice_is(kind, "cuda"))
        return parse_cuda(options, rest, error);
    if (sb_slice_is(kind, "ttsim"))
        return parse_ttsim(options, rest, error);
    SB_FAIL(error, SB_ERR_NOT_FOUND,
            "there is no device '%s'; names are emu, emu:OPTION=VALUE,..., ttsim:PATH and cuda",
            name);
}
