/* Programs that are recorded, by readers of every protocol and into files. */
#include "../unit/testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "collector.h"
#include "record/record.h"

/* Given on the command line: the programs. */
static const char *subject_path;
static const char *plugin_paths[2];

/* ---- a program that runs ---- */

typedef struct test_program {
    pid_t pid;
    int output; /* what it prints */
    uint16_t port;
} test_program;

/* Some port that is free now. */
static uint16_t free_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    getsockname(descriptor, (struct sockaddr *)&address, &size);
    close(descriptor);
    return ntohs(address.sin_port);
}

/* variables: "NAME=value" up to a NULL; arguments likewise. */
static test_program start(const char *const *variables, const char *const *arguments) {
    test_program started = {.port = free_port()};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    started.pid = fork();
    assert_true(started.pid >= 0);
    if (started.pid == 0) {
        char port[32];
        const char *argv[16] = {subject_path};
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        snprintf(port, sizeof port, "%u", started.port);
        setenv("TRACY_PORT", port, 1);
        setenv("TRACY_NO_BROADCAST", "1", 1);
        setenv("TSAN_OPTIONS", "halt_on_error=1", 0);
        for (size_t i = 0; variables != NULL && variables[i] != NULL; i++)
            putenv((char *)(uintptr_t)variables[i]);
        for (size_t i = 0; arguments[i] != NULL; i++)
            argv[i + 1] = arguments[i];
        if (getenv("SUBJECT_LIMIT") != NULL) { /* the nearest to a full disk without being root */
            const struct rlimit limit = {3 << 20, 3 << 20};
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        execv(subject_path, (char **)(uintptr_t)argv);
        _exit(127);
    }
    close(ends[1]);
    started.output = ends[0];
    return started;
}

static int finish(test_program *program) {
    int status = 0;
    close(program->output);
    assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* ---- a reader ---- */

typedef struct test_reader {
    int descriptor;
    const sb_wire_protocol *protocol;
    sb_wire_decoder *decoder;
    sb_wire_unpacker *unpacker;
    test_collector found;
    sb_wire_welcome welcome;
} test_reader;

static void send_query(void *context, const sb_wire_query *query) {
    test_reader *reader = context;
    uint8_t bytes[SB_WIRE_QUERY_SIZE];
    sb_wire_query_encode(reader->protocol, query, bytes);
    /* A program that is killed is a case of its own. */
    (void)!send(reader->descriptor, bytes, sizeof bytes, MSG_NOSIGNAL);
}

static bool read_all(int descriptor, void *bytes, size_t size) {
    for (size_t got = 0; got < size;) {
        struct pollfd polled = {descriptor, POLLIN, 0};
        if (poll(&polled, 1, 20000) != 1)
            return false;
        const ssize_t part = read(descriptor, (char *)bytes + got, size - got);
        if (part <= 0)
            return false;
        got += (size_t)part;
    }
    return true;
}

static int connect_to(uint16_t port) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int tries = 0; tries < 2000; tries++) {
        const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(descriptor, (const struct sockaddr *)&address, sizeof address) == 0)
            return descriptor;
        close(descriptor);
        usleep(2000);
    }
    return -1;
}

/* The status the program answers with; 0: none. */
static int greet(test_reader *reader, uint16_t port, const sb_wire_protocol *protocol) {
    uint8_t hello[SB_WIRE_HELLO_SIZE];
    uint8_t status = 0;
    *reader = (test_reader){.protocol = protocol, .descriptor = connect_to(port)};
    assert_true(reader->descriptor >= 0);
    sb_wire_hello_encode(sb_wire_protocol_number(protocol), hello);
    assert_int_equal(write(reader->descriptor, hello, sizeof hello), sizeof hello);
    if (!read_all(reader->descriptor, &status, 1))
        return 0;
    return status;
}

static void attach(test_reader *reader, uint16_t port, const sb_wire_protocol *protocol) {
    uint8_t bytes[SB_WIRE_WELCOME_MAX];
    assert_int_equal(greet(reader, port, protocol), SB_WIRE_WELCOME);
    assert_true(read_all(reader->descriptor, bytes, sb_wire_welcome_size(protocol)));
    sb_wire_welcome_decode(protocol, bytes, &reader->welcome);
    if ((reader->welcome.flags & SB_WIRE_FLAG_ON_DEMAND) != 0)
        assert_true(read_all(reader->descriptor, bytes, SB_WIRE_ON_DEMAND_SIZE));
    collector_init(&reader->found, reader, send_query);
    const sb_wire_handler handler = collector_handler(&reader->found);
    reader->decoder = sb_wire_decoder_create(protocol, true, &handler);
    reader->unpacker = sb_wire_unpacker_create();
}

