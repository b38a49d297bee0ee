/*
 * From a journal to a trace: the session again, without the program.
 */
#include "capture/capture_session.h"
#include "record/record.h"

static sb_status replay_frames(capture_replay *of, sb_slice frames, sb_error *error) {
    enum { LENGTH_SIZE = 4 };
    while (frames.size > 0) {
        sb_slice frame = {0};
        if (frames.size < LENGTH_SIZE)
            SB_FAIL(error, SB_ERR_FORMAT, "a block of frames ends within a frame");
        const size_t size = sb_wire_block_size((const uint8_t *)frames.data);
        frames = sb_slice_after(frames, LENGTH_SIZE);
        if (size > frames.size)
            SB_FAIL(error, SB_ERR_FORMAT, "a block of frames ends within a frame");
        SB_TRY(sb_wire_unpack(of->unpacker, sb_slice_first(frames, size), &frame, error));
        SB_TRY(sb_wire_decode(of->decoder, frame, error));
        of->model.protocol = sb_wire_decoder_protocol(of->decoder);
        of->report->last.wire_bytes += LENGTH_SIZE + size;
        of->report->last.stream_bytes += frame.size;
        frames = sb_slice_after(frames, size);
    }
    return SB_OK;
}

static void replay_asked(capture_replay *of, sb_slice tokens) {
    for (; tokens.size >= sizeof(uint64_t); tokens = sb_slice_after(tokens, sizeof(uint64_t))) {
        uint64_t token = 0;
        for (unsigned i = 0; i < sizeof token; i++)
            token |= (uint64_t)(uint8_t)tokens.data[i] << (8 * i);
        capture_questions_asked(&of->questions, token);
    }
}

static sb_status start_replay(capture_replay *of, const sb_journal_block *block, sb_error *error) {
    sb_journal_start start = {0};
    if (block->kind != SB_JOURNAL_START)
        SB_FAIL(error, SB_ERR_FORMAT, "the journal does not begin with its first block");
    SB_TRY(sb_journal_decode_start(block->content, &start, error));
    if (!capture_clock_is_sane(&start.welcome))
        SB_FAIL(error, SB_ERR_FORMAT, "the journal's first block has a clock that makes no sense");
    if (of->bound == NULL)
        of->trace = sb_trace_create();
    else
        SB_TRY(sb_trace_create_bounded(of->bound, &of->trace, error));
    const sb_wire_protocol *protocol = sb_wire_protocol_find(start.protocol, start.flavour);
    capture_describe(of->report, &start);
    of->report->ending = SB_JOURNAL_CUT;
    capture_questions_init(&of->questions, true);
    capture_model_init(&of->model, of->trace, protocol, &start.welcome, &start.on_demand,
                       &of->questions);
    const sb_wire_handler handler = capture_model_handler(&of->model);
    of->decoder = sb_wire_decoder_create(protocol, start.is_certain, &handler);
    of->unpacker = sb_wire_unpacker_create();
    assert(of->decoder != NULL && of->unpacker != NULL);
    return SB_OK;
}

sb_status capture_replay_block(capture_replay *of, const sb_journal_block *block, sb_error *error) {
    if (of->trace == NULL)
        return start_replay(of, block, error);
    switch (block->kind) {
    case SB_JOURNAL_FRAMES:
        return replay_frames(of, block->content, error);
    case SB_JOURNAL_ASKED:
        replay_asked(of, block->content);
        return SB_OK;
    case SB_JOURNAL_END:
        of->has_end = true;
        if (block->content.size > 0 && (uint8_t)block->content.data[0] <= SB_JOURNAL_MALFORMED)
            of->report->ending = (sb_journal_ending)(uint8_t)block->content.data[0];
        return SB_OK;
    default:
        return SB_OK; /* of a newer Strobe */
    }
}

void capture_replay_finish(capture_replay *of, const sb_error *damage, uint64_t journal_bytes) {
    sb_capture_report *report = of->report;
    assert(of->trace != NULL);
    sb_trace_file *file = &of->trace->file;
    if (damage->status != SB_OK)
        memcpy(report->ending_text, damage->message, sizeof report->ending_text);
    report->protocol = sb_wire_protocol_name(of->model.protocol);
    report->journal_bytes = journal_bytes;
    file->recording = "journal";
    file->protocol = report->protocol;
    file->compression = "LZ4";
    file->file_bytes = journal_bytes;
    file->body_bytes = report->last.stream_bytes;
    capture_model_finish(&of->model);
    capture_count_all(&of->model, report);
    capture_note_losses(&of->model, report);
    sb_wire_decoder_free(of->decoder);
    sb_wire_unpacker_free(of->unpacker);
    capture_model_free(&of->model);
    capture_questions_free(&of->questions);
}

void capture_say_no_end(sb_error *damage) {
    sb_error_set(damage, SB_ERR_FORMAT,
                 "the journal has no end: the recorder or the machine stopped before it");
}

void capture_say_unfinished(const char *who, sb_error *damage) {
    sb_error_set(damage, SB_ERR_FORMAT,
                 "%s still writes it, and this is what it held when it was opened", who);
}

static void replay_blocks(capture_replay *of, sb_journal_reader *reader,
                          const sb_capture_recover_options *options, sb_error *damage) {
    sb_journal_block block = {0};
    while (sb_journal_next(reader, &block, damage)) {
        if (capture_replay_block(of, &block, damage) != SB_OK)
            return;
        if (options->file != NULL)
            sb_file_release(options->file, reader->offset);
    }
    if (options->is_written && !of->has_end && (damage->status == SB_OK || reader->is_short))
        capture_say_unfinished("its recorder", damage);
    else if (damage->status == SB_OK && !of->has_end)
        capture_say_no_end(damage);
}

static sb_status read_start(capture_replay *of, sb_journal_reader *reader, sb_error *error) {
    sb_journal_block block = {0};
    if (!sb_journal_next(reader, &block, error)) {
        if (error->status == SB_OK)
            SB_FAIL(error, SB_ERR_EMPTY, "the journal is empty: nothing was recorded yet");
        return error->status;
    }
    return capture_replay_block(of, &block, error);
}

bool sb_capture_can_recover(sb_slice bytes) {
    return sb_journal_is_one(bytes) || sb_record_file_is_one(bytes);
}

sb_status sb_capture_recover(sb_slice journal, const sb_capture_recover_options *options,
                             sb_trace **trace, sb_capture_report *report, sb_error *damage,
                             sb_error *error) {
    sb_journal_reader reader = {0};
    capture_replay of = {.report = report, .bound = options->bound};
    *trace = NULL;
    *damage = (sb_error){.status = SB_OK};
    if (sb_record_file_is_one(journal))
        return capture_recover_recording(journal, options, trace, report, damage, error);
    SB_TRY(sb_journal_open(&reader, journal, error));
    SB_TRY(read_start(&of, &reader, error));
    replay_blocks(&of, &reader, options, damage);
    capture_replay_finish(&of, damage, journal.size);
    *trace = of.trace;
    return SB_OK;
}
