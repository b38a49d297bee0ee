/*
 * A recording file: threads write their chunks right into it.
 *
 * The file grows by slabs of chunks whose blocks are reserved on the disk before they are mapped:
 * a full disk is then an error of ours and not a signal to the program. The sender prepares a slab
 * ahead, seals chunks that are full, and unmaps slabs that are all sealed.
 */
#include "client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SLAB_CHUNKS = 32,
    SLAB_SIZE = SLAB_CHUNKS * SB_CHUNK_SIZE,
    SLABS_MAX = 65536,          /* 128 GiB */
    RETRY_AFTER_NS = 100000000, /* a disk that was full is tried again */
};

typedef struct slab {
    char *memory; /* NULL: unmapped */
    uint32_t taken;
    uint32_t sealed;
} slab;

static struct {
    int descriptor; /* -1: none */
    dev_t device;   /* what the descriptor led to when it was opened */
    ino_t inode;
    sb_record_header *header;
    slab *slabs;
    size_t slab_count;
    size_t first_open; /* the first slab that has chunks to take */
    size_t first_mapped;
    int64_t full_since;
    bool is_closed;
} file = {.descriptor = -1};

/* All but opening happens under the pool's lock, or in the sender alone. */

bool client_file_is_open(void) {
    return file.descriptor >= 0;
}

/* Room on the disk, or the reason why not. Files beyond the process's limit would end it. */
static int reserve(int descriptor, off_t offset, off_t size) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(offset + size) > limit.rlim_cur)
        return EFBIG;
    return posix_fallocate(descriptor, offset, size);
}

