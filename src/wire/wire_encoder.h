/*
 * Encoder: events to frames of one protocol.
 *
 * It keeps what a stream has to remember: the four time references, the current thread, the frame
 * that is being filled. Frames go, compressed and with their length in front, to the sink.
 *
 *     sb_wire_encode_thread(encoder, 77);
 *     sb_wire_encode_zones(encoder, zones, count);
 *     sb_wire_encode(encoder, &(sb_wire_event){.kind = SB_WIRE_ZONE_TEXT, .thread = 77, ...});
 *     sb_wire_encoder_flush(encoder);
 *
 * Rules of the protocol that the caller keeps: per thread, zone events ascend in time; locks and
 * devices are announced before they are used; a question is answered exactly once, source locations
 * in the order of the questions; plot values are finite; the last event is SB_WIRE_TERMINATE.
 */
#ifndef SB_WIRE_ENCODER_H
#define SB_WIRE_ENCODER_H

#include "base/base.h"
#include "wire/wire_event.h"
#include "wire/wire_protocol.h"

typedef struct sb_wire_encoder sb_wire_encoder;

/* Takes a piece of the stream; false: it could not be written, and nothing more is tried. */
typedef bool (*sb_wire_sink)(void *context, const void *bytes, size_t size);

/* NULL without memory. About 1.1 MiB, taken at once and never more. */
sb_wire_encoder *sb_wire_encoder_create(const sb_wire_protocol *protocol, sb_wire_sink sink,
                                        void *context);
void sb_wire_encoder_free(sb_wire_encoder *encoder);

/* What follows belongs to this thread. Starts its times anew, so call it when the thread changes.
 */
void sb_wire_encode_thread(sb_wire_encoder *encoder, uint32_t thread);
/* Is this the current thread? Events change it by themselves; zones do not. */
bool sb_wire_encoder_is_in(const sb_wire_encoder *encoder, uint32_t thread);
/* Begins and ends of zones of the current thread. */
void sb_wire_encode_zones(sb_wire_encoder *encoder, const sb_wire_zone *zones, size_t count);
/*
 * Any event. Those that belong to the thread they happen in (zones, messages, plots, call stacks,
 * sections, crash reports) change the current thread if event->thread is another. False: the
 * protocol has no such event, and nothing was written. Texts that are too long are cut.
 */
bool sb_wire_encode(sb_wire_encoder *encoder, const sb_wire_event *event);
/* Sends what is in the frame; false if the sink refused something, now or before. */
bool sb_wire_encoder_flush(sb_wire_encoder *encoder);
/* Bytes in the frame that are not sent yet. */
size_t sb_wire_encoder_pending(const sb_wire_encoder *encoder);
const sb_wire_protocol *sb_wire_encoder_protocol(const sb_wire_encoder *encoder);

#endif
