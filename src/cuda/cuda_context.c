/*
 * What is kept for each context of the driver: its pool, its modules, its clocks.
 */
#include "cuda/cuda_context.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cuda/cuda_units.h"

/* Is the current context that which the GPU's programs share? */
static bool is_primary(const cuda_context *context) {
    const cuda_driver *driver = context->driver;
    cuda_context_handle primary = NULL;
    unsigned flags;
    int is_active = 0;
    if (driver->primary_state(context->device, &flags, &is_active) != 0 || !is_active ||
        driver->primary_retain(&primary, context->device) != 0)
        return false;
    (void)driver->primary_release(context->device);
    return primary == context->handle;
}

static sb_status describe(cuda_context *context, sb_error *error) {
    const cuda_driver *driver = context->driver;
    const char *what = "the GPU cannot be asked";
    SB_TRY(cuda_check(driver, driver->context_get(&context->handle), what, error));
    SB_TRY(cuda_check(driver, driver->context_device(&context->device), what, error));
    if (driver->context_id != NULL)
        SB_TRY(cuda_check(driver, driver->context_id(context->handle, &context->id), what, error));
    context->is_primary = is_primary(context);
    return cuda_check(driver,
                      driver->device_name(context->name, sizeof context->name, context->device),
                      what, error);
}

static sb_status open_parts(cuda_context *context, const cuda_options *options, sb_error *error) {
    const cuda_driver *driver = context->driver;
    int sms = 0;
    int khz = 0;
    const char *what = "the GPU cannot be asked";
    SB_TRY(cuda_check(driver, driver->device_attribute(&sms, CUDA_SM_COUNT, context->device), what,
                      error));
    SB_TRY(cuda_check(driver, driver->device_attribute(&khz, CUDA_CLOCK_KHZ, context->device), what,
                      error));
    context->lanes = calloc((size_t)sms, sizeof *context->lanes);
    context->tracks = calloc((size_t)sms, sizeof *context->tracks);
    cuda_tracks_join(context, (uint32_t)sms);
    if (context->lanes == NULL || context->tracks == NULL ||
        !cuda_fit_open(&context->fit, (uint32_t)sms, khz > 0 ? 1e6 / khz : 1))
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for zones of the GPU");
    SB_TRY(cuda_sync_open(&context->sync, driver, error));
    uint32_t chunks = options->chunks_per_sm;
    while ((uint64_t)chunks * (uint32_t)sms > CUDA_CHUNKS_MOST)
        chunks /= 2;
    if (chunks != options->chunks_per_sm)
        cuda_say("STROBE_CUDA_CHUNKS: this GPU takes no more than %u", chunks);
    SB_TRY(cuda_pool_open(&context->pool, driver,
                          &(cuda_pool_options){.sm_count = (uint32_t)sms,
                                               .chunks_per_sm = chunks,
                                               .is_on_host = options->is_on_host},
                          error));
    return cuda_sync_follow(&context->sync, driver, error);
}

/* A stream alone, over which modules are told that nothing is wanted. */
static sb_status open_without_pool(cuda_context *context, sb_error *error) {
    const cuda_driver *driver = context->driver;
    context->pool.driver = driver;
    return cuda_check(driver,
                      driver->stream_create(&context->pool.stream, CUDA_STREAM_NON_BLOCKING),
                      "a stream for zones of the GPU", error);
}

sb_status cuda_context_open(cuda_context *context, const cuda_driver *driver,
                            const cuda_options *options, sb_error *error) {
    *context = (cuda_context){.driver = driver, .is_off = options->is_off};
    pthread_mutex_init(&context->lock, NULL);
    sb_status status = describe(context, error);
    if (status == SB_OK)
        status = options->is_off ? open_without_pool(context, error)
                                 : open_parts(context, options, error);
    if (status != SB_OK)
        cuda_context_close(context);
    return status;
}

void cuda_context_close(cuda_context *context) {
    cuda_tracks_release(context);
    for (cuda_attached *module = context->modules; module != NULL;) {
        cuda_attached *next = module->next;
        free(module);
        module = next;
    }
    for (uint32_t sm = 0; context->lanes != NULL && sm < context->pool.options.sm_count; sm++)
        cuda_lanes_free(&context->lanes[sm]);
    cuda_sync_close(&context->sync, context->driver);
    cuda_pool_close(&context->pool);
    cuda_fit_close(&context->fit);
    cuda_places_free(&context->places);
    free(context->lanes);
    free(context->tracks);
    free(context->events);
    pthread_mutex_destroy(&context->lock);
    *context = (cuda_context){0};
}

/* ---- modules ---- */

