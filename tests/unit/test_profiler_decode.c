/* The parts of the profiler that need no device: buffers, names, clocks, environment. */
#include "device/profiler/profiler_clock.h"
#include "device/profiler/profiler_decode.h"
#include "device/profiler/profiler_names.h"
#include "device/profiler/profiler_options.h"

#include "testing.h"

#define FILLER 0x80000000u, 0
/* Two zeros, processor 1 of core 5 in replay 3, program 1025. */
#define HEAD 0, 0, (1u | 5u << 5 | 3u << 13), 1025

static profiler_block decode_one(profiler_decoder *decoder) {
    profiler_block block = {0};
    assert_true(profiler_decode_next(decoder, &block));
    return block;
}

static void a_block_is_taken_apart_and_put_in_order(void **state) {
    (void)state;
    static const uint32_t words[] = {
        HEAD,       0x80001000, 100,               /* firmware 1, start */
        0x90001000, 900,                           /* and end */
        0x80002000, 200,        0x90002000, 800,   /* kernel */
        0x8C27D000, 0x302,      0x9C27D000, 0x303, /* a zone */
        0xBDFB6000, 0x310,      1,          3,     /* data 2^32 + 3 */
        0xC004D000, 0x311,                         /* event 77 */
        0xA13C4000, 10,                            /* a sum */
        FILLER,
    };
    profiler_decoder decoder = profiler_decoder_of(words, COUNT_OF(words), 1000);
    const profiler_block block = decode_one(&decoder);
    static const struct {
        uint32_t timer;
        uint64_t time, data;
    } expected[] = {{0x00001, 100, 0},   {0x213C4, 100, 10},  {0x00002, 200, 0},
                    {0x0C27D, 0x302, 0}, {0x1C27D, 0x303, 0}, {0x3DFB6, 0x310, (1ull << 32) + 3},
                    {0x4004D, 0x311, 0}, {0x10002, 800, 0},   {0x10001, 900, 0}};
    assert_int_equal(block.processor, 1);
    assert_int_equal(block.core, 5);
    assert_int_equal(block.replay, 3);
    assert_int_equal(block.program, 1025);
    assert_int_equal(block.count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(block.markers[i].timer, expected[i].timer);
        assert_int_equal(block.markers[i].time, expected[i].time);
        assert_int_equal(block.markers[i].data, expected[i].data);
    }
    assert_int_equal(decoder.strange, 0);
    profiler_block end;
    assert_false(profiler_decode_next(&decoder, &end));
    profiler_decoder_free(&decoder);
}

static void payloads_of_zeros_begin_no_block(void **state) {
    (void)state;
    static const uint32_t words[] = {
        HEAD, FILLER, FILLER, FILLER, FILLER, 0xBDFB6000, 50,     0,      0,      0xD2382000, 60,
        0,    0,      0,      0,      HEAD,   FILLER,     FILLER, FILLER, FILLER, 0xC0001000, 70};
    profiler_decoder decoder = profiler_decoder_of(words, COUNT_OF(words), 1000);
    const profiler_block first = decode_one(&decoder);
    assert_int_equal(first.count, 2);
    assert_int_equal(profiler_type_of(&first.markers[1]), PROFILER_DATA_16B);
    const profiler_block second = decode_one(&decoder);
    assert_int_equal(second.count, 1);
    assert_int_equal(decoder.strange, 0);
    profiler_decoder_free(&decoder);
}

static void times_get_their_upper_bits_from_now(void **state) {
    (void)state;
    const uint64_t now = (UINT64_C(7) << 44) + 5;
    static const uint32_t words[] = {HEAD,       FILLER,     FILLER,     FILLER, FILLER,
                                     0x80001FFF, 0xFFFFFFFF, 0x90001000, 3};
    profiler_decoder decoder = profiler_decoder_of(words, COUNT_OF(words), now);
    const profiler_block block = decode_one(&decoder);
    assert_true(block.markers[0].time == (UINT64_C(7) << 44) - 1);
    assert_true(block.markers[1].time == (UINT64_C(7) << 44) + 3);
    profiler_decoder_free(&decoder);
}

static void what_is_no_marker_is_counted(void **state) {
    (void)state;
    static const uint32_t words[] = {1,      2,          3,      4,          HEAD,
                                     FILLER, FILLER,     FILLER, FILLER,     0x00001000,
                                     5,      0xF0000000, 6,      0xBDFB6000, 7};
    profiler_decoder decoder = profiler_decoder_of(words, COUNT_OF(words), 1000);
    assert_int_equal(decode_one(&decoder).count, 0);
    assert_int_equal(decoder.strange, 2 + 3);
    profiler_decoder_free(&decoder);
}

/* ---- names ---- */

static profiler_zone zone_named(const char *name, uint32_t line) {
    return (profiler_zone){
        .name = sb_slice_of(name), .file = sb_slice_of("kgen/kern.cpp"), .line = line};
}

