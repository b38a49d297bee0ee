/* Places in the source. They are never freed: recordings know them by address. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts and places that stay ---- */

typedef struct table {
    void **entries;
    size_t count;
    size_t capacity; /* a power of two, or 0 */
} table;

static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

static uint64_t add_to_hash(uint64_t hash, uint64_t number) {
    hash = (hash ^ number) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29; /* places in a table are taken from the low bits */
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL)
        Py_FatalError("tracy: there is not enough memory");
    return memory;
}

typedef uint64_t (*hash_function)(const void *entry);

static void grow(table *in, hash_function hash) {
    const table old = *in;
    in->capacity = old.capacity == 0 ? 256 : 2 * old.capacity;
    in->entries = allocate(in->capacity, sizeof *in->entries);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.entries[i] == NULL)
            continue;
        size_t place = hash(old.entries[i]) & (in->capacity - 1);
        while (in->entries[place] != NULL)
            place = (place + 1) & (in->capacity - 1);
        in->entries[place] = old.entries[i];
    }
    free(old.entries);
}

/* Where the entry is, or where it belongs. */
static void **find(table *in, const void *wanted, hash_function hash,
                   bool (*equal)(const void *, const void *)) {
    if (2 * in->count >= in->capacity)
        grow(in, hash);
    size_t place = hash(wanted) & (in->capacity - 1);
    while (in->entries[place] != NULL && !equal(in->entries[place], wanted))
        place = (place + 1) & (in->capacity - 1);
    return &in->entries[place];
}

static uint64_t hash_text(const void *text) {
    uint64_t hash = hash_start;
    for (const unsigned char *c = text; *c != '\0'; c++)
        hash = add_to_hash(hash, *c);
    return hash;
}

static bool equal_texts(const void *a, const void *b) {
    return strcmp(a, b) == 0;
}

const char *native_literal(const char *text) {
    static table literals;
    void **place = find(&literals, text, hash_text, equal_texts);
    if (*place == NULL) {
        const size_t size = strlen(text) + 1;
        *place = memcpy(allocate(size, 1), text, size);
        literals.count++;
    }
    return *place;
}

/* By the addresses of texts, which are literals by now. */
static uint64_t hash_location(const void *entry) {
    const sb_source_location *location = entry;
    uint64_t hash = add_to_hash(hash_start, (uintptr_t)location->name);
    hash = add_to_hash(hash, (uintptr_t)location->function);
    hash = add_to_hash(hash, (uintptr_t)location->file);
    return add_to_hash(hash, (uint64_t)location->line << 32 | location->color);
}

static bool equal_locations(const void *a, const void *b) {
    const sb_source_location *first = a;
    const sb_source_location *second = b;
    return first->name == second->name && first->function == second->function &&
           first->file == second->file && first->line == second->line &&
           first->color == second->color;
}

const sb_source_location *native_location(const char *name, const char *function, const char *file,
                                          uint32_t line, uint32_t color) {
    static table locations;
    const sb_source_location wanted = {.name = name == NULL ? NULL : native_literal(name),
                                       .function = native_literal(function),
                                       .file = native_literal(file),
                                       .line = line,
                                       .color = color};
    void **place = find(&locations, &wanted, hash_location, equal_locations);
    if (*place == NULL) {
        *place = memcpy(allocate(1, sizeof wanted), &wanted, sizeof wanted);
        locations.count++;
    }
    return *place;
}

/* ---- code objects ---- */

#if PY_VERSION_HEX >= 0x030C0000
#define REQUEST_EXTRA_INDEX PyUnstable_Eval_RequestCodeExtraIndex
#define GET_EXTRA PyUnstable_Code_GetExtra
#define SET_EXTRA PyUnstable_Code_SetExtra
#else
#define REQUEST_EXTRA_INDEX _PyEval_RequestCodeExtraIndex
#define GET_EXTRA _PyCode_GetExtra
#define SET_EXTRA _PyCode_SetExtra
#endif

static Py_ssize_t extra_index = -1;
static char hidden_folder[4096];
static native_code unknown_code; /* for code that nothing can be kept with */

static void free_code(void *extra) {
    native_code *known = extra;
    if (known != NULL)
        free(known->lines);
    free(known);
}

bool native_code_init(void) {
    extra_index = REQUEST_EXTRA_INDEX(free_code);
    if (extra_index >= 0)
        return true;
    PyErr_SetString(PyExc_RuntimeError, "tracy: code objects have no room for another tool");
    return false;
}

void native_hide_folder(const char *folder) {
    snprintf(hidden_folder, sizeof hidden_folder, "%s", folder);
}

static const char *utf8_of(PyObject *text) {
    const char *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    if (utf8 != NULL)
        return utf8;
    PyErr_Clear();
    return "?";
}

