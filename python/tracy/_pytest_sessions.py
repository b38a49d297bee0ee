"""A process, and with it a recording, for each of the chosen tests.

The process is forked when the test's turn comes, runs it with all of its fixtures, and sends back
what pytest wants to know. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import json
import os
import signal
import traceback
import warnings
from typing import Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol

from tracy import _api

_NAME_LENGTH = 60  # recordings have room for so much


def name_of(item: pytest.Item) -> str:
    """What the recording of a test is called: the end of its id, fit for a file name."""
    return item.nodeid.replace("/", "_")[-_NAME_LENGTH:]


def run(item: pytest.Item) -> list[pytest.TestReport]:
    """Runs a test in a process of its own.

    The child ends all fixtures that it knows of. So that it does not end those of tests before this
    one a second time, there must be none; tests after it make them again.
    """
    item.session._setupstate.teardown_exact(None)
    source, goal = os.pipe()
    process = _fork(name_of(item))
    if process == 0:
        os.close(source)
        _run_here(item, goal)
    os.close(goal)
    with open(source, "rb") as file:
        sent = file.read()
    _, status = os.waitpid(process, 0)
    if status == 0 and sent:
        return [_report_of(item, data) for data in json.loads(sent)]
    return [_crashed(item, status)]


def _fork(name: str) -> int:
    """The recording of the child is made with this name, as soon as something happens in it."""
    _api.set_program_name(name)
    with warnings.catch_warnings():
        # Of threads: the recorder's is prepared for it.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process != 0:
        _api.set_program_name(None)
    return process


def _run_here(item: pytest.Item, goal: int) -> NoReturn:
    code = 1
    try:
        reports = runtestprotocol(item, log=False, nextitem=None)
        serialize = item.config.hook.pytest_report_to_serializable
        data = [serialize(config=item.config, report=report) for report in reports]
        with open(goal, "wb") as file:
            file.write(json.dumps(data, default=str).encode())
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        _api.end_recording()
        os._exit(code)


def _report_of(item: pytest.Item, data: dict[str, Any]) -> pytest.TestReport:
    return item.config.hook.pytest_report_from_serializable(config=item.config, data=data)


def _crashed(item: pytest.Item, status: int) -> pytest.TestReport:
    if os.WIFSIGNALED(status):
        reason = f"was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    else:
        reason = f"ended with exit code {os.WEXITSTATUS(status)}"
    text = f"the process of {item.nodeid} {reason}; what it recorded until then is kept"
    return pytest.TestReport(item.nodeid, item.location, {name: 1 for name in item.keywords}, "failed", text, "call")
