/*
 * What a profiler of the host is told about operations: a zone for each, and messages in the form
 * of tt-metal's runtime, from which `strobe report` makes a row per operation.
 *
 *     ops_call call;
 *     ops_call_begin(&call, device);        zone TT_DNN_DEVICE_OP
 *     sb_program_set_id(program, call.id);  the device reports under the same number
 *     ... build and enqueue ...
 *     ops_call_end(&call, &description);    message, end of the zone
 *
 * Messages are sent if TTNN_OP_PROFILER is set, as by `strobe run -r`: in full for the first
 * call with the same program on a device, then only its number, unless
 * TT_METAL_PROFILER_NO_CACHE_OP_INFO wants all of them in full. Any thread may call these.
 */
#ifndef STROBE_EXAMPLES_OPS_PROFILE_H
#define STROBE_EXAMPLES_OPS_PROFILE_H

#include <strobe/device.h>
#include <strobe/strobe.h>

typedef struct ops_attribute {
    const char *name;
    const char *value;
} ops_attribute;

/* A tensor as reports show it. */
typedef struct ops_operand {
    uint32_t rows;
    uint32_t columns;
    const char *dtype; /* INT32, BFLOAT16, FLOAT32 */
    uint32_t tile;     /* sides are padded to a multiple of it; 1: it lies row by row */
} ops_operand;

/* A kernel of the program. */
typedef struct ops_kernel {
    const char *source;     /* NULL: there is none */
    sb_processor processor; /* BRISC and NCRISC move data, the others compute, and so does a GPU */
    uint32_t number;        /* in the program */
} ops_kernel;

enum { OPS_TENSORS_MAX = 3, OPS_KERNELS_MAX = 3, OPS_ATTRIBUTES_MAX = 4 };

typedef struct ops_description {
    const char *code; /* what reports call it: MatmulDeviceOperation */
    ops_operand inputs[OPS_TENSORS_MAX];
    size_t input_count;
    ops_operand output;
    ops_attribute attributes[OPS_ATTRIBUTES_MAX]; /* by name */
    size_t attribute_count;
    uint32_t core_count;
    const sb_program *program;
    ops_kernel kernels[OPS_KERNELS_MAX];
} ops_description;

typedef struct ops_call {
    sb_zone zone;
    uint32_t id;     /* of this call, device included */
    uint32_t device; /* index */
} ops_call;

void ops_call_begin(ops_call *call, const sb_device *device);
/* Without a description only the zone ends: the operation failed. */
void ops_call_end(ops_call *call, const ops_description *description);

/* A row of its own in reports, and a message in traces. message may be NULL. */
void ops_signpost(const char *header, const char *message);

#endif
