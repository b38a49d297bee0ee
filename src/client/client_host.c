/* What we tell about this process and this machine. */
#include "client/client.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

const char *client_program_name(void) {
    const char *given = __atomic_load_n(&client_global.program, __ATOMIC_ACQUIRE);
    if (given != NULL)
        return given;
    return program_invocation_short_name != NULL ? program_invocation_short_name : "?";
}

bool client_is_main_thread(uint32_t thread) {
    return thread == (uint32_t)getpid();
}

#if defined(__x86_64__)

/* The brand string: three leaves of sixteen characters. */
static void describe_processor(char *text, size_t size) {
    unsigned words[12] = {0};
    for (unsigned leaf = 0; leaf < 3; leaf++) {
        unsigned *at = words + (size_t)4 * leaf;
        if (!__get_cpuid(0x80000002 + leaf, at, at + 1, at + 2, at + 3))
            words[0] = 0;
    }
    char brand[sizeof words + 1] = "";
    memcpy(brand, words, sizeof words);
    snprintf(text, size, "%s", brand[0] == '\0' ? "unknown" : brand);
}

void client_describe_cpu(sb_wire_welcome *welcome) {
    enum { X64 = 2 };
    unsigned eax = 0;
    unsigned words[3] = {0}; /* ebx, edx, ecx: the order in which the vendor's name is read */
    welcome->cpu_architecture = X64;
    if (__get_cpuid(0, &eax, &words[0], &words[2], &words[1]))
        memcpy(welcome->cpu_manufacturer, words, sizeof words);
    if (__get_cpuid(1, &eax, &words[0], &words[2], &words[1]))
        welcome->cpu_id = (eax & 0xfff) + ((eax & 0x0fff0000) >> 4);
}

#else

static void describe_processor(char *text, size_t size) {
    snprintf(text, size, "unknown");
}

void client_describe_cpu(sb_wire_welcome *welcome) {
    enum { ARM64 = 4 };
#if defined(__aarch64__)
    welcome->cpu_architecture = ARM64;
#else
    (void)welcome;
#endif
}

#endif

void client_describe_host(char *text, size_t size) {
    struct utsname system = {0};
    struct sysinfo memory = {0};
    char processor[64];
    uname(&system);
    sysinfo(&memory);
    describe_processor(processor, sizeof processor);
    const char *user = getenv("USER");
    snprintf(
        text, size,
        "OS: %s %s\nCompiler: %s\nUser: %s@%s\nArch: %s\nCPU: %s\nCPU cores: %ld\nRAM: %llu MB\n",
        system.sysname, system.release, __VERSION__, user != NULL ? user : "?", system.nodename,
        system.machine, processor, sysconf(_SC_NPROCESSORS_ONLN),
        (unsigned long long)memory.totalram * memory.mem_unit >> 20);
}
