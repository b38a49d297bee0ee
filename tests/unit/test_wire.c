/*
 * wire: every protocol, both ways.
 */
#include "testing.h"
#include "wire/wire.h"
#include "wire/wire_tables.h"

/* ---- a stream in memory ---- */

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static bool append_bytes(void *context, const void *from, size_t size) {
    bytes *to = context;
    to->data = realloc(to->data, to->size + size);
    assert_non_null(to->data);
    memcpy(to->data + to->size, from, size);
    to->size += size;
    return true;
}

typedef struct seen {
    sb_wire_event events[64];
    size_t event_count;
    sb_wire_zone zones[4096];
    uint32_t zone_thread;
    size_t zone_count;
    sb_wire_encoder *copy; /* what is seen is encoded again; NULL: it is not */
} seen;

static void see_zones(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count) {
    seen *all = context;
    for (size_t i = 0; i < count && all->zone_count < COUNT_OF(all->zones); i++)
        all->zones[all->zone_count++] = zones[i];
    if (all->copy != NULL && thread != all->zone_thread)
        sb_wire_encode_thread(all->copy, thread);
    if (all->copy != NULL)
        sb_wire_encode_zones(all->copy, zones, count);
    all->zone_thread = thread;
}

static void see_event(void *context, const sb_wire_event *event) {
    seen *all = context;
    if (all->event_count < COUNT_OF(all->events))
        all->events[all->event_count++] = *event;
    if (all->copy != NULL)
        assert_true(sb_wire_encode(all->copy, event));
}

/* Unpacks and decodes all frames of a stream. */
static sb_status decode_stream(const sb_wire_protocol *protocol, bool is_certain, bytes stream,
                               seen *all, sb_error *error) {
    const sb_wire_handler handler = {all, see_zones, see_event};
    sb_wire_decoder *decoder = sb_wire_decoder_create(protocol, is_certain, &handler);
    sb_wire_unpacker *unpacker = sb_wire_unpacker_create();
    sb_status status = SB_OK;
    size_t at = 0;
    while (at < stream.size && status == SB_OK) {
        sb_slice frame = {0};
        const size_t size = sb_wire_block_size(stream.data + at);
        const sb_slice block = {(const char *)stream.data + at + 4, size};
        status = sb_wire_unpack(unpacker, block, &frame, error);
        if (status == SB_OK)
            status = sb_wire_decode(decoder, frame, error);
        at += 4 + size;
    }
    sb_wire_unpacker_free(unpacker);
    sb_wire_decoder_free(decoder);
    return status;
}

/* ---- tables ---- */

static void ids_are_counted_as_in_each_release(void **state) {
    (void)state;
    static const struct {
        uint32_t number;
        sb_wire_flavour flavour;
        unsigned count;
    } expected[] = {{63, 0, 110}, {64, 0, 111}, {66, 0, 112}, {66, 1, 112}, {69, 0, 113},
                    {74, 0, 115}, {76, 0, 117}, {76, 1, 117}, {79, 1, 130}, {82, 0, 132},
                    {83, 1, 135}, {80, 0, 129}, {77, 0, 117}, {82, 2, 132}};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const sb_wire_protocol *protocol =
            sb_wire_protocol_find(expected[i].number, expected[i].flavour);
        assert_non_null(protocol);
        assert_int_equal(protocol->count, expected[i].count);
    }
    assert_null(sb_wire_protocol_any(57));
}

