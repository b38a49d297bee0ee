/*
 * What the files that read the device log share.
 */
#ifndef SB_REPORT_PROGRAMS_PARTS_H
#define SB_REPORT_PROGRAMS_PARTS_H

#include "report/report_programs.h"

report_processor report_processor_of(sb_slice name);
/* The index of the zone with this name. The timer id makes finding it quick. */
uint32_t report_find_zone(report_device_log *read, uint32_t timer, sb_slice name);

/* What tells executions apart; hashed as bytes, so it has no gaps. */
typedef struct report_program_key {
    uint64_t id;
    int64_t trace;
    int64_t session;
    uint32_t device;
    uint32_t occurrence;
} report_program_key;

/* ---- meta data: JSON with ';' for ',' ---- */

/* The number behind a key; false if there is none. */
bool report_meta_number(sb_slice meta, const char *key, uint64_t *value);
/* The text behind a key. */
bool report_meta_text(sb_slice meta, const char *key, sb_slice *value);

/* ---- dispatch cores ---- */

/* A marker of a dispatch core, in order of time per processor. */
void report_dispatch_marker(report_device_log *read, uint32_t core, report_processor processor,
                            const report_marker *marker);
/* Makes read->dispatch_ops. */
void report_dispatch_finish(report_device_log *read);
void report_dispatch_free(report_device_log *read);

/* ---- hardware counters ---- */

void report_take_counter(report_device_log *read, report_core_run *run,
                         const report_marker *marker);

/* ---- a closer look at what is broken ---- */

/* Reads the log again for the programs that are not whole and finds out why. */
void report_diagnose(report_device_log *read, sb_file *file);

#endif
