/*
 * What the commands that record and recover share: options of the file, and the report at the end.
 */
#ifndef SB_CLI_RECORDING_H
#define SB_CLI_RECORDING_H

#include "capture/capture.h"
#include "cli/cli.h"

/* "512M", "2G", "100000": bytes. */
sb_status cli_parse_size(const char *option, const char *text, uint64_t *bytes, sb_error *error);
/* "1.5": at least 0. */
sb_status cli_parse_seconds(const char *option, const char *text, double *seconds, sb_error *error);

/* Was something missing or broken? */
bool cli_recording_is_partial(const sb_capture_report *report);
/* Says what was not as it should be. */
void cli_warn_of_recording(const sb_capture_report *report);
/* The report as a JSON object, without a line end. */
void cli_put_recording_json(sb_output *output, const sb_capture_report *report, const char *path);
/* The report in a few lines for people. */
void cli_put_recording(sb_output *output, const sb_capture_report *report, const char *path);

#endif
