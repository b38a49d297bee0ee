/*
 * gpt: a small stack of transformer blocks, as tiny_gpt and its twin on a GPU (../cuda) run it.
 * What a tensor is and who computes is theirs (gpt_math); the model, its steps and the command line
 * are here.
 *
 * Weights are random but always the same. It reads a short text of token numbers and continues it,
 * one token for each step. A forward pass is recorded once as a trace and replayed for every step.
 */
#ifndef STROBE_EXAMPLES_GPT_H
#define STROBE_EXAMPLES_GPT_H

#include <strobe/device.h>

enum { GPT_VOCABULARY = 64 };

/* ---- command line ---- */

typedef struct gpt_settings {
    const char *device;
    uint32_t layers;
    uint32_t width;
    uint32_t length; /* of the text that is looked at */
    uint32_t steps;
    bool is_quiet;
} gpt_settings;

/* A program: what it says of itself, and the most that its options may be. */
typedef struct gpt_program {
    const char *name;
    const char *about;
    const char *device; /* without STROBE_DEVICE */
    void (*set_kernel_folder)(const char *folder);
    uint32_t width_most;
    uint32_t length_most;
    gpt_settings usual;
} gpt_program;

/* Ends the program where options are wrong. */
gpt_settings gpt_parse(const gpt_program *program, int count, char **arguments);

/* ---- errors end the program ---- */

extern sb_error gpt_error;
void gpt_check(sb_status status);
void *gpt_allocate(size_t count, size_t size);
/* The program's exit code: not 0 either where what it printed did not arrive. */
int gpt_end(bool is_fine);

/* ---- the model ---- */

typedef struct gpt_tensor gpt_tensor;

typedef enum gpt_use { GPT_IDS, GPT_VALUES, GPT_LOGITS } gpt_use;
typedef enum gpt_weights { GPT_TABLE, GPT_PLAIN, GPT_NARROW } gpt_weights;

/* Each works on one device; context is the first argument. */
typedef struct gpt_math {
    void *context;
    gpt_tensor *(*make)(void *context, gpt_use use, uint32_t rows, uint32_t columns);
    void (*fill)(void *context, gpt_tensor *tensor, gpt_weights with, uint64_t *seed);
    void (*destroy)(void *context, gpt_tensor *tensor);
    void (*matmul)(void *context, gpt_tensor *a, gpt_tensor *b, gpt_tensor *out);
    void (*layer_norm)(void *context, gpt_tensor *a, gpt_tensor *out);
    void (*softmax)(void *context, gpt_tensor *a, uint32_t width, gpt_tensor *out); /* causal */
    void (*add)(void *context, gpt_tensor *a, gpt_tensor *b, gpt_tensor *out);
    void (*relu)(void *context, gpt_tensor *a, gpt_tensor *out);
    void (*transpose)(void *context, gpt_tensor *a, gpt_tensor *out);
    void (*embed)(void *context, gpt_tensor *ids, gpt_tensor *table, gpt_tensor *out);
    /* The text that a trace is recorded with; NULL: that does not matter. */
    void (*prepare)(void *context, gpt_tensor *ids, const uint32_t *text, uint32_t length);
    void (*write_ids)(void *context, gpt_tensor *ids, const uint32_t *text, uint32_t length);
    /* The token with the largest value in the last row. */
    uint32_t (*choose)(void *context, gpt_tensor *logits, uint32_t length);
} gpt_math;

typedef struct gpt_layer {
    gpt_tensor *query, *key, *value, *project; /* width x width */
    gpt_tensor *widen, *narrow;                /* width x 4 width, and back */
} gpt_layer;

/* Values on the way through a layer; all layers use the same. */
typedef struct gpt_scratch {
    gpt_tensor *x, *normal, *q, *k, *v, *k_turned, *scores, *chances, *mixed, *added;
    gpt_tensor *wide, *active, *logits, *table_turned;
} gpt_scratch;

typedef struct gpt_model {
    const gpt_math *math;
    const gpt_settings *settings;
    gpt_tensor *ids, *table;
    gpt_layer *layers;
    gpt_scratch at;
} gpt_model;

void gpt_make(gpt_model *gpt, const gpt_math *math, const gpt_settings *settings);
void gpt_destroy(gpt_model *gpt);

typedef struct gpt_step {
    uint32_t number; /* from 1 on */
    uint32_t token;
    uint64_t replay_clocks;
    uint64_t clocks; /* with writing and reading */
} gpt_step;

/* tell: after each step. */
void gpt_run(gpt_model *gpt, sb_device *device,
             void (*tell)(const gpt_model *gpt, const gpt_step *step));

#endif
