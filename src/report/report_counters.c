/*
 * Metrics from hardware counters: a value per core, of which the report has minimum, median,
 * maximum and mean.
 *
 * Nearly all of them are one sum of counters divided by another, so they are a table: terms joined
 * by + and -, a factor in front as in 2*X, '@' for the cycles that a counter was running instead of
 * its count. PACKER_PORT is the counter of that port, which is not called the same on every chip.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_counters.h"
#include "report/report_programs_parts.h"

enum {
    ALWAYS = 1,         /* has its columns whatever was counted */
    FULL_GRID = 2,      /* the mean is over all cores of the chip and the kernel's time */
    MEAN_OF_TWO = 4,    /* of the two metrics before it */
    IF_PACKING = 8,     /* other formulas if the packers were never busy */
    IF_NUMERATOR = 16,  /* only if the numerator is not zero on all cores */
    CLIPPED = 32,       /* at least 0 */
    CLIPPED_ALONE = 64, /* the same, but only without a host */
    IF_GRANTED = 128,   /* only if requests and grants count the same events */
    IF_LAST = 256,      /* only if the last term of the numerator is not zero on all cores */
    PLAIN = 512,        /* no percentage */
    CONTENTION = 1024,  /* mean of the back-pressures of five ports */
    IMBALANCE = 2048,   /* of the packers */
    ALONE = 4096,       /* only in the report without a host */
};

typedef struct metric {
    const char *name;
    const char *numerator;
    const char *denominator;
    unsigned flags;
    double scale;
} metric;

