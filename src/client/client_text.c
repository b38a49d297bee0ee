/* Texts on their way into a record. */
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>

sb_slice client_cut_text(const char *text, size_t size) {
    return (sb_slice){text, size < CLIENT_TEXT_MAX ? size : CLIENT_TEXT_MAX};
}

bool client_text_make(client_text *made, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int size = vsnprintf(made->brief, sizeof made->brief, format, arguments);
    const bool is_long = size >= 0 && (size_t)size >= sizeof made->brief;
    made->whole = is_long ? malloc((size_t)size + 1) : NULL;
    if (made->whole != NULL)
        vsnprintf(made->whole, (size_t)size + 1, format, again);
    va_end(again);
    const bool is_made = size >= 0 && (!is_long || made->whole != NULL);
    made->text = client_cut_text(is_long ? made->whole : made->brief, is_made ? (size_t)size : 0);
    return is_made;
}

void client_text_free(client_text *made) {
    free(made->whole);
}
