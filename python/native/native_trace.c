/* Functions by PyEval_SetProfile and lines by PyEval_SetTrace, for interpreters before 3.12. */
#include "native.h"

#if !NATIVE_HAS_MONITORING

static bool wants_lines;

/* The zone of a line has the frame's address plus one for a key: no other object has that. */
static const void *line_key(const PyFrameObject *frame) {
    return (const char *)frame + 1;
}

static void enter(PyFrameObject *frame) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    const native_code *known = native_code_of(code);
    Py_DECREF(code);
    if (known->function != NULL)
        native_push(frame, known->function);
}

static int on_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument) {
    (void)unused;
    switch (what) {
    case PyTrace_CALL:
        enter(frame);
        break;
    case PyTrace_RETURN: /* also when an exception leaves the frame, or a generator yields */
        native_pop(frame);
        break;
    case PyTrace_C_CALL: {
        const sb_source_location *location = native_builtin_location(argument);
        if (location != NULL)
            native_push(argument, location);
        break;
    }
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
        if (native_builtin_location(argument) != NULL)
            native_pop(argument);
        break;
    default:
        break;
    }
    return 0;
}

static int on_line(PyObject *unused, PyFrameObject *frame, int what, PyObject *argument) {
    (void)unused;
    (void)argument;
    if (what != PyTrace_LINE)
        return 0;
    PyCodeObject *code = PyFrame_GetCode(frame);
    native_code *known = native_code_of(code);
    native_pop_if_last(line_key(frame));
    if (known->function != NULL)
        native_push(line_key(frame),
                    native_line_of(known, code, (uint32_t)PyFrame_GetLineNumber(frame)));
    Py_DECREF(code);
    return 0;
}

static void trace_this_thread(void) {
    PyEval_SetProfile(on_event, NULL);
    if (wants_lines)
        PyEval_SetTrace(on_line, NULL);
}

PyObject *native_trace_start(PyObject *self, PyObject *lines) {
    (void)self;
    wants_lines = PyObject_IsTrue(lines) == 1;
    trace_this_thread();
    Py_RETURN_NONE;
}

PyObject *native_trace_attach(PyObject *self, PyObject *args) {
    (void)self;
    (void)args;
    trace_this_thread();
    Py_RETURN_NONE;
}

PyObject *native_trace_stop(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    const PyThreadState *state = PyThreadState_Get();
    const bool is_ours = state->c_profilefunc == on_event;
    if (is_ours)
        PyEval_SetProfile(NULL, NULL);
    if (state->c_tracefunc == on_line)
        PyEval_SetTrace(NULL, NULL);
    return PyBool_FromLong(is_ours);
}

#endif
