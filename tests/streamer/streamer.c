/*
 * A program to be recorded: speaks any protocol, sends as many zones as asked for, and can be told
 * to misbehave. For fault tests and benchmarks.
 *
 *   streamer --port P [--protocol N] [--zones N] [--kind realistic|identical] [--prepared]
 *            [--rate ZONES_PER_S] [--cut BYTES] [--garbage BYTES] [--silent] [--gone] [--once]
 *
 * Zone k of the realistic kind starts later than zone k - 1, so that a recording can be checked for
 * gaps. --prepared encodes everything before it listens, so that a benchmark does not measure the
 * encoder. --cut closes the connection in the middle of the frame after so many bytes, --garbage
 * sends bytes that do not unpack there, --silent never answers a hello, --gone says that it was
 * recorded before. Prints "listening PORT", "began SECONDS" when it is welcomed, "sent ZONES
 * SECONDS" when all is sent and "closed SECONDS" at the end, the seconds by CLOCK_MONOTONIC.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "wire/wire.h"

enum {
    LOCATIONS = 64,
    DEPTH_MAX = 12,
    RUN = 4096,
    WAIT_MS = 20000,
    ANSWERS_MS = 60000,
    TICK_START = 1000000,
    LOCATION_TOKENS = 0x10000,
    STRING_TOKENS = 0x20000,
    THREAD = 77,
};

typedef struct streamer {
    uint16_t port;
    uint32_t protocol;
    uint64_t zones;
    uint64_t rate;
    uint64_t cut;
    uint64_t garbage;
    bool identical;
    bool prepared;
    bool silent;
    bool gone;

    int socket;
    uint64_t sent_bytes;
    sb_wire_encoder *encoder;
    uint8_t *memory; /* what was prepared */
    size_t memory_size;
    size_t memory_capacity;
    bool is_preparing;
    bool is_over; /* the recorder has said goodbye, or is gone */
    uint64_t random;
    int64_t tick;
    unsigned depth;
    uint64_t begun;
} streamer;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    return (double)sb_clock_ns() / 1e9;
}

/* ---- sending ---- */

static bool misbehave(streamer *of, const void *bytes, size_t size) {
    if (of->cut > 0 && of->sent_bytes + size > of->cut) {
        sb_socket_write(of->socket, bytes, size / 2, WAIT_MS);
        of->is_over = true;
        return true;
    }
    if (of->garbage > 0 && of->sent_bytes + size > of->garbage) {
        static const uint8_t block[] = {5, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff};
        sb_socket_write(of->socket, block, sizeof block, WAIT_MS);
        of->garbage = 0;
        return true;
    }
    return false;
}

static bool send_bytes(void *context, const void *bytes, size_t size) {
    streamer *of = context;
    if (of->is_preparing) {
        if (of->memory_size + size > of->memory_capacity) {
            of->memory_capacity = 2 * (of->memory_size + size);
            of->memory = realloc(of->memory, of->memory_capacity);
            if (of->memory == NULL)
                fail("memory");
        }
        memcpy(of->memory + of->memory_size, bytes, size);
        of->memory_size += size;
        return true;
    }
    if (of->is_over || misbehave(of, bytes, size))
        return !of->is_over;
    if (!sb_socket_write(of->socket, bytes, size, WAIT_MS))
        of->is_over = true;
    of->sent_bytes += size;
    return !of->is_over;
}

/* ---- answers ---- */

static void answer_text(streamer *of, sb_wire_kind kind, uint64_t token, const char *text) {
    sb_wire_encode(
        of->encoder,
        &(sb_wire_event){.kind = (uint8_t)kind, .token = token, .text = sb_slice_of(text)});
}

