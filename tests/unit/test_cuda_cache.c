/*
 * Code that was built in one process and is found by the next (src/cuda/cuda_cache.h), with a
 * compiler that counts what it compiles (cuda_fake_driver.h). Each build is a process of its own.
 */
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <strobe/cuda_host.h>

#include "cuda/cuda_driver.h"
#include "cuda_fake_driver.h"
#include "testing.h"

static const char kernel[] = "#include <strobe/cuda.h>\nkernel";

static test_folder folder; /* the cache */
static test_folder sources;

static int begin(void **state) {
    (void)state;
    folder = make_folder();
    sources = make_folder();
    setenv("STROBE_CACHE", folder.path, 1);
    unsetenv("STROBE_CUDA_CACHE");
    unsetenv("NVRTC_APPEND_FLAGS");
    return 0;
}

static test_folder inner(void) {
    test_folder kept = {.path = ""};
    snprintf(kept.path, sizeof kept.path, "%.40s/cuda", folder.path);
    return kept;
}

static int end(void **state) {
    (void)state;
    const test_folder kept = inner();
    if (access(kept.path, F_OK) == 0)
        remove_folder(&kept);
    remove_folder(&folder);
    remove_folder(&sources);
    return 0;
}

/* ---- builds ---- */

enum { OPTIONS_MOST = 4 };

typedef struct build {
    const char *source; /* NULL: the kernel above */
    const char *name;
    const char *options[OPTIONS_MOST];
    int capability;
    int version;
    bool has_zones;
    const char *overwrites;
    const char *brings;
    rlim_t file_limit;
    bool is_nobody; /* where it was the administrator */
} build;

typedef struct outcome {
    sb_status status;
    int compilations;
    char loaded[128];
} outcome;

static fake_state *load_driver(void) {
    static struct calls { fake_state *(*get)(void); } calls;
    static const cuda_symbol symbols[] = {{"fake_get", offsetof(struct calls, get)}};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == NULL || cuda_find_symbols(driver, symbols, 1, &calls) != NULL)
        _exit(1);
    return calls.get();
}

static void restrict_self(const build *self) {
    const struct rlimit limit = {.rlim_cur = self->file_limit, .rlim_max = self->file_limit};
    if (self->file_limit != 0)
        setrlimit(RLIMIT_FSIZE, &limit);
    if (self->is_nobody && geteuid() == 0 && seteuid(65534) != 0)
        _exit(1);
}

static outcome build_here(const build *self) {
    fake_state *fake = load_driver();
    sb_cuda_module *module = NULL;
    sb_cuda_build_options options = {.source = self->source != NULL ? self->source : kernel,
                                     .name = self->name,
                                     .options = self->options,
                                     .without_zones = !self->has_zones};
    outcome result = {0};
    while (options.option_count < OPTIONS_MOST && self->options[options.option_count] != NULL)
        options.option_count++;
    fake->capability = self->capability;
    fake->version = self->version;
    fake->overwrites = self->overwrites;
    fake->brings = self->brings;
    restrict_self(self);
    result.status = sb_cuda_build(&options, &module, NULL);
    result.compilations = fake->compilations;
    memcpy(result.loaded, fake->loaded, sizeof result.loaded);
    return result;
}

typedef struct running {
    pid_t process;
    int from;
} running;

static running start(const build *self) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const running started = {.process = fork(), .from = ends[0]};
    if (started.process == 0) {
        const outcome result = build_here(self);
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(ends[1]);
    return started;
}

static outcome finish(const running *started) {
    outcome result;
    int status = 0;
    assert_int_equal(read(started->from, &result, sizeof result), sizeof result);
    close(started->from);
    assert_int_equal(waitpid(started->process, &status, 0), started->process);
    assert_int_equal(status, 0);
    return result;
}

/* How many times the source was compiled; what was loaded is that of this source. */
static int compilations(const build *self) {
    char expected[128];
    const running started = start(self);
    const outcome result = finish(&started);
    assert_int_equal(result.status, SB_OK);
    snprintf(expected, sizeof expected, "%s of %.63s",
             self->capability > 100 ? ".version" : "machine code",
             self->source != NULL ? self->source : kernel);
    assert_string_equal(result.loaded, expected);
    return result.compilations;
}

static void check_built(const build *self) {
    assert_int_equal(compilations(self), 1);
}

static void check_found(const build *self) {
    assert_int_equal(compilations(self), 0);
}

static void check_built_once(const build *self) {
    check_built(self);
    check_found(self);
}

/* Nothing is kept of it. */
static void check_built_always(const build *self) {
    const test_folder kept = inner();
    const size_t before = access(kept.path, F_OK) == 0 ? count_files(&kept) : 0;
    check_built(self);
    check_built(self);
    assert_int_equal(access(kept.path, F_OK) == 0 ? count_files(&kept) : 0, before);
}

static void write_source(const char *name, const char *text) {
    write_file(path_in(&sources, name), sb_slice_of(text));
}

/* ---- cases ---- */

static void the_next_process_compiles_nothing(void **state) {
    (void)state;
    check_built_once(&(build){.has_zones = true});
    check_built_once(&(build){.has_zones = false});
    check_found(&(build){.has_zones = true});
}