static void example_of_82_is_encoded_byte_by_byte(void **state) {
    (void)state;
    static const uint8_t expected[] = {0x4b, 0x4d, 0x00, 0x00, 0x00, 0x14, 0xc0, 0xc6, 0x2c, 0x00,
                                       0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1b, 0x88,
                                       0x13, 0x5b, 0x30, 0xde, 0x2d, 0x00, 0x00, 0x00, 0x00, 0x00,
                                       0x20, 0x00, 0x30, 0x00, 0x00, 0x00, 0x00, 0x00, 0x49};
    bytes stream = {0};
    const sb_wire_protocol *protocol = sb_wire_protocol_find(82, SB_WIRE_UPSTREAM);
    sb_wire_encoder *encoder = sb_wire_encoder_create(protocol, append_bytes, &stream);
    const sb_wire_zone zones[] = {{3000000, 0x1000}, {3005000, SB_WIRE_END_ZONE}};
    sb_wire_encode_thread(encoder, 77);
    sb_wire_encode_zones(encoder, zones, 2);
    sb_wire_encode(encoder, &(sb_wire_event){.kind = SB_WIRE_MESSAGE,
                                             .form = SB_WIRE_LITERAL,
                                             .thread = 77,
                                             .time = 3006000,
                                             .token = 0x3000,
                                             .metadata = 0x20});
    sb_wire_encode(encoder, &(sb_wire_event){.kind = SB_WIRE_TERMINATE});
    assert_true(sb_wire_encoder_flush(encoder));
    sb_wire_unpacker *unpacker = sb_wire_unpacker_create();
    sb_slice frame = {0};
    const sb_slice block = {(const char *)stream.data + 4, stream.size - 4};
    assert_int_equal(sb_wire_unpack(unpacker, block, &frame, NULL), SB_OK);
    assert_int_equal(frame.size, sizeof expected);
    assert_memory_equal(frame.data, expected, sizeof expected);
    sb_wire_unpacker_free(unpacker);
    sb_wire_encoder_free(encoder);
    free(stream.data);
}

/* ---- every event, in every protocol ---- */

static void fill_member(sb_wire_event *event, const wire_field *field, uint64_t value) {
    if (field->coding == WIRE_FLOAT) {
        event->number = (double)(float)(value % 100000) / 16;
        return;
    }
    if (field->width < 8)
        value &= (UINT64_C(1) << (8 * field->width)) - 1;
    if (field->coding != WIRE_UNSIGNED && field->coding != WIRE_SIGNED)
        value %= UINT64_C(1) << 40;
    memcpy((char *)event + field->member, &value, field->member_size);
}

static sb_wire_event random_event(const wire_entry *entry, uint64_t *random) {
    static const uint64_t addresses[] = {0x1111, 0x2222, 0x3333};
    const wire_item *item = &wire_items[entry->item];
    sb_wire_event event = {.kind = item->kind, .form = item->form, .type = item->type};
    if (item->of_thread)
        event.thread = (uint32_t)(next_random(random) % 3 + 1);
    event.token = next_random(random) >> 16;
    for (const uint8_t *code = entry->fields; *code != 0; code++)
        fill_member(&event, &wire_fields[*code], next_random(random));
    event.text = sb_slice_first((sb_slice)SB_SLICE("a text that is long enough to be cut"),
                                next_random(random) % 36);
    event.file_text = (sb_slice)SB_SLICE("file.c");
    event.function_text = (sb_slice)SB_SLICE("function");
    event.script = (sb_slice)SB_SLICE("\x01script");
    event.pool = next_random(random);
    event.payload = (sb_slice){(const char *)addresses, sizeof addresses};
    return event;
}

/* Whatever is encoded gives the same bytes after it was decoded and encoded again. */
static void all_events_survive_in_all_protocols(void **state) {
    (void)state;
    uint64_t random = 88172645463325252U;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        const sb_wire_protocol *protocol = sb_wire_protocol_at(i);
        bytes stream = {0};
        bytes again = {0};
        sb_wire_encoder *encoder = sb_wire_encoder_create(protocol, append_bytes, &stream);
        sb_wire_encoder *copy = sb_wire_encoder_create(protocol, append_bytes, &again);
        for (unsigned round = 0; round < 40; round++) {
            for (unsigned id = 0; id < protocol->count; id++) {
                const sb_wire_event event = random_event(&protocol->entries[id], &random);
                if (event.kind != SB_WIRE_NOTHING)
                    assert_true(sb_wire_encode(encoder, &event));
            }
        }
        assert_true(sb_wire_encoder_flush(encoder));
        seen *all = calloc(1, sizeof *all);
        all->copy = copy;
        sb_error error = {0};
        if (decode_stream(protocol, true, stream, all, &error) != SB_OK)
            fail_msg("%s", error.message);
        assert_true(sb_wire_encoder_flush(copy));
        seen *second = calloc(1, sizeof *second);
        assert_int_equal(decode_stream(protocol, true, again, second, &error), SB_OK);
        assert_int_equal(second->event_count, all->event_count);
        assert_int_equal(second->zone_count, all->zone_count);
        assert_memory_equal(second->zones, all->zones, all->zone_count * sizeof all->zones[0]);
        assert_int_equal(again.size > 0, 1);
        free(all);
        free(second);
        sb_wire_encoder_free(encoder);
        sb_wire_encoder_free(copy);
        free(stream.data);
        free(again.data);
    }
}

