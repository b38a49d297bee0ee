/*
 * client: libstrobe, the library that instrumented programs link.
 *
 * Its interface is include/strobe/strobe.h (and, under Tracy's names, include/tracy/). This header
 * is what its own files share:
 *
 *   client_zone.c       zones: the hot path
 *   client_event.c      messages, frames, plots, fibers, sections, parameters
 *   client_serial.c     what is ordered across threads: memory, locks, devices
 *   client_lane.c       a thread's lane: records into chunks, definitions, losses
 *   client_pool.c       where chunks come from: memory within its bound, or a recording file
 *   client_start.c      start, stop, fork
 *   client_options.c    options, and what is said about them
 *   client_sender.c     the one thread of our own: waits for readers, or seals a file's chunks
 *   client_session.c    one reader: drains lanes, translates, answers questions
 *   client_listener.c   socket, announcement, handshake
 *   client_clock.c, client_host.c, client_image.c, client_set.c, client_text.c   what their names
 *                       say
 *   client_tracy*.c     the functions of Tracy's C interface
 *
 * How it works. Every thread that records owns a lane (see record/record.h for what stands in it)
 * and writes to it without locks. The sender translates lanes into events and encodes these for the
 * reader. sb_client_state says in one word whether and for whom to record; a thread that finds it
 * changed takes the slow path once. Nothing that threads do waits for the sender: when chunks run
 * out, events are dropped, counted, and the count is told.
 *
 * Who owns what: a lane belongs to its thread until that ends, then to whoever takes it from the
 * list of free lanes. Chunks belong to the lane that writes them, then, once the next one is
 * linked, to the sender. client_global is written at start and by the sender.
 *
 * We live in somebody else's process: no base/memory.h, no log, no signal of ours, no exit.
 */
#ifndef SB_CLIENT_CLIENT_H
#define SB_CLIENT_CLIENT_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

#include <strobe/strobe.h>

enum {
    /* Places at the end of a chunk that begins leave to the ends of zones, which must not fail. */
    CLIENT_RESERVED_WORDS = 64,
    CLIENT_WORDS_TO_END = 2, /* for the word that ends a chunk */
    CLIENT_STRINGS_SEEN = 128,
    CLIENT_GENERATION_SHIFT = 56,
    CLIENT_TEXT_MAX = 65000, /* what the wire can carry of a text, with room for its neighbours */
};

/* sb_client_state before anything was started: not 0, so that the first event starts the client. */
#define CLIENT_NOT_STARTED UINT32_MAX

/* ---- sets ---- */

/* Numbers other than 0. */
typedef struct client_set {
    uint64_t *elements;
    size_t capacity;
    size_t count;
} client_set;

bool client_set_has(const client_set *set, uint64_t element);
void client_set_add(client_set *set, uint64_t element);
void client_set_free(client_set *set);

/* ---- lanes ---- */

typedef struct client_lane {
    /* Of the thread that writes; what zones need of it comes first, see strobe/zone.h. */
    sb_lane front;
    uint64_t state; /* sb_client_state as this lane last saw it */
    sb_chunk *chunk;
    uint64_t seen_strings[CLIENT_STRINGS_SEEN];
    client_set defined; /* all of it, for when two share a place above */
    uint32_t id;
    uint32_t thread;
    uint64_t lost[SB_RECORD_CAUSES]; /* stored by the thread, loaded by the sender as well */
    uint64_t told[SB_RECORD_CAUSES]; /* how many of these were written into the lane */
    struct client_lane *home;        /* in a fiber: the lane to come back to */
    struct client_lane *next_free;
    /* Of the sender. */
    sb_chunk *reading; /* NULL: nothing read yet */
    const uint64_t *read_at;
    sb_record_lane record;
    bool is_draining;
    /* For both: the first chunk, stored with release order, and the list of all lanes. */
    sb_chunk *first;
    struct client_lane *next;
} client_lane;

/* The lane of this thread; NULL before its first event. */
static inline client_lane *client_this_lane(void) {
    return (client_lane *)sb_this_lane_1;
}

