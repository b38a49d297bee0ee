/*
 * The library of example operations and the device under it, for Python's ctypes (tracy/_ttnn.py):
 * plain functions on plain pointers. Functions that can fail return false and leave a sentence for
 * bridge_error. Calls for one mesh must not overlap.
 */
#include <stdlib.h>
#include <string.h>

#include <strobe/device.h>

#include "ops.h"

#define BRIDGE_API __attribute__((visibility("default")))

typedef struct bridge_mesh {
    sb_mesh *mesh;
    ops_context *devices;
    uint32_t device_count;
} bridge_mesh;

typedef struct bridge_tensor {
    ops_tensor tensor;
    ops_context *device;
} bridge_tensor;

static _Thread_local sb_error failure;

BRIDGE_API const char *bridge_error(void);
BRIDGE_API bridge_mesh *bridge_open(const char *name, const char *kernel_folder);
BRIDGE_API void bridge_close(bridge_mesh *mesh);
BRIDGE_API uint32_t bridge_device_count(const bridge_mesh *mesh);
BRIDGE_API void bridge_grid(const bridge_mesh *mesh, uint32_t grid[2]);
BRIDGE_API bool bridge_finish(bridge_mesh *mesh, uint32_t device);
BRIDGE_API bool bridge_read_profiler(bridge_mesh *mesh, uint32_t device);
BRIDGE_API bridge_tensor *bridge_tensor_create(bridge_mesh *mesh, uint32_t device, uint32_t rows,
                                               uint32_t columns);
BRIDGE_API void bridge_tensor_destroy(bridge_tensor *tensor);
BRIDGE_API bool bridge_tensor_write(bridge_tensor *tensor, const int32_t *values);
BRIDGE_API bool bridge_tensor_read(bridge_tensor *tensor, int32_t *values);
BRIDGE_API bool bridge_binary(uint32_t kind, const bridge_tensor *a, const bridge_tensor *b,
                              const bridge_tensor *out);
BRIDGE_API bool bridge_matmul(const bridge_tensor *a, const bridge_tensor *b,
                              const bridge_tensor *out);
BRIDGE_API bool bridge_embedding(const bridge_tensor *ids, const bridge_tensor *table,
                                 const bridge_tensor *out);
BRIDGE_API bool bridge_relu(const bridge_tensor *a, const bridge_tensor *out);
BRIDGE_API bool bridge_transpose(const bridge_tensor *a, const bridge_tensor *out);
BRIDGE_API bool bridge_softmax(const bridge_tensor *a, bool is_causal, const bridge_tensor *out);
BRIDGE_API bool bridge_layer_norm(const bridge_tensor *a, const bridge_tensor *out);
BRIDGE_API bool bridge_reduce(const bridge_tensor *a, const bridge_tensor *out);
BRIDGE_API bool bridge_all_gather(bridge_mesh *mesh, const bridge_tensor *first,
                                  const bridge_tensor *second, const bridge_tensor *first_out,
                                  const bridge_tensor *second_out);
BRIDGE_API bool bridge_trace_begin(bridge_mesh *mesh, uint32_t device);
BRIDGE_API sb_device_trace *bridge_trace_end(bridge_mesh *mesh, uint32_t device);
BRIDGE_API bool bridge_trace_replay(sb_device_trace *trace);
BRIDGE_API void bridge_trace_destroy(sb_device_trace *trace);

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL)
        abort();
    return memory;
}

const char *bridge_error(void) {
    return failure.message;
}

/* ---- meshes ---- */

/* The library of operations keeps no copy; one folder serves all meshes. */
static void keep_kernel_folder(const char *folder) {
    static char *kept;
    if (kept != NULL && strcmp(kept, folder) == 0)
        return;
    kept = strdup(folder);
    if (kept == NULL)
        abort();
    ops_set_kernel_folder(kept);
}

bridge_mesh *bridge_open(const char *name, const char *kernel_folder) {
    sb_mesh *opened = NULL;
    if (sb_mesh_open(name, &opened, &failure) != SB_OK)
        return NULL;
    keep_kernel_folder(kernel_folder);
    bridge_mesh *mesh = allocate(1, sizeof *mesh);
    mesh->mesh = opened;
    mesh->device_count = sb_mesh_device_count(opened);
    mesh->devices = allocate(mesh->device_count, sizeof *mesh->devices);
    for (uint32_t i = 0; i < mesh->device_count; i++) {
        sb_device *device = sb_mesh_device(opened, i);
        const sb_device_info *info = sb_device_describe(device);
        ops_begin(&mesh->devices[i], device, (sb_core){info->columns, info->rows});
    }
    return mesh;
}

void bridge_close(bridge_mesh *mesh) {
    for (uint32_t i = 0; i < mesh->device_count; i++)
        ops_end(&mesh->devices[i]);
    sb_mesh_close(mesh->mesh);
    free(mesh->devices);
    free(mesh);
}

