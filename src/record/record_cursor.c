#include "record/record_cursor.h"

#include "record/record_kinds.h"

record_reading record_read(record_cursor *record, const uint64_t *at, const uint64_t *end,
                           int64_t before) {
    const uint64_t stamp = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (stamp == 0)
        return RECORD_NOTHING_YET;
    const uint32_t kind = stamp & 0xff;
    const uint32_t head = sb_record_head_words(kind);
    if (kind == SB_RECORD_NOTHING || head == 0 || head > (size_t)(end - at))
        return RECORD_MALFORMED;
    *record = (record_cursor){
        .kind = kind, .size = head, .ticks = record_unwrap(before, stamp), .words = at};
    if (!sb_record_has_payload(kind))
        return RECORD_READ;
    const uint32_t bytes = record_low(at[1]);
    if (bytes > 8 * ((size_t)(end - at) - head))
        return RECORD_MALFORMED;
    record->payload = (sb_slice){(const char *)(at + head), bytes};
    record->size += (bytes + 7) / 8;
    return RECORD_READ;
}
