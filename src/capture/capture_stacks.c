/*
 * Call stacks: addresses while recording, the sections of a trace file at the end.
 */
#include "capture/capture_model.h"

enum { ADDRESS_SIZE = 8, FRAMES_PER_ADDRESS_MAX = 255 };

static uint64_t load_address(const char *bytes) {
    uint64_t address = 0;
    for (unsigned i = 0; i < ADDRESS_SIZE; i++)
        address |= (uint64_t)(uint8_t)bytes[i] << (8 * i);
    return address;
}

static void put_number(sb_output *output, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++)
        sb_put_char(output, (char)(value >> (8 * i)));
}

/* What a file stores: the two bits that repeat others are free for marks. */
static uint64_t frame_id(uint64_t address) {
    return address & ((UINT64_C(1) << 62) - 1);
}

static void ask_for_frames(capture_model *model, sb_slice addresses) {
    for (size_t i = 0; i + ADDRESS_SIZE <= addresses.size; i += ADDRESS_SIZE) {
        const uint64_t address = load_address(addresses.data + i);
        uint32_t known = 0;
        if (sb_idmap_get(&model->stack_frames, address, &known) ||
            model->stack_frames.count >= CAPTURE_FRAMES_MAX)
            continue;
        sb_idmap_set(&model->stack_frames, address, 0);
        capture_ask(model->questions, SB_WIRE_ASK_CALLSTACK_FRAME, address);
    }
}

uint32_t capture_stack(capture_model *model, sb_slice addresses) {
    const sb_slice whole = sb_slice_first(addresses, addresses.size / ADDRESS_SIZE * ADDRESS_SIZE);
    if (whole.size == 0)
        return 0;
    if (sb_intern_count(&model->stacks) >= CAPTURE_STACKS_MAX ||
        model->text_bytes + whole.size > CAPTURE_TEXT_BYTES_MAX) {
        capture_count(model, CAPTURE_OVER_LIMIT);
        return 0;
    }
    const uint32_t before = sb_intern_count(&model->stacks);
    const uint32_t index = sb_intern_add(&model->stacks, whole);
    if (index == before) {
        model->text_bytes += whole.size;
        ask_for_frames(model, whole);
    }
    return index + 1;
}

/* A list of frames for an address: how many, then each. */
void capture_take_stack_frame(capture_model *model, const sb_wire_event *event) {
    sb_output *bytes = &model->frame_bytes;
    const uint32_t text = capture_text(model, event->text);
    if (event->kind == SB_WIRE_CALLSTACK_FRAME_SIZE) {
        uint32_t answered = 0;
        const bool is_asked = sb_idmap_get(&model->stack_frames, event->token, &answered);
        if (!is_asked || answered != 0 || event->type == 0 || model->frames_expected > 0) {
            capture_count(model, CAPTURE_STRAY_ANSWER);
            return;
        }
        sb_idmap_set(&model->stack_frames, event->token, 1);
        put_number(bytes, frame_id(event->token), 8);
        put_number(bytes, event->type, 1);
        put_number(bytes, text, 3);
        model->frames_expected = event->type;
        model->frame_count++;
        return;
    }
    if (model->frames_expected == 0) {
        capture_count(model, CAPTURE_STRAY_ANSWER);
        return;
    }
    model->frames_expected--;
    put_number(bytes, text, 3);
    put_number(bytes, capture_text(model, event->file_text), 3);
    put_number(bytes, event->line, 4);
    put_number(bytes, event->token, 8);
}

static void keep_section(capture_model *model, sb_opaque section, sb_output *bytes,
                         uint64_t items) {
    if (items > 0) {
        model->trace->opaque[section] = sb_arena_copy(&model->trace->arena, sb_output_text(bytes));
        model->trace->file.opaque_items[section] = items;
    }
    sb_output_discard(bytes);
}

void capture_store_stacks(capture_model *model) {
    const uint32_t count = sb_intern_count(&model->stacks);
    sb_output stacks = sb_output_to_memory();
    put_number(&stacks, count, 8);
    for (uint32_t i = 0; i < count; i++) {
        const sb_slice addresses = sb_intern_text(&model->stacks, i);
        put_number(&stacks, addresses.size / ADDRESS_SIZE, 2);
        for (size_t k = 0; k < addresses.size; k += ADDRESS_SIZE)
            put_number(&stacks, frame_id(load_address(addresses.data + k)), 8);
    }
    keep_section(model, SB_OPAQUE_CALLSTACKS, &stacks, count);
    /* An answer that was cut off is completed, so that the list can be read. */
    while (model->frames_expected > 0)
        capture_take_stack_frame(model, &(sb_wire_event){.kind = SB_WIRE_CALLSTACK_FRAME});
    sb_output frames = sb_output_to_memory();
    put_number(&frames, model->frame_count, 8);
    sb_put(&frames, sb_output_text(&model->frame_bytes));
    keep_section(model, SB_OPAQUE_CALLSTACK_FRAMES, &frames, model->frame_count);
}
