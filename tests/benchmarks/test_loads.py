"""The benchmark of people at work beside attacks runs and reports losses; its attacks work as described.

`python -m benchmarks loads` reports the rates; times are not tested.
"""

import time
import zipfile
from io import BytesIO

import pytest

from benchmarks.attacks import imports, workbooks
from benchmarks.attacks.bounds import Attack
from benchmarks.attacks.every import ATTACKS
from benchmarks.beside import Alone, Measured
from benchmarks.loads import Attacked, Plan, line
from benchmarks.places import place
from benchmarks.report import quantile_ms


def attack(seconds: float = 5.0, most: int = 1_000) -> Attack:
    made = Attack(port=1, token="", slug="", round=0, seconds=seconds, most=most)
    made.begin()
    return made


@pytest.mark.long
@pytest.mark.row(62)
def test_people_working_under_load_lose_no_answers() -> None:
    plan = Plan(seconds=3.0, flat_out=0.5, warm=0.3, annotators=2, units=200)
    with place("concord") as at:
        found = Attacked(at, plan).beside("revisions")
    assert found.seconds
    assert (found.lost, found.errors, found.said) == (0, 0, [])
    assert found.became.get("201", 0) > 0, found.became
    assert found.gold_after is not None
    assert found.watched["web_mb"] > 0
    assert found.recovers


def test_an_attack_is_bound_in_count_and_in_time() -> None:
    few, short = attack(most=7), attack(seconds=0.2)

    def work(number: int) -> None:
        for _ in few.strikes():
            few.note("struck")

    few.side_by_side(3, work)
    assert few.became == {"struck": 7}
    begun = time.monotonic()
    for _ in short.strikes(pause=0.05):
        short.note("struck")
    assert 2 <= short.became["struck"] <= 5
    assert time.monotonic() - begun < 2


def test_an_attack_without_a_server_ends_with_refused_connections() -> None:
    nobody = attack(seconds=0.5, most=3)
    ATTACKS["multipart anywhere"].begin(nobody)
    ATTACKS["slow bodies"].begin(nobody)
    assert sum(nobody.became.values()) == 3
    assert set(nobody.became) <= {"ConnectionRefusedError"}


@pytest.mark.parametrize("sizes", [imports.ONE, imports.MANY])
def test_a_generated_import_line_has_072_megabytes(sizes: tuple[tuple[int, int], ...]) -> None:
    assert 0.70e6 < len(imports.line(1, sizes)) < 0.73e6
    assert imports.line(1, sizes) != imports.line(2, sizes), "what was imported before is not imported again"


@pytest.mark.long
def test_the_workbooks_have_0_42_megabytes_and_one_part_that_is_large() -> None:
    for shape in range(len(workbooks.SHAPES)):
        packed = workbooks.workbook(shape)
        assert 0.42e6 < len(packed) < 0.44e6
        with zipfile.ZipFile(BytesIO(packed)) as archive:
            assert max(part.file_size for part in archive.infolist()) >= workbooks.LARGE // 4 - 100


def test_the_aims_are_half_of_the_rate_and_less_than_twice_the_p95() -> None:
    assert quantile_ms([0.1, 0.4, 0.2, 0.3], 0.5) == 200
    assert quantile_ms([], 0.95) == 0

    def met(rate: float, seconds: float, **more: object) -> bool | None:
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
        one = Measured(rate=rate, seconds=[seconds], **fields)  # type: ignore[arg-type]
        return line("sqlite", "markdown", one, Alone(rate=8.0, p95=100.0, flat_rate=2.0, wrong=0)).met

    assert met(4.0, 0.199)
    assert not met(3.9, 0.199)
    assert not met(4.0, 0.2)
    assert not met(8.0, 0.1, lost=1)
    assert not met(8.0, 0.1, recovers=False)
