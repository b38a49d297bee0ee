/*
 * The ledger of losses as lines of text.
 *
 * No version of the file format has a place for it, but all have lines about the application, which
 * viewers show and other readers pass over. A loss is one such line:
 *
 *     strobe lost count=12 from=1000 to=2000 thread=77 cause=1 the buffer of thread 77 was full
 *
 * Fields that are not known are left out. Lines that do not read like this are left alone.
 */
#ifndef SB_TRACE_LEDGER_H
#define SB_TRACE_LEDGER_H

#include "trace/trace_model.h"

/* thread_id is that of the loss's thread, if it has one. */
void ledger_put(const sb_trace *trace, const sb_loss *loss, uint64_t thread_id, sb_output *output);
/* Moves losses from the lines about the application into the ledger. No thread reads yet. */
void ledger_take(sb_trace *trace);

#endif
