#include "perf/perf_model.h"

#include <ctype.h>
#include <string.h>

/* A Tensix matrix unit does 4096 operations per cycle at LoFi, half and a quarter at HiFi2/4. */
#define OPS_PER_CYCLE 4096
#define PER_CORE(ghz) (OPS_PER_CYCLE * (ghz) / 1000)

/* TFLOP/s of all SMs by precision, without sparsity, from NVIDIA's data sheets. */
typedef struct gpu_peaks {
    double fp64, fp32, tf32, fp16, fp8, int8;
} gpu_peaks;

static const gpu_peaks hopper_sxm = {66.9, 66.9, 494.7, 989.4, 1978.9, 1978.9};
static const gpu_peaks hopper_pcie = {51.2, 51.2, 378, 756, 1513, 1513};
static const gpu_peaks ampere = {19.5, 19.5, 156, 312, 0, 624};

static const perf_arch architectures[] = {
    {"wormhole", 64, 288, 262.0 / 72, 148.0 / 72, 74.0 / 72, NULL},
    {"blackhole", 130, 512, PER_CORE(1.35), PER_CORE(1.35) / 2, PER_CORE(1.35) / 4, NULL},
    {"bh20", 20, 512, PER_CORE(1.35), PER_CORE(1.35) / 2, PER_CORE(1.35) / 4, NULL},
    {"n1", 20, 120, PER_CORE(0.65), PER_CORE(0.65) / 2, PER_CORE(0.65) / 4, NULL},
    {"h200", 132, 4800, 0, 0, 0, &hopper_sxm},
    {"h100", 132, 3350, 0, 0, 0, &hopper_sxm},
    {"h100_pcie", 114, 2000, 0, 0, 0, &hopper_pcie},
    {"a100", 108, 2039, 0, 0, 0, &ampere},
    {"a100_40gb", 108, 1555, 0, 0, 0, &ampere},
};

/* Boards are what people know; the chip on them is what the table is about. */
static const struct {
    const char *alias;
    const char *name;
    bool plain_only;
} aliases[] = {
    {"wormhole_b0", "wormhole", false},
    {"n150", "wormhole", true},
    {"n300", "wormhole", true},
    {"t3k", "wormhole", true},
    {"galaxy", "wormhole", true},
    {"p100", "blackhole", true},
    {"p100a", "blackhole", true},
    {"p150", "blackhole", true},
    {"p150a", "blackhole", true},
    {"p150b", "blackhole", true},
    {"p300", "blackhole", true},
    /* as the driver calls them */
    {"nvidia_h200", "h200", true},
    {"nvidia_h100_80gb_hbm3", "h100", true},
    {"h100_sxm", "h100", true},
    {"nvidia_h100_pcie", "h100_pcie", true},
    {"nvidia_a100_sxm4_80gb", "a100", true},
    {"a100_80gb", "a100", true},
    {"nvidia_a100_sxm4_40gb", "a100_40gb", true},
    {"nvidia_a100_pcie_40gb", "a100_40gb", true},
};

/* Capitals make no difference; nor do blanks and dashes in the names of GPUs. */
static bool is_same_name(sb_slice name, const char *known, bool is_gpu) {
    if (name.size != strlen(known))
        return false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        const bool is_gap = is_gpu && (c == ' ' || c == '-');
        if ((is_gap ? '_' : tolower((unsigned char)c)) != known[i])
            return false;
    }
    return true;
}

const perf_arch *perf_find_arch(sb_slice name, bool compat) {
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (!(compat && aliases[i].plain_only) && is_same_name(name, aliases[i].alias, !compat))
            name = sb_slice_of(aliases[i].name);
    }
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        const bool is_gpu = architectures[i].gpu != NULL;
        if (!(compat && is_gpu) && is_same_name(name, architectures[i].name, is_gpu))
            return &architectures[i];
    }
    return NULL;
}

bool perf_is_about_gpus(const sb_perf_report *report) {
    const perf_arch *arch = report->store->arch;
    return arch != NULL && arch->gpu != NULL;
}

/* ---- peaks ---- */

typedef enum gpu_precision { NO_PRECISION, INT8, FP8, FP16, TF32, FP32, FP64 } gpu_precision;

/* What a cell calls it, narrowest first. TF32 is a way to multiply, not to store. */
static const struct {
    const char *name;
    gpu_precision precision;
} precisions[] = {
    {"int8", INT8},       {"uint8", INT8},        {"fp8", FP8},         {"float8", FP8},
    {"float8_e4m3", FP8}, {"float8_e4m3fn", FP8}, {"float8_e5m2", FP8}, {"fp16", FP16},
    {"float16", FP16},    {"bf16", FP16},         {"bfloat16", FP16},   {"tf32", TF32},
    {"fp32", FP32},       {"float32", FP32},      {"fp64", FP64},       {"float64", FP64},
};

static gpu_precision precision_of(sb_slice name) {
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++) {
        if (is_same_name(name, precisions[i].name, true))
            return precisions[i].precision;
    }
    return NO_PRECISION;
}

bool perf_is_precision(sb_slice name) {
    return precision_of(name) != NO_PRECISION;
}

static double gpu_peak(const gpu_peaks *peaks, gpu_precision precision) {
    const double by_precision[] = {0,           peaks->int8, peaks->fp8, peaks->fp16,
                                   peaks->tf32, peaks->fp32, peaks->fp64};
    return by_precision[precision];
}

/* The wider of both inputs: the narrower is converted before it is multiplied. */
static gpu_precision precision_of_inputs(const sb_slice *datatypes) {
    const gpu_precision a = precision_of(datatypes[SB_PERF_INPUT_0]);
    const gpu_precision b = precision_of(datatypes[SB_PERF_INPUT_1]);
    if (a == NO_PRECISION || b == NO_PRECISION)
        return NO_PRECISION;
    return a > b ? a : b;
}

static double peak_of_gpu(const perf_arch *arch, sb_slice fidelity, const sb_slice *datatypes) {
    gpu_precision precision = precision_of(fidelity);
    if (precision == NO_PRECISION)
        precision = precision_of_inputs(datatypes);
    return gpu_peak(arch->gpu, precision) / arch->worker_cores;
}

double perf_peak_tflops(const perf_arch *arch, sb_slice fidelity, const sb_slice *datatypes,
                        bool compat) {
    if (arch == NULL)
        return 0;
    if (arch->gpu != NULL)
        return peak_of_gpu(arch, fidelity, datatypes);
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
