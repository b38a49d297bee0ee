#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

sb_status sb_error_set(sb_error *error, sb_status status, const char *format, ...) {
    if (error == NULL)
        return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}
