/*
 * What a recorder asks the program, and what it still waits for.
 *
 * A program reads questions only between two pieces of what it sends, so that no more than fit into
 * a socket's buffer may be open at a time: the rest waits here. Source locations are answered
 * without saying which; the list of those asked for, in order, is kept here too.
 *
 * In a replay nobody is there to answer: questions are dropped, and the list of source locations is
 * filled from the journal.
 */
#ifndef SB_CAPTURE_QUESTIONS_H
#define SB_CAPTURE_QUESTIONS_H

#include "base/base.h"
#include "wire/wire.h"

typedef struct capture_questions {
    sb_vector waiting;         /* sb_wire_query */
    size_t first;              /* of those that still wait */
    sb_vector asked_locations; /* uint64_t: tokens in the order of asking */
    size_t first_location;     /* the one that the next answer is for */
    size_t open;               /* sent and not answered */
    size_t open_slow;          /* of these, such that another thread of the program answers */
    size_t open_max;
    bool is_replay;
    bool no_slow; /* the program answers no more of these */
} capture_questions;

void capture_questions_init(capture_questions *questions, bool is_replay);
void capture_questions_free(capture_questions *questions);

void capture_ask(capture_questions *questions, sb_wire_query_kind kind, uint64_t token);
/*
 * Moves what may be sent now to bytes (room for `room` questions); returns how many. Tokens of
 * source locations among them are added to *locations (uint64_t).
 */
size_t capture_questions_take(capture_questions *questions, const sb_wire_protocol *protocol,
                              uint8_t *bytes, size_t room, sb_vector *locations);
/* Replay: these were asked for. */
void capture_questions_asked(capture_questions *questions, uint64_t token);
/* The token that a source location answers; false if none was asked for. */
bool capture_questions_location(capture_questions *questions, uint64_t *token);
/* An event came: if it answers something, that is open no more. */
void capture_questions_answered(capture_questions *questions, sb_wire_kind kind);
/* Nothing waits and nothing is open. */
bool capture_questions_done(const capture_questions *questions);

#endif
