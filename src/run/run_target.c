/*
 * What to execute: a program, or a Python interpreter with a script or a module; and in which
 * environment.
 */
#include "run/run_parts.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* ---- finding files ---- */

static bool is_executable(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* As a shell finds a command; NULL: it is not there. */
static const char *find_command(sb_arena *arena, const char *name) {
    if (strchr(name, '/') != NULL)
        return access(name, F_OK) == 0 ? name : NULL;
    const char *folders = getenv("PATH");
    sb_slice rest = sb_slice_of(folders == NULL ? "/usr/local/bin:/usr/bin:/bin" : folders);
    while (rest.size > 0) {
        const sb_slice folder = sb_slice_cut(rest, ':', &rest);
        const char *path =
            sb_arena_format(arena, "%.*s/%s", (int)folder.size, folder.data, name).data;
        if (folder.size > 0 && is_executable(path))
            return path;
    }
    return NULL;
}

static const char *find_python(sb_arena *arena) {
    const char *chosen = getenv("PYTHON");
    if (chosen != NULL && chosen[0] != '\0')
        return find_command(arena, chosen);
    const char *found = find_command(arena, "python3");
    return found != NULL ? found : find_command(arena, "python");
}

/* What a file is, as its name and its first bytes tell. */
typedef enum file_kind {
    FILE_BINARY,
    FILE_PYTHON, /* a script, what it is compiled to, or a folder or archive with __main__.py */
    FILE_SCRIPT, /* of another interpreter, which its first line names */
    FILE_TEXT,   /* names no interpreter */
} file_kind;

static file_kind kind_of_bytes(sb_slice bytes) {
    sb_slice rest;
    const sb_slice first = sb_slice_cut(bytes, '\n', &rest);
    if (sb_slice_starts_with(first, "#!"))
        return sb_slice_contains(first, "python") ? FILE_PYTHON : FILE_SCRIPT;
    if (sb_slice_starts_with(bytes, "PK\003\004"))
        return FILE_PYTHON;
    return bytes.size > 0 && memchr(bytes.data, '\0', bytes.size) != NULL ? FILE_BINARY : FILE_TEXT;
}

static file_kind kind_of_file(sb_arena *arena, const char *path) {
    char bytes[256];
    const sb_slice name = sb_slice_of(path);
    if (sb_slice_ends_with(name, ".py") || sb_slice_ends_with(name, ".pyc"))
        return FILE_PYTHON;
    if (sb_folder_is(path))
        return access(sb_arena_format(arena, "%s/__main__.py", path).data, F_OK) == 0 ? FILE_PYTHON
                                                                                      : FILE_BINARY;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return FILE_BINARY; /* a program may be executed without being read */
    const ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    return kind_of_bytes((sb_slice){bytes, size > 0 ? (size_t)size : 0});
}

/* ---- the Python package ---- */

typedef struct python_package {
    bool is_there;
    const char *folder; /* for PYTHONPATH; NULL: the interpreter finds it by itself */
    const char *site;   /* what Python processes load that are not started by us */
} python_package;

/*
 * The package lies where the binary does: in the build tree, in an installation, or around the
 * binary, if that is part of the package.
 */
static python_package find_package(sb_arena *arena) {
    static const char *const places[] = {"../python", STROBE_PYTHON_PLACE};
    char self[PATH_MAX];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size <= 0)
        return (python_package){0};
    self[size] = '\0';
    *strrchr(self, '/') = '\0';
    if (access(sb_arena_format(arena, "%s/../_run.py", self).data, F_OK) == 0)
        return (python_package){.is_there = true,
                                .site = sb_arena_format(arena, "%s/../_site", self).data};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *folder = sb_arena_format(arena, "%s/%s", self, places[i]).data;
        if (access(sb_arena_format(arena, "%s/tracy/_run.py", folder).data, F_OK) == 0)
            return (python_package){.is_there = true,
                                    .folder = folder,
                                    .site = sb_arena_format(arena, "%s/tracy/_site", folder).data};
    }
    return (python_package){0};
}

/* ---- command line ---- */

/* Scripts are looked for here, as Python does; what has no ending in PATH first, as shells do. */
static const char *find_target(sb_arena *arena, const char *name) {
    assert(name != NULL);
    const bool is_here = access(name, F_OK) == 0;
    if (is_here && sb_slice_ends_with(sb_slice_of(name), ".py"))
        return name;
    const char *path = find_command(arena, name);
    return path != NULL ? path : is_here ? name : NULL;
}

static void add(sb_vector *list, const char *text) {
    const size_t size = strlen(text) + 1;
    *(char **)sb_vector_push(list) = memcpy(sb_alloc(size), text, size);
}

static void add_runner(const sb_run_options *options, sb_vector *arguments) {
    add(arguments, "-m");
    add(arguments, "tracy._run");
    if (options->partial)
        add(arguments, "--partial");
    if (options->lines)
        add(arguments, "--lines");
    if (options->is_module)
        add(arguments, "--module");
    add(arguments, "--");
}

static sb_status use_python(const sb_run_options *options, bool has_package, sb_arena *arena,
                            run_target *target, sb_vector *arguments, sb_error *error) {
    target->path = find_python(arena);
    target->is_python = true;
    target->lacks_package = !has_package;
    if (target->path == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND,
                "%s needs Python, and there is none in PATH; $PYTHON may name one", target->name);
    add(arguments, target->path);
    if (has_package)
        add_runner(options, arguments);
    else if (options->is_module)
        add(arguments, "-m");
    return SB_OK;
}