static void what_differs_is_compiled(void **state) {
    (void)state;
    check_built_once(&(build){0});
    check_built_once(&(build){.source = "another"});
    check_built_once(&(build){.name = "another.cu"});
    check_built_once(&(build){.options = {"-DN=1"}});
    check_built_once(&(build){.options = {"-DN=2"}});
    check_built_once(&(build){.options = {"-DN=1", "--use_fast_math"}});
    check_built_once(&(build){.options = {"--std=c++20", "-D", "A", "-maxrregcount=32"}});
    check_built_once(&(build){.capability = 80});
    check_built_once(&(build){.version = 131});
    check_built_once(&(build){.capability = 120});
    check_built_once(&(build){.capability = 100});
    check_found(&(build){0});
}

/* PTX is the same for all GPUs that are newer than the compiler. */
static void targets_are_shared(void **state) {
    (void)state;
    check_built_once(&(build){.capability = 120});
    check_found(&(build){.capability = 121});
}

static void sources_that_are_wrong_are_told_each_time(void **state) {
    (void)state;
    const build wrong = {.source = "#error"};
    for (int i = 0; i < 2; i++) {
        const running started = start(&wrong);
        const outcome result = finish(&started);
        assert_int_equal(result.status, SB_ERR_BUILD);
        assert_int_equal(result.compilations, 1);
    }
}

static void what_is_included_counts(void **state) {
    (void)state;
    char option[96];
    char name[96];
    snprintf(option, sizeof option, "-I%s", sources.path);
    snprintf(name, sizeof name, "%s/kernel.cu", sources.path);
    const build by_option = {.source = "#include <a.h>", .options = {option}};
    const build in_two = {.source = "#include <a.h>", .options = {"-I", option + 2}};
    const build beside = {.source = "# \\\n include \"a.h\"", .name = name};
    write_source("a.h", "#pragma once\n%:include_next \"b.h\" // next\n#include \"a.h\"");
    write_source("b.h", "one");
    check_built_once(&by_option);
    check_built_once(&in_two);
    check_built_once(&beside);
    write_source("b.h", "two");
    check_built_once(&by_option);
    check_built_once(&in_two);
    check_built_once(&beside);
    write_source("b.h", "one");
    check_found(&by_option);
}

/* Of two folders, the first one that has it; whether there is a file may be asked. */
static void files_that_appear_count(void **state) {
    (void)state;
    const test_folder first = make_folder();
    char before[96];
    char option[96];
    snprintf(before, sizeof before, "--include-path=%s", first.path);
    snprintf(option, sizeof option, "-I=%s", sources.path);
    const build included = {.source = "#include <a.h>", .options = {before, option}};
    const build asked = {.source = "#if __has_include(<b.h>)", .options = {before, option}};
    write_source("a.h", "one");
    check_built_once(&included);
    check_built_once(&asked);
    write_file(path_in(&first, "a.h"), sb_slice_of("two"));
    write_file(path_in(&first, "b.h"), sb_slice_of("two"));
    check_built_once(&included);
    check_built_once(&asked);
    remove_folder(&first);
}

static void what_is_not_certain_is_not_kept(void **state) {
    (void)state;
    static const char *const odd[] = {
        "#include HEADER",     "#include </nowhere.h>",          "#/**/include \"a.h\"",
        "int t = __TIME__[0]", "#include /* */ <a.h>",           "?\?=include <a.h>",
        "#embed \"a.h\"",      "#if __has_include(HEADER)",      "import <a.h>;",
        "#include \"a.h",      "#include <odd.h>\n// and so on", "#include \"/dev/null\""};
    char option[96];
    snprintf(option, sizeof option, "-I%s", sources.path);
    write_source("a.h", "one");
    write_source("odd.h", "  #  include\tMACRO");
    for (size_t i = 0; i < COUNT_OF(odd); i++)
        check_built_always(&(build){.source = odd[i], .options = {option}});
    check_built_always(&(build){.options = {"--time=times.csv"}});
    check_built_always(&(build){.options = {"-lineinfo", "--pch"}});
    check_built_always(&(build){.options = {"-DT=__TIME__"}});
    check_built_once(&(build){.options = {"-lineinfo"}});
    setenv("NVRTC_APPEND_FLAGS", "-G", 1);
    check_built_always(&(build){0});
}

/* The compiler has compiled it, and says that there is no such file: it was not included. */
static void what_is_nowhere_is_not_included(void **state) {
    (void)state;
    char option[96];
    snprintf(option, sizeof option, "-I%s", sources.path);
    const char *source = "int a;\n#ifdef HOST\n#include <nowhere.h>\n#include <utility>\n#endif";
    check_built_once(&(build){.source = source, .options = {option}});
    write_source("nowhere.h", "one");
    check_built_once(&(build){.source = source, .options = {option}});
    check_built_always(&(build){.source = source, .brings = "<utility>"});
    check_built_once(&(build){.source = source});
}

