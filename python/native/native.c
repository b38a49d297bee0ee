/* The module tracy._native. */
#include "native.h"

#include <string.h>

/* ---- life cycle ---- */

static PyObject *start(PyObject *self, PyObject *args) {
    int on_demand = 0;
    const char *folder = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "ps", &on_demand, &folder))
        return NULL;
    const sb_client_options options = {
        .size = sizeof options, .flags = on_demand ? SB_ON_DEMAND : 0, .port = 0};
    native_hide_folder(folder);
    sb_client_start(&options);
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS;
    sb_client_stop();
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *is_recording(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    return PyBool_FromLong(sb_is_recording());
}

static PyObject *set_program_name(PyObject *self, PyObject *name) {
    const char *utf8 = name == Py_None ? NULL : PyUnicode_AsUTF8(name);
    (void)self;
    if (utf8 == NULL && name != Py_None)
        return NULL;
    sb_set_program_name(utf8 == NULL ? NULL : native_literal(utf8));
    Py_RETURN_NONE;
}

static PyObject *set_thread_name(PyObject *self, PyObject *name) {
    const char *utf8 = PyUnicode_AsUTF8(name);
    (void)self;
    if (utf8 == NULL)
        return NULL;
    sb_set_thread_name(utf8);
    Py_RETURN_NONE;
}

/* ---- messages, frames, plots ---- */

static PyObject *message(PyObject *self, PyObject *args, PyObject *names) {
    static char *keywords[] = {"text", "color", NULL};
    const char *text = NULL;
    Py_ssize_t size = 0;
    unsigned int color = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "s#|I", keywords, &text, &size, &color))
        return NULL;
    if (sb_is_recording())
        sb_message(SB_SEVERITY_INFO, color, 0, text, (size_t)size);
    Py_RETURN_NONE;
}

static PyObject *frame_mark(PyObject *self, PyObject *args) {
    const char *name = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "|z", &name))
        return NULL;
    sb_frame_mark(name == NULL ? NULL : native_literal(name));
    Py_RETURN_NONE;
}

static PyObject *plot(PyObject *self, PyObject *args) {
    const char *name = NULL;
    PyObject *value = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO", &name, &value))
        return NULL;
    if (PyLong_Check(value)) {
        int overflow = 0;
        const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow == 0 && !(integer == -1 && PyErr_Occurred() != NULL)) {
            sb_plot_integer(native_literal(name), integer);
            Py_RETURN_NONE;
        }
    }
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != NULL)
        return NULL;
    sb_plot_double(native_literal(name), number);
    Py_RETURN_NONE;
}

/* ---- the module ---- */

/* A function with keywords, as the table wants it. */
#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

PyMethodDef native_methods[] = {
    {"start", start, METH_VARARGS,
     "start(on_demand, folder): starts the client; code below the folder is not recorded."},
    {"stop", stop, METH_NOARGS, "Writes what is left and ends the recording, for good."},
    {"is_recording", is_recording, METH_NOARGS, "Is what happens recorded by anybody?"},
    {"set_program_name", set_program_name, METH_O, "What recordings call this program."},
    {"set_thread_name", set_thread_name, METH_O, "What recordings call this thread."},
    {"message", WITH_KEYWORDS(message), METH_VARARGS | METH_KEYWORDS,
     "message(text, color=0): a text at this moment; color is 0xRRGGBB."},
    {"frame_mark", frame_mark, METH_VARARGS,
     "frame_mark(name=None): the end of a frame, of the default set or a named one."},
    {"plot", plot, METH_VARARGS, "plot(name, value): a number over time."},
    {"start_zone", WITH_KEYWORDS(native_start_zone), METH_VARARGS | METH_KEYWORDS,
     "start_zone(source, function, line=0, color=0): begins a zone on this thread."},
    {"stop_zone", WITH_KEYWORDS(native_stop_zone), METH_VARARGS | METH_KEYWORDS,
     "stop_zone(name='', color=0): ends the innermost zone of start_zone."},
    {"trace_start", native_trace_start, METH_O, "trace_start(lines): records functions."},
    {"trace_attach", native_trace_attach, METH_VARARGS,
     "A profile function that makes its thread one that is traced."},
    {"trace_stop", native_trace_stop, METH_NOARGS,
     "Records functions no more; false: the program had stopped it before."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tracy._native",
    .m_doc = "Recording of zones, messages, frames and plots; tracing of functions.",
    .m_size = -1,
    .m_methods = native_methods,
};

PyMODINIT_FUNC PyInit__native(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    if (native_code_init() && native_add_zone_type(module) &&
        PyModule_AddIntConstant(module, "traces_all_threads", NATIVE_HAS_MONITORING) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
