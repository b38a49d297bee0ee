/*
 * `strobe view FILE.journal` while a recorder writes it: the page grows with it.
 */
#include "base/base.h"
#include "capture/capture.h"
#include "cli/cli_view.h"

enum { LOOK_MS = 150 }; /* of reading, before the pages are told */

typedef struct followed {
    const char *path;
    sb_capture_follower *follower;
    sb_error damage;
    bool is_over;
    bool has_told_removal;
} followed;

/* When the recorder is done it removes the journal itself: only before that it is worth a word. */
static void look_for_removal(followed *self) {
    if (self->has_told_removal || !sb_capture_follower_is_removed(self->follower))
        return;
    self->has_told_removal = true;
    sb_log(SB_LOG_WARNING,
           "%s: was removed while its recorder writes it; what comes is shown all the same",
           self->path);
}

static bool look(void *context, sb_trace **trace) {
    followed *self = context;
    const int64_t start = sb_clock_ns();
    sb_capture_growth growth = SB_CAPTURE_BEHIND;
    while (growth == SB_CAPTURE_BEHIND && (sb_clock_ns() - start) / 1000000 < LOOK_MS)
        growth = sb_capture_follow_on(self->follower, &self->damage);
    self->is_over = growth == SB_CAPTURE_ENDED || growth == SB_CAPTURE_BROKEN;
    if (growth == SB_CAPTURE_GROWS)
        look_for_removal(self);
    *trace = sb_capture_follower_trace(self->follower);
    return self->is_over;
}

static const char *tell_end(void *context) {
    followed *self = context;
    const sb_capture_report *report = sb_capture_follower_report(self->follower);
    static const char *const reasons[] = {
        [SB_JOURNAL_PROGRAM_ENDED] = "the program has ended",
        [SB_JOURNAL_STOPPED] = "its recorder was told to stop",
        [SB_JOURNAL_CUT] = "the connection to the program was lost",
        [SB_JOURNAL_MALFORMED] = "what the program sent made no sense",
    };
    if (self->damage.status != SB_OK) {
        sb_log(SB_LOG_WARNING, "%s: shown is what came: %s", self->path, self->damage.message);
        return self->damage.message;
    }
    sb_log(SB_LOG_NOTE, "the recording has ended: %s; Ctrl-C ends the viewer",
           reasons[report->ending]);
    if (report->ending == SB_JOURNAL_PROGRAM_ENDED || report->ending == SB_JOURNAL_STOPPED)
        return NULL;
    sb_error_set(&self->damage, SB_ERR_FORMAT, "the recording ended early: %s",
                 reasons[report->ending]);
    return self->damage.message;
}

sb_status cli_view_journal(const cli_view_arguments *arguments, const char *path, bool *found,
                           int *exit_code, sb_error *error) {
    char name[CLI_VIEW_NAME_SIZE];
    followed self = {.path = path};
    const cli_view_growing growing = {
        .name = name, .look = look, .tell_end = tell_end, .context = &self};
    *found = sb_capture_follow(path, &self.follower, NULL) == SB_OK;
    if (!*found)
        return SB_OK;
    cli_view_name(path, name);
    cli_view_block_signals();
    sb_log(SB_LOG_NOTE, "%s: is being recorded, and shown as it grows", path);
    sb_status status = cli_view_follow(&growing, arguments, error);
    sb_trace *trace = sb_capture_follower_trace(self.follower);
    if (status == SB_OK && trace == NULL && self.damage.status != SB_OK) {
        status = self.damage.status;
        sb_error_set(error, status, "%s: %s", path, self.damage.message);
    }
    if (self.damage.status != SB_OK)
        *exit_code = SB_EXIT_PARTIAL;
    sb_capture_follower_free(self.follower);
    sb_trace_free(trace);
    return status;
}
