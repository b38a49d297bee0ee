/*
 * cuda_tiny_gpt: the twin of examples/tiny_gpt on a GPU: a small stack of transformer blocks in
 * bfloat16. Weights are random but always the same; it reads a short text of token numbers and
 * continues it, one token for each step.
 *
 * A forward pass is recorded once as a trace (a CUDA graph) and replayed for every step. While it
 * is recorded the host works out the same for the first step, and compares.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "float_check.h"
#include "float_ops.h"
#include "ops_profile.h"

enum { VOCABULARY = 64 };
/* Of the largest logit: roundings to bfloat16 on the way through the layers add up. */
static const double allowed = 1.0 / 32;

typedef struct settings {
    const char *device;
    uint32_t layers;
    uint32_t width;
    uint32_t length; /* of the text that is looked at */
    uint32_t steps;
    bool is_quiet;
} settings;

/* A matrix on the GPU and what it should be. */
typedef struct twin {
    host_matrix host;
    float_tensor gpu;
} twin;

typedef struct layer {
    twin query, key, value, project; /* width x width */
    twin widen, narrow;              /* width x 4 width, and back */
} layer;

/* Values on the way through a layer; all layers use the same. */
typedef struct scratch {
    twin x, normal, q, k, v, k_turned, scores, chances, mixed, added;
    twin wide, active, logits, table_turned;
} scratch;

typedef struct model {
    float_ops ops;
    twin ids, table;
    layer *layers;
    scratch at;
} model;

static sb_error error;

static void check(sb_status status) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "cuda_tiny_gpt: %s\n", error.message);
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "cuda_tiny_gpt: there is not enough memory\n");
        exit(1);
    }
    return memory;
}

/* ---- operations, on both sides ---- */

static void matmul(model *gpt, const twin *a, const twin *b, twin *out) {
    check(float_ops_matmul(&gpt->ops, &a->gpu, &b->gpu, &out->gpu, &error));
    host_matmul(&a->host, &b->host, &out->host);
}

static void layer_norm(model *gpt, const twin *a, twin *out) {
    check(float_ops_layer_norm(&gpt->ops, &a->gpu, &out->gpu, &error));
    host_layer_norm(&a->host, &out->host);
}

static void softmax(model *gpt, const twin *a, float scale, twin *out) {
    check(float_ops_softmax(&gpt->ops, &a->gpu, scale, true, &out->gpu, &error));
    host_softmax(&a->host, scale, true, &out->host);
}

static void add(model *gpt, const twin *a, const twin *b, twin *out) {
    check(float_ops_binary(&gpt->ops, FLOAT_ADD, &a->gpu, &b->gpu, &out->gpu, &error));
    host_binary(FLOAT_ADD, &a->host, &b->host, &out->host);
}

static void relu(model *gpt, const twin *a, twin *out) {
    check(float_ops_relu(&gpt->ops, &a->gpu, &out->gpu, &error));
    host_relu(&a->host, &out->host);
}

static void transpose(model *gpt, const twin *a, twin *out) {
    check(float_ops_transpose(&gpt->ops, &a->gpu, &out->gpu, &error));
    host_transpose(&a->host, &out->host);
}

static void embed(model *gpt, const twin *ids, const twin *table, twin *out) {
    check(float_ops_embedding(&gpt->ops, &ids->gpu, &table->gpu, &out->gpu, &error));
    host_embedding(&ids->host, &table->host, &out->host);
}

/* ---- making the model ---- */

static twin make_typed(model *gpt, float_type type, uint32_t rows, uint32_t columns) {
    twin made = {.host = host_matrix_create(rows, columns, type == FLOAT_BFLOAT16)};
    check(float_tensor_create(&gpt->ops, type, rows, columns, &made.gpu, &error));
    return made;
}

static twin make(model *gpt, uint32_t rows, uint32_t columns) {
    return make_typed(gpt, FLOAT_BFLOAT16, rows, columns);
}

/* Weights of such a size that values stay about as large as they are. */
static twin make_weights(model *gpt, uint32_t rows, uint32_t columns, uint64_t *seed) {
    twin made = make(gpt, rows, columns);
    host_matrix_fill(&made.host, sqrtf(3.0F / (float)rows), seed);
    check(float_tensor_write(&made.gpu, made.host.values, &error));
    return made;
}

static void make_layer(model *gpt, layer *made, uint32_t width, uint64_t *seed) {
    made->query = make_weights(gpt, width, width, seed);
    made->key = make_weights(gpt, width, width, seed);
    made->value = make_weights(gpt, width, width, seed);
    made->project = make_weights(gpt, width, width, seed);
    made->widen = make_weights(gpt, width, 4 * width, seed);
    made->narrow = make_weights(gpt, 4 * width, width, seed);
}

