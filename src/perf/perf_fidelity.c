/*
 * Does the math fidelity of an operation fit its datatypes?
 *
 * The multiplier takes 5 bits of one operand and 7 of the other per pass; LoFi makes one pass,
 * HiFi2 two, HiFi4 four. So the bits in the mantissas say how many passes the result can profit
 * from.
 */
#include "perf/perf_model.h"

typedef struct datatype_bits {
    const char *name;
    const char *short_name;
    int bits; /* of the mantissa, the leading one included */
} datatype_bits;

static const datatype_bits float_types[] = {
    {"FLOAT32", "FP32", 23},
    {"BFLOAT16", "BF16", 8},
    {"BFLOAT8_B", "BFP8", 7},
    {"BFLOAT4_B", "BFP4", 3},
};

static const char *const integer_types[] = {"UINT8", "UINT16", "INT32", "UINT32"};

static const datatype_bits *find_float(sb_slice name) {
    for (size_t i = 0; i < sizeof float_types / sizeof float_types[0]; i++) {
        if (sb_slice_is(name, float_types[i].name))
            return &float_types[i];
    }
    return NULL;
}

static bool is_integer(sb_slice name) {
    for (size_t i = 0; i < sizeof integer_types / sizeof integer_types[0]; i++) {
        if (sb_slice_is(name, integer_types[i]))
            return true;
    }
    return false;
}

sb_slice perf_short_datatype(sb_slice datatype) {
    const datatype_bits *known = find_float(datatype);
    return known != NULL ? sb_slice_of(known->short_name) : datatype;
}

enum { HIFI4, HIFI2, LOFI, FIDELITIES };

typedef struct verdict {
    perf_fidelity_class class;
    const char *hint;
} verdict;

static const char drop_to_hifi2[] =
    "try math fidelity HiFi2: twice the throughput of HiFi4, at the cost of the lowest bit of the "
    "activations";
static const char hifi2_low_output[] =
    "math fidelity HiFi4 is more than a BFP4 output can hold: HiFi2 gives twice the throughput at "
    "the cost of the lowest bit of the activations";
static const char lofi_may_do[] =
    "LoFi may be enough for a BFP4 output: nearly twice the throughput of HiFi2";
static const char hifi2_is_enough[] =
    "math fidelity HiFi4 is more than BFP8 multiplication uses: HiFi2 gives the same result at "
    "twice the throughput";
static const char lofi_is_enough[] =
    "LoFi is all that BFP4 weights can use: up to four times the throughput of HiFi4";
static const char raise_to_hifi4[] =
    "HiFi2 drops the lowest bit of BF16 activations: where compute is not the limit, HiFi4 gives "
    "full accuracy for free";
static const char raise_to_hifi2[] =
    "LoFi drops bits of BF16 activations: HiFi2 or HiFi4 for better accuracy";
static const char raise_for_weights[] =
    "LoFi drops the lowest two bits of the weights: HiFi2 for better accuracy";
static const char raise_for_sums[] =
    "HiFi2 may be more accurate where many products are added up (large inner dimension)";

/* a, b, c: bits of input 0, input 1 and output. */
static const verdict *find_verdicts(int a, int b, int c) {
    static const verdict full_activations[FIDELITIES] = {
        {PERF_FIDELITY_SUFFICIENT, drop_to_hifi2},
        {PERF_FIDELITY_TOO_LOW, raise_to_hifi4},
        {PERF_FIDELITY_TOO_LOW, raise_to_hifi2},
    };
    static const verdict full_to_low[FIDELITIES] = {
        {PERF_FIDELITY_TOO_HIGH, hifi2_low_output},
        {PERF_FIDELITY_SUFFICIENT, lofi_may_do},
        {PERF_FIDELITY_TOO_LOW, raise_for_sums},
    };
    static const verdict wide_weights[FIDELITIES] = {
        {PERF_FIDELITY_TOO_HIGH, hifi2_is_enough},
        {PERF_FIDELITY_SUFFICIENT, NULL},
        {PERF_FIDELITY_TOO_LOW, raise_for_weights},
    };
    static const verdict wide_to_low[FIDELITIES] = {
        {PERF_FIDELITY_TOO_HIGH, hifi2_is_enough},
        {PERF_FIDELITY_SUFFICIENT, lofi_may_do},
        {PERF_FIDELITY_TOO_LOW, raise_for_sums},
    };
    static const verdict narrow_weights[FIDELITIES] = {
        {PERF_FIDELITY_TOO_HIGH, lofi_is_enough},
        {PERF_FIDELITY_TOO_HIGH, lofi_is_enough},
        {PERF_FIDELITY_SUFFICIENT, NULL},
    };
    if (a == 8 && c >= 7)
        return full_activations;
    if (a == 8 && c == 3)
        return full_to_low;
    if (b >= 7 && c >= 7)
        return wide_weights;
    if (b >= 7 && c == 3)
        return wide_to_low;
    return b == 3 ? narrow_weights : NULL;
}

static int fidelity_index(sb_slice fidelity) {
    if (sb_slice_is(fidelity, "HiFi4"))
        return HIFI4;
    if (sb_slice_is(fidelity, "HiFi2"))
        return HIFI2;
    return sb_slice_is(fidelity, "LoFi") ? LOFI : FIDELITIES;
}

static perf_fidelity unknown_type(sb_slice datatype, sb_arena *arena) {
    const sb_slice shown = datatype.data == NULL ? (sb_slice)SB_SLICE("none") : datatype;
    if (arena == NULL)
        return (perf_fidelity){PERF_FIDELITY_UNKNOWN, SB_SLICE("-")};
    return (perf_fidelity){
        PERF_FIDELITY_UNKNOWN,
        sb_arena_format(arena, "the math fidelity cannot be judged: datatype %.*s is not known",
                        (int)shown.size, shown.data)};
}

perf_fidelity perf_judge_fidelity(const sb_perf_row *row, sb_arena *arena) {
    int bits[SB_PERF_TENSORS] = {0};
    if (row->arch != NULL && row->arch->gpu != NULL)
        return (perf_fidelity){PERF_FIDELITY_NOT_APPLICABLE, {"", 0}};
    for (int i = 0; i < SB_PERF_TENSORS; i++) {
        if (is_integer(row->datatypes[i]))
            return (perf_fidelity){
                PERF_FIDELITY_NOT_APPLICABLE,
                SB_SLICE("integer datatypes: math fidelity makes no difference here")};
    }
    for (int i = 0; i < SB_PERF_TENSORS; i++) {
        const datatype_bits *known = find_float(row->datatypes[i]);
        if (known == NULL)
            return unknown_type(row->datatypes[i], arena);
        bits[i] = known->bits;
    }
    const verdict *verdicts =
        find_verdicts(bits[SB_PERF_INPUT_0], bits[SB_PERF_INPUT_1], bits[SB_PERF_OUTPUT_0]);
    const int index = fidelity_index(row->fidelity);
    if (verdicts == NULL || index == FIDELITIES)
        return (perf_fidelity){PERF_FIDELITY_UNKNOWN, {"", 0}};
    const char *hint = verdicts[index].hint;
    return (perf_fidelity){verdicts[index].class,
                           hint != NULL ? sb_slice_of(hint) : (sb_slice){"", 0}};
}
