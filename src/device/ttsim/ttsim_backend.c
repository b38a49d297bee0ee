/*
 * The vendor's simulator as a backend.
 *
 * It is one library with one chip in global state that ends the process when something is wrong, so
 * it lives in a child process. Parent and child speak over a pair of sockets: a request, its data
 * if it writes, then an answer with data if it reads. What the library prints goes into a file that
 * has no name, so that it never waits for a reader; the end of it becomes the error.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device_backend.h"

#define CHIP_ID 0x401E1E52u /* Wormhole */
#define ROWS 10u
#define COLUMNS 8u

/* Windows of 16 MiB onto tiles; one is enough, it is moved about. */
#define WINDOW_NUMBER 166u
#define WINDOW_BYTES (16u << 20)
#define WINDOW_OFFSET 0x0B000000u
#define WINDOW_CONFIG 0x1FC00000u

/* Longer transfers are cut, so that both sides can have a buffer. */
#define TRANSFER_MAX (1u << 20)

typedef enum request_kind { REQUEST_READ, REQUEST_WRITE, REQUEST_RUN, REQUEST_QUIT } request_kind;

typedef struct request {
    uint32_t kind;
    uint32_t x, y;
    uint32_t size;
    uint64_t address; /* or clocks */
} request;

typedef struct backend {
    int channel;
    FILE *output; /* what the library prints */
    pid_t child;  /* 0: it has ended */
    int status;   /* then, how */
    uint64_t clock;
} backend;

/* ---- bytes over a socket ---- */

