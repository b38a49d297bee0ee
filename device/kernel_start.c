/*
 * What is linked into every kernel: its start, its NoC and circular-buffer state, printing, and the
 * few functions that the compiler calls on its own. Firmware calls kernel_start, which lies at the
 * beginning of the kernel's place in L1.
 */
#include <stdarg.h>
#include <stddef.h>

#include <strobe/kernel.h>

#include "kernel_start.h"

uint16_t sb_circular_read[SB_CIRCULAR_MAX];
uint16_t sb_circular_write[SB_CIRCULAR_MAX];

#if STROBE_PROCESSOR == BRISC || STROBE_PROCESSOR == NCRISC
sb_noc_state sb_noc;

static void start_noc(void) {
    const uint32_t own = *sb_word(0xFFB20138u);
    sb_noc = (sb_noc_state){
        .reads = sb_noc_counter(SB_COUNTER_READS),
        .acks = sb_noc_counter(SB_COUNTER_ACKS),
        .writes_sent = sb_noc_counter(SB_COUNTER_WRITES_SENT),
        .posted_sent = sb_noc_counter(SB_COUNTER_POSTED_SENT),
        .atomics = sb_noc_counter(SB_COUNTER_ATOMICS),
        .own = (own & 0xFFF) << 4,
    };
    noc_async_read_set_trid(0);
    noc_async_write_set_trid(0);
}
#else
static void start_noc(void) {
    /* TRISCs have no NoC of their own. */
}
#endif

/* From the linker script. */
extern uint32_t sb_data_image[];
extern uint32_t sb_data_begin[];
extern uint32_t sb_data_end[];
extern uint32_t sb_bss_end[];
extern uint32_t sb_stack_limit[];

/* Words, and not by memcpy: these loops are what memcpy would be made of. */
static void start_data(void) {
    const uint32_t *from = sb_data_image;
    for (uint32_t *to = sb_data_begin; to < sb_data_end; to++)
        *to = *from++;
    for (uint32_t *to = sb_data_end; to < sb_bss_end; to++)
        *to = 0;
}

/* ---- stack ---- */

/*
 * The guard is the end of the stack's room. A frame may step over a word without writing it, so it
 * is several.
 */
#define GUARD_WORDS 4u

static void set_guard(void) {
    for (uint32_t i = 0; i < GUARD_WORDS; i++)
        ((volatile uint32_t *)sb_stack_limit)[i] = SB_STACK_GUARD;
}

static bool is_guard_broken(void) {
    for (uint32_t i = 0; i < GUARD_WORDS; i++)
        if (((volatile uint32_t *)sb_stack_limit)[i] != SB_STACK_GUARD)
            return true;
    return false;
}

/* Everything from the guard up to what start itself uses. */
static void paint_stack(void) {
    const uint32_t end = (uint32_t)__builtin_frame_address(0) - 64;
    for (volatile uint32_t *word = sb_stack_limit + GUARD_WORDS; (uint32_t)word < end; word++)
        *word = SB_STACK_PAINT;
}

static void measure_stack(void) {
    const volatile uint32_t *word = sb_stack_limit + GUARD_WORDS;
    while (*word == SB_STACK_PAINT)
        word++;
    const uint32_t top = 0xFFB00000u + (STROBE_PROCESSOR <= NCRISC ? 4096u : 2048u);
    sb_mail()->stack_bytes[STROBE_PROCESSOR] = top - (uint32_t)word;
}

/* ---- counters ---- */

#if defined(PROFILE_PERF_COUNTERS) && STROBE_PROCESSOR == TRISC1
/* A bit acts when it is set. */
static void set_counters(uint32_t control) {
    *sb_word(SB_COUNTER_CONTROL) = 0;
    *sb_word(SB_COUNTER_CONTROL) = control;
}

/* They run as long as the kernel of the processor that computes; BRISC reads them later. */
static void run_kernel_main(void) {
    *sb_word(SB_COUNTER_PERIOD) = UINT32_MAX;
    *sb_word(SB_COUNTER_MODE) = 0;
    set_counters(SB_COUNTER_START);
    kernel_main();
    set_counters(SB_COUNTER_STOP);
}
#else
static void run_kernel_main(void) {
    kernel_main();
}
#endif

__attribute__((section(".text.start"), used)) void kernel_start(void);

void kernel_start(void) {
    volatile sb_mailbox *mail = sb_mail();
    start_data();
    start_noc();
    set_guard();
    if (mail->paints_stack)
        paint_stack();
    sb_profiler_start();
    run_kernel_main();
    sb_profiler_finish();
    if (is_guard_broken())
        mail->overflows[STROBE_PROCESSOR] = 1;
    if (mail->paints_stack)
        measure_stack();
}

/* ---- print ---- */

/* What may stand between % and the letter: a width, and how long the value is. */
static bool is_modifier(char letter) {
    return letter == '-' || letter == 'l' || letter == 'h' || (letter >= '0' && letter <= '9');
}

static uint32_t count_conversions(const char *format) {
    uint32_t count = 0;
    for (; *format != '\0'; format++) {
        if (*format != '%')
            continue;
        format++;
        while (is_modifier(*format))
            format++;
        if (*format == '\0')
            break;
        count += *format != '%' ? 1u : 0u;
    }
    return count;
}

static void put_word(volatile sb_print_buffer *buffer, uint32_t at, uint32_t word) {
    buffer->words[at % SB_PRINT_WORDS] = word;
}

void sb_dprint(const char *format, ...) {
    volatile sb_print_buffer *buffer =
        (volatile sb_print_buffer *)(SB_L1_PRINT + STROBE_PROCESSOR * SB_L1_PRINT_BYTES);
    if ((sb_mail()->print_mask >> STROBE_PROCESSOR & 1) == 0)
        return;
    const uint32_t count = count_conversions(format);
    const uint32_t start = buffer->written;
    if (count + 2 > SB_PRINT_WORDS)
        return;
    while (start + count + 2 - buffer->read > SB_PRINT_WORDS) {
    }
    put_word(buffer, start, (uint32_t)format);
    put_word(buffer, start + 1, count);
    va_list values;
    va_start(values, format);
    for (uint32_t i = 0; i < count; i++)
        put_word(buffer, start + 2 + i, va_arg(values, uint32_t));
    va_end(values);
    buffer->written = start + 2 + count;
}

/* ---- what the compiler calls ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    char *out = to;
    const char *in = from;
    while (size-- > 0)
        *out++ = *in++;
    return to;
}

void *memset(void *to, int value, size_t size) {
    char *out = to;
    while (size-- > 0)
        *out++ = (char)value;
    return to;
}
