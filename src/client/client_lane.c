/* A thread's lane: its life, and how records get into it. */
#include "client/client.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread sb_lane *sb_this_lane_1;
_Thread_local bool client_is_inside __attribute__((tls_model("initial-exec")));

static _Thread_local uint32_t this_thread __attribute__((tls_model("initial-exec")));

/* Guards the list of free lanes and the numbers of new ones. */
static pthread_mutex_t lanes_lock = PTHREAD_MUTEX_INITIALIZER;
static client_lane *all_lanes; /* newest first; stored with release order */
static client_lane *free_lanes;
static client_lane *shared_lanes[2];
static uint32_t lane_count;

static pthread_key_t at_thread_end;
static bool has_key;

/* Where a lane without a chunk stands: beyond its limit. */
#define NOWHERE ((uint64_t *)(UINTPTR_MAX & ~(uintptr_t)7)) // NOLINT
enum { NO_ROOM = 8 };

/* ---- life ---- */

static void thread_ended(void *lane) {
    sb_this_lane_1 = NULL;
    client_lane_release(lane);
}

static client_lane *make_lane(void) {
    void *memory =
        mmap(NULL, sizeof(client_lane), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    client_lane *lane = memory;
    lane->id = lane_count++;
    lane->front.at = NOWHERE;
    lane->front.end_for_begins = NO_ROOM;
    lane->front.end_for_ends = NO_ROOM;
    lane->record.is_serial = lane->id == SB_RECORD_SERIAL_LANE;
    lane->next = all_lanes;
    __atomic_store_n(&all_lanes, lane, __ATOMIC_RELEASE);
    return lane;
}

uint64_t client_lanes_untold(void) {
    uint64_t untold = 0;
    for (const client_lane *lane = client_lanes(); lane != NULL; lane = lane->next) {
        for (uint32_t cause = 0; cause < SB_RECORD_CAUSES; cause++)
            untold += __atomic_load_n(&lane->lost[cause], __ATOMIC_RELAXED) -
                      __atomic_load_n(&lane->told[cause], __ATOMIC_RELAXED);
    }
    return untold;
}

client_lane *client_lanes(void) {
    return __atomic_load_n(&all_lanes, __ATOMIC_ACQUIRE);
}

client_lane *client_lane_find(uint32_t id) {
    client_lane *lane = client_lanes();
    while (lane != NULL && lane->id != id)
        lane = lane->next;
    return lane;
}

/* The two shared ones come first, so that they have the numbers that the format gives them. */
static bool make_shared_lanes(void) {
    for (uint32_t id = 0; id < 2; id++) {
        if (shared_lanes[id] == NULL)
            shared_lanes[id] = make_lane();
        if (shared_lanes[id] == NULL)
            return false;
    }
    if (!has_key)
        has_key = pthread_key_create(&at_thread_end, thread_ended) == 0;
    return has_key;
}

client_lane *client_lane_take(void) {
    pthread_mutex_lock(&lanes_lock);
    client_lane *lane = NULL;
    if (make_shared_lanes()) {
        lane = free_lanes;
        if (lane != NULL)
            free_lanes = lane->next_free;
        else
            lane = make_lane();
    }
    pthread_mutex_unlock(&lanes_lock);
    return lane;
}

void client_lane_release(client_lane *lane) {
    pthread_mutex_lock(&lanes_lock);
    lane->thread = 0;
    lane->next_free = free_lanes;
    free_lanes = lane;
    pthread_mutex_unlock(&lanes_lock);
}

void client_lanes_lock(void) {
    pthread_mutex_lock(&lanes_lock);
}

void client_lanes_unlock(void) {
    pthread_mutex_unlock(&lanes_lock);
}

void client_lanes_forget(void) {
    for (client_lane *lane = all_lanes; lane != NULL;) {
        client_lane *next = lane->next;
        client_set_free(&lane->defined);
        sb_record_lane_free(&lane->record);
        munmap(lane, sizeof *lane);
        lane = next;
    }
    all_lanes = NULL;
    free_lanes = NULL;
    memset(shared_lanes, 0, sizeof shared_lanes);
    lane_count = 0;
    sb_this_lane_1 = NULL;
    this_thread = 0; /* it has another number in this process */
    if (has_key)
        pthread_setspecific(at_thread_end, NULL);
}

void client_lanes_stop(void) {
    if (has_key)
        pthread_key_delete(at_thread_end);
    has_key = false;
}

/* ---- records ---- */

/* Where the records of a chunk end. Behind that is a reserve for what must fit, and the place for
 * the word that ends a chunk. */
static uintptr_t end_for(const sb_chunk *chunk, bool must_fit) {
    const size_t reserved = must_fit ? CLIENT_WORDS_TO_END : CLIENT_RESERVED_WORDS;
    return (uintptr_t)(chunk->words + SB_CHUNK_WORDS - reserved);
}

static void install_chunk(client_lane *lane, sb_chunk *chunk, uint64_t sequence) {
    chunk->lane = lane->id;
    chunk->sequence = sequence;
    chunk->ticks = client_now();
    chunk->magic = SB_CHUNK_MAGIC;
    sb_chunk *old = lane->chunk;
    sb_chunk **link = &lane->first;
    if (old != NULL) {
        old->sealed_words = (uint64_t)(lane->front.at - old->words) + 1;
        __atomic_store_n(lane->front.at, sb_record_stamp(chunk->ticks, SB_RECORD_END),
                         __ATOMIC_RELEASE);
        link = &old->next;
    }
    lane->chunk = chunk;
    if (client_clock_is_counter) {
        lane->front.end_for_begins = end_for(chunk, false);
        lane->front.end_for_ends = end_for(chunk, true);
    }
    __atomic_store_n(&lane->front.at, chunk->words, __ATOMIC_RELEASE);
    /* Last: who finds the new chunk finds its end, and from here on the old one is the sender's. */
    __atomic_store_n(link, chunk, __ATOMIC_RELEASE);
}

void client_count_loss(client_lane *lane, sb_record_cause cause) {
    __atomic_store_n(&lane->lost[cause], lane->lost[cause] + 1, __ATOMIC_RELAXED);
}

/* Into a fresh chunk: what this lane has lost since it last said so. */
static void tell_losses(client_lane *lane) {
    for (uint32_t cause = 0; cause < SB_RECORD_CAUSES; cause++) {
        const uint64_t news = lane->lost[cause] - lane->told[cause];
        if (news == 0)
            continue;
        uint64_t *at = lane->front.at;
        at[1] = news;
        at[2] = sb_record_pair(cause, lane->thread);
        at[3] = (uint64_t)client_now();
        __atomic_store_n(at, sb_record_stamp((int64_t)at[3], SB_RECORD_LOSS), __ATOMIC_RELEASE);
        __atomic_store_n(&lane->front.at, at + 4, __ATOMIC_RELEASE);
        __atomic_store_n(&lane->told[cause], lane->lost[cause], __ATOMIC_RELAXED);
    }
}

/*
 * While a chunk is taken, neither this lane nor any other of this thread may take one: a handler of
 * signals that did would wait for a lock its own thread holds.
 */
static _Thread_local bool is_taking_chunk __attribute__((tls_model("initial-exec")));

static bool next_chunk(client_lane *lane, bool must_fit) {
    sb_record_cause cause = SB_RECORD_LOST_TO_SIGNAL;
    sb_chunk *chunk = NULL;
    if (!is_taking_chunk) {
        is_taking_chunk = true;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        chunk = client_pool_take(must_fit, &cause);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        is_taking_chunk = false;
    }
    if (chunk == NULL) {
        client_count_loss(lane, cause);
        return false;
    }
    install_chunk(lane, chunk, lane->chunk == NULL ? 0 : lane->chunk->sequence + 1);
    tell_losses(lane);
    return true;
}

/* Is there room for so many words? Ends may use the reserve. */
static bool has_room(const client_lane *lane, size_t words, bool must_fit) {
    if (lane->chunk == NULL)
        return false;
    return (uintptr_t)(lane->front.at + words) <= end_for(lane->chunk, must_fit);
}

/* Makes room if there is none; counts the loss if none can be made. */
static bool find_room(client_lane *lane, size_t words, bool must_fit) {
    if (has_room(lane, words, must_fit))
        return true;
    if (!must_fit && client_pool_is_empty()) {
        client_count_loss(lane, SB_RECORD_LOST_TO_MEMORY);
        return false;
    }
    return next_chunk(lane, must_fit);
}

uint64_t *client_record_begin(client_lane *lane, size_t words, bool must_fit) {
    if (client_lane_is_writing(lane)) {
        client_count_loss(lane, SB_RECORD_LOST_TO_SIGNAL);
        return NULL;
    }
    lane->front.ready_for = SB_LANE_IS_WRITING;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (find_room(lane, words, must_fit))
        return lane->front.at;
    lane->front.ready_for = lane->state;
    return NULL;
}

void client_record_publish(client_lane *lane, size_t words, uint64_t stamp) {
    uint64_t *at = lane->front.at;
    __atomic_store_n(at, stamp, __ATOMIC_RELEASE);
    __atomic_store_n(&lane->front.at, at + words, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->front.ready_for = lane->state;
}

bool client_record_words(client_lane *lane, sb_record_kind kind, const uint64_t *words,
                         size_t count) {
    uint64_t *at = client_record_begin(lane, 1 + count, false);
    if (at == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        at[1 + i] = words[i];
    client_record_publish(lane, 1 + count, sb_record_stamp(client_now(), kind));
    return true;
}

/* Takes up to `room` bytes from the front of the pieces and copies them. */
static void copy_pieces(char *to, sb_slice *pieces, size_t count, size_t room) {
    for (size_t i = 0; i < count && room > 0; i++) {
        const size_t part = pieces[i].size < room ? pieces[i].size : room;
        if (part > 0)
            memcpy(to, pieces[i].data, part);
        pieces[i] = sb_slice_after(pieces[i], part);
        to += part;
        room -= part;
    }
}

static bool record_piece(client_lane *lane, sb_record_kind kind, uint32_t upper,
                         const uint64_t *words, size_t count, sb_slice *pieces, size_t piece_count,
                         size_t bytes) {
    const size_t size = 2 + count + (bytes + 7) / 8;
    uint64_t *at = client_record_begin(lane, size, false);
    if (at == NULL)
        return false;
    at[1] = sb_record_pair((uint32_t)bytes, upper);
    for (size_t i = 0; i < count; i++)
        at[2 + i] = words[i];
    copy_pieces((char *)(at + 2 + count), pieces, piece_count, bytes);
    client_record_publish(lane, size, sb_record_stamp(client_now(), kind));
    return true;
}

bool client_record_payload(client_lane *lane, sb_record_kind kind, uint32_t upper,
                           const uint64_t *words, size_t count, const sb_slice *pieces,
                           size_t piece_count) {
    sb_slice left[3] = {{0}};
    size_t bytes = 0;
    for (size_t i = 0; i < piece_count && i < 3; i++) {
        left[i] = pieces[i];
        bytes += pieces[i].size;
    }
    for (; bytes > SB_RECORD_PAYLOAD_MAX; bytes -= SB_RECORD_PAYLOAD_MAX) {
        if (!record_piece(lane, SB_RECORD_PART, 0, NULL, 0, left, piece_count,
                          SB_RECORD_PAYLOAD_MAX))
            return false;
    }
    return record_piece(lane, kind, upper, words, count, left, piece_count, bytes);
}

uint64_t client_text_sizes(const sb_slice pieces[3]) {
    const uint64_t sizes =
        (uint64_t)pieces[0].size | (uint64_t)pieces[1].size << 16 | (uint64_t)pieces[2].size << 32;
    return sizes | (pieces[0].data != NULL ? SB_RECORD_HAS_NAME : 0);
}

uint64_t client_lane_position(const client_lane *lane) {
    return lane->chunk == NULL ? 0 : sb_chunk_position(lane->chunk, lane->front.at);
}

/* ---- getting ready ---- */

uint32_t sb_thread_id(void) {
    if (this_thread == 0)
        this_thread = (uint32_t)syscall(SYS_gettid);
    return this_thread;
}

static bool introduce_thread(client_lane *lane) {
    char name[16] = "";
    prctl(PR_GET_NAME, name, 0, 0, 0);
    const uint32_t thread = sb_thread_id();
    const uint64_t word = sb_record_pair(thread, client_is_main_thread(thread));
    const sb_slice piece = {name, strnlen(name, sizeof name)};
    if (!client_record_payload(lane, SB_RECORD_THREAD, 0, &word, 1, &piece, 1))
        return false;
    lane->thread = thread;
    return true;
}

/* Brings a lane up to a state: forgets definitions of unloaded libraries, says the session. */
static bool follow_state(client_lane *lane, uint64_t state) {
    const uint64_t generation = (state >> 32 & 0xff) << CLIENT_GENERATION_SHIFT;
    if (lane->front.generation != generation) {
        memset(lane->front.locations, 0, sizeof lane->front.locations);
        memset(lane->seen_strings, 0, sizeof lane->seen_strings);
        client_set_free(&lane->defined);
        lane->front.generation = generation;
    }
    const uint64_t session = (uint32_t)state;
    if ((uint32_t)lane->state != session &&
        !client_record_words(lane, SB_RECORD_SESSION, &session, 1))
        return false;
    lane->state = state;
    lane->front.ready_for = state;
    return true;
}

client_lane *client_lane_prepare(uint64_t state) {
    client_lane *lane = client_this_lane();
    if (__builtin_expect(lane != NULL && lane->state == state, 1))
        return lane;
    if (client_is_inside || (uint32_t)state == 0 || (uint32_t)state == CLIENT_NOT_STARTED)
        return NULL;
    client_is_inside = true;
    if (lane == NULL) {
        lane = client_lane_take();
        if (lane != NULL) {
            /* Whoever had it before was ready, this thread is not: it has not said its name. */
            lane->state = 0;
            lane->front.ready_for = 0;
            sb_this_lane_1 = &lane->front;
            pthread_setspecific(at_thread_end, lane);
        }
    }
    const bool is_ready =
        lane != NULL && (lane->thread != 0 || introduce_thread(lane)) && follow_state(lane, state);
    client_is_inside = false;
    return is_ready ? lane : NULL;
}

client_lane *client_shared_lane(uint32_t id) {
    return shared_lanes[id];
}

bool client_shared_lane_prepare(client_lane *lane, uint64_t state) {
    return lane->state == state || follow_state(lane, state);
}