static void answer(streamer *of, const sb_wire_query *query) {
    char text[64];
    snprintf(text, sizeof text, "name %" PRIu64, query->token % LOCATION_TOKENS);
    switch (query->kind) {
    case SB_WIRE_ASK_STRING:
        answer_text(of, SB_WIRE_STRING, query->token, text);
        break;
    case SB_WIRE_ASK_THREAD_NAME:
        answer_text(of, SB_WIRE_THREAD_NAME, query->token, "streamer");
        break;
    case SB_WIRE_ASK_SOURCE_LOCATION:
        sb_wire_encode(of->encoder,
                       &(sb_wire_event){.kind = SB_WIRE_SOURCE_LOCATION,
                                        .token = STRING_TOKENS + query->token % LOCATIONS,
                                        .function = STRING_TOKENS + LOCATIONS,
                                        .file = STRING_TOKENS + LOCATIONS + 1,
                                        .line = (uint32_t)(query->token % LOCATIONS) + 1});
        break;
    case SB_WIRE_ASK_TERMINATE:
        of->is_over = true;
        break;
    case SB_WIRE_ASK_DISCONNECT:
        sb_wire_encode(of->encoder, &(sb_wire_event){.kind = SB_WIRE_TERMINATE});
        break;
    default:
        sb_wire_encode(of->encoder, &(sb_wire_event){.kind = SB_WIRE_ACK});
    }
}

/* Answers what was asked by now; waits up to the limit for the first question. */
static void answer_questions(streamer *of, int timeout_ms) {
    while (!of->is_over && sb_socket_readable(of->socket, timeout_ms)) {
        uint8_t bytes[SB_WIRE_QUERY_SIZE];
        sb_wire_query query;
        if (!sb_socket_read(of->socket, bytes, sizeof bytes, WAIT_MS)) {
            of->is_over = true;
            return;
        }
        if (sb_wire_query_decode(sb_wire_encoder_protocol(of->encoder), bytes, &query))
            answer(of, &query);
        timeout_ms = 0;
    }
}

/* ---- zones ---- */

static uint64_t next_random(streamer *of) {
    of->random ^= of->random << 13;
    of->random ^= of->random >> 7;
    of->random ^= of->random << 17;
    return of->random;
}

static sb_wire_zone next_zone(streamer *of) {
    enum { STEP = 20, SPREAD = 500, JITTER = 8 };
    const uint64_t random = next_random(of);
    of->tick += STEP + (int64_t)((random >> 40) % (of->identical ? JITTER : SPREAD));
    const bool may_begin = of->begun < of->zones;
    const bool begins =
        of->identical ? of->depth == 0 : of->depth == 0 || (of->depth < DEPTH_MAX && (random & 1));
    if (begins && may_begin) {
        of->depth++;
        of->begun++;
        const uint64_t location = of->identical ? 0 : (random >> 8) % LOCATIONS;
        return (sb_wire_zone){of->tick, LOCATION_TOKENS + location * 64};
    }
    of->depth--;
    return (sb_wire_zone){of->tick, SB_WIRE_END_ZONE};
}

static void send_zones(streamer *of) {
    sb_wire_zone zones[RUN];
    const double start = now();
    sb_wire_encode_thread(of->encoder, THREAD);
    while (!of->is_over && (of->begun < of->zones || of->depth > 0)) {
        size_t count = 0;
        while (count < RUN && (of->begun < of->zones || of->depth > 0))
            zones[count++] = next_zone(of);
        sb_wire_encode_zones(of->encoder, zones, count);
        if (of->is_preparing)
            continue;
        answer_questions(of, 0);
        if (of->rate == 0)
            continue;
        sb_wire_encoder_flush(of->encoder);
        const double due = start + (double)of->begun / (double)of->rate;
        if (due > now())
            poll(NULL, 0, (int)((due - now()) * 1000) + 1);
    }
}

/* ---- a connection ---- */

static sb_wire_welcome make_welcome(void) {
    return (sb_wire_welcome){.timer_multiplier = 1,
                             .init_begin = TICK_START,
                             .init_end = TICK_START,
                             .resolution = 1,
                             .epoch = 1700000000,
                             .process_id = (uint64_t)getpid(),
                             .cpu_architecture = 2,
                             .program = "streamer",
                             .host = "OS: any\n"};
}

