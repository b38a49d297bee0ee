/* Zones by hand: the type behind tracy.zone, and start_zone with stop_zone. */
#include "native.h"

/* ---- tracy.zone ---- */

typedef struct zone_object {
    PyObject_HEAD const sb_source_location *location;
} zone_object;

static int zone_init(PyObject *self, PyObject *args, PyObject *names) {
    static char *keywords[] = {"name", "color", "file", "line", "function", NULL};
    const char *name = NULL;
    const char *file = "";
    const char *function = "";
    unsigned int color = 0;
    unsigned int line = 0;
    if (!PyArg_ParseTupleAndKeywords(args, names, "s|IsIs", keywords, &name, &color, &file, &line,
                                     &function))
        return -1;
    ((zone_object *)(void *)self)->location = native_location(name, function, file, line, color);
    return 0;
}

static PyObject *zone_enter(PyObject *self, PyObject *unused) {
    const zone_object *zone = (const zone_object *)(void *)self;
    (void)unused;
    if (zone->location != NULL)
        native_push(zone->location, zone->location);
    Py_INCREF(self);
    return self;
}

static PyObject *zone_exit(PyObject *self, PyObject *args) {
    const zone_object *zone = (const zone_object *)(void *)self;
    (void)args;
    if (zone->location != NULL)
        native_pop(zone->location);
    Py_RETURN_NONE;
}

static PyObject *zone_text(PyObject *self, PyObject *text) {
    const zone_object *zone = (const zone_object *)(void *)self;
    Py_ssize_t size = 0;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (utf8 == NULL)
        return NULL;
    const sb_zone open = native_zone_of(zone->location);
    if (zone->location != NULL && open.session != 0)
        sb_zone_text(open, utf8, (size_t)size);
    Py_RETURN_NONE;
}

PyMethodDef native_zone_methods[] = {
    {"__enter__", zone_enter, METH_NOARGS, "Begins the zone."},
    {"__exit__", zone_exit, METH_VARARGS, "Ends it."},
    {"text", zone_text, METH_O, "Adds a line of text to the zone while it is open."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot zone_slots[] = {
    {Py_tp_doc, "A stretch of this thread's time with a name."},
    {Py_tp_init, zone_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_methods, native_zone_methods},
    {0, NULL},
};

static PyType_Spec zone_spec = {
    .name = "tracy._native.Zone",
    .basicsize = sizeof(zone_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, // NOLINT(misc-redundant-expression): theirs
    .slots = zone_slots,
};

bool native_add_zone_type(PyObject *module) {
    PyObject *type = PyType_FromSpec(&zone_spec);
    if (type == NULL)
        return false;
    if (PyModule_AddObject(module, "Zone", type) == 0)
        return true;
    Py_DECREF(type);
    return false;
}

/* ---- zones without an object ---- */

static const char by_hand; /* its address is the key of all of them */

PyObject *native_start_zone(PyObject *self, PyObject *args, PyObject *names) {
    static char *keywords[] = {"source", "function", "line", "color", NULL};
    const char *source = NULL;
    const char *function = NULL;
    unsigned int line = 0;
    unsigned int color = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "ss|II", keywords, &source, &function, &line,
                                     &color))
        return NULL;
    native_push(&by_hand, native_location(NULL, function, source, line, color));
    Py_RETURN_NONE;
}

PyObject *native_stop_zone(PyObject *self, PyObject *args, PyObject *names) {
    static char *keywords[] = {"name", "color", NULL};
    const char *name = "";
    Py_ssize_t size = 0;
    unsigned int color = 0;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, names, "|s#I", keywords, &name, &size, &color))
        return NULL;
    const sb_zone zone = native_zone_of(&by_hand);
    if (zone.session != 0 && size > 0)
        sb_zone_name(zone, name, (size_t)size);
    if (zone.session != 0 && color != 0)
        sb_zone_color(zone, color);
    native_pop(&by_hand);
    Py_RETURN_NONE;
}
