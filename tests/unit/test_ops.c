/*
 * Every operation of the example library against a reference on the host, over random shapes and
 * grids of cores.
 */
#include <strobe/device.h>

#include "ops.h"
#include "ops_math.h"
#include "testing.h"

#define ROUNDS 6

static sb_mesh *mesh;
static sb_error error;

static void check(sb_status status) {
    if (status != SB_OK)
        fail_msg("%s", error.message);
}

static int open_mesh(void **state) {
    (void)state;
    return sb_mesh_open("emu:chips=2", &mesh, &error) == SB_OK ? 0 : -1;
}

static int close_mesh(void **state) {
    (void)state;
    sb_mesh_close(mesh);
    return 0;
}

/* ---- random things ---- */

static uint64_t random_state = 77;

static uint32_t pick(uint32_t least, uint32_t most) {
    return least + (uint32_t)(next_random(&random_state) >> 20) % (most - least + 1);
}

static int32_t *random_values(size_t count, int32_t most) {
    int32_t *values = sb_alloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (int32_t)pick(0, (uint32_t)most * 2) - most;
    return values;
}

static ops_context begin(void) {
    ops_context ops;
    ops_begin(&ops, sb_mesh_device(mesh, 0), (sb_core){pick(1, 8), pick(1, 8)});
    return ops;
}

static ops_tensor tensor_of(ops_context *ops, uint32_t rows, uint32_t columns,
                            const int32_t *values) {
    ops_tensor tensor;
    check(ops_tensor_create(ops, rows, columns, &tensor, &error));
    if (values != NULL)
        check(ops_tensor_write(&tensor, values, &error));
    return tensor;
}

/* Compares with what the device has, and frees all. */
static void check_result(const char *what, ops_tensor *out, int32_t *expected) {
    const size_t count = (size_t)out->rows * out->columns;
    int32_t *values = sb_alloc(count * sizeof *values);
    check(ops_tensor_read(out, values, &error));
    for (size_t i = 0; i < count; i++)
        if (values[i] != expected[i])
            fail_msg("%s of %u x %u: value %zu is %d, should be %d", what, out->rows, out->columns,
                     i, values[i], expected[i]);
    free(values);
    free(expected);
    ops_tensor_destroy(out);
}

/* ---- tests ---- */

static void elementwise_operations_are_right(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS * 3; round++) {
        const uint32_t rows = pick(1, 100);
        const uint32_t columns = pick(1, 100);
        const size_t count = (size_t)rows * columns;
        ops_context ops = begin();
        int32_t *x = random_values(count, 1 << 20);
        int32_t *y = random_values(count, 1 << 20);
        int32_t *expected = sb_alloc(count * sizeof *expected);
        ops_tensor a = tensor_of(&ops, rows, columns, x);
        ops_tensor b = tensor_of(&ops, rows, columns, y);
        ops_tensor out = tensor_of(&ops, rows, columns, NULL);
        for (size_t i = 0; i < count; i++) {
            const int32_t results[] = {x[i] + y[i], (int32_t)((uint32_t)x[i] * (uint32_t)y[i]) >> 8,
                                       x[i] > 0 ? x[i] : 0};
            expected[i] = results[round % 3];
        }
        if (round % 3 == 2)
            check(ops_relu(&ops, &a, &out, &error));
        else
            check(ops_binary(&ops, round % 3 == 0 ? OPS_ADD : OPS_MULTIPLY, &a, &b, &out, &error));
        check_result("elementwise", &out, expected);
        ops_end(&ops);
        ops_tensor_destroy(&a);
        ops_tensor_destroy(&b);
        free(x);
        free(y);
    }
}

