/*
 * wire: the protocol between a profiled program and what records it, as data.
 *
 * Tracy's protocol has a number that changes with every release and no negotiation. Here each
 * number is a table (sb_wire_protocol) made from one list of items and their layouts; decoding,
 * encoding and checking sizes all read the table, so nothing else knows versions. What travels is
 * turned into events (sb_wire_event) that are the same for all of them.
 *
 *   wire_protocol.h   protocol numbers, and the two flavours of some
 *   wire_event.h      what a program tells: zones, messages, names, devices ...
 *   wire_decoder.h    bytes of one protocol to events
 *   wire_encoder.h    events to bytes of one protocol
 *   wire_greeting.h   announcement, handshake, welcome; the questions a recorder asks
 *   wire_pack.h       frames to LZ4 blocks and back
 *   wire_journal.h    blocks with checksums in a file that survives its writer
 *
 * A recorder (the one that connects) does this:
 *
 *     send sb_wire_hello, read a status and the welcome; then for each frame:
 *     sb_wire_unpack -> sb_wire_decode -> your handler; send the questions it comes up with
 *
 * and a program that is recorded (the one that listens) this:
 *
 *     read the hello, choose sb_wire_protocol_find(number), send status and welcome; then
 *     sb_wire_encode_thread, sb_wire_encode_zones, sb_wire_encode ..., sb_wire_encoder_flush;
 *     read questions with sb_wire_query_decode and answer them with sb_wire_encode
 *
 * Nothing here ends the process for lack of memory or uses base/memory.h: the module also runs
 * inside programs that are not ours. Creating functions return NULL when there is no memory.
 * Objects belong to one thread at a time; protocol tables are shared and never change.
 */
#ifndef SB_WIRE_WIRE_H
#define SB_WIRE_WIRE_H

#include "wire/wire_decoder.h"
#include "wire/wire_encoder.h"
#include "wire/wire_event.h"
#include "wire/wire_greeting.h"
#include "wire/wire_journal.h"
#include "wire/wire_pack.h"
#include "wire/wire_protocol.h"

#endif
