/*
 * What the operations of float_ops.h should give, worked out on the host. Matrices are row by row;
 * results are rounded to bfloat16 where the tensor holds such numbers.
 */
#ifndef STROBE_EXAMPLES_FLOAT_CHECK_H
#define STROBE_EXAMPLES_FLOAT_CHECK_H

#include "float_ops.h"

typedef struct host_matrix {
    uint32_t rows;
    uint32_t columns;
    bool is_rounded; /* to bfloat16 */
    float *values;
} host_matrix;

/* Ends the program where there is no memory. */
host_matrix host_matrix_create(uint32_t rows, uint32_t columns, bool is_rounded);
void host_matrix_destroy(host_matrix *matrix);
/* Numbers from -most to most, always the same for a seed. */
void host_matrix_fill(host_matrix *matrix, float most, uint64_t *seed);

void host_binary(float_binary kind, const host_matrix *a, const host_matrix *b, host_matrix *out);
void host_relu(const host_matrix *a, host_matrix *out);
void host_matmul(const host_matrix *a, const host_matrix *b, host_matrix *out);
void host_transpose(const host_matrix *a, host_matrix *out);
void host_softmax(const host_matrix *a, float scale, bool is_causal, host_matrix *out);
void host_layer_norm(const host_matrix *a, host_matrix *out);
void host_reduce(const host_matrix *a, host_matrix *out);
void host_embedding(const host_matrix *ids, const host_matrix *table, host_matrix *out);

/* The largest difference between two, as a part of the largest value of the first. */
double host_difference(const host_matrix *right, const host_matrix *found);

#endif
