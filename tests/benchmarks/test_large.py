"""The benchmark of people at work beside large jobs runs, finishes its jobs, and loses nothing.

`python -m benchmarks large` reports the rates; times are not tested.
"""

import pytest

from benchmarks.beside import Alone, Measured
from benchmarks.large import MEASURING, OPENING, LargeSite, Plan, line
from benchmarks.places import place


@pytest.mark.long
def test_jobs_run_beside_people_who_lose_no_answers() -> None:
    with place("concord") as at:
        site = LargeSite(at, Plan(seconds=4.0, annotators=2, units=200, opened=5_100, answers=5_100))
        for name in (OPENING, MEASURING):
            found = site.beside(name)
            assert found.seconds
            assert (found.lost, found.errors, found.said) == (0, 0, [])
            assert found.became["done"] > 0
        assert site.failures == []
        assert len(site.page_seconds()) == 7


def test_the_aim_is_four_fifths_of_the_rate_without_an_error() -> None:
    def met(rate: float, done: tuple[float, ...] = (3.0,), **more: int) -> bool | None:
        fields = {
            "flat_rate": 1.0,
            "errors": 0,
            "lost": 0,
            "waiting": 0,
            "gold_after": 1.0,
            "watched": {},
            "left_mb": 0.0,
            "recovers": True,
        } | more
        one = Measured(rate=rate, seconds=[0.1], **fields)  # type: ignore[arg-type]
        alone = Alone(rate=10.0, p95=100.0, flat_rate=1.0, wrong=0)
        return line("sqlite", OPENING, one, alone, list(done)).met

    assert met(8.0)
    assert not met(7.9)
    assert not met(8.0, ())
    assert not met(8.0, lost=1)
    assert not met(8.0, errors=1)
