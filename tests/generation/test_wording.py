"""Settings and changes of a version in words."""

from generation.backends.identity import checked
from generation.systems.queries import describe, differences, words


def test_values_are_read_out_and_never_as_python_writes_them() -> None:
    said = [words(value) for value in (True, False, None, "", 2, 0.5, 3.0, "a b", "\n ", [1, None], [])]
    assert said == ["on", "off", "not set", "not set", "2", "0.5", "3", "a b", "↵␣", "1, not set", "not set"]


def test_a_configuration_is_read_out_with_what_is_not_the_default_marked() -> None:
    lines = {line.name: line for line in describe(checked({"backend": "extractive", "decoding": {"sentences": 7}}))}
    assert (lines["sentences"].label, lines["sentences"].words, lines["sentences"].default) == ("Sentences", "7", False)
    assert (lines["order"].section, lines["order"].words, lines["order"].default) == ("assembly", "as stored", True)


def test_a_version_of_a_removed_backend_can_still_be_read() -> None:
    old = {"backend": "gone", "level": "sentence", "seed": 1, "model": {"old_switch": True}}
    assert [(line.label, line.words) for line in describe(old)] == [("old switch", "on")]
    assert differences((old, {}), (old | {"seed": 2}, {}))[0].label == "Seed"


def test_a_difference_names_each_field_of_configuration_and_facts_once() -> None:
    before = checked({"backend": "extractive", "decoding": {"sentences": 3}})
    after = checked({"backend": "extractive", "decoding": {"sentences": 5}, "seed": 9})
    changes = differences((before, {"libraries": {"numpy": "2.0"}}), (after, {"libraries": {"numpy": "2.1", "x": "1"}}))
    assert [(c.field, c.label, c.before, c.after) for c in changes] == [
        ("seed", "Seed", "0", "9"),
        ("decoding.sentences", "Sentences", "3", "5"),
        ("libraries.numpy", "libraries: numpy", "2.0", "2.1"),
        ("libraries.x", "libraries: x", "", "1"),
    ]
    assert differences((before, {}), (before, {})) == []