static void events_keep_their_members(void **state) {
    (void)state;
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        const sb_wire_protocol *protocol = sb_wire_protocol_at(i);
        bytes stream = {0};
        sb_wire_encoder *encoder = sb_wire_encoder_create(protocol, append_bytes, &stream);
        const sb_wire_event plot = {.kind = SB_WIRE_PLOT_DOUBLE,
                                    .thread = 5,
                                    .time = 12345,
                                    .token = 0xabcdef,
                                    .number = 2.5};
        const sb_wire_event zone = {.kind = SB_WIRE_DEVICE_BEGIN,
                                    .form = SB_WIRE_DYNAMIC | SB_WIRE_SERIAL,
                                    .time = -7,
                                    .thread = 0x3320,
                                    .query = 40000,
                                    .context = 200,
                                    .line = 12,
                                    .colour = 0x112233,
                                    .text = SB_SLICE("kernel"),
                                    .function_text = SB_SLICE("OP ID:3"),
                                    .file_text = SB_SLICE("k.cpp")};
        assert_true(sb_wire_encode(encoder, &plot));
        assert_true(sb_wire_encode(encoder, &zone));
        assert_true(sb_wire_encoder_flush(encoder));
        seen *all = calloc(1, sizeof *all);
        assert_int_equal(decode_stream(protocol, true, stream, all, NULL), SB_OK);
        assert_int_equal(all->event_count, 2);
        assert_int_equal(all->events[0].thread, 5);
        assert_int_equal(all->events[0].time, 12345);
        assert_int_equal(all->events[0].token, 0xabcdef);
        check_double(all->events[0].number, 2.5);
        assert_int_equal(all->events[1].time, -7);
        assert_int_equal(all->events[1].query, 40000);
        assert_int_equal(all->events[1].context, 200);
        assert_int_equal(all->events[1].line, 12);
        assert_int_equal(all->events[1].colour, 0x112233);
        free(all);
        sb_wire_encoder_free(encoder);
        free(stream.data);
    }
}

/* Distances at the edges of the shorter forms, backwards too. */
static void times_survive_at_every_width(void **state) {
    (void)state;
    static const int64_t distances[] = {0,          1,          65535,      65536,
                                        65537,      4294967295, 4295032831, 4295032832,
                                        4295032833, -1,         -65536,     INT64_C(1) << 50};
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        const sb_wire_protocol *protocol = sb_wire_protocol_at(i);
        bytes stream = {0};
        sb_wire_encoder *encoder = sb_wire_encoder_create(protocol, append_bytes, &stream);
        sb_wire_zone zones[2 * COUNT_OF(distances)];
        int64_t time = 1000000;
        for (size_t k = 0; k < COUNT_OF(distances); k++) {
            zones[2 * k] = (sb_wire_zone){time += distances[k], 0x7000 + k};
            zones[2 * k + 1] = (sb_wire_zone){time += distances[k], SB_WIRE_END_ZONE};
        }
        sb_wire_encode_thread(encoder, 9);
        sb_wire_encode_zones(encoder, zones, COUNT_OF(zones));
        assert_true(sb_wire_encoder_flush(encoder));
        seen *all = calloc(1, sizeof *all);
        assert_int_equal(decode_stream(protocol, true, stream, all, NULL), SB_OK);
        assert_int_equal(all->zone_count, COUNT_OF(zones));
        assert_int_equal(all->zone_thread, 9);
        assert_memory_equal(all->zones, zones, sizeof zones);
        free(all);
        sb_wire_encoder_free(encoder);
        free(stream.data);
    }
}

/* ---- flavours ---- */

