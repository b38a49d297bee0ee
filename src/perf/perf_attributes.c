/*
 * The ATTRIBUTES cell: a dump of C++ objects as text, `{'key': 'value'; 'key': 'Name(a=1; b=2)'}`.
 * It has no grammar that holds across versions, so what is needed is found by its key.
 */
#include "perf/perf_model.h"

/* What follows the first key, or a slice without data. */
static sb_slice after_key(sb_slice text, const char *key) {
    const size_t at = sb_slice_find(text, key);
    if (at == SB_NOT_FOUND)
        return (sb_slice){NULL, 0};
    return sb_slice_after(text, at + sb_slice_of(key).size);
}

/* The digits behind the first key that has any right behind it; -1 if none has. */
static int64_t number_after(sb_slice text, const char *key) {
    for (sb_slice rest = after_key(text, key); rest.data != NULL; rest = after_key(rest, key)) {
        size_t digits = 0;
        while (digits < rest.size && rest.data[digits] >= '0' && rest.data[digits] <= '9')
            digits++;
        int64_t number = 0;
        if (digits > 0)
            return sb_parse_int64(sb_slice_first(rest, digits), &number) ? number : -1;
    }
    return -1;
}

/* The number between the character behind key and the next ';'; -1 if there is none. */
static int64_t field_after(sb_slice text, const char *key) {
    const sb_slice found = after_key(text, key);
    if (found.data == NULL)
        return -1;
    sb_slice rest;
    const sb_slice field = sb_slice_cut(sb_slice_after(found, 1), ';', &rest);
    int64_t number = 0;
    return sb_parse_int64(field, &number) ? number : -1;
}

/* `KEY': 'true'` or, which the original does not know, `KEY=true`. */
static perf_tristate flag_after(sb_slice text, const char *key, bool compat) {
    sb_slice value = after_key(text, key);
    if (value.data == NULL)
        return PERF_NOT_SAID;
    if (sb_slice_starts_with(value, "': '"))
        value = sb_slice_after(value, 4);
    else if (!compat && sb_slice_starts_with(value, "="))
        value = sb_slice_after(value, 1);
    else
        return PERF_NOT_SAID;
    return sb_slice_starts_with(value, "true") ? PERF_TRUE : PERF_FALSE;
}

/* `window_hw=(3;3); ...` */
static bool find_window(sb_slice text, int64_t window[2]) {
    sb_slice found = after_key(text, "window_hw");
    if (found.data == NULL)
        return false;
    const size_t end = sb_slice_find(found, "; ");
    if (end != SB_NOT_FOUND)
        found = sb_slice_first(found, end);
    if (found.size < 3)
        return false;
    sb_slice rest = sb_slice_first(sb_slice_after(found, 2), found.size - 3);
    const sb_slice height = sb_slice_cut(rest, ';', &rest);
    const sb_slice width = sb_slice_cut(rest, ';', &rest);
    return sb_parse_int64(height, &window[0]) && sb_parse_int64(width, &window[1]);
}

perf_attributes perf_parse_attributes(sb_slice text, bool compat) {
    perf_attributes found = {
        .inner_block = -1, .subblock_height = -1, .subblock_width = -1, .text = text};
    if (sb_slice_contains(text, "program_config")) {
        found.inner_block = number_after(text, "in0_block_w=");
        found.subblock_height = number_after(text, "out_subblock_h=");
        found.subblock_width = number_after(text, "out_subblock_w=");
    }
    found.dram_sharded =
        sb_slice_contains(text, "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig");
    found.has_window = find_window(text, found.window);
    found.output_height_tiles = field_after(text, "per_core_out_matrix_height_ntile");
    found.activation_block_tiles = field_after(text, "act_block_h_ntiles");
    found.double_buffered = flag_after(text, "enable_act_double_buffer", compat);
    found.split_reader = flag_after(text, "enable_split_reader", compat);
    return found;
}

/* The first pieces between ';' behind key, joined by ','; "x" without the key. */
static void put_pieces(sb_output *output, sb_slice text, const char *key, size_t pieces) {
    sb_slice rest = after_key(text, key);
    if (rest.data == NULL) {
        sb_put_char(output, 'x');
        return;
    }
    bool more = true;
    for (size_t i = 0; i < pieces && more; i++) {
        const sb_slice whole = rest;
        const sb_slice piece = sb_slice_cut(whole, ';', &rest);
        more = piece.size < whole.size;
        if (i > 0)
            sb_put_char(output, ',');
        sb_put(output, piece);
    }
}

static void put_layout(sb_output *output, sb_slice text) {
    sb_slice rest = after_key(text, "memory_layout=");
    sb_slice ignored;
    const sb_slice value = rest.data == NULL ? rest : sb_slice_cut(rest, ';', &ignored);
    const size_t colons = value.data == NULL ? SB_NOT_FOUND : sb_slice_find(value, "::");
    if (colons == SB_NOT_FOUND) {
        sb_put_char(output, 'x');
        return;
    }
    rest = sb_slice_after(value, colons + 2);
    const size_t end = sb_slice_find(rest, "::");
    sb_put(output, end == SB_NOT_FOUND ? rest : sb_slice_first(rest, end));
}

void perf_put_halo(const perf_attributes *attributes, sb_output *output) {
    const sb_slice text = attributes->text;
    sb_put_text(output, " w=");
    put_pieces(output, text, "window_hw=", 2);
    sb_put_text(output, " s=");
    put_pieces(output, text, "stride_hw=", 2);
    sb_put_text(output, " p=");
    put_pieces(output, text, "padding=", 4);
    sb_put_text(output, " d=");
    put_pieces(output, text, "dilation_hw=", 2);
    sb_put_text(output, " | ");
    put_layout(output, text);
}
