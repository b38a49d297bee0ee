/*
 * tiny_gpt: a small stack of transformer blocks on the device, to have a program of many operations
 * to profile. Weights are random but always the same; it reads a short text of token numbers and
 * continues it, one token for each step.
 *
 * A forward pass is recorded once as a trace and replayed for every step.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <strobe/device.h>

#include "ops.h"
#include "ops_profile.h"

#define VOCABULARY 64u

typedef struct settings {
    const char *device;
    uint32_t layers;
    uint32_t width;
    uint32_t length; /* of the text that is looked at */
    uint32_t steps;
    bool is_quiet;
} settings;

typedef struct layer {
    ops_tensor query, key, value, project; /* width x width */
    ops_tensor widen, narrow;              /* width x 4 width, and back */
} layer;

/* Values on the way through a layer; all layers use the same. */
typedef struct scratch {
    ops_tensor x, normal, q, k, v, k_turned, scores, chances, mixed, added;
    ops_tensor wide, active, logits, table_turned;
} scratch;

typedef struct model {
    ops_context ops;
    ops_tensor ids, table;
    layer *layers;
    scratch at;
} model;

static sb_error error;

static void check(sb_status status) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "tiny_gpt: %s\n", error.message);
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "tiny_gpt: there is not enough memory\n");
        exit(1);
    }
    return memory;
}

/* ---- making the model ---- */

static int32_t next_weight(uint64_t *random, int32_t most) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (int32_t)(*random >> 33) % (2 * most + 1) - most;
}

static ops_tensor make(model *gpt, uint32_t rows, uint32_t columns) {
    ops_tensor tensor;
    check(ops_tensor_create(&gpt->ops, rows, columns, &tensor, &error));
    return tensor;
}

static ops_tensor make_weights(model *gpt, uint32_t rows, uint32_t columns, int32_t most,
                               uint64_t *random) {
    ops_tensor tensor = make(gpt, rows, columns);
    int32_t *values = allocate((size_t)rows * columns, sizeof *values);
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        values[i] = next_weight(random, most);
    check(ops_tensor_write(&tensor, values, &error));
    free(values);
    return tensor;
}

static void make_layer(model *gpt, layer *made, uint32_t width, uint64_t *random) {
    const int32_t most = OPS_ONE / 4;
    made->query = make_weights(gpt, width, width, most, random);
    made->key = make_weights(gpt, width, width, most, random);
    made->value = make_weights(gpt, width, width, most, random);
    made->project = make_weights(gpt, width, width, most, random);
    made->widen = make_weights(gpt, width, 4 * width, most, random);
    made->narrow = make_weights(gpt, 4 * width, width, most / 2, random);
}

static void make_model(model *gpt, sb_device *device, const settings *chosen) {
    const uint32_t length = chosen->length;
    const uint32_t width = chosen->width;
    uint64_t random = 42;
    ops_begin(&gpt->ops, device, (sb_core){8, 8});
    gpt->ids = make(gpt, 1, length);
    gpt->table = make_weights(gpt, VOCABULARY, width, OPS_ONE, &random);
    gpt->layers = allocate(chosen->layers, sizeof *gpt->layers);
    for (uint32_t i = 0; i < chosen->layers; i++)
        make_layer(gpt, &gpt->layers[i], width, &random);
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
        .logits = make(gpt, length, VOCABULARY),
        .table_turned = make(gpt, width, VOCABULARY),
    };
    check(ops_transpose(&gpt->ops, &gpt->table, &gpt->at.table_turned, &error));
}

