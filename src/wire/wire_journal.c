#include "wire/wire_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

#include "wire/wire_tables.h"

static const char magic[SB_JOURNAL_MAGIC_SIZE] = {'S', 'B', 'J', 'R', 'N', 'L', '0', '1'};

enum { KIND_AT = 4, CHECKSUM_AT = 8, MODE = 0644 };

/* ---- checksum ---- */

/* Of the head before the checksum and the content; the number of the block is its seed. */
static uint64_t checksum(const uint8_t *head, uint64_t number, sb_slice content) {
    const uint64_t seed = number * UINT64_C(0x9E3779B97F4A7C15) + wire_load_64(head);
    return XXH3_64bits_withSeed(content.data, content.size, seed);
}

/* ---- writing ---- */

/* writev that does not stop half way. */
static int write_all(int descriptor, struct iovec *parts, int count) {
    while (count > 0) {
        const ssize_t written = writev(descriptor, parts, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        size_t left = (size_t)written;
        while (count > 0 && left >= parts->iov_len) {
            left -= parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + left;
            parts->iov_len -= left;
        }
    }
    return 0;
}

static struct iovec part_of(const void *bytes, size_t size) {
    /* writev reads only; its type cannot say so. */
    union {
        const void *from;
        void *to;
    } pointer = {.from = bytes};
    return (struct iovec){pointer.to, size};
}

/* All of the file, from now on as long as it grows. */
static struct flock whole_file(void) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/* Empties a file that nobody else writes. Where there are no locks, nobody is known to. */
static sb_status take_file(int descriptor, const char *path, sb_error *error) {
    struct flock lock = whole_file();
    if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES))
        SB_FAIL(error, SB_ERR_IO, "%s: another recorder is writing it", path);
    if (ftruncate(descriptor, 0) != 0 && errno != EINVAL) /* a device cannot be, and is empty */
        SB_FAIL(error, SB_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return SB_OK;
}

bool sb_journal_is_written(int descriptor) {
    struct flock lock = whole_file();
    return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static sb_status start_file(sb_journal_writer *writer, const char *path, sb_error *error) {
    SB_TRY(take_file(writer->descriptor, path, error));
    struct iovec part = part_of(magic, sizeof magic);
    const int failed = write_all(writer->descriptor, &part, 1);
    if (failed != 0)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot be written: %s", path, strerror(failed));
    writer->bytes = sizeof magic;
    return SB_OK;
}

sb_status sb_journal_create(sb_journal_writer *writer, const char *path, bool replace,
                            sb_error *error) {
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? 0 : O_EXCL);
    *writer = (sb_journal_writer){.descriptor = open(path, flags, MODE)};
    if (writer->descriptor < 0)
        SB_FAIL(error, SB_ERR_IO, "%s: cannot be created: %s", path, strerror(errno));
    const sb_status status = start_file(writer, path, error);
    if (status != SB_OK)
        sb_journal_close(writer);
    return status;
}

sb_status sb_journal_append(sb_journal_writer *writer, sb_journal_kind kind, sb_slice content,
                            sb_error *error) {
    uint8_t head[SB_JOURNAL_BLOCK_HEAD] = {0};
    const size_t size = content.size;
    if (writer->descriptor < 0 || size > SB_JOURNAL_CONTENT_MAX)
        SB_FAIL(error, SB_ERR_LIMIT, "a block of %zu bytes does not go into a journal", size);
    wire_store(head, size, 4);
    wire_store(head + KIND_AT, (uint64_t)kind, 2);
    wire_store(head + CHECKSUM_AT, checksum(head, writer->blocks, content), 8);
    struct iovec parts[] = {part_of(head, sizeof head), part_of(content.data, size)};
    const int failed = write_all(writer->descriptor, parts, 2);
    if (failed != 0) {
        /* What follows half a block could not be read. */
        if (ftruncate(writer->descriptor, (off_t)writer->bytes) != 0)
            sb_journal_close(writer);
        SB_FAIL(error, SB_ERR_IO, "the journal cannot be written: %s", strerror(failed));
    }
    writer->blocks++;
    writer->bytes += sizeof head + size;
    return SB_OK;
}

sb_status sb_journal_sync(const sb_journal_writer *writer, sb_error *error) {
    if (fdatasync(writer->descriptor) != 0 && errno != EINVAL && errno != EROFS)
        SB_FAIL(error, SB_ERR_IO, "the journal cannot be written: %s", strerror(errno));
    return SB_OK;
}

void sb_journal_close(sb_journal_writer *writer) {
    if (writer->descriptor >= 0)
        close(writer->descriptor);
    writer->descriptor = -1;
}

/* ---- the first block ---- */

/* version u8, flavour u8, is certain u8, zero, protocol u32, wall u64, clock u64, on-demand,
 * address, welcome */
enum {
    START_VERSION = 1,
    START_PROTOCOL_AT = 4,
    START_WALL_AT = 8,
    START_CLOCK_AT = 16,
    START_ON_DEMAND_AT = 24,
    START_ADDRESS_AT = START_ON_DEMAND_AT + SB_WIRE_ON_DEMAND_SIZE,
    START_ADDRESS_SIZE = 64,
    START_WELCOME_AT = START_ADDRESS_AT + START_ADDRESS_SIZE,
    START_SIZE_MAX = START_WELCOME_AT + SB_WIRE_WELCOME_MAX,
};

