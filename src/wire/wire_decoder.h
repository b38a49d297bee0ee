/*
 * Decoder: frames of one protocol to events.
 *
 * Zones with a static location and their ends, which are nearly all there is, come in runs of one
 * thread through one call; all other events one by one. The order between the two is that of the
 * stream. What an event points to is valid during the call only.
 *
 * Every length, id and count is checked. After a failure the decoder is spent: the protocol has no
 * way to find the next item.
 */
#ifndef SB_WIRE_DECODER_H
#define SB_WIRE_DECODER_H

#include "base/base.h"
#include "wire/wire_event.h"
#include "wire/wire_protocol.h"

typedef struct sb_wire_handler {
    void *context;
    void (*zones)(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count);
    void (*event)(void *context, const sb_wire_event *event);
} sb_wire_handler;

typedef struct sb_wire_decoder sb_wire_decoder;

/*
 * A decoder for one connection. If the number of the protocol exists in two flavours and
 * `is_certain` is false, the stream decides which it is.
 */
sb_wire_decoder *sb_wire_decoder_create(const sb_wire_protocol *protocol, bool is_certain,
                                        const sb_wire_handler *handler);
void sb_wire_decoder_free(sb_wire_decoder *decoder);

/*
 * Decodes one frame, which holds whole items. The error names the item and its offset; what came
 * before it has been handed over.
 */
sb_status sb_wire_decode(sb_wire_decoder *decoder, sb_slice frame, sb_error *error);

/* The protocol as far as it is known by now. */
const sb_wire_protocol *sb_wire_decoder_protocol(const sb_wire_decoder *decoder);
/* Bytes of frames decoded so far, and items in them. */
uint64_t sb_wire_decoder_offset(const sb_wire_decoder *decoder);

#endif