static const char *name_of(const PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030B0000
    return utf8_of(code->co_qualname);
#else
    return utf8_of(code->co_name);
#endif
}

static native_code *make_code(PyCodeObject *code) {
    const char *file = utf8_of(code->co_filename);
    const size_t hidden = strlen(hidden_folder);
    native_code *known = allocate(1, sizeof *known);
    if (hidden == 0 || strncmp(file, hidden_folder, hidden) != 0)
        known->function =
            native_location(NULL, name_of(code), file, (uint32_t)code->co_firstlineno, 0);
    if (SET_EXTRA((PyObject *)code, extra_index, known) == 0)
        return known;
    PyErr_Clear();
    free(known);
    return &unknown_code;
}

native_code *native_code_of(PyCodeObject *code) {
    void *known = NULL;
    if (GET_EXTRA((PyObject *)code, extra_index, &known) != 0)
        PyErr_Clear();
    return known != NULL ? known : make_code(code);
}

/* ---- lines ---- */

static void make_room(native_code *known, uint32_t line) {
    const uint32_t first = known->line_count == 0 ? line : known->first_line;
    const uint32_t new_first = line < first ? line : first;
    const uint32_t old_end = first + known->line_count;
    const uint32_t new_end = line >= old_end ? line + 16 : old_end;
    const size_t size = sizeof(void *); /* of a pointer to a place */
    const sb_source_location **lines = allocate(new_end - new_first, size);
    if (known->line_count > 0)
        memcpy(lines + (first - new_first), known->lines, known->line_count * size);
    free(known->lines);
    known->lines = lines;
    known->first_line = new_first;
    known->line_count = new_end - new_first;
}

const sb_source_location *native_line_of(native_code *known, PyCodeObject *code, uint32_t line) {
    if (line < known->first_line || line - known->first_line >= known->line_count)
        make_room(known, line);
    const sb_source_location **place = &known->lines[line - known->first_line];
    if (*place == NULL) {
        char name[512];
        const char *function = name_of(code);
        snprintf(name, sizeof name, "%s:%u", function, line);
        *place = native_location(name, function, utf8_of(code->co_filename), line, 0);
    }
    return *place;
}

/* ---- functions in C ---- */

enum { BUILTINS_KEPT = 1024 };

/* By hash: what was looked up last. Both addresses, since a definition may be made anew. */
static struct {
    const PyMethodDef *definition;
    const char *name;
    const sb_source_location *location;
} builtins[BUILTINS_KEPT];

static bool is_in(const PyMethodDef *definition, const PyMethodDef *table_of_ours) {
    for (; table_of_ours->ml_name != NULL; table_of_ours++) {
        if (table_of_ours == definition)
            return true;
    }
    return false;
}

static const char *owner_of(PyObject *function) {
    if (PyCFunction_Check(function)) {
        PyObject *self = PyCFunction_GET_SELF(function);
        if (self != NULL && PyModule_Check(self)) {
            const char *module = PyModule_GetName(self);
            if (module == NULL)
                PyErr_Clear();
            return module == NULL ? "?" : module;
        }
        return self == NULL         ? "builtins"
               : PyType_Check(self) ? ((PyTypeObject *)self)->tp_name
                                    : Py_TYPE(self)->tp_name;
    }
    return ((PyMethodDescrObject *)(void *)function)->d_common.d_type->tp_name;
}

static const sb_source_location *make_builtin(PyObject *function, const PyMethodDef *definition) {
    char name[256];
    if (is_in(definition, native_methods) || is_in(definition, native_zone_methods))
        return NULL;
    const char *owner = owner_of(function);
    if (strcmp(owner, "builtins") == 0)
        snprintf(name, sizeof name, "%s", definition->ml_name);
    else
        snprintf(name, sizeof name, "%s.%s", owner, definition->ml_name);
    return native_location(NULL, name, "<built-in>", 0, 0);
}

const sb_source_location *native_builtin_location(PyObject *function) {
    const PyMethodDef *definition = NULL;
    if (PyCFunction_Check(function))
        definition = ((PyCFunctionObject *)(void *)function)->m_ml;
    else if (Py_TYPE(function) == &PyMethodDescr_Type)
        definition = ((PyMethodDescrObject *)(void *)function)->d_method;
    if (definition == NULL)
        return NULL;
    const size_t place = ((uintptr_t)definition >> 5) % BUILTINS_KEPT;
    if (builtins[place].definition != definition || builtins[place].name != definition->ml_name) {
        builtins[place].location = make_builtin(function, definition);
        builtins[place].definition = definition;
        builtins[place].name = definition->ml_name;
    }
    return builtins[place].location;
}
