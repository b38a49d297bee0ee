#include "float_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

host_matrix host_matrix_create(uint32_t rows, uint32_t columns, bool is_rounded) {
    host_matrix matrix = {rows, columns, is_rounded, calloc((size_t)rows * columns, sizeof(float))};
    if (matrix.values == NULL) {
        fprintf(stderr, "there is not enough memory\n");
        exit(1);
    }
    return matrix;
}

void host_matrix_destroy(host_matrix *matrix) {
    free(matrix->values);
    *matrix = (host_matrix){0};
}

static float *at(const host_matrix *matrix, uint32_t row, uint32_t column) {
    return &matrix->values[(size_t)row * matrix->columns + column];
}

static void put(host_matrix *matrix, uint32_t row, uint32_t column, double value) {
    *at(matrix, row, column) = matrix->is_rounded ? float_round((float)value) : (float)value;
}

void host_matrix_fill(host_matrix *matrix, float most, uint64_t *seed) {
    for (uint32_t row = 0; row < matrix->rows; row++)
        for (uint32_t column = 0; column < matrix->columns; column++) {
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            const double part = (double)(*seed >> 40) / (double)(1u << 24);
            put(matrix, row, column, (2 * part - 1) * most);
        }
}

void host_binary(float_binary kind, const host_matrix *a, const host_matrix *b, host_matrix *out) {
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t column = 0; column < a->columns; column++) {
            const double left = *at(a, row, column);
            const double right = *at(b, row, column);
            put(out, row, column, kind == FLOAT_ADD ? left + right : left * right);
        }
}

void host_relu(const host_matrix *a, host_matrix *out) {
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t column = 0; column < a->columns; column++)
            put(out, row, column, fmax(*at(a, row, column), 0));
}

void host_matmul(const host_matrix *a, const host_matrix *b, host_matrix *out) {
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t column = 0; column < b->columns; column++) {
            double sum = 0;
            for (uint32_t k = 0; k < a->columns; k++)
                sum += (double)*at(a, row, k) * *at(b, k, column);
            put(out, row, column, sum);
        }
}

void host_transpose(const host_matrix *a, host_matrix *out) {
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t column = 0; column < a->columns; column++)
            put(out, column, row, *at(a, row, column));
}

void host_softmax(const host_matrix *a, float scale, bool is_causal, host_matrix *out) {
    for (uint32_t row = 0; row < a->rows; row++) {
        const uint32_t seen = is_causal && row + 1 < a->columns ? row + 1 : a->columns;
        double most = -INFINITY;
        double sum = 0;
        for (uint32_t i = 0; i < seen; i++)
            most = fmax(most, (double)*at(a, row, i) * scale);
        for (uint32_t i = 0; i < seen; i++)
            sum += exp((double)*at(a, row, i) * scale - most);
        for (uint32_t i = 0; i < a->columns; i++)
            put(out, row, i, i < seen ? exp((double)*at(a, row, i) * scale - most) / sum : 0);
    }
}

void host_layer_norm(const host_matrix *a, host_matrix *out) {
    const double least = 1e-5;
    for (uint32_t row = 0; row < a->rows; row++) {
        double mean = 0;
        double variance = 0;
        for (uint32_t i = 0; i < a->columns; i++)
            mean += (double)*at(a, row, i) / a->columns;
        for (uint32_t i = 0; i < a->columns; i++)
            variance += pow(*at(a, row, i) - mean, 2) / a->columns;
        for (uint32_t i = 0; i < a->columns; i++)
            put(out, row, i, (*at(a, row, i) - mean) / sqrt(variance + least));
    }
}

void host_reduce(const host_matrix *a, host_matrix *out) {
    for (uint32_t row = 0; row < a->rows; row++) {
        double sum = 0;
        for (uint32_t i = 0; i < a->columns; i++)
            sum += *at(a, row, i);
        put(out, row, 0, sum);
    }
}

void host_embedding(const host_matrix *ids, const host_matrix *table, host_matrix *out) {
    for (uint32_t row = 0; row < out->rows; row++)
        for (uint32_t column = 0; column < out->columns; column++)
            put(out, row, column, *at(table, (uint32_t)*at(ids, 0, row), column));
}

double host_difference(const host_matrix *right, const host_matrix *found) {
    double most = 0;
    double largest = 1e-30;
    for (size_t i = 0; i < (size_t)right->rows * right->columns; i++) {
        const double difference = fabs((double)right->values[i] - found->values[i]);
        /* Not a number is as wrong as can be. */
        most = difference <= most ? most : isnan(difference) ? INFINITY : difference;
        largest = fmax(largest, fabs(right->values[i]));
    }
    return most / largest;
}
