/*
 * The markers that kernels make; kernel_profiler.h includes it where kernels are profiled.
 */
#ifndef STROBE_KERNEL_ZONES_H
#define STROBE_KERNEL_ZONES_H

/* Where the next marker goes, and the last place where a zone may begin or four words fit. */
register volatile uint32_t *sb_profiler_at __asm__("tp");
register volatile uint32_t *sb_profiler_limit __asm__("gp");

/*
 * Makes room in a full buffer: it is pushed to DRAM, or read by the host. False: the markers it is
 * asked for are not recorded, and were counted.
 */
bool sb_profiler_make_room(uint32_t markers);

SB_PROFILER_INLINE bool sb_profiler_has_room(uint32_t markers) {
    return __builtin_expect(sb_profiler_at <= sb_profiler_limit, 1) ||
           sb_profiler_make_room(markers);
}

/* ---- zones ---- */

/* The word of a zone that began; 0 if it is not recorded. */
SB_PROFILER_INLINE uint32_t sb_zone_begin(uint32_t word) {
    __asm__ volatile("" : : : "memory");
    if (!sb_profiler_has_room(2))
        return 0;
    sb_marker_put(sb_profiler_at, word);
    sb_profiler_at += 2;
    sb_profiler_limit -= 2;
    return word;
}

SB_PROFILER_INLINE void sb_zone_end(const uint32_t *word) {
    if (*word == 0)
        return;
    __asm__ volatile("" : : : "memory");
    sb_marker_put(sb_profiler_at, *word | SB_MARKER_END);
    sb_profiler_at += 2;
    sb_profiler_limit += 2;
}

#define SB_ZONE(name, number)                                                        \
    SB_ZONE_PLACE(SB_JOIN(sb_place_, number), name, 0);                              \
    __attribute__((cleanup(sb_zone_end))) const uint32_t SB_JOIN(sb_zone_, number) = \
        sb_zone_begin(sb_zone_word(&SB_JOIN(sb_place_, number)))

/* The rest of the scope is a zone. */
#define DeviceZoneScopedN(name) SB_NUMBERED(SB_ZONE, name)

/* ---- sums ---- */

/* Time spent in a zone during a run. The host writes the first word when it loads the kernel. */
typedef struct sb_zone_sum {
    uint32_t word;
    uint32_t cycles;
} sb_zone_sum;

typedef struct sb_summed_zone {
    sb_zone_sum *sum;
    uint32_t start;
} sb_summed_zone;

SB_PROFILER_INLINE uint32_t sb_clock_low(void) {
    return *(volatile const uint32_t *)0xFFB121F0u;
}

SB_PROFILER_INLINE sb_summed_zone sb_sum_begin(sb_zone_sum *sum, const void *place) {
    __asm__ volatile(".pushsection .debug_strobe_zones, \"\", @progbits\n\t"
                     ".word %0, %1, " SB_ZONE_IN_WORD "\n\t"
                     ".popsection"
                     :
                     : "i"(sum), "i"(place)
                     : "memory");
    return (sb_summed_zone){sum, sb_clock_low()};
}

/* A sum that has run over stays at its largest. */
SB_PROFILER_INLINE void sb_sum_end(const sb_summed_zone *zone) {
    __asm__ volatile("" : : : "memory");
    const uint32_t sum = zone->sum->cycles + (sb_clock_low() - zone->start);
    zone->sum->cycles = sum >= zone->sum->cycles ? sum : UINT32_MAX;
}

#if (PROFILE_KERNEL & SB_PROFILER_SUMS) != 0
#define SB_SUMMED_ZONE(name, number)                                                      \
    SB_ZONE_PLACE(SB_JOIN(sb_place_, number), name, 0);                                   \
    static sb_zone_sum SB_JOIN(sb_sum_, number)                                           \
        __attribute__((section(".strobe_sums"))) = {SB_MARKER_VALID, 0};                  \
    __attribute__((cleanup(sb_sum_end))) const sb_summed_zone SB_JOIN(sb_zone_, number) = \
        sb_sum_begin(&SB_JOIN(sb_sum_, number), &SB_JOIN(sb_place_, number))
#else
#define SB_SUMMED_ZONE(name, number) _Static_assert(sizeof("" name) > 1, "a zone has a name")
#endif

/* The time spent in the rest of the scope is added up. Both names do the same; any number of either
   may be used. */
#define DeviceZoneScopedSumN1(name) SB_NUMBERED(SB_SUMMED_ZONE, name)
#define DeviceZoneScopedSumN2(name) SB_NUMBERED(SB_SUMMED_ZONE, name)

/* ---- data and events ---- */

SB_PROFILER_INLINE void sb_record_data(uint32_t word, uint64_t value) {
    if (!sb_profiler_has_room(1))
        return;
    sb_marker_put(sb_profiler_at, word | SB_MARKER_DATA);
    sb_profiler_at[2] = (uint32_t)(value >> 32);
    sb_profiler_at[3] = (uint32_t)value;
    sb_profiler_at += 4;
}

