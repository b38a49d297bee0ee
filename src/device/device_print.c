/*
 * Prints of kernels. Each processor has a ring of records in L1 (sb_print_buffer) that the host
 * empties while it waits. A record is the address of a format and its values; the text is put
 * together here. Whole lines are shown, with the core and processor they come from.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/device_mesh.h"

#define TEXT_MAX 256

static uint32_t buffer_address(uint32_t processor) {
    return SB_L1_PRINT + processor * SB_L1_PRINT_BYTES;
}

static uint8_t mask_of(const sb_device *device, sb_core core) {
    return device->mesh->options.prints.processors[device_core_index(device, core)];
}

sb_status device_print_start(sb_device *device, sb_error *error) {
    static const uint32_t empty[2] = {0, 0};
    device->print_lines = sb_vector_of(sizeof(sb_output));
    for (uint32_t y = 0; y < device->info.rows; y++)
        for (uint32_t x = 0; x < device->info.columns; x++)
            for (uint32_t i = 0; i < SB_PROCESSORS; i++) {
                *(sb_output *)sb_vector_push(&device->print_lines) = sb_output_to_memory();
                if ((mask_of(device, (sb_core){x, y}) >> i & 1) != 0)
                    SB_TRY(sb_device_write_l1(device, (sb_core){x, y}, buffer_address(i), empty,
                                              sizeof empty, error));
            }
    return SB_OK;
}

/* ---- text ---- */

/* Text in L1, cut where it is too long or leaves L1. */
static sb_slice read_text(sb_device *device, sb_core core, uint32_t address, char text[TEXT_MAX]) {
    size_t size = TEXT_MAX - 1;
    if (address >= SB_L1_END)
        return sb_slice_of("(text outside L1)");
    if (size > SB_L1_END - address)
        size = SB_L1_END - address;
    memset(text, 0, TEXT_MAX);
    if (sb_device_read_l1(device, core, address, text, size, NULL) != SB_OK)
        return sb_slice_of("");
    return (sb_slice){text, strnlen(text, size)};
}

static void put_value(sb_device *device, sb_core core, sb_output *out, char conversion,
                      uint32_t value) {
    char text[TEXT_MAX];
    switch (conversion) {
    case 'd':
    case 'i':
        sb_put_format(out, "%d", (int32_t)value);
        break;
    case 'x':
        sb_put_format(out, "%x", value);
        break;
    case 'X':
        sb_put_format(out, "%X", value);
        break;
    case 'o':
        sb_put_format(out, "%o", value);
        break;
    case 'p':
        sb_put_format(out, "0x%08x", value);
        break;
    case 'c':
        sb_put_char(out, (char)value);
        break;
    case 's':
        sb_put(out, read_text(device, core, value, text));
        break;
    default:
        sb_put_format(out, "%u", value);
        break;
    }
}

/* %08x: how a value is shown. */
typedef struct conversion {
    char letter; /* '\0': the format ends before it */
    bool is_left;
    bool has_zeros;
    size_t width;
} conversion;

/* What follows a %; *format is what follows the conversion. */
static conversion read_conversion(sb_slice *format) {
    conversion read = {0};
    size_t at = 0;
    for (; at < format->size; at++) {
        const char letter = format->data[at];
        if (letter == '-')
            read.is_left = true;
        else if (letter == '0' && read.width == 0)
            read.has_zeros = true;
        else if (letter >= '0' && letter <= '9')
            read.width = read.width * 10 + (size_t)(letter - '0');
        else if (letter != 'l' && letter != 'h')
            break;
        if (read.width >= TEXT_MAX)
            read.width = TEXT_MAX;
    }
    if (at < format->size)
        read.letter = format->data[at++];
    *format = sb_slice_after(*format, at);
    return read;
}

static void put_padded(sb_output *out, const conversion *how, sb_slice text) {
    const size_t missing = how->width > text.size ? how->width - text.size : 0;
    const bool has_zeros = how->has_zeros && !how->is_left;
    if (has_zeros && sb_slice_starts_with(text, "-")) {
        sb_put_char(out, '-');
        text = sb_slice_after(text, 1);
    }
    for (size_t i = 0; i < missing && !how->is_left; i++)
        sb_put_char(out, has_zeros ? '0' : ' ');
    sb_put(out, text);
    for (size_t i = 0; i < missing && how->is_left; i++)
        sb_put_char(out, ' ');
}