/* One frame; false when the connection is over. */
static bool read_frame(test_reader *reader) {
    static uint8_t block[SB_WIRE_BLOCK_MAX];
    uint8_t head[4];
    sb_error error = {0};
    sb_slice frame;
    if (!read_all(reader->descriptor, head, sizeof head))
        return false;
    const uint32_t size = sb_wire_block_size(head);
    assert_true(size <= sizeof block);
    if (!read_all(reader->descriptor, block, size))
        return false;
    if (sb_wire_unpack(reader->unpacker, (sb_slice){(const char *)block, size}, &frame, &error) !=
            SB_OK ||
        sb_wire_decode(reader->decoder, frame, &error) != SB_OK)
        fail_msg("%s", error.message);
    return true;
}

static void read_to_end(test_reader *reader) {
    const sb_wire_query enough = {SB_WIRE_ASK_TERMINATE, 0, 0};
    while (read_frame(reader)) {
        if (reader->found.has_ended && reader->found.questions == 0) {
            send_query(reader, &enough);
            break;
        }
    }
    assert_string_equal(reader->found.fault, "");
}

static void detach(test_reader *reader) {
    close(reader->descriptor);
    sb_wire_decoder_free(reader->decoder);
    sb_wire_unpacker_free(reader->unpacker);
    collector_free(&reader->found);
}

static void check_closed(const test_collector *found) {
    for (size_t i = 0; i < found->threads.count; i++) {
        const collector_thread *thread = sb_vector_at(&found->threads, i);
        assert_int_equal(thread->open, 0);
    }
}

static const sb_wire_protocol *newest(void) {
    return sb_wire_protocol_find(82, SB_WIRE_UPSTREAM);
}

/* Runs the subject under a reader to its end; its exit status is returned. */
static int record(test_reader *reader, const char *const *variables, const char *const *arguments) {
    test_program program = start(variables, arguments);
    attach(reader, program.port, newest());
    read_to_end(reader);
    return finish(&program);
}

/* ---- everything, in every protocol ---- */

static const char *const everything[] = {"everything", NULL};

static char *text_of(test_collector *found) {
    sb_output text = sb_output_to_memory();
    collector_print(found, &text);
    char *copy = strndup(sb_output_text(&text).data, sb_output_text(&text).size);
    sb_output_discard(&text);
    return copy;
}

/* Lines that every protocol can carry. */
static const char *const always[] = {
    "zone before main\n",
    "zone everything\n",
    "zone at run time\n",
    "zone in fiber\n",
    "zone with stack\n",
    "zone zones\n",
    "text a text\n",
    "text number 7\n",
    "text by hand\n",
    "name another name\n",
    "colour 112233\n",
    "value 42\n",
    "message copied\n",
    "message literal\n",
    "message in colour\n",
    "message with stack\n",
    "app info about the program\n",
    "frame -\n",
    "frame second\n",
    "frame start stretch\n",
    "frame end stretch\n",
    "plot plot 2.5\n",
    "plot plot 0.5\n",
    "plot whole -3\n",
    "plot config plot\n",
    "image 16x16 128\n",
    "alloc -\n",
    "alloc pool\n",
    "free -\n",
    "lock announced x2\n",
    "lock terminated x2\n",
    "lock name my lock\n",
    "device 3 type 3\n",
    "device name Device\n",
    "device zone kernel zone\n",
    "fiber fiber\n",
    "parameter parameter\n",
    "stack x2\n",
};

static void check_everything(test_collector *found) {
    char *text = text_of(found);
    for (size_t i = 0; i < COUNT_OF(always); i++) {
        if (strstr(text, always[i]) == NULL)
            fail_msg("no '%s' in:\n%s", always[i], text);
    }
    assert_null(strstr(text, "not active"));
    assert_null(strstr(text, "plot plot inf"));
    assert_null(strstr(text, "not answered"));
    free(text);
    check_closed(found);
}

