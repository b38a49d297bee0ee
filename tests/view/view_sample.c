/*
 * Traces for the tests of the viewer:
 *
 *     view_sample run FILE          an invented run: a decoder's loop on host and device
 *     view_sample empty FILE        nothing
 *     view_sample one FILE          one zone
 *     view_sample threads N FILE    N threads with a zone each
 *     view_sample nested N FILE     N zones on two threads, two deep
 *
 * The same arguments give the same bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/trace.h"

enum {
    STEPS = 24,      /* of the loop */
    GRID_WIDTH = 8,  /* cores of the device */
    GRID_HEIGHT = 4, /* and their rows */
    OPS = 7,
    PROCESSORS = 3,
};

static const char *const op_names[OPS] = {
    "LayerNorm", "MatmulQKV", "RotaryEmbed", "SDPA", "MatmulOut", "MatmulFF1", "MatmulFF2",
};
static const int64_t op_lengths[OPS] = {21000, 96000, 14000, 143000, 71000, 188000, 164000};
static const char *const processor_names[PROCESSORS] = {"BRISC", "NCRISC", "TRISC_1"};

typedef struct run {
    sb_trace *trace;
    uint64_t random;
    sb_track *main;
    sb_track *dispatch;
    sb_track *worker[2];
    sb_track *lanes[GRID_HEIGHT * GRID_WIDTH][PROCESSORS];
    sb_track *queue;
    uint32_t ops[OPS];
    uint32_t kernels[OPS];
    uint32_t firmware[OPS + 1]; /* of the processor that names the op, by op; of the others */
    uint32_t wait;
    uint32_t step;
    uint32_t enqueue;
    uint32_t write_program;
    uint32_t sample;
    uint32_t tokenize;
    uint32_t task;
    uint32_t chunk;
    sb_memory_pool *pools[2]; /* DRAM and L1 */
    sb_lock *lock;
    sb_frame_set *tokens;
} run;

static int64_t next_random(run *made, int64_t below) {
    made->random ^= made->random << 13;
    made->random ^= made->random >> 7;
    made->random ^= made->random << 17;
    return (int64_t)(made->random % (uint64_t)below);
}

static uint32_t add_source(sb_trace *trace, const char *name, const char *file, uint32_t line) {
    const sb_source source = {.name = sb_trace_string(trace, sb_slice_of(name)),
                              .function = sb_trace_string(trace, sb_slice_of(name)),
                              .file = sb_trace_string(trace, sb_slice_of(file)),
                              .line = line};
    return sb_trace_add_source(trace, &source);
}

static void name_thread(sb_trace *trace, uint32_t thread, const char *name) {
    sb_thread *named = sb_series_at(&trace->threads, thread);
    named->name = sb_trace_string(trace, sb_slice_of(name));
}

static sb_track *add_thread(sb_trace *trace, uint64_t id, const char *name) {
    const uint32_t thread = sb_trace_thread(trace, id);
    name_thread(trace, thread, name);
    return sb_trace_add_track(trace, SB_TRACK_THREAD, thread, SB_NONE);
}

/* ---- parts of the run ---- */

static void put_number(sb_output *output, uint64_t number, size_t size) {
    for (size_t i = 0; i < size; i++)
        sb_put_char(output, (char)(number >> (8 * i) & 0xFF));
}

/* A queue belongs to the thread that fills it, so each of its zones says when it was issued. */
static void add_queue(run *made) {
    sb_context *context = sb_trace_add_context(made->trace);
    context->name = sb_trace_string(made->trace, sb_slice_of("Command queue 0"));
    context->type = 6;
    context->period = 1.0F;
    context->thread = made->main->thread;
    const uint32_t thread = sb_trace_thread(made->trace, 900);
    ((sb_thread *)sb_series_at(&made->trace->threads, thread))->is_lane = true;
    name_thread(made->trace, thread, "programs");
    made->queue = sb_trace_add_track(made->trace, SB_TRACK_LANE, thread,
                                     (uint32_t)sb_series_count(&made->trace->contexts) - 1);
}

