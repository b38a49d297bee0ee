/*
 * A session with one program, from the welcome to the finished file.
 */
#ifndef SB_CAPTURE_SESSION_H
#define SB_CAPTURE_SESSION_H

#include "capture/capture_connect.h"
#include "capture/capture_model.h"

/* Records a program that has welcomed us; closes its socket. As sb_capture_run. */
sb_status capture_record(const sb_capture_options *options, capture_peer *peer,
                         sb_capture_report *report, sb_error *error);

/* ---- capture_recover.c ---- */

/* A journal that becomes a trace block by block. Set report and bound. */
typedef struct capture_replay {
    sb_capture_report *report;
    const sb_trace_bound *bound; /* NULL: none */
    sb_trace *trace;             /* the caller's; NULL until the first block is taken */
    bool has_end;
    capture_questions questions;
    capture_model model;
    sb_wire_decoder *decoder;
    sb_wire_unpacker *unpacker;
} capture_replay;

sb_status capture_replay_block(capture_replay *of, const sb_journal_block *block, sb_error *error);
/* Closes a trace that was begun, and frees all but it. */
void capture_replay_finish(capture_replay *of, const sb_error *damage, uint64_t journal_bytes);
/* What is wrong with a journal whose last block is whole and is not its end. */
void capture_say_no_end(sb_error *damage);
/* The same of a file that somebody still writes. */
void capture_say_unfinished(const char *who, sb_error *damage);

/* As sb_capture_recover, for a recording file of libstrobe's. */
sb_status capture_recover_recording(sb_slice recording, const sb_capture_recover_options *options,
                                    sb_trace **trace, sb_capture_report *report, sb_error *damage,
                                    sb_error *error);

/* ---- capture_report.c ---- */

void capture_describe(sb_capture_report *report, const sb_journal_start *start);
/* What the model counted. */
void capture_count_all(const capture_model *model, sb_capture_report *report);
/* Adds to the trace's ledger what was lost. */
void capture_note_losses(const capture_model *model, const sb_capture_report *report);
uint64_t capture_process_memory(void);
uint64_t capture_machine_memory(void);

/* ---- capture_write.c ---- */

/* Writes the trace and removes the journal, unless it is to be kept or the file failed. */
sb_status capture_write_trace(const sb_capture_options *options, const sb_trace *trace,
                              const char *journal_path, sb_capture_report *report, sb_error *error);

#endif
