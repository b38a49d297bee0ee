#include "cuda/cuda_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* Clearing goes in copies of zeros: a memory fill would be a kernel, and wait for a free SM. */
#define ZEROS_BYTES (1u << 20)
/* Chunks that are copied without need, where that joins two copies into one. */
#define GAP_MOST 8u

/* What launches are called comes first, on a line of its own. */
#define PROGRAM_BYTES 128u

static size_t control_bytes(const cuda_pool *pool) {
    const size_t sms = pool->options.sm_count;
    return PROGRAM_BYTES + sms * sizeof(sb_cuda_sm) + (sms + sms % 2) * sizeof(uint32_t) +
           (size_t)pool->chunk_count * sizeof(sb_cuda_word);
}

static cuda_address sms_address(const cuda_pool *pool) {
    return pool->control + PROGRAM_BYTES;
}

static cuda_address offered_address(const cuda_pool *pool) {
    return sms_address(pool) + pool->options.sm_count * sizeof(sb_cuda_sm);
}

static cuda_address rings_address(const cuda_pool *pool) {
    const uint32_t sms = pool->options.sm_count;
    return offered_address(pool) + (sms + sms % 2) * sizeof(uint32_t);
}

/* ---- opening ---- */

/* All that is ours on the host; calloc, or pinned, so that copies need not wait. */
static sb_status allocate_on_host(cuda_pool *pool, sb_error *error) {
    const size_t sms = pool->options.sm_count;
    pool->chunks = calloc(pool->chunk_count, sizeof *pool->chunks);
    pool->seen = calloc(sms, sizeof *pool->seen);
    pool->cleared = calloc(pool->chunk_count, sizeof *pool->cleared);
    pool->cleared_count = calloc(sms, sizeof *pool->cleared_count);
    if (pool->chunks == NULL || pool->seen == NULL || pool->cleared == NULL ||
        pool->cleared_count == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "there is not enough memory for zones of the GPU");
    const size_t rings = ZEROS_BYTES + sms * sizeof *pool->sms;
    const size_t offered = rings + pool->chunk_count * sizeof *pool->rings;
    SB_TRY(cuda_pinned_allocate(&pool->pinned, pool->driver, offered + sms * sizeof *pool->offered,
                                "memory of the host for zones of the GPU", error));
    char *at = pool->pinned.data;
    pool->zeros = at;
    pool->sms = (sb_cuda_sm *)(void *)(at + ZEROS_BYTES);
    pool->rings = (sb_cuda_word *)(void *)(at + rings);
    pool->offered = (uint32_t *)(void *)(at + offered);
    return SB_OK;
}

static size_t pool_bytes(const cuda_pool *pool) {
    return (size_t)pool->chunk_count * SB_CUDA_CHUNK_BYTES;
}

/*
 * Kernels keep the lower halves of addresses: the pool begins at the first place in an allocation
 * from which it reaches no multiple of 4 GiB, aligned as chunks are. False: there is none.
 */
static bool place_pool(cuda_pool *pool, cuda_address allocated, size_t size) {
    const size_t wanted = pool_bytes(pool);
    const cuda_address aligned =
        (allocated + SB_CUDA_CHUNK_BYTES - 1) / SB_CUDA_CHUNK_BYTES * SB_CUDA_CHUNK_BYTES;
    const cuda_address lowest = (aligned >> 32 << 32) + SB_CUDA_BELOW_POOL;
    pool->records = aligned < lowest ? lowest : aligned;
    if ((pool->records + wanted - 1) >> 32 != pool->records >> 32)
        pool->records = (((pool->records >> 32) + 1) << 32) + SB_CUDA_BELOW_POOL;
    return pool->records + wanted <= allocated + size;
}

/* Memory of the GPU, or of the host, which the GPU then writes to. */
static sb_status allocate_records(cuda_pool *pool, size_t size, const char *what, sb_error *error) {
    const cuda_driver *driver = pool->driver;
    if (!pool->options.is_on_host)
        return cuda_check(driver, driver->allocate(&pool->allocated, size), what, error);
    SB_TRY(cuda_pinned_allocate(&pool->copy_memory, driver, size, what, error));
    return cuda_check(driver, driver->host_address(&pool->allocated, pool->copy_memory.data, 0),
                      what, error);
}

