/*
 * Sections of a trace file that the model has no columns for: their bytes, made while recording.
 */
#include "capture/capture_model.h"

void capture_put_number(sb_output *output, uint64_t value, unsigned size) {
    char bytes[sizeof value];
    assert(size <= sizeof bytes);
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (char)(value >> (8 * i));
    sb_put(output, (sb_slice){bytes, size});
}

void capture_keep_section(capture_model *model, sb_opaque section, sb_output *bytes,
                          uint64_t items) {
    if (items > 0) {
        model->trace->opaque[section] = sb_arena_copy(&model->trace->arena, sb_output_text(bytes));
        model->trace->file.opaque_items[section] = items;
    }
    sb_output_discard(bytes);
}
