/*
 * Modules: their variables with what they begin as, and their kernels.
 *
 * Variables lie a little apart, so that an access behind the end of one is found.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "ptx_text.h"

enum { GAP = 16, CONSTANTS_MOST = 64 * 1024 };

/* Registers of one declaration: one, or many with a number behind the name. */
typedef struct register_family {
    ptx_name name;
    bool is_numbered;
    uint32_t count;
    uint32_t bits;
    uint32_t row;
} register_family;

typedef struct known_label {
    ptx_name name;
    uint32_t at;
    uint32_t line;
} known_label;

/* What a variable begins as, once everything has an address. */
typedef struct first_value {
    ptx_space space;
    uint64_t offset;
    uint32_t bytes;
    bool is_address;
    ptx_name symbol;
    uint64_t number;
    uint32_t line;
} first_value;

struct ptx_names {
    ptx_module *module;
    sb_vector variables; /* of ptx_variable, of the module */
    sb_vector values;
    uint64_t sizes[PTX_PARAM + 1]; /* of each memory, so far */
    /* Of the function that is read. */
    sb_vector parameters;
    sb_vector locals; /* its shared memory */
    sb_vector families;
    sb_vector labels;
    sb_vector jumps; /* of known_label, for each branch */
    sb_vector code;
    uint32_t register_bytes;
};

/* ---- names ---- */

