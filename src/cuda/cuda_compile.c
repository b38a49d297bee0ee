#include "cuda/cuda_compile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cuda/cuda_cache.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_sources.h"

typedef struct nvrtc_opaque_program *nvrtc_program;

/* X(member, symbol, parameters) */
#define NVRTC_FUNCTIONS(X)                                                              \
    X(version, "nvrtcVersion", (int *major, int *minor))                                \
    X(create, "nvrtcCreateProgram",                                                     \
      (nvrtc_program * program, const char *source, const char *name, int header_count, \
       const char *const *headers, const char *const *names))                           \
    X(destroy, "nvrtcDestroyProgram", (nvrtc_program * program))                        \
    X(compile, "nvrtcCompileProgram",                                                   \
      (nvrtc_program program, int count, const char *const *options))                   \
    X(log_size, "nvrtcGetProgramLogSize", (nvrtc_program program, size_t * size))       \
    X(log, "nvrtcGetProgramLog", (nvrtc_program program, char *log))                    \
    X(code_size, "nvrtcGetCUBINSize", (nvrtc_program program, size_t * size))           \
    X(code, "nvrtcGetCUBIN", (nvrtc_program program, char *code))                       \
    X(ptx_size, "nvrtcGetPTXSize", (nvrtc_program program, size_t * size))              \
    X(ptx, "nvrtcGetPTX", (nvrtc_program program, char *code))                          \
    X(capability_count, "nvrtcGetNumSupportedArchs", (int *count))                      \
    X(capabilities, "nvrtcGetSupportedArchs", (int *capabilities))

#define NVRTC_MEMBER(member, symbol, parameters) \
    int(*member) parameters; // NOLINT(bugprone-macro-parentheses)
typedef struct nvrtc {
    NVRTC_FUNCTIONS(NVRTC_MEMBER)
    sb_key identity;
    bool is_known; /* the identity is */
} nvrtc;
#undef NVRTC_MEMBER

/* ---- the library ---- */

#define NVRTC_SYMBOL(member, symbol, parameters) {symbol, offsetof(nvrtc, member)},
static const cuda_symbol symbols[] = {NVRTC_FUNCTIONS(NVRTC_SYMBOL)};
#undef NVRTC_SYMBOL

/* $STROBE_NVRTC, or the newest that the loader finds, or that of a toolkit in its usual place. */
static void *open_library(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    const char *chosen = getenv("STROBE_NVRTC");
    if (chosen != NULL)
        return dlopen(chosen, RTLD_NOW);
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW);
    return library;
}

/* By its version and its file: the third number of a version is not told. */
static void identify(nvrtc *compiler, void *library) {
    Dl_info place;
    struct stat facts;
    int version[2] = {0, 0};
    void *inside = dlsym(library, "nvrtcVersion");
    compiler->is_known = inside != NULL && compiler->version(&version[0], &version[1]) == 0 &&
                         dladdr(inside, &place) != 0 && place.dli_fname != NULL &&
                         stat(place.dli_fname, &facts) == 0;
    if (!compiler->is_known)
        return;
    const int64_t identity[] = {version[0], version[1], facts.st_size, facts.st_mtim.tv_sec,
                                facts.st_mtim.tv_nsec};
    sb_key_add(&compiler->identity, sb_slice_of(place.dli_fname));
    sb_key_add(&compiler->identity, (sb_slice){(const char *)identity, sizeof identity});
}

static sb_status load_compiler(const nvrtc **compiler, sb_error *error) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static nvrtc loaded;
    static bool is_loaded;
    const char *missing = NULL;
    pthread_mutex_lock(&lock);
    if (!is_loaded) {
        void *library = open_library();
        missing = library == NULL ? ""
                                  : cuda_find_symbols(library, symbols,
                                                      sizeof symbols / sizeof symbols[0], &loaded);
        is_loaded = missing == NULL;
        if (is_loaded)
            identify(&loaded, library);
    }
    pthread_mutex_unlock(&lock);
    *compiler = &loaded;
    if (missing == NULL)
        return SB_OK;
    if (missing[0] != '\0')
        SB_FAIL(error, SB_ERR_NOT_FOUND, "libnvrtc is too old: it has no %s", missing);
    SB_FAIL(error, SB_ERR_NOT_FOUND,
            "kernels cannot be built: libnvrtc cannot be loaded (STROBE_NVRTC names it)");
}

/* Our own headers, which NVRTC is handed as texts. */
static nvrtc_program make_program(const nvrtc *compiler, const char *source, const char *name) {
    enum { MOST = 8 };
    char *texts[MOST] = {0};
    const char *names[MOST];
    nvrtc_program program = NULL;
    bool has_memory = cuda_source_file_count <= MOST;
    for (size_t i = 0; has_memory && i < cuda_source_file_count; i++) {
        const cuda_source_file *file = &cuda_source_files[i];
        names[i] = file->name;
        texts[i] = calloc(1, file->size + 1);
        has_memory = texts[i] != NULL;
        if (has_memory)
            memcpy(texts[i], file->bytes, file->size);
    }
    if (has_memory)
        (void)compiler->create(&program, source, name, (int)cuda_source_file_count,
                               (const char *const *)texts, names);
    for (size_t i = 0; i < MOST; i++)
        free(texts[i]);
    return program;
}

/* ---- compiling ---- */

/* What to build for. */
typedef struct target {
    char option[48];
    bool is_ptx;
} target;

