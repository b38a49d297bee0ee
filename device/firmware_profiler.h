/*
 * What the firmware does for the profiler: it names the run in the buffers before others write
 * there, and when all are done BRISC pushes all buffers to DRAM. Included by firmware.c.
 *
 * The end of BRISC's own zone is taken before the push, so that no zone holds the push's time; it
 * is part of the gap to the next program.
 */
#ifndef STROBE_FIRMWARE_PROFILER_H
#define STROBE_FIRMWARE_PROFILER_H

#ifdef PROFILE_KERNEL

#ifdef PROFILE_ACCUMULATES
static uint32_t profiler_base(uint32_t processor) {
    return mail()->profiler.base[processor];
}
#else
static uint32_t profiler_base(uint32_t processor) {
    (void)processor;
    return 0;
}
#endif

/* How much of the buffer will be pushed, unless the kernel says more. */
static void profiler_expect_kernel(void) {
    sb_profiler_control()[SB_PROFILER_USED + STROBE_PROCESSOR] =
        profiler_base(STROBE_PROCESSOR) + SB_PROFILER_FIRST + SB_PROFILER_STEP_WORDS;
}

#if STROBE_PROCESSOR == MASTER

#define CLOCK_LOW 0xFFB121F0u
/* NoC 0, the command buffer for writes; see kernel_noc.h. */
#define NOC(offset) (0xFFB20000u + (offset))
#define NOC_ACKS NOC(0x204u)
#define NOC_OWN_PLACE NOC(0x138u)
/* Write, answered, static channel 1. */
#define NOC_WRITE (1u << 1 | 1u << 4 | 1u << 7 | 1u << 13)

static volatile uint32_t *profiler_word(uint32_t address) {
    return (volatile uint32_t *)address;
}

static volatile uint32_t *profiler_buffer(uint32_t processor) {
    return profiler_word(SB_L1_PROFILER_BUFFERS + processor * SB_L1_PROFILER_BUFFER_BYTES);
}

/* The next run begins here. A guaranteed marker that is not written must not look like one. */
static void profiler_prepare(uint32_t processor) {
    volatile uint32_t *buffer = profiler_buffer(processor) + profiler_base(processor);
    if (profiler_base(processor) != 0) {
        buffer[0] = 0;
        buffer[1] = 0;
    }
    for (uint32_t i = SB_PROFILER_MAIN_START; i < SB_PROFILER_FIRST; i += 2) {
        buffer[i] = SB_MARKER_FILLER;
        buffer[i + 1] = 0;
    }
}

static void profiler_start(void) {
    const uint32_t own = *profiler_word(NOC_OWN_PLACE);
    for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
        profiler_buffer(i)[0] = 0;
        profiler_buffer(i)[1] = 0;
        profiler_prepare(i);
    }
    sb_profiler_control()[SB_PROFILER_X] = own & 63;
    sb_profiler_control()[SB_PROFILER_Y] = own >> 6 & 63;
}

/* Says whose run this is, in the buffers of those that take part and its own. */
static void profiler_begin(uint32_t processors) {
    const uint32_t identity = mail()->profiler.identity | mail()->launch.replay << 13;
    const uint32_t program = mail()->launch.program_id;
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        if (i == MASTER || (processors >> i & 1) != 0) {
            volatile uint32_t *run = profiler_buffer(i) + profiler_base(i);
            run[SB_PROFILER_IDENTITY] = identity | i;
            run[SB_PROFILER_PROGRAM] = program;
        }
    sb_profiler_control()[SB_PROFILER_USED + MASTER] = profiler_base(MASTER) + SB_PROFILER_FIRST;
}

#ifdef PROFILE_DISPATCH

/*
 * What the master does for the others, as zones: one in front of the markers of its kernel, which
 * leaves their place free, and one behind them.
 */
typedef struct profiler_step {
    volatile uint32_t *end;
    uint32_t word;
} profiler_step;

