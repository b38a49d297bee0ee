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