static void flavour_shows_in_the_first_context(void **state) {
    (void)state;
    static const uint32_t numbers[] = {66, 76, 77, 79};
    for (size_t i = 0; i < 2 * COUNT_OF(numbers); i++) {
        const sb_wire_flavour truth = i % 2 == 0 ? SB_WIRE_UPSTREAM : SB_WIRE_TENSTORRENT;
        const sb_wire_protocol *protocol = sb_wire_protocol_find(numbers[i / 2], truth);
        bytes stream = {0};
        sb_wire_encoder *encoder = sb_wire_encoder_create(protocol, append_bytes, &stream);
        const sb_wire_event context = {.kind = SB_WIRE_DEVICE_CONTEXT,
                                       .number = 1,
                                       .context = 3,
                                       .flags = 1,
                                       .type = truth == SB_WIRE_UPSTREAM ? 2 : 6};
        sb_wire_encode_thread(encoder, 4);
        sb_wire_encode(encoder, &context);
        sb_wire_encode(encoder, &(sb_wire_event){.kind = SB_WIRE_DEVICE_TIME, .context = 3});
        assert_true(sb_wire_encoder_flush(encoder));
        seen *all = calloc(1, sizeof *all);
        const sb_wire_protocol *assumed = sb_wire_protocol_any(numbers[i / 2]);
        assert_int_equal(decode_stream(assumed, false, stream, all, NULL), SB_OK);
        assert_int_equal(all->event_count, 2);
        assert_int_equal(all->events[0].type, context.type);
        assert_int_equal(all->events[1].context, 3);
        free(all);
        sb_wire_encoder_free(encoder);
        free(stream.data);
    }
}

/* For some days number 82 had sections without a category. */
static void sections_show_which_82_it_is(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const sb_wire_flavour truth = i == 0 ? SB_WIRE_UPSTREAM : SB_WIRE_EARLY;
        const sb_wire_protocol *protocol = sb_wire_protocol_find(82, truth);
        bytes stream = {0};
        sb_wire_encoder *encoder = sb_wire_encoder_create(protocol, append_bytes, &stream);
        const sb_wire_zone zones[] = {{3000, 0x1000}, {5000, SB_WIRE_END_ZONE}};
        sb_wire_encode_thread(encoder, 4);
        sb_wire_encode(encoder, &(sb_wire_event){.kind = SB_WIRE_SECTION_ENTER,
                                                 .time = 1000,
                                                 .id = 7,
                                                 .category = 9,
                                                 .text = SB_SLICE("part")});
        sb_wire_encode_zones(encoder, zones, COUNT_OF(zones));
        sb_wire_encode(encoder,
                       &(sb_wire_event){.kind = SB_WIRE_SECTION_LEAVE, .time = 6000, .id = 7});
        assert_true(sb_wire_encoder_flush(encoder));
        seen *all = calloc(1, sizeof *all);
        sb_error error = {0};
        if (decode_stream(sb_wire_protocol_any(82), false, stream, all, &error) != SB_OK)
            fail_msg("%s", error.message);
        assert_int_equal(all->event_count, 2);
        assert_int_equal(all->events[0].id, 7);
        assert_int_equal(all->events[0].category, truth == SB_WIRE_UPSTREAM ? 9 : 0);
        assert_int_equal(all->events[1].time, 6000);
        assert_int_equal(all->zone_count, 2);
        free(all);
        sb_wire_encoder_free(encoder);
        free(stream.data);
    }
}

/* ---- malformed streams ---- */

static sb_status decode_frame(const uint8_t *frame, size_t size, sb_error *error) {
    seen *all = calloc(1, sizeof *all);
    const sb_wire_handler handler = {all, see_zones, see_event};
    sb_wire_decoder *decoder =
        sb_wire_decoder_create(sb_wire_protocol_find(82, SB_WIRE_UPSTREAM), false, &handler);
    const sb_status status = sb_wire_decode(decoder, (sb_slice){(const char *)frame, size}, error);
    sb_wire_decoder_free(decoder);
    free(all);
    return status;
}

static void malformed_items_are_named_with_their_offset(void **state) {
    (void)state;
    static const uint8_t unknown[] = {74, 200};
    static const uint8_t cut[] = {74, 74, 87, 1, 2};
    static const uint8_t long_text[] = {114, 9, 'a'};
    static const uint8_t location[] = {122, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0,
                                       1,   2, 7, 0, 0, 0, 0, 0, 0, 0, 0};
    sb_error error = {0};
    assert_int_equal(decode_frame(unknown, sizeof unknown, &error), SB_ERR_FORMAT);
    check_contains(sb_slice_of(error.message), "id 200) at offset 1");
    assert_int_equal(decode_frame(cut, sizeof cut, &error), SB_ERR_FORMAT);
    check_contains(sb_slice_of(error.message), "SourceLocation (id 87) at offset 2");
    assert_int_equal(decode_frame(long_text, sizeof long_text, &error), SB_ERR_FORMAT);
    check_contains(sb_slice_of(error.message), "past the end");
    assert_int_equal(decode_frame(location, sizeof location, &error), SB_ERR_FORMAT);
    check_contains(sb_slice_of(error.message), "malformed source location");
}