static profiler_step profiler_step_begin(uint32_t word) {
    volatile uint32_t *used = &sb_profiler_control()[SB_PROFILER_USED + MASTER];
    volatile uint32_t *at = profiler_buffer(MASTER) + *used;
    *used += SB_PROFILER_STEP_WORDS;
    sb_marker_put(at, word);
    return (profiler_step){at + 2, word | SB_MARKER_END};
}

static void profiler_step_end(const profiler_step *step) {
    sb_marker_put(step->end, step->word);
}

#define PROFILER_STEP(name)                                                                    \
    SB_ZONE_PLACE(step_place, name, 0);                                                        \
    __attribute__((cleanup(profiler_step_end))) const profiler_step SB_JOIN(step_, __LINE__) = \
        profiler_step_begin(sb_zone_word(&step_place))

#endif

#ifdef PROFILE_PERF_COUNTERS

#define COMPUTES 3u /* TRISC1, whose kernel starts and stops the counters */

/* What is counted: selectors of the hardware, and the numbers that tools give the counters. */
static const struct {
    uint16_t selector;
    uint16_t number;
} profiler_counters[] = {{24, 42},   {25, 43},   {26, 44},    /* stalls of three threads */
                         {256, 110}, {264, 111}, {272, 112}}; /* their instructions */

static void profiler_put_counter(volatile uint32_t *at, uint32_t selector, uint32_t number) {
    *profiler_word(SB_COUNTER_MODE) = selector << 8;
    while (*profiler_word(SB_COUNTER_MODE) != selector << 8) {
    }
    sb_marker_put(at,
                  SB_MARKER_VALID | SB_MARKER_DATA_16B | SB_MARKER_COUNTER << SB_MARKER_ID_SHIFT);
    at[2] = *profiler_word(SB_COUNTER_REFERENCE);
    at[3] = *profiler_word(SB_COUNTER_COUNT);
    at[4] = 0;
    at[5] = number;
}

static void profiler_read_counters(uint32_t processors) {
    volatile uint32_t *used = &sb_profiler_control()[SB_PROFILER_USED + MASTER];
    if ((processors >> COMPUTES & 1) == 0)
        return;
    for (uint32_t i = 0; i < sizeof profiler_counters / sizeof profiler_counters[0]; i++)
        profiler_put_counter(profiler_buffer(MASTER) + *used + i * 6, profiler_counters[i].selector,
                             profiler_counters[i].number);
    *used += SB_PROFILER_COUNTER_WORDS;
}

#else

static void profiler_read_counters(uint32_t processors) {
    (void)processors;
}

#endif

static void profiler_send(uint32_t from, uint32_t to, uint32_t bytes) {
    const uint32_t own = (*profiler_word(NOC_OWN_PLACE) & 0xFFF) << 4;
    *profiler_word(NOC(0x00)) = from;
    *profiler_word(NOC(0x04)) = own;
    *profiler_word(NOC(0x0C)) = to;
    *profiler_word(NOC(0x10)) = mail()->profiler.slot_tile[0];
    *profiler_word(NOC(0x1C)) = NOC_WRITE;
    *profiler_word(NOC(0x20)) = bytes;
    while (*profiler_word(NOC(0x28)) != 0) {
    }
    *profiler_word(NOC(0x28)) = 1;
}

#ifdef PROFILE_DROPS

/* Markers in part of a buffer, to be exact about what is lost. */
static uint32_t profiler_count(const volatile uint32_t *buffer, uint32_t begin, uint32_t end) {
    uint32_t count = 0;
    for (uint32_t i = begin; i < end; i += 2) {
        if (buffer[i] == SB_MARKER_FILLER)
            continue;
        count++;
        const uint32_t type = buffer[i] & 7u << SB_MARKER_TYPE_SHIFT;
        i += type == SB_MARKER_DATA ? 2u : type == SB_MARKER_DATA_16B ? 4u : 0u;
    }
    return count;
}

/* How many words can be sent: all, the guaranteed ones, or none. The rest is counted as lost. */
static uint32_t profiler_fit(uint32_t processor, uint32_t words, uint32_t room) {
    if (words <= room)
        return words;
    const volatile uint32_t *buffer = profiler_buffer(processor);
    const uint32_t kept = room >= SB_PROFILER_FIRST ? SB_PROFILER_FIRST : 0;
    mail()->profiler.dropped[processor] +=
        profiler_count(buffer, kept > 0 ? kept : (uint32_t)SB_PROFILER_MAIN_START, words);
    sb_profiler_control()[SB_PROFILER_DROPPED] |= 1u << processor;
    return kept;
}

