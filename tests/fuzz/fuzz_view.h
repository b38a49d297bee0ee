/*
 * What the fuzzers of the viewer share: a small trace with some of everything, and questions.
 */
#ifndef SB_TESTS_FUZZ_VIEW_H
#define SB_TESTS_FUZZ_VIEW_H

#include "view/view_call.h"

sb_trace *make_fuzz_trace(void);
/* Asks "path?a=1&b=2"; whatever it is, there is an answer or an error. Changes text. */
void ask_view(sb_view *view, char *text);
/* Asks one question of each kind. */
void ask_view_all(sb_view *view);

#endif
