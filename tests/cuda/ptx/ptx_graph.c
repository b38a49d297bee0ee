/*
 * Graphs of launches: rows of nodes, each behind the last, which is all that the library asks for.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cuda/cuda_driver.h"
#include "ptx_stream.h"

/* They are found by name; nobody declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Replays keep the number of a launch. */
typedef struct ptx_node {
    struct ptx_node *next;
    ptx_work work;
} ptx_node;

typedef struct ptx_graph {
    ptx_node *first;
    ptx_node *last;
} ptx_graph;

API int cuGraphCreate(ptx_graph **graph, unsigned flags) {
    *graph = sb_alloc_zeroed(1, sizeof **graph);
    return flags == 0 ? ptx_sticky_error() : PTX_INVALID;
}

API int cuGraphDestroy(ptx_graph *graph) {
    while (graph->first != NULL) {
        ptx_node *node = graph->first;
        graph->first = node->next;
        free(node->work.launch.parameters);
        free(node);
    }
    free(graph);
    return 0;
}

static int add_node(ptx_node **node, ptx_graph *graph, ptx_node *const *after, size_t count,
                    const ptx_work *work) {
    if (count != (graph->last != NULL ? 1 : 0) || (count == 1 && after[0] != graph->last))
        return PTX_INVALID;
    *node = sb_alloc_zeroed(1, sizeof **node);
    (*node)->work = *work;
    if (graph->last != NULL)
        graph->last->next = *node;
    else
        graph->first = *node;
    graph->last = *node;
    return ptx_sticky_error();
}

static int work_of_memset(const cuda_memset_node *parameters, ptx_work *work) {
    if (parameters->element_bytes != sizeof(uint32_t) || parameters->width != 1 ||
        parameters->height != 1 || !ptx_memory_has(parameters->address, sizeof(uint32_t), true))
        return PTX_INVALID;
    *work = (ptx_work){.kind = PTX_WORK_WRITE, .value = parameters->value};
    work->to = (void *)(uintptr_t)parameters->address; // NOLINT(performance-no-int-to-ptr)
    return 0;
}

API int cuGraphAddMemsetNode(ptx_node **node, ptx_graph *graph, ptx_node *const *after,
                             size_t count, const cuda_memset_node *parameters, void *context) {
    ptx_work work;
    (void)context;
    const int wrong = work_of_memset(parameters, &work);
    return wrong != 0 ? wrong : add_node(node, graph, after, count, &work);
}

API int cuGraphAddKernelNode(ptx_node **node, ptx_graph *graph, ptx_node *const *after,
                             size_t count, const cuda_kernel_node *parameters) {
    ptx_work work;
    const ptx_shape shape = {
        .grid = {parameters->grid[0], parameters->grid[1], parameters->grid[2]},
        .block = {parameters->block[0], parameters->block[1], parameters->block[2]},
        .shared_bytes = parameters->shared_bytes};
    const int wrong = ptx_prepare_launch((ptx_function *)parameters->function, &shape,
                                         parameters->arguments, &work);
    return wrong != 0 ? wrong : add_node(node, graph, after, count, &work);
}

/* A graph is its own executable: nothing is added to it afterwards. */
API int cuGraphInstantiateWithFlags(ptx_graph **exec, ptx_graph *graph, unsigned long long flags) {
    *exec = graph;
    return flags == 0 ? ptx_sticky_error() : PTX_INVALID;
}

API int cuGraphExecDestroy(ptx_graph *exec) {
    (void)exec;
    return 0;
}

API int cuGraphExecMemsetNodeSetParams(ptx_graph *exec, ptx_node *node,
                                       const cuda_memset_node *parameters, void *context) {
    (void)exec;
    (void)context;
    return work_of_memset(parameters, &node->work);
}

API int cuGraphLaunch(ptx_graph *exec, ptx_stream *stream) {
    for (const ptx_node *node = exec->first; node != NULL; node = node->next) {
        ptx_work work = node->work;
        if (work.kind == PTX_WORK_LAUNCH) {
            const size_t size = work.launch.function->parameter_bytes + (size_t)1;
            work.launch.parameters = sb_alloc(size);
            memcpy(work.launch.parameters, node->work.launch.parameters, size);
        }
        ptx_stream_give(stream, &work);
    }
    return ptx_sticky_error();
}
