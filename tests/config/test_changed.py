"""`make test ONLY=changed`: from the files that differ to the tests that they touch, by imports and by name."""

import subprocess
from pathlib import Path

import pytest

from tests.stages import imports
from tests.stages.run import ROOT, Run

TREE = {
    "measures/spans.py": "def merged(): ...",
    "measures/__init__.py": "",
    "projects/__init__.py": "",
    "projects/cards.py": "from measures import spans",
    "projects/views.py": "from . import cards",
    "projects/urls.py": "from .views import x",
    "projects/management/commands/agreement.py": "from measures.spans import merged",
    "projects/migrations/0001_initial.py": "",
    "projects/guideline.md": "# Words",
    "projects/guidelines.py": "TEXT = open('guideline.md')",
    "tests/conftest.py": "",
    "tests/measures/test_spans.py": "from measures.spans import merged",
    "tests/projects/test_cards.py": "import projects.cards",
    "tests/projects/test_page.py": "def test_page(client_of): ...",
    "tests/projects/test_command.py": "call_command('agreement')",
    "tests/projects/test_guidelines.py": "from projects import guidelines",
    "tests/projects/test_else.py": "",
    "tests/audit/test_protection.py": "",
    "tests/config/test_documents.py": "",
    "docs/tour.md": "",
    "README.md": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small house in a repository with one commit."""
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "One"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        (
            "measures/spans.py",
            ["measures/test_spans", "projects/test_cards", "projects/test_command", "projects/test_page"],
        ),
        ("projects/cards.py", ["projects/test_cards", "projects/test_page"]),
        ("projects/migrations/0001_initial.py", ["audit/test_protection"]),
        ("projects/guideline.md", ["projects/test_guidelines"]),
        ("docs/tour.md", ["config/test_documents"]),
        ("tests/projects/test_else.py", ["projects/test_else"]),
        ("frontend/src/main.ts", []),
    ],
)
def test_a_change_touches_what_imports_it_asks_for_it_or_calls_it_by_name(
    tree: Path, path: str, tests: list[str]
) -> None:
    found = imports.touched(imports.read(tree), [path])
    named = {name.removeprefix("tests/").removesuffix(".py") for name in found}
    assert set(tests) <= named
    assert "projects/test_else" not in named or path.startswith("tests/")


def test_the_nearest_come_first_and_of_those_the_ones_that_mirror_the_change(tree: Path) -> None:
    found = imports.touched(imports.read(tree), ["measures/spans.py"])
    assert found[0] == "tests/measures/test_spans.py"
    assert found.index("tests/projects/test_cards.py") < found.index("tests/projects/test_page.py")


def test_a_change_is_what_differs_from_the_commit_whether_git_knows_the_file_or_not(tree: Path) -> None:
    (tree / "measures" / "spans.py").write_text("def merged(): return 1")
    (tree / "measures" / "new.py").write_text("")
    assert imports.changed_since(tree, "HEAD") == ["measures/new.py", "measures/spans.py"]


def test_every_module_of_this_house_is_read_and_conftest_is_what_every_test_depends_on() -> None:
    graph = imports.read(ROOT)
    assert len(graph.modules) > 500
    assert "tests/measures/test_spans.py" in imports.touched(graph, ["measures/spans.py"])[:6]
    assert len(imports.touched(graph, ["tests/conftest.py"])) > 200
    # Who may what is seen by those who ask all routes, far as they are from it by imports.
    assert imports.touched(graph, ["projects/permissions.py"])[0] == "tests/config/test_roles.py"


def test_what_has_not_begun_in_time_is_left_and_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = tmp_path / "test_slow.py"
    tests.write_text("from tests.stages import within\ndef test_one(): within.began -= 3600\ndef test_two(): pass\n")
    run = Run()
    run.pytest("-c", "/dev/null", "-p", "tests.stages.within", "--within", "3000", "-rs", str(tests))
    assert (run.passed, run.skipped) == (1, 1)
    assert "not within 3000 s" in run.not_run[0]
