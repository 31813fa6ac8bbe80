"""Where modules stand: what an app's root may hold, and that no import inside an app leads back to itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
from django.conf import settings

#: What CONTRIBUTING names: Django's and the framework's own kinds of module. Each may be a package as well.
KINDS = {"__init__", "actions", "admin", "apps", "models", "permissions", "serializers", "tasks", "urls", "views"}
#: What else is still at an app's root, and why. The list may only become shorter: what is new goes into a room.
STILL: dict[str, tuple[str, str]] = {
    "accounts": (
        "one room by itself, of who is who; too few of each sort for rooms of their own",
        "authentication devices preferences requests schema sessions sweeping throttling tokens verification",
    ),
    "audit": (
        "one room by itself, of the chain and what guards it",
        "digests leaves log place protection rules triggers verify witness",
    ),
    "config": (
        "no app but the installation: each is named by a setting, or by what starts a server",
        "admin_login bodies celery description error_pages guides gunicorn metrics oidc request_log schema secret_key "
        "settings spa told_to_wait wsgi",
    ),
    "generation": ("read by the settings before there are apps", "endpoints"),
    "operations": ("what its commands share", "sample_project supervisor"),
    "projects": ("one table, below the models and all that they know", "purposes"),
}
#: How many these are. Raise it never.
MOST = 39


def apps() -> list[Path]:
    return sorted(path.parent for path in settings.ROOT.glob("*/apps.py"))


def at_the_root(app: Path) -> set[str]:
    return {path.stem for path in app.glob("*.py")} - KINDS


def test_every_file_at_an_apps_root_is_of_a_kind_that_contributing_names_or_in_a_list_that_only_shrinks() -> None:
    assert len(apps()) >= 9
    for app in apps():
        reason, names = STILL.get(app.name, ("", ""))
        assert at_the_root(app) == set(names.split()), f"{app.name}: put it into a room (CONTRIBUTING.md); {reason}"
    assert sum(len(names.split()) for _, names in STILL.values()) == MOST


def test_a_file_of_another_kind_would_be_found(tmp_path: Path) -> None:
    for name in ("apps", "models", "helpers"):
        (tmp_path / f"{name}.py").touch()
    assert at_the_root(tmp_path) == {"helpers"}


def test_contributing_names_every_kind() -> None:
    text = (settings.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [row] = [line for line in text.splitlines() if line.startswith("At an app's root")]
    assert all(f"`{kind}`" in row for kind in KINDS - {"__init__"})


@pytest.mark.parametrize(("app", "least"), [("evaluation", 7), ("generation", 20), ("projects", 8), ("releases", 3)])
def test_every_room_says_in_one_line_what_people_do_there(app: str, least: int) -> None:
    root = settings.ROOT / app
    rooms = [path.parent for path in root.rglob("__init__.py") if not {"management", "migrations"} & {*path.parts}]
    assert len(rooms) > least
    for room in set(rooms) - {root}:
        said = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
        assert said, room
        assert "\n" not in said, room


def circles(graph: grimp.ImportGraph, modules: set[str]) -> Iterator[set[str]]:
    """Modules that import themselves by way of others: imports in functions, and for types only, are counted too."""
    for module in sorted(modules):
        reached: set[str] = set()
        waiting = [module]
        while waiting:
            new = graph.find_modules_directly_imported_by(waiting.pop()) & modules - reached
            reached |= new
            waiting += new
        if module in reached:
            yield reached


@pytest.mark.parametrize("app", [path.name for path in apps()])
def test_no_module_imports_itself_by_way_of_others(app: str) -> None:
    graph = grimp.build_graph(app, cache_dir=None)
    modules = {name for name in graph.modules if ".migrations" not in name}
    assert modules
    assert list(circles(graph, modules)) == []


def test_a_planted_circle_is_found() -> None:
    planted = grimp.build_graph("generation", cache_dir=None)
    planted.add_import(importer="generation.runs.queues", imported="generation.pages.progress")
    way = {"generation.runs.queues", "generation.pages.progress", "generation.actions.lanes"}
    assert any(way <= one for one in circles(planted, set(planted.modules)))
