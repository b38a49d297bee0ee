/* Options: from the environment, and from a program that starts the client itself. */
#include "client/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_MEMORY_MIB = 256, DEFAULT_EXIT_TIMEOUT_MS = 5000, TIMEOUT_MAX_S = 86400 };

void client_say(const char *format, ...) {
    char text[4096 + 256] = "strobe: ";
    const size_t begin = strlen(text);
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(text + begin, sizeof text - begin - 1, format, values);
    va_end(values);
    if (size < 0)
        return;
    size_t end = begin + (size_t)size;
    if (end > sizeof text - 2)
        end = sizeof text - 2;
    text[end] = '\n';
    (void)!write(STDERR_FILENO, text, end + 1);
}

/* The variable's text; NULL if it is not there or empty. */
static const char *value_of(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool is_set(const char *name) {
    const char *value = value_of(name);
    return value != NULL && strcmp(value, "0") != 0;
}

static bool begins_with_digit(const char *text) {
    return text[0] >= '0' && text[0] <= '9';
}

/* How far to shift for what stands behind a number of bytes; -1: that is no unit. */
static int shift_of(const char *unit) {
    static const struct {
        char letter;
        int shift;
    } units[] = {{'k', 10}, {'m', 20}, {'g', 30}, {'t', 40}};
    if (unit[0] == '\0')
        return 0;
    const char *rest = unit + 1;
    if (strcmp(rest, "") != 0 && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0)
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if ((unit[0] | 0x20) == units[i].letter)
            return units[i].shift;
    }
    return -1;
}

static uint64_t bytes_of(const char *name, uint64_t otherwise) {
    const char *value = value_of(name);
    if (value == NULL)
        return otherwise;
    char *unit = NULL;
    errno = 0;
    const uint64_t number = begins_with_digit(value) ? strtoull(value, &unit, 10) : 0;
    const int shift = unit != NULL && errno == 0 ? shift_of(unit) : -1;
    if (shift >= 0 && number <= UINT64_MAX >> shift)
        return number << shift;
    client_say("%s=%s is no size such as 64M or 1G; it is taken as %lluM", name, value,
               (unsigned long long)(otherwise >> 20));
    return otherwise;
}

static uint32_t seconds_as_ms(const char *name, uint32_t otherwise) {
    const char *value = value_of(name);
    if (value == NULL)
        return otherwise;
    char *end = NULL;
    const double seconds = begins_with_digit(value) || value[0] == '.' ? strtod(value, &end) : -1;
    if (end != NULL && *end == '\0' && seconds >= 0)
        return seconds < TIMEOUT_MAX_S ? (uint32_t)(seconds * 1000) : TIMEOUT_MAX_S * 1000U;
    client_say("%s=%s is no number of seconds; it is taken as %u", name, value, otherwise / 1000);
    return otherwise;
}

/* A number from 1 on; 0: it is none, or larger than that. */
static uint32_t number_of(const char *value, uint32_t max) {
    char *end = NULL;
    errno = 0;
    const unsigned long number = begins_with_digit(value) ? strtoul(value, &end, 10) : 0;
    const bool is_number = end != NULL && *end == '\0' && errno == 0;
    return is_number && number <= max ? (uint32_t)number : 0;
}

/* 0: the variable is not there, or is no port. */
static uint32_t port_of(const char *name) {
    enum { PORT_MAX = 65535 };
    const char *value = value_of(name);
    const uint32_t port = value == NULL ? 0 : number_of(value, PORT_MAX);
    if (value != NULL && port == 0)
        client_say("%s=%s is no port (1 to %d); the first free one from %d on is taken", name,
                   value, PORT_MAX, SB_WIRE_PORT);
    return port;
}

/* 0: the variable is not there, or no protocol has this number. */
static uint32_t protocol_of(const char *name) {
    const char *value = value_of(name);
    const uint32_t number = value == NULL ? 0 : number_of(value, UINT32_MAX);
    if (value == NULL || sb_wire_protocol_any(number) != NULL)
        return number;
    client_say("%s=%s is no protocol that is spoken; the newest is announced", name, value);
    return 0;
}

/* Flags that a variable switches on. */
static const struct {
    const char *variable;
    uint32_t flag;
} flag_variables[] = {
    {"TRACY_ON_DEMAND", SB_ON_DEMAND},
    {"STROBE_ON_DEMAND", SB_ON_DEMAND},
    {"TRACY_NO_EXIT", SB_NO_EXIT},
    {"STROBE_NO_EXIT", SB_NO_EXIT},
    {"STROBE_ALL_INTERFACES", SB_ALL_INTERFACES},
    {"TRACY_NO_BROADCAST", SB_NO_BROADCAST},
    {"STROBE_NO_BROADCAST", SB_NO_BROADCAST},
    {"TRACY_ONLY_IPV4", SB_IPV4_ONLY},
    {"STROBE_TT", SB_TENSTORRENT},
};

static uint32_t flags_of_environment(void) {
    uint32_t flags = 0;
    for (size_t i = 0; i < sizeof flag_variables / sizeof flag_variables[0]; i++) {
        if (is_set(flag_variables[i].variable))
            flags |= flag_variables[i].flag;
    }
    const char *only_local = value_of("TRACY_ONLY_LOCALHOST");
    if (only_local != NULL && strcmp(only_local, "0") == 0)
        flags |= SB_ALL_INTERFACES;
    const char *clock = value_of("STROBE_CLOCK");
    if (clock != NULL && strcmp(clock, "monotonic") == 0)
        flags |= SB_MONOTONIC_CLOCK;
    else if (clock != NULL && strcmp(clock, "counter") != 0)
        client_say("STROBE_CLOCK=%s is neither counter nor monotonic; it is taken as counter",
                   clock);
    return flags;
}

void client_read_options(const sb_client_options *given) {
    client_options *options = &client_global.options;
    options->flags |= flags_of_environment();
    if (given != NULL && given->size >= 8)
        options->flags |= given->flags;
    if (given != NULL && given->size >= 12 && given->port != 0)
        options->port = given->port;
    const uint32_t port = port_of("TRACY_PORT");
    if (port != 0)
        options->port = port;
    options->memory = bytes_of("STROBE_MEMORY", (uint64_t)DEFAULT_MEMORY_MIB << 20);
    options->exit_timeout_ms = seconds_as_ms("STROBE_EXIT_TIMEOUT", DEFAULT_EXIT_TIMEOUT_MS);
    options->protocol = protocol_of("STROBE_PROTOCOL");
    const char *out = value_of("STROBE_OUT");
    if (options->out[0] == '\0' && out != NULL)
        snprintf(options->out, sizeof options->out, "%s", out);
}
