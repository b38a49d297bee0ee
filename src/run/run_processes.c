/* Processes and their sockets, as /proc shows them. */
#include "run/run_parts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct kinship {
    pid_t process;
    pid_t parent;
} kinship;

/* The fields behind the name, which stands in brackets and may hold anything. */
static bool read_stat(pid_t process, char *state, pid_t *parent, pid_t *session) {
    char path[64];
    char text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *behind = strrchr(text, ')');
    int parent_id = 0;
    int group_id = 0;
    int session_id = 0;
    if (behind == NULL)
        return false;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel's numbers */
    if (sscanf(behind + 1, " %c %d %d %d", state, &parent_id, &group_id, &session_id) != 4)
        return false;
    *parent = parent_id;
    *session = session_id;
    return true;
}

bool run_process_is_there(pid_t process) {
    char state = 0;
    pid_t parent = 0;
    pid_t session = 0;
    return read_stat(process, &state, &parent, &session) && state != 'Z' && state != 'X';
}

bool run_process_is_ours(pid_t process) {
    char state = 0;
    pid_t parent = 0;
    pid_t session = 0;
    return read_stat(process, &state, &parent, &session) && session == getsid(0);
}

static void read_all(sb_vector *all) {
    DIR *directory = opendir("/proc");
    if (directory == NULL)
        return;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        char *end = NULL;
        const long process = strtol(entry->d_name, &end, 10);
        kinship found = {.process = (pid_t)process};
        char state = 0;
        pid_t session = 0;
        if (*end == '\0' && process > 0 &&
            read_stat(found.process, &state, &found.parent, &session) && state != 'Z')
            *(kinship *)sb_vector_push(all) = found;
    }
    closedir(directory);
}

static bool has(const sb_vector *processes, pid_t process) {
    for (size_t i = 0; i < processes->count; i++) {
        if (*(pid_t *)sb_vector_at(processes, i) == process)
            return true;
    }
    return false;
}

void run_descendants(sb_vector *processes) {
    sb_vector all = sb_vector_of(sizeof(kinship));
    const pid_t self = getpid();
    bool grows = true;
    sb_vector_clear(processes);
    read_all(&all);
    /* Children may stand before their parents: as often as it brings something. */
    while (grows) {
        grows = false;
        for (size_t i = 0; i < all.count; i++) {
            const kinship *each = sb_vector_at(&all, i);
            if ((each->parent != self && !has(processes, each->parent)) ||
                has(processes, each->process))
                continue;
            *(pid_t *)sb_vector_push(processes) = each->process;
            grows = true;
        }
    }
    sb_vector_free(&all);
}

void run_process_name(pid_t process, char name[48]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
    FILE *file = fopen(path, "re");
    size_t size = 0;
    if (file != NULL) {
        size = fread(name, 1, 47, file);
        fclose(file);
    }
    while (size > 0 && name[size - 1] == '\n')
        size--;
    name[size] = '\0';
    for (char *c = name; *c != '\0'; c++) {
        const bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                              (*c >= '0' && *c <= '9') || *c == '-' || *c == '_';
        if (!is_plain)
            *c = '_';
    }
    if (size == 0)
        memcpy(name, "process", sizeof "process");
}

/* ---- sockets ---- */

static void read_listeners(const char *path, uint16_t first, uint16_t last, sb_vector *listeners) {
    enum { LISTENS = 0x0A };
    char line[512];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned port = 0;
        unsigned state = 0;
        uint64_t inode = 0;
        /* sl local:port remote:port state queues timer retransmits uid timeout inode */
        // NOLINTNEXTLINE(cert-err34-c): the kernel's numbers
        if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %*s %*s %" SCNu64, &port,
                   &state, &inode) == 3 &&
            state == LISTENS && port >= first && port <= last)
            *(run_listener *)sb_vector_push(listeners) = (run_listener){(uint16_t)port, inode};
    }
    fclose(file);
}

void run_listeners(uint16_t first, uint16_t last, sb_vector *listeners) {
    sb_vector_clear(listeners);
    read_listeners("/proc/net/tcp", first, last, listeners);
    read_listeners("/proc/net/tcp6", first, last, listeners);
}

static bool has_socket(pid_t process, uint64_t inode) {
    char folder[64];
    char wanted[64];
    char target[64];
    bool is_found = false;
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)process);
    snprintf(wanted, sizeof wanted, "socket:[%" PRIu64 "]", inode);
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return false;
    for (const struct dirent *entry = readdir(directory); entry != NULL && !is_found;
         entry = readdir(directory)) {
        const ssize_t size = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);
        if (size > 0) {
            target[size] = '\0';
            is_found = strcmp(target, wanted) == 0;
        }
    }
    closedir(directory);
    return is_found;
}

pid_t run_listener_owner(const sb_vector *processes, uint64_t inode) {
    for (size_t i = 0; i < processes->count; i++) {
        const pid_t process = *(pid_t *)sb_vector_at(processes, i);
        if (has_socket(process, inode))
            return process;
    }
    return 0;
}
