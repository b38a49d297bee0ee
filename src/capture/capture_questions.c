#include "capture/capture_questions.h"

/* What the system gives a socket by default holds more than twice this many. */
enum { OPEN_MAX = 8188 };

void capture_questions_init(capture_questions *questions, bool is_replay) {
    *questions = (capture_questions){.waiting = sb_vector_of(sizeof(sb_wire_query)),
                                     .asked_locations = sb_vector_of(sizeof(uint64_t)),
                                     .open_max = OPEN_MAX,
                                     .is_replay = is_replay};
}

void capture_questions_free(capture_questions *questions) {
    sb_vector_free(&questions->waiting);
    sb_vector_free(&questions->asked_locations);
}

static bool is_slow(sb_wire_query_kind kind) {
    return kind == SB_WIRE_ASK_CALLSTACK_FRAME || kind == SB_WIRE_ASK_EXTERNAL_NAME;
}

void capture_ask(capture_questions *questions, sb_wire_query_kind kind, uint64_t token) {
    if (questions->is_replay || (questions->no_slow && is_slow(kind)))
        return;
    *(sb_wire_query *)sb_vector_push(&questions->waiting) = (sb_wire_query){kind, token, 0};
}

/* Forgets what was taken, once it is all of it or most. */
static void compact(sb_vector *list, size_t *first) {
    if (*first < list->count / 2 || *first == 0)
        return;
    const size_t left = list->count - *first;
    memmove(list->data, list->data + *first * list->element_size, left * list->element_size);
    list->count = left;
    *first = 0;
}

size_t capture_questions_take(capture_questions *questions, const sb_wire_protocol *protocol,
                              uint8_t *bytes, size_t room, sb_vector *locations) {
    size_t count = 0;
    while (count < room && questions->first < questions->waiting.count &&
           questions->open < questions->open_max) {
        const sb_wire_query *query = sb_vector_at(&questions->waiting, questions->first++);
        if (questions->no_slow && is_slow(query->kind))
            continue;
        sb_wire_query_encode(protocol, query, bytes + count++ * SB_WIRE_QUERY_SIZE);
        questions->open++;
        questions->open_slow += is_slow(query->kind) ? 1 : 0;
        if (query->kind == SB_WIRE_ASK_SOURCE_LOCATION) {
            *(uint64_t *)sb_vector_push(locations) = query->token;
            capture_questions_asked(questions, query->token);
        }
    }
    compact(&questions->waiting, &questions->first);
    return count;
}

void capture_questions_asked(capture_questions *questions, uint64_t token) {
    *(uint64_t *)sb_vector_push(&questions->asked_locations) = token;
}

bool capture_questions_location(capture_questions *questions, uint64_t *token) {
    if (questions->first_location == questions->asked_locations.count)
        return false;
    *token = *(uint64_t *)sb_vector_at(&questions->asked_locations, questions->first_location++);
    compact(&questions->asked_locations, &questions->first_location);
    return true;
}

void capture_questions_answered(capture_questions *questions, sb_wire_kind kind) {
    switch (kind) {
    case SB_WIRE_CALLSTACK_FRAME_SIZE:
    case SB_WIRE_EXTERNAL_NAME:
        questions->open_slow -= questions->open_slow > 0 ? 1 : 0;
        break;
    case SB_WIRE_STRING:
    case SB_WIRE_THREAD_NAME:
    case SB_WIRE_PLOT_NAME:
    case SB_WIRE_FRAME_NAME:
    case SB_WIRE_FIBER_NAME:
    case SB_WIRE_SOURCE_LOCATION:
    case SB_WIRE_ACK:
        break;
    default:
        return;
    }
    questions->open -= questions->open > 0 ? 1 : 0;
}

bool capture_questions_done(const capture_questions *questions) {
    return questions->open == 0 && questions->first == questions->waiting.count;
}
