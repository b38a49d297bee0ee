/*
 * Writing CSV: a row per zone.
 *
 * The rows are divided into jobs of a few thousand, all of one source and one track. Threads take
 * jobs in order, make the text of one in memory, and write it when its turn comes. A row is the
 * source's part, made once for a job, two numbers, and texts where there are any.
 *
 * In compat a zone without a text repeats the one of the row before it, so a job has to know where
 * the job before it left off: its last texts are looked up first, from its last row backwards.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace_csv_parts.h"

enum { JOB_ROWS = 8192, WORKERS_MAX = 8, COPY_STEP = 32 };

/* Texts of a row; in compat they stay until replaced. */
typedef struct row_texts {
    sb_slice name;
    sb_slice text;
    sb_slice special;
} row_texts;

typedef struct row_job {
    const csv_track *track;
    const uint32_t *zones;
    uint64_t count;
    uint32_t source;
    bool is_first;    /* of its source */
    row_texts before; /* texts of the row before the first */
    row_texts last;   /* texts found in this job; data is NULL where there are none */
} row_job;

typedef struct row_run {
    const csv_writer *writer;
    sb_vector jobs; /* row_job */
    uint64_t next_job;
    pthread_mutex_t lock;
    pthread_cond_t turn_changed;
    uint64_t turn; /* the job to be written next */
} row_run;

/* What a thread needs for its rows. */
typedef struct row_maker {
    csv_writer writer; /* to memory */
    sb_output text;
    sb_output source; /* name, file, line and separators, ready to be copied */
    sb_output ending; /* thread and all that follows it, for rows without texts */
    bool is_special;  /* the source is one of the special functions */
    uint64_t thread;
} row_maker;

/* ---- numbers ---- */

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

/* Eight digits. Their halves do not wait for each other. */
static char *put_eight(char *at, uint32_t value) {
    const size_t high = value / 10000;
    const size_t low = value % 10000;
    memcpy(at, digit_pairs + high / 100 * 2, 2);
    memcpy(at + 2, digit_pairs + high % 100 * 2, 2);
    memcpy(at + 4, digit_pairs + low / 100 * 2, 2);
    memcpy(at + 6, digit_pairs + low % 100 * 2, 2);
    return at + 8;
}

/* The digits of a number below 10^8, without leading zeroes. */
static char *put_small(char *at, uint32_t value) {
    char digits[8];
    unsigned zeroes = 0;
    put_eight(digits, value);
    uint64_t bits;
    memcpy(&bits, digits, sizeof bits);
    /* '0' is 0x30: what is left of each byte is its digit. The last one is always written. */
    bits &= UINT64_C(0x0F0F0F0F0F0F0F0F);
    while (zeroes < 7 && ((bits >> (8 * zeroes)) & 0xFF) == 0)
        zeroes++;
    memcpy(at, digits + zeroes, 8 - zeroes);
    return at + 8 - zeroes;
}

/* At most 20 characters. */
static char *put_number_at(char *at, int64_t value) {
    const uint32_t step = 100000000;
    uint64_t size = (uint64_t)value;
    if (value < 0) {
        *at++ = '-';
        size = 0 - size;
    }
    if (size < step)
        return put_small(at, (uint32_t)size);
    const uint64_t high = size / step;
    if (high < step)
        at = put_small(at, (uint32_t)high);
    else
        at = put_eight(put_small(at, (uint32_t)(high / step)), (uint32_t)(high % step));
    return put_eight(at, (uint32_t)(size % step));
}

static void put_number(sb_output *output, int64_t value) {
    char text[24];
    const char *end = put_number_at(text, value);
    sb_put(output, (sb_slice){text, (size_t)(end - text)});
}

/* ---- texts ---- */