static void make_model(model *gpt, sb_device *device, const settings *chosen) {
    const uint32_t length = chosen->length;
    const uint32_t width = chosen->width;
    uint64_t seed = 42;
    float_ops_begin(&gpt->ops, device);
    gpt->ids = make_typed(gpt, FLOAT_UINT32, 1, length);
    gpt->table = make_weights(gpt, VOCABULARY, width, &seed);
    gpt->layers = allocate(chosen->layers, sizeof *gpt->layers);
    for (uint32_t i = 0; i < chosen->layers; i++)
        make_layer(gpt, &gpt->layers[i], width, &seed);
    gpt->at = (scratch){
        .x = make(gpt, length, width),
        .normal = make(gpt, length, width),
        .q = make(gpt, length, width),
        .k = make(gpt, length, width),
        .v = make(gpt, length, width),
        .k_turned = make(gpt, width, length),
        .scores = make(gpt, length, length),
        .chances = make(gpt, length, length),
        .mixed = make(gpt, length, width),
        .added = make(gpt, length, width),
        .wide = make(gpt, length, 4 * width),
        .active = make(gpt, length, 4 * width),
        .logits = make_typed(gpt, FLOAT_FLOAT32, length, VOCABULARY),
        .table_turned = make(gpt, width, VOCABULARY),
    };
    transpose(gpt, &gpt->table, &gpt->at.table_turned);
}

static void destroy(twin *old) {
    host_matrix_destroy(&old->host);
    float_tensor_destroy(&old->gpu);
}

static void free_model(model *gpt, const settings *chosen) {
    float_ops_end(&gpt->ops);
    for (uint32_t i = 0; i < chosen->layers; i++) {
        layer *old = &gpt->layers[i];
        twin *const weights[] = {&old->query,   &old->key,   &old->value,
                                 &old->project, &old->widen, &old->narrow};
        for (size_t k = 0; k < sizeof weights / sizeof weights[0]; k++)
            destroy(weights[k]);
    }
    scratch *at = &gpt->at;
    twin *const twins[] = {&at->x,      &at->normal,       &at->q,      &at->k,
                           &at->v,      &at->k_turned,     &at->scores, &at->chances,
                           &at->mixed,  &at->added,        &at->wide,   &at->active,
                           &at->logits, &at->table_turned, &gpt->ids,   &gpt->table};
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
        destroy(twins[i]);
    free(gpt->layers);
}

/* ---- a forward pass ---- */

static void attend(model *gpt, const layer *with) {
    scratch *at = &gpt->at;
    layer_norm(gpt, &at->x, &at->normal);
    matmul(gpt, &at->normal, &with->query, &at->q);
    matmul(gpt, &at->normal, &with->key, &at->k);
    matmul(gpt, &at->normal, &with->value, &at->v);
    transpose(gpt, &at->k, &at->k_turned);
    matmul(gpt, &at->q, &at->k_turned, &at->scores);
    softmax(gpt, &at->scores, 1 / sqrtf((float)at->q.host.columns), &at->chances);
    matmul(gpt, &at->chances, &at->v, &at->mixed);
    matmul(gpt, &at->mixed, &with->project, &at->added);
    add(gpt, &at->x, &at->added, &at->x);
}

static void think(model *gpt, const layer *with) {
    scratch *at = &gpt->at;
    layer_norm(gpt, &at->x, &at->normal);
    matmul(gpt, &at->normal, &with->widen, &at->wide);
    relu(gpt, &at->wide, &at->active);
    matmul(gpt, &at->active, &with->narrow, &at->added);
    add(gpt, &at->x, &at->added, &at->x);
}

static void forward(model *gpt, const settings *chosen) {
    embed(gpt, &gpt->ids, &gpt->table, &gpt->at.x);
    for (uint32_t i = 0; i < chosen->layers; i++) {
        attend(gpt, &gpt->layers[i]);
        think(gpt, &gpt->layers[i]);
    }
    layer_norm(gpt, &gpt->at.x, &gpt->at.normal);
    matmul(gpt, &gpt->at.normal, &gpt->at.table_turned, &gpt->at.logits);
}

/* ---- steps ---- */

/* The token with the largest value in the last row. */
static uint32_t choose(const host_matrix *logits) {
    const float *last = logits->values + (size_t)(logits->rows - 1) * VOCABULARY;
    uint32_t best = 0;
    for (uint32_t i = 1; i < VOCABULARY; i++)
        if (last[i] > last[best])
            best = i;
    return best;
}

static bool is_right(const host_matrix *right, const host_matrix *found) {
    const double difference = host_difference(right, found);
    printf("logits of the first step: off by %.1e of the largest, %s\n", difference,
           difference <= allowed ? "right" : "WRONG");
    return difference <= allowed;
}

static void record(model *gpt, sb_device *device, const settings *chosen, sb_device_trace **trace) {
    ops_signpost("compile", "operations are recorded into a trace");
    check(sb_device_trace_begin(device, &error));
    forward(gpt, chosen);
    check(sb_device_trace_end(device, trace, &error));
}

