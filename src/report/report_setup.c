#include "report/report_setup.h"

const char *const report_scope_names[REPORT_SCOPES] = {"core", "device", "ops", "dispatch_ops"};
const char *const report_method_names[REPORT_METHODS] = {
    "adjacent", "op_first_last", "op_core_first_last", "sum", "event",
};

/* Zones of each type of processor. */
static const char *const kernels[] = {
    "BRISC-KERNEL",           "NCRISC-KERNEL", "TRISC-KERNEL", "ERISC-KERNEL",
    "TENSIX_RISC_AGG-KERNEL", "DM-KERNEL",     NULL,
};
static const char *const firmware[] = {
    "BRISC-FW", "NCRISC-FW", "TRISC-FW", "ERISC-FW", "TENSIX_RISC_AGG-FW", "DM-FW", NULL,
};

static const report_measure usual[] = {
    {"trace_fw_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "TENSIX_RISC_AGG", .zone = "TRACE-FW"}},
    {"trace_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "TENSIX_RISC_AGG", .zone = "TRACE-KERNEL"}},
    {"trace2trace - FW", REPORT_SCOPE_DEVICE, REPORT_ADJACENT,
     .start = {.processor = "ANY", .phase = "ZONE_END", .zone = "TRACE-FW"},
     .end = {.processor = "ANY", .phase = "ZONE_START", .zone = "TRACE-FW"}},
    {"trace2trace - kernel", REPORT_SCOPE_DEVICE, REPORT_ADJACENT,
     .start = {.processor = "ANY", .phase = "ZONE_END", .zone = "TRACE-KERNEL"},
     .end = {.processor = "ANY", .phase = "ZONE_START", .zone = "TRACE-KERNEL"}},
    {"op2op", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "ANY", .phase = "ZONE_END", .zones = kernels},
     .end = {.processor = "ANY",
             .phase = "ZONE_START",
             .zones = (const char *const[]){"BRISC-KERNEL", "NCRISC-KERNEL", NULL}}},
    {"device_kernel_first_to_last_start", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "ANY", .phase = "ZONE_START", .zones = kernels}},
    {"device_kernel_duration_per_core", REPORT_SCOPE_OPS, REPORT_CORE_FIRST_LAST,
     .start = {.processor = "ANY", .zones = kernels}},
    {"device_fw_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "ANY", .zones = firmware}},
    {"device_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "ANY", .zones = kernels}},
    {"device_kernel_duration_dm_start", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "ANY",
               .zones =
                   (const char *const[]){"BRISC-KERNEL", "NCRISC-KERNEL", "ERISC-KERNEL", NULL}},
     .end = {.processor = "ANY", .zones = kernels}},
    {"device_brisc_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "BRISC", .zone = "BRISC-KERNEL"}},
    {"device_ncrisc_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "NCRISC", .zone = "NCRISC-KERNEL"}},
    {"device_trisc0_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "TRISC_0", .zone = "TRISC-KERNEL"}},
    {"device_trisc1_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "TRISC_1", .zone = "TRISC-KERNEL"}},
    {"device_trisc2_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "TRISC_2", .zone = "TRISC-KERNEL"}},
    {"device_erisc_kernel_duration", REPORT_SCOPE_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "ERISC", .zone = "ERISC-KERNEL"}},
    {"device_compute_cb_wait_front", REPORT_SCOPE_OPS, REPORT_SUM,
     .start = {.processor = "TRISC_0", .zone = "CB-COMPUTE-WAIT-FRONT"}},
    {"device_compute_cb_reserve_back", REPORT_SCOPE_OPS, REPORT_SUM,
     .start = {.processor = "TRISC_2", .zone = "CB-COMPUTE-RESERVE-BACK"}},
    {"dispatch_total_cq_cmd_op_time", REPORT_SCOPE_DISPATCH_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "BRISC", .zone = "CQ_DISPATCH_*"}},
    {"dispatch_go_send_wait_time", REPORT_SCOPE_DISPATCH_OPS, REPORT_FIRST_LAST,
     .start = {.processor = "NCRISC", .zone = "CQ_DISPATCH_CMD_SEND_GO_SIGNAL"}},
    {"perf_counter_data", REPORT_SCOPE_DEVICE, REPORT_EVENTS, .start = {.processor = "BRISC"}},
};

static const report_measure events[] = {
    {"erisc_events", REPORT_SCOPE_DEVICE, REPORT_EVENTS, .start = {.processor = "ERISC"}},
    {"all_events", REPORT_SCOPE_DEVICE, REPORT_EVENTS, .start = {.processor = "ANY"}},
};

/* Every kernel of a processor. */
static const report_measure kernel_runs[] = {
    {"BRISC KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC", .zone = "BRISC-KERNEL"}},
    {"NCRISC KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "NCRISC", .zone = "NCRISC-KERNEL"}},
    {"TRISC_0 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "TRISC_0", .zone = "TRISC-KERNEL"}},
    {"TRISC_1 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "TRISC_1", .zone = "TRISC-KERNEL"}},
    {"TRISC_2 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "TRISC_2", .zone = "TRISC-KERNEL"}},
    {"QUASAR_DM2 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_DM2", .zone = "DM-KERNEL"}},
    {"QUASAR_DM3 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_DM3", .zone = "DM-KERNEL"}},
    {"QUASAR_DM4 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_DM4", .zone = "DM-KERNEL"}},
    {"QUASAR_DM5 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_DM5", .zone = "DM-KERNEL"}},
    {"QUASAR_DM6 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_DM6", .zone = "DM-KERNEL"}},
    {"QUASAR_DM7 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_DM7", .zone = "DM-KERNEL"}},
    {"QUASAR_NEO0_TRISC0 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO0_TRISC0", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO0_TRISC1 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO0_TRISC1", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO0_TRISC2 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO0_TRISC2", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO0_TRISC3 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO0_TRISC3", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO1_TRISC0 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO1_TRISC0", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO1_TRISC1 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO1_TRISC1", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO1_TRISC2 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO1_TRISC2", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO1_TRISC3 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO1_TRISC3", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO2_TRISC0 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO2_TRISC0", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO2_TRISC1 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO2_TRISC1", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO2_TRISC2 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO2_TRISC2", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO2_TRISC3 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO2_TRISC3", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO3_TRISC0 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO3_TRISC0", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO3_TRISC1 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO3_TRISC1", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO3_TRISC2 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO3_TRISC2", .zone = "TRISC-KERNEL"}},
    {"QUASAR_NEO3_TRISC3 KERNEL_START->KERNEL_END", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "QUASAR_NEO3_TRISC3", .zone = "TRISC-KERNEL"}},
};

