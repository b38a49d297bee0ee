#include "ops_profile.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

enum { INDENT = 4 };

/* JSON as it grows: an object or list per level, a line per member. */
typedef struct text {
    char *bytes;
    size_t size;
    size_t capacity;
    unsigned depth;
    bool has_members; /* of the innermost object or list */
} text;

__attribute__((format(printf, 2, 3))) static void put(text *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    const int size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size >= 0 && to->capacity - to->size <= (size_t)size) {
        to->capacity = 2 * to->capacity + (size_t)size + 1;
        to->bytes = realloc(to->bytes, to->capacity);
        if (to->bytes == NULL)
            abort();
    }
    if (size >= 0)
        to->size +=
            (size_t)vsnprintf(to->bytes + to->size, to->capacity - to->size, format, arguments);
    va_end(arguments);
}

/* The line of a member, up to its value; members of lists have no key. */
static void begin_member(text *to, const char *key) {
    if (to->depth > 0)
        put(to, "%s\n%*s", to->has_members ? "," : "", (int)(INDENT * to->depth), "");
    if (key != NULL)
        put(to, "\"%s\": ", key);
    to->has_members = true;
}

static void put_open(text *to, const char *key, char bracket) {
    begin_member(to, key);
    put(to, "%c", bracket);
    to->depth++;
    to->has_members = false;
}

static void put_close(text *to, char bracket) {
    to->depth--;
    if (to->has_members)
        put(to, "\n%*s", (int)(INDENT * to->depth), "");
    put(to, "%c", bracket);
    to->has_members = true;
}

static void put_number(text *to, const char *key, uint64_t value) {
    begin_member(to, key);
    put(to, "%" PRIu64, value);
}

/* Our names, paths and values; what JSON cannot have as it is does not stand in them. */
static void put_string(text *to, const char *key, const char *value) {
    begin_member(to, key);
    put(to, "\"%s\"", value);
}

/* ---- a description as JSON, keys in order ---- */

static void put_size(text *to, const char *key, uint32_t size, uint32_t tile) {
    char value[32];
    snprintf(value, sizeof value, "%u[%u]", (size + tile - 1) / tile * tile, size);
    put_string(to, key, value);
}

static void put_tensor(text *to, const ops_operand *tensor, uint32_t device) {
    put_open(to, NULL, '{');
    put_string(to, "dtype", tensor->dtype);
    put_string(to, "layout", tensor->tile > 1 ? "TILE" : "ROW_MAJOR");
    put_open(to, "shape", '{');
    put_string(to, "W", "1[1]");
    put_size(to, "X", tensor->columns, tensor->tile);
    put_size(to, "Y", tensor->rows, tensor->tile);
    put_string(to, "Z", "1[1]");
    put_close(to, '}');
    put_open(to, "storage_type", '{');
    put_number(to, "device_id", device);
    put_open(to, "memory_config", '{');
    put_string(to, "buffer_type", "DRAM");
    put_string(to, "memory_layout", "INTERLEAVED");
    put_close(to, '}');
    put_close(to, '}');
    put_close(to, '}');
}

static bool is_compute(const ops_kernel *kernel) {
    return kernel->processor != SB_BRISC && kernel->processor != SB_NCRISC;
}

static void put_kernels(text *to, const char *key, const ops_description *op, bool compute) {
    put_open(to, key, '[');
    for (size_t i = 0; i < OPS_KERNELS_MAX; i++) {
        const ops_kernel *kernel = &op->kernels[i];
        if (kernel->source == NULL || is_compute(kernel) != compute)
            continue;
        put_open(to, NULL, '{');
        if (compute)
            put_string(to, "math_fidelity", "HiFi4"); /* no product is rounded */
        put_string(to, "name", sb_program_kernel_size(op->program, kernel->number).name);
        put_string(to, "source", kernel->source);
        put_close(to, '}');
    }
    put_close(to, ']');
}

static void put_kernel_sizes(text *to, const ops_description *op) {
    static const struct {
        const char *name;
        int processor; /* -1: this device has none */
    } sizes[] = {
        {"ACTIVE_ETH_DM_0", -1},         {"ACTIVE_ETH_DM_1", -1},
        {"IDLE_ETH_DM_0", -1},           {"IDLE_ETH_DM_1", -1},
        {"TENSIX_COMPUTE_0", SB_TRISC0}, {"TENSIX_COMPUTE_1", SB_TRISC1},
        {"TENSIX_COMPUTE_2", SB_TRISC2}, {"TENSIX_DM_0", SB_BRISC},
        {"TENSIX_DM_1", SB_NCRISC},
    };
    put_open(to, "kernel_sizes", '{');
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char key[64];
        uint32_t bytes = 0;
        for (size_t k = 0; k < OPS_KERNELS_MAX; k++) {
            const ops_kernel *kernel = &op->kernels[k];
            if (kernel->source != NULL && (int)kernel->processor == sizes[i].processor)
                bytes = sb_program_kernel_size(op->program, kernel->number).code_bytes;
        }
        snprintf(key, sizeof key, "%s_max_kernel_size", sizes[i].name);
        put_number(to, key, bytes);
    }
    put_close(to, '}');
}