static void queue_program(run *made, unsigned op, int64_t issued, int64_t start, int64_t end) {
    const uint32_t zone = sb_track_begin(made->queue, start, made->kernels[op]);
    *(int64_t *)sb_series_slot(&made->queue->issue_start, zone) = issued;
    *(int64_t *)sb_series_slot(&made->queue->issue_end, zone) = issued + 500;
    *(uint32_t *)sb_series_slot(&made->queue->issuer, zone) = made->main->thread;
    sb_track_end(made->queue, end);
}

static void add_device(run *made) {
    for (unsigned core = 0; core < GRID_HEIGHT * GRID_WIDTH; core++) {
        char name[64];
        sb_context *context = sb_trace_add_context(made->trace);
        const int size = snprintf(name, sizeof name, "Device: 0, Core (%u,%u)",
                                  1 + core % GRID_WIDTH, 1 + core / GRID_WIDTH);
        context->name = sb_trace_string(made->trace, (sb_slice){name, (size_t)size});
        context->type = 6;
        context->period = 1.0F;
        context->calibrated = true;
        for (unsigned i = 0; i < PROCESSORS; i++) {
            const uint32_t thread = sb_trace_thread(made->trace, 1000 + core * 16 + i);
            sb_thread *lane = sb_series_at(&made->trace->threads, thread);
            lane->is_lane = true;
            name_thread(made->trace, thread, processor_names[i]);
            made->lanes[core][i] = sb_trace_add_track(made->trace, SB_TRACK_LANE, thread, core);
            made->lanes[core][i]->lane_id = i;
        }
    }
}

static void add_sources(run *made) {
    sb_trace *trace = made->trace;
    const char *host = "model/decoder.cpp";
    for (unsigned i = 0; i < OPS; i++) {
        char name[64];
        made->ops[i] = add_source(trace, op_names[i], host, 40 + 10 * i);
        snprintf(name, sizeof name, "%s-KERNEL", op_names[i]);
        made->kernels[i] = add_source(trace, name, "kernels/compute.cpp", 12 + 30 * i);
    }
    for (unsigned i = 0; i < OPS; i++) {
        char id[32];
        snprintf(id, sizeof id, "OP ID:%u", (i + 1) * 1024);
        made->firmware[i] = add_source(trace, "BRISC-FW", "firmware/brisc.cc", 70 + i);
        sb_source *source = sb_series_at(&trace->sources, made->firmware[i]);
        source->function = sb_trace_string(trace, sb_slice_of(id));
    }
    made->firmware[OPS] = add_source(trace, "KERNEL-RUN", "firmware/main.cc", 88);
    made->wait = add_source(trace, "CB-WAIT-FRONT", "kernels/dataflow.h", 210);
    made->step = add_source(trace, "decode step", host, 21);
    made->enqueue = add_source(trace, "EnqueueProgram", "runtime/queue.cpp", 131);
    made->write_program = add_source(trace, "write_program_commands", "runtime/dispatch.cpp", 412);
    made->sample = add_source(trace, "sample_token", "model/sampling.cpp", 17);
    made->tokenize = add_source(trace, "detokenize", "model/text.cpp", 55);
    made->task = add_source(trace, "prefetch weights", "runtime/loader.cpp", 90);
    made->chunk = add_source(trace, "memcpy chunk", "runtime/loader.cpp", 118);
}

/* What one processor of one core does for an op; edges of the grid wait longer. */
static void run_kernel(run *made, unsigned core, unsigned processor, unsigned op, int64_t start) {
    sb_track *lane = made->lanes[core][processor];
    const int64_t edge = core % GRID_WIDTH == GRID_WIDTH - 1 ? 3 : 1;
    const int64_t waits = op_lengths[op] / 40 * edge + next_random(made, 2000);
    const int64_t length = op_lengths[op] * 9 / 10 - next_random(made, op_lengths[op] / 8);
    sb_track_begin(lane, start, made->firmware[processor == 0 ? op : OPS]);
    sb_track_begin(lane, start + 400, made->kernels[op]);
    sb_track_begin(lane, start + 900, made->wait);
    sb_track_end(lane, start + 900 + waits);
    sb_track_end(lane, start + length - 300);
    sb_track_end(lane, start + length);
}

