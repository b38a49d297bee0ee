/*
 * Instructions of PTX. A table says which there are, with which words behind them, for which types
 * and with which operands. All that is not in it is an error: nothing is passed over in silence.
 */
#include <stdio.h>
#include <string.h>

#include "ptx_text.h"

/*
 * kinds: of the type; b, u, s, f, and p for predicates. operands, each a letter:
 *
 *   d  of the instruction's type      w  twice as wide     f  of the type that is converted
 *   3  32 bits                        p  a predicate       @  an address
 */
typedef struct known_instruction {
    const char *name;
    ptx_code code;
    const char *words;
    const char *kinds;
    const char *operands;
} known_instruction;

#define ORDERS "relaxed acquire release acq_rel volatile weak gpu sys cta "
#define CACHES "ca cg cs cv lu wb wt nc "

static const known_instruction known[] = {
    {"add", PTX_OP_ADD, "rn", "usf", "ddd"},
    {"sub", PTX_OP_SUB, "rn", "usf", "ddd"},
    {"mul", PTX_OP_MUL, "lo hi wide rn", "usf", "ddd"},
    {"mad", PTX_OP_MAD, "lo wide", "us", "dddd"},
    {"div", PTX_OP_DIV, "rn full approx", "usf", "ddd"},
    {"rem", PTX_OP_REM, "", "us", "ddd"},
    {"min", PTX_OP_MIN, "", "usf", "ddd"},
    {"max", PTX_OP_MAX, "", "usf", "ddd"},
    {"and", PTX_OP_AND, "", "bp", "ddd"},
    {"or", PTX_OP_OR, "", "bp", "ddd"},
    {"xor", PTX_OP_XOR, "", "bp", "ddd"},
    {"not", PTX_OP_NOT, "", "bp", "dd"},
    {"neg", PTX_OP_NEG, "", "sf", "dd"},
    {"abs", PTX_OP_ABS, "", "sf", "dd"},
    {"shl", PTX_OP_SHL, "", "b", "dd3"},
    {"shr", PTX_OP_SHR, "", "bus", "dd3"},
    {"bfi", PTX_OP_BFI, "", "b", "ddd33"},
    {"popc", PTX_OP_POPC, "", "b", "3d"},
    {"clz", PTX_OP_CLZ, "", "b", "3d"},
    {"fma", PTX_OP_FMA, "rn", "f", "dddd"},
    {"rsqrt", PTX_OP_RSQRT, "approx ftz", "f", "dd"},
    {"sqrt", PTX_OP_SQRT, "rn approx ftz", "f", "dd"},
    {"rcp", PTX_OP_RCP, "rn approx ftz", "f", "dd"},
    {"ex2", PTX_OP_EX2, "approx ftz", "f", "dd"},
    {"lg2", PTX_OP_LG2, "approx ftz", "f", "dd"},
    {"selp", PTX_OP_SELP, "", "busf", "dddp"},
    {"setp", PTX_OP_SETP, "eq ne lt le gt ge", "busf", "pdd"},
    {"cvt", PTX_OP_CVT, "rn rzi rni", "usf", "df"},
    {"cvta", PTX_OP_CVTA, "to global shared const", "u", "dd"},
    {"mov", PTX_OP_MOV, "", "busfp", "dd"},
    {"activemask", PTX_OP_ACTIVEMASK, "", "b", "3"},
    {"ld", PTX_OP_LD, ORDERS CACHES "global shared const param v2 v4", "busf", "d@"},
    {"st", PTX_OP_ST, ORDERS CACHES "global shared v2 v4", "busf", "@d"},
    {"atom", PTX_OP_ATOM, ORDERS "global shared add min max exch cas", "bus", "d@d"},
    {"red", PTX_OP_RED, ORDERS "global shared add min max", "bus", "@d"},
    {"shfl", PTX_OP_SHFL, "sync up down bfly idx", "b", "dp3333"},
    {"fence", PTX_OP_FENCE, "acq_rel sc gpu sys cta", "", ""},
    {"membar", PTX_OP_FENCE, "gl sys cta", "", ""},
    {"nanosleep", PTX_OP_NOTHING, "", "u", "3"},
    {"bra", PTX_OP_BRA, "uni", "", ""},
    {"ret", PTX_OP_EXIT, "", "", ""},
    {"exit", PTX_OP_EXIT, "", "", ""},
    {"trap", PTX_OP_TRAP, "", "", ""},
    /* Words that only make sense together. */
    {"bar.warp.sync", PTX_OP_WARP_SYNC, NULL, "", "3"},
    {"bar.sync", PTX_OP_BLOCK_SYNC, NULL, "", "3"},
    {"cp.async.wait_all", PTX_OP_NOTHING, NULL, "", ""},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", PTX_OP_MMA, NULL, "", "33333333333333"},
};

