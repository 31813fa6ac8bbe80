"""The table of faults and threats in docs/reliability.md: every row is shown by tests that carry its number."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
TABLE = TESTS.parent / "docs" / "reliability.md"
#: Rows without a test of their number, and why.
WITHOUT: dict[int, str] = {34: "projects are not deleted"}


@cache
def marked() -> dict[int, set[str]]:
    """Row -> the files, below tests/, that have a test with its number."""
    found: dict[int, set[str]] = defaultdict(set)
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.row":
                assert node.args, f"{path.name}: a mark without a number"
                for argument in node.args:
                    number = ast.literal_eval(argument)
                    assert isinstance(number, int), f"{path.name}: write the number down"
                    found[number].add(path.relative_to(TESTS).as_posix())
    return found


def described() -> dict[int, set[str]]:
    """Row -> the test files that the document names for it."""
    lines = re.findall(r"^\| (\d+) \|(.*)$", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) == len({number for number, _ in lines}), "a row stands twice"
    return {int(number): set(re.findall(r"`tests/([\w./]+\.py)`", rest)) for number, rest in lines}


def test_every_row_has_a_test_or_a_reason() -> None:
    rows, found = set(described()), marked()
    assert rows >= set(range(1, 47))
    assert set(found) <= rows, "a test of a row that the document lacks"
    assert {row for row in rows if not found[row]} <= set(WITHOUT)


def test_the_document_names_for_each_row_files_that_have_a_test_of_it() -> None:
    told, found = described(), marked()
    for row in told:
        assert told[row] <= found[row], f"row {row}: no test there carries its number: {told[row] - found[row]}"
        assert told[row] or row in WITHOUT, f"row {row} names no test"
