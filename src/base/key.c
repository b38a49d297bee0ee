#include "base/key.h"

#include <stdio.h>

#include "base/intern.h"

void sb_key_add(sb_key *key, sb_slice content) {
    /* The length keeps "ab", "c" apart from "a", "bc". */
    key->parts[0] = sb_hash(content, key->parts[0] ^ content.size);
    key->parts[1] = sb_hash(content, key->parts[1] + 0x9E3779B97F4A7C15u + content.size);
}

void sb_key_text(const sb_key *key, char text[SB_KEY_TEXT]) {
    snprintf(text, SB_KEY_TEXT, "%016llx%016llx", (unsigned long long)key->parts[0],
             (unsigned long long)key->parts[1]);
}
