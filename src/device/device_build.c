#include "device/device_build.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strobe/kernel_layout.h>

extern char **environ;

#define DEFAULT_COMPILER "riscv64-unknown-elf-gcc"
#define ARGUMENT_MAX 128
#define PARALLEL_MAX 16
#define DEPENDENCY_MAX 4096

/*
 * Mailboxes lie near address 0, which the compiler must not take for a null pointer. Sections are
 * loaded where the linker script says, without the file's header in front of them.
 */
static const char *const common_flags[] = {"-march=rv32im",
                                           "-mabi=ilp32",
                                           "-std=c11",
                                           "-O2",
                                           "-gdwarf-4",
                                           "-Wall",
                                           "-Wextra",
                                           "-Werror=implicit-function-declaration",
                                           "-ffreestanding",
                                           "-fno-delete-null-pointer-checks",
                                           "--param=min-pagesize=0",
                                           "-ffunction-sections",
                                           "-fdata-sections",
                                           "-fno-common",
                                           "-fdiagnostics-color=auto",
                                           "-nostdlib",
                                           "-nostartfiles",
                                           "-Wl,--gc-sections",
                                           "-Wl,-n",
                                           "-Wl,-z,max-page-size=16"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *compiler(void) {
    const char *named = getenv("STROBE_RISCV_CC");
    return named != NULL && named[0] != '\0' ? named : DEFAULT_COMPILER;
}

/* ---- one job under way ---- */

typedef struct build {
    device_job *job;
    sb_arena arena;
    const char *arguments[ARGUMENT_MAX];
    size_t argument_count;
    const char *folder; /* where the result will be */
    const char *work;   /* where it is made */
    pid_t pid;          /* 0: nothing had to be done */
} build;

static sb_status add(build *self, const char *argument, sb_error *error) {
    if (self->argument_count + 1 >= ARGUMENT_MAX)
        SB_FAIL(error, SB_ERR_LIMIT, "kernel %s: too many defines", self->job->name);
    self->arguments[self->argument_count++] = argument;
    return SB_OK;
}

static sb_status add_format(build *self, sb_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static sb_status add_format(build *self, sb_error *error, const char *format, ...) {
    va_list values;
    va_start(values, format);
    const char *argument = sb_arena_vformat(&self->arena, format, values).data;
    va_end(values);
    return add(self, argument, error);
}

/* Where a processor's firmware lies: BRISC has 8 KiB, the others 4. */
static uint32_t firmware_base(uint32_t processor) {
    return SB_L1_FIRMWARE + (processor == 0 ? 0 : 0x2000u + (processor - 1) * 0x1000u);
}

static uint32_t local_bytes(uint32_t processor) {
    return processor <= SB_NCRISC ? 4096 : 2048;
}

static sb_status add_place(build *self, const char *sources, sb_error *error) {
    const device_job *job = self->job;
    if (job->is_firmware) {
        SB_TRY(add_format(self, error, "-T%s/firmware.ld", sources));
        SB_TRY(add_format(self, error, "-Wl,--defsym=sb_firmware_base=0x%x",
                          firmware_base(job->processor)));
        SB_TRY(add_format(self, error, "-DSB_STACK_TOP=0x%x",
                          0xFFB00000u + local_bytes(job->processor)));
        return add_format(self, error, "-Wl,--defsym=sb_firmware_size=0x%x",
                          job->processor == 0 ? 0x2000u : 0x1000u);
    }
    const uint32_t base = SB_L1_KERNELS + job->processor * SB_L1_KERNEL_BYTES;
    SB_TRY(add_format(self, error, "-T%s/kernel.ld", sources));
    SB_TRY(add_format(self, error, "-Wl,--defsym=sb_kernel_base=0x%x", base));
    SB_TRY(
        add_format(self, error, "-Wl,--defsym=sb_kernel_limit=0x%x",
                   base + SB_L1_KERNEL_BYTES - (job->instrument.is_on ? 0 : SB_L1_KERNEL_RESERVE)));
    SB_TRY(add_format(self, error, "-Wl,--defsym=sb_local_base=0x%x", 0xFFB00000u));
    return add_format(self, error, "-Wl,--defsym=sb_local_size=%u", local_bytes(job->processor));
}

/* Bits of PROFILE_KERNEL as other profilers of this hardware number them. */
#define PROFILE_BASE 1u
#define PROFILE_DISPATCH 2u
#define PROFILE_SUMS 8u

static sb_status add_instrument(build *self, sb_error *error) {
    const device_instrument *instrument = &self->job->instrument;
    if (!instrument->is_on)
        return SB_OK;
    SB_TRY(add_format(self, error, "-DPROFILE_KERNEL=%u",
                      PROFILE_BASE | (instrument->adds_up ? PROFILE_SUMS : 0) |
                          (instrument->records_steps ? PROFILE_DISPATCH : 0)));
    if (instrument->records_steps)
        SB_TRY(add(self, "-DPROFILE_DISPATCH=1", error));
    if (instrument->accumulates)
        SB_TRY(add(self, "-DPROFILE_ACCUMULATES=1", error));
    if (instrument->drops)
        SB_TRY(add(self, "-DPROFILE_DROPS=1", error));
    if (instrument->counts_instructions)
        SB_TRY(add(self, "-DPROFILE_PERF_COUNTERS=1", error));
    if (instrument->records_noc)
        SB_TRY(add(self, "-DPROFILE_NOC_EVENTS=1", error));
    if (instrument->records_noc_steps)
        SB_TRY(add(self, "-DPROFILE_NOC_STEPS=1", error));
    return SB_OK;
}

/* Everything but the names of the input and of the output. */
static sb_status add_flags(build *self, const char *sources, sb_error *error) {
    const device_job *job = self->job;
    SB_TRY(add(self, compiler(), error));
    for (size_t i = 0; i < COUNT_OF(common_flags); i++)
        SB_TRY(add(self, common_flags[i], error));
    SB_TRY(add_format(self, error, "-I%s/include", sources));
    /* Names of zones must not depend on where the cache is. */
    SB_TRY(add_format(self, error, "-fmacro-prefix-map=%s=strobe", sources));
    if (job->include != NULL)
        SB_TRY(add_format(self, error, "-I%s", job->include));
    SB_TRY(add_format(self, error, "-DSTROBE_PROCESSOR=%u", job->processor));
    for (size_t i = 0; i < job->define_count; i++)
        SB_TRY(add_format(self, error, "-D%s=%s", job->defines[i].name, job->defines[i].value));
    SB_TRY(add_instrument(self, error));
    return add_place(self, sources, error);
}

/* ---- finding what was built before ---- */

/* The first of the folders, separated by colons, that has such a program; NULL: none. */
static const char *find_program(sb_arena *arena, sb_slice folders, const char *name) {
    while (folders.size > 0) {
        const sb_slice folder = sb_slice_cut(folders, ':', &folders);
        const char *path =
            sb_arena_format(arena, "%.*s/%s", (int)folder.size, folder.data, name).data;
        if (folder.size > 0 && access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

/*
 * Which compiler it is, by its file: asking it for its version would take longer than finding out
 * that nothing has to be built. One that is not found is told when it is started.
 */
static void hash_compiler(sb_key *key, sb_arena *arena) {
    const char *name = compiler();
    const char *path = getenv("PATH");
    const char *candidate = name;
    if (strchr(name, '/') == NULL)
        candidate = find_program(arena, sb_slice_of(path != NULL ? path : ""), name);
    struct stat facts;
    if (candidate == NULL || stat(candidate, &facts) != 0)
        return;
    const int64_t identity[] = {facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
    sb_key_add(key, sb_slice_of(candidate));
    sb_key_add(key, (sb_slice){(const char *)identity, sizeof identity});
}

static sb_status hash_file(sb_key *key, const char *path, sb_error *error) {
    sb_file file;
    SB_TRY(sb_file_open(&file, path, error));
    sb_key_add(key, file.text);
    sb_file_close(&file);
    return SB_OK;
}

static sb_status make_key(build *self, char text[SB_KEY_TEXT], sb_error *error) {
    sb_key key = {{0, 1}};
    hash_compiler(&key, &self->arena);
    for (size_t i = 0; i < self->argument_count; i++)
        sb_key_add(&key, sb_slice_of(self->arguments[i]));
    sb_key_add(&key, sb_slice_of(self->job->name));
    if (self->job->path != NULL) {
        sb_key_add(&key, sb_slice_of(self->job->path));
        SB_TRY(hash_file(&key, self->job->path, error));
    } else {
        sb_key_add(&key, self->job->source);
    }
    sb_key_text(&key, text);
    return SB_OK;
}

static bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

/* Make escapes blanks and # by a backslash, and $ by another one. */
static bool is_escape(char letter, char next) {
    return letter == '$' ? next == '$' : letter == '\\' && (next == ' ' || next == '#');
}

/* The next file that a dependency file names, free of escapes; false: none is left. */
static bool next_dependency(sb_slice *rest, char path[DEPENDENCY_MAX]) {
    size_t at = 0;
    size_t size = 0;
    for (; at + 1 < rest->size && size + 1 < DEPENDENCY_MAX; at++) {
        const char *letter = rest->data + at;
        const bool is_gap = is_blank(letter[0]) || (letter[0] == '\\' && letter[1] == '\n');
        if (is_gap && size > 0)
            break;
        if (is_escape(letter[0], letter[1]))
            at++;
        if (!is_gap)
            path[size++] = rest->data[at];
    }
    path[size] = '\0';
    *rest = sb_slice_after(*rest, at);
    return size > 0;
}

/*
 * The dependency file names all that was included: "kernel.elf: a.c b.h \". A source that was
 * written into the work folder is left out: it is no more, and the folder's name stands for it.
 */
static bool hash_dependencies(const build *self, sb_slice dependencies, sb_key *key) {
    char path[DEPENDENCY_MAX];
    while (next_dependency(&dependencies, path)) {
        const sb_slice name = sb_slice_of(path);
        if (sb_slice_ends_with(name, ":") || sb_slice_starts_with(name, self->folder))
            continue;
        sb_key_add(key, name);
        if (hash_file(key, path, NULL) != SB_OK)
            return false;
    }
    return true;
}

static const char *in_folder(build *self, const char *folder, const char *name) {
    return sb_arena_format(&self->arena, "%s/%s", folder, name).data;
}

/* What lies in folder and all that it was made from; false if some of it is not there. */
static bool hash_result(build *self, const char *folder, char text[SB_KEY_TEXT]) {
    sb_key key = {{2, 3}};
    sb_file dependencies;
    if (hash_file(&key, in_folder(self, folder, "kernel.elf"), NULL) != SB_OK ||
        sb_file_open(&dependencies, in_folder(self, folder, "kernel.d"), NULL) != SB_OK)
        return false;
    const bool is_whole = hash_dependencies(self, dependencies.text, &key);
    sb_file_close(&dependencies);
    sb_key_text(&key, text);
    return is_whole;
}

static bool is_up_to_date(build *self) {
    char now[SB_KEY_TEXT];
    sb_file hash;
    if (sb_file_open(&hash, in_folder(self, self->folder, "kernel.hash"), NULL) != SB_OK)
        return false;
    const bool is_same = hash_result(self, self->folder, now) && sb_slice_is(hash.text, now);
    sb_file_close(&hash);
    return is_same;
}

/* ---- building ---- */

static sb_status write_whole(const char *path, sb_slice text, sb_error *error) {
    sb_output output;
    SB_TRY(sb_output_to_file(&output, path, error));
    sb_put(&output, text);
    return sb_output_finish(&output, error);
}

/* What the compiler says is kept apart until it ends, so that parallel builds do not mix. */
static sb_status start_compiler(build *self, sb_error *error) {
    posix_spawn_file_actions_t actions;
    const char *messages = in_folder(self, self->work, "messages");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    self->arguments[self->argument_count] = NULL;
    char *arguments[ARGUMENT_MAX];
    memcpy(arguments, self->arguments, sizeof arguments);
    const int failed = posix_spawnp(&self->pid, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        self->pid = 0;
        SB_FAIL(error, SB_ERR_BUILD,
                "cannot run %s: %s. Install gcc-riscv64-unknown-elf, or set STROBE_RISCV_CC",
                arguments[0], strerror(failed));
    }
    return SB_OK;
}

/* Where the source is; text is written down first, so that the compiler finds it. */
static sb_status find_source(build *self, const char **source, sb_error *error) {
    const device_job *job = self->job;
    *source = job->path;
    if (job->path != NULL)
        return SB_OK;
    *source = in_folder(self, self->work, "kernel.c");
    /* Messages and debug information name the kernel as its author does. */
    return write_whole(*source,
                       sb_arena_format(&self->arena, "#line 1 \"%s\"\n%.*s", job->name,
                                       (int)job->source.size, job->source.data),
                       error);
}

static sb_status add_files(build *self, const char *sources, sb_error *error) {
    const char *source = NULL;
    char here[4096];
    SB_TRY(find_source(self, &source, error));
    /* A kernel that is no file has no folder either, and no lines that messages could show. */
    if (self->job->path == NULL && getcwd(here, sizeof here) != NULL)
        SB_TRY(add_format(self, error, "-fdebug-prefix-map=%s=.", here));
    if (self->job->path == NULL)
        SB_TRY(add(self, "-fno-diagnostics-show-caret", error));
    SB_TRY(add(self, "-MMD", error));
    SB_TRY(add(self, "-MF", error));
    SB_TRY(add(self, in_folder(self, self->work, "kernel.d"), error));
    SB_TRY(add(self, "-o", error));
    SB_TRY(add(self, in_folder(self, self->work, "kernel.elf"), error));
    if (!self->job->is_firmware)
        SB_TRY(add_format(self, error, "%s/kernel_start.c", sources));
    if (!self->job->is_firmware && self->job->instrument.is_on)
        SB_TRY(add_format(self, error, "%s/kernel_profiler.c", sources));
    /* Last of the sources: the dependency file is about the last one only. */
    SB_TRY(add(self, source, error));
    return add(self, "-lgcc", error);
}

/* The same kernel may be wanted more than once. */
static bool is_under_way(const build *earliest, const build *self) {
    for (const build *other = earliest; other < self; other++)
        if (strcmp(other->folder, self->folder) == 0)
            return true;
    return false;
}

/* A folder of our own: others may be building the same. */
static sb_status make_work_folder(build *self, sb_error *error) {
    const size_t size = strlen(self->folder) + sizeof ".XXXXXX";
    char *work = sb_arena_alloc_zeroed(&self->arena, size);
    snprintf(work, size, "%s.XXXXXX", self->folder);
    if (mkdtemp(work) == NULL)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot make this folder: %s", work, strerror(errno));
    self->work = work;
    return SB_OK;
}

/* Builds from earliest up to this one have not ended yet. */
static sb_status start(build *self, const build *earliest, const char *sources, sb_error *error) {
    char key[SB_KEY_TEXT];
    const char *cache = NULL;
    SB_TRY(add_flags(self, sources, error));
    SB_TRY(make_key(self, key, error));
    SB_TRY(sb_folder_cache(&self->arena, "kernels", &cache, error));
    self->folder = in_folder(self, cache, key);
    self->job->elf_path = strdup(in_folder(self, self->folder, "kernel.elf"));
    if (is_under_way(earliest, self) || is_up_to_date(self))
        return SB_OK;
    SB_TRY(make_work_folder(self, error));
    SB_TRY(add_files(self, sources, error));
    return start_compiler(self, error);
}

static void show_messages(build *self) {
    sb_file messages;
    if (sb_file_open(&messages, in_folder(self, self->work, "messages"), NULL) != SB_OK)
        return;
    fwrite(messages.text.data, 1, messages.text.size, stderr);
    sb_file_close(&messages);
}

static void remove_work(build *self) {
    static const char *const names[] = {"kernel.c", "kernel.d", "kernel.elf", "kernel.hash",
                                        "messages"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(in_folder(self, self->work, names[i]));
    rmdir(self->work);
}

/*
 * Moves the results to their place, last the hash, without which they count for nothing. Another
 * process may have done the same: both are right.
 */
static sb_status publish(build *self, sb_error *error) {
    static const char *const names[] = {"kernel.c", "kernel.d", "kernel.elf", "kernel.hash"};
    char hash[SB_KEY_TEXT];
    if (!hash_result(self, self->work, hash))
        SB_FAIL(error, SB_ERR_BUILD, "kernel %s: what %s has built cannot be read", self->job->name,
                compiler());
    SB_TRY(write_whole(in_folder(self, self->work, "kernel.hash"), sb_slice_of(hash), error));
    SB_TRY(sb_folder_make(self->folder, error));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (rename(in_folder(self, self->work, names[i]),
                   in_folder(self, self->folder, names[i])) != 0 &&
            errno != ENOENT)
            SB_FAIL(error, SB_ERR_IO, "%s: cannot put a built kernel there: %s", self->folder,
                    strerror(errno));
    return SB_OK;
}

static sb_status finish(build *self, sb_error *error) {
    int status = 0;
    if (self->pid == 0 && self->work != NULL)
        remove_work(self);
    if (self->pid == 0)
        return SB_OK;
    while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR) {
    }
    show_messages(self);
    sb_status result = SB_OK;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        result = sb_error_set(error, SB_ERR_BUILD,
                              "kernel %s could not be built: see the messages "
                              "of the compiler above",
                              self->job->name);
    else
        result = publish(self, error);
    remove_work(self);
    return result;
}

sb_status device_build(device_job *jobs, size_t count, sb_error *error) {
    const char *sources = NULL;
    SB_TRY(device_source_folder(&sources, error));
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t parallel = processors < 1 ? 1 : (size_t)processors;
    if (parallel > PARALLEL_MAX)
        parallel = PARALLEL_MAX;
    build *builds = sb_alloc_zeroed(count, sizeof *builds);
    sb_status status = SB_OK;
    size_t started = 0;
    size_t finished = 0;
    while (finished < started || (started < count && status == SB_OK)) {
        if (started < count && started - finished < parallel && status == SB_OK) {
            builds[started].job = &jobs[started];
            status = start(&builds[started], &builds[finished], sources, error);
            started++;
            continue;
        }
        const sb_status ended = finish(&builds[finished], status == SB_OK ? error : NULL);
        sb_arena_free(&builds[finished].arena);
        finished++;
        status = status == SB_OK ? ended : status;
    }
    free(builds);
    return status;
}

/* ---- the device side's own sources ---- */

static bool holds(const char *path, sb_slice content) {
    sb_file file;
    if (sb_file_open(&file, path, NULL) != SB_OK)
        return false;
    const bool is_same = sb_slice_equal(file.text, content);
    sb_file_close(&file);
    return is_same;
}

static sb_status lay_out(const char *folder, sb_error *error) {
    sb_arena arena = {0};
    sb_status status = SB_OK;
    for (size_t i = 0; i < device_source_file_count && status == SB_OK; i++) {
        const device_source_file *file = &device_source_files[i];
        const char *path = sb_arena_format(&arena, "%s/%s", folder, file->name).data;
        const sb_slice content = {(const char *)file->bytes, file->size};
        if (!holds(path, content))
            status = write_whole(path, content, error);
    }
    sb_arena_free(&arena);
    return status;
}

sb_status device_source_folder(const char **folder, sb_error *error) {
    static _Thread_local char path[4096];
    sb_arena arena = {0};
    sb_key key = {{4, 5}};
    char text[SB_KEY_TEXT];
    for (size_t i = 0; i < device_source_file_count; i++)
        sb_key_add(&key, (sb_slice){(const char *)device_source_files[i].bytes,
                                    device_source_files[i].size});
    sb_key_text(&key, text);
    const char *name = sb_arena_format(&arena, "sources/%s/include/strobe", text).data;
    const char *made = NULL;
    sb_status status = sb_folder_cache(&arena, name, &made, error);
    if (status == SB_OK) {
        snprintf(path, sizeof path, "%.*s", (int)(strlen(made) - strlen("/include/strobe")), made);
        status = lay_out(path, error);
    }
    *folder = path;
    sb_arena_free(&arena);
    return status;
}