/* The text of the nearest enclosing zone whose name contains the special one. */
static bool find_special_text(const csv_writer *writer, const sb_track *track, uint32_t zone,
                              sb_slice *text) {
    const sb_slice wanted = writer->options->special_parent;
    uint32_t outer = sb_track_zone_parent(track, zone);
    for (; outer != SB_NONE; outer = sb_track_zone_parent(track, outer)) {
        const uint32_t source = sb_track_zone_source(track, outer);
        if (!sb_trace_matches(sb_trace_source_name(writer->trace, source), wanted, true))
            continue;
        const sb_zone_note *note = sb_trace_zone_note(writer->trace, track, outer);
        if (note == NULL || note->text == 0)
            return false;
        *text = sb_trace_text(writer->trace, note->text);
        return true;
    }
    return false;
}

/* Takes what a zone has. What it has not stays as it is. */
static void take_texts(const csv_writer *writer, const sb_track *track, uint32_t zone,
                       bool is_special, row_texts *texts) {
    const sb_zone_note *note = sb_trace_zone_note(writer->trace, track, zone);
    if (note != NULL && note->name != 0)
        texts->name = sb_trace_text(writer->trace, note->name);
    if (note != NULL && note->text != 0)
        texts->text = sb_trace_text(writer->trace, note->text);
    if (is_special)
        find_special_text(writer, track, zone, &texts->special);
}

static bool is_special(const csv_writer *writer, uint32_t source) {
    sb_slice rest = writer->options->special_functions;
    while (rest.size > 0 && writer->options->special_parent.size > 0) {
        if (sb_slice_equal(sb_slice_cut(rest, ',', &rest),
                           sb_trace_source_name(writer->trace, source)))
            return true;
    }
    return false;
}

/* Fills in what is missing in texts from others. */
static void keep_texts(row_texts *texts, const row_texts *others) {
    texts->name = texts->name.data == NULL ? others->name : texts->name;
    texts->text = texts->text.data == NULL ? others->text : texts->text;
    texts->special = texts->special.data == NULL ? others->special : texts->special;
}

/* The last texts of a job, looked for from its end. */
static void find_last_texts(const csv_writer *writer, row_job *job) {
    const bool special = is_special(writer, job->source);
    for (uint64_t i = job->count; i > 0; i--) {
        row_texts own = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
        take_texts(writer, job->track->track, job->zones[i - 1], special, &own);
        keep_texts(&job->last, &own);
        if (job->last.name.data != NULL && job->last.text.data != NULL &&
            (!special || job->last.special.data != NULL))
            return;
    }
}

static void find_texts_of_jobs(void *context, unsigned worker) {
    row_run *run = context;
    (void)worker;
    for (;;) {
        const uint64_t job = __atomic_fetch_add(&run->next_job, 1, __ATOMIC_RELAXED);
        if (job >= run->jobs.count)
            return;
        find_last_texts(run->writer, sb_vector_at(&run->jobs, job));
    }
}

/* Each job gets the texts of the last row before it. */
static void hand_texts_on(row_run *run, unsigned workers) {
    row_texts texts = {{"", 0}, {"", 0}, {"", 0}};
    sb_parallel(workers, find_texts_of_jobs, run);
    run->next_job = 0;
    for (size_t i = 0; i < run->jobs.count; i++) {
        row_job *job = sb_vector_at(&run->jobs, i);
        if (job->is_first)
            texts = (row_texts){{"", 0}, {"", 0}, {"", 0}};
        job->before = texts;
        keep_texts(&job->last, &texts);
        texts = job->last;
    }
}

/* ---- rows ---- */

static bool is_tt(const csv_writer *writer) {
    return writer->options->layout >= SB_TRACE_CSV_TT_0_10;
}

/* The fork wraps the text in quotes, and leaves those inside it alone. */
static void put_tt_text(const csv_writer *writer, sb_slice text) {
    if (!writer->options->compat) {
        csv_put_field(writer, text);
    } else if (text.size > 0) {
        sb_put_char(writer->output, '"');
        sb_put(writer->output, text);
        sb_put_char(writer->output, '"');
    }
}