static inline bool client_lane_is_writing(const client_lane *lane) {
    return lane->front.ready_for == SB_LANE_IS_WRITING;
}

/* This thread is at work for the client: what it does (allocating, for one) is not recorded. */
extern _Thread_local bool client_is_inside __attribute__((tls_model("initial-exec")));

/* The lane for an event of this thread, ready for the state given; NULL: do not record. */
client_lane *client_lane_prepare(uint64_t state);
/* The two lanes that all threads share; under client_serial_lock. */
extern pthread_mutex_t client_serial_lock;
client_lane *client_shared_lane(uint32_t id);
/* Brings a shared lane up to a state; false: nothing can be recorded in it now. */
bool client_shared_lane_prepare(client_lane *lane, uint64_t state);
/* For fork: holds the list of lanes still, and forgets them all in the child. */
void client_lanes_lock(void);
void client_lanes_unlock(void);
void client_lanes_forget(void);
/* Threads that end from now on are not noticed. */
void client_lanes_stop(void);
/* A lane from the free ones, or a new one; NULL without memory. */
client_lane *client_lane_take(void);
void client_lane_release(client_lane *lane);
/* Events that were lost and could not even be told of. */
uint64_t client_lanes_untold(void);
/* All lanes there are, newest first. */
client_lane *client_lanes(void);
client_lane *client_lane_find(uint32_t id);

/*
 * Room for a record of so many words; the caller fills words 1.. and publishes. NULL: there is no
 * room, and the loss is counted. `must_fit`: the end of something that was recorded, which may use
 * the reserve and memory beyond the bound.
 */
uint64_t *client_record_begin(client_lane *lane, size_t words, bool must_fit);
void client_record_publish(client_lane *lane, size_t words, uint64_t stamp);
/* A record without payload, stamped with now. */
bool client_record_words(client_lane *lane, sb_record_kind kind, const uint64_t *words,
                         size_t count);
/*
 * A record with a payload in up to three pieces; words[0] is word 2. What is longer than a record
 * can be goes in parts.
 */
bool client_record_payload(client_lane *lane, sb_record_kind kind, uint32_t upper,
                           const uint64_t *words, size_t count, const sb_slice *pieces,
                           size_t piece_count);
void client_count_loss(client_lane *lane, sb_record_cause cause);
/* Tokens of what is defined in this lane; 0: there was no room for the definition. */
uint64_t client_location(client_lane *lane, const sb_source_location *location);
uint64_t client_string(client_lane *lane, const char *literal);
/* The call stack of the caller, for the next record. */
void client_record_stack(client_lane *lane, int32_t depth);
uint64_t client_lane_position(const client_lane *lane);
/* The word that says how long the three texts of a location are; the first may be absent. */
uint64_t client_text_sizes(const sb_slice pieces[3]);

/* ---- texts ---- */

/* As much of a text as a record can have. */
sb_slice client_cut_text(const char *text, size_t size);

/* A text made of a format: a short one here, a long one in memory of its own. */
typedef struct client_text {
    sb_slice text;
    char *whole; /* NULL: it is a short one */
    char brief[256];
} client_text;

/* False: it cannot be made. It must be freed in any case. */
__attribute__((format(printf, 2, 0))) bool client_text_make(client_text *made, const char *format,
                                                            va_list arguments);
void client_text_free(client_text *made);

/* A zone's text or name from a format. */
__attribute__((format(printf, 3, 0))) void
client_zone_format(sb_zone zone, sb_record_kind kind, const char *format, va_list arguments);

/* ---- what every session begins with (client_serial.c) ---- */

bool client_record_lasting_text(sb_record_kind kind, const uint64_t *words, size_t count,
                                sb_slice text);
bool client_record_lasting_name(bool has_group, uint64_t thread_and_group, sb_slice name);
/* Word 1 is the literal's token. */
bool client_record_lasting(sb_record_kind kind, const char *literal, const uint64_t *words,
                           size_t count);

/* ---- frame images ---- */

enum { CLIENT_IMAGE_MAX = 245760 }; /* bytes compressed; what fits into a frame of the wire */
void client_compress_image(const void *pixels, uint16_t width, uint16_t height, uint8_t *to);

