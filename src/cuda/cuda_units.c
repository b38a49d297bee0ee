#include "cuda/cuda_units.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <strobe/cuda_host.h>

#include "cuda/cuda_context.h"

/* Ours, so that nothing points into a library that is gone. Freed by the last who uses it. */
typedef struct unit_node {
    const sb_cuda_unit *unit;
    void *(*gate)(void);
    void *(*missed)(void);
    uint64_t serial;
    uint32_t users; /* who asks it; and the list, while it is there */
    struct unit_node *next;
    char library[]; /* empty: the program itself, which stays */
} unit_node;

static struct {
    pthread_mutex_t lock;
    unit_node *first; /* by serial */
    uint64_t last_serial;
    uint32_t version;
} units = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t cuda_units_version(void) {
    return __atomic_load_n(&units.version, __ATOMIC_ACQUIRE);
}

/* The file that a function is in; empty: the program's own. It is the loader's, and stays while the
   library does. */
static const char *library_of(void *(*function)(void)) {
    Dl_info info;
    struct link_map *map = NULL;
    void *address;
    memcpy(&address, &function, sizeof address);
    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL ||
        map->l_name == NULL)
        return "";
    return map->l_name;
}

/* NULL: there is no memory. */
static unit_node *make_node(const sb_cuda_unit *unit) {
    const char *library = library_of(unit->gate);
    const size_t size = strlen(library) + 1;
    unit_node *node = calloc(1, sizeof *node + size);
    if (node == NULL)
        return NULL;
    node->unit = unit;
    node->gate = unit->gate;
    node->missed = unit->missed;
    node->users = 1;
    memcpy(node->library, library, size);
    return node;
}

static void warn_of_memory(void) {
    cuda_say("there is not enough memory to know all files with kernels; zones of some are missed "
             "and not counted");
}

static void leave_node(unit_node *node) {
    pthread_mutex_lock(&units.lock);
    const bool is_last = --node->users == 0;
    pthread_mutex_unlock(&units.lock);
    if (is_last)
        free(node);
}

void sb_cuda_register(sb_cuda_unit *unit) {
    /* Nobody asks for units there, and the lock may be held for good. */
    if (cuda_is_child())
        return;
    cuda_follow_forks();
    unit_node *node = make_node(unit);
    if (node == NULL) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, warn_of_memory);
        return;
    }
    pthread_mutex_lock(&units.lock);
    node->serial = ++units.last_serial;
    unit_node **end = &units.first;
    while (*end != NULL)
        end = &(*end)->next;
    *end = node;
    __atomic_add_fetch(&units.version, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&units.lock);
    if (!cuda_options_get()->is_off) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, cuda_follow_exit);
        cuda_watch_start();
    }
}

static uint64_t serial_of(const sb_cuda_unit *unit) {
    pthread_mutex_lock(&units.lock);
    const unit_node *node = units.first;
    while (node != NULL && node->unit != unit)
        node = node->next;
    const uint64_t serial = node != NULL ? node->serial : 0;
    pthread_mutex_unlock(&units.lock);
    return serial;
}

void sb_cuda_unregister(sb_cuda_unit *unit) {
    unit_node *gone = NULL;
    if (cuda_is_child())
        return;
    cuda_contexts_part_with(serial_of(unit), unit->missed);
    pthread_mutex_lock(&units.lock);
    for (unit_node **at = &units.first; *at != NULL && gone == NULL; at = &(*at)->next)
        if ((*at)->unit == unit) {
            gone = *at;
            *at = gone->next;
            break;
        }
    if (gone != NULL)
        __atomic_add_fetch(&units.version, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&units.lock);
    if (gone != NULL) {
        leave_node(gone);
        cuda_contexts_let_go();
    }
}

/* With the lock. */
static const unit_node *find(uint64_t serial) {
    const unit_node *node = units.first;
    while (node != NULL && node->serial != serial)
        node = node->next;
    return node;
}

bool cuda_units_has(uint64_t serial) {
    pthread_mutex_lock(&units.lock);
    const bool has = find(serial) != NULL;
    pthread_mutex_unlock(&units.lock);
    return has;
}

/* The first behind a serial, for leave_node; NULL: there is none. */
static unit_node *take_next(uint64_t behind) {
    pthread_mutex_lock(&units.lock);
    unit_node *node = units.first;
    while (node != NULL && node->serial <= behind)
        node = node->next;
    if (node != NULL)
        node->users++;
    pthread_mutex_unlock(&units.lock);
    return node;
}

/* Where the unit's gate is; 0: nowhere, or its library is being unloaded. */
static void ask(const unit_node *unit, cuda_unit_gate *found) {
    const bool is_library = unit->library[0] != '\0';
    void *pin = is_library ? dlopen(unit->library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    *found = (cuda_unit_gate){.serial = unit->serial};
    if ((!is_library || pin != NULL) && cuda_units_has(unit->serial)) {
        found->gate = (cuda_address)(uintptr_t)unit->gate();
        found->missed = (cuda_address)(uintptr_t)unit->missed();
    }
    if (pin != NULL)
        dlclose(pin);
}

bool cuda_units_next(uint64_t behind, cuda_unit_gate *found) {
    for (unit_node *unit = take_next(behind); unit != NULL; unit = take_next(behind)) {
        ask(unit, found);
        behind = unit->serial;
        leave_node(unit);
        if (found->gate != 0)
            return true;
    }
    return false;
}
