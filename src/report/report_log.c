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

/* Whether the first columns, up to one, are the fields of the same number. */
static bool has_usual_order(const report_log *log, report_log_column last) {
    for (int i = 0; i <= (int)last; i++) {
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
    log->has_usual_order = has_usual_order(log, REPORT_LOG_PROCESSOR);
    log->has_todays_columns =
        log->field_count == REPORT_LOG_COLUMNS && has_usual_order(log, REPORT_LOG_META);
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
    marker->is_same_place = false;
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

/* ---- rows that look like earlier ones ---- */

static report_log_tail *tails_of(report_log *log, uint64_t timer) {
    return log->tails[timer % REPORT_LOG_TAIL_SETS];
}

static report_log_part part_of(sb_slice part, const char *start) {
    return (report_log_part){(uint16_t)(part.data - start), (uint16_t)part.size};
}

static sb_slice slice_of(report_log_part part, const char *start) {
    return (sb_slice){start + part.at, part.size};
}

static void remember_place(report_log *log, const report_marker *marker) {
    report_log_place *place = &log->place;
    place->size = 0;
    if (marker->place.size > sizeof place->text)
        return;
    place->size = (uint16_t)marker->place.size;
    place->processor = part_of(marker->processor, marker->place.data);
    place->device = marker->device;
    place->core_x = marker->core_x;
    place->core_y = marker->core_y;
    memcpy(place->text, marker->place.data, marker->place.size);
}

static void remember_tail(report_log *log, const report_marker *marker) {
    const char *start = log->fields[REPORT_LOG_ZONE].data;
    const size_t size = (size_t)(marker->meta.data - start);
    if (size > REPORT_LOG_TAIL_SIZE)
        return;
    report_log_tail *tails = tails_of(log, marker->timer);
    memmove(tails + 1, tails, (REPORT_LOG_TAIL_WAYS - 1) * sizeof *tails);
    tails[0].size = (uint16_t)size;
    tails[0].zone = part_of(marker->zone, start);
    tails[0].line = part_of(marker->line, start);
    tails[0].file = part_of(marker->file, start);
    tails[0].type = marker->type;
    memcpy(tails[0].text, start, size);
}

/* Remembers the parts of a row that many rows have. */
static void remember_row(report_log *log, const report_marker *marker) {
    if (!log->has_todays_columns)
        return;
    remember_place(log, marker);
    remember_tail(log, marker);
}

/* A number and the comma behind it; what follows them, or NULL if it is anything else. */
static const char *take_number(const char *at, const char *end, uint64_t *value) {
    enum { SAFE_DIGITS = 19 };
    const char *digit = at;
    uint64_t number = 0;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++)
        number = number * 10 + (uint64_t)(*digit - '0');
    *value = number;
    const ptrdiff_t count = digit - at;
    return count > 0 && count <= SAFE_DIGITS && digit < end && *digit == ',' ? digit + 1 : NULL;
}

/* The same where there may be none. */
static const char *take_trace(const char *at, const char *end, int64_t *value) {
    uint64_t number = 0;
    *value = REPORT_NO_TRACE;
    if (at < end && *at == ',')
        return at + 1;
    const char *behind = take_number(at, end, &number);
    if (behind == NULL || number > INT64_MAX)
        return NULL;
    *value = (int64_t)number;
    return behind;
}

/* The numbers of a row, from the timer on; what follows them, or NULL. */
static const char *take_numbers(const char *at, const char *end, report_marker *marker) {
    uint64_t timer = 0;
    at = take_number(at, end, &timer);
    marker->timer = (uint32_t)timer;
    if (at == NULL || timer > UINT32_MAX)
        return NULL;
    at = take_number(at, end, &marker->time);
    if (at != NULL)
        at = take_number(at, end, &marker->data);
    if (at != NULL)
        at = take_number(at, end, &marker->program);
    if (at != NULL)
        at = take_trace(at, end, &marker->trace);
    return at == NULL ? NULL : take_trace(at, end, &marker->session);
}

static const report_log_tail *find_tail(report_log *log, uint32_t timer, sb_slice rest) {
    const report_log_tail *tails = tails_of(log, timer);
    for (int i = 0; i < REPORT_LOG_TAIL_WAYS && tails[i].size > 0; i++) {
        if (rest.size > tails[i].size && memcmp(rest.data, tails[i].text, tails[i].size) == 0)
            return &tails[i];
    }
    return NULL;
}

/* The meta data at the end of a row; what follows its line end, or NULL if there is more to it. */
static const char *take_meta(sb_slice rest, report_marker *marker) {
    const char *end = rest.data[0] == '\n' ? rest.data : memchr(rest.data, '\n', rest.size);
    if (end == NULL)
        return NULL;
    marker->meta = (sb_slice){rest.data, (size_t)(end - rest.data)};
    if (marker->meta.size == 0)
        return end + 1;
    if (end[-1] == '\r')
        marker->meta.size--;
    return memchr(marker->meta.data, ',', marker->meta.size) == NULL ? end + 1 : NULL;
}

/*
 * A row of the same place as the one before, whose numbers are plain and whose tail is known, which
 * is nearly every row. False leaves it to the thorough way, which gives the same for such a row.
 */
static bool take_familiar_row(report_log *log, report_marker *marker) {
    const report_log_place *place = &log->place;
    const char *row = log->text.data + log->at;
    const char *end = log->text.data + log->text.size;
    if (place->size == 0 || (size_t)(end - row) <= place->size || row[place->size] != ',' ||
        memcmp(row, place->text, place->size) != 0)
        return false;
    const char *rest = take_numbers(row + place->size + 1, end, marker);
    if (rest == NULL)
        return false;
    const sb_slice left = {rest, (size_t)(end - rest)};
    const report_log_tail *tail = find_tail(log, marker->timer, left);
    const char *next = tail == NULL ? NULL : take_meta(sb_slice_after(left, tail->size), marker);
    if (next == NULL)
        return false;
    marker->place = (sb_slice){row, place->size};
    marker->is_same_place = true;
    marker->processor = slice_of(place->processor, row);
    marker->device = place->device;
    marker->core_x = place->core_x;
    marker->core_y = place->core_y;
    marker->zone = slice_of(tail->zone, rest);
    marker->type = tail->type;
    marker->line = slice_of(tail->line, rest);
    marker->file = slice_of(tail->file, rest);
    log->at = (size_t)(next - log->text.data);
    log->line++;
    log->rows++;
    return true;
}

bool report_log_next(report_log *log, report_marker *marker) {
    while (log->at < log->text.size) {
        if (take_familiar_row(log, marker))
            return true;
        const sb_slice line = take_line(log);
        if (line.size == 0)
            continue;
        log->rows++;
        if (split(line, log->fields) == log->field_count && take_row(log, log->fields, marker)) {
            remember_row(log, marker);
            return true;
        }
        log->bad_rows++;
        if (log->first_bad_line == 0)
            log->first_bad_line = log->line;
    }
    return false;
}
