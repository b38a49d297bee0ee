/*
 * From a journal to a trace: the session again, without the program.
 */
#include "capture/capture_session.h"
#include "record/record.h"

typedef struct replay {
    capture_questions questions;
    capture_model model;
    sb_wire_decoder *decoder;
    sb_wire_unpacker *unpacker;
    sb_capture_report *report;
    bool has_end;
} replay;

static sb_status replay_frames(replay *of, sb_slice frames, sb_error *error) {
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

static void replay_asked(replay *of, sb_slice tokens) {
    for (; tokens.size >= sizeof(uint64_t); tokens = sb_slice_after(tokens, sizeof(uint64_t))) {
        uint64_t token = 0;
        for (unsigned i = 0; i < sizeof token; i++)
            token |= (uint64_t)(uint8_t)tokens.data[i] << (8 * i);
        capture_questions_asked(&of->questions, token);
    }
}

static sb_status replay_block(replay *of, const sb_journal_block *block, sb_error *error) {
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

static void replay_blocks(replay *of, sb_journal_reader *reader, sb_file *file, sb_error *damage) {
    sb_journal_block block = {0};
    of->report->ending = SB_JOURNAL_CUT;
    while (sb_journal_next(reader, &block, damage)) {
        if (replay_block(of, &block, damage) != SB_OK)
            return;
        if (file != NULL)
            sb_file_release(file, reader->offset);
    }
    if (damage->status == SB_OK && !of->has_end)
        sb_error_set(damage, SB_ERR_FORMAT,
                     "the journal has no end: the recorder or the machine stopped before it");
}

static sb_status read_start(sb_journal_reader *reader, sb_journal_start *start, sb_error *error) {
    sb_journal_block block = {0};
    if (!sb_journal_next(reader, &block, error)) {
        if (error->status == SB_OK)
            SB_FAIL(error, SB_ERR_EMPTY, "the journal is empty: nothing was recorded yet");
        return error->status;
    }
    if (block.kind != SB_JOURNAL_START)
        SB_FAIL(error, SB_ERR_FORMAT, "the journal does not begin with its first block");
    return sb_journal_decode_start(block.content, start, error);
}

bool sb_capture_can_recover(sb_slice bytes) {
    return sb_journal_is_one(bytes) || sb_record_file_is_one(bytes);
}

sb_status sb_capture_recover(sb_slice journal, const sb_capture_recover_options *options,
                             sb_trace **trace, sb_capture_report *report, sb_error *damage,
                             sb_error *error) {
    sb_journal_reader reader = {0};
    sb_journal_start start = {0};
    replay of = {.report = report};
    *trace = NULL;
    *damage = (sb_error){.status = SB_OK};
    if (sb_record_file_is_one(journal))
        return capture_recover_recording(journal, options, trace, report, damage, error);
    SB_TRY(sb_journal_open(&reader, journal, error));
    SB_TRY(read_start(&reader, &start, error));
    if (!capture_clock_is_sane(&start.welcome))
        SB_FAIL(error, SB_ERR_FORMAT, "the journal's first block has a clock that makes no sense");
    if (options->bound == NULL)
        *trace = sb_trace_create();
    else
        SB_TRY(sb_trace_create_bounded(options->bound, trace, error));
    const sb_wire_protocol *protocol = sb_wire_protocol_find(start.protocol, start.flavour);
    capture_describe(report, &start);
    capture_questions_init(&of.questions, true);
    capture_model_init(&of.model, *trace, protocol, &start.welcome, &start.on_demand,
                       &of.questions);
    const sb_wire_handler handler = capture_model_handler(&of.model);
    of.decoder = sb_wire_decoder_create(protocol, start.is_certain, &handler);
    of.unpacker = sb_wire_unpacker_create();
    assert(of.decoder != NULL && of.unpacker != NULL);
    replay_blocks(&of, &reader, options->file, damage);
    if (damage->status != SB_OK)
        memcpy(report->ending_text, damage->message, sizeof report->ending_text);
    report->protocol = sb_wire_protocol_name(of.model.protocol);
    report->journal_bytes = journal.size;
    (*trace)->file.recording = "journal";
    (*trace)->file.protocol = report->protocol;
    (*trace)->file.compression = "LZ4";
    (*trace)->file.file_bytes = journal.size;
    (*trace)->file.body_bytes = report->last.stream_bytes;
    capture_model_finish(&of.model);
    capture_count_all(&of.model, report);
    capture_note_losses(&of.model, report);
    sb_wire_decoder_free(of.decoder);
    sb_wire_unpacker_free(of.unpacker);
    capture_model_free(&of.model);
    capture_questions_free(&of.questions);
    return SB_OK;
}