static void every_protocol_is_served(void **state) {
    (void)state;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        const sb_wire_protocol *protocol = sb_wire_protocol_at(i);
        if (sb_wire_protocol_flavour(protocol) == SB_WIRE_EARLY)
            continue; /* of a number that is served as its release has it */
        const bool is_theirs = sb_wire_protocol_flavour(protocol) == SB_WIRE_TENSTORRENT;
        const char *const variables[] = {is_theirs ? "STROBE_TT=1" : "STROBE_TT=0", NULL};
        test_program program = start(variables, everything);
        test_reader reader;
        attach(&reader, program.port, protocol);
        read_to_end(&reader);
        assert_int_equal(finish(&program), 0);
        check_everything(&reader.found);
        detach(&reader);
    }
}

static void an_unknown_protocol_is_refused(void **state) {
    (void)state;
    test_program program = start(NULL, everything);
    uint8_t hello[SB_WIRE_HELLO_SIZE];
    uint8_t status = 0;
    sb_wire_hello_encode(9999, hello);
    const int descriptor = connect_to(program.port);
    assert_int_equal(write(descriptor, hello, sizeof hello), sizeof hello);
    assert_true(read_all(descriptor, &status, 1));
    assert_int_equal(status, SB_WIRE_MISMATCH);
    close(descriptor);
    test_reader reader; /* the next is served */
    attach(&reader, program.port, newest());
    read_to_end(&reader);
    detach(&reader);
    assert_int_equal(finish(&program), 0);
}

/* ---- threads, fibers ---- */

static void check_threads(const char *const *arguments, uint64_t zones) {
    test_reader reader;
    assert_int_equal(record(&reader, NULL, arguments), 0);
    assert_int_equal(collector_zones_named(&reader.found, "work"), zones);
    assert_int_equal(reader.found.lost_messages, 0);
    check_closed(&reader.found);
    detach(&reader);
}

static void threads_come_and_go(void **state) {
    (void)state;
    check_threads((const char *[]){"threads", "640", "64", "50", NULL}, 640 * 50);
}

static void short_lived_threads_cost_no_lanes(void **state) {
    (void)state;
    const bool is_full = getenv("STROBE_TEST_FULL") != NULL;
    check_threads((const char *[]){"threads", is_full ? "10000" : "1000", "1", "3", NULL},
                  (is_full ? 10000 : 1000) * 3);
}

static void a_fiber_may_wander(void **state) {
    (void)state;
    test_reader reader;
    assert_int_equal(record(&reader, NULL, (const char *[]){"fiber", "50", NULL}), 0);
    assert_int_equal(collector_zones_named(&reader.found, "in wanderer"), 50);
    assert_int_equal(collector_zones_named(&reader.found, "outer"), 50);
    assert_int_equal(collector_zones_named(&reader.found, "own"), 50);
    check_closed(&reader.found);
    detach(&reader);
}

/* ---- ends ---- */

static void exit_inside_a_zone_ends_it(void **state) {
    (void)state;
    test_reader reader;
    assert_int_equal(record(&reader, NULL, (const char *[]){"exit", NULL}), 0);
    assert_int_equal(collector_zones_named(&reader.found, "never ended"), 1);
    check_closed(&reader.found);
    detach(&reader);
}

/*
 * What the parent's thread held is out of reach in a child, which sanitizers take for a leak, and
 * threads after fork for a danger.
 */
static const char *const alone[] = {"ASAN_OPTIONS=detect_leaks=0", "TSAN_OPTIONS=die_after_fork=0",
                                    NULL};

static void a_forked_child_is_its_own(void **state) {
    (void)state;
    test_reader reader;
    assert_int_equal(record(&reader, alone, (const char *[]){"fork", NULL}), 0);
    assert_int_equal(collector_zones_named(&reader.found, "parent"), 1);
    assert_int_equal(collector_zones_named(&reader.found, "after the child"), 1);
    assert_int_equal(collector_zones_named(&reader.found, "child"), 0);
    check_closed(&reader.found);
    detach(&reader);
}

