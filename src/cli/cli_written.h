/*
 * What a trace file has no place for, said to people.
 */
#ifndef SB_CLI_WRITTEN_H
#define SB_CLI_WRITTEN_H

#include "trace/trace.h"

/* Warns of what was changed or left out when a trace was written; true if something was lost. */
bool cli_say_what_changed(const sb_trace_written *written);

#endif
