/* A library that is loaded, records and is unloaded; PLUGIN_NAME tells two of them apart. */
#include <strobe/strobe.h>

__attribute__((visibility("default"))) void plugin_run(void);

void plugin_run(void) {
    ZoneScopedN(PLUGIN_NAME);
    sb_message_literal(SB_SEVERITY_INFO, 0, 0, "message of " PLUGIN_NAME);
}