static void free_model(model *gpt, const settings *chosen) {
    ops_end(&gpt->ops);
    for (uint32_t i = 0; i < chosen->layers; i++) {
        layer *old = &gpt->layers[i];
        ops_tensor *const weights[] = {&old->query,   &old->key,   &old->value,
                                       &old->project, &old->widen, &old->narrow};
        for (size_t k = 0; k < sizeof weights / sizeof weights[0]; k++)
            ops_tensor_destroy(weights[k]);
    }
    scratch *at = &gpt->at;
    ops_tensor *const tensors[] = {&at->x,      &at->normal,       &at->q,      &at->k,
                                   &at->v,      &at->k_turned,     &at->scores, &at->chances,
                                   &at->mixed,  &at->added,        &at->wide,   &at->active,
                                   &at->logits, &at->table_turned, &gpt->ids,   &gpt->table};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        ops_tensor_destroy(tensors[i]);
    free(gpt->layers);
}

/* ---- a forward pass ---- */

static void attend(model *gpt, const layer *with) {
    ops_context *ops = &gpt->ops;
    scratch *at = &gpt->at;
    check(ops_layer_norm(ops, &at->x, &at->normal, &error));
    check(ops_matmul(ops, &at->normal, &with->query, &at->q, &error));
    check(ops_matmul(ops, &at->normal, &with->key, &at->k, &error));
    check(ops_matmul(ops, &at->normal, &with->value, &at->v, &error));
    check(ops_transpose(ops, &at->k, &at->k_turned, &error));
    check(ops_matmul(ops, &at->q, &at->k_turned, &at->scores, &error));
    check(ops_softmax(ops, &at->scores, true, &at->chances, &error));
    check(ops_matmul(ops, &at->chances, &at->v, &at->mixed, &error));
    check(ops_matmul(ops, &at->mixed, &with->project, &at->added, &error));
    check(ops_binary(ops, OPS_ADD, &at->x, &at->added, &at->x, &error));
}

static void think(model *gpt, const layer *with) {
    ops_context *ops = &gpt->ops;
    scratch *at = &gpt->at;
    check(ops_layer_norm(ops, &at->x, &at->normal, &error));
    check(ops_matmul(ops, &at->normal, &with->widen, &at->wide, &error));
    check(ops_relu(ops, &at->wide, &at->active, &error));
    check(ops_matmul(ops, &at->active, &with->narrow, &at->added, &error));
    check(ops_binary(ops, OPS_ADD, &at->x, &at->added, &at->x, &error));
}

static void forward(model *gpt, const settings *chosen) {
    check(ops_embedding(&gpt->ops, &gpt->ids, &gpt->table, &gpt->at.x, &error));
    for (uint32_t i = 0; i < chosen->layers; i++) {
        attend(gpt, &gpt->layers[i]);
        think(gpt, &gpt->layers[i]);
    }
    check(ops_layer_norm(&gpt->ops, &gpt->at.x, &gpt->at.normal, &error));
    check(ops_matmul(&gpt->ops, &gpt->at.normal, &gpt->at.table_turned, &gpt->at.logits, &error));
}

/* ---- steps ---- */

/* The token with the largest value in the last row. */
static int32_t choose(model *gpt, uint32_t length) {
    int32_t *values = allocate((size_t)length * VOCABULARY, sizeof *values);
    check(ops_tensor_read(&gpt->at.logits, values, &error));
    const int32_t *last = values + (size_t)(length - 1) * VOCABULARY;
    int32_t best = 0;
    for (int32_t i = 1; i < (int32_t)VOCABULARY; i++)
        if (last[i] > last[best])
            best = i;
    free(values);
    return best;
}

