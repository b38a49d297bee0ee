#include "record/record_kinds.h"

#define HEAD_LINE(name, words, payload) [SB_RECORD_##name] = (words),
static const uint8_t head_words[SB_RECORD_KINDS] = {SB_RECORD_KIND_LIST(HEAD_LINE)};
#undef HEAD_LINE

#define PAYLOAD_LINE(name, words, payload) [SB_RECORD_##name] = (payload),
static const uint8_t has_payload[SB_RECORD_KINDS] = {SB_RECORD_KIND_LIST(PAYLOAD_LINE)};
#undef PAYLOAD_LINE

uint32_t sb_record_head_words(uint32_t kind) {
    return kind < SB_RECORD_KINDS ? head_words[kind] : 0;
}

int sb_record_has_payload(uint32_t kind) {
    return kind < SB_RECORD_KINDS && has_payload[kind];
}

const char *sb_record_cause_text(uint32_t cause) {
    static const char *const texts[SB_RECORD_CAUSES] = {
        [SB_RECORD_LOST_TO_MEMORY] = "the memory bound (STROBE_MEMORY) was reached",
        [SB_RECORD_LOST_TO_DISK] = "the recording file could not grow",
        [SB_RECORD_LOST_TO_SIGNAL] = "a signal handler interrupted the recording of another event",
        [SB_RECORD_LOST_TO_SYSTEM] = "the system had no memory",
    };
    return cause < SB_RECORD_CAUSES ? texts[cause] : "unknown cause";
}
