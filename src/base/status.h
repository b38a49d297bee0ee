/* How functions say that they failed: users of the library see it too, so it lies in include/. */
#ifndef SB_BASE_STATUS_H
#define SB_BASE_STATUS_H

#include <strobe/error.h>

#endif
