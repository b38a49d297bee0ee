/*
 * Buffers that the original's device code filled (tests/fixtures/profiler), beside what the
 * original's own decoder made of them.
 */
#include "device/profiler/profiler.h"
#include "device/profiler/profiler_noc.h"

#include "testing.h"

#define MAGIC 0x32314250u
/* All times of the fixtures lie before it. */
#define NOW ((UINT64_C(1) << PROFILER_TIME_BITS) - 1)
/* Ids of programs in the original's log: the id that was set, ten bits, and the device's. */
#define PROGRAM_SHIFT 10

/* A marker in the log. */
typedef struct row {
    uint64_t time;
    uint64_t data;
    uint32_t x, y;
    uint32_t lane;
    uint32_t id;
    uint32_t type;
    uint32_t program;
    uint32_t trace, session;
} row;

static int compare_rows(const void *a, const void *b) {
    const row *left = a;
    const row *right = b;
    const uint64_t l[] = {left->x, left->y, left->lane, left->time, left->id, left->type};
    const uint64_t r[] = {right->x, right->y, right->lane, right->time, right->id, right->type};
    for (size_t i = 0; i < COUNT_OF(l); i++)
        if (l[i] != r[i])
            return l[i] < r[i] ? -1 : 1;
    return 0;
}

static void sort_rows(sb_vector *rows) {
    qsort(rows->data, rows->count, sizeof(row), compare_rows);
}

static sb_file open_fixture(const char *name, const char *ending) {
    char path[512];
    sb_file file;
    sb_error error;
    snprintf(path, sizeof path, "%s/profiler/%s.%s", STROBE_FIXTURES, name, ending);
    if (sb_file_open(&file, path, &error) != SB_OK)
        fail_msg("%s", error.message);
    return file;
}

/* ---- what the original made of it ---- */

static uint64_t number_of(sb_slice text) {
    uint64_t number = 0;
    for (size_t i = 0; i < text.size; i++)
        number = number * 10 + (uint64_t)(text.data[i] - '0');
    return number;
}

static uint32_t find_text(sb_slice text, const char *const *texts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (sb_slice_is(text, texts[i]))
            return i;
    fail_msg("'%.*s' is not known", (int)text.size, text.data);
    return 0;
}

static uint32_t lane_of(sb_slice text) {
    static const char *const lanes[PROFILER_LANES] = {"BRISC",   "NCRISC",  "TRISC_0",
                                                      "TRISC_1", "TRISC_2", "TENSIX_RISC_AGG"};
    return find_text(text, lanes, PROFILER_LANES);
}

static uint32_t type_of(sb_slice text) {
    static const char *const types[] = {"ZONE_START", "ZONE_END", "ZONE_TOTAL", "TS_DATA",
                                        "TS_EVENT"};
    return find_text(text, types, COUNT_OF(types));
}

/* A zone's id comes of its name, file and line, as ours does. */
static void check_id(profiler_names *names, const sb_slice *fields, uint32_t id) {
    sb_error error;
    uint16_t ours = 0;
    const profiler_zone zone = {
        .name = fields[10], .file = fields[13], .line = (uint32_t)number_of(fields[12])};
    if (zone.file.size == 0)
        return;
    assert_int_equal(profiler_names_add(names, &zone, &ours, &error), SB_OK);
    assert_int_equal(ours, id);
}

static row parse_row(sb_slice line, sb_slice *fields) {
    for (size_t i = 0; i < 15; i++)
        fields[i] = sb_slice_cut(line, ',', &line);
    return (row){.x = (uint32_t)number_of(fields[1]),
                 .y = (uint32_t)number_of(fields[2]),
                 .lane = lane_of(fields[3]),
                 .id = (uint32_t)number_of(fields[4]),
                 .time = number_of(fields[5]),
                 .data = number_of(fields[6]),
                 .program = (uint32_t)number_of(fields[7]) >> PROGRAM_SHIFT,
                 .trace = (uint32_t)number_of(fields[8]),
                 .session = (uint32_t)number_of(fields[9]),
                 .type = type_of(fields[11])};
}