static void free_records(cuda_pool *pool) {
    cuda_pinned_free(&pool->copy_memory, pool->driver);
    if (pool->allocated != 0 && !pool->options.is_on_host)
        pool->driver->free(pool->allocated);
    pool->allocated = 0;
}

static sb_status allocate_on_gpu(cuda_pool *pool, sb_error *error) {
    const cuda_driver *driver = pool->driver;
    const char *what = "memory of the GPU for zones";
    SB_TRY(cuda_check(driver, driver->allocate(&pool->control, control_bytes(pool)), what, error));
    size_t size = pool_bytes(pool) + 2 * (size_t)SB_CUDA_BELOW_POOL;
    SB_TRY(allocate_records(pool, size, what, error));
    if (!place_pool(pool, pool->allocated, size)) {
        free_records(pool);
        size += pool_bytes(pool);
        SB_TRY(allocate_records(pool, size, what, error));
        if (!place_pool(pool, pool->allocated, size))
            SB_FAIL(error, SB_ERR_LIMIT, "memory for zones lies where kernels cannot use it");
    }
    if (!pool->options.is_on_host)
        return cuda_pinned_allocate(&pool->copy_memory, driver, pool_bytes(pool), what, error);
    return SB_OK;
}

static sb_status to_gpu(cuda_pool *pool, cuda_address to, const void *from, size_t size,
                        sb_error *error) {
    return cuda_check(pool->driver, pool->driver->copy_to_gpu(to, from, size, pool->stream),
                      "zones of the GPU cannot be given room", error);
}

static sb_status clear(cuda_pool *pool, cuda_address at, size_t size, sb_error *error) {
    for (size_t done = 0; done < size; done += ZEROS_BYTES) {
        const size_t part = size - done < ZEROS_BYTES ? size - done : ZEROS_BYTES;
        SB_TRY(to_gpu(pool, at + done, pool->zeros, part, error));
    }
    return SB_OK;
}

/* Chunks of the same number in all SMs' rings lie side by side: SMs use them up together, so what
   is taken is one stretch. */
static void fill_rings(cuda_pool *pool) {
    const uint32_t sms = pool->options.sm_count;
    const uint32_t size = pool->options.chunks_per_sm;
    for (uint32_t sm = 0; sm < sms; sm++) {
        for (uint32_t ticket = 0; ticket < size; ticket++)
            pool->rings[(size_t)sm * size + ticket] =
                (sb_cuda_word)ticket << 32 | (ticket * sms + sm);
        pool->offered[sm] = size;
    }
}

static sb_status offer_to_gpu(cuda_pool *pool, sb_error *error) {
    SB_TRY(to_gpu(pool, rings_address(pool), pool->rings, pool->chunk_count * sizeof *pool->rings,
                  error));
    return to_gpu(pool, offered_address(pool), pool->offered,
                  pool->options.sm_count * sizeof *pool->offered, error);
}

static sb_status open_pool(cuda_pool *pool, sb_error *error) {
    const cuda_driver *driver = pool->driver;
    SB_TRY(cuda_check(driver, driver->stream_create(&pool->stream, CUDA_STREAM_NON_BLOCKING),
                      "a stream for zones of the GPU", error));
    SB_TRY(allocate_on_host(pool, error));
    SB_TRY(allocate_on_gpu(pool, error));
    const size_t offset = pool->options.is_on_host ? pool->records - pool->allocated : 0;
    pool->copy = (sb_cuda_record *)(void *)((char *)pool->copy_memory.data + offset);
    SB_TRY(clear(pool, pool->control, control_bytes(pool), error));
    if (pool->options.is_on_host)
        pool->host = pool->copy;
    else
        SB_TRY(clear(pool, pool->records, pool_bytes(pool), error));
    fill_rings(pool);
    SB_TRY(offer_to_gpu(pool, error));
    return cuda_check(driver, driver->stream_wait(pool->stream), "zones of the GPU", error);
}

/* Not 0, and unlike those of other processes, whose entries may lie in shared memory too. */
static uint32_t another_key(uint32_t before) {
    uint64_t mixed = (uint64_t)sb_clock_ns() + ((uint64_t)getpid() << 40) + before;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    const uint32_t key = (uint32_t)(mixed >> 32) & SB_CUDA_KEY_MASK;
    return key != 0 && key != before ? key : before + ~SB_CUDA_KEY_MASK + 1;
}