static bool greet(streamer *of, const sb_wire_protocol *protocol) {
    uint8_t hello[SB_WIRE_HELLO_SIZE];
    uint8_t bytes[SB_WIRE_WELCOME_MAX];
    uint32_t number = 0;
    if (!sb_socket_read(of->socket, hello, sizeof hello, WAIT_MS) ||
        !sb_wire_hello_decode(hello, &number))
        return false;
    if (of->silent) {
        sb_socket_readable(of->socket, WAIT_MS);
        return false;
    }
    const bool is_right = number == sb_wire_protocol_number(protocol);
    const uint8_t status = of->gone   ? SB_WIRE_NOT_AVAILABLE
                           : is_right ? SB_WIRE_WELCOME
                                      : SB_WIRE_MISMATCH;
    sb_socket_write(of->socket, &status, 1, WAIT_MS);
    if (status != SB_WIRE_WELCOME)
        return false;
    const sb_wire_welcome welcome = make_welcome();
    sb_wire_welcome_encode(protocol, &welcome, bytes);
    return sb_socket_write(of->socket, bytes, sb_wire_welcome_size(protocol), WAIT_MS);
}

static void stream(streamer *of) {
    printf("began %.6f\n", now());
    fflush(stdout);
    if (of->prepared) {
        for (size_t at = 0; at < of->memory_size && !of->is_over;) {
            const size_t size = 4 + sb_wire_block_size(of->memory + at);
            send_bytes(of, of->memory + at, size);
            at += size;
        }
    } else {
        send_zones(of);
    }
    sb_wire_encode(of->encoder, &(sb_wire_event){.kind = SB_WIRE_TERMINATE});
    sb_wire_encoder_flush(of->encoder);
    printf("sent %" PRIu64 " %.6f\n", of->begun, now());
    fflush(stdout);
    const double deadline = now() + ANSWERS_MS / 1e3;
    while (!of->is_over && now() < deadline) {
        answer_questions(of, 100);
        sb_wire_encoder_flush(of->encoder);
    }
    printf("closed %.6f\n", now());
    fflush(stdout);
}

static void prepare(streamer *of) {
    of->is_preparing = true;
    send_zones(of);
    sb_wire_encoder_flush(of->encoder);
    of->is_preparing = false;
}

/* ---- arguments ---- */

static uint64_t number_after(int argc, char **argv, const char *name, uint64_t other) {
    int64_t value = 0;
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0 && sb_parse_int64(sb_slice_of(argv[i + 1]), &value))
            return (uint64_t)value;
    }
    return other;
}

static bool has(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv) {
    streamer of = {.port = (uint16_t)number_after(argc, argv, "--port", 0),
                   .protocol = (uint32_t)number_after(argc, argv, "--protocol", 82),
                   .zones = number_after(argc, argv, "--zones", 100000),
                   .rate = number_after(argc, argv, "--rate", 0),
                   .cut = number_after(argc, argv, "--cut", 0),
                   .garbage = number_after(argc, argv, "--garbage", 0),
                   .identical = has(argc, argv, "identical"),
                   .prepared = has(argc, argv, "--prepared"),
                   .silent = has(argc, argv, "--silent"),
                   .gone = has(argc, argv, "--gone"),
                   .random = 88172645463325252U,
                   .tick = TICK_START};
    const sb_wire_protocol *protocol = sb_wire_protocol_any(of.protocol);
    if (protocol == NULL)
        return 2;
    of.encoder = sb_wire_encoder_create(protocol, send_bytes, &of);
    if (of.prepared)
        prepare(&of);
    const int listener = sb_socket_listen(&of.port);
    if (listener < 0)
        fail("listen");
    printf("listening %u\n", of.port);
    fflush(stdout);
    const int64_t deadline = sb_clock_ns() + INT64_C(60000000000);
    while (sb_clock_ns() < deadline) {
        of.socket = sb_socket_accept(listener, WAIT_MS);
        if (of.socket < 0)
            continue;
        const bool is_welcome = greet(&of, protocol);
        if (is_welcome)
            stream(&of);
        close(of.socket);
        if (is_welcome)
            break;
    }
    close(listener);
    sb_wire_encoder_free(of.encoder);
    free(of.memory);
    return 0;
}
