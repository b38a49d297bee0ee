/* The target's process group: launch, signals, terminal, end. */
#include "run/run_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MS = 1000000,        /* nanoseconds */
    PATIENCE_MS = 10000, /* a program that was told to end and does not is killed */
    POLITE_MS = 2000,    /* the same for what it left behind */
    COULD_NOT_EXECUTE = 127,
};

/* Those that we pass on, and those that tell of children. */
static const int watched[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM,
                              SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};

static bool ends_programs(int signal_number) {
    return signal_number == SIGHUP || signal_number == SIGINT || signal_number == SIGTERM ||
           signal_number == SIGQUIT;
}

/* ---- launch ---- */

/* Gives the terminal to a group; we may not be in the foreground when we do. */
static void lend_terminal(int terminal, pid_t group) {
    sigset_t stop;
    sigset_t before;
    if (terminal < 0)
        return;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    sigprocmask(SIG_BLOCK, &stop, &before);
    tcsetpgrp(terminal, group);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* In the child: as the target would find itself if a shell had started it. */
static void become(const run_target *target, const run_group *group, int report) {
    setpgid(0, 0);
    lend_terminal(group->terminal, getpid());
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        /* What whoever started us wants ignored stays ignored. */
        const bool is_ignored = sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        if (!is_ignored || i == SIGXFSZ)
            signal(i, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &group->old_mask, NULL);
    execve(target->path, target->arguments, target->environment);
    const int reason = errno;
    (void)!write(report, &reason, sizeof reason);
    _exit(COULD_NOT_EXECUTE);
}

static void watch_signals(run_group *group) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        sigaddset(&set, watched[i]);
    sigprocmask(SIG_BLOCK, &set, &group->old_mask);
    group->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

sb_status run_launch(const run_target *target, run_group *group, sb_error *error) {
    int report[2];
    int reason = 0;
    *group = (run_group){.signals = -1, .terminal = -1};
    if (pipe(report) != 0)
        SB_FAIL(error, SB_ERR_IO, "%s cannot be started: %s", target->name, strerror(errno));
    fcntl(report[0], F_SETFD, FD_CLOEXEC);
    fcntl(report[1], F_SETFD, FD_CLOEXEC);
    if (isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp())
        group->terminal = STDIN_FILENO;
    /* Orphans among the target's children become ours, so that none is lost sight of. */
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    watch_signals(group);
    group->target = fork();
    if (group->target == 0)
        become(target, group, report[1]);
    close(report[1]);
    if (group->target < 0)
        reason = errno;
    else if (read(report[0], &reason, sizeof reason) != sizeof reason)
        reason = 0; /* closed by a successful exec */
    close(report[0]);
    if (reason == 0) {
        setpgid(group->target, group->target);
        return SB_OK;
    }
    if (group->target > 0)
        waitpid(group->target, NULL, 0);
    run_group_close(group);
    if (reason == ENOENT && access(target->path, F_OK) == 0)
        SB_FAIL(error, SB_ERR_IO,
                "%s cannot be started: the interpreter that it names is not there", target->path);
    SB_FAIL(error, SB_ERR_IO, "%s cannot be started: %s", target->path, strerror(reason));
}

/* ---- while it runs ---- */

/* The target was stopped, by Ctrl-Z for one: so are we, until somebody continues us. */
static void stop_with_target(const run_group *group) {
    lend_terminal(group->terminal, getpgrp());
    raise(SIGSTOP);
    lend_terminal(group->terminal, group->target);
    kill(-group->target, SIGCONT);
}

static void reap(run_group *group) {
    int status = 0;
    for (pid_t ended = waitpid(-1, &status, WNOHANG | WUNTRACED); ended > 0;
         ended = waitpid(-1, &status, WNOHANG | WUNTRACED)) {
        if (ended != group->target)
            continue;
        if (WIFSTOPPED(status)) {
            if (group->terminal >= 0)
                stop_with_target(group);
            continue;
        }
        group->has_ended = true;
        group->wait_status = status;
    }
}

static void pass_on(run_group *group, int signal_number) {
    kill(-group->target, signal_number);
    if (ends_programs(signal_number) && group->told_to_end_ns == 0)
        group->told_to_end_ns = sb_clock_ns();
}

void run_group_wait(run_group *group, int other, int timeout_ms) {
    struct pollfd polled[] = {{group->signals, POLLIN, 0}, {other, POLLIN, 0}};
    struct signalfd_siginfo info;
    poll(polled, sizeof polled / sizeof polled[0], timeout_ms);
    while (read(group->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            pass_on(group, (int)info.ssi_signo);
    }
    reap(group);
    const int64_t patience_ns = (int64_t)PATIENCE_MS * MS;
    if (!group->has_ended && group->told_to_end_ns != 0 &&
        sb_clock_ns() - group->told_to_end_ns > patience_ns)
        kill(-group->target, SIGKILL);
}

/* ---- the end ---- */

/* Sends it (0: nothing) to what is left of the target's. How many there are. */
static size_t signal_left(int signal_number) {
    sb_vector left = sb_vector_of(sizeof(pid_t));
    size_t count = 0;
    run_descendants(&left);
    for (size_t i = 0; i < left.count; i++) {
        const pid_t process = *(pid_t *)sb_vector_at(&left, i);
        if (!run_process_is_ours(process))
            continue; /* a daemon: it has left us on purpose */
        count++;
        if (signal_number != 0)
            kill(process, signal_number);
    }
    sb_vector_free(&left);
    return count;
}

static bool wait_for_all(run_group *group, int patience_ms) {
    enum { STEP_MS = 20 };
    const int64_t end = sb_clock_ns() + (int64_t)patience_ms * MS;
    while (signal_left(0) > 0) {
        if (sb_clock_ns() > end)
            return false;
        run_group_wait(group, -1, STEP_MS);
    }
    return true;
}

size_t run_group_end(run_group *group) {
    const size_t left = signal_left(SIGTERM);
    if (left == 0)
        return 0;
    kill(-group->target, SIGCONT); /* what is stopped cannot end */
    if (!wait_for_all(group, POLITE_MS)) {
        signal_left(SIGKILL);
        wait_for_all(group, POLITE_MS);
    }
    return left;
}

void run_group_close(run_group *group) {
    lend_terminal(group->terminal, getpgrp());
    if (group->signals >= 0)
        close(group->signals);
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    sigprocmask(SIG_SETMASK, &group->old_mask, NULL);
}