sb_cuda_gate cuda_pool_gate(const cuda_pool *pool) {
    return (sb_cuda_gate){
        .records = (uint32_t)pool->records,
        .records_above = (uint32_t)(pool->records >> 32),
        .sms = sms_address(pool),
        .offered = offered_address(pool),
        .rings = rings_address(pool),
        .program = pool->control,
        .sm_count = pool->options.sm_count,
        .ring_size = pool->options.chunks_per_sm,
        .key = pool->key,
    };
}

sb_status cuda_pool_open(cuda_pool *pool, const cuda_driver *driver,
                         const cuda_pool_options *options, sb_error *error) {
    *pool = (cuda_pool){.driver = driver, .options = *options, .key = another_key(0)};
    pool->chunk_count = options->sm_count * options->chunks_per_sm;
    const sb_status status = open_pool(pool, error);
    if (status != SB_OK)
        cuda_pool_close(pool);
    return status;
}

void cuda_pool_close(cuda_pool *pool) {
    const cuda_driver *driver = pool->driver;
    if (driver == NULL)
        return;
    if (pool->pinned.data == NULL)
        free(pool->sms); /* as keep_losses left them */
    cuda_pinned_free(&pool->pinned, driver);
    free_records(pool);
    for (uint32_t i = 0; pool->chunks != NULL && i < pool->chunk_count; i++)
        cuda_chunk_free(&pool->chunks[i].told);
    if (pool->control != 0)
        driver->free(pool->control);
    if (pool->stream != NULL)
        driver->stream_destroy(pool->stream);
    free(pool->chunks);
    free(pool->seen);
    free(pool->cleared);
    free(pool->cleared_count);
    *pool = (cuda_pool){0};
}

/* What SMs count outlives the memory that it was copied to. Without memory for it, all but the sum
   is forgotten. */
static void keep_losses(cuda_pool *pool) {
    const size_t size = pool->options.sm_count * sizeof *pool->sms;
    sb_cuda_sm *kept = pool->sms != NULL ? malloc(size) : NULL;
    if (kept != NULL)
        memcpy(kept, pool->sms, size);
    else
        pool->options.sm_count = 0;
    cuda_pinned_free(&pool->pinned, NULL);
    pool->sms = kept;
    pool->zeros = NULL;
    pool->rings = NULL;
    pool->offered = NULL;
}

void cuda_pool_abandon(cuda_pool *pool) {
    cuda_pinned_free(&pool->copy_memory, NULL);
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        cuda_chunk_free(&pool->chunks[i].told);
    free(pool->chunks);
    free(pool->seen);
    free(pool->cleared);
    free(pool->cleared_count);
    pool->chunks = NULL;
    pool->seen = pool->cleared = pool->cleared_count = NULL;
    keep_losses(pool);
    pool->copy = NULL;
    pool->host = NULL;
    pool->chunk_count = 0;
    pool->taken_count = 0;
    pool->is_dead = true;
}

/* ---- reading ---- */

/* Those of an SM that are taken are looked at now, however little happened in them. */
static void wake_chunks(cuda_pool *pool, uint32_t sm) {
    for (uint32_t i = sm; i < pool->chunk_count; i += pool->options.sm_count)
        pool->chunks[i].idle = 0;
}

/*
 * Chunks behind tickets that were drawn since the last look are taken. A warp that goes on in
 * another chunk has ended zones in the one before, which must not be told after those that follow.
 */
static void note_tickets(cuda_pool *pool, uint32_t sm) {
    const uint32_t size = pool->options.chunks_per_sm;
    const uint32_t taken = pool->sms[sm].taken;
    const uint32_t offered = pool->offered[sm];
    const uint32_t drawn = (int32_t)(taken - offered) < 0 ? taken : offered;
    if ((int32_t)(drawn - pool->seen[sm]) > 0)
        wake_chunks(pool, sm);
    for (; (int32_t)(drawn - pool->seen[sm]) > 0; pool->seen[sm]++) {
        const sb_cuda_word entry = pool->rings[(size_t)sm * size + pool->seen[sm] % size];
        cuda_pool_chunk *chunk = &pool->chunks[(uint32_t)entry];
        chunk->use = CUDA_TAKEN;
        pool->taken_count++;
    }
    /* Tickets that came too late for a chunk have none, and will never have. */
    if ((int32_t)(taken - offered) > 0) {
        pool->offered[sm] = taken;
        pool->seen[sm] = taken;
    }
}

