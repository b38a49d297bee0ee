/*
 * The profiler's part of kernel.h, which includes it, and of the firmware.
 *
 *     void kernel_main(void) {
 *         DeviceZoneScopedN("REDUCE");              the rest of this scope is a zone
 *         DeviceTimestampedData("rows", rows);      a value at a moment
 *         DeviceRecordEvent(7);                     a number at a moment
 *         for (...) {
 *             DeviceZoneScopedSumN1("WAIT");        time in here is added up, one figure per run
 *             cb_wait_front(0, 1);
 *         }
 *     }
 *
 * Names are literals without commas. Unless the host profiles (TT_METAL_DEVICE_PROFILER=1) all of
 * these are empty: the code of the kernel is the same, byte for byte, as if they were not there.
 *
 * How a marker is made. Each processor has a buffer of 512 words in L1, in the layout that
 * profilers of this hardware agree on: four words that say whose run this is, four guaranteed
 * markers (start and end of firmware and of kernel), 250 more. A marker is two words: a bit that
 * says it is one, 3 bits type, 16 bits id, 44 bits time. Where the next one goes, and up to where a
 * zone may still begin, are kept in the registers tp and gp, which nothing else uses here. A zone
 * that begins lowers that limit by the room of its end, so that its end always fits.
 *
 * Names. A zone's id is the upper part of one `lui` instruction. Where these instructions are, and
 * which name, file and line they stand for, is in sections of the ELF that are not loaded; the host
 * writes the ids into the instructions when it loads the kernel. So no two zones share one.
 */
#ifndef STROBE_KERNEL_PROFILER_H
#define STROBE_KERNEL_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

#include <strobe/kernel_layout.h>

/* Words of a buffer. */
enum {
    SB_PROFILER_IDENTITY = 2,
    SB_PROFILER_PROGRAM = 3,
    SB_PROFILER_MAIN_START = 4,
    SB_PROFILER_MAIN_END = 6,
    SB_PROFILER_CHILD_START = 8,
    SB_PROFILER_CHILD_END = 10,
    SB_PROFILER_FIRST = 12,
    SB_PROFILER_WORDS = 512
};

/* Words of the control vector. */
enum {
    SB_PROFILER_SLOT_USED = 0, /* [processor] words in its DRAM slot; the host resets it */
    SB_PROFILER_USED = 24,     /* [processor] words in its L1 buffer, 0 once they are pushed */
    SB_PROFILER_SYNC = 49,
    SB_PROFILER_DRAM = 50,
    SB_PROFILER_RUNS = 51, /* since the host's last reset */
    SB_PROFILER_X = 52,
    SB_PROFILER_Y = 53,
    SB_PROFILER_FLAT_ID = 54,
    SB_PROFILER_CORES_PER_BANK = 55,
    SB_PROFILER_DROPPED = 56, /* bit = processor that lost markers */
    SB_PROFILER_DONE = 57     /* not 0: this run is not recorded, or it is pushed already */
};

/* Types of markers, at their place in the first word; and a marker that says nothing. */
#define SB_MARKER_TYPE_SHIFT 28
#define SB_MARKER_END (1u << SB_MARKER_TYPE_SHIFT)
#define SB_MARKER_TOTAL (2u << SB_MARKER_TYPE_SHIFT)
#define SB_MARKER_DATA (3u << SB_MARKER_TYPE_SHIFT)
#define SB_MARKER_EVENT (4u << SB_MARKER_TYPE_SHIFT)
#define SB_MARKER_DATA_16B (5u << SB_MARKER_TYPE_SHIFT)
#define SB_MARKER_ID_SHIFT 12
#define SB_MARKER_VALID 0x80000000u
#define SB_MARKER_FILLER SB_MARKER_VALID

/* Ids that are not names of zones. */
#define SB_MARKER_NOC_EVENT 12345u
#define SB_MARKER_COUNTER 9090u

/* The counters of instructions: their registers, and what is written to control. */
#define SB_COUNTER_PERIOD 0xFFB12000u
#define SB_COUNTER_MODE 0xFFB12004u
#define SB_COUNTER_CONTROL 0xFFB12008u
#define SB_COUNTER_REFERENCE 0xFFB12100u
#define SB_COUNTER_COUNT 0xFFB12104u
#define SB_COUNTER_START 1u
#define SB_COUNTER_STOP 2u

#ifdef PROFILE_KERNEL

#define SB_PROFILER_SUMS 8 /* a bit of PROFILE_KERNEL */

/*
 * Words that BRISC's firmware needs in front of and behind the markers of its kernel: a zone each
 * for its steps, and behind them the counters.
 */
#if defined(PROFILE_DISPATCH) && STROBE_PROCESSOR == 0
#define SB_PROFILER_STEP_WORDS 4
#else
#define SB_PROFILER_STEP_WORDS 0
#endif
#if defined(PROFILE_PERF_COUNTERS) && STROBE_PROCESSOR == 0
#define SB_PROFILER_COUNTER_WORDS 36
#else
#define SB_PROFILER_COUNTER_WORDS 0
#endif

#define SB_PROFILER_BUFFER \
    ((volatile uint32_t *)(SB_L1_PROFILER_BUFFERS + STROBE_PROCESSOR * SB_L1_PROFILER_BUFFER_BYTES))
#define SB_PROFILER_INLINE static inline __attribute__((always_inline))

SB_PROFILER_INLINE volatile uint32_t *sb_profiler_control(void) {
    return (volatile uint32_t *)SB_L1_PROFILER_CONTROL;
}

/* ---- names ---- */

