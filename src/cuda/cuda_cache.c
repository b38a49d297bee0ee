#include "cuda/cuda_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/cuda_context.h"
#include "cuda/cuda_includes.h"
#include "cuda/cuda_sources.h"

#define SUFFIX ".code"

enum { BOUND_BYTES = 256 << 20, ONE_MOST_BYTES = BOUND_BYTES / 4, FOLDERS_MOST = 64 };

/* ---- options ---- */

/*
 * Options that say all there is to say themselves. Others may read or write files, so that code
 * which is built with them is not kept.
 */
static const char *const plain_options[] = {"gpu-architecture",
                                            "arch",
                                            "std",
                                            "define-macro",
                                            "undefine-macro",
                                            "use_fast_math",
                                            "ftz",
                                            "prec-sqrt",
                                            "prec-div",
                                            "fmad",
                                            "maxrregcount",
                                            "extra-device-vectorization",
                                            "restrict",
                                            "device-as-default-execution-space",
                                            "default-device",
                                            "relocatable-device-code",
                                            "rdc",
                                            "disable-warnings",
                                            "w",
                                            "diag-suppress",
                                            "diag-error",
                                            "diag-warn",
                                            "dopt",
                                            "no-source-include"};
/* These also write down the folder that the process is in. */
static const char *const debug_options[] = {"device-debug", "G", "generate-line-info", "lineinfo"};
static const char *const folder_options[] = {"include-path", "I"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

typedef struct option_walk {
    sb_slice folders[FOLDERS_MOST];
    size_t folder_count;
    bool is_value;  /* the next text belongs to the option before */
    bool is_folder; /* and is a folder */
    bool has_debug;
} option_walk;

/* Without the dashes in front, and without a value. */
static sb_slice name_of(sb_slice option, sb_slice *value) {
    sb_slice name = sb_slice_after(option, sb_slice_starts_with(option, "--") ? 2 : 1);
    size_t size = 0;
    /* Those of one letter have their values right behind them. */
    if (!sb_slice_starts_with(option, "--") && name.size > 0 && strchr("DUI", name.data[0]) != NULL)
        size = 1;
    else
        while (size < name.size && name.data[size] != '=' && name.data[size] != ' ')
            size++;
    *value = sb_slice_after(name, size);
    return sb_slice_first(name, size);
}

static bool is_one_of(sb_slice name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (sb_slice_is(name, names[i]))
            return true;
    return false;
}

/* "-Ifolder", "-I=folder" and "-I folder" are the same. */
static bool add_folder(option_walk *self, sb_slice folder) {
    while (folder.size > 0 && (folder.data[0] == '=' || folder.data[0] == ' '))
        folder = sb_slice_after(folder, 1);
    /* How these are read is not known. */
    const bool is_odd = sb_slice_contains(folder, "\"") || sb_slice_ends_with(folder, " ");
    if (folder.size == 0 || is_odd || self->folder_count == FOLDERS_MOST)
        return false;
    self->folders[self->folder_count++] = folder;
    return true;
}

static bool take_option(option_walk *self, sb_slice option) {
    sb_slice value;
    const bool is_value = self->is_value;
    self->is_value = false;
    if (is_value && self->is_folder)
        return add_folder(self, option);
    if (!sb_slice_starts_with(option, "-"))
        return is_value;
    const sb_slice name = name_of(option, &value);
    self->is_value = value.size == 0;
    self->is_folder = is_one_of(name, folder_options, COUNT_OF(folder_options));
    if (self->is_folder)
        return value.size == 0 || add_folder(self, value);
    const bool is_debug = is_one_of(name, debug_options, COUNT_OF(debug_options));
    self->has_debug = self->has_debug || is_debug;
    return is_debug || sb_slice_is(name, "D") || sb_slice_is(name, "U") ||
           is_one_of(name, plain_options, COUNT_OF(plain_options));
}

/* False: there are some whose effect is not known. */
static bool read_options(const cuda_recipe *recipe, option_walk *walk) {
    *walk = (option_walk){.folder_count = 0};
    for (size_t i = 0; i < recipe->option_count; i++)
        if (!take_option(walk, sb_slice_of(recipe->options[i])))
            return false;
    return true;
}

/* ---- keys ---- */

/* Options from elsewhere, which the compiler adds to ours. */
static bool has_hidden_options(void) {
    return getenv("NVRTC_PREPEND_FLAGS") != NULL || getenv("NVRTC_APPEND_FLAGS") != NULL;
}

static bool add_place(sb_key *key) {
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) == NULL)
        return false;
    sb_key_add(key, sb_slice_of(here));
    return true;
}

static void add_texts(sb_key *key, const cuda_recipe *recipe) {
    sb_key_add(key, (sb_slice){(const char *)recipe->compiler, sizeof *recipe->compiler});
    sb_key_add(key, sb_slice_of(recipe->name));
    for (size_t i = 0; i < recipe->option_count; i++)
        sb_key_add(key, sb_slice_of(recipe->options[i]));
    for (size_t i = 0; i < cuda_source_file_count; i++)
        sb_key_add(key,
                   (sb_slice){(const char *)cuda_source_files[i].bytes, cuda_source_files[i].size});
}

/* False: something that the code depends on is not known. */
static bool make_key(const cuda_recipe *recipe, sb_key *key, char **question) {
    option_walk options;
    *key = (sb_key){{6, 7}};
    if (recipe->compiler == NULL || has_hidden_options() || !read_options(recipe, &options))
        return false;
    add_texts(key, recipe);
    if (options.has_debug && !add_place(key))
        return false;
    const cuda_include_search search = {.source = recipe->source,
                                        .folder = cuda_folder_of(recipe->name),
                                        .options = recipe->options,
                                        .option_count = recipe->option_count,
                                        .folders = options.folders,
                                        .folder_count = options.folder_count};
    return cuda_includes_add(key, &search, question);
}

/* Whether all is still as it was. */
static bool is_unchanged(const cuda_recipe *recipe, const sb_key *key) {
    sb_key now;
    char *question = NULL;
    const bool is_known = make_key(recipe, &now, &question);
    free(question);
    return is_known && memcmp(&now, key, sizeof now) == 0;
}

/* ---- the folder ---- */

/* False: there is no folder, and none can be made. */
static bool name_file(const sb_key *key, char folder[PATH_MAX], char path[PATH_MAX]) {
    char text[SB_KEY_TEXT];
    sb_key_text(key, text);
    return sb_folder_cache_into("cuda", folder, NULL) == SB_OK &&
           snprintf(path, PATH_MAX, "%s/%s" SUFFIX, folder, text) < PATH_MAX;
}

cuda_cached cuda_cache_find(const cuda_recipe *recipe) {
    char folder[PATH_MAX];
    char path[PATH_MAX];
    size_t size = 0;
    cuda_cached place = {.is_used = false};
    if (cuda_options_get()->is_cache_off || !make_key(recipe, &place.key, &place.question) ||
        !name_file(&place.key, folder, path))
        return place;
    place.is_used = true;
    place.code = sb_kept_read(path, &place.key, &size);
    return place;
}

void cuda_cache_keep(const cuda_recipe *recipe, const cuda_cached *place, sb_slice code) {
    char folder[PATH_MAX];
    char path[PATH_MAX];
    if (!place->is_used || code.size > ONE_MOST_BYTES || !is_unchanged(recipe, &place->key) ||
        !name_file(&place->key, folder, path))
        return;
    sb_kept_sweep(folder);
    if (sb_kept_write(path, &place->key, code))
        sb_kept_bound(folder, SUFFIX, path, 0, BOUND_BYTES);
}