static bool run(model *gpt, sb_device *device, const settings *chosen) {
    float *text = gpt->ids.host.values;
    host_matrix logits = host_matrix_create(chosen->length, VOCABULARY, false);
    sb_device_trace *trace = NULL;
    bool is_fine = true;
    for (uint32_t i = 0; i < chosen->length; i++)
        text[i] = (float)(i * 7 % VOCABULARY);
    record(gpt, device, chosen, &trace);
    for (uint32_t step = 0; step < chosen->steps; step++) {
        char name[32];
        snprintf(name, sizeof name, "step %u", step + 1);
        ops_signpost(name, NULL);
        check(float_tensor_write(&gpt->ids.gpu, text, &error));
        const uint64_t begin = sb_device_clock(device);
        check(sb_device_trace_replay(trace, &error));
        check(sb_device_finish(device, &error));
        const uint64_t clocks = sb_device_clock(device) - begin;
        check(float_tensor_read(&gpt->at.logits.gpu, logits.values, &error));
        if (step == 0)
            is_fine = is_right(&gpt->at.logits.host, &logits);
        memmove(text, text + 1, (chosen->length - 1) * sizeof *text);
        text[chosen->length - 1] = (float)choose(&logits);
        if (!chosen->is_quiet)
            printf("step %u: token %u, %.1f us\n", step + 1, choose(&logits),
                   (double)clocks / sb_device_describe(device)->clock_mhz);
    }
    sb_device_trace_destroy(trace);
    host_matrix_destroy(&logits);
    return is_fine;
}

/* ---- command line ---- */

static const char usage[] =
    "cuda_tiny_gpt: a small transformer on a GPU\n"
    "\n"
    "usage: cuda_tiny_gpt [options]\n"
    "  -d, --device NAME    what to run on (default: $STROBE_DEVICE, or cuda)\n"
    "  -k, --kernels FOLDER where the kernels' sources are\n"
    "  -l, --layers N       transformer blocks, 1 to 64 (2)\n"
    "  -w, --width N        values for each token, 32 to 4096 (256)\n"
    "  -n, --length N       tokens that are looked at, 2 to 2048 (128)\n"
    "  -s, --steps N        tokens to add, 1 to 1000 (3)\n"
    "  -q, --quiet          only the check and the summary\n"
    "  -h, --help           this text\n";

static uint32_t parse(const char *name, const char *text, uint32_t least, uint32_t most) {
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "cuda_tiny_gpt: --%s is %u to %u, not '%s'\n", name, least, most, text);
        exit(2);
    }
    return (uint32_t)value;
}

static void take_option(settings *chosen, int option, const char *value) {
    switch (option) {
    case 'd':
        chosen->device = value;
        break;
    case 'k':
        float_ops_set_kernel_folder(value);
        break;
    case 'l':
        chosen->layers = parse("layers", value, 1, 64);
        break;
    case 'w':
        chosen->width = parse("width", value, 32, 4096);
        break;
    case 'n':
        chosen->length = parse("length", value, 2, 2048);
        break;
    case 's':
        chosen->steps = parse("steps", value, 1, 1000);
        break;
    case 'q':
        chosen->is_quiet = true;
        break;
    default:
        fputs(usage, option == 'h' ? stdout : stderr);
        exit(option == 'h' ? 0 : 2);
    }
}

static settings parse_arguments(int count, char **arguments) {
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                            {"kernels", required_argument, NULL, 'k'},
                                            {"layers", required_argument, NULL, 'l'},
                                            {"width", required_argument, NULL, 'w'},
                                            {"length", required_argument, NULL, 'n'},
                                            {"steps", required_argument, NULL, 's'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    settings chosen = {.layers = 2, .width = 256, .length = 128, .steps = 3};
    if (getenv("STROBE_DEVICE") == NULL)
        chosen.device = "cuda";
    int option = 0;
    while ((option = getopt_long(count, arguments, "d:k:l:w:n:s:qh", options, NULL)) != -1)
        take_option(&chosen, option, optarg);
    if (optind < count) {
        fprintf(stderr, "cuda_tiny_gpt: '%s' is not an option\n", arguments[optind]);
        exit(2);
    }
    return chosen;
}

int main(int count, char **arguments) {
    const settings chosen = parse_arguments(count, arguments);
    sb_mesh *mesh = NULL;
    model gpt = {0};
    check(sb_mesh_open(chosen.device, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    const sb_device_info *info = sb_device_describe(device);
    if (strcmp(info->backend, "cuda") != 0) {
        fprintf(stderr, "cuda_tiny_gpt: %s is no GPU\n", info->backend);
        return 1;
    }
    make_model(&gpt, device, &chosen);
    const bool is_fine = run(&gpt, device, &chosen);
    printf("%s, %u cores: %u layers of width %u, %u tokens, %u steps\n", info->name, info->cores,
           chosen.layers, chosen.width, chosen.length, chosen.steps);
    free_model(&gpt, &chosen);
    sb_mesh_close(mesh);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("cuda_tiny_gpt: standard output");
        return 1;
    }
    return is_fine ? 0 : 1;
}