/* What the host reads about a zone; behind it follow name and file. */
#define SB_ZONE_PLACE(variable, zone_name, zone_color) \
    static const struct {                              \
        uint32_t line;                                 \
        uint32_t color;                                \
        char name[sizeof("" zone_name)];               \
        char file[sizeof(__FILE__)];                   \
    } variable                                         \
        __attribute__((section(".strobe_places"))) = {__LINE__, zone_color, zone_name, __FILE__}

/* How the host writes an id: into a lui, or as a whole word. */
#define SB_ZONE_IN_LUI "0"
#define SB_ZONE_IN_WORD "1"

/* The first word of a start, less the time. Not volatile: out of a loop is a good place for it. */
SB_PROFILER_INLINE uint32_t sb_zone_word(const void *place) {
    uint32_t word;
    __asm__("1: lui %0, 0x80000\n\t"
            ".pushsection .debug_strobe_zones, \"\", @progbits\n\t"
            ".word 1b, %1, " SB_ZONE_IN_LUI "\n\t"
            ".popsection"
            : "=r"(word)
            : "i"(place));
    return word;
}

/* ---- markers ---- */

/* Writes a marker with the time of now: upper and lower half of the clock belong together. */
SB_PROFILER_INLINE void sb_marker_put(volatile uint32_t *at, uint32_t word) {
    volatile const uint32_t *const low = (volatile const uint32_t *)0xFFB121F0u;
    volatile const uint32_t *const high = (volatile const uint32_t *)0xFFB121F4u;
    uint32_t upper;
    uint32_t lower;
    do {
        upper = *high;
        lower = *low;
    } while (*high != upper);
    at[0] = word | (upper << 20 >> 20);
    at[1] = lower;
}

#ifdef PROFILE_ACCUMULATES
/* Several short runs share a buffer, one behind the other, and are pushed together. */
SB_PROFILER_INLINE volatile uint32_t *sb_profiler_run(void) {
    const volatile sb_mailbox *mail = (const volatile sb_mailbox *)SB_L1_MAILBOX;
    return SB_PROFILER_BUFFER + mail->profiler.base[STROBE_PROCESSOR];
}
#else
/* A run has the buffer to itself. */
SB_PROFILER_INLINE volatile uint32_t *sb_profiler_run(void) {
    return SB_PROFILER_BUFFER;
}
#endif

/* A zone in one of the guaranteed places. Where the run begins may change until its end. */
typedef struct sb_guaranteed_zone {
    uint32_t end;
    uint32_t word;
} sb_guaranteed_zone;

SB_PROFILER_INLINE sb_guaranteed_zone sb_guaranteed_begin(uint32_t start, uint32_t end,
                                                          uint32_t word) {
    sb_marker_put(sb_profiler_run() + start, word);
    return (sb_guaranteed_zone){end, word | SB_MARKER_END};
}

SB_PROFILER_INLINE void sb_guaranteed_end(const sb_guaranteed_zone *zone) {
    sb_marker_put(sb_profiler_run() + zone->end, zone->word);
}

#define SB_JOIN_PARTS(a, b) a##b
#define SB_JOIN(a, b) SB_JOIN_PARTS(a, b)
/* Gives a macro a number of its own: names that differ, on one line as well. */
#define SB_NUMBERED_WITH(macro, name, number) macro(name, number)
#define SB_NUMBERED(macro, name) SB_NUMBERED_WITH(macro, name, __COUNTER__)

#define SB_GUARANTEED_ZONE(name, start, end)                                                 \
    SB_ZONE_PLACE(SB_JOIN(sb_place_, __LINE__), name, 0);                                    \
    __attribute__((cleanup(sb_guaranteed_end))) const sb_guaranteed_zone SB_JOIN(sb_zone_,   \
                                                                                 __LINE__) = \
        sb_guaranteed_begin(start, end, sb_zone_word(&SB_JOIN(sb_place_, __LINE__)))

/* The firmware's run of a program, and the kernel within it. Used by the firmware alone. */
#define DeviceZoneScopedMainN(name) \
    SB_GUARANTEED_ZONE(name, SB_PROFILER_MAIN_START, SB_PROFILER_MAIN_END)
#define DeviceZoneScopedMainChildN(name) \
    SB_GUARANTEED_ZONE(name, SB_PROFILER_CHILD_START, SB_PROFILER_CHILD_END)

/* A run that does not fulfil the condition is not recorded. */
#define DeviceValidateProfiler(condition) \
    (sb_profiler_control()[SB_PROFILER_DONE] = (condition) ? 0u : 1u)

#ifndef STROBE_FIRMWARE
#include <strobe/kernel_zones.h>
#endif

#else

/* Nothing, but a name must be a literal. */
#define SB_NO_ZONE(name) _Static_assert(sizeof("" name) > 1, "a zone has a name")
#define DeviceZoneScopedN(name) SB_NO_ZONE(name)
#define DeviceZoneScopedMainN(name) SB_NO_ZONE(name)
#define DeviceZoneScopedMainChildN(name) SB_NO_ZONE(name)
#define DeviceZoneScopedSumN1(name) SB_NO_ZONE(name)
#define DeviceZoneScopedSumN2(name) SB_NO_ZONE(name)
#define DeviceTimestampedData(name, value) ((void)sizeof("" name), (void)sizeof(value))
#define DeviceRecordEvent(number) ((void)sizeof(number))
#define DeviceValidateProfiler(condition) ((void)sizeof(condition))
#define sb_record_noc_event(type, address, size, is_posted) ((void)0)
#define sb_record_noc_word(type, address, size) ((void)0)
#define sb_record_noc_step(type) ((void)0)

#endif

#endif