static sb_record_header *map_header(int descriptor) {
    const int failure = reserve(descriptor, 0, SB_CHUNK_SIZE);
    if (failure != 0) {
        errno = failure; /* this function leaves it alone, and our caller tells it */
        return NULL;
    }
    void *memory = mmap(NULL, SB_CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void fill_header(sb_record_header *header, uint32_t session) {
    sb_wire_welcome welcome = {0};
    client_describe_cpu(&welcome);
    header->header_size = sizeof *header;
    header->chunk_size = SB_CHUNK_SIZE;
    header->version = SB_RECORD_FILE_VERSION;
    header->start = client_clock_started;
    header->latest[0] = client_clock_pair();
    header->latest[1] = header->latest[0];
    header->cpu_architecture = welcome.cpu_architecture;
    header->resolution = 1;
    header->wall_seconds = (uint64_t)client_global.started_wall;
    header->process_id = (uint64_t)getpid();
    header->init_end = client_global.init_end;
    header->cpu_id = welcome.cpu_id;
    header->session = session;
    memcpy(header->cpu_manufacturer, welcome.cpu_manufacturer, sizeof header->cpu_manufacturer);
    snprintf(header->program, sizeof header->program, "%s", client_program_name());
    client_describe_host(header->host, sizeof header->host);
    /* Last, so that a file with this is complete so far. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy(header->magic, SB_RECORD_MAGIC, sizeof header->magic);
}

/* Not one of the first three: a program that was started without them writes to these. */
static int above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    return higher;
}

/* What is no file of this kind is found out when it is to grow. */
static bool empty(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 &&
           (!S_ISREG(status.st_mode) || ftruncate(descriptor, 0) == 0);
}

/*
 * A file that nobody else records into: another process, or another copy of this library in this
 * one, would lose what it has mapped. Theirs is locked; ours is then called PATH.2, and so on.
 */
static int open_alone(const char *path) {
    enum { OTHERS_MAX = 100 };
    char name[sizeof client_global.options.out + 8];
    for (int i = 1; i < OTHERS_MAX; i++) {
        if (i == 1)
            snprintf(name, sizeof name, "%s", path);
        else
            snprintf(name, sizeof name, "%s.%d", path, i);
        const int descriptor = above_standard(open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666));
        if (descriptor < 0)
            return -1;
        const bool is_ours = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (is_ours && empty(descriptor))
            return descriptor;
        const int reason = errno;
        close(descriptor);
        errno = reason;
        if (is_ours)
            return -1;
    }
    errno = EBUSY;
    return -1;
}

/* A program may close what it has not opened, and open something else under that number. */
static bool owns_descriptor(void) {
    struct stat status;
    return fstat(file.descriptor, &status) == 0 && status.st_dev == file.device &&
           status.st_ino == file.inode;
}

int client_file_open(const char *path, uint32_t session) {
    struct stat status = {0};
    const int descriptor = open_alone(path);
    if (descriptor < 0)
        return -1;
    fstat(descriptor, &status);
    void *list = mmap(NULL, SLABS_MAX * sizeof(slab), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    sb_record_header *header = list == MAP_FAILED ? NULL : map_header(descriptor);
    if (header == NULL) {
        const int reason = errno;
        if (list != MAP_FAILED)
            munmap(list, SLABS_MAX * sizeof(slab));
        close(descriptor);
        errno = reason;
        return -1;
    }
    fill_header(header, session);
    file.header = header;
    file.slabs = list;
    file.slab_count = 0;
    file.first_open = 0;
    file.first_mapped = 0;
    file.is_closed = false;
    file.descriptor = descriptor;
    file.device = status.st_dev;
    file.inode = status.st_ino;
    return 0;
}

/* The slab of that number, reserved and mapped; NULL if the disk is full. */
static char *map_slab(size_t number, bool touches) {
    const off_t offset = (off_t)SB_CHUNK_SIZE + (off_t)number * SLAB_SIZE;
    if (number >= SLABS_MAX || !owns_descriptor() ||
        reserve(file.descriptor, offset, SLAB_SIZE) != 0)
        return NULL;
    void *memory =
        mmap(NULL, SLAB_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, offset);
    if (memory == MAP_FAILED)
        return NULL;
#ifdef MADV_POPULATE_WRITE
    if (touches)
        madvise(memory, SLAB_SIZE, MADV_POPULATE_WRITE);
#else
    (void)touches;
#endif
    return memory;
}

static bool add_slab(char *memory) { // NOLINT(readability-non-const-parameter): it is kept
    if (memory != NULL)
        file.slabs[file.slab_count++] = (slab){.memory = memory};
    return memory != NULL;
}

static bool has_room(void) {
    while (file.first_open < file.slab_count && file.slabs[file.first_open].taken == SLAB_CHUNKS)
        file.first_open++;
    return file.first_open < file.slab_count;
}

sb_chunk *client_file_take(sb_record_cause *cause) {
    *cause = SB_RECORD_LOST_TO_DISK;
    if (file.is_closed)
        return NULL;
    if (!has_room()) {
        /* Trying to grow costs microseconds: not for every event that is dropped. */
        const int64_t now = client_clock_system();
        if (file.full_since != 0 && now - file.full_since < RETRY_AFTER_NS)
            return NULL;
        file.full_since = add_slab(map_slab(file.slab_count, false)) ? 0 : now;
        if (file.full_since != 0)
            return NULL;
    }
    slab *open = &file.slabs[file.first_open];
    void *chunk = open->memory + (size_t)open->taken++ * SB_CHUNK_SIZE;
    return chunk;
}

bool client_file_is_low(void) {
    return !has_room() || (file.first_open + 1 == file.slab_count &&
                           file.slabs[file.first_open].taken > SLAB_CHUNKS / 2);
}

void client_file_prepare(void) {
    pthread_mutex_lock(&client_pool_lock);
    const size_t slabs = file.slab_count;
    const bool is_low = client_file_is_low();
    pthread_mutex_unlock(&client_pool_lock);
    if (!is_low)
        return;
    /* Reserving and touching takes long: only the adding needs the lock. */
    char *memory = map_slab(slabs, true);
    pthread_mutex_lock(&client_pool_lock);
    if (slabs == file.slab_count)
        add_slab(memory);
    else if (memory != NULL)
        munmap(memory, SLAB_SIZE); /* a thread could not wait and mapped it itself */
    if (memory != NULL)
        file.full_since = 0;
    pthread_mutex_unlock(&client_pool_lock);
}

void client_file_seal(sb_chunk *chunk, uint64_t words) {
    chunk->next = NULL;
    chunk->sealed_words = words;
    __atomic_store_n(&chunk->checksum, sb_chunk_checksum(chunk, words), __ATOMIC_RELEASE);
    pthread_mutex_lock(&client_pool_lock);
    while (file.first_mapped < file.slab_count && file.slabs[file.first_mapped].memory == NULL)
        file.first_mapped++;
    for (size_t i = file.first_mapped; i < file.slab_count; i++) {
        slab *home = &file.slabs[i];
        const uintptr_t distance = (uintptr_t)chunk - (uintptr_t)home->memory;
        if (home->memory == NULL || distance >= SLAB_SIZE)
            continue;
        if (++home->sealed == SLAB_CHUNKS) {
            munmap(home->memory, SLAB_SIZE);
            home->memory = NULL;
        }
        break;
    }
    pthread_mutex_unlock(&client_pool_lock);
}

void client_file_update_clock(void) {
    sb_record_header *header = file.header;
    const uint32_t other = 1 - header->clock_slot;
    header->latest[other] = client_clock_pair();
    header->untold = client_lanes_untold();
    __atomic_store_n(&header->clock_slot, other, __ATOMIC_RELEASE);
}

void client_file_close(void) {
    client_file_update_clock();
    file.header->is_closed = 1;
    pthread_mutex_lock(&client_pool_lock);
    file.is_closed = true;
    /* What nobody took is not needed; from the end, since only the last slabs are not full. */
    size_t slabs = file.slab_count;
    while (slabs > 0 && file.slabs[slabs - 1].taken == 0)
        slabs--;
    off_t size = SB_CHUNK_SIZE + (off_t)slabs * SLAB_SIZE;
    if (slabs > 0)
        size -= (off_t)(SLAB_CHUNKS - file.slabs[slabs - 1].taken) * SB_CHUNK_SIZE;
    /* Should it fail the file is only longer than it has to be. */
    if (owns_descriptor())
        (void)!ftruncate(file.descriptor, size);
    pthread_mutex_unlock(&client_pool_lock);
}

void client_file_forget(void) {
    if (file.descriptor < 0)
        return;
    for (size_t i = 0; i < file.slab_count; i++) {
        if (file.slabs[i].memory != NULL)
            munmap(file.slabs[i].memory, SLAB_SIZE);
    }
    munmap(file.header, SB_CHUNK_SIZE);
    munmap(file.slabs, SLABS_MAX * sizeof(slab));
    if (owns_descriptor())
        close(file.descriptor);
    file.descriptor = -1;
    file.full_since = 0;
}
