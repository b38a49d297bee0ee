/*
 * A small trace file of version 0.10.0 that real tools have read, in base 64: two threads, six host
 * zones, three messages, frames, a plot, one device context with three zones.
 */
#ifndef SB_TESTS_UNIT_TRACE_VECTOR_H
#define SB_TESTS_UNIT_TRACE_VECTOR_H

#include "testing.h"

static const char vector_text[] =
    "dGxaBHIEAACPdHJhY3kACgABAANK8D9QwxoAKpIQEAAQAg8A4EdlbnVpbmVJbnRlbAADEgBxAAAAY2FwBAkAoAAA"
    "cHJvZwDxU2UMAAQCABMICQCDT1M6IHRlc3QPAA8CAAoBbQAHAgAUAWwABAIAU//////oFQAADAAiaL8aAAAMACIB"
    "cAwABUYAItAHEQAiWBsIAAAlAAQ9ACaIExQAEhoLAEEAAAAQBgARCQYAwwAAbWFpbl96b25lEBkABO8AABkAEyAU"
    "AARaAUBzcmMvGAAzLmMwGgAEAQGTa2lkX2Z1bmNAGAAEXwAAMgBja2lkLmNQGQAEMQCTQlJJU0MtRldgGAADxwCT"
    "AE9QIElEOjVwFwAQDaQA8wIAAABrZXJuZWxzL2EuY3BwgB0AEQwbAARMAHNLRVJORUyQHAAEAgAToBAAEwsRAM9z"
    "dGF0aWNfbmFtZbAbAAMAxwATwBsABGIAAMcAAjoAMy5j0BwAEwVSAGNGcmFtZeAVAAT4AEBteV9mGAAjc/AZABMG"
    "LgCCcGxvdCBBAAGGAQSWAABVAYMgdGhyZWFkEBsABDEAc3dvcmtlciAWAAQxAMtoZWxsbywgdGV4dDAbAHBjdXN0"
    "b20g4gATQBsABHUBMWtpZDMAE1AYAAR1AY9tc2cgb25lYBcAAEN0d29wFwAF3AAhc2esACNlgBkABAoBAdQBE5AV"
    "ABMV8QD0BkRldmljZTogMCwgQ29yZSAoMSwyKd0AIgGQJgAEpgETAhAABJsBEwMQAASQAQQCAASEAQQPAwR/ARMC"
    "EAAEdgEDRgMkAG85AAOdABPeEAAEbQEiCAERAATSAAQCAAQNAwQCAARIAARAAAQ4AAQCAANHADAAAFAFAAbgABQC"
    "2QAUAtIAIAJNIAAHyQMFAgADOwAMewAUA1wAFAP7AxADlwMV/zgAB+8AFAM9ACEDFBgABqMBFAN6ARQD/AF2Ax4A"
    "AADumiUCFAPoAQYjABAsQwAW/2AAJP//hAAk/v9jASQBAKEABBwAFf0mACT8/xwABAIABjYAAhIAE7CyAAQ2AhAD"
    "yAQHHgETkCkAEhYvADEAA/+RAAWoBSLwbhkAEhcHAAVAAARoAAsCAEITAAAUQQAGcwAUABsBBMAABAgABPUBBOcC"
    "BQIAACEABm4FAKIAABIAFf69BQAOAAACAASQBTABAPQlAAMCAAALACj+/xIAAAIABCwAE7jqAwQQAED///gqIAAG"
    "AgAiIE4MAARmAABQAAACAA/zAAQFtAIEKAAFAgAAEQA7/v/c3wAEeQAAHgAAAgAEZwAMAgAEbwAEKAAECAAFAgAE"
    "IQBgAACAPwYaCAACAgAEKQAERAMEYQAEtgYECAAQ/eMCHQNeAgQ5ARL8HwACVAAGVgAEQAEQ/kkCJf//aAET5ysA"
    "BCAAA14AADsAAAIABJUADP4ABBsABGEEAgIAE/CaByIEQBAAJAhASgAEQAACAgAq+D8QACoEQBAAJPC/eAAPAgAd"
    "AdwAAisDDwIA//////////95UAAAAAAAAAAAAA==";

enum { VECTOR_SIZE = 1150 };

static inline unsigned vector_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = strchr(digits, c);
    return found == NULL ? 0 : (unsigned)(found - digits);
}

static inline sb_slice decode_vector(char bytes[VECTOR_SIZE + 2]) {
    size_t size = 0;
    for (const char *c = vector_text; *c != '\0'; c += 4) {
        const unsigned group = vector_digit(c[0]) << 18 | vector_digit(c[1]) << 12 |
                               vector_digit(c[2]) << 6 | vector_digit(c[3]);
        bytes[size++] = (char)(group >> 16);
        bytes[size++] = (char)(group >> 8);
        bytes[size++] = (char)group;
    }
    return (sb_slice){bytes, VECTOR_SIZE};
}

#endif