static void put_description(text *to, const ops_description *op, const ops_call *call,
                            uint64_t hash) {
    put_open(to, NULL, '{');
    put_open(to, "attributes", '{');
    for (size_t i = 0; i < op->attribute_count; i++)
        put_string(to, op->attributes[i].name, op->attributes[i].value);
    put_close(to, '}');
    put_number(to, "device_id", call->device);
    put_number(to, "global_call_count", call->id);
    put_open(to, "input_tensors", '[');
    for (size_t i = 0; i < op->input_count; i++)
        put_tensor(to, &op->inputs[i], call->device);
    put_close(to, ']');
    put_open(to, "kernel_info", '{');
    put_kernels(to, "compute_kernels", op, true);
    put_kernels(to, "datamovement_kernels", op, false);
    put_kernel_sizes(to, op);
    put_close(to, '}');
    put_string(to, "op_code", op->code);
    put_number(to, "op_hash", hash);
    put_string(to, "op_type", "tt_dnn_device");
    put_open(to, "optional_input_tensors", '[');
    put_close(to, ']');
    put_open(to, "output_tensors", '[');
    put_tensor(to, &op->output, call->device);
    put_close(to, ']');
    begin_member(to, "program_cache_hit");
    put(to, "false"); /* programs are made anew for each call; only their kernels are kept */
    put_close(to, '}');
}

/* ---- programs that were described before ---- */

static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t add_tensor_to_hash(uint64_t hash, const ops_operand *tensor) {
    const uint32_t shape[] = {tensor->rows, tensor->columns};
    return add_to_hash(add_to_hash(hash, shape, sizeof shape), tensor->dtype,
                       strlen(tensor->dtype));
}

/* What makes two calls run the same program: operation, attributes, shapes, cores. */
static uint64_t hash_of(const ops_description *op) {
    uint64_t hash = add_to_hash(UINT64_C(0xcbf29ce484222325), op->code, strlen(op->code) + 1);
    for (size_t i = 0; i < op->attribute_count; i++)
        hash = add_to_hash(hash, op->attributes[i].value, strlen(op->attributes[i].value) + 1);
    for (size_t i = 0; i < op->input_count; i++)
        hash = add_tensor_to_hash(hash, &op->inputs[i]);
    hash = add_tensor_to_hash(hash, &op->output);
    return add_to_hash(hash, &op->core_count, sizeof op->core_count);
}

typedef struct described_program {
    uint64_t hash;
    uint32_t device;
} described_program;

static struct {
    pthread_mutex_t lock;
    described_program *programs;
    size_t count;
    size_t capacity;
} described = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Is this program described already? From now on it is. */
static bool is_described(uint64_t hash, uint32_t device) {
    bool is_known = false;
    pthread_mutex_lock(&described.lock);
    for (size_t i = 0; i < described.count && !is_known; i++)
        is_known = described.programs[i].hash == hash && described.programs[i].device == device;
    if (!is_known && described.count == described.capacity) {
        described.capacity = 2 * described.capacity + 64;
        described.programs =
            realloc(described.programs, described.capacity * sizeof *described.programs);
        if (described.programs == NULL)
            abort();
    }
    if (!is_known)
        described.programs[described.count++] = (described_program){hash, device};
    pthread_mutex_unlock(&described.lock);
    return is_known;
}

/* ---- calls ---- */

static bool is_set(const char *variable) {
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

static uint32_t next_id(uint32_t device) {
    enum { DEVICE_BITS = 10 };
    static uint32_t calls;
    const uint32_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return call << DEVICE_BITS | device;
}

void ops_call_begin(ops_call *call, const sb_device *device) {
    static const sb_source_location location = {.name = "TT_DNN_DEVICE_OP",
                                                .function = "ops_call_begin",
                                                .file = __FILE__,
                                                .line = __LINE__};
    *call = (ops_call){.device = sb_device_describe(device)->index};
    call->id = next_id(call->device);
    call->zone = sb_zone_begin(&location);
}

static void tell(const ops_call *call, const ops_description *op) {
    const uint64_t hash = hash_of(op);
    text message = {0};
    const bool is_short =
        is_described(hash, call->device) && !is_set("TT_METAL_PROFILER_NO_CACHE_OP_INFO");
    put(&message, "`TT_DNN_DEVICE_OP: \"%s\", %" PRIu64 ", %u, false, %u", op->code, hash,
        call->device, call->id);
    if (!is_short) {
        put(&message, " ->\n");
        put_description(&message, op, call, hash);
    }
    put(&message, "`");
    sb_message(SB_SEVERITY_INFO, 0, 0, message.bytes, message.size);
    free(message.bytes);
}

void ops_call_end(ops_call *call, const ops_description *description) {
    if (description != NULL && sb_is_recording() && is_set("TTNN_OP_PROFILER")) {
        sb_zone_text_format(call->zone, "id:%u", call->id);
        tell(call, description);
    }
    sb_zone_end(call->zone);
}

/* ---- signposts ---- */

void ops_signpost(const char *header, const char *message) {
    char signpost[1024];
    const int size =
        message == NULL
            ? snprintf(signpost, sizeof signpost, "`TT_SIGNPOST: %s`", header)
            : snprintf(signpost, sizeof signpost, "`TT_SIGNPOST: %s\n%s`", header, message);
    if (size > 0)
        sb_message(SB_SEVERITY_INFO, 0, 0, signpost,
                   (size_t)size < sizeof signpost ? (size_t)size : sizeof signpost - 1);
}