static bool is_same(ptx_name a, ptx_name b) {
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static const ptx_variable *find_in(const sb_vector *variables, ptx_name name) {
    for (size_t i = 0; i < variables->count; i++) {
        const ptx_variable *variable = sb_vector_at(variables, i);
        if (is_same(variable->name, name))
            return variable;
    }
    return NULL;
}

static const ptx_variable *find_variable(const ptx_names *names, ptx_name name) {
    const ptx_variable *found = find_in(&names->parameters, name);
    if (found == NULL)
        found = find_in(&names->locals, name);
    return found != NULL ? found : find_in(&names->variables, name);
}

/* Where it lies in its own memory; memory that all kernels see has addresses of the host. */
static uint64_t address_of(const ptx_names *names, const ptx_variable *variable) {
    if (variable->space != PTX_GLOBAL)
        return variable->offset;
    return (uint64_t)(uintptr_t)names->module->globals + variable->offset;
}

bool ptx_find_symbol(const ptx_names *names, ptx_name name, uint64_t *address) {
    const ptx_variable *found = find_variable(names, name);
    if (found != NULL)
        *address = address_of(names, found);
    return found != NULL;
}

/* The number behind the family's name; UINT32_MAX: it is not of this family. */
static uint32_t number_in(const register_family *family, ptx_name name) {
    if (!family->is_numbered)
        return is_same(family->name, name) ? 0 : UINT32_MAX;
    if (name.size <= family->name.size || name.size > family->name.size + 9 ||
        memcmp(name.data, family->name.data, family->name.size) != 0)
        return UINT32_MAX;
    uint32_t number = 0;
    for (size_t i = family->name.size; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9')
            return UINT32_MAX;
        number = 10 * number + (uint32_t)(name.data[i] - '0');
    }
    return number < family->count ? number : UINT32_MAX;
}

static uint32_t row_bytes(uint32_t bits) {
    return bits == 1 ? sizeof(uint32_t) : PTX_LANES * bits / 8;
}

bool ptx_find_register(const ptx_names *names, ptx_name name, ptx_operand *operand) {
    for (size_t i = names->families.count; i-- > 0;) {
        const register_family *family = sb_vector_at(&names->families, i);
        const uint32_t number = number_in(family, name);
        if (number == UINT32_MAX)
            continue;
        *operand = (ptx_operand){.kind = PTX_REGISTER,
                                 .bits = (uint8_t)family->bits,
                                 .row = family->row + number * row_bytes(family->bits)};
        return true;
    }
    return false;
}

/* ---- variables ---- */

static sb_status read_type(ptx_text *text, ptx_type *type) {
    ptx_name name = ptx_word(text);
    if (name.size < 2 || name.data[0] != '.' ||
        !ptx_type_of((ptx_name){name.data + 1, name.size - 1}, type))
        PTX_FAIL(text, "'%.*s' is no type that is known here", (int)name.size, name.data);
    return SB_OK;
}

/* ".ptr .align 4": what a parameter points to, which is of no use here. */
static sb_status skip_pointer(ptx_text *text) {
    uint64_t number;
    const ptx_text before = *text;
    if (!ptx_name_is(ptx_word(text), ".ptr")) {
        *text = before;
        return SB_OK;
    }
    const ptx_name word = ptx_word(text);
    if (!ptx_name_is(word, ".align"))
        PTX_FAIL(text, "'%.*s' is not known here", (int)word.size, word.data);
    return ptx_number(text, &number);
}

/* ".align 16 .b8 name[512]": all but its place. */
static sb_status read_declaration(ptx_text *text, ptx_variable *variable, uint64_t *alignment) {
    ptx_type type = {0};
    const ptx_text before = *text;
    const bool is_aligned = ptx_name_is(ptx_word(text), ".align");
    if (!is_aligned)
        *text = before;
    else
        SB_TRY(ptx_number(text, alignment));
    SB_TRY(read_type(text, &type));
    SB_TRY(skip_pointer(text));
    variable->name = ptx_word(text);
    variable->element_bytes = type.bits / 8;
    if (!is_aligned)
        *alignment = variable->element_bytes;
    uint64_t count = 1;
    if (ptx_take(text, '[')) {
        count = 0;
        if (!ptx_next_is(text, ']'))
            SB_TRY(ptx_number(text, &count));
        SB_TRY(ptx_expect(text, ']'));
    }
    variable->size = count * variable->element_bytes;
    if (variable->name.size == 0 || *alignment == 0 || *alignment > 256 || variable->size == 0 ||
        variable->size > 1 << 24)
        PTX_FAIL(text, "a variable cannot be like this");
    return SB_OK;
}

static void place(ptx_names *names, ptx_variable *variable, uint64_t alignment, uint64_t gap) {
    uint64_t *size = &names->sizes[variable->space];
    assert(alignment > 0);
    variable->offset = (*size + alignment - 1) / alignment * alignment;
    *size = variable->offset + variable->size + gap;
}

static sb_status read_value(ptx_text *text, first_value *value) {
    value->line = text->line;
    if (ptx_is_number_next(text))
        return ptx_number(text, &value->number);
    const ptx_name name = ptx_word(text);
    value->is_address = true;
    value->symbol = name;
    if (ptx_name_is(name, "generic")) {
        SB_TRY(ptx_expect(text, '('));
        value->symbol = ptx_word(text);
        SB_TRY(ptx_expect(text, ')'));
    }
    if (ptx_take(text, '+'))
        SB_TRY(ptx_number(text, &value->number));
    return SB_OK;
}

/* Fewer values than there is room for: the rest is 0. */
static sb_status read_values(ptx_text *text, ptx_names *names, const ptx_variable *variable) {
    const bool is_list = ptx_take(text, '{');
    uint64_t at = 0;
    do {
        first_value value = {.space = variable->space,
                             .offset = variable->offset + at,
                             .bytes = variable->element_bytes};
        SB_TRY(read_value(text, &value));
        at += value.bytes;
        if (at > variable->size)
            PTX_FAIL(text, "there are more values than the variable has room for");
        *(first_value *)sb_vector_push(&names->values) = value;
    } while (is_list && ptx_take(text, ','));
    return is_list ? ptx_expect(text, '}') : SB_OK;
}

/* variables: the module's, or those of a function. */
static sb_status read_variable(ptx_text *text, ptx_names *names, ptx_space space,
                               sb_vector *variables) {
    ptx_variable variable = {.space = space};
    uint64_t alignment = 1;
    SB_TRY(read_declaration(text, &variable, &alignment));
    place(names, &variable, alignment, space == PTX_SHARED ? 0 : GAP);
    *(ptx_variable *)sb_vector_push(variables) = variable;
    if (ptx_take(text, '=')) {
        if (space == PTX_SHARED)
            PTX_FAIL(text, "shared memory begins as it was left");
        SB_TRY(read_values(text, names, &variable));
    }
    return ptx_expect(text, ';');
}

/* ---- kernels ---- */

static sb_status read_parameters(ptx_text *text, ptx_names *names) {
    SB_TRY(ptx_expect(text, '('));
    while (!ptx_take(text, ')')) {
        const ptx_name word = ptx_word(text);
        ptx_variable variable = {.space = PTX_PARAM};
        uint64_t alignment = 1;
        if (!ptx_name_is(word, ".param"))
            PTX_FAIL(text, "'%.*s' is no parameter", (int)word.size, word.data);
        SB_TRY(read_declaration(text, &variable, &alignment));
        place(names, &variable, alignment, 0);
        *(ptx_variable *)sb_vector_push(&names->parameters) = variable;
        (void)ptx_take(text, ',');
    }
    return SB_OK;
}

static sb_status read_registers(ptx_text *text, ptx_names *names) {
    ptx_type type = {0};
    SB_TRY(read_type(text, &type));
    do {
        uint64_t count = 1;
        register_family family = {.name = ptx_word(text),
                                  .bits = type.bits == 1    ? 1
                                          : type.bits == 64 ? 64
                                                            : 32,
                                  .row = names->register_bytes};
        family.is_numbered = ptx_take(text, '<');
        if (family.is_numbered) {
            SB_TRY(ptx_number(text, &count));
            SB_TRY(ptx_expect(text, '>'));
        }
        if (family.name.size == 0 || count == 0 || count > 1 << 16)
            PTX_FAIL(text, "registers cannot be like this");
        family.count = (uint32_t)count;
        /* Rows of numbers stay aligned behind predicates. */
        const uint32_t bytes = family.count * row_bytes(family.bits);
        names->register_bytes += (bytes + 31) / 32 * 32;
        *(register_family *)sb_vector_push(&names->families) = family;
    } while (ptx_take(text, ','));
    return ptx_expect(text, ';');
}

static sb_status read_directive(ptx_text *text, ptx_names *names, ptx_name word) {
    if (ptx_name_is(word, ".reg"))
        return read_registers(text, names);
    if (ptx_name_is(word, ".shared"))
        return read_variable(text, names, PTX_SHARED, &names->locals);
    if (ptx_name_is(word, ".pragma")) {
        while (*text->at != ';' && *text->at != '\0')
            text->at++;
        return ptx_expect(text, ';');
    }
    PTX_FAIL(text, "%.*s is not known here", (int)word.size, word.data);
}

static sb_status read_instruction(ptx_text *text, ptx_names *names) {
    ptx_name label = {0};
    ptx_instruction op;
    SB_TRY(ptx_decode(text, names, &op, &label));
    if (op.code == PTX_OP_BRA)
        *(known_label *)sb_vector_push(&names->jumps) =
            (known_label){label, (uint32_t)names->code.count, op.line};
    *(ptx_instruction *)sb_vector_push(&names->code) = op;
    return SB_OK;
}

static sb_status read_statements(ptx_text *text, ptx_names *names);

/* Registers of a part in braces are known there only. */
static sb_status read_part(ptx_text *text, ptx_names *names) {
    const size_t families = names->families.count;
    SB_TRY(read_statements(text, names));
    names->families.count = families;
    return SB_OK;
}

/* A declaration, a label, an instruction or a part in braces. */
static sb_status read_statement(ptx_text *text, ptx_names *names) {
    if (ptx_take(text, '{'))
        return read_part(text, names);
    ptx_skip(text);
    const ptx_text before = *text;
    const ptx_name word = ptx_word(text);
    if (word.size > 0 && word.data[0] == '.')
        return read_directive(text, names, word);
    if (word.size > 0 && ptx_take(text, ':')) {
        *(known_label *)sb_vector_push(&names->labels) =
            (known_label){word, (uint32_t)names->code.count, text->line};
        return SB_OK;
    }
    *text = before;
    return read_instruction(text, names);
}

/* Up to the brace that closes. */
static sb_status read_statements(ptx_text *text, ptx_names *names) {
    while (!ptx_take(text, '}')) {
        if (ptx_is_at_end(text))
            PTX_FAIL(text, "'}' is expected before the end");
        SB_TRY(read_statement(text, names));
    }
    return SB_OK;
}

static sb_status resolve_jumps(ptx_text *text, ptx_names *names) {
    for (size_t i = 0; i < names->jumps.count; i++) {
        const known_label *jump = sb_vector_at(&names->jumps, i);
        const known_label *found = NULL;
        for (size_t j = 0; j < names->labels.count; j++) {
            const known_label *label = sb_vector_at(&names->labels, j);
            if (is_same(label->name, jump->name))
                found = label;
        }
        text->line = jump->line;
        if (found == NULL)
            PTX_FAIL(text, "there is no label %.*s", (int)jump->name.size, jump->name.data);
        ((ptx_instruction *)sb_vector_at(&names->code, jump->at))->target = found->at;
    }
    return SB_OK;
}

static void *take_all(const sb_vector *vector, size_t size) {
    void *taken = sb_alloc_zeroed(vector->count + 1, size);
    if (vector->count > 0)
        memcpy(taken, sb_vector_at(vector, 0), vector->count * size);
    return taken;
}

static void keep_function(ptx_names *names, ptx_name name) {
    ptx_function *function = sb_alloc_zeroed(1, sizeof *function);
    *function = (ptx_function){
        .module = names->module,
        .name = sb_alloc_zeroed(1, name.size + 1),
        .next = names->module->functions,
        .code = take_all(&names->code, sizeof(ptx_instruction)),
        .count = (uint32_t)names->code.count,
        .register_bytes = names->register_bytes,
        .parameter_count = (uint32_t)names->parameters.count,
        .parameters = take_all(&names->parameters, sizeof(ptx_variable)),
        .parameter_bytes = (uint32_t)names->sizes[PTX_PARAM],
        .shared_bytes = (uint32_t)names->sizes[PTX_SHARED],
    };
    memcpy(function->name, name.data, name.size);
    names->module->functions = function;
}

/* ".maxntid 256, 1, 1" and the like, which tell the real compiler how many registers there are. */
static sb_status skip_limits(ptx_text *text) {
    uint64_t number;
    while (!ptx_take(text, '{')) {
        if (ptx_is_number_next(text))
            SB_TRY(ptx_number(text, &number));
        else if (!ptx_take(text, ',')) {
            const ptx_name word = ptx_word(text);
            if (!ptx_name_is(word, ".maxntid") && !ptx_name_is(word, ".minnctapersm"))
                PTX_FAIL(text, "'%.*s' is not known here", (int)word.size, word.data);
        }
    }
    return SB_OK;
}

static sb_status read_function(ptx_text *text, ptx_names *names) {
    sb_vector *const own[] = {&names->parameters, &names->locals, &names->families,
                              &names->labels,     &names->jumps,  &names->code};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sb_vector_clear(own[i]);
    const uint64_t shared = names->sizes[PTX_SHARED];
    names->sizes[PTX_PARAM] = 0;
    names->register_bytes = 0;
    const ptx_name name = ptx_word(text);
    SB_TRY(read_parameters(text, names));
    SB_TRY(skip_limits(text));
    SB_TRY(read_statements(text, names));
    SB_TRY(resolve_jumps(text, names));
    keep_function(names, name);
    names->sizes[PTX_SHARED] = shared;
    return SB_OK;
}

/* ---- modules ---- */

/* Behind the next mark that is in no braces. */
static sb_status skip_behind(ptx_text *text, char mark) {
    uint32_t depth = 0;
    while (!ptx_is_at_end(text)) {
        const char c = *text->at++;
        depth += c == '{' ? 1 : 0;
        depth -= c == '}' && depth > 0 ? 1 : 0;
        if (c == mark && depth == 0)
            return SB_OK;
    }
    PTX_FAIL(text, "'%c' is expected before the end", mark);
}

static void skip_line(ptx_text *text) {
    while (*text->at != '\n' && *text->at != '\0')
        text->at++;
}

/* is_code: kernels, which need the addresses of all variables; else variables. */
static sb_status read_item(ptx_text *text, ptx_names *names, bool is_code) {
    static const struct {
        const char *word;
        ptx_space space;
    } memories[] = {{".global", PTX_GLOBAL}, {".const", PTX_CONST}, {".shared", PTX_SHARED}};
    const ptx_name word = ptx_word(text);
    for (size_t i = 0; i < sizeof memories / sizeof memories[0]; i++)
        if (ptx_name_is(word, memories[i].word)) {
            if (!is_code)
                return read_variable(text, names, memories[i].space, &names->variables);
            return skip_behind(text, ';');
        }
    if (ptx_name_is(word, ".entry")) {
        if (is_code)
            return read_function(text, names);
        return skip_behind(text, '}');
    }
    if (ptx_name_is(word, ".version") || ptx_name_is(word, ".target") ||
        ptx_name_is(word, ".address_size"))
        skip_line(text);
    else if (!ptx_name_is(word, ".visible") && !ptx_name_is(word, ".weak"))
        PTX_FAIL(text, "'%.*s' is not known here", (int)word.size, word.data);
    return SB_OK;
}

static sb_status read_items(ptx_text text, ptx_names *names, bool is_code) {
    while (!ptx_is_at_end(&text))
        SB_TRY(read_item(&text, names, is_code));
    return SB_OK;
}

static void add_memory(ptx_names *names) {
    ptx_module *module = names->module;
    module->constant_bytes = names->sizes[PTX_CONST] + GAP;
    module->global_bytes = names->sizes[PTX_GLOBAL] + GAP;
    module->constants = ptx_memory_make(module->constant_bytes, 0);
    module->globals = ptx_memory_make(module->global_bytes, 0);
    module->variable_count = (uint32_t)names->variables.count;
    module->variables = take_all(&names->variables, sizeof(ptx_variable));
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const ptx_variable *variable = &module->variables[i];
        if (variable->space == PTX_SHARED)
            continue;
        const unsigned char *memory =
            variable->space == PTX_CONST ? module->constants : module->globals;
        ptx_memory_add((uint64_t)(uintptr_t)memory + variable->offset, variable->size,
                       variable->space == PTX_GLOBAL);
    }
}

