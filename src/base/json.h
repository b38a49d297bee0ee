/*
 * Writing JSON piece by piece.
 *
 * Whoever writes a long document puts its brackets and numbers itself and lets these put what can
 * go wrong: texts from outside, and numbers that JSON has no way to write.
 */
#ifndef SB_BASE_JSON_H
#define SB_BASE_JSON_H

#include "base/output.h"
#include "base/slice.h"

/* text in quotes. Control characters are escaped, bytes that are no UTF-8 become U+FFFD. */
void sb_put_json(sb_output *output, sb_slice text);
/* The shortest digits that read back to value; null for infinities and what is no number. */
void sb_put_json_real(sb_output *output, double value);

#endif
