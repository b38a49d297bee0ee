/*
 * ops: operations on tensors, to have something to profile.
 *
 * A tensor is a matrix of 32-bit fixed-point numbers with 8 fractional bits, kept in DRAM as tiles
 * of 32 x 32: one tile is one page, 4 KiB. Rows and columns that do not fill a tile are padded.
 * Each operation is one program: a reader on BRISC, a compute kernel on TRISC1 and a writer on
 * NCRISC of every core it uses, with circular buffers between them.
 *
 * This is a small library of examples and not a framework: it shows how programs are written with
 * <strobe/device.h>. Sums and products wrap around at 32 bits, on the device as in the references.
 *
 *     ops_context ops;
 *     ops_begin(&ops, device, (sb_core){8, 8});
 *     ops_tensor a, b, c;
 *     ops_tensor_create(&ops, 64, 96, &a, &error); ...
 *     ops_matmul(&ops, &a, &b, &c, &error);
 *     ops_end(&ops);
 *
 * Operations return when they are enqueued. Programs live until ops_end, so operations can be
 * recorded into a trace. A profiler of the host is told of each (ops_profile.h).
 */
#ifndef STROBE_EXAMPLES_OPS_H
#define STROBE_EXAMPLES_OPS_H

#include <strobe/device.h>

#include "ops_shared.h"

#define OPS_TILE 32u
#define OPS_TILE_WORDS (OPS_TILE * OPS_TILE)
#define OPS_TILE_BYTES (OPS_TILE_WORDS * 4)
#define OPS_ONE 256 /* 1.0 */

typedef struct ops_context {
    sb_device *device;
    sb_core grid; /* cores to use: columns, rows */
    ops_programs programs;
} ops_context;

typedef struct ops_tensor {
    sb_buffer *buffer;
    uint32_t rows;
    uint32_t columns;
} ops_tensor;

/* grid says how many cores operations use, from the first on. */
void ops_begin(ops_context *ops, sb_device *device, sb_core grid);
void ops_end(ops_context *ops);

sb_status ops_tensor_create(ops_context *ops, uint32_t rows, uint32_t columns, ops_tensor *tensor,
                            sb_error *error);
void ops_tensor_destroy(ops_tensor *tensor);
/* values are row by row, without padding. */
sb_status ops_tensor_write(ops_tensor *tensor, const int32_t *values, sb_error *error);
sb_status ops_tensor_read(ops_tensor *tensor, int32_t *values, sb_error *error);

/* Where the kernels' sources are; else where they were when this was built. Not copied. */
void ops_set_kernel_folder(const char *folder);

typedef enum ops_binary_kind { OPS_ADD, OPS_MULTIPLY } ops_binary_kind;

sb_status ops_binary(ops_context *ops, ops_binary_kind kind, const ops_tensor *a,
                     const ops_tensor *b, const ops_tensor *out, sb_error *error);
/* The larger of each value and 0. */
sb_status ops_relu(ops_context *ops, const ops_tensor *a, const ops_tensor *out, sb_error *error);
/* out = a b, products shifted back by 8 bits after they are summed. */
sb_status ops_matmul(ops_context *ops, const ops_tensor *a, const ops_tensor *b,
                     const ops_tensor *out, sb_error *error);
sb_status ops_transpose(ops_context *ops, const ops_tensor *a, const ops_tensor *out,
                        sb_error *error);
/* Each row: exp of the value less the row's largest, over the sum of these. With is_causal, row r
   sees only columns 0 to r. */
sb_status ops_softmax(ops_context *ops, const ops_tensor *a, bool is_causal, const ops_tensor *out,
                      sb_error *error);
/* Each row: less its mean, over the root of its variance. */
sb_status ops_layer_norm(ops_context *ops, const ops_tensor *a, const ops_tensor *out,
                         sb_error *error);
/* The sum of each row, as a tensor of one column. */
sb_status ops_reduce(ops_context *ops, const ops_tensor *a, const ops_tensor *out, sb_error *error);
/* Row r of out is row ids[r] of table. ids is a tensor of one row of plain integers. */
sb_status ops_embedding(ops_context *ops, const ops_tensor *ids, const ops_tensor *table,
                        const ops_tensor *out, sb_error *error);
/* Both chips end with out = the tiles of a of the first chip, then those of the second. */
sb_status ops_all_gather(ops_context ops[2], const ops_tensor a[2], const ops_tensor out[2],
                         sb_error *error);

#endif
