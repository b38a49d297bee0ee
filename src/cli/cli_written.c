#include "cli/cli_written.h"

#include <inttypes.h>

static bool say(const char *what, uint64_t count) {
    if (count > 0)
        sb_log(SB_LOG_WARNING, "%" PRIu64 " %s", count, what);
    return count > 0;
}

bool cli_say_what_changed(const sb_trace_written *written) {
    bool lost = say("times were moved so that zones nest", written->adjusted_times);
    lost |= say("source locations share one, because the file can number no more",
                written->folded_sources);
    lost |=
        say("texts were left out, because the file can number no more", written->dropped_strings);
    lost |=
        say("tracks were left out, because the file can number no more", written->dropped_tracks);
    lost |= say("zones were on them", written->dropped_zones);
    lost |= say("ops have no place in the file", written->dropped_ops);
    lost |= say("entries of the ledger of losses were left out", written->dropped_losses);
    lost |= say("lock events of more than 64 threads were left out", written->dropped_events);
    lost |=
        say("values and markers of devices have no place in this version", written->dropped_values);
    if (written->dropped_severities > 0)
        sb_log(SB_LOG_NOTE,
               "%" PRIu64 " messages are of a severity other than info, which has no place in this "
               "version",
               written->dropped_severities);
    if (written->dropped_hints > 0)
        sb_log(SB_LOG_NOTE,
               "%" PRIu64 " threads say where they want to be shown, which has no place in this "
               "version",
               written->dropped_hints);
    if (written->changed_contexts > 0)
        sb_log(SB_LOG_NOTE,
               "%" PRIu64 " device contexts are now of type OpenCL, which all viewers "
               "know",
               written->changed_contexts);
    return lost;
}
