/*
 * The readers of the host's messages and zones; the two files are separated by NUL.
 */
#include <assert.h>
#include <string.h>

#include "report/report_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const sb_slice text = {(const char *)data, size};
    const char *end = size == 0 ? NULL : memchr(data, '\0', size);
    const size_t split = end == NULL ? size : (size_t)(end - text.data);
    report_host host;
    report_host_init(&host);
    report_read_messages(&host, sb_slice_first(text, split));
    report_read_zones(&host, sb_slice_after(text, split + 1));
    for (size_t i = 0; i < host.ops.count; i++)
        assert(report_op_at(&host, i)->info != NULL);
    report_host_free(&host);
    return 0;
}
