/*
 * float_ops: operations on tensors on a GPU, the twin of examples/ops in floating point.
 *
 * A tensor is a matrix in the memory of the GPU, row by row. Numbers are bfloat16 (sums are
 * floats), or floats, or unsigned integers. Each operation is one program of one CUDA kernel
 * (kernels/), and is told to a profiler of the host the way examples/ops does it.
 *
 *     float_ops ops;
 *     float_ops_begin(&ops, device);
 *     float_tensor a, b, c;
 *     float_tensor_create(&ops, FLOAT_BFLOAT16, 64, 96, &a, &error); ...
 *     float_ops_matmul(&ops, &a, &b, &c, &error);
 *     float_ops_end(&ops);
 *
 * Operations return when they are enqueued. Programs live until float_ops_end, so operations can be
 * recorded into a trace.
 */
#ifndef STROBE_EXAMPLES_FLOAT_OPS_H
#define STROBE_EXAMPLES_FLOAT_OPS_H

#include <strobe/device.h>

#include "ops_shared.h"

typedef enum float_type { FLOAT_BFLOAT16, FLOAT_FLOAT32, FLOAT_UINT32 } float_type;

typedef struct float_ops {
    sb_device *device;
    ops_programs programs;
} float_ops;

typedef struct float_tensor {
    sb_buffer *buffer;
    float_type type;
    uint32_t rows;
    uint32_t columns;
} float_tensor;

void float_ops_begin(float_ops *ops, sb_device *device);
void float_ops_end(float_ops *ops);
/* Where the kernels' sources are; else where they were when this was built. Not copied. */
void float_ops_set_kernel_folder(const char *folder);

sb_status float_tensor_create(float_ops *ops, float_type type, uint32_t rows, uint32_t columns,
                              float_tensor *tensor, sb_error *error);
void float_tensor_destroy(float_tensor *tensor);
/* values are row by row. They are rounded to what the tensor holds. */
sb_status float_tensor_write(float_tensor *tensor, const float *values, sb_error *error);
sb_status float_tensor_read(float_tensor *tensor, float *values, sb_error *error);

/* The nearest bfloat16. */
float float_round(float value);

typedef enum float_binary { FLOAT_ADD, FLOAT_MULTIPLY } float_binary;

sb_status float_ops_binary(float_ops *ops, float_binary kind, const float_tensor *a,
                           const float_tensor *b, const float_tensor *out, sb_error *error);
/* The larger of each value and 0. */
sb_status float_ops_relu(float_ops *ops, const float_tensor *a, const float_tensor *out,
                         sb_error *error);
/* out = a b; out may be of floats. */
sb_status float_ops_matmul(float_ops *ops, const float_tensor *a, const float_tensor *b,
                           const float_tensor *out, sb_error *error);
sb_status float_ops_transpose(float_ops *ops, const float_tensor *a, const float_tensor *out,
                              sb_error *error);
/* Each row, times scale: exp of the value less the row's largest, over the sum of these. With
   is_causal, row r sees only columns 0 to r. */
sb_status float_ops_softmax(float_ops *ops, const float_tensor *a, float scale, bool is_causal,
                            const float_tensor *out, sb_error *error);
/* Each row: less its mean, over the root of its variance. */
sb_status float_ops_layer_norm(float_ops *ops, const float_tensor *a, const float_tensor *out,
                               sb_error *error);
/* The sum of each row, as a tensor of one column of floats. */
sb_status float_ops_reduce(float_ops *ops, const float_tensor *a, const float_tensor *out,
                           sb_error *error);
/* Row r of out is row ids[r] of table. ids is a tensor of one row of unsigned integers. */
sb_status float_ops_embedding(float_ops *ops, const float_tensor *ids, const float_tensor *table,
                              const float_tensor *out, sb_error *error);

#endif
