/*
 * Launches, and traces as graphs.
 */
#include <stdlib.h>

#include "device/cuda/gpu.h"

sb_status device_gpu_launch(gpu_program *program, uint32_t id, sb_error *error) {
    gpu_profiler *profiler = program->device->mesh->gpu->profiler;
    SB_TRY(gpu_program_prepare(program, error));
    if (profiler != NULL) {
        SB_TRY(gpu_profiler_make_room(profiler, 1, error));
        const uint32_t number =
            gpu_profiler_add(profiler, program->device, &(gpu_launch_name){.id = id});
        SB_TRY(sb_cuda_set_program(NULL, number, error));
    }
    for (size_t i = 0; i < program->kernels.count; i++) {
        gpu_kernel *kernel = sb_vector_at(&program->kernels, i);
        SB_TRY(sb_cuda_launch(kernel->built, &kernel->shape, NULL, kernel->values, error));
    }
    return SB_OK;
}

/* ---- traces ---- */

struct gpu_trace {
    sb_device *device;
    sb_cuda_graph *graph;
    sb_vector ids;    /* uint32_t: of the programs */
    sb_vector owners; /* uint32_t: for each launch, which of them it belongs to */
    uint32_t replays;
};

sb_status device_gpu_trace_create(sb_device *device, gpu_trace **trace, sb_error *error) {
    sb_cuda_graph *graph = NULL;
    SB_TRY(gpu_use(device, error));
    SB_TRY(sb_cuda_graph_create(&graph, error));
    *trace = sb_alloc(sizeof **trace);
    **trace = (gpu_trace){.device = device,
                          .graph = graph,
                          .ids = sb_vector_of(sizeof(uint32_t)),
                          .owners = sb_vector_of(sizeof(uint32_t))};
    return SB_OK;
}

/* The driver keeps a graph that runs until it has ended. */
void device_gpu_trace_destroy(gpu_trace *trace) {
    if (trace == NULL)
        return;
    (void)gpu_use(trace->device, NULL);
    sb_cuda_graph_destroy(trace->graph);
    sb_vector_free(&trace->ids);
    sb_vector_free(&trace->owners);
    free(trace);
}

sb_status device_gpu_trace_add(gpu_trace *trace, gpu_program *program, uint32_t id,
                               sb_error *error) {
    const uint32_t owner = (uint32_t)trace->ids.count;
    SB_TRY(gpu_program_prepare(program, error));
    for (size_t i = 0; i < program->kernels.count; i++) {
        gpu_kernel *kernel = sb_vector_at(&program->kernels, i);
        SB_TRY(sb_cuda_graph_add(trace->graph, kernel->built, &kernel->shape, kernel->values,
                                 device_gpu_is_profiled(trace->device), error));
        *(uint32_t *)sb_vector_push(&trace->owners) = owner;
    }
    *(uint32_t *)sb_vector_push(&trace->ids) = id;
    return SB_OK;
}

/* What the launches of this replay are called on the GPU: one number for each. */
static uint32_t *name_launches(gpu_trace *trace, uint32_t trace_id) {
    gpu_profiler *profiler = trace->device->mesh->gpu->profiler;
    uint32_t *numbers = sb_alloc_zeroed(trace->owners.count + 1, sizeof *numbers);
    uint32_t named = 0;
    uint32_t number = 0;
    for (size_t i = 0; i < trace->owners.count; i++) {
        const uint32_t owner = *(const uint32_t *)sb_vector_at(&trace->owners, i);
        if (owner == named) {
            const uint32_t id = *(const uint32_t *)sb_vector_at(&trace->ids, owner);
            number = gpu_profiler_add(profiler, trace->device,
                                      &(gpu_launch_name){id, trace_id, trace->replays});
            named++;
        }
        numbers[i] = number;
    }
    return numbers;
}

sb_status device_gpu_trace_replay(gpu_trace *trace, uint32_t trace_id, sb_error *error) {
    gpu_profiler *profiler = trace->device->mesh->gpu->profiler;
    uint32_t *numbers = NULL;
    SB_TRY(gpu_use(trace->device, error));
    trace->replays++;
    if (profiler != NULL) {
        SB_TRY(gpu_profiler_make_room(profiler, trace->ids.count, error));
        numbers = name_launches(trace, trace_id);
    }
    const sb_status status = sb_cuda_graph_replay(trace->graph, numbers, error);
    free(numbers);
    return status;
}
