#include "trace/trace_core.h"

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

bool sb_sm_parse(sb_slice name, sb_sm *sm) {
    const sb_slice label = SB_SLICE(", SM ");
    const size_t at = sb_slice_find(name, label.data);
    if (at == SB_NOT_FOUND)
        return false;
    sm->gpu = (sb_slice){name.data, at};
    size_t digits = at;
    while (digits > 0 && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9')
        digits--;
    sb_slice number = {name.data + digits, at - digits};
    sb_slice rest = sb_slice_after(name, at + label.size);
    if (!take_number(&number, ',', &sm->device) || !take_number(&rest, ',', &sm->number))
        return false;
    return true;
}
