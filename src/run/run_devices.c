/*
 * Logs of devices. Every process writes them into a folder of its own, processes/PID/.logs, so that
 * two that use a device do not write into one file. Those of the main process belong into .logs;
 * the folders of others become whole, with their trace, so that a report can be made of each.
 */
#include "run/run_parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_number(const char *name) {
    return name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
}

/* Removes all files of a folder that has no folders, and itself. */
static void remove_flat(const char *folder) {
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(folder);
}

void run_devices_remove(const char *processes_folder) {
    sb_arena arena = {0};
    DIR *directory = opendir(processes_folder);
    if (directory == NULL)
        return;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (!is_number(entry->d_name))
            continue;
        const char *folder = sb_arena_format(&arena, "%s/%s", processes_folder, entry->d_name).data;
        remove_flat(sb_arena_format(&arena, "%s/.logs", folder).data);
        rmdir(folder);
    }
    closedir(directory);
    sb_arena_free(&arena);
}

bool run_devices_has(const char *processes_folder, pid_t process) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/%d/.logs", processes_folder, (int)process);
    return sb_folder_is(folder);
}

void run_devices_take(const char *processes_folder, pid_t process, const char *logs) {
    sb_arena arena = {0};
    const char *folder = sb_arena_format(&arena, "%s/%d", processes_folder, (int)process).data;
    const char *from = sb_arena_format(&arena, "%s/.logs", folder).data;
    DIR *directory = opendir(from);
    if (directory != NULL) {
        for (const struct dirent *entry = readdir(directory); entry != NULL;
             entry = readdir(directory)) {
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                rename(sb_arena_format(&arena, "%s/%s", from, entry->d_name).data,
                       sb_arena_format(&arena, "%s/%s", logs, entry->d_name).data);
        }
        closedir(directory);
        rmdir(from);
        rmdir(folder);
    }
    sb_arena_free(&arena);
}

void run_devices_complete(const char *processes_folder, sb_run_process *process) {
    sb_arena arena = {0};
    const char *folder =
        sb_arena_format(&arena, "%s/%d", processes_folder, (int)process->process_id).data;
    const char *logs = sb_arena_format(&arena, "%s/.logs", folder).data;
    const char *trace = sb_arena_format(&arena, "%s/tracy_profile_log_host.tracy", logs).data;
    /* A process may have two recordings; the first is that of its operations. */
    if (access(trace, F_OK) != 0 && sb_folder_make(logs, NULL) == SB_OK &&
        rename(process->path, trace) == 0) {
        snprintf(process->path, sizeof process->path, "%s", trace);
        snprintf(process->folder, sizeof process->folder, "%s", folder);
    }
    sb_arena_free(&arena);
}