static const metric metrics[] = {
    {"SFPU Util", "SFPU_COUNTER", "@SFPU_COUNTER", ALWAYS | FULL_GRID, 100},
    {"FPU Util", "FPU_COUNTER", "@FPU_COUNTER", ALWAYS | FULL_GRID, 100},
    {"MATH Util", "MATH_COUNTER", "@MATH_COUNTER", ALWAYS | FULL_GRID, 100},
    {"Unpacker0 Write Efficiency", "SRCA_WRITE_ACTUAL", "UNPACK0_BUSY_THREAD0", ALWAYS, 100},
    {"Unpacker1 Write Efficiency", "SRCB_WRITE_NOT_BLOCKED_PORT", "UNPACK1_BUSY_THREAD0", ALWAYS,
     100},
    {"Unpacker Write Efficiency", "", "", ALWAYS | MEAN_OF_TWO, 100},
    {"Packer Efficiency", "PACKER_DEST_READ_AVAILABLE", "PACKER_BUSY", ALWAYS | IF_PACKING, 100},
    {"FPU Execution Efficiency", "FPU_COUNTER", "FPU_INSTRN_AVAILABLE_1", ALWAYS, 100},
    {"Math Pipeline Utilization", "MATH_INSTRN_STARTED", "MATH_INSTRN_AVAILABLE",
     ALWAYS | IF_NUMERATOR, 100},
    {"Math-to-Pack Handoff Efficiency", "AVAILABLE_MATH", "PACKER_BUSY", ALWAYS | IF_PACKING, 100},
    {"Unpacker-to-Math Data Flow", "SRCA_WRITE_AVAILABLE+SRCB_WRITE_AVAILABLE",
     "UNPACK0_BUSY_THREAD0+UNPACK1_BUSY_THREAD0", ALWAYS, 100},
    {"Thread 0 Stall Rate", "THREAD_STALLS_0", "@THREAD_STALLS_0", 0, 100},
    {"Thread 1 Stall Rate", "THREAD_STALLS_1", "@THREAD_STALLS_1", 0, 100},
    {"Thread 2 Stall Rate", "THREAD_STALLS_2", "@THREAD_STALLS_2", 0, 100},
    {"SrcA Valid Wait", "WAITING_FOR_SRCA_VALID", "@WAITING_FOR_SRCA_VALID", 0, 100},
    {"SrcB Valid Wait", "WAITING_FOR_SRCB_VALID", "@WAITING_FOR_SRCB_VALID", 0, 100},
    {"SrcA Clear Wait", "WAITING_FOR_SRCA_CLEAR", "@WAITING_FOR_SRCA_CLEAR", 0, 100},
    {"SrcB Clear Wait", "WAITING_FOR_SRCB_CLEAR", "@WAITING_FOR_SRCB_CLEAR", 0, 100},
    {"Math Idle Wait T1", "WAITING_FOR_MATH_IDLE_1", "@WAITING_FOR_MATH_IDLE_1", 0, 100},
    {"Pack Idle Wait T2", "WAITING_FOR_PACK_IDLE_2", "@WAITING_FOR_PACK_IDLE_2", 0, 100},
    {"Unpack Idle Wait T0", "WAITING_FOR_UNPACK_IDLE_0", "@WAITING_FOR_UNPACK_IDLE_0", 0, 100},
    {"Semaphore Zero Wait T0", "WAITING_FOR_NONZERO_SEM_0", "@WAITING_FOR_NONZERO_SEM_0", 0, 100},
    {"Semaphore Zero Wait T1", "WAITING_FOR_NONZERO_SEM_1", "@WAITING_FOR_NONZERO_SEM_1", 0, 100},
    {"Semaphore Zero Wait T2", "WAITING_FOR_NONZERO_SEM_2", "@WAITING_FOR_NONZERO_SEM_2", 0, 100},
    {"Semaphore Full Wait T0", "WAITING_FOR_NONFULL_SEM_0", "@WAITING_FOR_NONFULL_SEM_0", 0, 100},
    {"Semaphore Full Wait T1", "WAITING_FOR_NONFULL_SEM_1", "@WAITING_FOR_NONFULL_SEM_1", 0, 100},
    {"Semaphore Full Wait T2", "WAITING_FOR_NONFULL_SEM_2", "@WAITING_FOR_NONFULL_SEM_2", 0, 100},
    {"Data Hazard Stall Rate", "MATH_INSTRN_AVAILABLE-DATA_HAZARD_STALLS_MOVD2A",
     "MATH_INSTRN_AVAILABLE", CLIPPED, 100},
    {"Fidelity Stall Rate", "MATH_FIDELITY_STALL", "MATH_INSTRN_AVAILABLE", 0, 100},
    {"HiFi Fraction", "MATH_INSTRN_HF_2_CYCLE+MATH_INSTRN_HF_4_CYCLE",
     "MATH_INSTRN_HF_1_CYCLE+MATH_INSTRN_HF_2_CYCLE+MATH_INSTRN_HF_4_CYCLE", 0, 100},
    {"Avg HF Cycles Per Instrn",
     "MATH_INSTRN_HF_1_CYCLE+2*MATH_INSTRN_HF_2_CYCLE+4*MATH_INSTRN_HF_4_CYCLE",
     "MATH_INSTRN_HF_1_CYCLE+MATH_INSTRN_HF_2_CYCLE+MATH_INSTRN_HF_4_CYCLE", PLAIN, 1},
    {"L1 Unpacker Port Util", "L1_0_UNPACKER_0", "@L1_0_UNPACKER_0", 0, 100},
    {"L1 TDMA Bundle Util", "L1_0_TDMA_BUNDLE_0_RISC+L1_0_TDMA_BUNDLE_1_TRISC",
     "2*@L1_0_TDMA_BUNDLE_0_RISC", 0, 100},
    {"NOC Ring 0 Outgoing Util", "L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1",
     "2*@L1_0_NOC_RING0_OUTGOING_0", 0, 100},
    {"NOC Ring 0 Incoming Util", "L1_0_NOC_RING0_INCOMING_0+L1_0_NOC_RING0_INCOMING_1",
     "2*@L1_0_NOC_RING0_INCOMING_0", 0, 100},
    {"NOC Ring 1 Outgoing Util", "L1_1_NOC_RING1_OUTGOING_0+L1_1_NOC_RING1_OUTGOING_1",
     "2*@L1_1_NOC_RING1_OUTGOING_0", 0, 100},
    {"NOC Ring 1 Incoming Util", "L1_1_NOC_RING1_INCOMING_0+L1_1_NOC_RING1_INCOMING_1",
     "2*@L1_1_NOC_RING1_INCOMING_0", 0, 100},
    {"L1 Packer Port Util", "PACKER_PORT", "@PACKER_PORT", 0, 100},
    {"NOC Ring 0 Outgoing Backpressure",
     "L1_0_NOC_RING0_OUTGOING_0-L1_0_NOC_RING0_OUTGOING_0_GRANT+L1_0_NOC_RING0_OUTGOING_1-L1_0_NOC_"
     "RING0_OUTGOING_1_GRANT",
     "L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1", CLIPPED, 100},
    {"NOC Ring 0 Incoming Backpressure",
     "L1_0_NOC_RING0_INCOMING_0-L1_0_NOC_RING0_INCOMING_0_GRANT+L1_0_NOC_RING0_INCOMING_1-L1_0_NOC_"
     "RING0_INCOMING_1_GRANT",
     "L1_0_NOC_RING0_INCOMING_0+L1_0_NOC_RING0_INCOMING_1", CLIPPED, 100},
    {"NOC Ring 1 Outgoing Backpressure",
     "L1_1_NOC_RING1_OUTGOING_0-L1_1_NOC_RING1_OUTGOING_0_GRANT+L1_1_NOC_RING1_OUTGOING_1-L1_1_NOC_"
     "RING1_OUTGOING_1_GRANT",
     "L1_1_NOC_RING1_OUTGOING_0+L1_1_NOC_RING1_OUTGOING_1", CLIPPED, 100},
    {"NOC Ring 1 Incoming Backpressure",
     "L1_1_NOC_RING1_INCOMING_0-L1_1_NOC_RING1_INCOMING_0_GRANT+L1_1_NOC_RING1_INCOMING_1-L1_1_NOC_"
     "RING1_INCOMING_1_GRANT",
     "L1_1_NOC_RING1_INCOMING_0+L1_1_NOC_RING1_INCOMING_1", CLIPPED, 100},
    {"L1 Unpacker Backpressure", "L1_0_UNPACKER_0-L1_0_UNPACKER_0_GRANT", "L1_0_UNPACKER_0",
     CLIPPED | IF_GRANTED, 100},
    {"L1 Packer Port Backpressure", "PACKER_PORT-L1_0_PORT1_GRANT", "PACKER_PORT", CLIPPED, 100},
    {"SrcA Write Port Blocked Rate", "SRCA_WRITE_AVAILABLE-SRCA_WRITE_ACTUAL",
     "SRCA_WRITE_AVAILABLE", CLIPPED, 100},
    {"SrcA Write Overwrite Blocked Rate", "SRCA_WRITE_AVAILABLE-SRCA_WRITE_NOT_BLOCKED_OVR",
     "SRCA_WRITE_AVAILABLE", CLIPPED, 100},
    {"SrcB Write Overwrite Blocked Rate", "SRCB_WRITE_AVAILABLE-SRCB_WRITE_ACTUAL",
     "SRCB_WRITE_AVAILABLE", CLIPPED, 100},
    {"Dest Read Backpressure", "PACKER_DEST_READ_AVAILABLE-DEST_READ_GRANTED_0",
     "PACKER_DEST_READ_AVAILABLE", CLIPPED_ALONE, 100},
    {"Math Dest Write Port Stall Rate", "MATH_INSTRN_AVAILABLE-MATH_NOT_STALLED_DEST_WR_PORT",
     "MATH_INSTRN_AVAILABLE", CLIPPED_ALONE | IF_LAST, 100},
    {"Math Scoreboard Stall Rate", "MATH_INSTRN_AVAILABLE-AVAILABLE_MATH", "MATH_INSTRN_AVAILABLE",
     CLIPPED_ALONE, 100},
    {"T0 Instrn Issue Rate", "THREAD_INSTRUCTIONS_0", "@THREAD_INSTRUCTIONS_0", PLAIN, 1},
    {"T1 Instrn Issue Rate", "THREAD_INSTRUCTIONS_1", "@THREAD_INSTRUCTIONS_1", PLAIN, 1},
    {"T2 Instrn Issue Rate", "THREAD_INSTRUCTIONS_2", "@THREAD_INSTRUCTIONS_2", PLAIN, 1},
    {"CFG Instrn Avail Rate T0", "CFG_INSTRN_AVAILABLE_0", "@CFG_INSTRN_AVAILABLE_0", 0, 100},
    {"SYNC Instrn Avail Rate T0", "SYNC_INSTRN_AVAILABLE_0", "@SYNC_INSTRN_AVAILABLE_0", 0, 100},
    {"THCON Instrn Avail Rate T0", "THCON_INSTRN_AVAILABLE_0", "@THCON_INSTRN_AVAILABLE_0", 0, 100},
    {"MOVE Instrn Avail Rate T0", "MOVE_INSTRN_AVAILABLE_0", "@MOVE_INSTRN_AVAILABLE_0", 0, 100},
    {"MATH Instrn Avail Rate T1", "FPU_INSTRN_AVAILABLE_1", "@FPU_INSTRN_AVAILABLE_1", 0, 100},
    {"UNPACK Instrn Avail Rate T0", "UNPACK_INSTRN_AVAILABLE_0", "@UNPACK_INSTRN_AVAILABLE_0", 0,
     100},
    {"PACK Instrn Avail Rate T2", "PACK_INSTRN_AVAILABLE_2", "@PACK_INSTRN_AVAILABLE_2", 0, 100},
    {"SrcB Write Port Blocked Rate", "SRCB_WRITE_AVAILABLE-SRCB_WRITE_NOT_BLOCKED_PORT",
     "SRCB_WRITE_AVAILABLE", CLIPPED, 100},
    {"SrcA Write Actual Efficiency", "SRCA_WRITE_ACTUAL", "SRCA_WRITE_AVAILABLE", 0, 100},
    {"SrcB Write Actual Efficiency", "SRCB_WRITE_NOT_BLOCKED_PORT", "SRCB_WRITE_AVAILABLE", 0, 100},
    {"Packer Engine 0 Util", "PACKER_BUSY_0", "@PACKER_BUSY_0", 0, 100},
    {"Packer Engine 1 Util", "PACKER_BUSY_1", "@PACKER_BUSY_1", 0, 100},
    {"Packer Engine 2 Util", "PACKER_BUSY_2", "@PACKER_BUSY_2", 0, 100},
    {"MMIO Idle Wait T0", "WAITING_FOR_MMIO_IDLE_0", "@WAITING_FOR_MMIO_IDLE_0", 0, 100},
    {"SFPU Idle Wait T1", "WAITING_FOR_SFPU_IDLE_1", "@WAITING_FOR_SFPU_IDLE_1", 0, 100},
    {"THCON Idle Wait T0", "WAITING_FOR_THCON_IDLE_0", "@WAITING_FOR_THCON_IDLE_0", 0, 100},
    {"MOVE Idle Wait T0", "WAITING_FOR_MOVE_IDLE_0", "@WAITING_FOR_MOVE_IDLE_0", 0, 100},
    {"RISC Core L1 Util", "L1_1_RISC_CORE", "@L1_1_RISC_CORE", 0, 100},
    {"L1 Total Bandwidth Util",
     "L1_0_UNPACKER_0+PACKER_PORT+L1_0_TDMA_BUNDLE_0_RISC+L1_0_TDMA_BUNDLE_1_TRISC+L1_0_NOC_RING0_"
     "OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1+L1_0_NOC_RING0_INCOMING_0+L1_0_NOC_RING0_INCOMING_1",
     "8*@L1_0_UNPACKER_0", 0, 100},
    {"L1 Read vs Write Ratio",
     "L1_0_UNPACKER_0+L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1",
     "L1_0_UNPACKER_0+PACKER_PORT+L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1+L1_0_NOC_"
     "RING0_INCOMING_0+L1_0_NOC_RING0_INCOMING_1",
     0, 100},
    {"NOC Ring 0 Asymmetry", "L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1",
     "L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1+L1_0_NOC_RING0_INCOMING_0+L1_0_NOC_RING0_"
     "INCOMING_1",
     0, 100},
    {"L1 Contention Index", "", "", CONTENTION, 100},
    {"Unpacker L1 Efficiency", "L1_0_UNPACKER_0_GRANT", "UNPACK0_BUSY_THREAD0", 0, 100},
    {"Packer L1 Efficiency", "L1_0_PORT1_GRANT", "PACKER_BUSY", 0, 100},
    {"NOC vs Compute Balance",
     "L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1+L1_0_NOC_RING0_INCOMING_0+L1_0_NOC_RING0_"
     "INCOMING_1",
     "FPU_COUNTER+L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_OUTGOING_1+L1_0_NOC_RING0_INCOMING_0+L1_"
     "0_NOC_RING0_INCOMING_1",
     0, 100},
    {"TDMA vs NOC L1 Share", "L1_0_TDMA_BUNDLE_0_RISC+L1_0_TDMA_BUNDLE_1_TRISC",
     "L1_0_TDMA_BUNDLE_0_RISC+L1_0_TDMA_BUNDLE_1_TRISC+L1_0_NOC_RING0_OUTGOING_0+L1_0_NOC_RING0_"
     "OUTGOING_1+L1_0_NOC_RING0_INCOMING_0+L1_0_NOC_RING0_INCOMING_1",
     0, 100},
    {"Stall Overlap T0",
     "WAITING_FOR_THCON_IDLE_0+WAITING_FOR_UNPACK_IDLE_0+WAITING_FOR_PACK_IDLE_0+WAITING_FOR_MATH_"
     "IDLE_0+WAITING_FOR_NONZERO_SEM_0+WAITING_FOR_NONFULL_SEM_0+WAITING_FOR_MOVE_IDLE_0+WAITING_"
     "FOR_MMIO_IDLE_0+WAITING_FOR_SFPU_IDLE_0",
     "THREAD_STALLS_0", ALONE, 1},
    {"Stall Overlap T1",
     "WAITING_FOR_THCON_IDLE_1+WAITING_FOR_UNPACK_IDLE_1+WAITING_FOR_PACK_IDLE_1+WAITING_FOR_MATH_"
     "IDLE_1+WAITING_FOR_NONZERO_SEM_1+WAITING_FOR_NONFULL_SEM_1+WAITING_FOR_MOVE_IDLE_1+WAITING_"
     "FOR_MMIO_IDLE_1+WAITING_FOR_SFPU_IDLE_1",
     "THREAD_STALLS_1", ALONE, 1},
    {"Stall Overlap T2",
     "WAITING_FOR_THCON_IDLE_2+WAITING_FOR_UNPACK_IDLE_2+WAITING_FOR_PACK_IDLE_2+WAITING_FOR_MATH_"
     "IDLE_2+WAITING_FOR_NONZERO_SEM_2+WAITING_FOR_NONFULL_SEM_2+WAITING_FOR_MOVE_IDLE_2+WAITING_"
     "FOR_MMIO_IDLE_2+WAITING_FOR_SFPU_IDLE_2",
     "THREAD_STALLS_2", ALONE, 1},
    {"Packer Load Imbalance", "", "", ALONE | IMBALANCE, 100},
    {"Compute-to-Unpack Ratio", "MATH_COUNTER", "UNPACK0_BUSY_THREAD0+UNPACK1_BUSY_THREAD0", ALONE,
     100},
};