static const report_measure full_buffer[] = {
    {"Marker Repeat", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "ANY", .zone = "TEST-FULL"}, .omits_core = true},
    {"Marker Repeat ETH", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "ERISC", .zone = "TEST-FULL"}, .omits_core = true},
};

static const report_measure dispatch[] = {
    {"Tensix CQ Dispatch Write Offset", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start =
         {.processor = "BRISC",
          .zone =
              "CQ-DISPATCH:0:CQ_DISPATCH_CMD_SET_WRITE_OFFSET:0:CQ_DISPATCH_CMD_SET_WRITE_OFFSET"},
     .omits_core = true},
    {"Tensix CQ Dispatch Terminate", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC", .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_TERMINATE"},
     .omits_core = true},
    {"Tensix CQ Dispatch Wait", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC", .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_WAIT"},
     .omits_core = true},
    {"Tensix CQ Dispatch Write Linear", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC", .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_WRITE_LINEAR"},
     .omits_core = true},
    {"Tensix CQ Dispatch Write Linear H Host", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC", .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_WRITE_LINEAR_H_HOST"},
     .omits_core = true},
    {"Tensix CQ Dispatch Write Packed Large Type Program Binaries", REPORT_SCOPE_CORE,
     REPORT_ADJACENT,
     .start = {.processor = "BRISC",
               .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_WRITE_PACKED_LARGE:0:CQ_DISPATCH_CMD_PACKED_"
                       "WRITE_LARGE_TYPE_PROGRAM_BINARIES"},
     .omits_core = true},
    {"Tensix CQ Dispatch Write Packed Flag Type Event", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC",
               .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_WRITE_PACKED:0:CQ_DISPATCH_CMD_PACKED_WRITE_"
                       "FLAG_TYPE_EVENT"},
     .omits_core = true},
    {"Tensix CQ Dispatch Write Packed Flag Type Launch", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC",
               .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_WRITE_PACKED:0:MCAST;CQ_DISPATCH_CMD_PACKED_"
                       "WRITE_FLAG_TYPE_LAUNCH"},
     .omits_core = true},
    {"Tensix CQ Dispatch Write Paged", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC", .zone = "CQ-DISPATCH:0:CQ_DISPATCH_CMD_WRITE_PAGED"},
     .omits_core = true},
    {"Tensix CQ Dispatch Notify Subordinate Go Signal", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC",
               .zone = "CQ-DISPATCH:0:CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL"},
     .omits_core = true},
    {"Tensix CQ Prefetch", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "BRISC", .zone = "CQ-PREFETCH"}, .omits_core = true},
};

