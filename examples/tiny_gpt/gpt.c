#include "gpt.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops_profile.h"

sb_error gpt_error;

/* What messages begin with. */
static const char *program_name = "gpt";

/* ---- errors ---- */

void gpt_check(sb_status status) {
    if (status == SB_OK)
        return;
    fprintf(stderr, "%s: %s\n", program_name, gpt_error.message);
    exit(1);
}

void *gpt_allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "%s: there is not enough memory\n", program_name);
        exit(1);
    }
    return memory;
}

int gpt_end(bool is_fine) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return is_fine ? 0 : 1;
    fprintf(stderr, "%s: ", program_name);
    perror("standard output");
    return 1;
}

/* ---- making the model ---- */

static gpt_tensor *make(const gpt_model *gpt, uint32_t rows, uint32_t columns) {
    return gpt->math->make(gpt->math->context, GPT_VALUES, rows, columns);
}

static gpt_tensor *make_weights(const gpt_model *gpt, gpt_weights with, uint32_t rows,
                                uint32_t columns, uint64_t *seed) {
    gpt_tensor *made = make(gpt, rows, columns);
    gpt->math->fill(gpt->math->context, made, with, seed);
    return made;
}

static void make_layer(const gpt_model *gpt, gpt_layer *made, uint64_t *seed) {
    const uint32_t width = gpt->settings->width;
    made->query = make_weights(gpt, GPT_PLAIN, width, width, seed);
    made->key = make_weights(gpt, GPT_PLAIN, width, width, seed);
    made->value = make_weights(gpt, GPT_PLAIN, width, width, seed);
    made->project = make_weights(gpt, GPT_PLAIN, width, width, seed);
    made->widen = make_weights(gpt, GPT_PLAIN, width, 4 * width, seed);
    made->narrow = make_weights(gpt, GPT_NARROW, 4 * width, width, seed);
}

static gpt_scratch make_scratch(const gpt_model *gpt) {
    const uint32_t length = gpt->settings->length;
    const uint32_t width = gpt->settings->width;
    return (gpt_scratch){
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
        .logits = gpt->math->make(gpt->math->context, GPT_LOGITS, length, GPT_VOCABULARY),
        .table_turned = make(gpt, width, GPT_VOCABULARY),
    };
}

void gpt_make(gpt_model *gpt, const gpt_math *math, const gpt_settings *settings) {
    uint64_t seed = 42;
    *gpt = (gpt_model){.math = math, .settings = settings};
    gpt->ids = math->make(math->context, GPT_IDS, 1, settings->length);
    gpt->table = make_weights(gpt, GPT_TABLE, GPT_VOCABULARY, settings->width, &seed);
    gpt->layers = gpt_allocate(settings->layers, sizeof *gpt->layers);
    for (uint32_t i = 0; i < settings->layers; i++)
        make_layer(gpt, &gpt->layers[i], &seed);
    gpt->at = make_scratch(gpt);
    math->transpose(math->context, gpt->table, gpt->at.table_turned);
}

static void destroy_all(const gpt_model *gpt, gpt_tensor *const *tensors, size_t count) {
    for (size_t i = 0; i < count; i++)
        gpt->math->destroy(gpt->math->context, tensors[i]);
}

void gpt_destroy(gpt_model *gpt) {
    const gpt_scratch *at = &gpt->at;
    gpt_tensor *const tensors[] = {at->x,      at->normal,       at->q,      at->k,
                                   at->v,      at->k_turned,     at->scores, at->chances,
                                   at->mixed,  at->added,        at->wide,   at->active,
                                   at->logits, at->table_turned, gpt->ids,   gpt->table};
    for (uint32_t i = 0; i < gpt->settings->layers; i++) {
        const gpt_layer *old = &gpt->layers[i];
        gpt_tensor *const weights[] = {old->query,   old->key,   old->value,
                                       old->project, old->widen, old->narrow};
        destroy_all(gpt, weights, sizeof weights / sizeof weights[0]);
    }
    destroy_all(gpt, tensors, sizeof tensors / sizeof tensors[0]);
    free(gpt->layers);
    *gpt = (gpt_model){0};
}

/* ---- a forward pass ---- */

static void attend(const gpt_model *gpt, const gpt_layer *with) {
    const gpt_math *math = gpt->math;
    void *context = math->context;
    const gpt_scratch *at = &gpt->at;
    math->layer_norm(context, at->x, at->normal);
    math->matmul(context, at->normal, with->query, at->q);
    math->matmul(context, at->normal, with->key, at->k);
    math->matmul(context, at->normal, with->value, at->v);
    math->transpose(context, at->k, at->k_turned);
    math->matmul(context, at->q, at->k_turned, at->scores);
    math->softmax(context, at->scores, gpt->settings->width, at->chances);
    math->matmul(context, at->chances, at->v, at->mixed);
    math->matmul(context, at->mixed, with->project, at->added);
    math->add(context, at->x, at->added, at->x);
}

static void think(const gpt_model *gpt, const gpt_layer *with) {
    const gpt_math *math = gpt->math;
    void *context = math->context;
    const gpt_scratch *at = &gpt->at;
    math->layer_norm(context, at->x, at->normal);
    math->matmul(context, at->normal, with->widen, at->wide);
    math->relu(context, at->wide, at->active);
    math->matmul(context, at->active, with->narrow, at->added);
    math->add(context, at->x, at->added, at->x);
}