enum { METRICS = sizeof metrics / sizeof metrics[0], MAX_TERMS = 12, STATISTICS = 4 };

/* ---- taking counters from the log ---- */

void report_take_counter(report_device_log *read, report_core_run *run,
                         const report_marker *marker) {
    uint64_t number = 0;
    uint64_t value = 0;
    uint64_t reference = 0;
    sb_slice name;
    unsigned counter = REPORT_COUNTERS;
    if (report_meta_text(marker->meta, "counter type", &name))
        counter = report_counter_of(name);
    else if (report_meta_number(marker->meta, "counter type", &number) && number < REPORT_COUNTERS)
        counter = (unsigned)number;
    if (counter == REPORT_COUNTERS || !report_meta_number(marker->meta, "value", &value) ||
        !report_meta_number(marker->meta, "ref cnt", &reference))
        return;
    if (run->counters == NULL)
        run->counters = sb_arena_alloc_zeroed(&read->arena, sizeof *run->counters);
    run->counters->value[counter] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    run->counters->reference[counter] = reference > UINT32_MAX ? UINT32_MAX : (uint32_t)reference;
    run->counters->present[counter] = true;
    read->has_counters = true;
}

/* ---- sums of counters ---- */

typedef struct term {
    unsigned counter;
    int factor;
    bool is_reference;
} term;

