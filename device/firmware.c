/*
 * Firmware of the five processors, built once for each (STROBE_PROCESSOR).
 *
 * BRISC is the master of its tile: it starts the others, waits for the host's go, lets those that
 * have a kernel run, runs its own, waits for all and tells the host. The others wait for their sync
 * word. Kernels lie at fixed places in L1, where the host has put them before it says go.
 */
#include <stdint.h>

#define STROBE_FIRMWARE
#include <strobe/kernel_layout.h>
#include <strobe/kernel_profiler.h>

#define MASTER 0u

#if STROBE_PROCESSOR == 0
#define PROCESSOR_NAME "BRISC"
#elif STROBE_PROCESSOR == 1
#define PROCESSOR_NAME "NCRISC"
#else
#define PROCESSOR_NAME "TRISC"
#endif

static volatile sb_mailbox *mail(void) {
    return (volatile sb_mailbox *)SB_L1_MAILBOX;
}

#include "firmware_profiler.h"

static void run_kernel(void) {
    void (*const kernel)(void) =
        (void (*)(void))(SB_L1_KERNELS + STROBE_PROCESSOR * SB_L1_KERNEL_BYTES);
    profiler_expect_kernel();
    DeviceZoneScopedMainChildN(PROCESSOR_NAME "-KERNEL");
    kernel();
}

#if STROBE_PROCESSOR == MASTER

#define SOFT_RESET 0xFFB121B0u
/* Start addresses of the others: configuration words 158 to 163. */
#define CONFIG_WORD(index) (0xFFEF0000u + (index)*4u)
#define TRISC0_PC 158u
#define TRISC_OVERRIDE 161u
#define NCRISC_PC 162u
#define NCRISC_OVERRIDE 163u

static void store(uint32_t address, uint32_t value) {
    *(volatile uint32_t *)address = value;
}

/* BRISC's firmware takes 8 KiB, that of each other processor 4. */
static uint32_t firmware_of(uint32_t processor) {
    return SB_L1_FIRMWARE + 0x2000u + (processor - 1) * 0x1000u;
}

static void wait_for(uint32_t processors) {
    for (uint32_t i = 1; i < SB_PROCESSORS; i++)
        if ((processors >> i & 1) != 0)
            while (mail()->sync[i] != SB_DONE) {
            }
}

static void start_others(void) {
    for (uint32_t i = 1; i < SB_PROCESSORS; i++)
        mail()->sync[i] = SB_INIT;
    for (uint32_t i = 0; i < 3; i++)
        store(CONFIG_WORD(TRISC0_PC + i), firmware_of(2 + i));
    store(CONFIG_WORD(TRISC_OVERRIDE), 7);
    store(CONFIG_WORD(NCRISC_PC), firmware_of(1));
    store(CONFIG_WORD(NCRISC_OVERRIDE), 1);
    store(SOFT_RESET, 0);
    wait_for((1u << SB_PROCESSORS) - 1);
}

/* Circular buffers are empty when a program begins. */
static void clear_circular(uint32_t mask) {
    for (uint32_t i = 0; mask != 0; i++, mask >>= 1) {
        volatile sb_circular *buffer =
            (volatile sb_circular *)(SB_L1_CIRCULAR + i * sizeof(sb_circular));
        if ((mask & 1) != 0) {
            buffer->received = 0;
            buffer->acked = 0;
        }
    }
}

static void start_kernels(uint32_t processors) {
    PROFILER_STEP(PROCESSOR_NAME "-GO");
    clear_circular(mail()->launch.circular);
    for (uint32_t i = 1; i < SB_PROCESSORS; i++)
        if ((processors >> i & 1) != 0)
            mail()->sync[i] = SB_GO;
}

static void wait_for_kernels(uint32_t processors) {
    PROFILER_STEP(PROCESSOR_NAME "-WAIT");
    wait_for(processors);
}

/* One program, from the host's go to all processors being done. */
static void run_program(void) {
    DeviceZoneScopedMainN(PROCESSOR_NAME "-FW");
    const uint32_t processors = mail()->launch.processors;
    DeviceValidateProfiler(processors != 0);
    profiler_begin(processors);
    start_kernels(processors);
    if ((processors >> MASTER & 1) != 0)
        run_kernel();
    wait_for_kernels(processors);
    profiler_read_counters(processors);
}

static void firmware_main(void) {
    start_others();
    profiler_start();
    for (;;) {
        mail()->go = SB_DONE;
        while (mail()->go != SB_GO) {
        }
        run_program();
        profiler_finish();
    }
}

#else

/* The end of its zone is there before BRISC is told. */
static void run_program(void) {
    DeviceZoneScopedMainN(PROCESSOR_NAME "-FW");
    run_kernel();
}

static void firmware_main(void) {
    for (;;) {
        mail()->sync[STROBE_PROCESSOR] = SB_DONE;
        while (mail()->sync[STROBE_PROCESSOR] != SB_GO) {
        }
        run_program();
    }
}

#endif

/* The stack begins at the end of local memory. Registers hold anything when a processor starts. */
__attribute__((section(".text.start"), naked, used)) void firmware_start(void);

void firmware_start(void) {
    __asm__ volatile("li sp, %0\n\tj %1" : : "i"(SB_STACK_TOP), "i"(firmware_main));
}
