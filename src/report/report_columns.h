/*
 * The columns of the report, in order. One table names them; rows hold a text per column.
 *
 * Between REPORT_COLUMN_DISPATCH_GO and REPORT_COLUMN_TRACE stand the tensors of the run, after
 * REPORT_COLUMN_CACHE_HIT the sizes of kernels, and at the end counters, calls of children and
 * COMPLETENESS.
 */
#ifndef SB_REPORT_COLUMNS_H
#define SB_REPORT_COLUMNS_H

#include "base/base.h"

typedef enum report_column {
    REPORT_COLUMN_OP_CODE,
    REPORT_COLUMN_OP_TYPE,
    REPORT_COLUMN_ID,
    REPORT_COLUMN_DEVICE,
    REPORT_COLUMN_ARCH,
    REPORT_COLUMN_ATTRIBUTES,
    REPORT_COLUMN_FIDELITY,
    REPORT_COLUMN_CORE_COUNT,
    REPORT_COLUMN_AVAILABLE_CORES,
    REPORT_COLUMN_SUB_DEVICE,
    REPORT_COLUMN_STRATEGY,
    REPORT_COLUMN_HOST_START,
    REPORT_COLUMN_HOST_END,
    REPORT_COLUMN_HOST_DURATION,
    REPORT_COLUMN_FW_START,
    REPORT_COLUMN_FW_END,
    REPORT_COLUMN_LATENCY,
    REPORT_COLUMN_LATENCY_MOVER,
    REPORT_COLUMN_FW,
    REPORT_COLUMN_KERNEL,
    REPORT_COLUMN_KERNEL_MOVER,
    REPORT_COLUMN_PER_CORE_MIN,
    REPORT_COLUMN_PER_CORE_MAX,
    REPORT_COLUMN_PER_CORE_AVG,
    REPORT_COLUMN_FIRST_TO_LAST_START,
    REPORT_COLUMN_BRISC,
    REPORT_COLUMN_NCRISC,
    REPORT_COLUMN_TRISC0,
    REPORT_COLUMN_TRISC1,
    REPORT_COLUMN_TRISC2,
    REPORT_COLUMN_ERISC,
    REPORT_COLUMN_WAIT_FRONT,
    REPORT_COLUMN_RESERVE_BACK,
    REPORT_COLUMN_DISPATCH_TOTAL,
    REPORT_COLUMN_DISPATCH_GO,
    REPORT_COLUMN_TRACE,
    REPORT_COLUMN_SESSION,
    REPORT_COLUMN_COMPUTE_SOURCE,
    REPORT_COLUMN_COMPUTE_HASH,
    REPORT_COLUMN_MOVER_SOURCE,
    REPORT_COLUMN_MOVER_HASH,
    REPORT_COLUMN_PROGRAM_HASH,
    REPORT_COLUMN_CACHE_HIT,
    REPORT_COLUMN_PM_IDEAL,
    REPORT_COLUMN_PM_COMPUTE,
    REPORT_COLUMN_PM_BANDWIDTH,
    REPORT_COLUMN_PM_INPUTS,
    REPORT_COLUMN_PM_OUTPUTS,
    REPORT_COLUMN_PM_FPU,
    REPORT_COLUMN_NOC,
    REPORT_COLUMN_NOC_MULTICAST,
    REPORT_COLUMN_DRAM,
    REPORT_COLUMN_DRAM_PER_CONTROLLER,
    REPORT_COLUMN_ETH,
    REPORT_COLUMN_CONGESTION,
    /* Quasar only, in place of others */
    REPORT_COLUMN_QUASAR_LATENCY_DM,
    REPORT_COLUMN_QUASAR_LATENCY_TRISC,
    REPORT_COLUMN_QUASAR_FW_DM,
    REPORT_COLUMN_QUASAR_FW_TRISC,
    REPORT_COLUMN_QUASAR_KERNEL_DM,
    REPORT_COLUMN_QUASAR_KERNEL_TRISC,
    REPORT_COLUMNS,
} report_column;

enum { REPORT_LAST_HEAD_COLUMN = REPORT_COLUMN_DISPATCH_GO, REPORT_TENSOR_CELLS = 7 };

const char *report_column_title(report_column column);
/* As a key's character stands in a title: a capital, '_' a blank. */
char report_title_char(char c);
/* The column a key of a message fills: "op_code" is OP CODE. REPORT_COLUMNS: none. */
report_column report_column_of_key(sb_slice key);
/* The column with this title. REPORT_COLUMNS: none. */
report_column report_column_of_title(sb_slice title);
/* What follows INPUT_0 or OUTPUT_0 in the title of a tensor's cell. */
const char *report_tensor_title(int cell);

/*
 * The columns of a report, fixed ones only, with those of Quasar in their places. Fills columns and
 * returns how many there are before the tensors and, in *all, altogether.
 */
size_t report_fixed_columns(bool is_quasar, report_column columns[REPORT_COLUMNS], size_t *all);

#endif
