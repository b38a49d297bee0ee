/*
 * Graphs of launches. Each launch that has a number of a program is two nodes: one writes the
 * number to where warps read it, the next is the kernel. Before a replay the numbers are written
 * into the graph, so that every replay can be told from the others; those that run already keep
 * theirs.
 */
#include <strobe/cuda_gpu.h>

#include <dlfcn.h>
#include <stdlib.h>

#include "base/base.h"
#include "cuda/cuda_context.h"

typedef struct cuda_opaque_graph *graph_handle;
typedef struct cuda_opaque_graph_exec *graph_exec;
typedef struct cuda_opaque_node *graph_node;

/* X(member, symbol, parameters) */
#define GRAPH_FUNCTIONS(X)                                                           \
    X(create, "cuGraphCreate", (graph_handle * graph, unsigned flags))               \
    X(destroy, "cuGraphDestroy", (graph_handle graph))                               \
    X(add_memset, "cuGraphAddMemsetNode",                                            \
      (graph_node * node, graph_handle graph, const graph_node *after, size_t count, \
       const cuda_memset_node *parameters, cuda_context_handle context))             \
    X(add_kernel, "cuGraphAddKernelNode",                                            \
      (graph_node * node, graph_handle graph, const graph_node *after, size_t count, \
       const cuda_kernel_node *parameters))                                          \
    X(instantiate, "cuGraphInstantiateWithFlags",                                    \
      (graph_exec * exec, graph_handle graph, unsigned long long flags))             \
    X(set_memset, "cuGraphExecMemsetNodeSetParams",                                  \
      (graph_exec exec, graph_node node, const cuda_memset_node *parameters,         \
       cuda_context_handle context))                                                 \
    X(launch, "cuGraphLaunch", (graph_exec exec, cuda_stream stream))                \
    X(exec_destroy, "cuGraphExecDestroy", (graph_exec exec))

#define GRAPH_MEMBER(member, symbol, parameters) \
    int(*member) parameters; // NOLINT(bugprone-macro-parentheses)
typedef struct graph_driver {
    GRAPH_FUNCTIONS(GRAPH_MEMBER)
} graph_driver;
#undef GRAPH_MEMBER

#define GRAPH_SYMBOL(member, symbol, parameters) {symbol, offsetof(graph_driver, member)},
static const cuda_symbol symbols[] = {GRAPH_FUNCTIONS(GRAPH_SYMBOL)};
#undef GRAPH_SYMBOL

struct sb_cuda_graph {
    const cuda_driver *driver;
    graph_driver calls;
    cuda_context_handle context;
    graph_handle graph;
    graph_exec exec; /* NULL: something was added since */
    graph_node last; /* NULL: it is empty */
    cuda_address number_address;
    graph_node *numbers; /* the nodes that write numbers */
    size_t number_count;
    size_t number_capacity;
};

static const char what[] = "a graph of launches";

static sb_status open_graph(sb_cuda_graph *graph, sb_error *error) {
    SB_TRY(cuda_driver_load(&graph->driver, error));
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const char *missing =
        library == NULL ? ""
                        : cuda_find_symbols(library, symbols, sizeof symbols / sizeof symbols[0],
                                            &graph->calls);
    if (missing != NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "the CUDA driver is too old for graphs: it has no %s",
                missing);
    SB_TRY(cuda_check(graph->driver, graph->driver->context_get(&graph->context), what, error));
    return cuda_check(graph->driver, graph->calls.create(&graph->graph, 0), what, error);
}

sb_status sb_cuda_graph_create(sb_cuda_graph **graph, sb_error *error) {
    sb_cuda_graph *made = calloc(1, sizeof *made);
    if (made == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for a graph");
    const sb_status status = open_graph(made, error);
    if (status != SB_OK) {
        free(made);
        return status;
    }
    *graph = made;
    return SB_OK;
}

static void forget_exec(sb_cuda_graph *graph) {
    if (graph->exec != NULL)
        (void)graph->calls.exec_destroy(graph->exec);
    graph->exec = NULL;
}

void sb_cuda_graph_destroy(sb_cuda_graph *graph) {
    if (graph == NULL)
        return;
    forget_exec(graph);
    (void)graph->calls.destroy(graph->graph);
    free(graph->numbers);
    free(graph);
}

static cuda_memset_node number_node(const sb_cuda_graph *graph, uint32_t number) {
    return (cuda_memset_node){.address = graph->number_address,
                              .value = number,
                              .element_bytes = sizeof number,
                              .width = 1,
                              .height = 1};
}

static sb_status add_number(sb_cuda_graph *graph, sb_error *error) {
    if (cuda_is_child())
        return SB_OK;
    if (graph->number_address == 0) {
        cuda_context *context = NULL;
        const sb_status status = cuda_current_context(&context, error);
        if (context == NULL || context->is_off)
            return status;
        SB_TRY(cuda_context_use_programs(context, error));
        graph->number_address = context->pool.control;
    }
    if (graph->number_count == graph->number_capacity) {
        const size_t capacity = 2 * graph->number_capacity + 16;
        graph_node *grown =
            realloc(graph->numbers, capacity * sizeof *grown); // NOLINT(bugprone-sizeof-expression)
        if (grown == NULL)
            SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for a graph");
        graph->numbers = grown;
        graph->number_capacity = capacity;
    }
    const cuda_memset_node node = number_node(graph, 0);
    SB_TRY(cuda_check(graph->driver,
                      graph->calls.add_memset(&graph->numbers[graph->number_count], graph->graph,
                                              &graph->last, graph->last != NULL ? 1 : 0, &node,
                                              graph->context),
                      what, error));
    graph->last = graph->numbers[graph->number_count++];
    return SB_OK;
}

sb_status sb_cuda_graph_add(sb_cuda_graph *graph, sb_cuda_kernel *kernel,
                            const sb_cuda_shape *shape, void **arguments, int with_program,
                            sb_error *error) {
    forget_exec(graph);
    SB_TRY(cuda_allow_shared(kernel, shape->shared_bytes, error));
    if (with_program)
        SB_TRY(add_number(graph, error));
    const cuda_kernel_node node = {
        .function = cuda_kernel_function(kernel),
        .grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
        .block = {shape->block[0], shape->block[1], shape->block[2]},
        .shared_bytes = shape->shared_bytes,
        .arguments = arguments,
    };
    graph_node added = NULL;
    SB_TRY(cuda_check(graph->driver,
                      graph->calls.add_kernel(&added, graph->graph, &graph->last,
                                              graph->last != NULL ? 1 : 0, &node),
                      what, error));
    graph->last = added;
    return SB_OK;
}

sb_status sb_cuda_graph_replay(sb_cuda_graph *graph, const uint32_t *programs, sb_error *error) {
    const cuda_driver *driver = graph->driver;
    if (graph->exec == NULL)
        SB_TRY(cuda_check(driver, graph->calls.instantiate(&graph->exec, graph->graph, 0), what,
                          error));
    for (size_t i = 0; i < graph->number_count; i++) {
        const cuda_memset_node node = number_node(graph, programs[i]);
        SB_TRY(cuda_check(
            driver, graph->calls.set_memset(graph->exec, graph->numbers[i], &node, graph->context),
            what, error));
    }
    return cuda_check(driver, graph->calls.launch(graph->exec, NULL), what, error);
}
