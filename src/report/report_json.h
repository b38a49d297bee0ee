/*
 * JSON of the host's messages, and the text that Python's str() makes of it, which is what the
 * report has in its cells.
 */
#ifndef SB_REPORT_JSON_H
#define SB_REPORT_JSON_H

#include <jansson.h>

#include "base/base.h"

/* The value, or NULL if text is no JSON. Integers of any size keep their digits. */
json_t *report_json_load(sb_slice text);
/* str(value): strings bare, containers as Python writes them. */
void report_put_python(sb_output *output, json_t *value);
/* repr(text): in quotes. */
void report_put_python_text(sb_output *output, sb_slice text);
/* The text of a string value; empty for others. */
sb_slice report_json_text(const json_t *value);
/* A new string; null if text is not UTF-8. */
json_t *report_json_string(sb_slice text);

#endif
