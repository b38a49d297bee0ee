/*
 * Call stacks: addresses while recording, the sections of a trace file at the end.
 */
#include "capture/capture_model.h"

enum { ADDRESS_SIZE = 8 };

/* Marks a frame that a script gave as text. */
#define SCRIPT_FRAME (UINT64_C(1) << 62)

static uint64_t load_number(const char *bytes, unsigned size) {
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)(uint8_t)bytes[i] << (8 * i);
    return number;
}

static uint64_t load_address(const char *bytes) {
    return load_number(bytes, ADDRESS_SIZE);
}

/* What a file stores: the two bits that repeat others are free for marks. */
static uint64_t frame_id(uint64_t address) {
    return address & (SCRIPT_FRAME - 1);
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

/* ---- frames given as text ---- */

static bool may_keep(capture_model *model, const sb_intern *list, size_t limit, size_t size) {
    if (sb_intern_count(list) < limit && model->text_bytes + size <= CAPTURE_TEXT_BYTES_MAX)
        return true;
    capture_count(model, CAPTURE_OVER_LIMIT);
    return false;
}

/* The id of a frame; 0 if it cannot be kept. Equal frames are one. */
static uint64_t script_frame(capture_model *model, sb_slice bytes, uint32_t line, sb_slice function,
                             sb_slice file) {
    if (!may_keep(model, &model->script_frames, CAPTURE_FRAMES_MAX, bytes.size))
        return 0;
    const uint32_t before = sb_intern_count(&model->script_frames);
    const uint32_t index = sb_intern_add(&model->script_frames, bytes);
    const uint64_t id = SCRIPT_FRAME | index;
    if (index == before) {
        sb_output *to = &model->script_bytes;
        model->text_bytes += bytes.size;
        capture_put_number(to, id, 8);
        capture_put_number(to, 1, 1); /* nothing inlined */
        capture_put_number(to, 0, 3); /* of no image */
        capture_put_number(to, capture_text(model, function), 3);
        capture_put_number(to, capture_text(model, file), 3);
        capture_put_number(to, line, 4);
        capture_put_number(to, 0, 8); /* of no symbol */
    }
    return id;
}

/* A text with its length in two bytes before it; false: it is cut. */
static bool take_text(sb_slice *rest, sb_slice *text) {
    enum { LENGTH_SIZE = 2 };
    if (rest->size < LENGTH_SIZE)
        return false;
    const size_t size = load_number(rest->data, LENGTH_SIZE);
    *rest = sb_slice_after(*rest, LENGTH_SIZE);
    if (rest->size < size)
        return false;
    *text = sb_slice_first(*rest, size);
    *rest = sb_slice_after(*rest, size);
    return true;
}

/* A count, then for each frame its line, function and file. */
static void add_script(capture_model *model, sb_slice script) {
    enum { LINE_SIZE = 4 };
    unsigned left = script.size == 0 ? 0 : (uint8_t)script.data[0];
    sb_slice rest = left == 0 ? (sb_slice){0} : sb_slice_after(script, 1);
    for (; left > 0; left--) {
        const sb_slice from = rest;
        sb_slice function = {0};
        sb_slice file = {0};
        if (rest.size < LINE_SIZE)
            break;
        const uint32_t line = (uint32_t)load_number(rest.data, LINE_SIZE);
        rest = sb_slice_after(rest, LINE_SIZE);
        if (!take_text(&rest, &function) || !take_text(&rest, &file))
            break;
        const sb_slice bytes = sb_slice_first(from, from.size - rest.size);
        const uint64_t id = script_frame(model, bytes, line, function, file);
        if (id != 0)
            *(uint64_t *)sb_vector_push(&model->stack_ids) = id;
    }
    if (left > 0)
        capture_count(model, CAPTURE_BAD_STACK);
}

/* ---- stacks ---- */

uint32_t capture_stack(capture_model *model, sb_slice addresses, sb_slice script) {
    sb_vector *ids = &model->stack_ids;
    sb_vector_clear(ids);
    add_script(model, script);
    for (size_t i = 0; i + ADDRESS_SIZE <= addresses.size; i += ADDRESS_SIZE)
        *(uint64_t *)sb_vector_push(ids) = frame_id(load_address(addresses.data + i));
    const sb_slice whole = {ids->data, ids->count * sizeof(uint64_t)};
    if (whole.size == 0 || !may_keep(model, &model->stacks, CAPTURE_STACKS_MAX, whole.size))
        return 0;
    const uint32_t before = sb_intern_count(&model->stacks);
    const uint32_t index = sb_intern_add(&model->stacks, whole);
    if (index == before) {
        model->text_bytes += whole.size;
        ask_for_frames(model, addresses);
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
        capture_put_number(bytes, frame_id(event->token), 8);
        capture_put_number(bytes, event->type, 1);
        capture_put_number(bytes, text, 3);
        model->frames_expected = event->type;
        model->frame_count++;
        return;
    }
    if (model->frames_expected == 0) {
        capture_count(model, CAPTURE_STRAY_ANSWER);
        return;
    }
    model->frames_expected--;
    capture_put_number(bytes, text, 3);
    capture_put_number(bytes, capture_text(model, event->file_text), 3);
    capture_put_number(bytes, event->line, 4);
    capture_put_number(bytes, event->token, 8);
}

/* ---- the end ---- */

void capture_store_stacks(capture_model *model) {
    const uint32_t count = sb_intern_count(&model->stacks);
    sb_output stacks = sb_output_to_memory();
    capture_put_number(&stacks, count, 8);
    for (uint32_t i = 0; i < count; i++) {
        const sb_slice ids = sb_intern_text(&model->stacks, i);
        capture_put_number(&stacks, ids.size / sizeof(uint64_t), 2);
        for (size_t k = 0; k < ids.size; k += sizeof(uint64_t)) {
            uint64_t id = 0;
            memcpy(&id, ids.data + k, sizeof id);
            capture_put_number(&stacks, id, 8);
        }
    }
    capture_keep_section(model, SB_OPAQUE_CALLSTACKS, &stacks, count);
    /* An answer that was cut off is completed, so that the list can be read. */
    while (model->frames_expected > 0)
        capture_take_stack_frame(model, &(sb_wire_event){.kind = SB_WIRE_CALLSTACK_FRAME});
    const uint64_t frames = model->frame_count + sb_intern_count(&model->script_frames);
    sb_output section = sb_output_to_memory();
    capture_put_number(&section, frames, 8);
    sb_put(&section, sb_output_text(&model->frame_bytes));
    sb_put(&section, sb_output_text(&model->script_bytes));
    capture_keep_section(model, SB_OPAQUE_CALLSTACK_FRAMES, &section, frames);
}
