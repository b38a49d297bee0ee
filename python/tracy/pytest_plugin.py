"""Tests as zones in the recording, and functions of chosen tests only.

With ``python -m tracy -m pytest ...`` each phase of each test is a zone. With ``-p`` in addition,
functions are recorded in tests that are marked with ``@pytest.mark.tracy`` or that use the fixture
``tracy_profile``; ``--tracy-all`` records them in all tests. ``--tracy-signposts`` makes a signpost
of each test, so that reports can be cut by test. With ``--tracy-sessions all`` (or ``marked``) tests
run in processes of their own, each with a recording, and with ``-r`` a report, of its own. Without a
recorder the plugin does nothing. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

import pytest

import tracy


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tracy", "recording with Strobe")
    group.addoption("--tracy-signposts", action="store_true", help="a signpost at the start of each test")
    group.addoption("--tracy-all", action="store_true", help="with -p: record the functions of all tests")
    group.addoption("--tracy-marker", metavar="NAME", default="tracy",
                    help="the marker that chooses tests (default: tracy)")
    group.addoption("--tracy-sessions", choices=["all", "marked"],
                    help="run all or the marked tests in processes of their own, and record each by itself")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tracy: with `python -m tracy -p`, record the functions of this test")


def _is_marked(item: pytest.Item) -> bool:
    return item.get_closest_marker(item.config.getoption("--tracy-marker")) is not None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Optional[bool]:
    """Takes over those that are to have a session of their own."""
    which = item.config.getoption("--tracy-sessions")
    if which is None or (which == "marked" and not _is_marked(item)) or not tracy.is_recording():
        return None
    from tracy import _pytest_sessions

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    with tracy.zone(f"{item.nodeid} (session)"):
        reports = _pytest_sessions.run(item)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _zone(item: pytest.Item, phase: str) -> tracy.zone:
    return tracy.zone(item.nodeid if phase == "call" else f"{item.nodeid} ({phase})")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    if item.config.getoption("--tracy-signposts"):
        tracy.signpost(item.nodeid)
    with _zone(item, "setup"):
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    profiler = tracy.Profiler()
    with _zone(item, "call"):
        if _is_marked(item) or item.config.getoption("--tracy-all"):
            profiler.enable()
        yield
        profiler.disable()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with _zone(item, "teardown"):
        yield


@pytest.fixture
def tracy_profile() -> Iterator[tracy.Profiler]:
    """Records the functions of the test, and of fixtures that come after this one."""
    with tracy.Profiler() as profiler:
        yield profiler
