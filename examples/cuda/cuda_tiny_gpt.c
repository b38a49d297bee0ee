/*
 * cuda_tiny_gpt: the twin of examples/tiny_gpt on a GPU, in bfloat16; both run the same model
 * (gpt.h). The trace is a CUDA graph. While it is recorded the host works out the same for the
 * first step, and compares.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_check.h"
#include "float_ops.h"
#include "gpt.h"

/* Of the largest logit: roundings to bfloat16 on the way through the layers add up. */
static const double allowed = 1.0 / 32;

/* A matrix on the GPU and what it should be. */
struct gpt_tensor {
    host_matrix host;
    float_tensor gpu;
};

typedef struct gpu {
    float_ops ops;
    bool is_checked; /* the first step was */
    bool is_right;
} gpu;

/* ---- operations, on both sides ---- */

static gpt_tensor *make(void *of, gpt_use use, uint32_t rows, uint32_t columns) {
    static const float_type types[] = {
        [GPT_IDS] = FLOAT_UINT32, [GPT_VALUES] = FLOAT_BFLOAT16, [GPT_LOGITS] = FLOAT_FLOAT32};
    gpu *on = of;
    gpt_tensor *made = gpt_allocate(1, sizeof *made);
    made->host = host_matrix_create(rows, columns, use == GPT_VALUES);
    gpt_check(float_tensor_create(&on->ops, types[use], rows, columns, &made->gpu, &gpt_error));
    return made;
}

/* Weights of such a size that values stay about as large as they are. */
static void fill(void *of, gpt_tensor *tensor, gpt_weights with, uint64_t *seed) {
    (void)of;
    (void)with;
    host_matrix_fill(&tensor->host, sqrtf(3.0F / (float)tensor->host.rows), seed);
    gpt_check(float_tensor_write(&tensor->gpu, tensor->host.values, &gpt_error));
}

static void destroy(void *of, gpt_tensor *tensor) {
    (void)of;
    host_matrix_destroy(&tensor->host);
    float_tensor_destroy(&tensor->gpu);
    free(tensor);
}

static void matmul(void *of, gpt_tensor *a, gpt_tensor *b, gpt_tensor *out) {
    gpu *on = of;
    gpt_check(float_ops_matmul(&on->ops, &a->gpu, &b->gpu, &out->gpu, &gpt_error));
    host_matmul(&a->host, &b->host, &out->host);
}

static void layer_norm(void *of, gpt_tensor *a, gpt_tensor *out) {
    gpu *on = of;
    gpt_check(float_ops_layer_norm(&on->ops, &a->gpu, &out->gpu, &gpt_error));
    host_layer_norm(&a->host, &out->host);
}

static void softmax(void *of, gpt_tensor *a, uint32_t width, gpt_tensor *out) {
    gpu *on = of;
    const float scale = 1 / sqrtf((float)width);
    gpt_check(float_ops_softmax(&on->ops, &a->gpu, scale, true, &out->gpu, &gpt_error));
    host_softmax(&a->host, scale, true, &out->host);
}

static void add(void *of, gpt_tensor *a, gpt_tensor *b, gpt_tensor *out) {
    gpu *on = of;
    gpt_check(float_ops_binary(&on->ops, FLOAT_ADD, &a->gpu, &b->gpu, &out->gpu, &gpt_error));
    host_binary(FLOAT_ADD, &a->host, &b->host, &out->host);
}

static void relu(void *of, gpt_tensor *a, gpt_tensor *out) {
    gpu *on = of;
    gpt_check(float_ops_relu(&on->ops, &a->gpu, &out->gpu, &gpt_error));
    host_relu(&a->host, &out->host);
}

static void transpose(void *of, gpt_tensor *a, gpt_tensor *out) {
    gpu *on = of;
    gpt_check(float_ops_transpose(&on->ops, &a->gpu, &out->gpu, &gpt_error));
    host_transpose(&a->host, &out->host);
}