static void a_file_that_changes_meanwhile_is_not_kept(void **state) {
    (void)state;
    char option[96];
    snprintf(option, sizeof option, "-I%s", sources.path);
    write_source("a.h", "one");
    build changing = {.source = "#include <a.h>", .options = {option}};
    changing.overwrites = path_in(&sources, "a.h");
    check_built(&changing);
    changing.overwrites = NULL;
    check_built_once(&changing);
    write_source("a.h", "one");
    check_built_once(&changing);
}

/* ---- the folder ---- */

/* The one file that is kept. */
static void find_kept(char path[256]) {
    const test_folder kept = inner();
    DIR *directory = opendir(kept.path);
    assert_non_null(directory);
    assert_int_equal(count_files(&kept), 1);
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        if (entry->d_name[0] != '.')
            snprintf(path, 256, "%s/%.100s", kept.path, entry->d_name);
    closedir(directory);
}

static void files_that_are_damaged_are_replaced(void **state) {
    (void)state;
    char path[256] = "";
    check_built_once(&(build){0});
    find_kept(path);
    assert_int_equal(truncate(path, 60), 0);
    check_built_once(&(build){0});
    assert_int_equal(truncate(path, 0), 0);
    check_built_once(&(build){0});
    write_file(path, sb_slice_of("something else, which is long enough to be taken for a head"));
    check_built_once(&(build){0});
}

/* Of another source, or through a link. */
static void files_under_a_wrong_name_are_replaced(void **state) {
    (void)state;
    char path[256] = "";
    check_built_once(&(build){0});
    find_kept(path);
    const char *other = path_in(&sources, "other");
    assert_int_equal(rename(path, other), 0);
    check_built_once(&(build){.source = "another"});
    char wrong[256] = "";
    find_kept(wrong);
    assert_int_equal(rename(wrong, path), 0);
    check_built_once(&(build){0});
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(other, path), 0);
    check_built_once(&(build){0});
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISREG(status.st_mode));
}

static void set_modes(mode_t mode) {
    assert_int_equal(chmod(inner().path, mode), 0);
    assert_int_equal(chmod(folder.path, mode), 0);
}

/* What is there is found, and the rest is built. */
static void folders_that_cannot_be_written_are_read(void **state) {
    (void)state;
    char path[256] = "";
    check_built_once(&(build){0});
    find_kept(path);
    if (geteuid() == 0)
        assert_int_equal(chown(path, 65534, (gid_t)-1), 0);
    set_modes(0555);
    check_found(&(build){.is_nobody = true});
    check_built_always(&(build){.source = "another", .is_nobody = true});
    set_modes(0755);
}

static void without_a_folder_all_is_built(void **state) {
    (void)state;
    static const char *const variables[] = {"XDG_CACHE_HOME", "HOME"};
    char *before[COUNT_OF(variables)];
    setenv("STROBE_CACHE", "/proc/nothing", 1);
    check_built_always(&(build){0});
    unsetenv("STROBE_CACHE");
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        const char *value = getenv(variables[i]);
        before[i] = value != NULL ? strdup(value) : NULL;
        unsetenv(variables[i]);
    }
    check_built_always(&(build){0});
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        if (before[i] != NULL)
            setenv(variables[i], before[i], 1);
        free(before[i]);
    }
}

static void where_files_may_not_grow_all_is_built(void **state) {
    (void)state;
    check_built_always(&(build){.file_limit = 16});
}

static void it_can_be_turned_off(void **state) {
    (void)state;
    setenv("STROBE_CUDA_CACHE", "0", 1);
    check_built_always(&(build){0});
    assert_int_equal(count_files(&folder), 0);
}

static void processes_do_not_disturb_each_other(void **state) {
    (void)state;
    enum { PROCESSES = 8, ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        running all[PROCESSES];
        char source[32];
        snprintf(source, sizeof source, "source %d", round);
        const build same = {.source = source};
        for (size_t i = 0; i < PROCESSES; i++)
            all[i] = start(&same);
        for (size_t i = 0; i < PROCESSES; i++) {
            const outcome result = finish(&all[i]);
            assert_int_equal(result.status, SB_OK);
            check_contains(sb_slice_of(result.loaded), source);
        }
        check_found(&same);
    }
    const test_folder kept = inner();
    assert_int_equal(count_files(&kept), ROUNDS);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_next_process_compiles_nothing),
        CASE(what_differs_is_compiled),
        CASE(targets_are_shared),
        CASE(sources_that_are_wrong_are_told_each_time),
        CASE(what_is_included_counts),
        CASE(files_that_appear_count),
        CASE(what_is_not_certain_is_not_kept),
        CASE(what_is_nowhere_is_not_included),
        CASE(a_file_that_changes_meanwhile_is_not_kept),
        CASE(files_that_are_damaged_are_replaced),
        CASE(files_under_a_wrong_name_are_replaced),
        CASE(folders_that_cannot_be_written_are_read),
        CASE(without_a_folder_all_is_built),
        CASE(where_files_may_not_grow_all_is_built),
        CASE(it_can_be_turned_off),
        CASE(processes_do_not_disturb_each_other),
    };
    return RUN(tests);
}