/* What stands between the source and the times, and behind them. */
static void put_before_times(const csv_writer *writer, const row_texts *texts) {
    if (!is_tt(writer))
        return;
    csv_put_field(writer, texts->name);
    csv_put_separator(writer);
    put_tt_text(writer, texts->text);
    csv_put_separator(writer);
}

static void put_after_times(const csv_writer *writer, uint64_t thread, const row_texts *texts) {
    const sb_trace_csv_layout layout = writer->options->layout;
    if (layout != SB_TRACE_CSV_TRACY_0_9) {
        csv_put_separator(writer);
        put_number(writer->output, (int64_t)thread);
    }
    if (layout == SB_TRACE_CSV_TRACY || layout > SB_TRACE_CSV_TT_0_10) {
        csv_put_separator(writer);
        csv_put_field(writer, texts->text);
    }
    if (is_tt(writer)) {
        csv_put_separator(writer);
        csv_put_field(writer, texts->special);
    }
    sb_put_char(writer->output, '\n');
}

/* Zones of one source are spread over memory; asked for ahead of time they are there in time. */
static void expect_zone(const row_job *job, uint64_t i) {
    enum { AHEAD = 16 };
    if (i + AHEAD >= job->count)
        return;
    const uint32_t zone = job->zones[i + AHEAD];
    __builtin_prefetch(sb_series_find(&job->track->track->start, zone));
    __builtin_prefetch(sb_series_find(&job->track->track->duration, zone));
}

/* Lets copy_padded read beyond the end. */
static void pad(sb_output *text) {
    memset(sb_output_room(text, COPY_STEP), 0, COPY_STEP);
}

/* Copies in steps of a fixed size, which is quicker than asking for the right one; may read and
 * write up to a step too much. */
static char *copy_padded(char *at, sb_slice text) {
    for (size_t i = 0; i < text.size; i += COPY_STEP)
        memcpy(at + i, text.data + i, COPY_STEP);
    return at + text.size;
}

/* Rows of zones that have no texts: two pieces that are always the same, and two numbers. */
static void put_bare_rows(row_maker *maker, const row_job *job) {
    enum { NUMBERS_SIZE = 48 };
    const sb_slice source = sb_output_text(&maker->source);
    const sb_slice ending = sb_output_text(&maker->ending);
    const sb_slice separator = maker->writer.options->separator;
    const size_t most =
        source.size + ending.size + separator.size + NUMBERS_SIZE + (size_t)2 * COPY_STEP;
    char *at = sb_output_room(&maker->text, most * job->count);
    const char *begin = at;
    for (uint64_t i = 0; i < job->count; i++) {
        const uint32_t zone = job->zones[i];
        expect_zone(job, i);
        at = copy_padded(at, source);
        at = put_number_at(at, sb_track_zone_start(job->track->track, zone));
        memcpy(at, separator.data, separator.size);
        at = put_number_at(at + separator.size, csv_duration(job->track, zone));
        at = copy_padded(at, ending);
    }
    maker->text.used += (size_t)(at - begin);
}

static void put_rows_with_texts(row_maker *maker, const row_job *job) {
    const row_texts none = {{"", 0}, {"", 0}, {"", 0}};
    const csv_writer *writer = &maker->writer;
    const sb_track *track = job->track->track;
    row_texts texts = job->before;
    for (uint64_t i = 0; i < job->count; i++) {
        const uint32_t zone = job->zones[i];
        expect_zone(job, i);
        if (!writer->options->compat)
            texts = none;
        take_texts(writer, track, zone, maker->is_special, &texts);
        sb_put(writer->output, sb_output_text(&maker->source));
        put_before_times(writer, &texts);
        put_number(writer->output, sb_track_zone_start(track, zone));
        csv_put_separator(writer);
        put_number(writer->output, csv_duration(job->track, zone));
        put_after_times(writer, maker->thread, &texts);
    }
}

