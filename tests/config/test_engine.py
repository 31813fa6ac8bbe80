"""Which tests run on both databases: the list is valid, and complete for tests that access the engine directly."""

import pytest

from tests import engine

MODULES = sorted(engine.TESTS.glob("*/test_*.py"))


@pytest.mark.parametrize("names", [engine.MODULES, engine.ON_SQLITE, engine.EVERY_TIME])
def test_every_test_module_named_as_engine_dependent_exists(names: dict[str, str]) -> None:
    gone = [
        f"{f}/{n}"
        for f, all_of in names.items()
        for n in all_of.split()
        if not (engine.TESTS / f / f"test_{n}.py").is_file()
    ]
    assert not gone


def test_modules_that_access_the_engine_are_tested_on_both() -> None:
    live = ("browser", "processes", "config")
    missed = [
        f"{path.parent.name}/{path.name}"
        for path in MODULES
        if path.parent.name not in live
        and engine.WORDS.search(path.read_text(encoding="utf-8"))
        and not engine.concerns(path)
    ]
    assert not missed, "name them in tests/engine.py, or say in other words what they do"


def test_a_test_in_transactions_of_its_own_is_marked_without_being_named(pytester_items: list[pytest.Item]) -> None:
    marked = {item.name: item.get_closest_marker("engine") is not None for item in pytester_items}
    assert marked == {"in_its_own": True, "in_one": False}


@pytest.fixture
def pytester_items(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """Return two items as marked by the hook in `tests/conftest.py`."""
    from tests.conftest import pytest_collection_modifyitems

    items: list[pytest.Item] = []
    for name, how in (("in_its_own", {"transaction": True}), ("in_one", {})):
        item = pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None)
        item.add_marker(pytest.mark.django_db(**how))
        items.append(item)
    pytest_collection_modifyitems(items)
    return items
