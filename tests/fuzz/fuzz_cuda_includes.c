/* Any text as a source: what it includes is looked for, and found the same way twice. */
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda_includes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const sb_slice folder = SB_SLICE("/nowhere");
    char *source = calloc(1, size + 1);
    if (source == NULL)
        return 0;
    memcpy(source, data, size);
    const char *option = "-DN=__has_include(<n.h>)";
    const cuda_include_search search = {.source = source,
                                        .folder = folder,
                                        .options = &option,
                                        .option_count = 1,
                                        .folders = &folder,
                                        .folder_count = 1};
    sb_key first = {{0, 1}};
    sb_key second = {{0, 1}};
    char *question = NULL;
    const bool is_certain = cuda_includes_add(&first, &search, &question);
    free(question);
    if (cuda_includes_add(&second, &search, &question) != is_certain ||
        (is_certain && memcmp(&first, &second, sizeof first) != 0))
        abort();
    free(question);
    free(source);
    return 0;
}