#define DeviceTimestampedData(name, value)                   \
    do {                                                     \
        SB_ZONE_PLACE(sb_data_place, name, 0);               \
        sb_record_data(sb_zone_word(&sb_data_place), value); \
    } while (0)

static inline void sb_record_event(uint16_t number) {
    if (!sb_profiler_has_room(1))
        return;
    sb_marker_put(sb_profiler_at,
                  SB_MARKER_VALID | SB_MARKER_EVENT | (uint32_t)number << SB_MARKER_ID_SHIFT);
    sb_profiler_at += 2;
}

/* A 16-bit number at a moment. */
#define DeviceRecordEvent(number) sb_record_event((uint16_t)(number))

/* ---- transfers ---- */

/* What is asked of the NoC, as tools for this hardware number it. */
enum {
    SB_NOC_EVENT_READ = 1,
    SB_NOC_EVENT_READ_BARRIER_START = 6,
    SB_NOC_EVENT_READ_BARRIER_END = 7,
    SB_NOC_EVENT_WRITE = 11,
    SB_NOC_EVENT_WRITE_INLINE = 14,
    SB_NOC_EVENT_WRITE_MULTICAST = 15,
    SB_NOC_EVENT_WRITE_BARRIER_START = 20,
    SB_NOC_EVENT_WRITE_BARRIER_END = 21,
    SB_NOC_EVENT_WRITE_FLUSH = 23,
    SB_NOC_EVENT_ATOMIC_BARRIER = 26,
    SB_NOC_EVENT_SEMAPHORE_INC = 27,
    SB_NOC_EVENT_SEMAPHORE_WAIT = 28,
    SB_NOC_EVENT_SEMAPHORE_SET = 29,
    SB_NOC_EVENT_SEMAPHORE_SET_MULTICAST = 31
};

#ifdef PROFILE_NOC_EVENTS
/* Channels: reads are answered on one that nobody tells. */
#define SB_NOC_CHANNEL_UNKNOWN 15u
#define SB_NOC_CHANNEL_WRITE 1u
#define SB_NOC_CHANNEL_MULTICAST 4u
/* A place that says there is none. */
#define SB_NOC_NOWHERE 0xFFFFu

SB_PROFILER_INLINE bool sb_noc_is_multicast(uint32_t type) {
    return type == SB_NOC_EVENT_WRITE_MULTICAST || type == SB_NOC_EVENT_SEMAPHORE_SET_MULTICAST;
}

/* Two bytes, x and y, of coordinates as NoC addresses have them. */
SB_PROFILER_INLINE uint32_t sb_noc_place(uint32_t coordinates) {
    return (coordinates & 63) | (coordinates >> 6 & 63) << 8;
}

/* Places are two bytes each: where it goes to or comes from, and the far corner of a multicast. */
static inline void sb_record_noc(uint32_t type, uint32_t place, uint32_t corner, uint32_t channel,
                                 uint32_t size, bool is_posted) {
    const uint32_t units = size / 32 + (size % 32 != 0 ? 1u : 0u);
    const uint32_t lower = type | place << 8 | corner << 24;
    const uint32_t upper = corner >> 8 | (channel << 4 | (STROBE_NOC + 1)) << 8 |
                           (units < 255 ? units : 255u) << 16 | (is_posted ? 1u << 24 : 0u);
    sb_record_data(SB_MARKER_VALID | SB_MARKER_NOC_EVENT << SB_MARKER_ID_SHIFT,
                   (uint64_t)upper << 32 | lower);
}

/* address is where it goes to or comes from; of a multicast, the corners. */
static inline void sb_record_noc_event(uint32_t type, uint64_t address, uint32_t size,
                                       bool is_posted) {
    const uint32_t high = (uint32_t)(address >> 32);
    if (sb_noc_is_multicast(type))
        sb_record_noc(type, sb_noc_place(high >> 16), sb_noc_place(high >> 4),
                      SB_NOC_CHANNEL_MULTICAST, size, is_posted);
    else
        sb_record_noc(type, sb_noc_place(high >> 4), 0,
                      type == SB_NOC_EVENT_READ ? SB_NOC_CHANNEL_UNKNOWN : SB_NOC_CHANNEL_WRITE,
                      size, is_posted);
}
#else
#define sb_record_noc_event(type, address, size, is_posted) ((void)0)
#endif

/* Words, semaphores and waiting are recorded only where all that happens is asked for. */
#if defined(PROFILE_NOC_STEPS) && (STROBE_PROCESSOR <= 1)
#define sb_record_noc_word(type, address, size) sb_record_noc_event(type, address, size, false)
#define sb_record_noc_step(type) \
    sb_record_noc(type, SB_NOC_NOWHERE, 0, SB_NOC_CHANNEL_UNKNOWN, 0, false)
#else
#define sb_record_noc_word(type, address, size) ((void)0)
#define sb_record_noc_step(type) ((void)0)
#endif

#endif