static void put_record(sb_device *device, sb_core core, sb_output *out, uint32_t format_address,
                       const uint32_t *values, uint32_t count) {
    char text[TEXT_MAX];
    sb_slice format = read_text(device, core, format_address, text);
    uint32_t next = 0;
    sb_output value = sb_output_to_memory();
    while (format.size > 0) {
        const char letter = format.data[0];
        format = sb_slice_after(format, 1);
        if (letter != '%') {
            sb_put_char(out, letter);
            continue;
        }
        const conversion how = read_conversion(&format);
        if (how.letter == '%')
            sb_put_char(out, '%');
        else if (how.letter != '\0' && next < count) {
            put_value(device, core, &value, how.letter, values[next++]);
            put_padded(out, &how, sb_output_text(&value));
            sb_output_truncate(&value, 0);
        }
    }
    sb_output_discard(&value);
}

/* Lines that are complete go out; the rest waits for its end. */
static void show_lines(const sb_device *device, sb_core core, uint32_t processor, sb_output *out,
                       bool ends) {
    sb_slice rest = sb_output_text(out);
    const sb_slice all = rest;
    while (sb_slice_contains(rest, "\n") || (ends && rest.size > 0)) {
        const sb_slice line = sb_slice_cut(rest, '\n', &rest);
        printf("%u:(x=%u,y=%u):%s: %.*s\n", device->info.index, core.x, core.y,
               device_processor_name(processor), (int)line.size, line.data);
    }
    if (rest.size == all.size)
        return;
    char *kept = sb_alloc(rest.size + 1);
    memcpy(kept, rest.data, rest.size);
    sb_output_truncate(out, 0);
    sb_put(out, (sb_slice){kept, rest.size});
    free(kept);
    fflush(stdout);
}

/* ---- reading ---- */

static sb_status drain(sb_device *device, sb_core core, uint32_t processor, bool *has_printed,
                       sb_error *error) {
    sb_print_buffer buffer;
    const uint32_t address = buffer_address(processor);
    SB_TRY(sb_device_read_l1(device, core, address, &buffer, 8, error));
    if (buffer.written == buffer.read)
        return SB_OK;
    SB_TRY(sb_device_read_l1(device, core, address, &buffer, sizeof buffer, error));
    sb_output *out = sb_vector_at(
        &device->print_lines, (size_t)device_core_index(device, core) * SB_PROCESSORS + processor);
    while (buffer.written - buffer.read >= 2 && buffer.written - buffer.read <= SB_PRINT_WORDS) {
        uint32_t values[SB_PRINT_WORDS];
        const uint32_t format = buffer.words[buffer.read % SB_PRINT_WORDS];
        const uint32_t count = buffer.words[(buffer.read + 1) % SB_PRINT_WORDS];
        if (count > SB_PRINT_WORDS - 2)
            break;
        for (uint32_t i = 0; i < count; i++)
            values[i] = buffer.words[(buffer.read + 2 + i) % SB_PRINT_WORDS];
        put_record(device, core, out, format, values, count);
        buffer.read += 2 + count;
    }
    /* Whatever a kernel wrote there, the ring is empty now. */
    buffer.read = buffer.written;
    *has_printed = true;
    show_lines(device, core, processor, out, false);
    return sb_device_write_l1(device, core, address + 4, &buffer.read, 4, error);
}

sb_status device_print_drain(sb_device *device, bool *has_printed, sb_error *error) {
    for (uint32_t y = 0; y < device->info.rows; y++)
        for (uint32_t x = 0; x < device->info.columns; x++) {
            const uint8_t mask = mask_of(device, (sb_core){x, y});
            for (uint32_t i = 0; i < SB_PROCESSORS && mask != 0; i++)
                if ((mask >> i & 1) != 0)
                    SB_TRY(drain(device, (sb_core){x, y}, i, has_printed, error));
        }
    return SB_OK;
}

void device_print_stop(sb_device *device) {
    const uint32_t columns = device->info.columns;
    for (size_t i = 0; i < device->print_lines.count; i++) {
        const uint32_t core = (uint32_t)(i / SB_PROCESSORS);
        sb_output *out = sb_vector_at(&device->print_lines, i);
        show_lines(device, (sb_core){core % columns, core / columns}, (uint32_t)(i % SB_PROCESSORS),
                   out, true);
        sb_output_discard(out);
    }
    sb_vector_free(&device->print_lines);
}
