/*
 * Translation: the records of a lane to events.
 *
 * Per lane there is an sb_record_lane that remembers what its next records need: whose they are,
 * which session, the full time, how many zones are open. The translator is what the lanes share:
 * the names, the handler, and the zones that wait to be handed over in one call.
 */
#ifndef SB_RECORD_TRANSLATE_H
#define SB_RECORD_TRANSLATE_H

#include "base/base.h"
#include "record/record_chunk.h"
#include "record/record_names.h"
#include "wire/wire.h"

enum {
    SB_RECORD_STACK_MAX = 62,       /* as many as the protocol allows */
    SB_RECORD_BATCH = 512,          /* zones handed over at once */
    SB_RECORD_STAGED_MAX = 1 << 20, /* bytes of a payload in parts; the rest is left out */
};

typedef struct sb_record_lane {
    uint32_t thread;
    uint32_t carrier; /* in a fiber: the thread that runs it; else 0 */
    uint32_t session;
    uint32_t open_zones;
    uint64_t fiber;       /* token of the fiber this lane belongs to; 0: a thread's lane */
    int64_t ticks;        /* of the last record */
    bool is_serial;       /* the lane that all threads share */
    uint32_t stack_count; /* addresses for the next record that can have a call stack */
    uint64_t stack[SB_RECORD_STACK_MAX];
    char *staged; /* the parts of a payload so far */
    size_t staged_size;
    size_t staged_capacity;
} sb_record_lane;

typedef struct sb_record_translator {
    sb_record_names *names;
    sb_wire_handler handler;
    uint32_t session; /* records of other sessions define names and are dropped otherwise */
    uint32_t zones_thread;
    size_t zone_count;
    uint64_t dropped; /* records that made no sense */
    uint64_t lost;    /* events that records of loss told of */
    /*
     * Another lane has to be translated up to a position first. NULL: nobody waits.
     */
    void (*wait_for)(void *context, uint32_t lane, uint64_t position);
    void *wait_context;
    sb_map *fibers; /* those with open zones that nobody runs */
    sb_wire_zone zones[SB_RECORD_BATCH];
} sb_record_translator;

/* How a stretch of records ended. */
typedef enum sb_record_stop {
    SB_RECORD_MORE_LATER,  /* nothing stands there yet */
    SB_RECORD_CHUNK_ENDED, /* the lane goes on in the next chunk */
    SB_RECORD_BROKEN,      /* no record can begin like that */
    SB_RECORD_REACHED,     /* the position that was asked for */
} sb_record_stop;

/*
 * Translates from *at to the end of what is published in the chunk, or to `position` of the lane
 * (UINT64_MAX: all of it), and moves *at there.
 */
sb_record_stop sb_record_translate(sb_record_translator *translator, sb_record_lane *lane,
                                   const sb_chunk *chunk, const uint64_t **at, uint64_t position);
/* Hands over the zones that wait; before anything else is sent, and before time passes. */
void sb_record_flush(sb_record_translator *translator);
/* Ends the zones that are still open in a lane at `ticks`, and leaves its fiber. */
void sb_record_close_lane(sb_record_translator *translator, sb_record_lane *lane, int64_t ticks);
/* The same for fibers that nobody runs. */
void sb_record_close_fibers(sb_record_translator *translator, int64_t ticks);
/* Without a word; when a session is over, and in the end. */
void sb_record_forget_fibers(sb_record_translator *translator);
/* Says in the stream that events of a thread were lost. */
void sb_record_tell_loss(sb_record_translator *translator, uint32_t thread, int64_t ticks,
                         uint64_t count, uint32_t cause);
/* Gives back the memory for payloads in parts; the rest stays. */
void sb_record_lane_trim(sb_record_lane *lane);
void sb_record_lane_free(sb_record_lane *lane);

#endif