static void matmul_is_right(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t rows = pick(1, 100);
        const uint32_t inner = pick(1, 100);
        const uint32_t columns = pick(1, 100);
        ops_context ops = begin();
        int32_t *x = random_values((size_t)rows * inner, 2000);
        int32_t *y = random_values((size_t)inner * columns, 2000);
        int32_t *expected = sb_alloc((size_t)rows * columns * sizeof *expected);
        ops_tensor a = tensor_of(&ops, rows, inner, x);
        ops_tensor b = tensor_of(&ops, inner, columns, y);
        ops_tensor out = tensor_of(&ops, rows, columns, NULL);
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t c = 0; c < columns; c++) {
                int64_t sum = 0;
                for (uint32_t k = 0; k < inner; k++)
                    sum += (int64_t)x[r * inner + k] * y[k * columns + c];
                expected[r * columns + c] = (int32_t)(sum >> 8);
            }
        check(ops_matmul(&ops, &a, &b, &out, &error));
        check_result("matmul", &out, expected);
        ops_end(&ops);
        ops_tensor_destroy(&a);
        ops_tensor_destroy(&b);
        free(x);
        free(y);
    }
}

static void transpose_is_right(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t rows = pick(1, 130);
        const uint32_t columns = pick(1, 130);
        ops_context ops = begin();
        int32_t *x = random_values((size_t)rows * columns, 1 << 30);
        int32_t *expected = sb_alloc((size_t)rows * columns * sizeof *expected);
        ops_tensor a = tensor_of(&ops, rows, columns, x);
        ops_tensor out = tensor_of(&ops, columns, rows, NULL);
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t c = 0; c < columns; c++)
                expected[c * rows + r] = x[r * columns + c];
        check(ops_transpose(&ops, &a, &out, &error));
        check_result("transpose", &out, expected);
        ops_end(&ops);
        ops_tensor_destroy(&a);
        free(x);
    }
}

static void softmax_of(const int32_t *row, uint32_t seen, uint32_t columns, int32_t *out) {
    int32_t largest = row[0];
    int32_t sum = 0;
    for (uint32_t c = 0; c < seen; c++)
        largest = row[c] > largest ? row[c] : largest;
    for (uint32_t c = 0; c < seen; c++)
        sum += ops_exp(row[c] - largest);
    for (uint32_t c = 0; c < columns; c++)
        out[c] = c < seen ? ops_exp(row[c] - largest) * 256 / sum : 0;
}

static void norm_of(const int32_t *row, uint32_t columns, int32_t *out) {
    int64_t sum = 0;
    int64_t squares = 0;
    for (uint32_t c = 0; c < columns; c++)
        sum += row[c];
    const int32_t mean = (int32_t)(sum / columns);
    for (uint32_t c = 0; c < columns; c++)
        squares += (int64_t)(row[c] - mean) * (row[c] - mean) >> 8;
    const int32_t deviation = (int32_t)ops_root((uint32_t)(squares / columns) << 8) + 1;
    for (uint32_t c = 0; c < columns; c++)
        out[c] = (row[c] - mean) * 256 / deviation;
}

static void operations_on_rows_are_right(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS * 4; round++) {
        const int kind = round % 4;
        const uint32_t rows = pick(1, 100);
        const uint32_t columns = pick(1, 150);
        const uint32_t results = kind == 3 ? 1 : columns;
        ops_context ops = begin();
        int32_t *x = random_values((size_t)rows * columns, 2000);
        int32_t *expected = sb_alloc_zeroed((size_t)rows * results, sizeof *expected);
        ops_tensor a = tensor_of(&ops, rows, columns, x);
        ops_tensor out = tensor_of(&ops, rows, results, NULL);
        for (uint32_t r = 0; r < rows; r++) {
            const int32_t *row = x + (size_t)r * columns;
            int32_t *result = expected + (size_t)r * results;
            if (kind == 0)
                softmax_of(row, columns, columns, result);
            else if (kind == 1)
                softmax_of(row, r + 1 < columns ? r + 1 : columns, columns, result);
            else if (kind == 2)
                norm_of(row, columns, result);
            else
                for (uint32_t c = 0; c < columns; c++)
                    result[0] += row[c];
        }
        if (kind < 2)
            check(ops_softmax(&ops, &a, kind == 1, &out, &error));
        else if (kind == 2)
            check(ops_layer_norm(&ops, &a, &out, &error));
        else
            check(ops_reduce(&ops, &a, &out, &error));
        check_result("rows", &out, expected);
        ops_end(&ops);
        ops_tensor_destroy(&a);
        free(x);
    }
}