typedef struct sum {
    term terms[MAX_TERMS];
    size_t count;
} sum;

typedef struct prepared {
    sum numerator;
    sum denominator;
} prepared;

/* What is known about all counters of a report. */
struct report_metrics {
    bool alone; /* without a host */
    bool seen[REPORT_COUNTERS];
    double totals[REPORT_COUNTERS];
    bool unpacker_is_granted;
    prepared formulas[METRICS];
    double *values; /* of one program, per core */
};

static unsigned packer_port(const report_metrics *of) {
    const unsigned unified = report_counter_of((sb_slice)SB_SLICE("L1_0_UNIFIED_PACKER"));
    return of->seen[unified] ? unified
                             : report_counter_of((sb_slice)SB_SLICE("L1_0_UNPACKER_1_ECC_PACK1"));
}

static void add_term(const report_metrics *of, sum *to, sb_slice text, int sign) {
    term *added = &to->terms[to->count++];
    *added = (term){.factor = sign};
    if (text.size > 2 && text.data[1] == '*') {
        added->factor = sign * (text.data[0] - '0');
        text = sb_slice_after(text, 2);
    }
    added->is_reference = text.size > 0 && text.data[0] == '@';
    if (added->is_reference)
        text = sb_slice_after(text, 1);
    added->counter = sb_slice_is(text, "PACKER_PORT") ? packer_port(of) : report_counter_of(text);
}