static void run(model *gpt, sb_device *device, const settings *chosen) {
    const uint32_t length = chosen->length;
    int32_t *text = allocate(length, sizeof *text);
    sb_device_trace *trace = NULL;
    for (uint32_t i = 0; i < length; i++)
        text[i] = (int32_t)(i * 7 % VOCABULARY);
    ops_signpost("compile", "operations are recorded into a trace");
    check(sb_device_trace_begin(device, &error));
    forward(gpt, chosen);
    check(sb_device_trace_end(device, &trace, &error));
    for (uint32_t step = 0; step < chosen->steps; step++) {
        const uint64_t begin = sb_device_clock(device);
        char name[32];
        snprintf(name, sizeof name, "step %u", step + 1);
        ops_signpost(name, NULL);
        check(ops_tensor_write(&gpt->ids, text, &error));
        check(sb_device_trace_replay(trace, &error));
        check(sb_device_finish(device, &error));
        memmove(text, text + 1, (length - 1) * sizeof *text);
        text[length - 1] = choose(gpt, length);
        if (!chosen->is_quiet)
            printf("step %u: token %d, %llu clocks\n", step + 1, text[length - 1],
                   (unsigned long long)(sb_device_clock(device) - begin));
    }
    sb_device_trace_destroy(trace);
    free(text);
}

/* ---- command line ---- */

static const char usage[] =
    "tiny_gpt: a small transformer on a device\n"
    "\n"
    "usage: tiny_gpt [options]\n"
    "  -d, --device NAME   what to run on (default: $STROBE_DEVICE, or emu)\n"
    "  -l, --layers N      transformer blocks, 1 to 64 (2)\n"
    "  -w, --width N       values for each token, 32 to 512 (64)\n"
    "  -n, --length N      tokens that are looked at, 2 to 256 (32)\n"
    "  -s, --steps N       tokens to add, 1 to 1000 (3)\n"
    "  -q, --quiet         only the summary\n"
    "  -h, --help          this text\n";

static uint32_t parse(const char *name, const char *text, uint32_t least, uint32_t most) {
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "tiny_gpt: --%s is %u to %u, not '%s'\n", name, least, most, text);
        exit(2);
    }
    return (uint32_t)value;
}

static settings parse_arguments(int count, char **arguments) {
    static const struct option options[] = {
        {"device", required_argument, NULL, 'd'}, {"layers", required_argument, NULL, 'l'},
        {"width", required_argument, NULL, 'w'},  {"length", required_argument, NULL, 'n'},
        {"steps", required_argument, NULL, 's'},  {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    settings chosen = {.layers = 2, .width = 64, .length = 32, .steps = 3};
    int option = 0;
    while ((option = getopt_long(count, arguments, "d:l:w:n:s:qh", options, NULL)) != -1) {
        switch (option) {
        case 'd':
            chosen.device = optarg;
            break;
        case 'l':
            chosen.layers = parse("layers", optarg, 1, 64);
            break;
        case 'w':
            chosen.width = parse("width", optarg, 32, 512);
            break;
        case 'n':
            chosen.length = parse("length", optarg, 2, 256);
            break;
        case 's':
            chosen.steps = parse("steps", optarg, 1, 1000);
            break;
        case 'q':
            chosen.is_quiet = true;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (optind < count) {
        fprintf(stderr, "tiny_gpt: '%s' is not an option\n", arguments[optind]);
        exit(2);
    }
    return chosen;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int count, char **arguments) {
    const settings chosen = parse_arguments(count, arguments);
    const double begin = seconds();
    sb_mesh *mesh = NULL;
    model gpt = {0};
    check(sb_mesh_open(chosen.device, &mesh, &error));
    sb_device *device = sb_mesh_device(mesh, 0);
    make_model(&gpt, device, &chosen);
    run(&gpt, device, &chosen);
    const sb_device_info *info = sb_device_describe(device);
    printf("%s, %u x %u cores, %s time: %llu clocks", info->backend, info->columns, info->rows,
           info->time_model, (unsigned long long)sb_device_clock(device));
    /* Not every device counts them. */
    const uint64_t instructions = sb_device_instructions(device);
    if (instructions > 0)
        printf(", %.1f million instructions", (double)instructions / 1e6);
    printf("\n");
    if (!chosen.is_quiet)
        fprintf(stderr, "%.2f s on the host\n", seconds() - begin);
    free_model(&gpt, &chosen);
    sb_mesh_close(mesh);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("tiny_gpt: standard output");
        return 1;
    }
    return 0;
}