static void add_message(run *made, int64_t time, const char *text, uint32_t colour) {
    const sb_message message = {.time = time,
                                .text = sb_trace_string(made->trace, sb_slice_of(text)),
                                .colour = colour,
                                .thread = made->main->thread};
    sb_trace_add_message(made->trace, &message);
}

/* As the runtime tells of an op that it has described before. */
static void tell_op(run *made, unsigned op, int64_t time) {
    char text[128];
    snprintf(text, sizeof text, "`TT_DNN_DEVICE_OP: \"%sDeviceOperation\", %u, 0, true, %u`",
             op_names[op], 7000 + op, (op + 1) * 1024);
    add_message(made, time, text, 0xFFFFFFFF);
}

static int64_t run_op(run *made, unsigned op, int64_t now) {
    const int64_t issued = now + 700;
    tell_op(made, op, now + 100);
    sb_track_begin(made->main, now, made->ops[op]);
    sb_track_begin(made->main, now + 600, made->enqueue);
    now += 3000 + next_random(made, 5000);
    sb_track_end(made->main, now);
    sb_track_end(made->main, now + 500);
    sb_track_begin(made->dispatch, now, made->write_program);
    sb_track_end(made->dispatch, now + 2000 + next_random(made, 2500));
    const int64_t begin = now + 6000;
    for (unsigned core = 0; core < GRID_HEIGHT * GRID_WIDTH; core++) {
        for (unsigned i = 0; i < PROCESSORS; i++)
            run_kernel(made, core, i, op, begin + next_random(made, 1500));
    }
    queue_program(made, op, issued, begin, begin + op_lengths[op] - 200);
    return begin + op_lengths[op];
}

static void work_aside(run *made, sb_track *track, int64_t from, int64_t to) {
    while (from < to) {
        sb_track_begin(track, from, made->task);
        const int64_t chunks = 3 + next_random(made, 9);
        for (int64_t i = 0; i < chunks; i++) {
            sb_track_begin(track, from + 500, made->chunk);
            from += 1500 + next_random(made, 26000);
            sb_track_end(track, from);
        }
        from += 800;
        sb_track_end(track, from);
        from += 5000 + next_random(made, 90000);
    }
}

/* The cache grows with each token, activations come and go with each step. */
static void use_memory(run *made, unsigned number, int64_t from, int64_t to) {
    const sb_memory_event cache = {.time = from,
                                   .freed = SB_NO_TIME,
                                   .address = 0x1000000 + number * 0x100000,
                                   .size = 786432,
                                   .thread = made->main->thread};
    const sb_memory_event activations = {.time = from + 2000,
                                         .freed = to - 2000,
                                         .address = 0x20000,
                                         .size = 262144 + (uint64_t)next_random(made, 131072),
                                         .thread = made->main->thread,
                                         .freed_by = made->main->thread};
    sb_series_add(&made->pools[0]->events, &cache);
    sb_series_add(&made->pools[1]->events, &activations);
}

/* Main and dispatch share a lock: now and then the second waits for the first. */
static void use_lock(run *made, int64_t now) {
    const sb_lock_event events[] = {
        {.time = now, .thread = 0, .kind = 0},
        {.time = now + 100, .thread = 0, .kind = 1},
        {.time = now + 20000, .thread = 1, .kind = 0},
        {.time = now + 60000, .thread = 0, .kind = 2},
        {.time = now + 60200, .thread = 1, .kind = 1},
        {.time = now + 90000, .thread = 1, .kind = 2},
    };
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        sb_series_add(&made->lock->events, &events[i]);
}