#else

/* The host reads the slot, then all of it is free again. */
static uint32_t profiler_fit(uint32_t processor, uint32_t words, uint32_t room) {
    if (words > room) {
        mail()->profiler.request[processor] = SB_PROFILER_SLOT_FULL;
        while (mail()->profiler.request[processor] != 0) {
        }
    }
    return words;
}

#endif

/* Sends the buffer of a processor to its slot. False: there was nothing to send, or no room. */
static bool profiler_push(uint32_t processor) {
    volatile uint32_t *control = sb_profiler_control();
    const volatile sb_profiler_mail *profiler = &mail()->profiler;
    uint32_t words = control[SB_PROFILER_USED + processor];
    if (words == 0)
        return false;
    words = profiler_fit(processor, words,
                         profiler->slot_bytes / 4 - control[SB_PROFILER_SLOT_USED + processor]);
    const uint32_t used = control[SB_PROFILER_SLOT_USED + processor];
    control[SB_PROFILER_USED + processor] = 0;
    if (words == 0)
        return false;
    profiler_send((uint32_t)profiler_buffer(processor),
                  profiler->slot_address + processor * profiler->slot_bytes + used * 4, words * 4);
    control[SB_PROFILER_SLOT_USED + processor] = used + words;
    return true;
}

#ifdef PROFILE_ACCUMULATES

/* Words that the next run finds at least. */
#define NEXT_RUN_WORDS 64u

/* Lets the next run begin behind this one, unless some buffer is nearly full. */
static bool profiler_goes_on(void) {
    const volatile uint32_t *used = &sb_profiler_control()[SB_PROFILER_USED];
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        if (used[i] > SB_PROFILER_WORDS - NEXT_RUN_WORDS)
            return false;
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        if (used[i] > profiler_base(i)) {
            mail()->profiler.base[i] = used[i];
            profiler_prepare(i);
        }
    return true;
}

static void profiler_restart(void) {
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        mail()->profiler.base[i] = 0;
}

#else

static bool profiler_goes_on(void) {
    return false;
}

static void profiler_restart(void) {}

#endif

/*
 * A kernel waits for the answers to its writes before it ends (kernel_profiler.c), so all that
 * arrive here are to ours.
 */
static void profiler_push_all(void) {
    const uint32_t acks = *profiler_word(NOC_ACKS);
    uint32_t sent = 0;
    if (sb_profiler_control()[SB_PROFILER_DONE] == 0 && mail()->profiler.slot_bytes != 0)
        for (uint32_t i = 0; i < SB_PROCESSORS; i++)
            sent += profiler_push(i) ? 1u : 0u;
    while (*profiler_word(NOC_ACKS) - acks != sent) {
    }
    profiler_restart();
    for (uint32_t i = 0; i < SB_PROCESSORS; i++)
        profiler_prepare(i);
}

static void profiler_finish(void) {
    const uint32_t begin = *profiler_word(CLOCK_LOW);
    volatile uint32_t *control = sb_profiler_control();
    if (!profiler_goes_on())
        profiler_push_all();
    control[SB_PROFILER_RUNS]++;
    control[SB_PROFILER_DONE] = 1;
    mail()->profiler.push_clocks = *profiler_word(CLOCK_LOW) - begin;
}

#endif

#else

static void profiler_expect_kernel(void) {}

#if STROBE_PROCESSOR == MASTER
static void profiler_start(void) {}

static void profiler_begin(uint32_t processors) {
    (void)processors;
}

static void profiler_read_counters(uint32_t processors) {
    (void)processors;
}

static void profiler_finish(void) {}
#endif

#endif

#ifndef PROFILER_STEP
#define PROFILER_STEP(name) _Static_assert(sizeof(name) > 1, "a step has a name")
#endif

#endif
