/*
 * The parts of the page, as the build of web/ left them: a table that is made with the binary.
 */
#ifndef SB_VIEW_ASSETS_H
#define SB_VIEW_ASSETS_H

#include "base/base.h"

typedef struct view_asset {
    const char *path; /* as in the address: "/app.js" */
    const char *content_type;
    sb_slice bytes;
} view_asset;

extern const view_asset view_assets[];
extern const size_t view_asset_count;

#endif