static sb_status copy_run(cuda_pool *pool, uint32_t first, uint32_t end, sb_error *error) {
    return cuda_check(
        pool->driver,
        pool->driver->copy_to_host(pool->copy + (size_t)first * SB_CUDA_CHUNK_SLOTS,
                                   pool->records + (cuda_address)first * SB_CUDA_CHUNK_BYTES,
                                   (size_t)(end - first) * SB_CUDA_CHUNK_BYTES, pool->stream),
        "zones of the GPU cannot be read", error);
}

bool cuda_pool_is_copied(const cuda_pool *pool, uint32_t chunk) {
    const cuda_pool_chunk *of = &pool->chunks[chunk];
    return of->use == CUDA_TAKEN &&
           (pool->copies_all || (pool->looks & ((1u << of->idle) - 1)) == 0);
}

static sb_status copy_chunks(cuda_pool *pool, sb_error *error) {
    uint32_t first = 0;
    uint32_t end = 0; /* of the run; 0: there is none */
    for (uint32_t i = 0; i < pool->chunk_count; i++) {
        if (!cuda_pool_is_copied(pool, i))
            continue;
        if (end > 0 && i - end > GAP_MOST) {
            SB_TRY(copy_run(pool, first, end, error));
            end = 0;
        }
        if (end == 0)
            first = i;
        end = i + 1;
    }
    return end > 0 ? copy_run(pool, first, end, error) : SB_OK;
}

static sb_status read_counts(cuda_pool *pool, sb_error *error) {
    const cuda_driver *driver = pool->driver;
    const uint32_t sms = pool->options.sm_count;
    SB_TRY(cuda_check(
        driver,
        driver->copy_to_host(pool->sms, sms_address(pool), sms * sizeof *pool->sms, pool->stream),
        "zones of the GPU cannot be read", error));
    SB_TRY(cuda_check(driver, driver->stream_wait(pool->stream), "zones of the GPU cannot be read",
                      error));
    pool->lost = 0;
    for (uint32_t sm = 0; sm < sms; sm++) {
        pool->lost += pool->sms[sm].lost;
        note_tickets(pool, sm);
    }
    return SB_OK;
}

sb_status cuda_pool_copy(cuda_pool *pool, bool all, sb_error *error) {
    pool->looks++;
    pool->copies_all = all;
    sb_status status = read_counts(pool, error);
    if (status == SB_OK && pool->taken_count > 0 && pool->host == NULL) {
        status = copy_chunks(pool, error);
        if (status == SB_OK)
            status = cuda_check(pool->driver, pool->driver->stream_wait(pool->stream),
                                "zones of the GPU cannot be read", error);
    }
    pool->is_dead = status != SB_OK;
    pool->copies_all = all || pool->is_dead;
    /* What was drawn last is not known any more: look everywhere. */
    if (pool->is_dead && pool->host != NULL)
        for (uint32_t i = 0; i < pool->chunk_count; i++)
            pool->chunks[i].use = CUDA_TAKEN;
    return status;
}

/* ---- giving back ---- */

static bool is_told(const cuda_pool *pool, uint32_t number) {
    const cuda_pool_chunk *chunk = &pool->chunks[number];
    if (chunk->is_forgotten)
        return true;
    const cuda_chunk_state state = cuda_decode_state(cuda_pool_records(pool, number));
    const cuda_slots used =
        state.used == SB_CUDA_CHUNK_SLOTS ? ~(cuda_slots)0 : CUDA_SLOT(state.used) - 1;
    return state.is_complete && (chunk->told.ended & used) == used;
}

static sb_status clear_run(cuda_pool *pool, uint32_t first, uint32_t end, sb_error *error) {
    memset(pool->copy + (size_t)first * SB_CUDA_CHUNK_SLOTS, 0,
           (size_t)(end - first) * SB_CUDA_CHUNK_BYTES);
    if (pool->host != NULL)
        return SB_OK;
    return clear(pool, pool->records + (cuda_address)first * SB_CUDA_CHUNK_BYTES,
                 (size_t)(end - first) * SB_CUDA_CHUNK_BYTES, error);
}

