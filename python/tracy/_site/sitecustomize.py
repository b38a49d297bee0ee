"""Loaded by every Python that a recorded program starts: records its functions too.

The runner puts this folder in front of PYTHONPATH. A sitecustomize that the user or the system has
is run first, as if this one was not there.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _run_the_other():
    here = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _record():
    try:
        from tracy import _run
    except ImportError:  # another interpreter, which does not have the package
        return
    _run.begin_child()


_run_the_other()
_record()