static void zones_before_a_refused_item_are_handed_over(void **state) {
    (void)state;
    /* A thread, a zone that begins and ends, and an item that does not exist or is cut. */
    uint8_t frame[] = {75, 77, 0, 0, 0, 20, 0xc0, 0xc6, 0x2c, 0, 0,    0x10,
                       0,  0,  0, 0, 0, 0,  27,   0x88, 0x13, 0, 0xff, 'a'};
    static const sb_wire_zone expected[] = {{3000000, 0x1000}, {3005000, SB_WIRE_END_ZONE}};
    static const uint8_t bad_ids[] = {200, 114};
    for (size_t i = 0; i < COUNT_OF(bad_ids); i++) {
        frame[sizeof frame - 3] = bad_ids[i];
        seen *all = calloc(1, sizeof *all);
        const sb_wire_handler handler = {all, see_zones, see_event};
        sb_wire_decoder *decoder =
            sb_wire_decoder_create(sb_wire_protocol_find(82, SB_WIRE_UPSTREAM), true, &handler);
        const sb_slice bytes_of_frame = {(const char *)frame, sizeof frame};
        assert_int_equal(sb_wire_decode(decoder, bytes_of_frame, NULL), SB_ERR_FORMAT);
        assert_int_equal(all->zone_thread, 77);
        assert_int_equal(all->zone_count, COUNT_OF(expected));
        assert_memory_equal(all->zones, expected, sizeof expected);
        sb_wire_decoder_free(decoder);
        free(all);
    }
}

static void texts_wait_for_their_taker_in_the_next_frame(void **state) {
    (void)state;
    static const uint8_t first[] = {114, 3, 'a', 'b', 'c'};
    static const uint8_t second[] = {0};
    seen *all = calloc(1, sizeof *all);
    const sb_wire_handler handler = {all, see_zones, see_event};
    sb_wire_decoder *decoder =
        sb_wire_decoder_create(sb_wire_protocol_find(82, SB_WIRE_UPSTREAM), true, &handler);
    uint8_t buffer[sizeof first];
    memcpy(buffer, first, sizeof first);
    const sb_slice frame = {(const char *)buffer, sizeof first};
    assert_int_equal(sb_wire_decode(decoder, frame, NULL), SB_OK);
    memset(buffer, 'x', sizeof buffer);
    const sb_slice next = {(const char *)second, sizeof second};
    assert_int_equal(sb_wire_decode(decoder, next, NULL), SB_OK);
    assert_int_equal(all->events[0].kind, SB_WIRE_ZONE_TEXT);
    assert_int_equal(all->events[0].text.size, 3);
    sb_wire_decoder_free(decoder);
    free(all);
}

/* ---- greetings ---- */

static void greetings_survive(void **state) {
    (void)state;
    sb_wire_welcome welcome = {.timer_multiplier = 0.5,
                               .init_begin = 10,
                               .delay = 3,
                               .resolution = 4,
                               .process_id = 42,
                               .flags = SB_WIRE_FLAG_ON_DEMAND,
                               .program = "demo",
                               .host = "OS: demo"};
    for (size_t i = 0; i < sb_wire_protocol_count(); i++) {
        const sb_wire_protocol *protocol = sb_wire_protocol_at(i);
        uint8_t stored[SB_WIRE_WELCOME_MAX];
        sb_wire_welcome read = {0};
        sb_wire_welcome_encode(protocol, &welcome, stored);
        sb_wire_welcome_decode(protocol, stored, &read);
        assert_int_equal(sb_wire_welcome_size(protocol), protocol->number < 75 ? 1178 : 1170);
        assert_string_equal(read.host, "OS: demo");
        assert_int_equal(read.process_id, 42);
        for (unsigned kind = 0; kind < SB_WIRE_QUERY_KINDS; kind++) {
            const sb_wire_query query = {(sb_wire_query_kind)kind, 0x123456789, 7};
            uint8_t packet[SB_WIRE_QUERY_SIZE];
            sb_wire_query back = {0};
            sb_wire_query_encode(protocol, &query, packet);
            assert_true(sb_wire_query_decode(protocol, packet, &back));
            assert_int_equal(back.kind, kind);
            assert_int_equal(back.token, 0x123456789);
        }
    }
    const sb_wire_announcement announcement = {
        .port = 8087, .protocol = 82, .process_id = 5, .active_seconds = -1, .program = "name"};
    uint8_t datagram[SB_WIRE_ANNOUNCEMENT_MAX];
    sb_wire_announcement heard = {0};
    const size_t size = sb_wire_announcement_encode(&announcement, datagram);
    assert_int_equal(size, 25);
    assert_true(sb_wire_announcement_decode((sb_slice){(char *)datagram, size}, &heard));
    assert_int_equal(heard.port, announcement.port);
    assert_int_equal(heard.protocol, announcement.protocol);
    assert_int_equal(heard.process_id, announcement.process_id);
    assert_int_equal(heard.active_seconds, announcement.active_seconds);
    assert_string_equal(heard.program, announcement.program);
    assert_false(sb_wire_announcement_decode((sb_slice){(char *)datagram, 85}, &heard));
    assert_false(sb_wire_announcement_decode((sb_slice){(char *)datagram, 19}, &heard));
}