uint32_t bridge_device_count(const bridge_mesh *mesh) {
    return mesh->device_count;
}

void bridge_grid(const bridge_mesh *mesh, uint32_t grid[2]) {
    grid[0] = mesh->devices[0].grid.x;
    grid[1] = mesh->devices[0].grid.y;
}

bool bridge_finish(bridge_mesh *mesh, uint32_t device) {
    return sb_device_finish(mesh->devices[device].device, &failure) == SB_OK;
}

/* ---- tensors ---- */

bridge_tensor *bridge_tensor_create(bridge_mesh *mesh, uint32_t device, uint32_t rows,
                                    uint32_t columns) {
    bridge_tensor *tensor = allocate(1, sizeof *tensor);
    tensor->device = &mesh->devices[device];
    if (ops_tensor_create(tensor->device, rows, columns, &tensor->tensor, &failure) == SB_OK)
        return tensor;
    free(tensor);
    return NULL;
}

void bridge_tensor_destroy(bridge_tensor *tensor) {
    ops_tensor_destroy(&tensor->tensor);
    free(tensor);
}

bool bridge_tensor_write(bridge_tensor *tensor, const int32_t *values) {
    return ops_tensor_write(&tensor->tensor, values, &failure) == SB_OK;
}

bool bridge_tensor_read(bridge_tensor *tensor, int32_t *values) {
    return sb_device_finish(tensor->device->device, &failure) == SB_OK &&
           ops_tensor_read(&tensor->tensor, values, &failure) == SB_OK;
}

/* ---- operations ---- */

bool bridge_binary(uint32_t kind, const bridge_tensor *a, const bridge_tensor *b,
                   const bridge_tensor *out) {
    return ops_binary(a->device, (ops_binary_kind)kind, &a->tensor, &b->tensor, &out->tensor,
                      &failure) == SB_OK;
}

bool bridge_matmul(const bridge_tensor *a, const bridge_tensor *b, const bridge_tensor *out) {
    return ops_matmul(a->device, &a->tensor, &b->tensor, &out->tensor, &failure) == SB_OK;
}

bool bridge_embedding(const bridge_tensor *ids, const bridge_tensor *table,
                      const bridge_tensor *out) {
    return ops_embedding(ids->device, &ids->tensor, &table->tensor, &out->tensor, &failure) ==
           SB_OK;
}

bool bridge_relu(const bridge_tensor *a, const bridge_tensor *out) {
    return ops_relu(a->device, &a->tensor, &out->tensor, &failure) == SB_OK;
}

bool bridge_transpose(const bridge_tensor *a, const bridge_tensor *out) {
    return ops_transpose(a->device, &a->tensor, &out->tensor, &failure) == SB_OK;
}

bool bridge_softmax(const bridge_tensor *a, bool is_causal, const bridge_tensor *out) {
    return ops_softmax(a->device, &a->tensor, is_causal, &out->tensor, &failure) == SB_OK;
}

bool bridge_layer_norm(const bridge_tensor *a, const bridge_tensor *out) {
    return ops_layer_norm(a->device, &a->tensor, &out->tensor, &failure) == SB_OK;
}

bool bridge_reduce(const bridge_tensor *a, const bridge_tensor *out) {
    return ops_reduce(a->device, &a->tensor, &out->tensor, &failure) == SB_OK;
}

/* Those of devices 0 and 1, which are the first two of the mesh. */
bool bridge_all_gather(bridge_mesh *mesh, const bridge_tensor *first, const bridge_tensor *second,
                       const bridge_tensor *first_out, const bridge_tensor *second_out) {
    const ops_tensor a[] = {first->tensor, second->tensor};
    const ops_tensor out[] = {first_out->tensor, second_out->tensor};
    return ops_all_gather(mesh->devices, a, out, &failure) == SB_OK;
}

/* ---- traces ---- */

bool bridge_trace_begin(bridge_mesh *mesh, uint32_t device) {
    return sb_device_trace_begin(mesh->devices[device].device, &failure) == SB_OK;
}

sb_device_trace *bridge_trace_end(bridge_mesh *mesh, uint32_t device) {
    sb_device_trace *trace = NULL;
    sb_device_trace_end(mesh->devices[device].device, &trace, &failure);
    return trace;
}

bool bridge_trace_replay(sb_device_trace *trace) {
    return sb_device_trace_replay(trace, &failure) == SB_OK;
}

void bridge_trace_destroy(sb_device_trace *trace) {
    sb_device_trace_destroy(trace);
}

/* ---- the device's profiler ---- */

bool bridge_read_profiler(bridge_mesh *mesh, uint32_t device) {
    return sb_read_profiler(mesh->devices[device].device, &failure) == SB_OK;
}
