/*
 * What is kept for each context of the driver: its pool, its modules, its clocks.
 */
#include "cuda/cuda_context.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static sb_status open_parts(cuda_context *context, const cuda_options *options, sb_error *error) {
    const cuda_driver *driver = context->driver;
    int sms = 0;
    int khz = 0;
    const char *what = "the GPU cannot be asked";
    SB_TRY(cuda_check(driver, driver->context_get(&context->handle), what, error));
    SB_TRY(cuda_check(driver, driver->context_device(&context->device), what, error));
    SB_TRY(cuda_check(driver, driver->device_attribute(&sms, CUDA_SM_COUNT, context->device), what,
                      error));
    SB_TRY(cuda_check(driver, driver->device_attribute(&khz, CUDA_CLOCK_KHZ, context->device), what,
                      error));
    SB_TRY(cuda_check(driver,
                      driver->device_name(context->name, sizeof context->name, context->device),
                      what, error));
    context->lanes = calloc((size_t)sms, sizeof *context->lanes);
    context->tracks = calloc((size_t)sms, sizeof *context->tracks);
    if (context->lanes == NULL || context->tracks == NULL ||
        !cuda_fit_open(&context->fit, (uint32_t)sms, khz > 0 ? 1e6 / khz : 1))
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for zones of the GPU");
    SB_TRY(cuda_sync_open(&context->sync, driver, error));
    uint32_t chunks = options->chunks_per_sm;
    while ((uint64_t)chunks * (uint32_t)sms > CUDA_CHUNKS_MOST)
        chunks /= 2;
    if (chunks != options->chunks_per_sm)
        cuda_say("STROBE_CUDA_CHUNKS: this GPU takes no more than %u", chunks);
    return cuda_pool_open(&context->pool, driver,
                          &(cuda_pool_options){.sm_count = (uint32_t)sms,
                                               .chunks_per_sm = chunks,
                                               .is_on_host = options->is_on_host},
                          error);
}

sb_status cuda_context_open(cuda_context *context, const cuda_driver *driver,
                            const cuda_options *options, sb_error *error) {
    *context = (cuda_context){.driver = driver};
    pthread_mutex_init(&context->lock, NULL);
    sb_status status = open_parts(context, options, error);
    if (status == SB_OK)
        status = cuda_sync_follow(&context->sync, driver, error);
    if (status != SB_OK)
        cuda_context_close(context);
    return status;
}

void cuda_context_close(cuda_context *context) {
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
    sb_cuda_gate gate = cuda_pool_gate(&context->pool);
    gate.has_program = context->has_programs;
    gate.is_off = options->is_off;
    gate.every_sm = options->every_sm;
    gate.every_block = options->every_block;
    gate.every_warp = options->every_warp;
    gate.every_launch = options->every_launch;
    gate.is_sampled = options->every_sm != 1 || options->every_block != 1 ||
                      options->every_warp != 1 || options->every_launch != 1;
    return gate;
}

static sb_status write_gate(cuda_context *context, const cuda_attached *module, sb_error *error) {
    const cuda_driver *driver = context->driver;
    sb_cuda_gate gate = gate_of(context);
    gate.itself = module->gate;
    SB_TRY(cuda_check(driver,
                      driver->copy_to_gpu(module->gate, &gate, sizeof gate, context->pool.stream),
                      "a module cannot be told where zones go", error));
    return cuda_check(driver, driver->stream_wait(context->pool.stream),
                      "a module cannot be told where zones go", error);
}

sb_status cuda_context_add_module(cuda_context *context, const void *key, cuda_address gate,
                                  cuda_address missed, sb_error *error) {
    cuda_attached *module = context->modules;
    while (module != NULL && module->key != key)
        module = module->next;
    if (module != NULL)
        return SB_OK;
    module = calloc(1, sizeof *module);
    if (module == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for zones of the GPU");
    *module = (cuda_attached){.key = key, .gate = gate, .missed = missed};
    const sb_status status = write_gate(context, module, error);
    if (status != SB_OK) {
        free(module);
        return status;
    }
    module->next = context->modules;
    context->modules = module;
    return SB_OK;
}

static sb_status rewrite_gates(cuda_context *context, sb_error *error) {
    for (const cuda_attached *module = context->modules; module != NULL; module = module->next)
        SB_TRY(write_gate(context, module, error));
    return SB_OK;
}

sb_status cuda_context_use_programs(cuda_context *context, sb_error *error) {
    pthread_mutex_lock(&context->lock);
    const bool is_new = !context->has_programs;
    context->has_programs = true;
    const sb_status status = is_new ? rewrite_gates(context, error) : SB_OK;
    pthread_mutex_unlock(&context->lock);
    return status;
}

static uint64_t missed_by(cuda_context *context, const cuda_attached *module) {
    uint64_t missed = 0;
    if (module->missed == 0 || context->is_dead ||
        context->driver->copy_to_host(&missed, module->missed, sizeof missed,
                                      context->pool.stream) != 0 ||
        context->driver->stream_wait(context->pool.stream) != 0)
        return 0;
    return missed;
}

void cuda_context_remove_module(cuda_context *context, const void *key) {
    for (cuda_attached **at = &context->modules; *at != NULL; at = &(*at)->next) {
        cuda_attached *module = *at;
        if (module->key != key)
            continue;
        context->counts.missed += missed_by(context, module);
        *at = module->next;
        free(module);
        cuda_places_forget(&context->places);
        return;
    }
}

uint64_t cuda_context_missed(cuda_context *context) {
    uint64_t missed = context->counts.missed;
    for (const cuda_attached *module = context->modules; module != NULL; module = module->next)
        missed += missed_by(context, module);
    return missed;
}

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
