#include "cuda_stand_in.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

_Thread_local stand_in_warp stand_in;

/* ---- the processor, for cuda_record.h ---- */

enum { PLACES = 8 };

/* "Constant memory" of the module: the gate, and where names are. */
static struct {
    sb_cuda_gate gate;
    const sb_cuda_place *places[PLACES];
} constants;
static sb_cuda_word missed;

/* Shared memory of each SM, with what the last block left in it. */
typedef struct sb_cuda_entry sb_cuda_entry;
static struct sb_cuda_entry *entry_of(uint32_t sm, uint32_t warp);
#define SB_CUDA_GATE constants.gate
#define SB_CUDA_GATE_PLACE 0
#define SB_CUDA_FN static inline
#define SB_CUDA_ALIGN(bytes) __attribute__((aligned(bytes)))

// NOLINTBEGIN(readability-non-const-parameter): atomic operations write

SB_CUDA_FN unsigned long long sb_cuda_timer(void) {
    return (unsigned long long)sb_clock_ns() / 32 * 32;
}

/* 2 cycles a nanosecond, from an origin of the SM's own. */
SB_CUDA_FN unsigned long long sb_cuda_clock(void) {
    return (unsigned long long)sb_clock_ns() * 2 + 1000000007ull * (stand_in.sm + 1);
}

SB_CUDA_FN unsigned long long sb_cuda_clock_after(unsigned *one, unsigned *other) {
    (void)one;
    (void)other;
    return sb_cuda_clock();
}

SB_CUDA_FN unsigned long long sb_cuda_grid(void) {
    return stand_in.launch;
}

SB_CUDA_FN unsigned sb_cuda_sm_number(void) {
    return stand_in.sm;
}

SB_CUDA_FN unsigned sb_cuda_block(void) {
    return stand_in.block;
}

SB_CUDA_FN unsigned long long sb_cuda_block_place(void) {
    return stand_in.block;
}

SB_CUDA_FN unsigned sb_cuda_warp(void) {
    return stand_in.warp;
}

SB_CUDA_FN unsigned sb_cuda_place_in_sm(void) {
    return stand_in.warp % SB_CUDA_STASHES;
}

/* Warps of one lane. */
SB_CUDA_FN unsigned sb_cuda_active_lanes(void) {
    return 1;
}

SB_CUDA_FN int sb_cuda_leads(unsigned lanes) {
    return lanes == 1;
}

SB_CUDA_FN void sb_cuda_meet(unsigned lanes) {
    (void)lanes;
}

SB_CUDA_FN int sb_cuda_has_entry(void) {
    return stand_in.warp < STAND_IN_WARPS;
}

SB_CUDA_FN unsigned sb_cuda_missing(unsigned lanes) {
    return lanes == 1 && !stand_in.is_divergent ? 0 : 2;
}

