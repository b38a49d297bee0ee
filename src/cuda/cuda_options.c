#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda_context.h"

enum { EXIT_WAIT_DEFAULT = 10, EXIT_WAIT_MOST = 86400 };
enum { CHUNKS_DEFAULT = 512, CHUNKS_LEAST = 16, CHUNKS_MOST = 65536 };

static uint32_t *sample_named(cuda_options *options, const char *name, size_t size) {
    const struct {
        const char *name;
        uint32_t *every;
    } known[] = {{"sm", &options->every_sm},
                 {"block", &options->every_block},
                 {"warp", &options->every_warp},
                 {"launch", &options->every_launch}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == size && strncmp(known[i].name, name, size) == 0)
            return known[i].every;
    return NULL;
}

/* sm=4,block=16: every fourth SM, and of its blocks every sixteenth. */
static bool parse_sample(cuda_options *options, const char *text) {
    while (*text != '\0') {
        const size_t size = strcspn(text, "=");
        uint32_t *every = sample_named(options, text, size);
        if (every == NULL || text[size] != '=')
            return false;
        char *end;
        const unsigned long number = strtoul(text + size + 1, &end, 10);
        if (end == text + size + 1 || number == 0 || number > UINT32_MAX ||
            (*end != '\0' && *end != ','))
            return false;
        *every = (uint32_t)number;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

static bool parse_chunks(cuda_options *options, const char *text) {
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || number < CHUNKS_LEAST || number > CHUNKS_MOST)
        return false;
    options->chunks_per_sm = CHUNKS_LEAST;
    while (options->chunks_per_sm < number)
        options->chunks_per_sm *= 2;
    return true;
}

bool cuda_options_parse(cuda_options *options, const char *chunks, const char *pool,
                        const char *sample, const char *log) {
    *options = (cuda_options){.chunks_per_sm = CHUNKS_DEFAULT,
                              .every_sm = 1,
                              .every_block = 1,
                              .every_warp = 1,
                              .every_launch = 1};
    bool is_understood = true;
    if (chunks != NULL)
        is_understood = parse_chunks(options, chunks) && is_understood;
    if (sample != NULL)
        is_understood = parse_sample(options, sample) && is_understood;
    if (pool != NULL) {
        options->is_on_host = strcmp(pool, "host") == 0;
        is_understood = (options->is_on_host || strcmp(pool, "gpu") == 0) && is_understood;
    }
    if (log != NULL)
        snprintf(options->log, sizeof options->log, "%s", log);
    return is_understood;
}

static bool parse_exit_wait(cuda_options *options, const char *text) {
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || number > EXIT_WAIT_MOST)
        return false;
    options->exit_wait_s = (uint32_t)number;
    return true;
}

static bool is_set_to(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text != NULL && strcmp(text, value) == 0;
}

static pthread_mutex_t options_lock = PTHREAD_MUTEX_INITIALIZER;

void cuda_options_before_fork(void) {
    pthread_mutex_lock(&options_lock);
}

void cuda_options_after_fork(void) {
    pthread_mutex_unlock(&options_lock);
}

static void read_options(cuda_options *options) {
    if (!cuda_options_parse(options, getenv("STROBE_CUDA_CHUNKS"), getenv("STROBE_CUDA_POOL"),
                            getenv("STROBE_CUDA_SAMPLE"), getenv("STROBE_CUDA_LOG")))
        cuda_say("a variable is not understood: STROBE_CUDA_CHUNKS is a number from %d to %d, "
                 "STROBE_CUDA_POOL is gpu or host, STROBE_CUDA_SAMPLE is a list as "
                 "sm=4,block=16,warp=2,launch=10",
                 CHUNKS_LEAST, CHUNKS_MOST);
    const char *exit_wait = getenv("STROBE_CUDA_EXIT_WAIT");
    options->exit_wait_s = EXIT_WAIT_DEFAULT;
    if (exit_wait != NULL && !parse_exit_wait(options, exit_wait))
        cuda_say("STROBE_CUDA_EXIT_WAIT is a number of seconds up to %d", EXIT_WAIT_MOST);
    options->is_off = is_set_to("STROBE_CUDA", "0");
    options->may_wait = is_set_to("STROBE_CUDA_WAIT", "1");
    options->is_cache_off = is_set_to("STROBE_CUDA_CACHE", "0");
}

const cuda_options *cuda_options_get(void) {
    static cuda_options options;
    static bool is_read;
    if (__atomic_load_n(&is_read, __ATOMIC_ACQUIRE))
        return &options;
    pthread_mutex_lock(&options_lock);
    if (!is_read)
        read_options(&options);
    __atomic_store_n(&is_read, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&options_lock);
    return &options;
}

void cuda_say(const char *format, ...) {
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "strobe: cuda: %s\n", text);
}