static void handlers_of_signals_record(void **state) {
    (void)state;
    test_program program = start(NULL, (const char *[]){"signals", NULL});
    test_reader reader;
    char printed[32] = "";
    attach(&reader, program.port, newest());
    read_to_end(&reader);
    assert_true(read(program.output, printed, sizeof printed - 1) > 0);
    assert_int_equal(finish(&program), 0);
    assert_int_equal(collector_zones_named(&reader.found, "work"), strtoul(printed, NULL, 10));
    const uint64_t handled = collector_zones_named(&reader.found, "in handler");
    assert_true(handled > 100); /* all but those that came at the wrong moment, and said so */
    assert_true(handled >= 2000 || reader.found.lost_messages > 0);
    check_closed(&reader.found);
    detach(&reader);
}

static void unloaded_libraries_keep_their_names(void **state) {
    (void)state;
    test_program program = start(NULL, (const char *[]){"plugins", "3", plugin_paths[0], NULL});
    test_reader reader;
    attach(&reader, program.port, newest());
    read_to_end(&reader);
    assert_int_equal(finish(&program), 0);
    assert_int_equal(collector_zones_named(&reader.found, "plugin one"), 3);
    char *text = text_of(&reader.found);
    assert_non_null(strstr(text, "message message of plugin one x3\n"));
    free(text);
    assert_int_equal(reader.found.locations_answered, 2); /* that, and the one before main */
    detach(&reader);
}

/* ---- on demand ---- */

static void on_demand_readers_come_and_go(void **state) {
    (void)state;
    const int readers = getenv("STROBE_TEST_FULL") != NULL ? 100 : 10;
    const char *const variables[] = {"TRACY_ON_DEMAND=1", "SUBJECT_QUIET=1", NULL};
    test_program program = start(variables, (const char *[]){"forever", NULL});
    for (int i = 0; i < readers; i++) {
        test_reader reader;
        attach(&reader, program.port, newest());
        assert_true((reader.welcome.flags & SB_WIRE_FLAG_ON_DEMAND) != 0);
        for (int frames = 0; frames < 5 || reader.found.zone_count < 1000; frames++)
            assert_true(read_frame(&reader));
        assert_string_equal(reader.found.fault, "");
        assert_true(collector_zones_named(&reader.found, "before main") == 0);
        detach(&reader); /* in the middle of everything */
    }
    kill(program.pid, SIGKILL);
    assert_int_equal(finish(&program), 256 + SIGKILL);
}

static void the_second_reader_comes_too_late(void **state) {
    (void)state;
    const char *const variables[] = {"SUBJECT_QUIET=1", NULL};
    test_program program = start(variables, (const char *[]){"forever", NULL});
    test_reader first;
    attach(&first, program.port, newest());
    detach(&first);
    test_reader second;
    assert_int_equal(greet(&second, program.port, newest()), SB_WIRE_NOT_AVAILABLE);
    close(second.descriptor);
    kill(program.pid, SIGKILL);
    finish(&program);
}

/* ---- bounds ---- */

static long peak_kilobytes(pid_t pid) {
    char path[64];
    char line[256];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "VmHWM: %ld", &peak); // NOLINT(cert-err34-c)
    if (file != NULL)
        fclose(file);
    return peak;
}

static void beyond_the_bound_whole_zones_are_dropped(void **state) {
    (void)state;
    /* Two million zones are 80 MiB; nobody reads until all are made. */
    const char *const variables[] = {"STROBE_MEMORY=8M", NULL};
    test_program program = start(variables, (const char *[]){"many", "1000000", NULL});
    usleep(1500000);
    const long peak = peak_kilobytes(program.pid);
    test_reader reader;
    attach(&reader, program.port, newest());
    read_to_end(&reader);
    assert_int_equal(finish(&program), 0);
    assert_true(reader.found.lost_messages > 0);
    assert_true(reader.found.zone_count > 100000);
    assert_true(reader.found.zone_count < 2100000);
    check_closed(&reader.found);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_in_range(peak, 1, 24 * 1024);
#else
    (void)peak;
#endif
    detach(&reader);
}

static void further_locations_share_one(void **state) {
    (void)state;
    const bool is_full = getenv("STROBE_TEST_FULL") != NULL;
    const char *const count = is_full ? "1000000" : "40000";
    test_reader reader;
    test_program program = start(NULL, (const char *[]){"transient", count, NULL});
    attach(&reader, program.port, newest());
    read_to_end(&reader);
    assert_int_equal(finish(&program), 0);
    assert_int_equal(reader.found.zone_count, strtoul(count, NULL, 10) + 1);
    assert_int_equal(collector_zones_named(&reader.found, "(further source locations)"),
                     strtoul(count, NULL, 10) - 32000);
    detach(&reader);
}

