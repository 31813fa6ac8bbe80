"""Rates of running work."""

import pytest

from projects.jobs.pace import Pace

Reports = list[tuple[float, int]]


@pytest.mark.parametrize(
    ("reports", "rate", "left"),
    [
        ([(0, 0)], None, None),
        ([(1, 100)], None, None),
        ([(10, 100)], 10, 90),
        # Half the speed for the last minute, after a fast start.
        ([(10, 400), (20, 450), (80, 750)], 5, 50),
        # No item for longer than the window.
        ([(10, 400), (90, 400)], None, None),
        # One item takes longer than the window.
        ([(100, 1), (200, 2)], 0.01, 99_800),
        # A worker that starts lower.
        ([(10, 900), (20, 0), (30, 100)], 10, 90),
        # Reports in quick succession.
        ([(10 + n / 100, n) for n in range(1000)], 999 / 19.99, 1 / (999 / 19.99)),
    ],
)
def test_a_rate_is_measured_over_the_last_minute(reports: Reports, rate: float | None, left: float | None) -> None:
    now = [0.0]
    pace = Pace(clock=lambda: now[0])
    for seconds, done in reports:
        now[0] = seconds
        pace.add(done)
    assert len(pace._samples) <= 62
    assert pace.per_second() == pytest.approx(rate) if rate else pace.per_second() is None
    assert pace.seconds_left(1000) == pytest.approx(left) if left else pace.seconds_left(1000) is None