static int64_t run_step(run *made, unsigned number, int64_t now) {
    char text[64];
    const int64_t begun = now;
    const uint32_t step = sb_track_begin(made->main, now, made->step);
    snprintf(text, sizeof text, "token %u", number);
    const sb_zone_note note = {.text = sb_trace_string(made->trace, sb_slice_of(text)),
                               .callstack = 1};
    sb_track_annotate(made->trace, made->main, step, &note);
    if (number == 4)
        add_message(made, now, "`TT_SIGNPOST: decode`", 0xFFFFFFFF);
    now += 4000;
    for (unsigned op = 0; op < OPS; op++)
        now = run_op(made, op, now);
    sb_track_begin(made->main, now + 2000, made->sample);
    now += 30000 + next_random(made, 30000);
    sb_track_begin(made->main, now - 9000, made->tokenize);
    sb_track_end(made->main, now - 1000);
    sb_track_end(made->main, now);
    if (number % 7 == 6)
        add_message(made, now, "cache grows by one block", 0xFF2090FF);
    now += 3000;
    sb_track_end(made->main, now);
    use_memory(made, number, begun, now);
    use_lock(made, begun + 5000);
    sb_series_add(&made->tokens->frames,
                  &(sb_frame){.start = begun + 8000, .end = now - 6000, .image = -1});
    return now + 4000 + next_random(made, 20000);
}

static void add_plot(run *made, const char *name, uint8_t format, int64_t end, double scale) {
    enum { POINTS = 400 };
    sb_plot *plot = sb_trace_add_plot(made->trace, sb_trace_string(made->trace, sb_slice_of(name)));
    plot->format = format;
    double value = scale / 2;
    for (int64_t i = 0; i < POINTS; i++) {
        value += scale * ((double)next_random(made, 200) - 92) / 4000;
        value = value < 0 ? 0 : value;
        const sb_plot_point point = {i * end / POINTS, value};
        sb_series_add(&plot->points, &point);
    }
}

/* One callstack of three frames, the way files have them. */
static void add_callstack(sb_trace *trace) {
    static const char *const names[] = {"decode_step", "run_decoder", "main"};
    enum { FRAMES = sizeof names / sizeof names[0], TEXT = 3, LINE = 4, SYMBOL = 8 };
    sb_output stacks = sb_output_to_memory();
    sb_output frames = sb_output_to_memory();
    put_number(&stacks, 1, 8);
    put_number(&stacks, FRAMES, 2);
    put_number(&frames, FRAMES, 8);
    for (uint64_t i = 0; i < FRAMES; i++) {
        put_number(&stacks, 0x401000 + i * 256, 8);
        put_number(&frames, 0x401000 + i * 256, 8);
        put_number(&frames, 1, 1);
        put_number(&frames, 0, TEXT);
        put_number(&frames, sb_trace_string(trace, sb_slice_of(names[i])), TEXT);
        put_number(&frames, sb_trace_string(trace, sb_slice_of("model/decoder.cpp")), TEXT);
        put_number(&frames, 20 + 60 * i, LINE);
        put_number(&frames, 0, SYMBOL);
    }
    trace->opaque[SB_OPAQUE_CALLSTACKS] = sb_arena_copy(&trace->arena, sb_output_text(&stacks));
    trace->opaque[SB_OPAQUE_CALLSTACK_FRAMES] =
        sb_arena_copy(&trace->arena, sb_output_text(&frames));
    trace->file.opaque_items[SB_OPAQUE_CALLSTACKS] = 1;
    trace->file.opaque_items[SB_OPAQUE_CALLSTACK_FRAMES] = FRAMES;
    sb_output_discard(&stacks);
    sb_output_discard(&frames);
}

static void add_lists(run *made) {
    static const char *const pool_names[] = {"Device 0 DRAM", "Device 0 L1"};
    sb_trace *trace = made->trace;
    for (size_t i = 0; i < 2; i++)
        made->pools[i] =
            sb_trace_add_pool(trace, sb_trace_string(trace, sb_slice_of(pool_names[i])));
    made->lock = sb_trace_add_lock(trace, 1);
    made->lock->name = sb_trace_string(trace, sb_slice_of("command queue"));
    made->lock->terminated = SB_NO_TIME;
    sb_series_add(&made->lock->threads, &made->main->thread);
    sb_series_add(&made->lock->threads, &made->dispatch->thread);
    made->tokens =
        sb_trace_add_frame_set(trace, sb_trace_string(trace, sb_slice_of("tokens")), false);
    add_callstack(trace);
}