static void a_reader_that_hangs_delays_the_exit_only_so_long(void **state) {
    (void)state;
    const char *const variables[] = {"STROBE_EXIT_TIMEOUT=0.3", "SUBJECT_WAITS=1", NULL};
    test_program program = start(variables, (const char *[]){"many", "500000", NULL});
    test_reader reader;
    attach(&reader, program.port, newest());
    struct timespec begin;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    assert_int_equal(finish(&program), 0); /* we never read */
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - begin.tv_sec < 20);
    detach(&reader);
}

/* ---- files ---- */

typedef struct test_recording {
    sb_file file;
    sb_record_names *names;
    test_collector found;
    sb_record_summary summary;
} test_recording;

static void answer_at_once(void *context, const sb_wire_query *query) {
    test_recording *recording = context;
    const sb_wire_handler handler = collector_handler(&recording->found);
    sb_record_answer(recording->names, query, &handler);
}

static void replay(test_recording *recording, const char *path) {
    sb_error error = {0};
    *recording = (test_recording){.names = sb_record_names_create()};
    if (sb_file_open(&recording->file, path, &error) != SB_OK)
        fail_msg("%s", error.message);
    collector_init(&recording->found, recording, answer_at_once);
    const sb_wire_handler handler = collector_handler(&recording->found);
    if (sb_record_file_replay(recording->file.text, recording->names, &handler, &recording->summary,
                              &error) != SB_OK)
        fail_msg("%s", error.message);
    assert_string_equal(recording->found.fault, "");
    assert_int_equal(recording->summary.damaged_chunks, 0);
}

static void forget(test_recording *recording) {
    collector_free(&recording->found);
    sb_record_names_free(recording->names);
    sb_file_close(&recording->file);
}

static void a_file_holds_everything(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    char variable[256];
    const char *path = path_in(&folder, "all.%n.rec");
    snprintf(variable, sizeof variable, "STROBE_OUT=%s", path);
    const char *const variables[] = {variable, NULL};
    test_program program = start(variables, everything);
    assert_int_equal(finish(&program), 0);
    test_recording recording;
    replay(&recording, path_in(&folder, "all.client_subject.rec"));
    assert_true(recording.summary.is_closed);
    check_everything(&recording.found);
    sb_wire_welcome welcome;
    assert_int_equal(sb_record_file_welcome(recording.file.text, &welcome, NULL), SB_OK);
    assert_string_equal(welcome.program, "client_subject");
    assert_true(welcome.timer_multiplier > 0);
    forget(&recording);
    remove_folder(&folder);
}

static void a_forked_child_records_to_its_own_file(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    char variable[256];
    const char *path = path_in(&folder, "fork.rec");
    snprintf(variable, sizeof variable, "STROBE_OUT=%s", path);
    const char *const variables[] = {variable, alone[0], alone[1], NULL};
    test_program program = start(variables, (const char *[]){"fork", NULL});
    char child[32] = "";
    assert_true(read(program.output, child, sizeof child - 1) > 0);
    assert_int_equal(finish(&program), 0);
    test_recording recording;
    replay(&recording, path);
    assert_int_equal(collector_zones_named(&recording.found, "parent"), 1);
    assert_int_equal(collector_zones_named(&recording.found, "child"), 0);
    forget(&recording);
    child[strcspn(child, "\n")] = '\0';
    replay(&recording, path_in(&folder, child));
    assert_int_equal(collector_zones_named(&recording.found, "child"), 1);
    forget(&recording);
    remove_folder(&folder);
}