static void parse_sum(const report_metrics *of, const char *text, sum *out) {
    int sign = 1;
    const char *start = text;
    out->count = 0;
    for (const char *c = text; text[0] != '\0'; c++) {
        if (*c != '+' && *c != '-' && *c != '\0')
            continue;
        add_term(of, out, (sb_slice){start, (size_t)(c - start)}, sign);
        sign = *c == '-' ? -1 : 1;
        start = c + 1;
        if (*c == '\0')
            break;
    }
}

/* NAN if a counter that others have is not there; one that nobody has is 0 without a host. */
static double evaluate(const report_metrics *of, const sum *terms, const report_counts *counts) {
    double total = 0;
    for (size_t i = 0; i < terms->count; i++) {
        const term *one = &terms->terms[i];
        if (of->alone && !of->seen[one->counter])
            continue;
        if (!counts->present[one->counter])
            return NAN;
        const uint32_t value =
            one->is_reference ? counts->reference[one->counter] : counts->value[one->counter];
        total += one->factor * (double)value;
    }
    return total;
}

static double divide(const report_metrics *of, double numerator, double denominator) {
    if (isnan(numerator) || isnan(denominator) || denominator == 0 ||
        (of->alone && denominator < 0))
        return NAN;
    return numerator / denominator;
}