/* ---- chunks ---- */

/* A chunk with an empty head, or NULL and why not. `beyond`: even if the bound is reached. */
sb_chunk *client_pool_take(bool beyond, sb_record_cause *cause);
/* Is there certainly nothing to take? Cheap; for those that are about to drop an event. */
bool client_pool_is_empty(void);
/* Back from the sender. */
void client_pool_give(sb_chunk *chunk);
/* Memory for chunks that will be wanted soon, so that no thread that records waits for it. */
void client_pool_prepare(void);
/* Free chunks stop being memory of this process. */
void client_pool_trim(void);
void client_pool_set_bound(uint64_t bytes);
/* After fork: forgets everything without touching what is shared with the parent. */
void client_pool_forget(void);

/* ---- recording files ---- */

/* From now on chunks come from this file. -1: it cannot be made. */
int client_file_open(const char *path, uint32_t session);
bool client_file_is_open(void);
sb_chunk *client_file_take(sb_record_cause *cause);
/* Will chunks run out before long? Under the pool's lock. */
bool client_file_is_low(void);
/* Chunks that will be wanted soon, prepared by the sender. */
void client_file_prepare(void);
void client_file_seal(sb_chunk *chunk, uint64_t words);
void client_file_update_clock(void);
void client_file_close(void);
void client_file_forget(void);
/* Only the sender and client_pool.c, under its lock, use the file; the lock is the pool's. */
extern pthread_mutex_t client_pool_lock;

/* ---- clock ---- */

extern bool client_clock_is_counter;
void client_clock_start(bool wants_counter);
int64_t client_clock_system(void);
int64_t client_clock_ms(void);
sb_record_clock client_clock_pair(void);
extern sb_record_clock client_clock_started;
/* By the sender, as often as it likes: says once if the counter does not keep its rate. */
void client_clock_watch(void);
double client_clock_deviation(sb_record_clock first, sb_record_clock middle, sb_record_clock last);

static inline int64_t client_now(void) {
#if defined(__x86_64__)
    if (__builtin_expect(client_clock_is_counter, 1))
        return (int64_t)__builtin_ia32_rdtsc();
#endif
    return client_clock_system();
}

/* ---- the rest ---- */

typedef struct client_options {
    uint32_t flags;
    uint32_t port;
    uint64_t memory;
    uint32_t exit_timeout_ms;
    uint32_t protocol; /* to announce; 0: the newest */
    char out[4096];    /* empty: no file */
} client_options;

typedef struct client_globals {
    client_options options;
    pthread_t sender;
    int wake; /* an event descriptor that interrupts the sender */
    bool is_forked;
    uint32_t session; /* the last number given */
    int64_t started_wall;
    int64_t init_end;
    uint64_t frames; /* default frame marks since the start */
    uint32_t is_stopping;
    uint32_t is_connected;
    const char *program; /* set by the program, or NULL */
    sb_parameter_callback parameter;
    void *parameter_data;
} client_globals;

extern client_globals client_global;

/* A program that starts the client once more may add flags while others read them. */
static inline bool client_has_flag(uint32_t flag) {
    return (__atomic_load_n(&client_global.options.flags, __ATOMIC_RELAXED) & flag) != 0;
}

/* At the start: the environment's, and those of a program that starts the client itself. */
void client_read_options(const sb_client_options *given);
/*
 * One line on standard error. Only for what the user asked for and will not get: this is somebody
 * else's process.
 */
__attribute__((format(printf, 1, 2))) void client_say(const char *format, ...);

/* Starts what is not started; false: it is stopped or cannot be. */
bool client_ensure_started(void);
/* Records from now on for a session of a new number, or (false) for none. */
uint32_t client_change_session(bool records);
void *client_sender_main(void *unused);
bool client_is_stopping(void);
const char *client_program_name(void);
void client_describe_host(char *text, size_t size);
void client_describe_cpu(sb_wire_welcome *welcome);
bool client_is_main_thread(uint32_t thread);

/* Interrupts the sender's sleep. */
void client_wake(void);
/* The sender has work that should not wait. */
void client_wake_sender(void);

#endif