static sb_vector read_log(const char *name, bool has_plain_names) {
    sb_vector rows = sb_vector_of(sizeof(row));
    sb_file file = open_fixture(name, "csv");
    profiler_names names;
    profiler_names_init(&names);
    sb_slice rest = file.text;
    sb_slice_cut(rest, '\n', &rest);
    sb_slice_cut(rest, '\n', &rest);
    while (rest.size > 0) {
        sb_slice fields[15];
        const row read = parse_row(sb_slice_cut(rest, '\n', &rest), fields);
        if (has_plain_names)
            check_id(&names, fields, read.id);
        *(row *)sb_vector_push(&rows) = read;
    }
    profiler_names_free(&names);
    sb_file_close(&file);
    sort_rows(&rows);
    return rows;
}

/* ---- what we make of it ---- */

/* Replays of the fixtures, and the programs of each trace. */
static const uint32_t replays[] = {1, 1, 2};
static const struct { uint32_t trace, program; } members[] = {{1, 2}, {1, 3}, {2, 4}};

static bool is_member(uint32_t trace, uint32_t program) {
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (members[i].trace == trace && members[i].program == program)
            return true;
    return false;
}

static void find_trace(const profiler_block *block, row *to) {
    if (block->replay == 0 || block->replay > COUNT_OF(replays))
        return;
    const uint32_t trace = replays[block->replay - 1];
    if (!is_member(trace, block->program))
        return;
    to->trace = trace;
    for (uint32_t i = 0; i < COUNT_OF(replays) && i < block->replay; i++)
        to->session += replays[i] == trace ? 1 : 0;
}

/* The words of a processor, in DRAM or in L1; returns what follows them. */
static const uint32_t *decode_lane(const uint32_t *words, row from, sb_vector *rows) {
    profiler_decoder decoder = profiler_decoder_of(words + 1, words[0], NOW);
    profiler_block block;
    while (profiler_decode_next(&decoder, &block)) {
        from.program = block.program;
        for (size_t i = 0; i < block.count; i++) {
            const profiler_marker *marker = &block.markers[i];
            row *added = sb_vector_push(rows);
            *added = from;
            added->time = marker->time;
            added->data = marker->data;
            added->id = profiler_id_of(marker);
            added->type = profiler_type_of(marker);
            find_trace(&block, added);
        }
    }
    assert_int_equal(decoder.strange, 0);
    profiler_decoder_free(&decoder);
    return words + 1 + words[0];
}

static sb_vector decode_dump(const char *name) {
    sb_vector rows = sb_vector_of(sizeof(row));
    sb_file file = open_fixture(name, "dump");
    uint32_t *words = sb_alloc(file.text.size);
    memcpy(words, file.text.data, file.text.size);
    assert_int_equal(words[0], MAGIC);
    const uint32_t *at = words + 2;
    for (uint32_t core = 0; core < words[1]; core++) {
        row from = {.x = at[0], .y = at[1]};
        at += 3;
        for (uint32_t i = 0; i < (uint32_t)2 * SB_PROCESSORS; i++) {
            from.lane = i % SB_PROCESSORS;
            at = decode_lane(at, from, &rows);
        }
    }
    assert_ptr_equal((const char *)at, (const char *)words + file.text.size);
    free(words);
    sb_file_close(&file);
    sort_rows(&rows);
    return rows;
}

/* ---- both ---- */

typedef enum difference {
    SAME = 0,
    OTHER_PROGRAMS = 1, /* the original takes ids of programs from elsewhere */
    OTHER_NAMES = 2,    /* and changes names afterwards */
    WHOLE_CORE = 4      /* what processor 0 has stands for all of them */
} difference;

static void check_row(const row *ours, const row *theirs, difference allowed, size_t index) {
    const bool is_same = ours->x == theirs->x && ours->y == theirs->y &&
                         ours->time == theirs->time && ours->id == theirs->id &&
                         ours->type == theirs->type && ours->data == theirs->data &&
                         ours->trace == theirs->trace && ours->session == theirs->session &&
                         ((allowed & WHOLE_CORE) != 0 || ours->lane == theirs->lane) &&
                         ((allowed & OTHER_PROGRAMS) != 0 || ours->program == theirs->program);
    if (!is_same)
        fail_msg("marker %zu: %u,%u %u id %u type %u at %llu of program %u, theirs %u,%u %u id %u "
                 "type %u at %llu of program %u",
                 index, ours->x, ours->y, ours->lane, ours->id, ours->type,
                 (unsigned long long)ours->time, ours->program, theirs->x, theirs->y, theirs->lane,
                 theirs->id, theirs->type, (unsigned long long)theirs->time, theirs->program);
}

