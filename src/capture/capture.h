/*
 * capture: recording programs that speak Tracy's protocol, whichever version.
 *
 *   sb_capture_run       finds a program, records it until it ends or the recorder is told to stop,
 *                        and writes the trace
 *   sb_capture_all       the same for all programs that there are, each into a file of its own
 *   sb_capture_recover   the trace that a journal holds
 *   sb_capture_follow    the same while the journal is being written
 *
 * What arrives is appended to a journal (wire_journal.h) before anything else is done with it, so
 * that whatever happens to the recorder, the recording up to there can be had. The trace is made
 * while the data arrives:
 *
 *     socket --> reader thread: journal, unpack --> ring of frames --> session: decode --> trace
 *        ^                                                              |
 *        +------------------------- questions --------------------------+
 *
 * and written when the recording ends; then the journal is removed.
 *
 * Hostile programs: every number is checked by the decoder; capture_model.h lists what a program
 * may make us keep. Beyond that, things are counted and left out.
 *
 * Threads: the functions block; call them from different threads for different recordings. stop
 * may be set by another thread or a signal handler. Other modules include this header only.
 */
#ifndef SB_CAPTURE_CAPTURE_H
#define SB_CAPTURE_CAPTURE_H

#include <signal.h>

#include "base/base.h"
#include "trace/trace.h"
#include "wire/wire.h"

/* ---- what to record ---- */

/* How far a recording is. */
typedef struct sb_capture_progress {
    bool is_connected;
    double seconds;        /* since the connection */
    uint64_t wire_bytes;   /* as they came */
    uint64_t stream_bytes; /* unpacked */
    uint64_t zones;
    uint64_t events;
    int64_t span_ns;       /* of the trace so far */
    size_t frames_waiting; /* read and not decoded yet */
    size_t questions_open;
    uint64_t memory_bytes; /* of this process */
} sb_capture_progress;

typedef struct sb_capture_options {
    const char *address;     /* NULL: 127.0.0.1 */
    uint16_t port;           /* 0: those a program tries, in order */
    uint32_t protocol;       /* 0: found out */
    int flavour;             /* sb_wire_flavour; -1: found out */
    const char *output;      /* the trace file; for sb_capture_all the folder */
    const char *journal;     /* NULL: the output's name with .journal */
    bool replace;            /* files of these names may be replaced */
    bool keep_journal;       /* also when the trace was written */
    double seconds;          /* to record; 0: until the program ends */
    double wait_seconds;     /* to wait for a program; 0: as long as it takes */
    double sync_seconds;     /* how often the journal is forced to the disk */
    uint64_t memory_bytes;   /* that columns may take; the rest is kept on disk; 0: all in memory */
    unsigned memory_percent; /* of the machine's: ends the recording when we use more; 0: never */
    sb_slice origin;         /* a line on the recorder, kept with the trace; empty: none */
    sb_trace_write_options file;
    const volatile sig_atomic_t *stop; /* ends the recording when not 0; may be NULL */
    void (*progress)(void *context, const sb_capture_progress *progress); /* may be NULL */
    /*
     * Told of the trace when the recording begins, so that others can read it while it grows. It is
     * then the caller's, to be freed once the function has returned. NULL: it is freed with it.
     */
    void (*began)(void *context, sb_trace *trace);
    void *context;
} sb_capture_options;

/* ---- what became of it ---- */

typedef struct sb_capture_count {
    const char *what;
    uint64_t count;
} sb_capture_count;

enum { SB_CAPTURE_COUNTS_MAX = 128 };

typedef struct sb_capture_report {
    char program[65];
    char address[64];
    uint64_t process_id;
    const char *protocol; /* for people */
    uint64_t wall_ns;     /* when the connection was made, since 1970 */
    uint64_t clock_ns;    /* CLOCK_MONOTONIC then */
    double ns_per_tick;   /* the program's clock */
    int64_t zero_tick;
    sb_journal_ending ending;
    char ending_text[SB_ERROR_TEXT_SIZE]; /* why, where it was not as planned; else empty */
    sb_capture_progress last;
    double write_seconds; /* from the end of the recording to the finished file */
    uint64_t file_bytes;
    uint64_t journal_bytes;
    uint64_t lost; /* events that the program could not record, by its own account */
    bool has_file;
    bool has_journal;  /* it was left */
    int sync_failure;  /* errno: the trace may not outlive a power cut, so the journal stays */
    int spill_failure; /* errno: columns stayed in memory */
    sb_trace_written written;
    sb_capture_count unkept[SB_CAPTURE_COUNTS_MAX]; /* events that a trace has no place for */
    size_t unkept_count;
    sb_capture_count faults[SB_CAPTURE_COUNTS_MAX]; /* events that made no sense, or beyond a cap */
    size_t fault_count;
} sb_capture_report;

