#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts the program with the end of a pipe as its standard output. */
static pid_t start(const char *const *arguments, int output) {
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    char *const *words = NULL;
    /* posix_spawnp does not change the arguments; its type is older than const. */
    memcpy(&words, &arguments, sizeof words);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    const int failed = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed == 0 ? pid : -1;
}

static void collect(int input, size_t limit, sb_output *text) {
    char block[4096];
    for (;;) {
        const ssize_t got = read(input, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        const size_t taken = (size_t)got < limit ? (size_t)got : limit;
        sb_put(text, (sb_slice){block, taken});
        limit -= taken;
    }
}

enum { SIGNAL_BASE = 128 }; /* as shells have it */

int sb_process_run(const char *const *arguments, size_t limit, sb_output *text) {
    int ends[2];
    int status = 0;
    if (pipe(ends) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC); /* what is started elsewhere must not keep it open */
    const pid_t pid = start(arguments, ends[1]);
    close(ends[1]);
    if (pid > 0)
        collect(ends[0], limit, text);
    close(ends[0]);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_BASE + WTERMSIG(status);
}