static const report_measure ethernet_dispatch[] = {
    {"Ethernet CQ Dispatch", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "ERISC", .zone = "CQ-DISPATCH"}, .omits_core = true},
    {"Ethernet CQ Prefetch", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "ERISC", .zone = "CQ-PREFETCH"}, .omits_core = true},
};

static const report_measure noc[] = {
    {"NoC For Loop", REPORT_SCOPE_CORE, REPORT_ADJACENT,
     .start = {.processor = "NCRISC", .zone = "NOC-FOR-LOOP"}, .omits_core = true},
};

/* How many of kernel_runs some setups take. */
enum { COUNT_OF_ONE = 1, COUNT_OF_TENSIX = 5 };

static const report_setup setups[] = {
    {.name = "default_setup", .detects_ops = true},
    {.name = "test_timestamped_events",
     .measures = events,
     .count = sizeof events / sizeof events[0]},
    {.name = "test_multi_op", .measures = kernel_runs, .count = COUNT_OF_ONE},
    {.name = "test_multi_op_buffer_overflow", .measures = kernel_runs, .count = COUNT_OF_TENSIX},
    {.name = "test_custom_cycle_count",
     .measures = kernel_runs,
     .count = sizeof kernel_runs / sizeof kernel_runs[0]},
    {.name = "test_custom_cycle_count_slow_dispatch",
     .measures = kernel_runs,
     .count = sizeof kernel_runs / sizeof kernel_runs[0]},
    {.name = "test_full_buffer",
     .measures = full_buffer,
     .count = sizeof full_buffer / sizeof full_buffer[0]},
    {.name = "test_dispatch_cores",
     .measures = dispatch,
     .count = sizeof dispatch / sizeof dispatch[0]},
    {.name = "test_dispatch_cores_extended_worker",
     .measures = dispatch,
     .count = sizeof dispatch / sizeof dispatch[0]},
    {.name = "test_ethernet_dispatch_cores",
     .measures = ethernet_dispatch,
     .count = sizeof ethernet_dispatch / sizeof ethernet_dispatch[0]},
    {.name = "test_noc", .measures = noc, .count = sizeof noc / sizeof noc[0]},
};

const report_setup *report_setups(size_t *count) {
    *count = sizeof setups / sizeof setups[0];
    return setups;
}

const report_setup *report_find_setup(sb_slice name) {
    for (size_t i = 0; i < sizeof setups / sizeof setups[0]; i++) {
        if (sb_slice_is(name, setups[i].name))
            return &setups[i];
    }
    return NULL;
}

const report_measure *report_usual_measures(size_t *count) {
    *count = sizeof usual / sizeof usual[0];
    return usual;
}
