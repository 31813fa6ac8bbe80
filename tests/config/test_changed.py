"""The tests that `make test ONLY=changed` selects."""

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
    "tests/audit/test_triggers.py": "",
    "tests/config/test_documents.py": "",
    "docs/tour.md": "",
    "README.md": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Create a small project in a repository with one commit."""
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
        ("projects/migrations/0001_initial.py", ["audit/test_triggers"]),
        ("projects/guideline.md", ["projects/test_guidelines"]),
        ("docs/tour.md", ["config/test_documents"]),
        ("tests/projects/test_else.py", ["projects/test_else"]),
        ("frontend/src/main.ts", []),
    ],
)
def test_a_change_affects_tests_that_import_request_or_name_it(tree: Path, path: str, tests: list[str]) -> None:
    found = imports.affected_tests(imports.read(tree), [path])
    named = {name.removeprefix("tests/").removesuffix(".py") for name in found}
    assert set(tests) <= named
    assert "projects/test_else" not in named or path.startswith("tests/")


def test_the_nearest_come_first_and_of_those_the_ones_that_mirror_the_change(tree: Path) -> None:
    found = imports.affected_tests(imports.read(tree), ["measures/spans.py"])
    assert found[0] == "tests/measures/test_spans.py"
    assert found.index("tests/projects/test_cards.py") < found.index("tests/projects/test_page.py")


def test_a_change_is_what_differs_from_the_commit_whether_git_knows_the_file_or_not(tree: Path) -> None:
    (tree / "measures" / "spans.py").write_text("def merged(): return 1")
    (tree / "measures" / "new.py").write_text("")
    assert imports.changed_since(tree, "HEAD") == ["measures/new.py", "measures/spans.py"]


@pytest.mark.long
def test_the_import_graph_has_every_module_and_all_tests_depend_on_conftest() -> None:
    graph = imports.read(ROOT)
    assert len(graph.modules) > 500
    assert "tests/measures/test_spans.py" in imports.affected_tests(graph, ["measures/spans.py"])[:6]
    assert len(imports.affected_tests(graph, ["tests/conftest.py"])) > 200
    # Route tests run first after a change of permissions, although no import links them.
    assert imports.affected_tests(graph, ["projects/permissions.py"])[0] == "tests/config/test_roles.py"


@pytest.mark.long
def test_tests_beyond_the_time_limit_are_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = tmp_path / "test_slow.py"
    tests.write_text(
        "from tests.stages import within\ndef test_one(): within.started_at -= 3600\ndef test_two(): pass\n"
    )
    run = Run()
    run.pytest("-c", "/dev/null", "-p", "tests.stages.within", "--within", "3000", "-rs", str(tests))
    assert (run.passed, run.skipped) == (1, 1)
    assert "not started within 3000 s" in run.not_run[0]