sb_status sb_journal_append_start(sb_journal_writer *writer, const sb_journal_start *start,
                                  sb_error *error) {
    uint8_t bytes[START_SIZE_MAX] = {START_VERSION, (uint8_t)start->flavour, start->is_certain};
    const sb_wire_protocol *protocol = sb_wire_protocol_find(start->protocol, start->flavour);
    if (protocol == NULL)
        SB_FAIL(error, SB_ERR_USAGE, "protocol %u is not known", start->protocol);
    wire_store(bytes + START_PROTOCOL_AT, start->protocol, 4);
    wire_store(bytes + START_WALL_AT, start->wall_ns, 8);
    wire_store(bytes + START_CLOCK_AT, start->clock_ns, 8);
    sb_wire_on_demand_encode(&start->on_demand, bytes + START_ON_DEMAND_AT);
    memcpy(bytes + START_ADDRESS_AT, start->address,
           strnlen(start->address, START_ADDRESS_SIZE - 1));
    sb_wire_welcome_encode(protocol, &start->welcome, bytes + START_WELCOME_AT);
    const size_t size = START_WELCOME_AT + sb_wire_welcome_size(protocol);
    return sb_journal_append(writer, SB_JOURNAL_START, (sb_slice){(const char *)bytes, size},
                             error);
}

sb_status sb_journal_decode_start(sb_slice content, sb_journal_start *start, sb_error *error) {
    const uint8_t *bytes = (const uint8_t *)content.data;
    *start = (sb_journal_start){0};
    if (content.size < START_WELCOME_AT || bytes[0] != START_VERSION)
        SB_FAIL(error, SB_ERR_FORMAT, "the journal was made by another version of Strobe");
    start->flavour = bytes[1] < SB_WIRE_FLAVOURS ? (sb_wire_flavour)bytes[1] : SB_WIRE_FLAVOURS;
    start->is_certain = bytes[2] != 0;
    start->protocol = (uint32_t)wire_load(bytes + START_PROTOCOL_AT, 4);
    start->wall_ns = wire_load(bytes + START_WALL_AT, 8);
    start->clock_ns = wire_load(bytes + START_CLOCK_AT, 8);
    sb_wire_on_demand_decode(bytes + START_ON_DEMAND_AT, &start->on_demand);
    memcpy(start->address, bytes + START_ADDRESS_AT, START_ADDRESS_SIZE - 1);
    const sb_wire_protocol *protocol = sb_wire_protocol_find(start->protocol, start->flavour);
    if (protocol == NULL)
        SB_FAIL(error, SB_ERR_FORMAT, "the journal is of protocol %u, which is not known",
                start->protocol);
    if (content.size != START_WELCOME_AT + sb_wire_welcome_size(protocol))
        SB_FAIL(error, SB_ERR_FORMAT, "the journal's first block has a wrong size");
    sb_wire_welcome_decode(protocol, bytes + START_WELCOME_AT, &start->welcome);
    return SB_OK;
}

/* ---- reading ---- */

bool sb_journal_is_one(sb_slice bytes) {
    return bytes.size >= sizeof magic && memcmp(bytes.data, magic, sizeof magic) == 0;
}

sb_status sb_journal_open(sb_journal_reader *reader, sb_slice bytes, sb_error *error) {
    *reader = (sb_journal_reader){.bytes = bytes, .offset = sizeof magic};
    if (!sb_journal_is_one(bytes))
        SB_FAIL(error, SB_ERR_FORMAT, "not a journal");
    return SB_OK;
}

static bool stop(const sb_journal_reader *reader, sb_error *error, const char *reason) {
    const uint64_t offset = reader->base + reader->offset;
    sb_error_set(error, SB_ERR_FORMAT, "block %" PRIu64 " at offset %" PRIu64 " of the journal %s",
                 reader->blocks, offset, reason);
    return false;
}

bool sb_journal_next(sb_journal_reader *reader, sb_journal_block *block, sb_error *error) {
    *error = (sb_error){.status = SB_OK};
    const size_t left = reader->bytes.size - reader->offset;
    const uint8_t *head = (const uint8_t *)reader->bytes.data + reader->offset;
    reader->is_short = false;
    if (left == 0)
        return false;
    reader->is_short = left < SB_JOURNAL_BLOCK_HEAD;
    if (reader->is_short)
        return stop(reader, error, "is cut off");
    const size_t size = wire_load(head, 4);
    if (size > SB_JOURNAL_CONTENT_MAX)
        return stop(reader, error, "has an impossible size");
    reader->is_short = left - SB_JOURNAL_BLOCK_HEAD < size;
    if (reader->is_short)
        return stop(reader, error, "is cut off");
    const sb_slice content = {(const char *)head + SB_JOURNAL_BLOCK_HEAD, size};
    block->kind = (sb_journal_kind)wire_load(head + KIND_AT, 2);
    block->content = content;
    if (checksum(head, reader->blocks, content) != wire_load(head + CHECKSUM_AT, 8))
        return stop(reader, error, "has a wrong checksum");
    reader->offset += SB_JOURNAL_BLOCK_HEAD + size;
    reader->blocks++;
    return true;
}
