/*
 * What is said about a recording when it is over.
 */
#include <stdio.h>
#include <unistd.h>

#include "capture/capture_session.h"

void capture_describe(sb_capture_report *report, const sb_journal_start *start) {
    *report = (sb_capture_report){.process_id = start->welcome.process_id,
                                  .wall_ns = start->wall_ns,
                                  .clock_ns = start->clock_ns,
                                  .ns_per_tick = start->welcome.timer_multiplier,
                                  .zero_tick = start->welcome.init_begin};
    snprintf(report->program, sizeof report->program, "%s", start->welcome.program);
    snprintf(report->address, sizeof report->address, "%s", start->address);
    const sb_wire_protocol *protocol = sb_wire_protocol_find(start->protocol, start->flavour);
    report->protocol = protocol == NULL ? "" : sb_wire_protocol_name(protocol);
}

static const char *const fault_names[CAPTURE_FAULTS] = {
    [CAPTURE_STRAY_END] = "zone ends or texts without a zone",
    [CAPTURE_STRAY_FREE] = "frees of memory that was not allocated",
    [CAPTURE_STRAY_LOCK] = "events of locks that were not announced",
    [CAPTURE_STRAY_DEVICE] = "device events without their context or zone",
    [CAPTURE_STRAY_FRAME] = "frame ends without a start",
    [CAPTURE_STRAY_ANSWER] = "answers that nobody asked for",
    [CAPTURE_BAD_VALUE] = "plot values that are no numbers",
    [CAPTURE_BAD_CALIBRATION] = "device clock readings that make no sense",
    [CAPTURE_BAD_STACK] = "call stacks of scripts that are cut",
    [CAPTURE_OVER_LIMIT] = "things beyond what is kept of one program",
};

void capture_count_all(const capture_model *model, sb_capture_report *report) {
    report->unkept_count = 0;
    report->fault_count = 0;
    for (unsigned i = 0; i < SB_WIRE_KINDS; i++) {
        if (model->unkept[i] > 0)
            report->unkept[report->unkept_count++] =
                (sb_capture_count){sb_wire_kind_name((sb_wire_kind)i), model->unkept[i]};
    }
    for (unsigned i = 0; i < CAPTURE_FAULTS; i++) {
        if (model->faults[i] > 0)
            report->faults[report->fault_count++] =
                (sb_capture_count){fault_names[i], model->faults[i]};
    }
    report->last.zones = model->zones;
    report->last.events = model->events;
    report->last.span_ns = model->last_ns;
}

static void add_loss(const capture_model *model, sb_loss_cause cause, uint64_t count,
                     const char *text) {
    const sb_loss loss = {.from = model->last_ns,
                          .to = model->last_ns,
                          .thread = SB_NONE,
                          .cause = cause,
                          .count = count,
                          .text = sb_trace_string(model->trace, sb_slice_of(text))};
    sb_trace_add_loss(model->trace, &loss);
}

void capture_note_losses(const capture_model *model, const sb_capture_report *report) {
    if (report->ending_text[0] != '\0')
        add_loss(model, SB_LOSS_OTHER, 0, report->ending_text);
    for (size_t i = 0; i < report->unkept_count; i++)
        add_loss(model, SB_LOSS_NOT_STORED, report->unkept[i].count, report->unkept[i].what);
    for (size_t i = 0; i < report->fault_count; i++)
        add_loss(model, SB_LOSS_OTHER, report->faults[i].count, report->faults[i].what);
}

/* ---- memory ---- */

/* The second number of the file: pages that are in memory. */
uint64_t capture_process_memory(void) {
    char text[128];
    int64_t pages = 0;
    sb_slice rest = {0};
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    sb_slice_first_word((sb_slice){text, size}, &rest);
    if (!sb_parse_int64(sb_slice_first_word(rest, &rest), &pages) || pages < 0)
        return 0;
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t capture_machine_memory(void) {
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}