static sb_cuda_gate gate_of(const cuda_context *context) {
    const cuda_options *options = cuda_options_get();
    /* Not the pool's, but not 0 either: warps would count what they miss. */
    if (context->is_off)
        return (sb_cuda_gate){.records = SB_CUDA_BELOW_POOL, .is_off = 1};
    sb_cuda_gate gate = cuda_pool_gate(&context->pool);
    gate.has_program = context->has_programs;
    gate.every_sm = options->every_sm;
    gate.every_block = options->every_block;
    gate.every_warp = options->every_warp;
    gate.every_launch = options->every_launch;
    gate.is_sampled = options->every_sm != 1 || options->every_block != 1 ||
                      options->every_warp != 1 || options->every_launch != 1;
    return gate;
}

/* A part of a module's gate, which is there when this returns. */
static sb_status write_part(cuda_context *context, const cuda_attached *module,
                            const sb_cuda_gate *gate, size_t begin, size_t end, sb_error *error) {
    const cuda_driver *driver = context->driver;
    const char *what = "a module cannot be told where zones go";
    SB_TRY(cuda_check(driver,
                      driver->copy_to_gpu(module->gate + begin, (const char *)gate + begin,
                                          end - begin, context->pool.stream),
                      what, error));
    return cuda_check(driver, driver->stream_wait(context->pool.stream), what, error);
}

/*
 * A warp that sees `records` uses all the rest, and kernels may run meanwhile: so it comes last,
 * when the rest is there. Where the gate is open already it stays as it is.
 */
static sb_status write_gate(cuda_context *context, const cuda_attached *module, sb_error *error) {
    const size_t behind = offsetof(sb_cuda_gate, records_above);
    _Static_assert(offsetof(sb_cuda_gate, records) == 0, "what opens the gate comes first");
    sb_cuda_gate gate = gate_of(context);
    gate.itself = module->gate;
    SB_TRY(write_part(context, module, &gate, behind, sizeof gate, error));
    return write_part(context, module, &gate, 0, behind, error);
}

/* What changes in one that is open. */
static sb_status rewrite_gate(cuda_context *context, const cuda_attached *module, sb_error *error) {
    sb_cuda_gate gate = gate_of(context);
    gate.itself = module->gate;
    return write_part(context, module, &gate, offsetof(sb_cuda_gate, records_above), sizeof gate,
                      error);
}

/* What it missed; as was last known where it cannot be asked. */
static uint64_t missed_by(cuda_context *context, cuda_attached *module) {
    uint64_t missed = 0;
    if (module->missed != 0 && !context->is_dead &&
        context->driver->copy_to_host(&missed, module->missed, sizeof missed,
                                      context->pool.stream) == 0 &&
        context->driver->stream_wait(context->pool.stream) == 0)
        module->missed_known = missed;
    return module->missed_known;
}

static bool is_same_module(const cuda_attached *a, const cuda_attached *b) {
    return a->module == b->module && a->unit == b->unit;
}