static const struct {
    const char *word;
    ptx_way way;
} ways[] = {
    {"lo", PTX_LO},         {"hi", PTX_HI},   {"wide", PTX_WIDE}, {"eq", PTX_EQ},
    {"ne", PTX_NE},         {"lt", PTX_LT},   {"le", PTX_LE},     {"gt", PTX_GT},
    {"ge", PTX_GE},         {"add", PTX_ADD}, {"min", PTX_MIN},   {"max", PTX_MAX},
    {"exch", PTX_EXCHANGE}, {"cas", PTX_CAS}, {"up", PTX_UP},     {"down", PTX_DOWN},
    {"bfly", PTX_BFLY},     {"idx", PTX_IDX},
};

static const struct {
    const char *word;
    ptx_space space;
} spaces[] = {
    {"global", PTX_GLOBAL}, {"shared", PTX_SHARED}, {"const", PTX_CONST}, {"param", PTX_PARAM}};

static const char *const specials[PTX_SPECIALS] = {
    [PTX_TID_X] = "%tid.x",
    [PTX_TID_Y] = "%tid.y",
    [PTX_TID_Z] = "%tid.z",
    [PTX_NTID_X] = "%ntid.x",
    [PTX_NTID_Y] = "%ntid.y",
    [PTX_NTID_Z] = "%ntid.z",
    [PTX_CTAID_X] = "%ctaid.x",
    [PTX_CTAID_Y] = "%ctaid.y",
    [PTX_CTAID_Z] = "%ctaid.z",
    [PTX_NCTAID_X] = "%nctaid.x",
    [PTX_NCTAID_Y] = "%nctaid.y",
    [PTX_NCTAID_Z] = "%nctaid.z",
    [PTX_LANEID] = "%laneid",
    [PTX_WARPID] = "%warpid",
    [PTX_SMID] = "%smid",
    [PTX_NSMID] = "%nsmid",
    [PTX_GRIDID] = "%gridid",
    [PTX_LANEMASK_EQ] = "%lanemask_eq",
    [PTX_LANEMASK_LT] = "%lanemask_lt",
    [PTX_LANEMASK_LE] = "%lanemask_le",
    [PTX_LANEMASK_GT] = "%lanemask_gt",
    [PTX_LANEMASK_GE] = "%lanemask_ge",
    [PTX_CLOCK] = "%clock",
    [PTX_CLOCK64] = "%clock64",
    [PTX_TIMER] = "%globaltimer",
};

/* ---- names ---- */

static bool has_word(const char *words, ptx_name word) {
    while (*words != '\0') {
        const size_t size = strcspn(words, " ");
        if (size > 0 && size == word.size && memcmp(words, word.data, size) == 0)
            return true;
        words += size + (words[size] == ' ' ? 1 : 0);
    }
    return false;
}

static const known_instruction *find_known(ptx_name name) {
    ptx_name rest = name;
    const ptx_name first = ptx_cut(&rest);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (ptx_name_is(known[i].words == NULL ? name : first, known[i].name))
            return &known[i];
    return NULL;
}

