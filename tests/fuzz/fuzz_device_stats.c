/*
 * Statistics of a device log alone, from any bytes and with any setup: all of it is written.
 */
#include "report/report_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count = 0;
    const report_setup *setups = report_setups(&count);
    const report_setup *setup = &setups[size % count];
    report_marks marks;
    report_marks_read(&marks, (sb_slice){(const char *)data, size});
    if (setup->detects_ops || size % 2 == 1)
        report_marks_detect_ops(&marks);
    report_measure_all(&marks, setup);
    sb_output output = sb_output_to_memory();
    report_put_device_stats(&marks, &output);
    report_put_dump(&marks, setup, setup->detects_ops, "log", &output);
    sb_output_discard(&output);
    report_marks_free(&marks);
    return 0;
}