static void make_run(sb_trace *trace) {
    run made = {.trace = trace, .random = 0x2545F4914F6CDD1DU};
    trace->info.program = sb_slice_of("decoder");
    trace->info.host = sb_slice_of("OS: Linux\nCPU: sample\n");
    made.main = add_thread(trace, 4201, "main");
    made.dispatch = add_thread(trace, 4202, "dispatch");
    made.worker[0] = add_thread(trace, 4203, "worker 0");
    made.worker[1] = add_thread(trace, 4204, "worker 1");
    add_sources(&made);
    add_device(&made);
    add_queue(&made);
    sb_frame_set *frames = sb_trace_add_frame_set(trace, 0, true);
    add_lists(&made);
    int64_t now = 50000;
    for (unsigned i = 0; i < STEPS; i++) {
        const sb_frame frame = {.start = now, .end = SB_NO_TIME, .image = -1};
        sb_series_add(&frames->frames, &frame);
        now = run_step(&made, i, now);
    }
    work_aside(&made, made.worker[0], 20000, now);
    work_aside(&made, made.worker[1], 90000, now);
    add_plot(&made, "DRAM in use", 1, now, 3e9);
    add_plot(&made, "queue depth", 0, now, 16);
    trace->info.last_time = now;
}

static void make_threads(sb_trace *trace, int64_t count) {
    trace->info.program = sb_slice_of("threads");
    const uint32_t source = add_source(trace, "work", "threads.c", 1);
    for (int64_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "thread %" PRId64, i);
        sb_track *track = add_thread(trace, (uint64_t)i + 1, name);
        sb_track_add(track, 1000 * i, 1000 * i + 5000, source);
    }
    trace->info.last_time = 1000 * count + 5000;
}

static void make_nested(sb_trace *trace, int64_t count) {
    trace->info.program = sb_slice_of("nested");
    const uint32_t outer = add_source(trace, "outer", "nested.c", 1);
    const uint32_t inner = add_source(trace, "inner", "nested.c", 2);
    sb_track *tracks[] = {add_thread(trace, 1, "one"), add_thread(trace, 2, "two")};
    for (int64_t i = 0; i < count / 2; i++) {
        sb_track *track = tracks[i % 2];
        sb_track_begin(track, 200 * i, outer);
        sb_track_add(track, 200 * i + 20, 200 * i + 90 + i % 37, inner);
        sb_track_end(track, 200 * i + 150);
    }
    trace->info.last_time = 100 * count;
}

static bool make(sb_trace *trace, const char *kind, const char *count) {
    int64_t number = 0;
    if (strcmp(kind, "run") == 0) {
        make_run(trace);
    } else if (strcmp(kind, "one") == 0) {
        make_threads(trace, 1);
    } else if (strcmp(kind, "threads") == 0 && sb_parse_int64(sb_slice_of(count), &number)) {
        make_threads(trace, number);
    } else if (strcmp(kind, "nested") == 0 && sb_parse_int64(sb_slice_of(count), &number)) {
        make_nested(trace, number);
    } else {
        return strcmp(kind, "empty") == 0;
    }
    return true;
}

int main(int argc, char **argv) {
    sb_error error = {0};
    sb_output output;
    if (argc < 3) {
        fprintf(stderr, "usage: view_sample run|empty|one|threads|nested [N] FILE\n");
        return 2;
    }
    sb_trace *trace = sb_trace_create();
    int code = make(trace, argv[1], argv[2]) ? 0 : 2;
    if (code == 0 && sb_output_to_file(&output, argv[argc - 1], &error) == SB_OK) {
        const sb_trace_write_options options = {.compression = SB_TRACE_LZ4};
        sb_trace_write(trace, &options, &output, NULL);
        code = sb_output_finish(&output, &error) == SB_OK ? 0 : 1;
    }
    sb_trace_free(trace);
    if (error.status != SB_OK)
        fprintf(stderr, "view_sample: %s\n", error.message);
    return error.status != SB_OK ? 1 : code;
}