static void what_was_published_survives_a_kill(void **state) {
    (void)state;
    const int kills = getenv("STROBE_TEST_FULL") != NULL ? 200 : 10;
    const test_folder folder = make_folder();
    char variable[256];
    const char *path = path_in(&folder, "kill.rec");
    snprintf(variable, sizeof variable, "STROBE_OUT=%s", path);
    const char *const variables[] = {variable, NULL};
    srandom(7);
    for (int i = 0; i < kills; i++) {
        test_program program = start(variables, (const char *[]){"forever", NULL});
        uint64_t published = 0;
        const long enough = 1000 * (1 + random() % 100);
        while (published < (uint64_t)enough)
            assert_true(read_all(program.output, &published, sizeof published));
        kill(program.pid, SIGKILL);
        uint64_t more = 0;
        while (read(program.output, &more, sizeof more) == (ssize_t)sizeof more)
            published = more;
        assert_int_equal(finish(&program), 256 + SIGKILL);
        test_recording recording;
        replay(&recording, path);
        assert_false(recording.summary.is_closed);
        assert_true(collector_zones_named(&recording.found, "counted") >= published);
        check_closed(&recording.found);
        forget(&recording);
    }
    remove_folder(&folder);
}

static void a_damaged_chunk_is_left_out(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    char variable[256];
    const char *path = path_in(&folder, "damage.rec");
    snprintf(variable, sizeof variable, "STROBE_OUT=%s", path);
    const char *const variables[] = {variable, NULL};
    test_program program = start(variables, (const char *[]){"many", "20000", NULL});
    assert_int_equal(finish(&program), 0);
    test_recording recording;
    replay(&recording, path);
    const uint64_t all = recording.found.zone_count;
    forget(&recording);
    const int descriptor = open(path, O_RDWR);
    assert_int_equal(pwrite(descriptor, "damage", 6, 5L * SB_CHUNK_SIZE + 3000), 6);
    close(descriptor);
    sb_error error = {0};
    recording = (test_recording){.names = sb_record_names_create()};
    assert_int_equal(sb_file_open(&recording.file, path, &error), SB_OK);
    collector_init(&recording.found, &recording, answer_at_once);
    const sb_wire_handler handler = collector_handler(&recording.found);
    assert_int_equal(sb_record_file_replay(recording.file.text, recording.names, &handler,
                                           &recording.summary, &error),
                     SB_OK);
    assert_int_equal(recording.summary.damaged_chunks, 1);
    assert_true(recording.found.zone_count > all / 2);
    assert_true(recording.found.zone_count < all);
    forget(&recording);
    remove_folder(&folder);
}

static void a_full_disk_is_a_loss_and_no_crash(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    char variable[256];
    const char *path = path_in(&folder, "full.rec");
    snprintf(variable, sizeof variable, "STROBE_OUT=%s", path);
    const char *const variables[] = {variable, "SUBJECT_LIMIT=1", NULL};
    test_program program = start(variables, (const char *[]){"many", "200000", NULL});
    assert_int_equal(finish(&program), 0);
    test_recording recording;
    replay(&recording, path);
    assert_true(recording.found.zone_count > 1000);
    assert_true(recording.found.zone_count < 600000);
    check_closed(&recording.found);
    forget(&recording);
    remove_folder(&folder);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: test_client SUBJECT PLUGIN\n");
        return 2;
    }
    subject_path = argv[1];
    plugin_paths[0] = argv[2];
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_protocol_is_served),
        cmocka_unit_test(an_unknown_protocol_is_refused),
        cmocka_unit_test(threads_come_and_go),
        cmocka_unit_test(short_lived_threads_cost_no_lanes),
        cmocka_unit_test(a_fiber_may_wander),
        cmocka_unit_test(exit_inside_a_zone_ends_it),
        cmocka_unit_test(a_forked_child_is_its_own),
        cmocka_unit_test(handlers_of_signals_record),
        cmocka_unit_test(unloaded_libraries_keep_their_names),
        cmocka_unit_test(on_demand_readers_come_and_go),
        cmocka_unit_test(the_second_reader_comes_too_late),
        cmocka_unit_test(beyond_the_bound_whole_zones_are_dropped),
        cmocka_unit_test(further_locations_share_one),
        cmocka_unit_test(a_reader_that_hangs_delays_the_exit_only_so_long),
        cmocka_unit_test(a_file_holds_everything),
        cmocka_unit_test(a_forked_child_records_to_its_own_file),
        cmocka_unit_test(what_was_published_survives_a_kill),
        cmocka_unit_test(a_damaged_chunk_is_left_out),
        cmocka_unit_test(a_full_disk_is_a_loss_and_no_crash),
    };
    return RUN(tests);
}