sb_status cuda_context_add_module(cuda_context *context, const cuda_attached *module,
                                  sb_error *error) {
    for (const cuda_attached *at = context->modules; at != NULL; at = at->next)
        if (is_same_module(at, module))
            return SB_OK;
    cuda_attached *added = calloc(1, sizeof *added);
    if (added == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for zones of the GPU");
    *added = *module;
    const sb_status status = write_gate(context, added, error);
    if (status != SB_OK) {
        free(added);
        return status;
    }
    (void)missed_by(context, added);
    added->next = context->modules;
    context->modules = added;
    return SB_OK;
}

bool cuda_context_has_module(const cuda_context *context, const void *module) {
    const cuda_attached *at = context->modules;
    while (at != NULL && at->module != module)
        at = at->next;
    return at != NULL;
}

static sb_status rewrite_gates(cuda_context *context, sb_error *error) {
    for (const cuda_attached *module = context->modules; module != NULL; module = module->next)
        SB_TRY(rewrite_gate(context, module, error));
    return SB_OK;
}

sb_status cuda_context_use_programs(cuda_context *context, sb_error *error) {
    const int mode = cuda_relax(context->driver);
    pthread_mutex_lock(&context->lock);
    const bool is_new = !context->has_programs && !context->is_off;
    cuda_context_drop_units(context);
    context->has_programs = true;
    const sb_status status = is_new ? rewrite_gates(context, error) : SB_OK;
    pthread_mutex_unlock(&context->lock);
    cuda_strict(context->driver, mode);
    return status;
}

/* missed: what it has missed in all. */
static void remove_at(cuda_context *context, cuda_attached **at, uint64_t missed) {
    cuda_attached *module = *at;
    context->counts.missed += missed;
    *at = module->next;
    free(module);
    cuda_places_forget(&context->places);
}

void cuda_context_remove_module(cuda_context *context, const void *module) {
    cuda_attached **at = &context->modules;
    while (*at != NULL && (*at)->module != module)
        at = &(*at)->next;
    if (*at != NULL)
        remove_at(context, at, missed_by(context, *at));
}

void cuda_context_drop_units(cuda_context *context) {
    const uint32_t version = cuda_units_version();
    if (context->units_version == version)
        return;
    context->units_version = version;
    for (cuda_attached **at = &context->modules; *at != NULL;)
        if ((*at)->module == NULL && !cuda_units_has((*at)->unit))
            remove_at(context, at, (*at)->missed_known);
        else
            at = &(*at)->next;
}

uint64_t cuda_context_missed(cuda_context *context) {
    uint64_t missed = context->counts.missed;
    for (cuda_attached *module = context->modules; module != NULL; module = module->next)
        missed += missed_by(context, module);
    return missed;
}

void cuda_context_read_missed(cuda_context *context) {
    (void)cuda_context_missed(context);
    context->missed_ns = sb_clock_ns();
}

bool cuda_context_has_unit(const cuda_context *context, uint64_t unit) {
    const cuda_attached *at = context->modules;
    while (at != NULL && (at->module != NULL || at->unit != unit))
        at = at->next;
    return at != NULL;
}

void cuda_context_part_with(cuda_context *context, uint64_t unit, cuda_address missed) {
    for (cuda_attached *at = context->modules; at != NULL; at = at->next)
        if (at->module == NULL && at->unit == unit && at->missed == missed)
            (void)missed_by(context, at);
}

const struct sb_source_location *cuda_context_place(cuda_context *context, uint64_t address) {
    return cuda_places_find(&context->places, context->is_dead ? NULL : context->driver,
                            context->pool.stream, address);
}

/* ---- its end ---- */

/* 0: it is there; else one of the driver's numbers. */
static int state_of(const cuda_context *context) {
    const cuda_driver *driver = context->driver;
    unsigned flags;
    int is_active = 1;
    unsigned long long id = context->id;
    int result = 0;
    if (context->is_primary)
        result = driver->primary_state(context->device, &flags, &is_active);
    if (result == 0 && is_active && driver->context_id != NULL)
        result = driver->context_id(context->handle, &id);
    if (result == 0 && (!is_active || id != context->id))
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return result;
}

/* Of a context that has ended only counts are wanted any more; names belong to the recording. */
static void shed(cuda_context *context) {
    for (cuda_attached *module = context->modules; module != NULL;) {
        cuda_attached *next = module->next;
        context->counts.missed += module->missed_known;
        free(module);
        module = next;
    }
    for (uint32_t sm = 0; context->lanes != NULL && sm < context->pool.options.sm_count; sm++) {
        context->cut_in_lanes += context->lanes[sm].cut;
        context->unplaced_in_lanes += context->lanes[sm].unplaced;
        cuda_lanes_free(&context->lanes[sm]);
    }
    free(context->lanes);
    free(context->events);
    cuda_fit_close(&context->fit);
    cuda_places_free(&context->places);
    context->modules = NULL;
    context->lanes = NULL;
    context->events = NULL;
    context->event_capacity = 0;
    cuda_pool_abandon(&context->pool);
}

bool cuda_context_is_there(cuda_context *context) {
    if (context->handle == NULL)
        return false;
    const int state = state_of(context);
    if (state == 0)
        return true;
    const bool is_news = !context->is_dead && !context->is_off && state != CUDA_ERROR_DEINITIALIZED;
    context->handle = NULL;
    context->is_dead = true;
    context->reclaim = CUDA_RESTING;
    cuda_drain_last(context);
    cuda_tracks_release(context);
    shed(context);
    if (is_news)
        cuda_say("GPU %d: the program has ended its context; %llu zones were read before, and what "
                 "was not is lost (sb_cuda_flush reads all)",
                 context->device, (unsigned long long)context->counts.zones);
    return false;
}

/* ---- chunks that warps forgot ---- */

uint32_t cuda_context_begin_reclaim(cuda_context *context, bool anew) {
    if (context->is_dead || (context->reclaim != CUDA_RESTING && !anew))
        return 0;
    context->reclaim = CUDA_RESTING;
    if (cuda_pool_mark(&context->pool) == 0 || rewrite_gates(context, NULL) != SB_OK)
        return 0;
    context->reclaim = CUDA_WAITING;
    context->reclaims += context->reclaims == UINT32_MAX ? 2 : 1;
    return context->reclaims;
}

void cuda_context_end_wait(cuda_context *context, uint32_t reclaim, int64_t began_ns) {
    if (began_ns > context->over_ns)
        context->over_ns = began_ns;
    if (reclaim == 0 || reclaim != context->reclaims || context->reclaim != CUDA_WAITING)
        return;
    context->reclaim = CUDA_WAITED;
    context->waited_ns = sb_clock_ns();
}

void cuda_context_give_up_wait(cuda_context *context, uint32_t reclaim) {
    if (reclaim != 0 && reclaim == context->reclaims && context->reclaim == CUDA_WAITING)
        context->reclaim = CUDA_RESTING;
}