/* ---- a metric on one core ---- */

static unsigned find(const char *name) {
    return report_counter_of(sb_slice_of(name));
}

static double value_of(const report_metrics *of, const report_counts *counts, const char *name) {
    sum one;
    parse_sum(of, name, &one);
    return evaluate(of, &one, counts);
}

/* If the packers never ran, what they could have done stands in. */
static double packing(const report_metrics *of, const metric *wanted, const report_counts *counts) {
    if (wanted->numerator[0] == 'A')
        return 100 * divide(of, value_of(of, counts, "AVAILABLE_MATH"),
                            value_of(of, counts, "@AVAILABLE_MATH"));
    return 100 * divide(of, value_of(of, counts, "DEST_READ_GRANTED_0"),
                        value_of(of, counts, "PACKER_DEST_READ_AVAILABLE"));
}

static double contention(const report_metrics *of, const report_counts *counts) {
    static const char *const ports[][2] = {
        {"L1_0_UNPACKER_0", "L1_0_UNPACKER_0_GRANT"},
        {"L1_0_NOC_RING0_OUTGOING_0", "L1_0_NOC_RING0_OUTGOING_0_GRANT"},
        {"L1_0_NOC_RING0_OUTGOING_1", "L1_0_NOC_RING0_OUTGOING_1_GRANT"},
        {"L1_0_NOC_RING0_INCOMING_0", "L1_0_NOC_RING0_INCOMING_0_GRANT"},
        {"L1_0_NOC_RING0_INCOMING_1", "L1_0_NOC_RING0_INCOMING_1_GRANT"},
    };
    double total = 0;
    int count = 0;
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        if (!of->alone && (!of->seen[find(ports[i][0])] || !of->seen[find(ports[i][1])]))
            continue;
        const double requests = value_of(of, counts, ports[i][0]);
        const double granted = value_of(of, counts, ports[i][1]);
        if (of->alone && !(requests > 0))
            continue;
        const double pressure = 100 * divide(of, requests - granted, requests);
        total += pressure < 0 ? 0 : pressure;
        count++;
    }
    return count == 0 ? NAN : total / count;
}

static double imbalance(const report_metrics *of, const report_counts *counts) {
    static const char *const engines[] = {"PACKER_BUSY_0", "PACKER_BUSY_1", "PACKER_BUSY_2",
                                          "PACKER_BUSY"};
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        const double busy = value_of(of, counts, engines[i]);
        least = fmin(least, busy);
        most = fmax(most, busy);
    }
    return 100 * divide(of, most - least, most);
}