static void put_aside(cuda_pool *pool, uint32_t number) {
    const uint32_t sm = number % pool->options.sm_count;
    cuda_chunk_free(&pool->chunks[number].told);
    pool->chunks[number] = (cuda_pool_chunk){.use = CUDA_CLEARED};
    pool->cleared[(size_t)sm * pool->options.chunks_per_sm + pool->cleared_count[sm]++] = number;
    pool->taken_count--;
}

static sb_status clear_chunks(cuda_pool *pool, bool *has_any, sb_error *error) {
    uint32_t first = 0;
    uint32_t end = 0;
    for (uint32_t i = 0; i < pool->chunk_count; i++) {
        if (!cuda_pool_is_copied(pool, i) || !is_told(pool, i))
            continue;
        if (end > 0 && i != end) {
            SB_TRY(clear_run(pool, first, end, error));
            end = 0;
        }
        if (end == 0)
            first = i;
        end = i + 1;
        put_aside(pool, i);
        *has_any = true;
    }
    return end > 0 ? clear_run(pool, first, end, error) : SB_OK;
}

/* In the ring of each SM, behind the tickets that were drawn so far. */
static void offer_cleared(cuda_pool *pool) {
    const uint32_t size = pool->options.chunks_per_sm;
    for (uint32_t sm = 0; sm < pool->options.sm_count; sm++) {
        for (uint32_t i = 0; i < pool->cleared_count[sm]; i++) {
            const uint32_t number = pool->cleared[(size_t)sm * size + i];
            const uint32_t ticket = pool->offered[sm]++;
            pool->rings[(size_t)sm * size + ticket % size] = (sb_cuda_word)ticket << 32 | number;
            pool->chunks[number].use = CUDA_OFFERED;
        }
        pool->cleared_count[sm] = 0;
    }
}

sb_status cuda_pool_recycle(cuda_pool *pool, sb_error *error) {
    bool has_any = false;
    if (pool->is_dead)
        return SB_OK;
    SB_TRY(clear_chunks(pool, &has_any, error));
    if (!has_any)
        return SB_OK;
    /* Tickets that were drawn in vain since the copy would take these chunks with them. */
    SB_TRY(read_counts(pool, error));
    offer_cleared(pool);
    SB_TRY(offer_to_gpu(pool, error));
    /* The pinned copies that these come from change with the next drain. */
    return cuda_check(pool->driver, pool->driver->stream_wait(pool->stream),
                      "zones of the GPU cannot be given room", error);
}

bool cuda_pool_is_low(const cuda_pool *pool) {
    for (uint32_t sm = 0; sm < pool->options.sm_count; sm++)
        if ((uint32_t)(pool->offered[sm] - pool->seen[sm]) < pool->options.chunks_per_sm / 2)
            return true;
    return false;
}

uint32_t cuda_pool_mark(cuda_pool *pool) {
    uint32_t marked = 0;
    for (uint32_t i = 0; i < pool->chunk_count; i++) {
        cuda_pool_chunk *chunk = &pool->chunks[i];
        chunk->is_marked = false;
        if (chunk->use != CUDA_TAKEN)
            continue;
        const cuda_chunk_state state = cuda_decode_state(cuda_pool_records(pool, i));
        if (state.is_done && state.used == 0)
            continue;
        chunk->is_marked = true;
        chunk->marked_owner = (uint8_t)state.owner_slot;
        marked++;
    }
    if (marked > 0)
        pool->key = another_key(pool->key);
    return marked;
}

void cuda_pool_sweep(cuda_pool *pool) {
    for (uint32_t i = 0; i < pool->chunk_count; i++) {
        cuda_pool_chunk *chunk = &pool->chunks[i];
        if (!chunk->is_marked || chunk->use != CUDA_TAKEN)
            continue;
        const cuda_chunk_state state = cuda_decode_state(cuda_pool_records(pool, i));
        chunk->is_forgotten =
            state.owner_slot == chunk->marked_owner && !(state.is_done && state.used == 0);
    }
}

void cuda_pool_unsweep(cuda_pool *pool) {
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        pool->chunks[i].is_forgotten = false;
}
