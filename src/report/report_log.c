#include "report/report_log.h"

#include <string.h>

/* ---- numbers ---- */

bool report_parse_number(sb_slice text, uint64_t *value) {
    enum { SAFE_DIGITS = 19 };
    if (text.size == 0 || text.size > SAFE_DIGITS + 1)
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < text.size; i++) {
        const unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9 || (i == SAFE_DIGITS && number > (UINT64_MAX - digit) / 10))
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    return true;
}

/* The same with blanks around it, as old logs have. */
static bool parse_padded(sb_slice text, uint64_t *value) {
    return report_parse_number(text, value) || report_parse_number(sb_slice_trim(text), value);
}

static bool parse_small(sb_slice text, uint32_t *value) {
    uint64_t number = 0;
    if (!parse_padded(text, &number) || number > UINT32_MAX)
        return false;
    *value = (uint32_t)number;
    return true;
}

/* ---- the first two lines ---- */

static sb_slice take_line(report_log *log) {
    const char *start = log->text.data + log->at;
    const size_t left = log->text.size - log->at;
    const char *end = left == 0 ? NULL : memchr(start, '\n', left);
    sb_slice line = {start, end == NULL ? left : (size_t)(end - start)};
    log->at += end == NULL ? left : line.size + 1;
    log->is_cut = end == NULL && left > 0;
    log->line++;
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

static sb_slice after_last_colon(sb_slice part) {
    for (size_t i = part.size; i > 0; i--) {
        if (part.data[i - 1] == ':')
            return sb_slice_trim(sb_slice_after(part, i));
    }
    return sb_slice_trim(part);
}

/* "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64", or the phrase of older logs. */
static bool take_preamble(report_log *log, sb_slice line) {
    enum { GRAYSKULL_MHZ = 1200 };
    if (sb_slice_contains(line, "Chip clock is at ")) {
        log->arch = (sb_slice)SB_SLICE("grayskull");
        log->clock_mhz = GRAYSKULL_MHZ;
        return true;
    }
    if (!sb_slice_contains(line, "ARCH"))
        return false;
    sb_slice rest = line;
    log->arch = after_last_colon(sb_slice_cut(rest, ',', &rest));
    uint64_t number = 0;
    if (parse_padded(after_last_colon(sb_slice_cut(rest, ',', &rest)), &number) &&
        number <= UINT32_MAX)
        log->clock_mhz = (int64_t)number;
    if (parse_padded(after_last_colon(sb_slice_cut(rest, ',', &rest)), &number) &&
        number <= UINT32_MAX)
        log->compute_cores = (int64_t)number;
    return true;
}

/* Titles of all ages; the first is the one of today. */
static const struct {
    report_log_column column;
    const char *title;
} titles[] = {
    {REPORT_LOG_DEVICE, "PCIe slot"},
    {REPORT_LOG_CORE_X, "core_x"},
    {REPORT_LOG_CORE_Y, "core_y"},
    {REPORT_LOG_PROCESSOR, "RISC processor type"},
    {REPORT_LOG_TIMER, "timer_id"},
    {REPORT_LOG_TIME, "time[cycles since reset]"},
    {REPORT_LOG_DATA, "data"},
    {REPORT_LOG_DATA, "stat value"},
    {REPORT_LOG_PROGRAM, "run host ID"},
    {REPORT_LOG_PROGRAM, "Run ID"},
    {REPORT_LOG_PROGRAM, "run ID"},
    {REPORT_LOG_TRACE, "trace id"},
    {REPORT_LOG_SESSION, "trace id counter"},
    {REPORT_LOG_SESSION, "trace id count"},
    {REPORT_LOG_ZONE, "zone name"},
    {REPORT_LOG_TYPE, "type"},
    {REPORT_LOG_TYPE, "zone phase"},
    {REPORT_LOG_LINE, "source line"},
    {REPORT_LOG_FILE, "source file"},
    {REPORT_LOG_META, "meta data"},
};

static void assume_columns_of_today(report_log *log) {
    for (int i = 0; i < REPORT_LOG_COLUMNS; i++)
        log->field[i] = i;
    log->field_count = REPORT_LOG_COLUMNS;
}

static void take_titles(report_log *log, sb_slice line) {
    for (int i = 0; i < REPORT_LOG_COLUMNS; i++)
        log->field[i] = -1;
    log->field_count = 0;
    sb_slice rest = line;
    bool more = line.size > 0;
    while (more && log->field_count < REPORT_LOG_MAX_FIELDS) {
        more = sb_slice_contains(rest, ",");
        const sb_slice title = sb_slice_trim(sb_slice_cut(rest, ',', &rest));
        for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
            if (sb_slice_is(title, titles[i].title) && log->field[titles[i].column] < 0)
                log->field[titles[i].column] = (int)log->field_count;
        }
        log->field_count++;
    }
}

/* A log is of no use without these. */
static bool has_needed_columns(const report_log *log) {
    static const report_log_column needed[] = {
        REPORT_LOG_DEVICE, REPORT_LOG_CORE_X,  REPORT_LOG_CORE_Y, REPORT_LOG_PROCESSOR,
        REPORT_LOG_TIME,   REPORT_LOG_PROGRAM, REPORT_LOG_ZONE,   REPORT_LOG_TYPE};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (log->field[needed[i]] < 0)
            return false;
    }
    return true;
}

