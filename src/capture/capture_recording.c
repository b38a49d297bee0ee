/*
 * From a recording file, as libstrobe writes it, to a trace: the program's records become the
 * events it would have sent, and its names answer our questions.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "capture/capture_session.h"
#include "record/record.h"

/* Answers all that is asked, and what the answers make us ask. */
static void answer_all(capture_model *model, sb_record_names *names,
                       const sb_wire_protocol *protocol) {
    enum { AT_ONCE = 256 };
    const sb_wire_handler handler = capture_model_handler(model);
    uint8_t bytes[AT_ONCE * SB_WIRE_QUERY_SIZE];
    sb_vector locations = sb_vector_of(sizeof(uint64_t));
    size_t count = 0;
    while ((count = capture_questions_take(model->questions, protocol, bytes, AT_ONCE,
                                           &locations)) > 0) {
        for (size_t i = 0; i < count; i++) {
            sb_wire_query query;
            if (sb_wire_query_decode(protocol, bytes + i * SB_WIRE_QUERY_SIZE, &query))
                sb_record_answer(names, &query, &handler);
        }
        sb_vector_clear(&locations);
    }
    sb_vector_free(&locations);
}

/* What a reader should know about the file, or SB_OK. */
static void judge(const sb_record_summary *summary, const sb_capture_recover_options *options,
                  sb_capture_report *report, sb_error *damage) {
    if (summary->damaged_chunks > 0)
        sb_error_set(damage, SB_ERR_FORMAT,
                     "%" PRIu64 " of its %" PRIu64 " chunks are damaged and left out",
                     summary->damaged_chunks, summary->chunks + summary->damaged_chunks);
    else if (!summary->is_closed && options->is_written)
        capture_say_unfinished("the program", damage);
    else if (!summary->is_closed && !options->has_ended)
        sb_error_set(damage, SB_ERR_FORMAT,
                     "the program has not closed it: it was killed, or the machine stopped");
    report->ending = summary->is_closed ? SB_JOURNAL_PROGRAM_ENDED : SB_JOURNAL_CUT;
    if (damage->status != SB_OK)
        memcpy(report->ending_text, damage->message, sizeof report->ending_text);
}

sb_status capture_recover_recording(sb_slice recording, const sb_capture_recover_options *options,
                                    sb_trace **trace, sb_capture_report *report, sb_error *damage,
                                    sb_error *error) {
    enum { NEWEST = 82 }; /* events are the same for all; this one has most of them */
    sb_journal_start start = {.protocol = NEWEST, .is_certain = true};
    SB_TRY(sb_record_file_welcome(recording, &start.welcome, error));
    if (!capture_clock_is_sane(&start.welcome))
        SB_FAIL(error, SB_ERR_FORMAT, "the recording's header has a clock that makes no sense");
    if (options->bound == NULL)
        *trace = sb_trace_create();
    else
        SB_TRY(sb_trace_create_bounded(options->bound, trace, error));
    const sb_wire_protocol *protocol = sb_wire_protocol_find(NEWEST, SB_WIRE_UPSTREAM);
    sb_record_names *names = sb_record_names_create();
    assert(protocol != NULL && names != NULL);
    start.wall_ns = start.welcome.epoch * UINT64_C(1000000000);
    capture_describe(report, &start);
    capture_questions questions;
    capture_model model;
    capture_questions_init(&questions, false);
    capture_model_init(&model, *trace, protocol, &start.welcome, &start.on_demand, &questions);
    const sb_wire_handler handler = capture_model_handler(&model);
    sb_record_summary summary;
    const sb_status status = sb_record_file_replay(recording, names, &handler, &summary, error);
    if (status == SB_OK) {
        answer_all(&model, names, protocol);
        judge(&summary, options, report, damage);
        report->journal_bytes = recording.size;
        report->lost = summary.lost;
        (*trace)->file.recording = "libstrobe recording";
        (*trace)->file.file_bytes = recording.size;
    }
    capture_model_finish(&model);
    capture_count_all(&model, report);
    capture_note_losses(&model, report);
    sb_record_names_free(names);
    capture_model_free(&model);
    capture_questions_free(&questions);
    return status;
}