/* ---- journal ---- */

static size_t count_blocks(sb_slice file, sb_status *end) {
    sb_journal_reader reader;
    sb_journal_block block;
    sb_error error = {0};
    size_t count = 0;
    assert_int_equal(sb_journal_open(&reader, file, &error), SB_OK);
    while (sb_journal_next(&reader, &block, &error))
        count++;
    *end = error.status;
    return count;
}

static void a_journal_is_read_up_to_the_damage(void **state) {
    (void)state;
    const test_folder folder = make_folder();
    char path[128];
    snprintf(path, sizeof path, "%s/j", folder.path);
    sb_journal_writer writer;
    sb_error error = {0};
    assert_int_equal(sb_journal_create(&writer, path, false, &error), SB_OK);
    const sb_journal_start start = {.protocol = 82, .welcome = {.program = "demo"}};
    assert_int_equal(sb_journal_append_start(&writer, &start, &error), SB_OK);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(
            sb_journal_append(&writer, SB_JOURNAL_FRAMES, (sb_slice){"0123456789", i}, &error),
            SB_OK);
    assert_int_equal(sb_journal_sync(&writer, &error), SB_OK);
    sb_journal_close(&writer);
    assert_int_equal(sb_journal_create(&writer, path, false, &error), SB_ERR_IO);
    sb_file file;
    assert_int_equal(sb_file_open(&file, path, &error), SB_OK);
    sb_status end = SB_OK;
    assert_int_equal(count_blocks(file.text, &end), 11);
    assert_int_equal(end, SB_OK);
    char *copy = malloc(file.text.size);
    memcpy(copy, file.text.data, file.text.size);
    size_t last = 0;
    for (size_t size = SB_JOURNAL_MAGIC_SIZE; size < file.text.size; size++) {
        const size_t count = count_blocks((sb_slice){copy, size}, &end);
        assert_true(count >= last && count <= 11);
        last = count;
    }
    for (size_t i = SB_JOURNAL_MAGIC_SIZE; i < file.text.size; i++) {
        copy[i] = (char)(copy[i] ^ 0x10);
        assert_true(count_blocks((sb_slice){copy, file.text.size}, &end) < 11);
        assert_int_equal(end, SB_ERR_FORMAT);
        copy[i] = (char)(copy[i] ^ 0x10);
    }
    free(copy);
    sb_file_close(&file);
    remove_folder(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_counted_as_in_each_release),
        cmocka_unit_test(example_of_82_is_encoded_byte_by_byte),
        cmocka_unit_test(all_events_survive_in_all_protocols),
        cmocka_unit_test(events_keep_their_members),
        cmocka_unit_test(times_survive_at_every_width),
        cmocka_unit_test(flavour_shows_in_the_first_context),
        cmocka_unit_test(sections_show_which_82_it_is),
        cmocka_unit_test(malformed_items_are_named_with_their_offset),
        cmocka_unit_test(zones_before_a_refused_item_are_handed_over),
        cmocka_unit_test(texts_wait_for_their_taker_in_the_next_frame),
        cmocka_unit_test(greetings_survive),
        cmocka_unit_test(a_journal_is_read_up_to_the_damage),
    };
    return RUN(tests);
}
