/*
 * Transfers over the network on chip, from the files that the device profiler leaves
 * (noc_trace_dev0_ID1.json, one for each run of an op: an array of zones and transfers).
 *
 * Their times are cycles of the device. The kernels in the files are in the trace as well, with
 * times of the trace, so each file is placed by one of its kernels (view_noc_clock.c).
 */
#ifndef SB_VIEW_NOC_H
#define SB_VIEW_NOC_H

#include "view/view_model.h"

/* Transfers that are alike. */
typedef struct noc_key {
    uint64_t op;
    int32_t device;
    int32_t from_x; /* the core that asked */
    int32_t from_y;
    int32_t to_x; /* -1: many at once */
    int32_t to_y;
    int32_t is_read;
} noc_key;

typedef struct noc_event {
    int64_t cycle;
    uint32_t key; /* its number */
    uint32_t bytes;
} noc_event;

/* A file, and the first kernel in it: where it ran, from when to when in cycles. */
typedef struct noc_file {
    size_t first; /* of its events */
    size_t end;
    uint64_t op;
    int32_t device;
    int32_t x;
    int32_t y;
    sb_slice processor;
    sb_slice zone; /* empty: there is none */
    int64_t kernel_start;
    int64_t kernel_end; /* 0: it has none */
    bool is_placed;
    double start_ns; /* when that kernel began, in the trace */
} noc_file;

/* How fast the clock of a device is, as far as kernels in files and in the trace tell. */
typedef struct noc_rate {
    int32_t device;
    double cycles; /* that the kernels took, as the files have it */
    double ns;     /* and as the trace has it */
} noc_rate;

struct view_noc {
    sb_arena arena;
    sb_intern keys;   /* noc_key */
    sb_vector events; /* noc_event */
    sb_vector files;  /* noc_file */
    sb_vector rates;  /* noc_rate */
    uint64_t found;   /* files */
    uint64_t skipped; /* of them: too large, no arrays, or beyond what is kept */
};

/* Finds when the transfers of each file were; the view's runs are known. */
void view_noc_place(view_noc *noc, const sb_view *view);
/* When an event of a placed file was, in ns of the trace. */
double view_noc_time(const view_noc *noc, const noc_file *file, const noc_event *event);

#endif
