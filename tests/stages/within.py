"""A pytest plugin that skips the tests that have not started ``--within`` seconds after the first test."""

import time

import pytest

started_at = 0.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--within", type=float, default=0, help="Seconds after which no further test starts.")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    global started_at
    started_at = started_at or time.monotonic()
    seconds = item.config.getoption("--within")
    if seconds and time.monotonic() - started_at > seconds:
        pytest.skip(f"not started within {seconds:g} s; tests closer to the change ran first")
