"""Tests as zones in the recording, and functions of chosen tests only.

With ``python -m tracy -m pytest ...`` each phase of each test is a zone. With ``-p`` in addition,
functions are recorded in tests that are marked with ``@pytest.mark.tracy`` or that use the fixture
``tracy_profile``; ``--tracy-all`` records them in all tests. ``--tracy-signposts`` makes a signpost
of each test, so that reports can be cut by test. Without a recorder the plugin does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tracy


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tracy", "recording with Strobe")
    group.addoption("--tracy-signposts", action="store_true", help="a signpost at the start of each test")
    group.addoption("--tracy-all", action="store_true", help="with -p: record the functions of all tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tracy: with `python -m tracy -p`, record the functions of this test")


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
        if item.get_closest_marker("tracy") is not None or item.config.getoption("--tracy-all"):
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
