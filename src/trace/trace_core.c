#include "trace/trace_core.h"

#include <string.h>

enum { LARGEST = 65535 };

/* The number before the separator. */
static bool take_number(sb_slice *text, char separator, unsigned *number) {
    int64_t value = 0;
    const sb_slice digits = sb_slice_cut(*text, separator, text);
    if (!sb_parse_int64(digits, &value) || value < 0 || value > LARGEST)
        return false;
    *number = (unsigned)value;
    return true;
}

bool sb_core_parse(sb_slice name, sb_core *core) {
    if (!sb_slice_starts_with(name, "Device: "))
        return false;
    sb_slice rest = sb_slice_after(name, sizeof "Device: " - 1);
    if (!take_number(&rest, ',', &core->device))
        return false;
    const char *labels[] = {"Physical (", "Core ("};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const size_t at = sb_slice_find(rest, labels[i]);
        if (at == SB_NOT_FOUND)
            continue;
        sb_slice place = sb_slice_after(rest, at + sb_slice_of(labels[i]).size);
        return take_number(&place, ',', &core->x) && take_number(&place, ')', &core->y);
    }
    return false;
}

/* What stands before a label; false: it is not there. *rest is what stands behind it. */
static bool cut_at(sb_slice text, const char *label, sb_slice *before, sb_slice *rest) {
    const size_t at = sb_slice_find(text, label);
    if (at == SB_NOT_FOUND)
        return false;
    *before = (sb_slice){text.data, at};
    *rest = sb_slice_after(text, at + strlen(label));
    return true;
}

static bool ends_in_number(sb_slice text, unsigned *number) {
    size_t digits = text.size;
    while (digits > 0 && text.data[digits - 1] >= '0' && text.data[digits - 1] <= '9')
        digits--;
    sb_slice end = sb_slice_after(text, digits);
    return take_number(&end, ',', number);
}

bool sb_sm_parse(sb_slice context, sb_slice lane, sb_sm *sm) {
    sb_slice rest;
    sm->lane = lane;
    if (cut_at(context, ", SM ", &sm->gpu, &rest))
        return ends_in_number(sm->gpu, &sm->device) && take_number(&rest, ',', &sm->number);
    if (!cut_at(context, ", SMs ", &sm->gpu, &rest) || !sb_slice_starts_with(lane, "SM ") ||
        !ends_in_number(sm->gpu, &sm->device))
        return false;
    rest = sb_slice_after(lane, sizeof "SM " - 1);
    if (!take_number(&rest, ',', &sm->number))
        return false;
    sm->lane = sb_slice_starts_with(rest, " ") ? sb_slice_after(rest, 1) : rest;
    return true;
}
