/*
 * Texts and values for the files that write JSON.
 */
#ifndef SB_TRACE_JSON_H
#define SB_TRACE_JSON_H

#include <jansson.h>

#include "base/base.h"

/* A string; what is not UTF-8 is replaced. */
json_t *trace_json_text(sb_slice text);
/* The same as text, quotes included. */
void trace_put_json_text(sb_output *output, sb_slice text);
/* Any value, and forgets it. */
void trace_put_json(sb_output *output, json_t *value, size_t flags);

#endif