/* What a word behind the name changes. */
static void apply_word(ptx_instruction *op, ptx_name word) {
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (ptx_name_is(word, ways[i].word))
            op->way = ways[i].way;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (ptx_name_is(word, spaces[i].word))
            op->space = spaces[i].space;
    if (ptx_name_is(word, "v2"))
        op->vector = 2;
    if (ptx_name_is(word, "v4"))
        op->vector = 4;
    op->is_to |= ptx_name_is(word, "to");
    op->is_flushing |= ptx_name_is(word, "ftz");
}

static bool is_kind_fine(const known_instruction *row, ptx_type type) {
    static const char letters[] = {[PTX_BITS] = 'b',
                                   [PTX_UNSIGNED] = 'u',
                                   [PTX_SIGNED] = 's',
                                   [PTX_FLOAT] = 'f',
                                   [PTX_PREDICATE] = 'p'};
    return strchr(row->kinds, letters[type.kind]) != NULL;
}

static sb_status read_words(const ptx_text *text, const known_instruction *row, ptx_name name,
                            ptx_instruction *op) {
    ptx_name rest = name;
    (void)ptx_cut(&rest);
    while (rest.size > 0) {
        const ptx_name word = ptx_cut(&rest);
        ptx_type type;
        if (has_word(row->words, word))
            apply_word(op, word);
        else if (!ptx_type_of(word, &type) || !is_kind_fine(row, type) || op->from.bits != 0)
            PTX_FAIL(text, "%.*s is not known here", (int)name.size, name.data);
        else if (op->type.bits == 0)
            op->type = type;
        else
            op->from = type;
    }
    if ((row->kinds[0] != '\0') != (op->type.bits != 0) ||
        (row->code == PTX_OP_CVT) != (op->from.bits != 0))
        PTX_FAIL(text, "%.*s has no such type", (int)name.size, name.data);
    return SB_OK;
}

/* Products of integers say which half they are, comparisons how. */
static bool is_way_fine(const ptx_instruction *op) {
    switch (op->code) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        return (op->way == PTX_NO_WAY) == (op->type.kind == PTX_FLOAT);
    case PTX_OP_SETP:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_SHFL:
        return op->way != PTX_NO_WAY;
    default:
        return true;
    }
}

/* ---- operands ---- */

static bool find_special(ptx_name name, ptx_operand *operand) {
    for (uint32_t i = 0; i < PTX_SPECIALS; i++)
        if (ptx_name_is(name, specials[i])) {
            *operand = (ptx_operand){.kind = PTX_SPECIAL, .row = i};
            return true;
        }
    return false;
}

/* What may be added to a register or a symbol. */
static sb_status read_offset(ptx_text *text, uint64_t *number) {
    uint64_t offset = 0;
    if (ptx_take(text, '+') || ptx_next_is(text, '-'))
        SB_TRY(ptx_number(text, &offset));
    *number += offset;
    return SB_OK;
}

static sb_status read_operand(ptx_text *text, const ptx_names *names, ptx_operand *operand) {
    *operand = (ptx_operand){.is_not = ptx_take(text, '!')};
    if (ptx_is_number_next(text)) {
        operand->kind = PTX_NUMBER;
        return ptx_number(text, &operand->number);
    }
    const ptx_name name = ptx_word(text);
    const bool is_not = operand->is_not;
    if (ptx_name_is(name, "_"))
        *operand = (ptx_operand){.kind = PTX_SINK};
    else if (!ptx_find_register(names, name, operand) && !find_special(name, operand)) {
        if (!ptx_find_symbol(names, name, &operand->number))
            PTX_FAIL(text, "'%.*s' is nothing that is known here", (int)name.size, name.data);
        operand->kind = PTX_NUMBER;
    }
    operand->is_not = is_not;
    if (is_not && operand->bits != 1)
        PTX_FAIL(text, "'!' is for predicates");
    return operand->kind == PTX_NUMBER ? read_offset(text, &operand->number) : SB_OK;
}