static bool has_notes(const sb_track *track) {
    return sb_series_bytes(&track->note) > 0;
}

static void begin_source(row_maker *maker, const row_job *job) {
    const sb_trace *trace = maker->writer.trace;
    const sb_source *place = sb_trace_source(trace, job->source);
    csv_writer to_source = maker->writer;
    to_source.output = &maker->source;
    sb_output_truncate(&maker->source, 0);
    csv_put_field(&to_source, sb_trace_source_name(trace, job->source));
    csv_put_separator(&to_source);
    csv_put_field(&to_source, sb_trace_text(trace, place->file));
    csv_put_separator(&to_source);
    put_number(&maker->source, place->line);
    csv_put_separator(&to_source);
    maker->is_special = is_special(&maker->writer, job->source);
}

static void make_rows(row_maker *maker, const row_job *job) {
    enum { LANE_MASK = 0xFFFF };
    const sb_track *track = job->track->track;
    const bool is_lane = track->kind == SB_TRACK_LANE;
    const row_texts none = {{"", 0}, {"", 0}, {"", 0}};
    const row_texts *before = &job->before;
    maker->thread = is_lane ? track->lane_id & LANE_MASK : track->thread;
    sb_output_truncate(&maker->text, 0);
    begin_source(maker, job);
    const bool repeats = before->name.size + before->text.size + before->special.size > 0;
    if (!is_lane && (has_notes(track) || repeats)) {
        put_rows_with_texts(maker, job);
        return;
    }
    csv_writer apart = maker->writer;
    apart.output = &maker->source;
    put_before_times(&apart, &none);
    apart.output = &maker->ending;
    sb_output_truncate(&maker->ending, 0);
    put_after_times(&apart, maker->thread, &none);
    pad(&maker->source);
    pad(&maker->ending);
    put_bare_rows(maker, job);
}

/* ---- jobs ---- */

static void write_in_turn(row_run *run, uint64_t job, sb_slice text) {
    pthread_mutex_lock(&run->lock);
    while (run->turn != job)
        pthread_cond_wait(&run->turn_changed, &run->lock);
    pthread_mutex_unlock(&run->lock);
    sb_put(run->writer->output, text); /* nobody else's turn */
    pthread_mutex_lock(&run->lock);
    run->turn++;
    pthread_cond_broadcast(&run->turn_changed);
    pthread_mutex_unlock(&run->lock);
}

static void run_jobs(void *context, unsigned worker) {
    row_run *run = context;
    (void)worker;
    row_maker maker = {.writer = *run->writer,
                       .text = sb_output_to_memory(),
                       .source = sb_output_to_memory(),
                       .ending = sb_output_to_memory()};
    maker.writer.output = &maker.text;
    for (;;) {
        const uint64_t job = __atomic_fetch_add(&run->next_job, 1, __ATOMIC_RELAXED);
        if (job >= run->jobs.count)
            break;
        make_rows(&maker, sb_vector_at(&run->jobs, job));
        write_in_turn(run, job, sb_output_text(&maker.text));
    }
    sb_output_discard(&maker.text);
    sb_output_discard(&maker.source);
    sb_output_discard(&maker.ending);
}

static void add_jobs(sb_vector *jobs, const csv_track *track, csv_group group, bool is_first) {
    const row_texts none = {{"", 0}, {"", 0}, {"", 0}};
    for (uint64_t i = 0; i < group.count; i += JOB_ROWS) {
        const uint64_t left = group.count - i;
        *(row_job *)sb_vector_push(jobs) = (row_job){.track = track,
                                                     .zones = track->zones + group.first + i,
                                                     .count = left < JOB_ROWS ? left : JOB_ROWS,
                                                     .source = group.source,
                                                     .is_first = is_first && i == 0,
                                                     .before = none};
    }
}

