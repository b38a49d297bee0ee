/* A host that calls ops and tells of them as tt-metal's runtime does: a zone and a message each. */
#include <stdio.h>
#include <string.h>
#include <tracy/TracyC.h>

enum { OPS = 4 };

static void call_op(unsigned id) {
    char text[512];
    TracyCZoneN(zone, "TT_DNN_DEVICE_OP", 1);
    const int id_size = snprintf(text, sizeof text, "id:%u", id);
    TracyCZoneText(zone, text, (size_t)id_size);
    const int size =
        snprintf(text, sizeof text,
                 "`TT_DNN_DEVICE_OP: \"Matmul\", 5, 0, false, %u ->\n"
                 "{\"device_id\": 0, \"global_call_count\": %u, \"op_code\": \"Matmul\", "
                 "\"op_type\": \"tt_dnn_device\", \"op_hash\": 5, \"input_tensors\": []}`",
                 id, id);
    TracyCMessage(text, (size_t)size);
    TracyCZoneEnd(zone);
}

int main(void) {
    static const char signpost[] = "`TT_SIGNPOST: decode`";
    TracyCMessage(signpost, strlen(signpost));
    for (unsigned i = 1; i <= OPS; i++)
        call_op(i << 10);
    return 0;
}
