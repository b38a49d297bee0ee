/*
 * The reader of device logs: any bytes, twice, with the same result.
 */
#include <assert.h>

#include "report/report_programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sb_file file = sb_file_of((sb_slice){(const char *)data, size});
    report_device_log first;
    report_device_log second;
    report_read_device_log(&first, &file, NULL);
    report_read_device_log(&second, &file, NULL);
    assert(first.programs.count == second.programs.count);
    assert(first.findings.count == second.findings.count);
    for (size_t i = 0; i < first.programs.count; i++) {
        const report_program *program = report_program_at(&first, i);
        assert(program->id == report_program_at(&second, i)->id);
        assert(program->first == report_program_at(&second, i)->first);
    }
    report_device_log_free(&first);
    report_device_log_free(&second);
    return 0;
}