/* Jobs by source, then track; true if some track has texts. */
static bool plan_jobs(row_run *run, csv_zones *zones) {
    bool has_texts = false;
    for (uint32_t source = 0; source < sb_series_count(&run->writer->trace->sources); source++) {
        bool is_first = true;
        for (uint64_t i = 0; i < zones->track_count; i++) {
            csv_track *track = &zones->tracks[i];
            const csv_group group = csv_next_group(track, source);
            if (group.count == 0)
                continue;
            add_jobs(&run->jobs, track, group, is_first);
            is_first = false;
            has_texts = has_texts || has_notes(track->track);
        }
    }
    return has_texts;
}

static void put_rows(const csv_writer *writer, bool devices) {
    csv_zones zones = csv_group_zones(writer, devices, writer->options->self && !devices);
    row_run run = {.writer = writer, .jobs = sb_vector_of(sizeof(row_job))};
    const bool has_texts = plan_jobs(&run, &zones);
    const unsigned width = sb_parallel_width(WORKERS_MAX);
    const unsigned workers = run.jobs.count < width ? (unsigned)run.jobs.count + 1 : width;
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.turn_changed, NULL);
    if (has_texts && writer->options->compat)
        hand_texts_on(&run, workers);
    sb_parallel(workers, run_jobs, &run);
    pthread_cond_destroy(&run.turn_changed);
    pthread_mutex_destroy(&run.lock);
    sb_vector_free(&run.jobs);
    csv_zones_free(&zones);
}

void csv_write_zones(const csv_writer *writer) {
    static const char *const headers[] = {
        [SB_TRACE_CSV_TRACY_0_9] = "name|src_file|src_line|ns_since_start|exec_time_ns",
        [SB_TRACE_CSV_TRACY_0_11] = "name|src_file|src_line|ns_since_start|exec_time_ns|thread",
        [SB_TRACE_CSV_TRACY] = "name|src_file|src_line|ns_since_start|exec_time_ns|thread|value",
        [SB_TRACE_CSV_TT_0_10] = "name|src_file|src_line|zone_name|zone_text|ns_since_start|"
                                 "exec_time_ns|thread|special_parent_text",
        [SB_TRACE_CSV_TT_0_13] = "name|src_file|src_line|zone_name|zone_text|ns_since_start|"
                                 "exec_time_ns|thread|value|special_parent_text",
        [SB_TRACE_CSV_TT] = "name|src_file|src_line|zone_name|zone_text|ns_since_start|"
                            "exec_time_ns|thread|value|special_parent_text",
    };
    csv_put_header(writer, headers[writer->options->layout]);
    put_rows(writer, false);
    if (writer->options->layout == SB_TRACE_CSV_TT)
        put_rows(writer, true);
}

/* ---- zones of devices ---- */

static void put_device_group(const csv_writer *writer, const csv_track *track, csv_group group) {
    const sb_source *place = sb_trace_source(writer->trace, group.source);
    for (uint64_t i = 0; i < group.count; i++) {
        const uint32_t zone = track->zones[group.first + i];
        csv_put_field(writer, sb_trace_source_name(writer->trace, group.source));
        csv_put_separator(writer);
        csv_put_field(writer, sb_trace_text(writer->trace, place->file));
        csv_put_separator(writer);
        put_number(writer->output, sb_track_zone_start(track->track, zone));
        csv_put_separator(writer);
        put_number(writer->output, csv_duration(track, zone));
        sb_put_char(writer->output, '\n');
    }
}

void csv_write_device_zones(const csv_writer *writer) {
    csv_put_header(writer, "name|src_file|Time from start of program|GPU execution time");
    csv_zones zones = csv_group_zones(writer, true, false);
    for (uint32_t source = 0; source < sb_series_count(&writer->trace->sources); source++) {
        for (uint64_t i = 0; i < zones.track_count; i++) {
            const csv_group group = csv_next_group(&zones.tracks[i], source);
            if (group.count > 0)
                put_device_group(writer, &zones.tracks[i], group);
        }
    }
    csv_zones_free(&zones);
}
