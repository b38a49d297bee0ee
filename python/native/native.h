/*
 * tracy._native: what the Python package needs of libstrobe, and the tracing of functions.
 *
 *   native.c            the module: messages, frames, plots, life cycle
 *   native_location.c   places in the source, each known by an address for ever
 *   native_stack.c      the open zones of a thread, whoever opened them
 *   native_zone.c       the type behind tracy.zone, and zones that are opened and closed by name
 *   native_trace.c      functions by PyEval_SetProfile, lines by PyEval_SetTrace (to 3.11)
 *   native_monitor.c    the same by sys.monitoring (from 3.12 on)
 *
 * All of it runs under the interpreter's lock, except what belongs to one thread (native_stack.c).
 * Events allocate nothing but, the first time, the place of a function or line.
 */
#ifndef TRACY_NATIVE_H
#define TRACY_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <stdbool.h>
#include <stdint.h>

#include <strobe/strobe.h>

#define NATIVE_HAS_MONITORING (PY_VERSION_HEX >= 0x030C0000)

PyMODINIT_FUNC PyInit__native(void);

/* ---- places (native_location.c) ---- */

/* The place with these texts, the same address for the same texts. */
const sb_source_location *native_location(const char *name, const char *function, const char *file,
                                          uint32_t line, uint32_t color);
/* A text that stays: the same address for the same text. */
const char *native_literal(const char *text);

/* What is known of a code object. */
typedef struct native_code {
    const sb_source_location *function; /* NULL: it is the package's own and not recorded */
    const sb_source_location **lines;   /* by line - first; made when they are first met */
    uint32_t first_line;
    uint32_t line_count;
} native_code;

/* Prepares for code objects; false with an exception set. */
bool native_code_init(void);
/* Never NULL. */
native_code *native_code_of(PyCodeObject *code);
const sb_source_location *native_line_of(native_code *known, PyCodeObject *code, uint32_t line);
/* NULL: a function that is not recorded, one of ours. */
const sb_source_location *native_builtin_location(PyObject *function);
/* Code below this folder is not recorded. */
void native_hide_folder(const char *folder);
/* Functions of this module are not recorded. */
extern PyMethodDef native_methods[];
extern PyMethodDef native_zone_methods[];

/* ---- open zones of this thread (native_stack.c) ---- */

/* key tells zones apart: what ends a zone names it. */
void native_push(const void *key, const sb_source_location *location);
/* Ends the zone with this key and all that were opened after it; nothing if there is none. */
void native_pop(const void *key);
/* Ends the innermost zone if its key is this one; was it? */
bool native_pop_if_last(const void *key);
/* The innermost zone with this key; {0}: none. */
sb_zone native_zone_of(const void *key);

/* ---- zones by hand (native_zone.c) ---- */

PyObject *native_start_zone(PyObject *self, PyObject *args, PyObject *names);
PyObject *native_stop_zone(PyObject *self, PyObject *args, PyObject *names);
bool native_add_zone_type(PyObject *module);

/* ---- tracing (native_trace.c or native_monitor.c) ---- */

/* From now on functions (and lines) of this thread are recorded; by monitoring, of all threads. */
PyObject *native_trace_start(PyObject *self, PyObject *lines);
/* False: a profile function of the program's has taken the place of ours in the meantime. */
PyObject *native_trace_stop(PyObject *self, PyObject *unused);
/* A profile function for threading.setprofile: makes the new thread one that is traced. */
PyObject *native_trace_attach(PyObject *self, PyObject *args);

#endif