static sb_status write_values(ptx_text *text, const ptx_names *names) {
    const ptx_module *module = names->module;
    for (size_t i = 0; i < names->values.count; i++) {
        const first_value *value = sb_vector_at(&names->values, i);
        uint64_t number = value->number;
        uint64_t address = 0;
        text->line = value->line;
        if (value->is_address) {
            const ptx_variable *of = find_in(&names->variables, value->symbol);
            if (of == NULL || of->space != PTX_GLOBAL)
                PTX_FAIL(text, "there is no variable %.*s", (int)value->symbol.size,
                         value->symbol.data);
            address = address_of(names, of);
        }
        number += address;
        unsigned char *memory = value->space == PTX_CONST ? module->constants : module->globals;
        memcpy(memory + value->offset, &number, value->bytes);
    }
    return SB_OK;
}

static sb_status read_module(ptx_text text, ptx_names *names) {
    SB_TRY(read_items(text, names, false));
    if (names->sizes[PTX_CONST] > CONSTANTS_MOST)
        PTX_FAIL(&text, "constant memory has no room for %llu bytes",
                 (unsigned long long)names->sizes[PTX_CONST]);
    add_memory(names);
    SB_TRY(write_values(&text, names));
    return read_items(text, names, true);
}

sb_status ptx_module_load(const char *text, ptx_module **module, sb_error *error) {
    ptx_module *made = sb_alloc_zeroed(1, sizeof *made);
    made->text = sb_alloc_zeroed(1, strlen(text) + 1);
    memcpy(made->text, text, strlen(text));
    ptx_names names = {
        .module = made,
        .variables = sb_vector_of(sizeof(ptx_variable)),
        .values = sb_vector_of(sizeof(first_value)),
        .parameters = sb_vector_of(sizeof(ptx_variable)),
        .locals = sb_vector_of(sizeof(ptx_variable)),
        .families = sb_vector_of(sizeof(register_family)),
        .labels = sb_vector_of(sizeof(known_label)),
        .jumps = sb_vector_of(sizeof(known_label)),
        .code = sb_vector_of(sizeof(ptx_instruction)),
    };
    const sb_status status = read_module((ptx_text){made->text, 1, error}, &names);
    sb_vector *const all[] = {&names.variables, &names.values, &names.parameters, &names.locals,
                              &names.families,  &names.labels, &names.jumps,      &names.code};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sb_vector_free(all[i]);
    if (status != SB_OK)
        ptx_module_free(made);
    else
        *module = made;
    return status;
}