/* A row of operands as they come, without brackets and braces. */
typedef struct operand_list {
    ptx_operand *operands;
    uint32_t count;
    uint32_t address;     /* which one was in brackets; UINT32_MAX: none */
    uint32_t first_group; /* how many the first pair of braces held */
    uint32_t groups;
} operand_list;

static sb_status add_operand(ptx_text *text, const ptx_names *names, operand_list *list) {
    if (list->count == PTX_OPERANDS_MOST)
        PTX_FAIL(text, "there are too many operands");
    return read_operand(text, names, &list->operands[list->count++]);
}

static sb_status add_address(ptx_text *text, const ptx_names *names, operand_list *list) {
    list->address = list->count;
    SB_TRY(add_operand(text, names, list));
    SB_TRY(read_offset(text, &list->operands[list->address].number));
    return ptx_expect(text, ']');
}

static sb_status add_group(ptx_text *text, const ptx_names *names, operand_list *list) {
    const uint32_t before = list->count;
    do
        SB_TRY(add_operand(text, names, list));
    while (ptx_take(text, ','));
    if (list->groups++ == 0)
        list->first_group = list->count - before;
    return ptx_expect(text, '}');
}

static sb_status read_operands(ptx_text *text, const ptx_names *names, operand_list *list) {
    if (ptx_next_is(text, ';'))
        return SB_OK;
    do {
        if (ptx_take(text, '['))
            SB_TRY(add_address(text, names, list));
        else if (ptx_take(text, '{'))
            SB_TRY(add_group(text, names, list));
        else
            SB_TRY(add_operand(text, names, list));
    } while (ptx_take(text, ',') || ptx_take(text, '|'));
    return SB_OK;
}

/* ---- do they fit? ---- */

static uint32_t storage_of(ptx_type type) {
    return type.bits == 1 ? 1 : type.bits == 64 ? 64 : 32;
}

static uint32_t bits_of(const ptx_instruction *op, char letter) {
    switch (letter) {
    case 'd':
        return storage_of(op->type);
    case 'w':
        return storage_of((ptx_type){op->type.kind, 2 * op->type.bits});
    case 'f':
        return storage_of(op->from);
    case 'p':
        return 1;
    default:
        return 32;
    }
}

/* The letters of a known instruction, with those of this one's ways. */
static void letters_of(const known_instruction *row, const ptx_instruction *op, char *letters,
                       size_t size) {
    size_t count = 0;
    for (const char *at = row->operands; *at != '\0'; at++) {
        const bool is_vector = *at == 'd' && op->vector > 1;
        for (uint32_t i = 0; i < (is_vector ? op->vector : 1); i++)
            letters[count++] = *at;
    }
    letters[count] = '\0';
    if (op->way == PTX_WIDE)
        snprintf(letters, size, "%s", op->code == PTX_OP_MUL ? "wdd" : "wddw");
    if (op->way == PTX_CAS)
        snprintf(letters, size, "d@dd");
}

static bool fits(const ptx_instruction *op, char letter, const ptx_operand *operand, bool is_result,
                 bool is_address) {
    if (is_address != (letter == '@'))
        return false;
    if (operand->kind == PTX_SINK)
        return is_result &&
               (op->code == PTX_OP_ATOM || op->code == PTX_OP_SHFL || op->code == PTX_OP_LD);
    if (operand->kind == PTX_SPECIAL)
        return op->code == PTX_OP_MOV && !is_result;
    if (operand->kind == PTX_NUMBER)
        return !is_result;
    /* Registers that are loaded and stored may be wider than what there is in memory. */
    if (letter == '@' || op->code == PTX_OP_LD || op->code == PTX_OP_ST)
        return operand->bits >= (letter == '@' ? 32 : bits_of(op, letter));
    return operand->bits == bits_of(op, letter);
}

