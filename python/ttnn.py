"""The real ttnn where one is installed, wherever that is; else the names of it that Strobe has."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path


def _find_real():
    """Looks for ttnn in all of sys.path but this folder."""
    here = Path(__file__).resolve().parent
    for finder in sys.meta_path:
        if finder is importlib.machinery.PathFinder or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec("ttnn", None)  # an editable installation has a finder of its own
        if spec is not None and spec.origin != __file__:
            return spec
    others = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    spec = importlib.machinery.PathFinder.find_spec("ttnn", others)
    return spec if spec is not None and spec.loader is not None else None


_real = _find_real()
if _real is not None:
    _module = importlib.util.module_from_spec(_real)
    sys.modules[__name__] = _module
    _real.loader.exec_module(_module)
else:
    from tracy._ttnn import *  # noqa: F401,F403
    from tracy._ttnn import __all__, __doc__  # noqa: F401
