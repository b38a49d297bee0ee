/*
 * cuda_ops: each operation of float_ops.h once on a GPU, with its result checked on the host.
 *
 *     strobe run -r build/release/bin/cuda_ops
 *
 * Needs no CUDA to be compiled; says so in one sentence where there is none to run.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_check.h"
#include "float_ops.h"
#include "ops_profile.h"

/* Sides that fill no tile, so that edges are tried too. */
enum { ROWS = 200, INNER = 328, COLUMNS = 264, WORDS = 96 };
/* Of the largest value: two roundings to bfloat16. */
static const double allowed = 1.0 / 128;

static sb_error error;
static float_ops ops;
static int wrong;

static void check(sb_status status) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "cuda_ops: %s\n", error.message);
    exit(1);
}

/* A matrix on the host and on the GPU. */
typedef struct twin {
    host_matrix host;
    float_tensor gpu;
} twin;

static twin make(float_type type, uint32_t rows, uint32_t columns) {
    twin made = {.host = host_matrix_create(rows, columns, type == FLOAT_BFLOAT16)};
    check(float_tensor_create(&ops, type, rows, columns, &made.gpu, &error));
    return made;
}

static twin make_filled(uint32_t rows, uint32_t columns, uint64_t seed) {
    twin made = make(FLOAT_BFLOAT16, rows, columns);
    host_matrix_fill(&made.host, 1, &seed);
    check(float_tensor_write(&made.gpu, made.host.values, &error));
    return made;
}

static void destroy(twin *old) {
    host_matrix_destroy(&old->host);
    float_tensor_destroy(&old->gpu);
}

static void compare(const char *name, twin *result) {
    host_matrix found = host_matrix_create(result->host.rows, result->host.columns, false);
    check(float_tensor_read(&result->gpu, found.values, &error));
    const double difference = host_difference(&result->host, &found);
    const bool is_right = difference <= allowed;
    printf("%-12s %u x %u: off by %.1e of the largest, %s\n", name, result->host.rows,
           result->host.columns, difference, is_right ? "right" : "WRONG");
    wrong += is_right ? 0 : 1;
    host_matrix_destroy(&found);
}

static void try_matmul(twin *a, float_type type) {
    twin b = make_filled(INNER, COLUMNS, 2);
    twin out = make(type, ROWS, COLUMNS);
    check(float_ops_matmul(&ops, &a->gpu, &b.gpu, &out.gpu, &error));
    host_matmul(&a->host, &b.host, &out.host);
    compare("matmul", &out);
    destroy(&b);
    destroy(&out);
}

static void try_elementwise(twin *a) {
    twin b = make_filled(ROWS, INNER, 3);
    twin out = make(FLOAT_BFLOAT16, ROWS, INNER);
    check(float_ops_binary(&ops, FLOAT_ADD, &a->gpu, &b.gpu, &out.gpu, &error));
    host_binary(FLOAT_ADD, &a->host, &b.host, &out.host);
    compare("add", &out);
    check(float_ops_binary(&ops, FLOAT_MULTIPLY, &a->gpu, &b.gpu, &out.gpu, &error));
    host_binary(FLOAT_MULTIPLY, &a->host, &b.host, &out.host);
    compare("multiply", &out);
    check(float_ops_relu(&ops, &a->gpu, &out.gpu, &error));
    host_relu(&a->host, &out.host);
    compare("relu", &out);
    destroy(&b);
    destroy(&out);
}

static void try_rowwise(twin *a) {
    twin out = make(FLOAT_BFLOAT16, ROWS, INNER);
    twin sums = make(FLOAT_FLOAT32, ROWS, 1);
    check(float_ops_softmax(&ops, &a->gpu, 4, false, &out.gpu, &error));
    host_softmax(&a->host, 4, false, &out.host);
    compare("softmax", &out);
    check(float_ops_softmax(&ops, &a->gpu, 1, true, &out.gpu, &error));
    host_softmax(&a->host, 1, true, &out.host);
    compare("causal", &out);
    check(float_ops_layer_norm(&ops, &a->gpu, &out.gpu, &error));
    host_layer_norm(&a->host, &out.host);
    compare("layer norm", &out);
    check(float_ops_reduce(&ops, &a->gpu, &sums.gpu, &error));
    host_reduce(&a->host, &sums.host);
    compare("reduce", &sums);
    destroy(&out);
    destroy(&sums);
}

static void try_moving(twin *a) {
    twin turned = make(FLOAT_BFLOAT16, INNER, ROWS);
    twin ids = make(FLOAT_UINT32, 1, WORDS);
    twin words = make(FLOAT_BFLOAT16, WORDS, INNER);
    check(float_ops_transpose(&ops, &a->gpu, &turned.gpu, &error));
    host_transpose(&a->host, &turned.host);
    compare("transpose", &turned);
    for (uint32_t i = 0; i < WORDS; i++)
        ids.host.values[i] = (float)(i * 7 % ROWS);
    check(float_tensor_write(&ids.gpu, ids.host.values, &error));
    check(float_ops_embedding(&ops, &ids.gpu, &a->gpu, &words.gpu, &error));
    host_embedding(&ids.host, &a->host, &words.host);
    compare("embedding", &words);
    destroy(&turned);
    destroy(&ids);
    destroy(&words);
}

static const char usage[] =
    "cuda_ops: operations on a GPU, checked on the host\n"
    "\n"
    "usage: cuda_ops [options]\n"
    "  -d, --device NAME    what to run on (default: $STROBE_DEVICE, or cuda)\n"
    "  -k, --kernels FOLDER where the kernels' sources are\n"
    "  -h, --help           this text\n";

static const char *parse_arguments(int count, char **arguments) {
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                            {"kernels", required_argument, NULL, 'k'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *device = getenv("STROBE_DEVICE") != NULL ? NULL : "cuda";
    int option = 0;
    while ((option = getopt_long(count, arguments, "d:k:h", options, NULL)) != -1) {
        if (option == 'd')
            device = optarg;
        else if (option == 'k')
            float_ops_set_kernel_folder(optarg);
        else {
            fputs(usage, option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
    }
    if (optind < count) {
        fprintf(stderr, "cuda_ops: '%s' is not an option\n", arguments[optind]);
        exit(2);
    }
    return device;
}

int main(int count, char **arguments) {
    const char *name = parse_arguments(count, arguments);
    sb_mesh *mesh = NULL;
    check(sb_mesh_open(name, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    const sb_device_info *info = sb_device_describe(device);
    if (strcmp(info->backend, "cuda") != 0) {
        fprintf(stderr, "cuda_ops: %s is no GPU\n", info->backend);
        return 1;
    }
    printf("%s, %u cores (%u x %u), %u MHz\n", info->name, info->cores, info->columns, info->rows,
           info->clock_mhz);
    float_ops_begin(&ops, device);
    twin a = make_filled(ROWS, INNER, 1);
    ops_signpost("operations", "each of them once");
    try_matmul(&a, FLOAT_BFLOAT16);
    try_matmul(&a, FLOAT_FLOAT32);
    try_elementwise(&a);
    try_rowwise(&a);
    try_moving(&a);
    destroy(&a);
    float_ops_end(&ops);
    sb_mesh_close(mesh);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("cuda_ops: standard output");
        return 1;
    }
    return wrong == 0 ? 0 : 1;
}
