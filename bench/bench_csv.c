/*
 * How fast the CSV reader goes through a file that is in memory: bench_csv FILE
 * Prints the best of several passes, since everything else is the machine's noise.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/base.h"

enum { PASSES = 5 };

static double now_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Adds up the sizes of all fields, so that none of the work can be left out. */
static uint64_t read_all(sb_slice text, uint64_t *fields) {
    sb_csv csv;
    uint64_t bytes = 0;
    *fields = 0;
    sb_csv_begin(&csv, text);
    while (sb_csv_next(&csv)) {
        *fields += csv.field_count;
        for (size_t i = 0; i < csv.field_count; i++)
            bytes += csv.fields[i].size;
    }
    sb_csv_end(&csv);
    return bytes;
}

int main(int argc, char **argv) {
    sb_file file;
    sb_error error = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: bench_csv FILE\n");
        return 2;
    }
    if (sb_file_open(&file, argv[1], &error) != SB_OK) {
        fprintf(stderr, "bench_csv: %s\n", error.message);
        return 1;
    }
    double best = 0;
    uint64_t fields = 0;
    uint64_t bytes = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        const double start = now_seconds();
        bytes = read_all(file.text, &fields);
        const double rate = (double)file.text.size / (now_seconds() - start);
        best = rate > best ? rate : best;
    }
    printf("csv: %.2f GB/s over %zu bytes (%llu fields, %llu bytes in them)\n", best / 1e9,
           file.text.size, (unsigned long long)fields, (unsigned long long)bytes);
    sb_file_close(&file);
    return 0;
}
