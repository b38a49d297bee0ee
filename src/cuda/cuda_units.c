#include "cuda/cuda_units.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <strobe/cuda_host.h>

#include "cuda/cuda_context.h"

/* Ours, so that nothing points into a library that is gone. */
typedef struct unit_node {
    const sb_cuda_unit *unit;
    void *(*gate)(void);
    void *(*missed)(void);
    uint64_t serial;
    char *library; /* NULL: the program itself, which stays */
    struct unit_node *next;
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

/* The file that a function is in; NULL: the program's own. */
static char *library_of(void *(*function)(void)) {
    Dl_info info;
    struct link_map *map = NULL;
    void *address;
    memcpy(&address, &function, sizeof address);
    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL ||
        map->l_name == NULL || map->l_name[0] == '\0')
        return NULL;
    return strdup(map->l_name);
}

static void free_node(unit_node *node) {
    free(node->library);
    free(node);
}

void sb_cuda_register(sb_cuda_unit *unit) {
    unit_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return;
    *node = (unit_node){.unit = unit,
                        .gate = unit->gate,
                        .missed = unit->missed,
                        .library = library_of(unit->gate)};
    pthread_mutex_lock(&units.lock);
    node->serial = ++units.last_serial;
    unit_node **end = &units.first;
    while (*end != NULL)
        end = &(*end)->next;
    *end = node;
    __atomic_add_fetch(&units.version, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&units.lock);
    if (!cuda_options_get()->is_off)
        cuda_watch_start();
}

void sb_cuda_unregister(sb_cuda_unit *unit) {
    unit_node *gone = NULL;
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
    if (gone != NULL)
        free_node(gone);
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

/* A copy of the first behind a serial, with a library of its own. */
static bool copy_next(uint64_t behind, unit_node *copy) {
    bool is_copied = false;
    pthread_mutex_lock(&units.lock);
    const unit_node *node = units.first;
    while (node != NULL && node->serial <= behind)
        node = node->next;
    if (node != NULL) {
        *copy = *node;
        copy->library = node->library != NULL ? strdup(node->library) : NULL;
        is_copied = node->library == NULL || copy->library != NULL;
    }
    pthread_mutex_unlock(&units.lock);
    return is_copied;
}

/* Where the unit's gate is; 0: nowhere, or its library is being unloaded. */
static void ask(const unit_node *unit, cuda_unit_gate *found) {
    void *pin = unit->library != NULL ? dlopen(unit->library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    *found = (cuda_unit_gate){.serial = unit->serial};
    if ((unit->library == NULL || pin != NULL) && cuda_units_has(unit->serial)) {
        found->gate = (cuda_address)(uintptr_t)unit->gate();
        found->missed = (cuda_address)(uintptr_t)unit->missed();
    }
    if (pin != NULL)
        dlclose(pin);
}

bool cuda_units_next(uint64_t behind, cuda_unit_gate *found) {
    unit_node unit;
    while (copy_next(behind, &unit)) {
        ask(&unit, found);
        free(unit.library);
        if (found->gate != 0)
            return true;
        behind = unit.serial;
    }
    return false;
}