SB_CUDA_FN unsigned sb_cuda_shared_compare(unsigned *at, unsigned wanted, unsigned number) {
    __atomic_compare_exchange_n(at, &wanted, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return wanted;
}

SB_CUDA_FN unsigned sb_cuda_shared_exchange(unsigned *at, unsigned number) {
    return __atomic_exchange_n(at, number, __ATOMIC_RELAXED);
}

SB_CUDA_FN unsigned sb_cuda_global_add(unsigned *at, unsigned number) {
    return __atomic_fetch_add(at, number, __ATOMIC_RELAXED);
}

SB_CUDA_FN unsigned long long sb_cuda_global_exchange(unsigned long long *at,
                                                      unsigned long long word) {
    return __atomic_exchange_n(at, word, __ATOMIC_RELAXED);
}

SB_CUDA_FN void sb_cuda_global_sum(unsigned long long *at, unsigned long long number) {
    __atomic_fetch_add(at, number, __ATOMIC_RELAXED);
}

SB_CUDA_FN void sb_cuda_global_count(unsigned long long *at) {
    sb_cuda_global_sum(at, 1);
}

SB_CUDA_FN unsigned sb_cuda_load(const unsigned *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

SB_CUDA_FN unsigned long long sb_cuda_load_word(const unsigned long long *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

SB_CUDA_FN void sb_cuda_store_word(unsigned long long *at, unsigned long long word) {
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
}

/* In this order, as a warp's stores to one sector arrive. */
SB_CUDA_FN void sb_cuda_store_pair(unsigned long long *at, unsigned long long first,
                                   unsigned long long second) {
    __atomic_store_n(at + 1, second, __ATOMIC_RELEASE);
    __atomic_store_n(at, first, __ATOMIC_RELEASE);
}

SB_CUDA_FN unsigned sb_cuda_number(const unsigned *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

SB_CUDA_FN unsigned long long sb_cuda_address(const unsigned long long *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

SB_CUDA_FN unsigned sb_cuda_key(void) {
    return sb_cuda_number(&SB_CUDA_GATE.key);
}

SB_CUDA_FN void sb_cuda_count_missed(void) {
    sb_cuda_global_count(&missed);
}

SB_CUDA_FN struct sb_cuda_entry *sb_cuda_this_entry(void) {
    return entry_of(stand_in.sm, stand_in.warp % STAND_IN_WARPS);
}

static unsigned keys[STAND_IN_SMS_MOST][STAND_IN_WARPS];

SB_CUDA_FN unsigned *sb_cuda_this_key(void) {
    return &keys[stand_in.sm][stand_in.warp % STAND_IN_WARPS];
}

SB_CUDA_FN struct sb_cuda_entry sb_cuda_load_entry(const struct sb_cuda_entry *entry);

// NOLINTEND(readability-non-const-parameter)

#include <strobe/cuda_record.h>

static sb_cuda_entry entries[STAND_IN_SMS_MOST][STAND_IN_WARPS];
static sb_cuda_sum sums[STAND_IN_SMS_MOST][STAND_IN_WARPS];

static sb_cuda_entry *entry_of(uint32_t sm, uint32_t warp) {
    return &entries[sm][warp];
}

static sb_cuda_entry sb_cuda_load_entry(const sb_cuda_entry *entry) {
    return *entry;
}

/* ---- what kernels do ---- */

unsigned stand_in_begin(sb_cuda_kind kind, uint32_t place) {
    return sb_cuda_begin(sb_cuda_word_of(kind, place));
}

void stand_in_end(unsigned record) {
    sb_cuda_end(record);
}

void stand_in_end_main(unsigned record) {
    sb_cuda_end_main(record);
}

void stand_in_note(sb_cuda_kind kind, uint32_t place, uint64_t value) {
    sb_cuda_note(sb_cuda_word_of(kind, place), value);
}

void stand_in_add(uint32_t place, uint64_t cycles) {
    sb_cuda_add(&sums[stand_in.sm][stand_in.warp % STAND_IN_WARPS], place, cycles);
}

void stand_in_validate(bool condition) {
    sb_cuda_validate(condition);
    /* Spans end elsewhere; here only so that all of the header is compiled. */
    sb_cuda_end_span(0);
}

void stand_in_clear_shared(void) {
    memset(entries, 0, sizeof entries);
    memset(keys, 0, sizeof keys);
}

uint32_t stand_in_place(const char *name) {
    static sb_cuda_place places[PLACES];
    static size_t used;
    const size_t at = used++ % PLACES;
    places[at] = (sb_cuda_place){.name = name,
                                 .file = "kernel.cu",
                                 .function = "kernel",
                                 .name_size = (unsigned)strlen(name),
                                 .file_size = 9,
                                 .function_size = 6,
                                 .line = 7};
    constants.places[at] = &places[at];
    return (uint32_t)((char *)&constants.places[at] - (char *)&constants);
}

/* ---- the driver ---- */

enum { BROKEN = 719 };
static _Atomic bool is_broken_now;

void stand_in_break(bool is_broken) {
    is_broken_now = is_broken;
}

static void *pointer(cuda_address address) {
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static int error_text(int error, const char **text) {
    *text = error == BROKEN ? "unspecified launch failure" : "some error";
    return 0;
}

static int context_get(cuda_context_handle *context) {
    *context = pointer(16);
    return 0;
}

static int context_set(cuda_context_handle context) {
    (void)context;
    return 0;
}

static int context_device(cuda_device *device) {
    *device = 0;
    return 0;
}

static int context_wait(void) {
    return is_broken_now ? BROKEN : 0;
}

static int device_count(int *count) {
    *count = 1;
    return 0;
}

static int device_get(cuda_device *device, int ordinal) {
    *device = ordinal;
    return 0;
}

static int device_attribute(int *value, int attribute, cuda_device device) {
    (void)device;
    *value = attribute == CUDA_SM_COUNT ? STAND_IN_SMS : 2000000;
    return 0;
}

static int device_name(char *name, int size, cuda_device device) {
    (void)device;
    snprintf(name, (size_t)size, "GPU of threads");
    return 0;
}

static int allocate(cuda_address *address, size_t size) {
    *address = (cuda_address)(uintptr_t)malloc(size);
    return 0;
}

static int free_address(cuda_address address) {
    free(pointer(address));
    return 0;
}

static int primary_state(cuda_device device, unsigned *flags, int *is_active) {
    (void)device;
    *flags = 0;
    *is_active = 1;
    return 0;
}

static int primary_release(cuda_device device) {
    (void)device;
    return 0;
}

static int primary_retain(cuda_context_handle *context, cuda_device device) {
    (void)device;
    return context_get(context);
}

static int capture_mode(int *mode) {
    (void)mode;
    return 0;
}

static int stream_is_capturing(cuda_stream stream, int *status) {
    (void)stream;
    *status = 0;
    return 0;
}

static int host_register(void *address, size_t size, unsigned flags) {
    (void)address, (void)size, (void)flags;
    return 0;
}

static int host_unregister(void *address) {
    (void)address;
    return 0;
}

static int host_address(cuda_address *address, void *host, unsigned flags) {
    (void)flags;
    *address = (cuda_address)(uintptr_t)host;
    return 0;
}

/* In halves of words, of which a gate is made. */
static void copy_halves(void *to, const void *from, size_t size) {
    uint32_t *halves = to;
    const uint32_t *source = from;
    const size_t count = ((uintptr_t)to | (uintptr_t)from) % 4 == 0 ? size / 4 : 0;
    for (size_t i = 0; i < count; i++)
        __atomic_store_n(&halves[i], __atomic_load_n(&source[i], __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
    memcpy((char *)to + 4 * count, (const char *)from + 4 * count, size - 4 * count);
}

/* Word by word, as far as it goes: warps write meanwhile. */
static void copy(void *to, const void *from, size_t size) {
    uint64_t *words = to;
    const uint64_t *source = from;
    const size_t count = ((uintptr_t)to | (uintptr_t)from) % 8 == 0 ? size / 8 : 0;
    for (size_t i = 0; i < count; i++)
        __atomic_store_n(&words[i], __atomic_load_n(&source[i], __ATOMIC_ACQUIRE),
                         __ATOMIC_RELEASE);
    copy_halves((char *)to + 8 * count, (const char *)from + 8 * count, size - 8 * count);
}

static int copy_to_host(void *to, cuda_address from, size_t size, cuda_stream stream) {
    (void)stream;
    if (is_broken_now)
        return BROKEN;
    copy(to, pointer(from), size);
    return 0;
}

static int copy_to_gpu(cuda_address to, const void *from, size_t size, cuda_stream stream) {
    (void)stream;
    if (is_broken_now)
        return BROKEN;
    copy(pointer(to), from, size);
    return 0;
}

static int stream_create(cuda_stream *stream, unsigned flags) {
    (void)flags;
    *stream = pointer(32);
    return 0;
}

static int stream_done(cuda_stream stream) {
    (void)stream;
    return is_broken_now ? BROKEN : 0;
}

static int module_load(cuda_module_handle *module, const void *image) {
    (void)image;
    *module = pointer(48);
    return 0;
}

static int module_unload(cuda_module_handle module) {
    (void)module;
    return 0;
}

static int module_function(cuda_function *function, cuda_module_handle module, const char *name) {
    (void)module;
    (void)name;
    *function = pointer(64);
    return 0;
}

/* Nothing is launched here: tests say what time it is. */
static int launch(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  cuda_stream stream, void **arguments, void **extra) {
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
    (void)block_z, (void)shared_bytes, (void)stream, (void)extra;
    (void)arguments;
    return is_broken_now ? BROKEN : 0;
}

const cuda_driver *stand_in_driver(void) {
    static const cuda_driver driver = {
        .error_text = error_text,
        .context_get = context_get,
        .context_set = context_set,
        .context_device = context_device,
        .context_wait = context_wait,
        .device_count = device_count,
        .device_get = device_get,
        .device_attribute = device_attribute,
        .device_name = device_name,
        .allocate = allocate,
        .free = free_address,
        .host_register = host_register,
        .host_unregister = host_unregister,
        .primary_state = primary_state,
        .primary_retain = primary_retain,
        .primary_release = primary_release,
        .capture_mode = capture_mode,
        .stream_is_capturing = stream_is_capturing,
        .host_address = host_address,
        .copy_to_host = copy_to_host,
        .copy_to_gpu = copy_to_gpu,
        .stream_create = stream_create,
        .stream_destroy = stream_done,
        .stream_wait = stream_done,
        .stream_query = stream_done,
        .module_load = module_load,
        .module_unload = module_unload,
        .module_function = module_function,
        .launch = launch,
    };
    return &driver;
}

uint64_t stand_in_gate(void) {
    return (uint64_t)(uintptr_t)&constants.gate;
}

uint64_t stand_in_missed(void) {
    return (uint64_t)(uintptr_t)&missed;
}
