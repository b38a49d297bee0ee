/*
 * The kinds of records and the words each of them has.
 *
 * SB_RECORD_KINDS lists, for X: the name, how many words come before the payload (word 0 included),
 * whether there is a payload, and then, for people, the words from word 1 on. `a|b` is a in the low
 * 32 bits and b in the upper; `size` is that of the payload and always stands low in word 1.
 */
#ifndef SB_RECORD_KINDS_H
#define SB_RECORD_KINDS_H

#include <stdint.h>

/* clang-format off */
#define SB_RECORD_KIND_LIST(X) \
    X(NOTHING, 1, 0)           /* nothing stands here yet */ \
    X(END, 1, 0)               /* the lane goes on in its next chunk */ \
    /* about the lane */ \
    X(SESSION, 2, 0)           /* session */ \
    X(THREAD, 3, 1)            /* size, thread|is the main one; its name as the system has it */ \
    X(THREAD_NAME, 3, 1)       /* size|has a group, thread|group; name */ \
    X(WAIT_FOR, 3, 0)          /* lane, position: what follows comes after that one's records */ \
    X(LOSS, 4, 0)              /* events lost, cause|thread, ticks of the first */ \
    X(PART, 2, 1)              /* size; the front part of the next record's payload */ \
    /* definitions */ \
    X(LOCATION, 5, 1)          /* size, token, line|colour, sizes; name, function, file */ \
    X(STRING, 3, 1)            /* size, token; text */ \
    X(SYMBOL, 4, 1)            /* size, address, sizes; function, image, nothing */ \
    /* of the lane's thread */ \
    X(ZONE_BEGIN, 2, 0)        /* location */ \
    X(ZONE_BEGIN_DYNAMIC, 4, 1) /* size, line|colour, sizes; name, function, file */ \
    X(ZONE_END, 1, 0)          \
    X(ZONE_TEXT, 2, 1)         /* size; text */ \
    X(ZONE_NAME, 2, 1)         /* size; name */ \
    X(ZONE_COLOUR, 2, 0)       /* colour */ \
    X(ZONE_VALUE, 2, 0)        /* value */ \
    X(MESSAGE, 3, 1)           /* size, colour|metadata; text */ \
    X(MESSAGE_LITERAL, 3, 0)   /* string, colour|metadata */ \
    X(APP_INFO, 2, 1)          /* size; text */ \
    X(CALLSTACK, 2, 1)         /* size; addresses, of the next record that can have a call stack */ \
    X(FRAME, 2, 0)             /* string */ \
    X(FRAME_START, 2, 0)       /* string */ \
    X(FRAME_END, 2, 0)         /* string */ \
    X(FRAME_IMAGE, 4, 1)       /* size, frame|flip, width|height; blocks of BC1 */ \
    X(PLOT_INT, 3, 0)          /* string, value */ \
    X(PLOT_FLOAT, 3, 0)        /* string, bits of a double */ \
    X(PLOT_DOUBLE, 3, 0)       /* string, bits of a double */ \
    X(PLOT_CONFIG, 3, 0)       /* string, format + step << 8 + fill << 16|colour */ \
    X(FIBER_ENTER, 3, 0)       /* string, thread|group */ \
    X(FIBER_LEAVE, 2, 0)       /* thread */ \
    X(SECTION_ENTER, 3, 1)     /* size, section|category; text */ \
    X(SECTION_LEAVE, 2, 0)     /* section */ \
    X(SECTION_SETUP, 3, 1)     /* size, category; text */ \
    X(PARAMETER, 4, 0)         /* string, index|type, value */ \
    /* of the lane that all threads share, in order of time */ \
    X(MEMORY_ALLOC, 5, 0)      /* address, size, pool, thread */ \
    X(MEMORY_FREE, 4, 0)       /* address, pool, thread */ \
    X(MEMORY_DISCARD, 3, 0)    /* pool, thread */ \
    X(LOCK_ANNOUNCE, 3, 0)     /* id|type, location */ \
    X(LOCK_TERMINATE, 2, 0)    /* id */ \
    X(LOCK_WAIT, 2, 0)         /* id|thread */ \
    X(LOCK_OBTAIN, 2, 0)       /* id|thread */ \
    X(LOCK_RELEASE, 2, 0)      /* id|thread */ \
    X(LOCK_WAIT_SHARED, 2, 0)  /* id|thread */ \
    X(LOCK_OBTAIN_SHARED, 2, 0) /* id|thread */ \
    X(LOCK_RELEASE_SHARED, 2, 0) /* id|thread */ \
    X(LOCK_MARK, 3, 0)         /* id|thread, location */ \
    X(LOCK_NAME, 3, 1)         /* size, id; name */ \
    X(DEVICE_CONTEXT, 5, 0)    /* device ticks, thread, context + flags << 16|type, bits of period */ \
    X(DEVICE_NAME, 3, 1)       /* size, context; name */ \
    X(DEVICE_BEGIN, 4, 0)      /* location, thread, query|context */ \
    X(DEVICE_BEGIN_DYNAMIC, 6, 1) /* size, line|colour, sizes, thread, query|context; as a zone's */ \
    X(DEVICE_END, 3, 0)        /* thread, query|context */ \
    X(DEVICE_TIME, 3, 0)       /* device ticks, query|context */ \
    X(DEVICE_CALIBRATION, 4, 0) /* device ticks, nanoseconds since the last, context */ \
    X(DEVICE_SYNC, 3, 0)       /* device ticks, context */
/* clang-format on */

#define SB_RECORD_ENUM_LINE(name, words, payload) SB_RECORD_##name,
typedef enum sb_record_kind {
    SB_RECORD_KIND_LIST(SB_RECORD_ENUM_LINE) SB_RECORD_KINDS
} sb_record_kind;
#undef SB_RECORD_ENUM_LINE

/* Sizes of the three texts of a location in one word: 16 bits each; bit 63: there is a name. */
#define SB_RECORD_HAS_NAME (UINT64_C(1) << 63)

/*
 * Two lanes are shared by all threads: one for what must be in order of time, one for what every
 * session begins with (announcements, names).
 */
enum { SB_RECORD_SERIAL_LANE = 0, SB_RECORD_LASTING_LANE = 1 };

/* Why events were lost. Numbers are part of the file format. */
typedef enum sb_record_cause {
    SB_RECORD_LOST_TO_MEMORY = 0, /* the bound of STROBE_MEMORY was reached */
    SB_RECORD_LOST_TO_DISK = 1,   /* the recording file could not grow */
    SB_RECORD_LOST_TO_SIGNAL = 2, /* a signal handler interrupted the recording of another event */
    SB_RECORD_LOST_TO_SYSTEM = 3, /* the system gave no memory */
    SB_RECORD_CAUSES = 4,
} sb_record_cause;

static inline uint64_t sb_record_pair(uint32_t low, uint32_t high) {
    return low | (uint64_t)high << 32;
}

/* Words before the payload; 0 for a kind that does not exist. */
uint32_t sb_record_head_words(uint32_t kind);
int sb_record_has_payload(uint32_t kind);
/* For people: "the memory bound was reached". */
const char *sb_record_cause_text(uint32_t cause);

#endif
