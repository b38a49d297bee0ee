/*
 * The rest of the profiler in a kernel, linked into those that are profiled: beginning and end of
 * its buffer, and what happens when it is full.
 */
#include <strobe/kernel.h>

#ifdef PROFILE_KERNEL

#include "kernel_start.h"

/* A zone that begins wants room for its end as well. */
#define LIMIT                                                              \
    (SB_PROFILER_BUFFER + SB_PROFILER_WORDS - 4 - SB_PROFILER_STEP_WORDS - \
     SB_PROFILER_COUNTER_WORDS)

/* From the linker script. */
extern sb_zone_sum sb_sums_begin[];
extern sb_zone_sum sb_sums_end[];

void sb_profiler_start(void) {
    sb_profiler_at = sb_profiler_run() + SB_PROFILER_FIRST + SB_PROFILER_STEP_WORDS;
    sb_profiler_limit = LIMIT;
}

/* The length of what was recorded, in multiples of what the NoC moves. */
static uint32_t padded_words(void) {
    while (((uint32_t)sb_profiler_at & 15) != 0) {
        sb_profiler_at[0] = SB_MARKER_FILLER;
        sb_profiler_at[1] = 0;
        sb_profiler_at += 2;
    }
    return (uint32_t)(sb_profiler_at - SB_PROFILER_BUFFER);
}

#ifdef PROFILE_DROPS

bool sb_profiler_make_room(uint32_t markers) {
    sb_mail()->profiler.refused[STROBE_PROCESSOR] += markers;
    sb_profiler_control()[SB_PROFILER_DROPPED] |= 1u << STROBE_PROCESSOR;
    return false;
}

#else

static void ask_host(uint32_t what) {
    volatile uint32_t *request = &sb_mail()->profiler.request[STROBE_PROCESSOR];
    *request = what;
    while (*request != 0) {
    }
}

#if STROBE_PROCESSOR == BRISC || STROBE_PROCESSOR == NCRISC

#define PUSH_NAME "PROFILER-NOC-QUICK-PUSH"

/* Appends the buffer to the slot in DRAM, after the host has read that if it has to. */
static void empty_buffer(void) {
    volatile uint32_t *used = &sb_profiler_control()[SB_PROFILER_SLOT_USED + STROBE_PROCESSOR];
    const volatile sb_profiler_mail *profiler = &sb_mail()->profiler;
    const uint32_t words = padded_words();
    if (*used + words > profiler->slot_bytes / 4)
        ask_host(SB_PROFILER_SLOT_FULL);
    const uint32_t address =
        profiler->slot_address + STROBE_PROCESSOR * profiler->slot_bytes + *used * 4;
    sb_noc_packet(SB_BUFFER_WRITE,
                  SB_CONTROL_WRITE | SB_CONTROL_RESPONSE | SB_CONTROL_STATIC_CHANNEL |
                      SB_CONTROL_CHANNEL(1),
                  sb_noc_own((uint32_t)SB_PROFILER_BUFFER),
                  (uint64_t)profiler->slot_tile[STROBE_NOC] << 32 | address, words * 4);
    sb_noc.acks++;
    sb_noc.writes_sent++;
    sb_noc_wait_for_acks();
    *used += words;
}

#else

#define PUSH_NAME "PROFILER-HOST-READ"

/* These processors have no NoC of their own: the host reads the buffer where it is. */
static void empty_buffer(void) {
    sb_profiler_control()[SB_PROFILER_USED + STROBE_PROCESSOR] = padded_words();
    ask_host(SB_PROFILER_BUFFER_FULL);
    sb_profiler_control()[SB_PROFILER_USED + STROBE_PROCESSOR] = SB_PROFILER_FIRST;
}

#endif

#ifdef PROFILE_ACCUMULATES
/* What is left of the run begins at the beginning again. */
static void move_run(void) {
    const volatile uint32_t *run = sb_profiler_run();
    SB_PROFILER_BUFFER[SB_PROFILER_IDENTITY] = run[SB_PROFILER_IDENTITY];
    SB_PROFILER_BUFFER[SB_PROFILER_PROGRAM] = run[SB_PROFILER_PROGRAM];
    sb_mail()->profiler.base[STROBE_PROCESSOR] = 0;
}
#else
static void move_run(void) {}
#endif

/*
 * What it takes is a zone of its own at the beginning of the emptied buffer, so that nobody takes
 * it for work. Guaranteed markers that were sent must not be sent again.
 */
bool sb_profiler_make_room(uint32_t markers) {
    SB_ZONE_PLACE(place, PUSH_NAME, 0);
    const uint32_t word = sb_zone_word(&place);
    volatile uint32_t *buffer = SB_PROFILER_BUFFER;
    uint32_t begin[2];
    /* So many open zones that their ends alone fill the buffer. */
    if (sb_profiler_limit < buffer + SB_PROFILER_FIRST + 4 || sb_mail()->profiler.slot_bytes == 0) {
        sb_mail()->profiler.refused[STROBE_PROCESSOR] += markers;
        return false;
    }
    sb_marker_put(begin, word);
    empty_buffer();
    move_run();
    for (uint32_t i = SB_PROFILER_MAIN_START; i < SB_PROFILER_FIRST; i += 2) {
        buffer[i] = SB_MARKER_FILLER;
        buffer[i + 1] = 0;
    }
    sb_profiler_at = buffer + SB_PROFILER_FIRST;
    sb_profiler_at[0] = begin[0];
    sb_profiler_at[1] = begin[1];
    sb_marker_put(sb_profiler_at + 2, word | SB_MARKER_END);
    sb_profiler_at += 4;
    return true;
}

#endif

static void put_sums(void) {
    for (const sb_zone_sum *sum = sb_sums_begin; sum < sb_sums_end; sum++) {
        if (sum->cycles == 0 || !sb_profiler_has_room(1))
            continue;
        sb_profiler_at[0] = sum->word | SB_MARKER_TOTAL;
        sb_profiler_at[1] = sum->cycles;
        sb_profiler_at += 2;
    }
}

#if STROBE_PROCESSOR == BRISC
/* The firmware's push counts answers; those to the kernel's own writes come first. */
static void wait_for_answers(void) {
    sb_noc_wait_for_acks();
}
#else
static void wait_for_answers(void) {}
#endif

void sb_profiler_finish(void) {
    put_sums();
    sb_profiler_control()[SB_PROFILER_USED + STROBE_PROCESSOR] = padded_words();
    wait_for_answers();
}

#endif
