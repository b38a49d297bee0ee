/*
 * ops_shared: what operations have in common, on the device of ops.h and on GPUs
 * (../cuda/float_ops.h): programs that live until the end, and which shapes fit.
 */
#ifndef STROBE_EXAMPLES_OPS_SHARED_H
#define STROBE_EXAMPLES_OPS_SHARED_H

#include <strobe/device.h>

typedef struct ops_programs {
    sb_program **programs;
    size_t count;
    size_t capacity;
} ops_programs;

/* A new program, which is destroyed with all others. */
sb_program *ops_programs_add(ops_programs *all, sb_device *device);
void ops_programs_destroy(ops_programs *all);
sb_status ops_build_and_enqueue(sb_program *program, sb_error *error);

typedef struct ops_shape {
    uint32_t rows;
    uint32_t columns;
} ops_shape;

/* Each: does it fit? Else one sentence says which two shapes do not. */
sb_status ops_refuse(const char *what, ops_shape a, ops_shape b, sb_error *error);
sb_status ops_check_same(const char *what, ops_shape a, ops_shape out, sb_error *error);
sb_status ops_check_binary(ops_shape a, ops_shape b, ops_shape out, sb_error *error);
sb_status ops_check_matmul(ops_shape a, ops_shape b, ops_shape out, sb_error *error);
sb_status ops_check_transpose(ops_shape a, ops_shape out, sb_error *error);
sb_status ops_check_reduce(ops_shape a, ops_shape out, sb_error *error);
sb_status ops_check_embedding(ops_shape ids, ops_shape table, ops_shape out, sb_error *error);

#endif
