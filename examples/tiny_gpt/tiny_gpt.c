/*
 * tiny_gpt: a small stack of transformer blocks (gpt.h) on the device, to have a program of many
 * operations to profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gpt.h"
#include "ops.h"

struct gpt_tensor {
    ops_tensor of;
};

/* ---- operations ---- */

static gpt_tensor *make(void *ops, gpt_use use, uint32_t rows, uint32_t columns) {
    gpt_tensor *made = gpt_allocate(1, sizeof *made);
    (void)use; /* all are of the same numbers */
    gpt_check(ops_tensor_create(ops, rows, columns, &made->of, &gpt_error));
    return made;
}

static int32_t next_weight(uint64_t *random, int32_t most) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (int32_t)(*random >> 33) % (2 * most + 1) - most;
}

static void fill(void *ops, gpt_tensor *tensor, gpt_weights with, uint64_t *seed) {
    static const int32_t most[] = {
        [GPT_TABLE] = OPS_ONE, [GPT_PLAIN] = OPS_ONE / 4, [GPT_NARROW] = OPS_ONE / 8};
    const size_t count = (size_t)tensor->of.rows * tensor->of.columns;
    int32_t *values = gpt_allocate(count, sizeof *values);
    (void)ops;
    for (size_t i = 0; i < count; i++)
        values[i] = next_weight(seed, most[with]);
    gpt_check(ops_tensor_write(&tensor->of, values, &gpt_error));
    free(values);
}

static void destroy(void *ops, gpt_tensor *tensor) {
    (void)ops;
    ops_tensor_destroy(&tensor->of);
    free(tensor);
}

static void matmul(void *ops, gpt_tensor *a, gpt_tensor *b, gpt_tensor *out) {
    gpt_check(ops_matmul(ops, &a->of, &b->of, &out->of, &gpt_error));
}

static void layer_norm(void *ops, gpt_tensor *a, gpt_tensor *out) {
    gpt_check(ops_layer_norm(ops, &a->of, &out->of, &gpt_error));
}

static void softmax(void *ops, gpt_tensor *a, uint32_t width, gpt_tensor *out) {
    (void)width; /* values are small enough without */
    gpt_check(ops_softmax(ops, &a->of, true, &out->of, &gpt_error));
}

static void add(void *ops, gpt_tensor *a, gpt_tensor *b, gpt_tensor *out) {
    gpt_check(ops_binary(ops, OPS_ADD, &a->of, &b->of, &out->of, &gpt_error));
}

static void relu(void *ops, gpt_tensor *a, gpt_tensor *out) {
    gpt_check(ops_relu(ops, &a->of, &out->of, &gpt_error));
}

static void transpose(void *ops, gpt_tensor *a, gpt_tensor *out) {
    gpt_check(ops_transpose(ops, &a->of, &out->of, &gpt_error));
}

static void embed(void *ops, gpt_tensor *ids, gpt_tensor *table, gpt_tensor *out) {
    gpt_check(ops_embedding(ops, &ids->of, &table->of, &out->of, &gpt_error));
}

static void write_ids(void *ops, gpt_tensor *ids, const uint32_t *text, uint32_t length) {
    int32_t *values = gpt_allocate(length, sizeof *values);
    (void)ops;
    for (uint32_t i = 0; i < length; i++)
        values[i] = (int32_t)text[i];
    gpt_check(ops_tensor_write(&ids->of, values, &gpt_error));
    free(values);
}

static uint32_t choose(void *ops, gpt_tensor *logits, uint32_t length) {
    int32_t *values = gpt_allocate((size_t)length * GPT_VOCABULARY, sizeof *values);
    (void)ops;
    gpt_check(ops_tensor_read(&logits->of, values, &gpt_error));
    const int32_t *last = values + (size_t)(length - 1) * GPT_VOCABULARY;
    uint32_t best = 0;
    for (uint32_t i = 1; i < GPT_VOCABULARY; i++)
        if (last[i] > last[best])
            best = i;
    free(values);
    return best;
}

/* ---- the program ---- */

static void tell(const gpt_model *gpt, const gpt_step *step) {
    if (!gpt->settings->is_quiet)
        printf("step %u: token %u, %llu clocks\n", step->number, step->token,
               (unsigned long long)step->clocks);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_summary(const sb_device *device) {
    const sb_device_info *info = sb_device_describe(device);
    printf("%s, %u x %u cores, %s time: %llu clocks", info->backend, info->columns, info->rows,
           info->time_model, (unsigned long long)sb_device_clock(device));
    /* Not every device counts them. */
    const uint64_t instructions = sb_device_instructions(device);
    if (instructions > 0)
        printf(", %.1f million instructions", (double)instructions / 1e6);
    printf("\n");
}

int main(int count, char **arguments) {
    static const gpt_program program = {
        .name = "tiny_gpt",
        .about = "a small transformer on a device",
        .device = "emu",
        .set_kernel_folder = ops_set_kernel_folder,
        .width_most = 512,
        .length_most = 256,
        .usual = {.layers = 2, .width = 64, .length = 32, .steps = 3},
    };
    const gpt_settings chosen = gpt_parse(&program, count, arguments);
    const double begin = seconds();
    sb_mesh *mesh = NULL;
    ops_context ops;
    gpt_model gpt;
    gpt_check(sb_mesh_open(chosen.device, &mesh, &gpt_error));
    sb_device *device = sb_mesh_device(mesh, 0);
    ops_begin(&ops, device, (sb_core){8, 8});
    const gpt_math math = {.context = &ops,
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
                           .write_ids = write_ids,
                           .choose = choose};
    gpt_make(&gpt, &math, &chosen);
    gpt_run(&gpt, device, tell);
    print_summary(device);
    if (!chosen.is_quiet)
        fprintf(stderr, "%.2f s on the host\n", seconds() - begin);
    ops_end(&ops);
    gpt_destroy(&gpt);
    sb_mesh_close(mesh);
    return gpt_end(true);
}