static void embedding_is_right(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t words = pick(1, 200);
        const uint32_t columns = pick(1, 100);
        const uint32_t length = pick(1, 80);
        ops_context ops = begin();
        int32_t *x = random_values((size_t)words * columns, 1 << 20);
        int32_t *names = sb_alloc(length * sizeof *names);
        int32_t *expected = sb_alloc((size_t)length * columns * sizeof *expected);
        for (uint32_t i = 0; i < length; i++) {
            names[i] = (int32_t)pick(0, words - 1);
            memcpy(expected + (size_t)i * columns, x + (size_t)names[i] * columns, columns * 4);
        }
        ops_tensor table = tensor_of(&ops, words, columns, x);
        ops_tensor ids = tensor_of(&ops, 1, length, names);
        ops_tensor out = tensor_of(&ops, length, columns, NULL);
        check(ops_embedding(&ops, &ids, &table, &out, &error));
        check_result("embedding", &out, expected);
        ops_end(&ops);
        ops_tensor_destroy(&table);
        ops_tensor_destroy(&ids);
        free(x);
        free(names);
    }
}

static void all_gather_gives_both_chips_everything(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t columns = pick(1, 4) * OPS_TILE;
        const uint32_t rows[2] = {pick(1, 4) * OPS_TILE, pick(1, 4) * OPS_TILE};
        const size_t counts[2] = {(size_t)rows[0] * columns, (size_t)rows[1] * columns};
        ops_context ops[2];
        ops_tensor a[2];
        ops_tensor out[2];
        int32_t *parts[2];
        for (uint32_t i = 0; i < 2; i++) {
            ops_begin(&ops[i], sb_mesh_device(mesh, i), (sb_core){8, 8});
            parts[i] = random_values(counts[i], 1 << 30);
            a[i] = tensor_of(&ops[i], rows[i], columns, parts[i]);
            out[i] = tensor_of(&ops[i], rows[0] + rows[1], columns, NULL);
        }
        check(ops_all_gather(ops, a, out, &error));
        for (uint32_t i = 0; i < 2; i++) {
            int32_t *expected = sb_alloc((counts[0] + counts[1]) * sizeof *expected);
            memcpy(expected, parts[0], counts[0] * sizeof *expected);
            memcpy(expected + counts[0], parts[1], counts[1] * sizeof *expected);
            check_result("all-gather", &out[i], expected);
        }
        for (uint32_t i = 0; i < 2; i++) {
            ops_end(&ops[i]);
            ops_tensor_destroy(&a[i]);
            free(parts[i]);
        }
    }
}

static void shapes_that_do_not_fit_are_refused(void **state) {
    (void)state;
    ops_context ops = begin();
    ops_tensor a = tensor_of(&ops, 10, 20, NULL);
    ops_tensor b = tensor_of(&ops, 30, 40, NULL);
    assert_int_equal(ops_matmul(&ops, &a, &b, &b, &error), SB_ERR_USAGE);
    check_contains(sb_slice_of(error.message), "matmul: 10 x 20 and 30 x 40");
    assert_int_equal(ops_binary(&ops, OPS_ADD, &a, &b, &a, &error), SB_ERR_USAGE);
    assert_int_equal(ops_softmax(&ops, &a, false, &b, &error), SB_ERR_USAGE);
    ops_end(&ops);
    ops_tensor_destroy(&a);
    ops_tensor_destroy(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_operations_are_right),
        cmocka_unit_test(matmul_is_right),
        cmocka_unit_test(transpose_is_right),
        cmocka_unit_test(operations_on_rows_are_right),
        cmocka_unit_test(embedding_is_right),
        cmocka_unit_test(all_gather_gives_both_chips_everything),
        cmocka_unit_test(shapes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, open_mesh, close_mesh);
}
