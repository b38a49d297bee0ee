#!/usr/bin/env python3
"""Makes the files of this folder: small traces that must be refused, or read only in part.

Each is the sample of the command-line tests with one thing wrong. Run it after adding a case; the
test trace_refused says what `strobe info` has to answer to each.
"""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Where things stand in the body of the sample.
STRING_COUNT, FIRST_STRING_SIZE, THREAD_ZONES, FIRST_CHILDREN = 291, 307, 1655, 1673


def sample_body() -> bytes:
    text = (HERE.parent / "cli" / "trace_sample.inc").read_text()
    coded = re.search(r"<< 'END'\n(.*?)\nEND", text, re.DOTALL)
    file = base64.b64decode(coded.group(1))
    (size,) = struct.unpack_from("<I", file, 4)
    return unpack_lz4(file[8 : 8 + size])


def unpack_lz4(block: bytes) -> bytes:
    out, at = bytearray(), 0

    def length(base: int) -> int:
        nonlocal at
        total = base
        while base == 15:
            total += block[at]
            at += 1
            if block[at - 1] != 255:
                break
        return total

    while at < len(block):
        token = block[at]
        at += 1
        literals = length(token >> 4)
        out += block[at : at + literals]
        at += literals
        if at >= len(block):
            break
        distance = block[at] | block[at + 1] << 8
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-distance])
    return bytes(out)


def pack(body: bytes) -> bytes:
    """One LZ4 block of literals only."""
    rest, coded = len(body) - 15, bytearray([0xF0])
    while rest >= 255:
        coded.append(255)
        rest -= 255
    coded.append(rest)
    coded += body
    return b"tlZ\x04" + struct.pack("<I", len(coded)) + bytes(coded) + b"\0\0\0\0"


def patched(body: bytes, offset: int, new: bytes) -> bytes:
    return body[:offset] + new + body[offset + len(new) :]


def cases(body: bytes) -> dict[str, bytes]:
    whole = pack(body)
    return {
        "empty": b"",
        "text": b"name,total_ns\nmain,5\n",
        "header_only": b"tlZ\x04",
        "unknown_compression": b"tr\xfdP\x07\x01" + whole[4:],
        "no_streams": b"tr\xfdP\x00\x00" + whole[4:],
        "block_longer_than_file": b"tlZ\x04" + struct.pack("<I", 60000) + body[:100],
        "block_too_long": b"tlZ\x04\xff\xff\xff\xff" + body[:100],
        "block_of_noise": b"tlZ\x04" + struct.pack("<I", 64) + bytes(range(200, 264 - 8)) + bytes(8),
        "other_body": pack(patched(body, 0, b"trucs")),
        "version_0_8": pack(patched(body, 5, b"\0\x08\0")),
        "cut_in_strings": pack(body[:500]),
        "cut_in_zones": pack(body[:1700]),
        "cut_file": whole[: len(whole) // 2],
        "too_many_strings": pack(patched(body, STRING_COUNT, struct.pack("<Q", 1 << 60))),
        "string_too_long": pack(patched(body, FIRST_STRING_SIZE, struct.pack("<Q", 1 << 40))),
        "too_many_zones": pack(patched(body, THREAD_ZONES, b"\xff\xff\xff\xff")),
        "too_many_children": pack(patched(body, FIRST_CHILDREN, b"\xff\xff\xff\x7f")),
        "bytes_behind_the_end": pack(body + b"more"),
    }


def main() -> None:
    for name, data in cases(sample_body()).items():
        (HERE / f"{name}.tracy").write_bytes(data)


if __name__ == "__main__":
    main()