static double measure(const report_metrics *of, size_t index, const report_counts *counts) {
    const metric *wanted = &metrics[index];
    if ((wanted->flags & CONTENTION) != 0)
        return contention(of, counts);
    if ((wanted->flags & IMBALANCE) != 0)
        return imbalance(of, counts);
    if ((wanted->flags & MEAN_OF_TWO) != 0) {
        const double first = measure(of, index - 2, counts);
        const double second = measure(of, index - 1, counts);
        return isnan(first) ? second : isnan(second) ? first : (first + second) / 2;
    }
    if ((wanted->flags & IF_PACKING) != 0 && !(of->totals[find("PACKER_BUSY")] > 0))
        return packing(of, wanted, counts);
    const double numerator = evaluate(of, &of->formulas[index].numerator, counts);
    const double denominator = evaluate(of, &of->formulas[index].denominator, counts);
    const double value = divide(of, numerator, denominator) * wanted->scale;
    const bool is_clipped =
        (wanted->flags & CLIPPED) != 0 || (of->alone && (wanted->flags & CLIPPED_ALONE) != 0);
    return is_clipped && value < 0 ? 0 : value;
}

/* ---- which metrics there are ---- */

static bool has_all(const report_metrics *of, const sum *terms) {
    for (size_t i = 0; i < terms->count; i++) {
        if (!of->seen[terms->terms[i].counter])
            return false;
    }
    return true;
}

static bool is_shown(const report_metrics *of, size_t index) {
    const metric *wanted = &metrics[index];
    const prepared *formula = &of->formulas[index];
    if ((wanted->flags & ALONE) != 0 && !of->alone)
        return false;
    if ((wanted->flags & IF_LAST) != 0) {
        const term *last = &formula->numerator.terms[formula->numerator.count - 1];
        if (!(of->totals[last->counter] > 0))
            return false;
    }
    if ((wanted->flags & IF_GRANTED) != 0 && !of->unpacker_is_granted)
        return false;
    if ((wanted->flags & IF_NUMERATOR) != 0 &&
        !(of->totals[formula->numerator.terms[0].counter] > 0))
        return !of->alone;
    if ((wanted->flags & ALWAYS) != 0 || of->alone)
        return true;
    if ((wanted->flags & CONTENTION) != 0)
        return of->seen[find("L1_0_UNPACKER_0_GRANT")] &&
               of->seen[find("L1_0_NOC_RING0_OUTGOING_0_GRANT")];
    return has_all(of, &formula->numerator) && has_all(of, &formula->denominator);
}

