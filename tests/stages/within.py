"""A plugin of pytest: what has not begun so many seconds after the first test is left, and counted as skipped."""

import time

import pytest

began = 0.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--within", type=float, default=0, help="Seconds after which no further test begins.")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    global began
    began = began or time.monotonic()
    seconds = item.config.getoption("--within")
    if seconds and time.monotonic() - began > seconds:
        pytest.skip(f"not within {seconds:g} s: further from the change than what was run")