void ptx_module_free(ptx_module *module) {
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const ptx_variable *variable = &module->variables[i];
        const unsigned char *memory =
            variable->space == PTX_CONST ? module->constants : module->globals;
        if (variable->space != PTX_SHARED)
            (void)ptx_memory_remove((uint64_t)(uintptr_t)memory + variable->offset);
    }
    while (module->functions != NULL) {
        ptx_function *function = module->functions;
        module->functions = function->next;
        free(function->name);
        free(function->code);
        free(function->parameters);
        free(function);
    }
    free(module->variables);
    free(module->constants);
    free(module->globals);
    free(module->text);
    free(module);
}

ptx_function *ptx_module_function(const ptx_module *module, const char *name) {
    ptx_function *function = module->functions;
    while (function != NULL && strcmp(function->name, name) != 0)
        function = function->next;
    return function;
}

uint64_t ptx_module_variable(const ptx_module *module, const char *name, size_t *size) {
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const ptx_variable *variable = &module->variables[i];
        if (variable->space == PTX_SHARED || !ptx_name_is(variable->name, name))
            continue;
        *size = variable->size;
        return (uint64_t)(uintptr_t)(variable->space == PTX_CONST ? module->constants
                                                                  : module->globals) +
               variable->offset;
    }
    return 0;
}