static int compare_doubles(const void *a, const void *b) {
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

static double median_of(double *values, size_t count) {
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Requests of which hardly any are granted are counted at another place than the grants. */
static bool grants_match(const sb_report *report) {
    const unsigned request = find("L1_0_UNPACKER_0");
    const unsigned grant = find("L1_0_UNPACKER_0_GRANT");
    const double least_ratio = 0.1;
    sb_vector ratios = sb_vector_of(sizeof(double));
    for (size_t i = 0; i < report->program_count; i++) {
        const report_program *program =
            report_program_at(&report->device, report->programs_by_id[i]);
        for (uint32_t k = 0; k < program->run_count; k++) {
            const report_counts *counts = program->runs[k]->counters;
            if (counts != NULL && counts->present[request] && counts->present[grant] &&
                counts->value[request] > 0)
                *(double *)sb_vector_push(&ratios) =
                    (double)counts->value[grant] / (double)counts->value[request];
        }
    }
    const double median = median_of((double *)(void *)ratios.data, ratios.count);
    sb_vector_free(&ratios);
    return median > least_ratio;
}

static void count_all(const sb_report *report, report_metrics *of, uint32_t *most_cores) {
    for (size_t i = 0; i < report->program_count; i++) {
        const report_program *program =
            report_program_at(&report->device, report->programs_by_id[i]);
        if (program->run_count > *most_cores)
            *most_cores = program->run_count;
        for (uint32_t k = 0; k < program->run_count; k++) {
            const report_counts *counts = program->runs[k]->counters;
            for (unsigned c = 0; counts != NULL && c < REPORT_COUNTERS; c++) {
                of->seen[c] = of->seen[c] || counts->present[c];
                of->totals[c] += counts->value[c];
            }
        }
    }
}

report_metrics *report_metrics_create(const sb_report *report) {
    const bool is_wanted = report_wants(report, REPORT_ANALYSIS_COUNTERS) &&
                           !(report->options.compat && report->has_cpp && report->has_host);
    if (!report->device.has_counters || !is_wanted)
        return NULL;
    report_metrics *of = sb_alloc_zeroed(1, sizeof *of);
    uint32_t most_cores = 0;
    of->alone = !report->has_host;
    count_all(report, of, &most_cores);
    of->unpacker_is_granted = grants_match(report);
    of->values = sb_alloc_zeroed((size_t)most_cores + 1, sizeof *of->values);
    for (size_t i = 0; i < METRICS; i++) {
        const char *numerator = metrics[i].numerator;
        if (of->alone && strcmp(metrics[i].name, "Unpacker1 Write Efficiency") == 0)
            numerator = "SRCB_WRITE_ACTUAL";
        parse_sum(of, numerator, &of->formulas[i].numerator);
        parse_sum(of, metrics[i].denominator, &of->formulas[i].denominator);
    }
    return of;
}

void report_metrics_free(report_metrics *of) {
    if (of == NULL)
        return;
    free(of->values);
    free(of);
}

/* ---- columns ---- */

void report_put_counter_titles(const report_metrics *of, sb_output *output) {
    static const char *const statistics[STATISTICS] = {"Min", "Median", "Max", "Avg"};
    for (size_t i = 0; of != NULL && i < METRICS; i++) {
        const metric *shown = &metrics[i];
        for (int k = 0; is_shown(of, i) && k < STATISTICS; k++) {
            if (k == STATISTICS - 1 && (shown->flags & FULL_GRID) != 0)
                sb_put_format(output, ",Avg %s util on full grid (%%)",
                              shown->name[0] == 'M'   ? "Math"
                              : shown->name[0] == 'S' ? "SFPU"
                                                      : "FPU");
            else
                sb_put_format(output, ",%s %s%s", shown->name, statistics[k],
                              (shown->flags & PLAIN) != 0 ? "" : " (%)");
        }
    }
}

static void put_real(sb_output *output, double value) {
    char text[SB_NUMBER_SIZE];
    sb_put_char(output, ',');
    if (isnan(value))
        sb_put_text(output, "nan");
    else
        sb_put(output, (sb_slice){text, sb_format_shortest(value, text)});
}

/* The count of all cores, spread over the whole chip and the time of the kernel. */
static void put_full_grid(const report_metrics *of, size_t index, const report_cells *cells,
                          sb_output *output) {
    const double cores = (double)cells->report->device.log.compute_cores;
    const unsigned counter = of->formulas[index].numerator.terms[0].counter;
    double total = 0;
    bool is_counted = false;
    for (uint32_t i = 0; i < cells->program->run_count; i++) {
        const report_counts *counts = cells->program->runs[i]->counters;
        if (counts == NULL || !counts->present[counter])
            continue;
        total += counts->value[counter];
        is_counted = true;
    }
    if (is_counted && cores > 0 && cells->kernel_cycles > 0)
        put_real(output, total / cores / cells->kernel_cycles * 100);
    else
        sb_put_char(output, ',');
}

static void put_metric(const report_metrics *of, size_t index, const report_cells *cells,
                       sb_output *output) {
    size_t count = 0;
    double total = 0;
    for (uint32_t i = 0; i < cells->program->run_count; i++) {
        const report_counts *counts = cells->program->runs[i]->counters;
        const double value = counts == NULL ? NAN : measure(of, index, counts);
        if (isnan(value))
            continue;
        of->values[count++] = value;
        total += value;
    }
    const double median = median_of(of->values, count);
    put_real(output, count == 0 ? NAN : of->values[0]);
    put_real(output, median);
    put_real(output, count == 0 ? NAN : of->values[count - 1]);
    if ((metrics[index].flags & FULL_GRID) != 0 && !of->alone)
        put_full_grid(of, index, cells, output);
    else
        put_real(output, count == 0 ? NAN : total / (double)count);
}

void report_put_counters(const report_metrics *of, const report_cells *cells, sb_output *output) {
    for (size_t i = 0; of != NULL && i < METRICS; i++) {
        if (!is_shown(of, i))
            continue;
        if (cells->program != NULL)
            put_metric(of, i, cells, output);
        else
            sb_put_text(output, ",,,,");
    }
}