/* The newest that the compiler knows and a GPU can run; 0: the GPU is older than all of them. */
static int newest_for(const int *known, int count, int capability) {
    int newest = 0;
    for (int i = 0; i < count; i++)
        if (known[i] <= capability && known[i] > newest)
            newest = known[i];
    return newest;
}

static sb_status choose_target(const nvrtc *compiler, int capability, const char *name,
                               target *chosen, sb_error *error) {
    enum { MOST = 256 };
    int known[MOST];
    int count = 0;
    if (compiler->capability_count(&count) != 0 || count <= 0 || count > MOST ||
        compiler->capabilities(known) != 0)
        SB_FAIL(error, SB_ERR_BUILD, "%s: libnvrtc does not say what GPUs it builds for", name);
    const int newest = newest_for(known, count, capability);
    if (newest == 0)
        SB_FAIL(error, SB_ERR_BUILD,
                "%s: this libnvrtc does not build for GPUs as old as this one (compute capability "
                "%d.%d); STROBE_NVRTC names another",
                name, capability / 10, capability % 10);
    chosen->is_ptx = newest != capability;
    snprintf(chosen->option, sizeof chosen->option, "--gpu-architecture=%s_%d",
             chosen->is_ptx ? "compute" : "sm", newest);
    return SB_OK;
}

/* What the compiler says goes to standard error as it is; the sentence names the source. */
static sb_status say_log(const nvrtc *compiler, nvrtc_program program, const char *name,
                         sb_error *error) {
    size_t size = 0;
    (void)compiler->log_size(program, &size);
    char *log = calloc(1, size + 1);
    if (log != NULL && compiler->log(program, log) == 0)
        fputs(log, stderr);
    free(log);
    SB_FAIL(error, SB_ERR_BUILD, "%s: cannot be built", name);
}

static sb_status take_code(const nvrtc *compiler, nvrtc_program program, bool is_ptx,
                           const char *name, char **code, size_t *size, sb_error *error) {
    const int sized =
        is_ptx ? compiler->ptx_size(program, size) : compiler->code_size(program, size);
    if (sized != 0 || (*code = malloc(*size)) == NULL ||
        (is_ptx ? compiler->ptx(program, *code) : compiler->code(program, *code)) != 0)
        SB_FAIL(error, SB_ERR_BUILD, "%s: its code cannot be had", name);
    return SB_OK;
}

static sb_status compile_recipe(const nvrtc *compiler, const cuda_recipe *recipe, bool is_ptx,
                                char **code, size_t *size, sb_error *error) {
    nvrtc_program program = make_program(compiler, recipe->source, recipe->name);
    if (program == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "%s: there is not enough memory to build it", recipe->name);
    const sb_status status =
        compiler->compile(program, (int)recipe->option_count, recipe->options) != 0
            ? say_log(compiler, program, recipe->name, error)
            : take_code(compiler, program, is_ptx, recipe->name, code, size, error);
    (void)compiler->destroy(&program);
    return status;
}

/* Can it be compiled? What is wrong with it is nobody's business. */
static bool is_fine(const nvrtc *compiler, const cuda_recipe *recipe, const char *source) {
    nvrtc_program program = make_program(compiler, source, recipe->name);
    if (program == NULL)
        return false;
    const int result = compiler->compile(program, (int)recipe->option_count, recipe->options);
    (void)compiler->destroy(&program);
    return result == 0;
}

static sb_status compile_and_keep(const nvrtc *compiler, const cuda_recipe *recipe, bool is_ptx,
                                  const cuda_cached *place, char **code, sb_error *error) {
    size_t size = 0;
    SB_TRY(compile_recipe(compiler, recipe, is_ptx, code, &size, error));
    if (place->is_used && (place->question == NULL || is_fine(compiler, recipe, place->question)))
        cuda_cache_keep(recipe, place, (sb_slice){*code, size});
    return SB_OK;
}

/* What was built before, or what is built now, and kept for the next time. */
static sb_status find_or_compile(const nvrtc *compiler, const cuda_recipe *recipe, bool is_ptx,
                                 char **code, sb_error *error) {
    const cuda_cached place = cuda_cache_find(recipe);
    *code = place.code;
    const sb_status status =
        *code != NULL ? SB_OK : compile_and_keep(compiler, recipe, is_ptx, &place, code, error);
    free(place.question);
    return status;
}

sb_status cuda_compile(const sb_cuda_build_options *options, int capability, char **code,
                       sb_error *error) {
    const nvrtc *compiler = NULL;
    target chosen = {.is_ptx = false};
    cuda_recipe recipe = {.source = options->source,
                          .name = options->name != NULL ? options->name : "kernel.cu"};
    SB_TRY(load_compiler(&compiler, error));
    SB_TRY(choose_target(compiler, capability, recipe.name, &chosen, error));
    const char **list = calloc(options->option_count + 2, sizeof *list);
    if (list == NULL)
        SB_FAIL(error, SB_ERR_LIMIT, "%s: there is not enough memory to build it", recipe.name);
    list[recipe.option_count++] = chosen.option;
    if (!options->without_zones)
        list[recipe.option_count++] = "-DSTROBE_ENABLE";
    for (size_t i = 0; i < options->option_count; i++)
        list[recipe.option_count++] = options->options[i];
    recipe.options = list;
    recipe.compiler = compiler->is_known ? &compiler->identity : NULL;
    const sb_status status = find_or_compile(compiler, &recipe, chosen.is_ptx, code, error);
    free(list);
    return status;
}