static sb_status check_operands(const ptx_text *text, const known_instruction *row,
                                const ptx_instruction *op, const operand_list *list) {
    char letters[PTX_OPERANDS_MOST + 1];
    letters_of(row, op, letters, sizeof letters);
    if (strlen(letters) != list->count)
        PTX_FAIL(text, "%s has %u operands, not %u", row->name, (unsigned)strlen(letters),
                 list->count);
    const bool has_result = op->code != PTX_OP_ST && op->code != PTX_OP_RED &&
                            op->code != PTX_OP_WARP_SYNC && op->code != PTX_OP_BLOCK_SYNC &&
                            op->code != PTX_OP_NOTHING;
    const uint32_t results = op->code == PTX_OP_LD     ? op->vector
                             : op->code == PTX_OP_SHFL ? 2
                             : op->code == PTX_OP_MMA  ? 4
                                                       : 1;
    for (uint32_t i = 0; i < list->count; i++)
        if (!fits(op, letters[i], &list->operands[i], has_result && i < results,
                  i == list->address))
            PTX_FAIL(text, "operand %u of %s does not fit", i + 1, row->name);
    return SB_OK;
}

/* mov of two or four parts to one whole, or the other way. */
static sb_status check_parts(const ptx_text *text, ptx_instruction *op, const operand_list *list) {
    const uint32_t whole = op->code == PTX_OP_UNPACK ? list->count - 1 : 0;
    op->vector = list->count - 1;
    if (list->groups != 1 || list->first_group + 1 != list->count ||
        (op->vector != 2 && op->vector != 4) || op->type.bits < 32)
        PTX_FAIL(text, "mov has no such parts");
    for (uint32_t i = 0; i < list->count; i++) {
        const ptx_operand *operand = &list->operands[i];
        const bool is_result = (i == whole) == (op->code == PTX_OP_PACK);
        const uint32_t bits = i == whole ? op->type.bits : 32;
        if (operand->kind == PTX_SPECIAL || (operand->kind != PTX_REGISTER && is_result) ||
            (operand->kind == PTX_REGISTER && operand->bits != bits))
            PTX_FAIL(text, "operand %u of mov does not fit", i + 1);
    }
    return SB_OK;
}

/* A shuffle may leave out where it says whether there was such a lane. */
static void complete_shuffle(operand_list *list) {
    if (list->count != 5)
        return;
    memmove(&list->operands[2], &list->operands[1], 4 * sizeof list->operands[0]);
    list->operands[1] = (ptx_operand){.kind = PTX_SINK};
    list->count++;
}

static sb_status decode_operands(ptx_text *text, const ptx_names *names,
                                 const known_instruction *row, ptx_instruction *op) {
    operand_list list = {.operands = op->operand, .address = UINT32_MAX};
    const bool is_unpacked = ptx_next_is(text, '{');
    SB_TRY(read_operands(text, names, &list));
    if (op->code == PTX_OP_SHFL)
        complete_shuffle(&list);
    op->operand_count = list.count;
    if (op->code == PTX_OP_MOV && list.groups > 0) {
        op->code = is_unpacked ? PTX_OP_UNPACK : PTX_OP_PACK;
        return check_parts(text, op, &list);
    }
    return check_operands(text, row, op, &list);
}

sb_status ptx_decode(ptx_text *text, const ptx_names *names, ptx_instruction *op, ptx_name *label) {
    ptx_skip(text);
    *op = (ptx_instruction){.vector = 1, .line = text->line};
    if (ptx_take(text, '@')) {
        op->has_guard = true;
        SB_TRY(read_operand(text, names, &op->guard));
        if (op->guard.bits != 1)
            PTX_FAIL(text, "only a predicate can stand before an instruction");
    }
    const ptx_name name = ptx_word(text);
    const known_instruction *row = find_known(name);
    if (row == NULL)
        PTX_FAIL(text, "'%.*s' is no instruction that is known here", (int)name.size, name.data);
    op->code = row->code;
    if (row->words != NULL)
        SB_TRY(read_words(text, row, name, op));
    if (!is_way_fine(op))
        PTX_FAIL(text, "%.*s is not known here", (int)name.size, name.data);
    if (op->code == PTX_OP_BRA)
        *label = ptx_word(text);
    else
        SB_TRY(decode_operands(text, names, row, op));
    return ptx_expect(text, ';');
}
