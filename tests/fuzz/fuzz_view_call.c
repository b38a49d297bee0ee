/*
 * The viewer's API against any question: an input is "path?a=1&b=2", put to a trace with some of
 * everything.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sb_trace *trace;
    static sb_view *view;
    if (view == NULL) {
        trace = make_fuzz_trace();
        const sb_view_source source = {.trace = trace, .name = "fuzz", .version = "0"};
        view = sb_view_create(&source);
        sb_view_index(view, NULL, NULL);
    }
    char *text = sb_alloc(size + 1);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    ask_view(view, text);
    free(text);
    return 0;
}