static bool has_usual_order(const report_log *log) {
    for (int i = REPORT_LOG_DEVICE; i <= REPORT_LOG_PROCESSOR; i++) {
        if (log->field[i] != i)
            return false;
    }
    return true;
}

void report_log_begin(report_log *log, sb_slice text) {
    *log = (report_log){.text = text, .arch = SB_SLICE("")};
    if (sb_slice_starts_with(text, "\xef\xbb\xbf"))
        log->text = sb_slice_after(text, 3);
    log->has_preamble = take_preamble(log, take_line(log));
    if (!log->has_preamble) {
        log->at = 0;
        log->line = 0;
    }
    const size_t before = log->at;
    const uint64_t line_before = log->line;
    take_titles(log, take_line(log));
    log->has_titles = has_needed_columns(log);
    if (!log->has_titles) {
        log->at = before;
        log->line = line_before;
        assume_columns_of_today(log);
    }
    log->has_usual_order = has_usual_order(log);
}

/* ---- rows ---- */

static size_t split(sb_slice line, sb_slice fields[REPORT_LOG_MAX_FIELDS]) {
    size_t count = 0;
    const char *start = line.data;
    const char *end = line.data + line.size;
    for (const char *c = start; c < end; c++) {
        if (*c != ',')
            continue;
        if (count == REPORT_LOG_MAX_FIELDS)
            return count + 1;
        fields[count++] = (sb_slice){start, (size_t)(c - start)};
        start = c + 1;
    }
    if (count == REPORT_LOG_MAX_FIELDS)
        return count + 1;
    fields[count++] = (sb_slice){start, (size_t)(end - start)};
    return count;
}

static sb_slice field_of(const report_log *log, const sb_slice *fields, report_log_column column) {
    return log->field[column] < 0 ? (sb_slice){"", 0} : fields[log->field[column]];
}

static report_marker_type type_of(sb_slice text) {
    static const struct {
        const char *name;
        report_marker_type type;
    } types[] = {
        {"ZONE_START", REPORT_MARKER_START}, {"ZONE_END", REPORT_MARKER_END},
        {"ZONE_TOTAL", REPORT_MARKER_TOTAL}, {"TS_DATA", REPORT_MARKER_DATA},
        {"TS_EVENT", REPORT_MARKER_EVENT},   {"begin", REPORT_MARKER_START},
        {"end", REPORT_MARKER_END},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (sb_slice_is(text, types[i].name))
            return types[i].type;
    }
    const sb_slice trimmed = sb_slice_trim(text);
    return trimmed.size < text.size ? type_of(trimmed) : REPORT_MARKER_OTHER;
}

/* Trace columns are both empty or both numbers; what else stands there counts as empty. */
static int64_t parse_trace(sb_slice text) {
    uint64_t number = 0;
    if (text.size == 0 || !parse_padded(text, &number) || number > INT64_MAX)
        return REPORT_NO_TRACE;
    return (int64_t)number;
}

static bool take_place(const report_log *log, const sb_slice *fields, report_marker *marker) {
    marker->processor = sb_slice_trim(field_of(log, fields, REPORT_LOG_PROCESSOR));
    if (log->has_usual_order) {
        const sb_slice last = fields[REPORT_LOG_PROCESSOR];
        marker->place =
            (sb_slice){fields[0].data, (size_t)(last.data + last.size - fields[0].data)};
    } else {
        marker->place = (sb_slice){"", 0};
    }
    return marker->processor.size > 0 &&
           parse_small(field_of(log, fields, REPORT_LOG_DEVICE), &marker->device) &&
           parse_small(field_of(log, fields, REPORT_LOG_CORE_X), &marker->core_x) &&
           parse_small(field_of(log, fields, REPORT_LOG_CORE_Y), &marker->core_y);
}

static bool take_row(const report_log *log, const sb_slice *fields, report_marker *marker) {
    if (!take_place(log, fields, marker))
        return false;
    marker->timer = 1; /* 0 would mean that the row is to be ignored */
    if (log->field[REPORT_LOG_TIMER] >= 0 &&
        !parse_small(fields[log->field[REPORT_LOG_TIMER]], &marker->timer))
        return false;
    if (!parse_padded(field_of(log, fields, REPORT_LOG_TIME), &marker->time) ||
        !parse_padded(field_of(log, fields, REPORT_LOG_PROGRAM), &marker->program))
        return false;
    if (!parse_padded(field_of(log, fields, REPORT_LOG_DATA), &marker->data))
        marker->data = 0;
    marker->trace = parse_trace(field_of(log, fields, REPORT_LOG_TRACE));
    marker->session = parse_trace(field_of(log, fields, REPORT_LOG_SESSION));
    marker->zone = sb_slice_trim(field_of(log, fields, REPORT_LOG_ZONE));
    marker->type = type_of(field_of(log, fields, REPORT_LOG_TYPE));
    marker->line = field_of(log, fields, REPORT_LOG_LINE);
    marker->file = field_of(log, fields, REPORT_LOG_FILE);
    marker->meta = field_of(log, fields, REPORT_LOG_META);
    return marker->type != REPORT_MARKER_OTHER;
}

bool report_log_next(report_log *log, report_marker *marker) {
    while (log->at < log->text.size) {
        const sb_slice line = take_line(log);
        if (line.size == 0)
            continue;
        log->rows++;
        if (split(line, log->fields) == log->field_count && take_row(log, log->fields, marker))
            return true;
        log->bad_rows++;
        if (log->first_bad_line == 0)
            log->first_bad_line = log->line;
    }
    return false;
}