static void ids_are_those_that_others_give(void **state) {
    (void)state;
    sb_error error;
    profiler_names names;
    uint16_t id = 0;
    profiler_names_init(&names);
    const profiler_zone zone = zone_named("TEST-FULL", 5);
    assert_int_equal(profiler_names_add(&names, &zone, &id, &error), SB_OK);
    assert_int_equal(id, 0xC27D);
    check_slice(profiler_names_find(&names, id)->name, "TEST-FULL");
    profiler_names_free(&names);
}

static void ids_are_never_shared(void **state) {
    (void)state;
    sb_error error;
    profiler_names names;
    bool *is_taken = sb_alloc_zeroed(65536, sizeof *is_taken);
    profiler_names_init(&names);
    for (uint32_t i = 0; i < 60000; i++) {
        const profiler_zone zone = zone_named("ZONE", i);
        uint16_t id = 0;
        uint16_t again = 0;
        assert_int_equal(profiler_names_add(&names, &zone, &id, &error), SB_OK);
        assert_int_equal(profiler_names_add(&names, &zone, &again, &error), SB_OK);
        assert_int_equal(id, again);
        assert_false(is_taken[id]);
        assert_true(id != 0 && id != 9090 && id != 12345 && id != 23456);
        is_taken[id] = true;
    }
    free(is_taken);
    profiler_names_free(&names);
}

/* ---- clocks ---- */

static void a_line_is_found_among_outliers(void **state) {
    (void)state;
    clock_sample samples[249];
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const double machine = 1e15 + 1000.0 * (double)i;
        samples[i] = (clock_sample){
            .machine = machine, .device = 5e8 + (machine - 1e15) * 1.00005, .round_trip = 40};
    }
    /* One look was slow, one read something else. */
    samples[17].round_trip = 5000;
    samples[17].device += 2500;
    samples[100].device += 900;
    const clock_line line = profiler_fit_line(samples, COUNT_OF(samples));
    assert_int_equal(line.used, 247);
    assert_true(line.rate > 1.00005 - 1e-9 && line.rate < 1.00005 + 1e-9);
    assert_true(line.residual < 1);
}

/* ---- environment ---- */

typedef struct findings {
    size_t count;
    char names[4][64];
    const char *meant[4];
} findings;

static void note(void *context, sb_slice name, const char *meant) {
    findings *found = context;
    assert_true(found->count < COUNT_OF(found->names));
    snprintf(found->names[found->count], sizeof found->names[0], "%.*s", (int)name.size, name.data);
    found->meant[found->count++] = meant;
}

static void misspelt_variables_are_found(void **state) {
    (void)state;
    const char *const environment[] = {"PATH=/bin",
                                       "TT_METAL_DEVICE_PROFILER=1",
                                       "TT_METAL_DEVICE_PROFILLER=1",
                                       "TT_METAL_PROFILER_SYCN=1",
                                       "TT_METAL_DPRINT_CORES=all",
                                       "TT_METAL_PROFILER_COLOUR=red",
                                       NULL};
    findings found = {0};
    profiler_options_find_misspelt(environment, note, &found);
    assert_int_equal(found.count, 3);
    assert_string_equal(found.names[0], "TT_METAL_DEVICE_PROFILLER");
    assert_string_equal(found.meant[0], "TT_METAL_DEVICE_PROFILER");
    assert_string_equal(found.meant[1], "TT_METAL_PROFILER_SYNC");
    assert_string_equal(found.names[2], "TT_METAL_PROFILER_COLOUR");
    assert_null(found.meant[2]);
}

static void bad_values_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *text;
    } cases[] = {{"TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", "many", "no number of programs"},
                 {"TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", "0", "no number of programs"},
                 {"TT_METAL_PROFILE_PERF_COUNTERS", "512", "no sum of groups, 1 to 511"},
                 {"TT_METAL_PROFILE_PERF_COUNTERS", "instrn", "no sum of groups"},
                 {"STROBE_PROFILER_MODE", "drop", "never-drop, drop-newest or keep-newest"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        profiler_options options;
        sb_error error;
        setenv(cases[i].name, cases[i].value, 1);
        assert_int_equal(profiler_options_read(&options, true, &error), SB_ERR_USAGE);
        check_contains(sb_slice_of(error.message), cases[i].text);
        unsetenv(cases[i].name);
        assert_int_equal(profiler_options_read(&options, true, &error), SB_OK);
        assert_int_equal(options.programs, 1000);
        assert_true(options.writes_files && options.pushes && !options.is_on);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_taken_apart_and_put_in_order),
        cmocka_unit_test(payloads_of_zeros_begin_no_block),
        cmocka_unit_test(times_get_their_upper_bits_from_now),
        cmocka_unit_test(what_is_no_marker_is_counted),
        cmocka_unit_test(ids_are_those_that_others_give),
        cmocka_unit_test(ids_are_never_shared),
        cmocka_unit_test(a_line_is_found_among_outliers),
        cmocka_unit_test(misspelt_variables_are_found),
        cmocka_unit_test(bad_values_are_refused),
    };
    return RUN(tests);
}