static void forward(const gpt_model *gpt) {
    const gpt_math *math = gpt->math;
    math->embed(math->context, gpt->ids, gpt->table, gpt->at.x);
    for (uint32_t i = 0; i < gpt->settings->layers; i++) {
        attend(gpt, &gpt->layers[i]);
        think(gpt, &gpt->layers[i]);
    }
    math->layer_norm(math->context, gpt->at.x, gpt->at.normal);
    math->matmul(math->context, gpt->at.normal, gpt->at.table_turned, gpt->at.logits);
}

/* ---- steps ---- */

static void run_step(const gpt_model *gpt, sb_device *device, sb_device_trace *trace,
                     uint32_t *text, gpt_step *step) {
    const gpt_math *math = gpt->math;
    const uint32_t length = gpt->settings->length;
    char name[32];
    const uint64_t begin = sb_device_clock(device);
    snprintf(name, sizeof name, "step %u", step->number);
    ops_signpost(name, NULL);
    math->write_ids(math->context, gpt->ids, text, length);
    const uint64_t replayed = sb_device_clock(device);
    gpt_check(sb_device_trace_replay(trace, &gpt_error));
    gpt_check(sb_device_finish(device, &gpt_error));
    step->replay_clocks = sb_device_clock(device) - replayed;
    step->token = math->choose(math->context, gpt->at.logits, length);
    step->clocks = sb_device_clock(device) - begin;
    memmove(text, text + 1, (length - 1) * sizeof *text);
    text[length - 1] = step->token;
}

void gpt_run(gpt_model *gpt, sb_device *device,
             void (*tell)(const gpt_model *gpt, const gpt_step *step)) {
    const gpt_math *math = gpt->math;
    const uint32_t length = gpt->settings->length;
    uint32_t *text = gpt_allocate(length, sizeof *text);
    sb_device_trace *trace = NULL;
    for (uint32_t i = 0; i < length; i++)
        text[i] = i * 7 % GPT_VOCABULARY;
    if (math->prepare != NULL)
        math->prepare(math->context, gpt->ids, text, length);
    ops_signpost("compile", "operations are recorded into a trace");
    gpt_check(sb_device_trace_begin(device, &gpt_error));
    forward(gpt);
    gpt_check(sb_device_trace_end(device, &trace, &gpt_error));
    for (uint32_t i = 0; i < gpt->settings->steps; i++) {
        gpt_step step = {.number = i + 1};
        run_step(gpt, device, trace, text, &step);
        tell(gpt, &step);
    }
    sb_device_trace_destroy(trace);
    free(text);
}

/* ---- command line ---- */

static void print_usage(const gpt_program *program, FILE *to) {
    fprintf(to,
            "%s: %s\n"
            "\n"
            "usage: %s [options]\n"
            "  -d, --device NAME    what to run on (default: $STROBE_DEVICE, or %s)\n"
            "  -k, --kernels FOLDER where the kernels' sources are\n"
            "  -l, --layers N       transformer blocks, 1 to 64 (%u)\n"
            "  -w, --width N        values for each token, 32 to %u (%u)\n"
            "  -n, --length N       tokens that are looked at, 2 to %u (%u)\n"
            "  -s, --steps N        tokens to add, 1 to 1000 (%u)\n"
            "  -q, --quiet          only the summary\n"
            "  -h, --help           this text\n",
            program->name, program->about, program->name, program->device, program->usual.layers,
            program->width_most, program->usual.width, program->length_most, program->usual.length,
            program->usual.steps);
}

static uint32_t parse_number(const char *name, const char *text, uint32_t least, uint32_t most) {
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < least || value > most) {
        fprintf(stderr, "%s: --%s is %u to %u, not '%s'\n", program_name, name, least, most, text);
        exit(2);
    }
    return (uint32_t)value;
}

static void take_option(const gpt_program *program, gpt_settings *chosen, int option,
                        const char *value) {
    switch (option) {
    case 'd':
        chosen->device = value;
        break;
    case 'k':
        program->set_kernel_folder(value);
        break;
    case 'l':
        chosen->layers = parse_number("layers", value, 1, 64);
        break;
    case 'w':
        chosen->width = parse_number("width", value, 32, program->width_most);
        break;
    case 'n':
        chosen->length = parse_number("length", value, 2, program->length_most);
        break;
    case 's':
        chosen->steps = parse_number("steps", value, 1, 1000);
        break;
    case 'q':
        chosen->is_quiet = true;
        break;
    default:
        print_usage(program, option == 'h' ? stdout : stderr);
        exit(option == 'h' ? 0 : 2);
    }
}

gpt_settings gpt_parse(const gpt_program *program, int count, char **arguments) {
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                            {"kernels", required_argument, NULL, 'k'},
                                            {"layers", required_argument, NULL, 'l'},
                                            {"width", required_argument, NULL, 'w'},
                                            {"length", required_argument, NULL, 'n'},
                                            {"steps", required_argument, NULL, 's'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    gpt_settings chosen = program->usual;
    program_name = program->name;
    if (getenv("STROBE_DEVICE") == NULL)
        chosen.device = program->device;
    int option = 0;
    while ((option = getopt_long(count, arguments, "d:k:l:w:n:s:qh", options, NULL)) != -1)
        take_option(program, &chosen, option, optarg);
    if (optind < count) {
        fprintf(stderr, "%s: '%s' is not an option\n", program_name, arguments[optind]);
        exit(2);
    }
    return chosen;
}