static bool send_all(int channel, const void *data, size_t size) {
    const char *next = data;
    while (size > 0) {
        const ssize_t sent = send(channel, next, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        next += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int channel, void *data, size_t size) {
    char *next = data;
    while (size > 0) {
        const ssize_t got = recv(channel, next, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        next += got;
        size -= (size_t)got;
    }
    return true;
}

/* ---- the child ---- */

typedef struct library {
    void (*init)(void);
    uint32_t (*config_read)(uint32_t device, uint32_t offset);
    void (*memory_read)(uint64_t address, void *data, uint32_t size);
    void (*memory_write)(uint64_t address, const void *data, uint32_t size);
    void (*clock)(uint32_t clocks);
    uint64_t base; /* of the chip's memory */
} library;

/* Function pointers from dlsym: the way POSIX gives, since C has none. */
static bool find(void *handle, const char *name, void *pointer) {
    void *symbol = dlsym(handle, name);
    memcpy(pointer, &symbol, sizeof symbol);
    if (symbol == NULL)
        printf("the library has no function %s\n", name);
    return symbol != NULL;
}

static bool load(library *lib, const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        printf("%s\n", dlerror());
        return false;
    }
    if (!find(handle, "libttsim_init", &lib->init) ||
        !find(handle, "libttsim_pci_config_rd32", &lib->config_read) ||
        !find(handle, "libttsim_pci_mem_rd_bytes", &lib->memory_read) ||
        !find(handle, "libttsim_pci_mem_wr_bytes", &lib->memory_write) ||
        !find(handle, "libttsim_clock", &lib->clock))
        return false;
    lib->init();
    if (lib->config_read(0, 0) != CHIP_ID) {
        printf("the library simulates another chip than a Wormhole\n");
        return false;
    }
    lib->base = (uint64_t)lib->config_read(0, 0x14) << 32 | (lib->config_read(0, 0x10) & ~0xFu);
    return true;
}

/* Points the window at the part of a tile that holds address. Returns where it is. */
static uint64_t aim(const library *lib, const request *wanted, uint64_t address) {
    const uint64_t config =
        address / WINDOW_BYTES | (uint64_t)wanted->x << 12 | (uint64_t)wanted->y << 18;
    lib->memory_write(lib->base + WINDOW_CONFIG + (uint64_t)8 * WINDOW_NUMBER, &config, 8);
    return lib->base + WINDOW_OFFSET + address % WINDOW_BYTES;
}

/* Calls move for each part that lies in one window. */
static void transfer(const library *lib, const request *wanted, char *data) {
    for (uint32_t done = 0; done < wanted->size;) {
        const uint64_t address = wanted->address + done;
        const uint64_t room = WINDOW_BYTES - address % WINDOW_BYTES;
        const uint32_t left = wanted->size - done;
        const uint32_t part = left < room ? left : (uint32_t)room;
        const uint64_t at = aim(lib, wanted, address);
        if (wanted->kind == REQUEST_READ)
            lib->memory_read(at, data + done, part);
        else
            lib->memory_write(at, data + done, part);
        done += part;
    }
}

static bool serve_one(const library *lib, int channel, char *data) {
    static const uint32_t done = 0;
    request wanted;
    if (!receive_all(channel, &wanted, sizeof wanted) || wanted.kind == REQUEST_QUIT)
        return false;
    if (wanted.kind == REQUEST_WRITE && !receive_all(channel, data, wanted.size))
        return false;
    if (wanted.kind == REQUEST_RUN)
        lib->clock((uint32_t)wanted.address);
    else
        transfer(lib, &wanted, data);
    return send_all(channel, &done, sizeof done) &&
           (wanted.kind != REQUEST_READ || send_all(channel, data, wanted.size));
}

static _Noreturn void serve(const char *path, int channel, int output) {
    static const uint32_t ready = 0;
    library lib = {0};
    dup2(output, 1);
    dup2(output, 2);
    close(output);
    if (!load(&lib, path)) {
        fflush(stdout);
        _exit(1);
    }
    char *data = malloc(TRANSFER_MAX);
    bool goes_on = data != NULL && send_all(channel, &ready, sizeof ready);
    while (goes_on)
        goes_on = serve_one(&lib, channel, data);
    _exit(0);
}

/* ---- the parent ---- */

static void wait_for_child(backend *self) {
    while (self->child > 0 && waitpid(self->child, &self->status, 0) < 0 && errno == EINTR) {
    }
    self->child = 0;
}

/* The child is gone: its last words are the reason. Asked again, they are the same. */
static sb_status fail_with_words(backend *self, sb_error *error) {
    char words[700];
    wait_for_child(self);
    if (fseek(self->output, -(long)sizeof words, SEEK_END) != 0)
        rewind(self->output);
    const size_t used = fread(words, 1, sizeof words, self->output);
    const sb_slice text = sb_slice_trim((sb_slice){words, used});
    if (text.size == 0 && WIFSIGNALED(self->status))
        SB_FAIL(error, SB_ERR_DEVICE, "the simulator has ended by signal %d, without a word",
                WTERMSIG(self->status));
    SB_FAIL(error, SB_ERR_DEVICE, "the simulator has ended: %.*s", (int)text.size,
            text.size > 0 ? text.data : "");
}

static sb_status ask(backend *self, const request *wanted, const void *out, void *in,
                     sb_error *error) {
    uint32_t answer = 1;
    if (!send_all(self->channel, wanted, sizeof *wanted) ||
        (out != NULL && !send_all(self->channel, out, wanted->size)) ||
        !receive_all(self->channel, &answer, sizeof answer) ||
        (in != NULL && !receive_all(self->channel, in, wanted->size)))
        return fail_with_words(self, error);
    return SB_OK;
}

static sb_status ttsim_read(void *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                            void *data, size_t size, sb_error *error) {
    (void)chip;
    char *next = data;
    while (size > 0) {
        const uint32_t part = size < TRANSFER_MAX ? (uint32_t)size : TRANSFER_MAX;
        const request wanted = {REQUEST_READ, x, y, part, address};
        SB_TRY(ask(machine, &wanted, NULL, next, error));
        next += part;
        address += part;
        size -= part;
    }
    return SB_OK;
}

static sb_status ttsim_write(void *machine, uint32_t chip, uint32_t x, uint32_t y, uint64_t address,
                             const void *data, size_t size, sb_error *error) {
    (void)chip;
    const char *next = data;
    while (size > 0) {
        const uint32_t part = size < TRANSFER_MAX ? (uint32_t)size : TRANSFER_MAX;
        const request wanted = {REQUEST_WRITE, x, y, part, address};
        SB_TRY(ask(machine, &wanted, next, NULL, error));
        next += part;
        address += part;
        size -= part;
    }
    return SB_OK;
}

static sb_status ttsim_run(void *machine, uint64_t clocks, bool *has_fault, device_fault *fault,
                           sb_error *error) {
    backend *self = machine;
    const request wanted = {REQUEST_RUN, 0, 0, 0, clocks};
    (void)fault;
    *has_fault = false;
    SB_TRY(ask(self, &wanted, NULL, NULL, error));
    self->clock += clocks;
    return SB_OK;
}

static uint64_t ttsim_clock(const void *machine) {
    const backend *self = machine;
    return self->clock;
}

static void ttsim_close(void *machine) {
    backend *self = machine;
    const request quit = {.kind = REQUEST_QUIT};
    (void)send_all(self->channel, &quit, sizeof quit);
    close(self->channel);
    wait_for_child(self);
    fclose(self->output);
    free(self);
}

static const device_backend functions = {
    .name = "ttsim",
    .read = ttsim_read,
    .write = ttsim_write,
    .run = ttsim_run,
    .close = ttsim_close,
    .clock = ttsim_clock,
};

static sb_status start_child(backend *self, const char *path, sb_error *error) {
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0)
        SB_FAIL(error, SB_ERR_IO, "cannot talk to a child process: %s", strerror(errno));
    self->output = tmpfile();
    fflush(NULL);
    self->child = self->output != NULL ? fork() : -1;
    if (self->child == 0) {
        close(channel[0]);
        serve(path, channel[1], fileno(self->output));
    }
    close(channel[1]);
    self->channel = channel[0];
    if (self->child < 0) {
        const int reason = errno;
        close(channel[0]);
        if (self->output != NULL)
            fclose(self->output);
        SB_FAIL(error, SB_ERR_IO, "cannot start a child process: %s", strerror(reason));
    }
    return SB_OK;
}

sb_status device_ttsim_open(device_options *options, const device_backend **found, void **machine,
                            sb_error *error) {
    uint32_t ready = 1;
    backend *self = sb_alloc_zeroed(1, sizeof *self);
    sb_status status = start_child(self, options->path, error);
    if (status != SB_OK) {
        free(self);
        return status;
    }
    if (!receive_all(self->channel, &ready, sizeof ready)) {
        status = fail_with_words(self, error);
        ttsim_close(self);
        return status;
    }
    options->rows = ROWS;
    options->columns = COLUMNS;
    *found = &functions;
    *machine = self;
    return SB_OK;
}
