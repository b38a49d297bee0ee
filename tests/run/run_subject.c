/*
 * A program to be run by `strobe run`: records a hundred zones, then ends in the way that its
 * arguments name, one after the other.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strobe/strobe.h>

static void work(int count) {
    for (int i = 0; i < count; i++) {
        ZoneScopedN("work");
        sb_zone_value(sb_this_zone, (uint64_t)i);
    }
}

static void signpost(const char *text) {
    sb_message(SB_SEVERITY_INFO, 0, 0, text, strlen(text));
}

static void fork_child(void) {
#ifdef __SANITIZE_ADDRESS__
    /* The allocator of the sanitizer does not keep its locks in order over a fork: the child waits
       for ever if a thread, here the library's at its start, was allocating. */
    usleep(100000);
#endif
    const pid_t child = fork();
    if (child == 0) {
        work(50);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

/* Ours, and what others have opened in this process as well; then files of our own. */
static void close_everything(void) {
    enum { DESCRIPTORS = 64 };
    for (int i = 0; i < DESCRIPTORS; i++)
        close(i);
    const int victim = open("victim", O_RDWR | O_CREAT, 0666);
    for (int i = victim + 1; i < DESCRIPTORS; i++)
        dup2(victim, i);
    work(1000000);
}

static void chatter(void) {
    static char line[1 << 16];
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 20000; i++)
        fwrite(line, 1, sizeof line, stdout);
}

static void hang_at_exit(void) {
    for (;;)
        pause();
}

static void perform(const char *what) {
    if (strcmp(what, "signpost") == 0)
        signpost("`TT_SIGNPOST: here`");
    else if (strcmp(what, "fork") == 0)
        fork_child();
    else if (strcmp(what, "segfault") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would take it for a mistake of ours */
        raise(SIGSEGV);
    } else if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(what, "_exit") == 0)
        _exit(0);
    else if (strcmp(what, "fail") == 0)
        exit(7);
    else if (strcmp(what, "close") == 0)
        close_everything();
    else if (strcmp(what, "chatter") == 0)
        chatter();
    else if (strcmp(what, "hang") == 0)
        atexit(hang_at_exit);
    else if (strcmp(what, "ignore") == 0)
        signal(SIGTERM, SIG_IGN);
    else if (strcmp(what, "away") == 0 && chdir("/") != 0)
        exit(9);
}

int main(int count, char **arguments) {
    work(100);
    for (int i = 1; i < count; i++)
        perform(arguments[i]);
    return 0;
}