/* As a shell starts it, but that Python's scripts need not be executable. */
static sb_status use_file(const sb_run_options *options, bool has_package, sb_arena *arena,
                          run_target *target, sb_vector *arguments, sb_error *error) {
    const char *path = find_target(arena, target->name);
    if (path == NULL)
        SB_FAIL(error, SB_ERR_NOT_FOUND, "%s: there is no such program or script", target->name);
    const file_kind kind = kind_of_file(arena, path);
    const bool runs = is_executable(path);
    if (kind == FILE_PYTHON || (kind == FILE_TEXT && !runs)) {
        SB_TRY(use_python(options, has_package, arena, target, arguments, error));
        add(arguments, path);
        return SB_OK;
    }
    if (sb_folder_is(path))
        SB_FAIL(error, SB_ERR_USAGE, "%s is a folder without __main__.py, not a program", path);
    if (!runs)
        SB_FAIL(error, SB_ERR_IO, "%s may not be executed; 'chmod +x' allows it", path);
    target->path = path;
    if (kind == FILE_TEXT) {
        target->path = "/bin/sh";
        add(arguments, "sh");
        add(arguments, path);
    } else {
        add(arguments, target->name);
    }
    return SB_OK;
}

static sb_status make_command(const sb_run_options *options, bool has_package, sb_arena *arena,
                              run_target *target, sb_vector *arguments, sb_error *error) {
    assert(options->command_count > 0);
    target->name = options->command[0];
    if (target->name[0] == '\0')
        SB_FAIL(error, SB_ERR_USAGE, "the name of the program is empty");
    if (options->is_module) {
        SB_TRY(use_python(options, has_package, arena, target, arguments, error));
        add(arguments, target->name);
    } else {
        SB_TRY(use_file(options, has_package, arena, target, arguments, error));
    }
    for (size_t i = 1; i < options->command_count; i++)
        add(arguments, options->command[i]);
    return SB_OK;
}

/* ---- environment ---- */

static bool is_variable(const char *entry, const char *name) {
    const size_t size = strlen(name);
    return strncmp(entry, name, size) == 0 && entry[size] == '=';
}

static void set_variable(sb_vector *environment, sb_arena *arena, const char *name,
                         const char *value) {
    for (size_t i = 0; i < environment->count; i++) {
        char **entry = sb_vector_at(environment, i);
        if (!is_variable(*entry, name))
            continue;
        free(*entry);
        *entry = *(char **)sb_vector_at(environment, environment->count - 1);
        environment->count--;
        break;
    }
    if (value != NULL)
        add(environment, sb_arena_format(arena, "%s=%s", name, value).data);
}

/*
 * Lets Python find the package. The runner of a Python target tells the processes that this one
 * starts; behind other programs, such as a shell, we have to do it.
 */
static void add_package(const sb_run_options *options, const python_package *package,
                        bool is_python, sb_vector *environment, sb_arena *arena) {
    const char *before = getenv("PYTHONPATH");
    const char *parts[] = {is_python ? NULL : package->site, package->folder, before};
    const char *path = "";
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i] != NULL && parts[i][0] != '\0')
            path =
                sb_arena_format(arena, "%s%s%s", path, path[0] == '\0' ? "" : ":", parts[i]).data;
    }
    if (path[0] != '\0')
        set_variable(environment, arena, "PYTHONPATH", path);
    if (!is_python)
        set_variable(environment, arena, "STROBE_PYTHON",
                     sb_arena_format(arena, "%s%s", options->lines ? "--lines " : "",
                                     options->partial ? "--partial" : "")
                         .data);
}

/* How both kinds of clients are told to record; a reader of another kind is to find nothing. */
static void add_recording(const sb_run_options *options, const char *processes_folder,
                          sb_vector *environment, sb_arena *arena) {
    if (options->port != 0)
        set_variable(environment, arena, "TRACY_PORT",
                     sb_arena_format(arena, "%u", options->port).data);
    if (options->without_recorder) {
        set_variable(environment, arena, "STROBE_OUT", NULL);
        set_variable(environment, arena, "STROBE_PROCESS_LOGS", NULL);
        return;
    }
    set_variable(environment, arena, "STROBE_OUT",
                 sb_arena_format(arena, "%s/%%n-%%p.rec", processes_folder).data);
    set_variable(environment, arena, "STROBE_PROCESS_LOGS", processes_folder);
    set_variable(environment, arena, "TRACY_NO_EXIT", "1");
}

static char **finish_list(sb_vector *list) {
    *(char **)sb_vector_push(list) = NULL;
    return (char **)(void *)list->data;
}

sb_status run_target_find(const sb_run_options *options, const char *processes_folder,
                          sb_arena *arena, run_target *target, sb_error *error) {
    sb_vector arguments = sb_vector_of(sizeof(char *));
    sb_vector environment = sb_vector_of(sizeof(char *));
    const python_package package = find_package(arena);
    *target = (run_target){0};
    const sb_status status =
        make_command(options, package.is_there, arena, target, &arguments, error);
    for (char **entry = environ; *entry != NULL; entry++)
        add(&environment, *entry);
    add_recording(options, processes_folder, &environment, arena);
    if (package.is_there)
        add_package(options, &package, target->is_python, &environment, arena);
    for (size_t i = 0; i < options->variable_count; i++)
        set_variable(&environment, arena, options->variables[i].name, options->variables[i].value);
    target->arguments = finish_list(&arguments);
    target->environment = finish_list(&environment);
    return status;
}

static void free_list(char **list) {
    for (char **entry = list; *entry != NULL; entry++)
        free(*entry);
    free(list);
}

void run_target_free(run_target *target) {
    free_list(target->arguments);
    free_list(target->environment);
}
