#include "report/report_columns.h"

static const char *const titles[REPORT_COLUMNS] = {
    "OP CODE",
    "OP TYPE",
    "GLOBAL CALL COUNT",
    "DEVICE ID",
    "DEVICE ARCH",
    "ATTRIBUTES",
    "MATH FIDELITY",
    "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT",
    "SUB DEVICE ID",
    "PARALLELIZATION STRATEGY",
    "HOST START TS",
    "HOST END TS",
    "HOST DURATION [ns]",
    "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE",
    "OP TO OP LATENCY [ns]",
    "OP TO OP LATENCY BR/NRISC START [ns]",
    "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]",
    "DEVICE KERNEL DURATION DM START [ns]",
    "DEVICE KERNEL DURATION PER CORE MIN [ns]",
    "DEVICE KERNEL DURATION PER CORE MAX [ns]",
    "DEVICE KERNEL DURATION PER CORE AVG [ns]",
    "DEVICE KERNEL FIRST TO LAST START [ns]",
    "DEVICE BRISC KERNEL DURATION [ns]",
    "DEVICE NCRISC KERNEL DURATION [ns]",
    "DEVICE TRISC0 KERNEL DURATION [ns]",
    "DEVICE TRISC1 KERNEL DURATION [ns]",
    "DEVICE TRISC2 KERNEL DURATION [ns]",
    "DEVICE ERISC KERNEL DURATION [ns]",
    "DEVICE COMPUTE CB WAIT FRONT [ns]",
    "DEVICE COMPUTE CB RESERVE BACK [ns]",
    "DISPATCH TOTAL CQ CMD OP TIME [ns]",
    "DISPATCH GO SEND WAIT TIME [ns]",
    "METAL TRACE ID",
    "METAL TRACE REPLAY SESSION ID",
    "COMPUTE KERNEL SOURCE",
    "COMPUTE KERNEL HASH",
    "DATA MOVEMENT KERNEL SOURCE",
    "DATA MOVEMENT KERNEL HASH",
    "PROGRAM HASH",
    "PROGRAM CACHE HIT",
    "PM IDEAL [ns]",
    "PM COMPUTE [ns]",
    "PM BANDWIDTH [ns]",
    "PM REQ I BW",
    "PM REQ O BW",
    "PM FPU UTIL (%)",
    "NOC UTIL (%)",
    "MULTICAST NOC UTIL (%)",
    "DRAM BW UTIL (%)",
    "DRAM BW UTIL PER CTRL (%)",
    "ETH BW UTIL (%)",
    "NPE CONG IMPACT (%)",
    "OP TO OP DM LATENCY [ns]",
    "OP TO OP TRISC LATENCY [ns]",
    "DEVICE DM FW DURATION [ns]",
    "DEVICE TRISC FW DURATION [ns]",
    "DEVICE QUASAR_DM KERNEL DURATION [ns]",
    "DEVICE QUASAR_NEO_TRISC KERNEL DURATION [ns]",
};

const char *report_column_title(report_column column) {
    return titles[column];
}

char report_title_char(char c) {
    if (c >= 'a' && c <= 'z')
        c = (char)(c + 'A' - 'a');
    if (c == '_')
        c = ' ';
    return c;
}

static bool equal_folded(sb_slice key, sb_slice title) {
    if (key.size != title.size)
        return false;
    for (size_t i = 0; i < key.size; i++) {
        if (report_title_char(key.data[i]) != report_title_char(title.data[i]))
            return false;
    }
    return true;
}

report_column report_column_of_key(sb_slice key) {
    for (int i = 0; i < REPORT_COLUMN_QUASAR_LATENCY_DM; i++) {
        if (equal_folded(key, sb_slice_of(titles[i])))
            return (report_column)i;
    }
    return REPORT_COLUMNS;
}

report_column report_column_of_title(sb_slice title) {
    for (int i = 0; i < REPORT_COLUMNS; i++) {
        if (sb_slice_is(title, titles[i]))
            return (report_column)i;
    }
    return REPORT_COLUMNS;
}

const char *report_tensor_title(int cell) {
    static const char *const parts[REPORT_TENSOR_CELLS] = {
        "W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]",
        "LAYOUT",         "DATATYPE",       "MEMORY"};
    return parts[cell];
}

/* What stands in the place of a column on Quasar; REPORT_COLUMNS is nothing. */
typedef struct replacement {
    report_column column;
    report_column by[2];
} replacement;

static const replacement quasar[] = {
    {REPORT_COLUMN_LATENCY, {REPORT_COLUMN_QUASAR_LATENCY_DM, REPORT_COLUMN_QUASAR_LATENCY_TRISC}},
    {REPORT_COLUMN_LATENCY_MOVER, {REPORT_COLUMNS, REPORT_COLUMNS}},
    {REPORT_COLUMN_FW, {REPORT_COLUMN_QUASAR_FW_DM, REPORT_COLUMN_QUASAR_FW_TRISC}},
    {REPORT_COLUMN_BRISC, {REPORT_COLUMN_QUASAR_KERNEL_DM, REPORT_COLUMN_QUASAR_KERNEL_TRISC}},
    {REPORT_COLUMN_NCRISC, {REPORT_COLUMNS, REPORT_COLUMNS}},
    {REPORT_COLUMN_TRISC0, {REPORT_COLUMNS, REPORT_COLUMNS}},
    {REPORT_COLUMN_TRISC1, {REPORT_COLUMNS, REPORT_COLUMNS}},
    {REPORT_COLUMN_TRISC2, {REPORT_COLUMNS, REPORT_COLUMNS}},
    {REPORT_COLUMN_ERISC, {REPORT_COLUMNS, REPORT_COLUMNS}},
};

static const replacement *find_replacement(bool is_quasar, report_column column) {
    for (size_t i = 0; is_quasar && i < sizeof quasar / sizeof quasar[0]; i++) {
        if (quasar[i].column == column)
            return &quasar[i];
    }
    return NULL;
}

size_t report_fixed_columns(bool is_quasar, report_column columns[REPORT_COLUMNS], size_t *all) {
    size_t count = 0;
    size_t head = 0;
    for (int i = 0; i < REPORT_COLUMN_QUASAR_LATENCY_DM; i++) {
        const replacement *other = find_replacement(is_quasar, (report_column)i);
        if (other == NULL)
            columns[count++] = (report_column)i;
        for (int k = 0; other != NULL && k < 2; k++) {
            if (other->by[k] != REPORT_COLUMNS)
                columns[count++] = other->by[k];
        }
        if (i == REPORT_LAST_HEAD_COLUMN)
            head = count;
    }
    *all = count;
    return head;
}