static void embed(void *of, gpt_tensor *ids, gpt_tensor *table, gpt_tensor *out) {
    gpu *on = of;
    gpt_check(float_ops_embedding(&on->ops, &ids->gpu, &table->gpu, &out->gpu, &gpt_error));
    host_embedding(&ids->host, &table->host, &out->host);
}

/* ---- text ---- */

static void prepare(void *of, gpt_tensor *ids, const uint32_t *text, uint32_t length) {
    (void)of;
    for (uint32_t i = 0; i < length; i++)
        ids->host.values[i] = (float)text[i];
}

static void write_ids(void *of, gpt_tensor *ids, const uint32_t *text, uint32_t length) {
    prepare(of, ids, text, length);
    gpt_check(float_tensor_write(&ids->gpu, ids->host.values, &gpt_error));
}

static void compare(gpu *on, const host_matrix *right, const host_matrix *found) {
    const double difference = host_difference(right, found);
    on->is_checked = true;
    on->is_right = difference <= allowed;
    printf("logits of the first step: off by %.1e of the largest, %s\n", difference,
           on->is_right ? "right" : "WRONG");
}

static uint32_t choose(void *of, gpt_tensor *logits, uint32_t length) {
    gpu *on = of;
    host_matrix found = host_matrix_create(length, GPT_VOCABULARY, false);
    gpt_check(float_tensor_read(&logits->gpu, found.values, &gpt_error));
    if (!on->is_checked)
        compare(on, &logits->host, &found);
    const float *last = found.values + (size_t)(length - 1) * GPT_VOCABULARY;
    uint32_t best = 0;
    for (uint32_t i = 1; i < GPT_VOCABULARY; i++)
        if (last[i] > last[best])
            best = i;
    host_matrix_destroy(&found);
    return best;
}

/* ---- the program ---- */

static void tell(const gpt_model *gpt, const gpt_step *step) {
    const gpu *on = gpt->math->context;
    if (!gpt->settings->is_quiet)
        printf("step %u: token %u, %.1f us\n", step->number, step->token,
               (double)step->replay_clocks / sb_device_describe(on->ops.device)->clock_mhz);
}

int main(int count, char **arguments) {
    static const gpt_program program = {
        .name = "cuda_tiny_gpt",
        .about = "a small transformer on a GPU",
        .device = "cuda",
        .set_kernel_folder = float_ops_set_kernel_folder,
        .width_most = 4096,
        .length_most = 2048,
        .usual = {.layers = 2, .width = 256, .length = 128, .steps = 3},
    };
    const gpt_settings chosen = gpt_parse(&program, count, arguments);
    sb_mesh *mesh = NULL;
    gpu on = {0};
    gpt_model gpt;
    gpt_check(sb_mesh_open(chosen.device, &mesh, &gpt_error));
    sb_device *device = sb_mesh_device(mesh, 0);
    const sb_device_info *info = sb_device_describe(device);
    if (strcmp(info->backend, "cuda") != 0) {
        fprintf(stderr, "cuda_tiny_gpt: %s is no GPU\n", info->backend);
        return 1;
    }
    float_ops_begin(&on.ops, device);
    const gpt_math math = {.context = &on,
                           .make = make,
                           .fill = fill,
                           .destroy = destroy,
                           .matmul = matmul,
                           .layer_norm = layer_norm,
                           .softmax = softmax,
                           .add = add,
                           .relu = relu,
                           .transpose = transpose,
                           .embed = embed,
                           .prepare = prepare,
                           .write_ids = write_ids,
                           .choose = choose};
    gpt_make(&gpt, &math, &chosen);
    gpt_run(&gpt, device, tell);
    printf("%s, %u cores: %u layers of width %u, %u tokens, %u steps\n", info->name, info->cores,
           chosen.layers, chosen.width, chosen.length, chosen.steps);
    float_ops_end(&on.ops);
    gpt_destroy(&gpt);
    sb_mesh_close(mesh);
    return gpt_end(on.is_right);
}