/*
 * Records one program. Fails if there was none, or if no file could be written; the error says who
 * answered and what to do. A recording that ended early is no failure: report->ending says it.
 */
sb_status sb_capture_run(const sb_capture_options *options, sb_capture_report *report,
                         sb_error *error);

/* ---- several ---- */

/* A session: the programs recorded into one folder. */
typedef struct sb_capture_session {
    sb_vector reports; /* sb_capture_report, in the order they ended */
    sb_vector paths;   /* char *: the traces, beside the reports */
    size_t failed;     /* programs that could not be recorded or written */
} sb_capture_session;

/*
 * Records all programs on this machine that announce themselves or listen, each into
 * FOLDER/NAME-PID.tracy, until stop, until the seconds have passed, or until the last one has
 * ended. FOLDER/session.json lists them with their clocks.
 */
sb_status sb_capture_all(const sb_capture_options *options, sb_capture_session *session,
                         sb_error *error);
void sb_capture_session_free(sb_capture_session *session);

/* ---- journals ---- */

typedef struct sb_capture_recover_options {
    const sb_trace_bound *bound; /* of what the trace keeps in memory; NULL: all */
    sb_file *file;               /* what the bytes are of; NULL: not a file */
    bool has_ended;  /* the program: that it has not closed its recording is no damage then */
    bool is_written; /* as sb_capture_is_written said before the file was opened */
} sb_capture_recover_options;

/*
 * Does a recorder still write this journal, or a program this recording file? They have locks on
 * them as long as they do. A file that cannot be opened is not written.
 */
bool sb_capture_is_written(const char *path);
/* Is it a journal, or a recording file of libstrobe's (record/record_file.h)? */
bool sb_capture_can_recover(sb_slice bytes);
/*
 * The trace that a journal or a recording file holds. Of a journal, up to its last whole block.
 * *damage is SB_OK if the journal is complete up to its end, else it says what is wrong there; the
 * trace is then what comes before.
 */
sb_status sb_capture_recover(sb_slice journal, const sb_capture_recover_options *options,
                             sb_trace **trace, sb_capture_report *report, sb_error *damage,
                             sb_error *error);

/* ---- journals that are being written ---- */

typedef struct sb_capture_follower sb_capture_follower;

typedef enum sb_capture_growth {
    SB_CAPTURE_BEHIND, /* more is there already: ask again */
    SB_CAPTURE_GROWS,  /* all that is there was taken, and the recorder still writes */
    SB_CAPTURE_ENDED,  /* the recorder has ended the journal */
    SB_CAPTURE_BROKEN, /* no more will come, and damage says why */
} sb_capture_growth;

/*
 * Opens a journal that its recorder still writes, which is told by the recorder's lock.
 * SB_ERR_NOT_FOUND: nobody writes it, or it is no journal.
 */
sb_status sb_capture_follow(const char *path, sb_capture_follower **follower, sb_error *error);
/* Takes in what has come, a part of it if it is much. Not to be asked again after the end. */
sb_capture_growth sb_capture_follow_on(sb_capture_follower *follower, sb_error *damage);
/*
 * The trace so far, to be read while it grows; NULL before the first block. It is the caller's, to
 * be freed after the follower.
 */
sb_trace *sb_capture_follower_trace(const sb_capture_follower *follower);
/* How the recording ended, once it has. */
const sb_capture_report *sb_capture_follower_report(const sb_capture_follower *follower);
/* Has somebody removed the journal from its folder? What is written is read all the same. */
bool sb_capture_follower_is_removed(const sb_capture_follower *follower);
void sb_capture_follower_free(sb_capture_follower *follower);

#endif
