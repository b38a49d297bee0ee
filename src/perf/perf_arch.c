#include "perf/perf_model.h"

#include <string.h>

/* A Tensix matrix unit does 4096 operations per cycle at LoFi, half and a quarter at HiFi2/4. */
#define OPS_PER_CYCLE 4096
#define PER_CORE(ghz) (OPS_PER_CYCLE * (ghz) / 1000)

static const perf_arch architectures[] = {
    {"wormhole", 64, 288, 262.0 / 72, 148.0 / 72, 74.0 / 72},
    {"blackhole", 130, 512, PER_CORE(1.35), PER_CORE(1.35) / 2, PER_CORE(1.35) / 4},
    {"bh20", 20, 512, PER_CORE(1.35), PER_CORE(1.35) / 2, PER_CORE(1.35) / 4},
    {"n1", 20, 120, PER_CORE(0.65), PER_CORE(0.65) / 2, PER_CORE(0.65) / 4},
};

/* Boards are what people know; the chip on them is what the table is about. */
static const struct {
    const char *alias;
    const char *name;
    bool plain_only;
} aliases[] = {
    {"wormhole_b0", "wormhole", false}, {"n150", "wormhole", true},   {"n300", "wormhole", true},
    {"t3k", "wormhole", true},          {"galaxy", "wormhole", true}, {"p100", "blackhole", true},
    {"p100a", "blackhole", true},       {"p150", "blackhole", true},  {"p150a", "blackhole", true},
    {"p150b", "blackhole", true},       {"p300", "blackhole", true},
};

static bool is_same_name(sb_slice name, const char *known) {
    if (name.size != strlen(known))
        return false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != known[i])
            return false;
    }
    return true;
}

const perf_arch *perf_find_arch(sb_slice name, bool compat) {
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (!(compat && aliases[i].plain_only) && is_same_name(name, aliases[i].alias))
            name = sb_slice_of(aliases[i].name);
    }
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        if (is_same_name(name, architectures[i].name))
            return &architectures[i];
    }
    return NULL;
}

double perf_peak_tflops(const perf_arch *arch, sb_slice fidelity, bool compat) {
    if (arch == NULL)
        return 0;
    if (sb_slice_is(fidelity, "HiFi4"))
        return arch->hifi4;
    if (sb_slice_is(fidelity, "HiFi2"))
        return arch->hifi2;
    if (sb_slice_is(fidelity, "LoFi"))
        return arch->lofi;
    /* Three passes of the multiplier where HiFi4 makes four. */
    if (!compat && sb_slice_is(fidelity, "HiFi3"))
        return arch->hifi4 * 4 / 3;
    return 0;
}