static void check_fixture(const char *name, size_t count, difference allowed) {
    sb_vector theirs = read_log(name, (allowed & OTHER_NAMES) == 0);
    sb_vector ours = decode_dump(name);
    for (size_t i = 0; i < theirs.count && i < ours.count; i++)
        check_row(sb_vector_at(&ours, i), sb_vector_at(&theirs, i), allowed, i);
    assert_int_equal(ours.count, theirs.count);
    assert_int_equal(ours.count, count);
    sb_vector_free(&ours);
    sb_vector_free(&theirs);
}

/* Two cores, two programs: nested zones, values, events. */
static void zones_values_and_events_are_the_same(void **state) {
    (void)state;
    check_fixture("zones", 350, SAME);
}

/* Six programs that run on some of the processors: the others push old markers again. */
static void markers_that_are_pushed_again_are_there_once(void **state) {
    (void)state;
    check_fixture("partly", 356, SAME);
}

/* Five programs of 130 zones into a slot for two of them: 125 zones, and later none. */
static void what_is_left_of_full_buffers_is_the_same(void **state) {
    (void)state;
    check_fixture("dropped", 520, SAME);
}

static void sums_are_the_same(void **state) {
    (void)state;
    check_fixture("sums", 200, SAME);
}

static void programs_of_replays_are_the_same(void **state) {
    (void)state;
    check_fixture("replayed", 227, SAME);
}

static void replays_as_a_whole_are_the_same(void **state) {
    (void)state;
    check_fixture("traces", 20, (difference)(OTHER_NAMES | WHOLE_CORE));
}

/* A kernel that pushes in the middle, whose guaranteed markers are in DRAM more than once. */
static void pushes_in_the_middle_of_a_kernel_are_the_same(void **state) {
    (void)state;
    check_fixture("dispatch", 206, (difference)(OTHER_PROGRAMS | OTHER_NAMES));
}

static void programs_that_share_a_buffer_are_the_same(void **state) {
    (void)state;
    check_fixture("accumulated", 290, SAME);
}

/* ---- transfers ---- */

/* A line is processor, time, and what our file says of it. */
static sb_slice next_transfer(sb_slice *rest) {
    while (rest->size > 0) {
        const sb_slice line = sb_slice_cut(*rest, '\n', rest);
        if (sb_slice_contains(line, "\"noc\""))
            return line;
    }
    return (sb_slice){0};
}

static void transfers_are_the_same(void **state) {
    (void)state;
    check_fixture("noc", 42, SAME);
    sb_vector rows = decode_dump("noc");
    sb_file file = open_fixture("noc", "transfers");
    sb_slice rest = file.text;
    size_t count = 0;
    for (size_t i = 0; i < rows.count; i++) {
        const row *at = sb_vector_at(&rows, i);
        if (at->type != PROFILER_DATA)
            continue;
        sb_output text = sb_output_to_memory();
        sb_put_format(&text, "%s %llu ", profiler_processor_text(at->lane),
                      (unsigned long long)at->time);
        profiler_noc_put_transfer(&text, at->data);
        check_slices(sb_output_text(&text), next_transfer(&rest));
        sb_output_discard(&text);
        count++;
    }
    assert_int_equal(count, 30);
    assert_int_equal(next_transfer(&rest).size, 0);
    sb_file_close(&file);
    sb_vector_free(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_values_and_events_are_the_same),
        cmocka_unit_test(markers_that_are_pushed_again_are_there_once),
        cmocka_unit_test(what_is_left_of_full_buffers_is_the_same),
        cmocka_unit_test(sums_are_the_same),
        cmocka_unit_test(programs_of_replays_are_the_same),
        cmocka_unit_test(replays_as_a_whole_are_the_same),
        cmocka_unit_test(pushes_in_the_middle_of_a_kernel_are_the_same),
        cmocka_unit_test(programs_that_share_a_buffer_are_the_same),
        cmocka_unit_test(transfers_are_the_same),
    };
    return RUN(tests);
}
