/*
 * Functions and lines by sys.monitoring (3.12 and later): the interpreter calls us with the code
 * object at hand and makes no frame object, for all threads at once.
 */
#include "native.h"

#if NATIVE_HAS_MONITORING

#include <stddef.h>

static PyObject *disable; /* sys.monitoring.DISABLE: this place is of no interest */

static const void *line_key(const PyObject *code) {
    return (const char *)code + 1;
}

/* ---- events ---- */

static PyObject *on_enter(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self;
    (void)count;
    (void)names;
    const native_code *known = native_code_of((PyCodeObject *)(void *)args[0]);
    if (known->function == NULL) {
        Py_INCREF(disable);
        return disable;
    }
    native_push(args[0], known->function);
    Py_RETURN_NONE;
}

/* A generator that is thrown into goes on; this event cannot be disabled. */
static PyObject *on_throw(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self;
    (void)count;
    (void)names;
    const native_code *known = native_code_of((PyCodeObject *)(void *)args[0]);
    if (known->function != NULL)
        native_push(args[0], known->function);
    Py_RETURN_NONE;
}

static PyObject *on_leave(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self;
    (void)count;
    (void)names;
    native_pop(args[0]);
    Py_RETURN_NONE;
}

static PyObject *on_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self;
    (void)names;
    const sb_source_location *location =
        PyVectorcall_NARGS(count) < 3 ? NULL : native_builtin_location(args[2]);
    if (location != NULL)
        native_push(args[2], location);
    Py_RETURN_NONE;
}

static PyObject *on_c_return(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self;
    (void)names;
    if (PyVectorcall_NARGS(count) >= 3 && native_builtin_location(args[2]) != NULL)
        native_pop(args[2]);
    Py_RETURN_NONE;
}

static PyObject *on_line(PyObject *self, PyObject *const *args, size_t count, PyObject *names) {
    (void)self;
    (void)count;
    (void)names;
    PyCodeObject *code = (PyCodeObject *)(void *)args[0];
    native_code *known = native_code_of(code);
    if (known->function == NULL) {
        Py_INCREF(disable);
        return disable;
    }
    const long line = PyLong_AsLong(args[1]);
    native_pop_if_last(line_key(args[0]));
    native_push(line_key(args[0]), native_line_of(known, code, (uint32_t)line));
    Py_RETURN_NONE;
}

/* ---- registering ---- */

/* An object to be called: it leads to the function without the checks that those of modules have.
 */
typedef struct callback_object {
    PyObject_HEAD vectorcallfunc call;
} callback_object;

static PyMemberDef callback_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(callback_object, call), Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot callback_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, callback_members},
    {0, NULL},
};

static PyType_Spec callback_spec = {
    .name = "tracy._native.Callback",
    .basicsize = sizeof(callback_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = callback_slots,
};

static PyObject *make_callback(vectorcallfunc function) {
    static PyTypeObject *type;
    if (type == NULL)
        type = (PyTypeObject *)(void *)PyType_FromSpec(&callback_spec);
    callback_object *made = type == NULL ? NULL : PyObject_New(callback_object, type);
    if (made != NULL)
        made->call = function;
    return (PyObject *)(void *)made;
}

/* Which callback each event has; lines come last, since they are not always wanted. */
static const struct {
    const char *event;
    vectorcallfunc function;
} events[] = {
    {"PY_START", on_enter},  {"PY_RESUME", on_enter},   {"PY_THROW", on_throw},
    {"PY_RETURN", on_leave}, {"PY_YIELD", on_leave},    {"PY_UNWIND", on_leave},
    {"CALL", on_call},       {"C_RETURN", on_c_return}, {"C_RAISE", on_c_return},
    {"LINE", on_line},
};

enum { EVENT_COUNT = sizeof events / sizeof events[0], NO_TOOL = -1 };

static int tool = NO_TOOL;

static PyObject *monitoring(void) {
    PyObject *module = PySys_GetObject("monitoring");
    if (module == NULL)
        PyErr_SetString(PyExc_RuntimeError, "tracy: sys.monitoring is not there");
    return module;
}

/* The number of an event. */
static long event_of(PyObject *module, const char *name) {
    PyObject *all = PyObject_GetAttrString(module, "events");
    PyObject *event = all == NULL ? NULL : PyObject_GetAttrString(all, name);
    const long number = event == NULL ? -1 : PyLong_AsLong(event);
    Py_XDECREF(event);
    Py_XDECREF(all);
    return number;
}

/* The profiler's usual number, or another that nobody has. */
static bool take_tool(PyObject *module) {
    static const int numbers[] = {2, 3, 4};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        PyObject *done = PyObject_CallMethod(module, "use_tool_id", "is", numbers[i], "strobe");
        if (done != NULL) {
            Py_DECREF(done);
            tool = numbers[i];
            return true;
        }
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_RuntimeError, "tracy: other tools use all of sys.monitoring");
    return false;
}

static bool call(PyObject *module, const char *function, const char *format, int number, long event,
                 PyObject *callback) {
    PyObject *done = PyObject_CallMethod(module, function, format, number, event, callback);
    Py_XDECREF(done);
    return done != NULL;
}

static bool watch(PyObject *module, bool lines) {
    long wanted = 0;
    for (size_t i = 0; i < EVENT_COUNT - (lines ? 0 : 1); i++) {
        const long event = event_of(module, events[i].event);
        PyObject *made = make_callback(events[i].function);
        const bool is_registered = event >= 0 && made != NULL &&
                                   call(module, "register_callback", "ilO", tool, event, made);
        Py_XDECREF(made);
        if (!is_registered)
            return false;
        wanted |= event;
    }
    return call(module, "set_events", "il", tool, wanted, NULL);
}

PyObject *native_trace_start(PyObject *self, PyObject *lines) {
    (void)self;
    PyObject *module = monitoring();
    if (module == NULL)
        return NULL;
    if (disable == NULL)
        disable = PyObject_GetAttrString(module, "DISABLE");
    if (tool == NO_TOOL && (disable == NULL || !take_tool(module)))
        return NULL;
    if (!watch(module, PyObject_IsTrue(lines) == 1))
        return NULL;
    Py_RETURN_NONE;
}

PyObject *native_trace_stop(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    PyObject *module = monitoring();
    if (module == NULL)
        return NULL;
    if (tool != NO_TOOL) {
        PyObject *done = PyObject_CallMethod(module, "set_events", "ii", tool, 0);
        Py_XDECREF(done);
        done = done == NULL ? NULL : PyObject_CallMethod(module, "free_tool_id", "i", tool);
        Py_XDECREF(done);
        if (done == NULL)
            return NULL;
        tool = NO_TOOL;
    }
    Py_RETURN_TRUE;
}

PyObject *native_trace_attach(PyObject *self, PyObject *args) {
    (void)self;
    (void)args;
    Py_RETURN_NONE; /* threads are traced by themselves */
}

#endif
