"""No file outside of a kind's folder names it: what is added next is a folder, not a house that is rebuilt."""

import re
from pathlib import Path

from projects import kinds

ROOT = Path(__file__).parents[2]
#: What may say a kind's word all the same, and which: a published file has the fields of the work that it is of, a link
#: to take part and a setting have a label.
MAY_SAY = {
    # What is probed with, whoever wrote it: a word of the probe's and of files, as of the task's.
    "releases/folders/dictionary.py": {"counterfactual"},
    "releases/formats/systems.py": {"counterfactual"},
    "releases/formats/m3.py": {"pico", "polarity", "polarity_cue", "modality", "modality_cue", "relation"},
    # M3's Table 2 counts studies.
    "releases/formats/notes.py": {"studies"},
    "releases/formats/statistics.py": {"polarity", "modality", "relation", "studies"},
    # What is released of ratings is said in the words of the rules that rounds of ratings declare.
    "releases/formats/methods.py": {"compare", "exclude_checks", "exclude_fast", "one_form"},
    "releases/formats/ratings.py": {"exclude_checks", "exclude_fast"},
    "projects/actions/participant_links.py": {"label"},
    "projects/pages/participation.py": {"label"},
    "projects/pages/plans.py": {"label"},
    "projects/serializers/guidelines.py": {"label"},
    "projects/views/participation.py": {"label"},
}
SUFFIXES = ("_cue",)


def words() -> list[str]:
    """Keys, fields of more than a letter, options and policies of the kinds, and what their fields end with."""
    found = set()
    for kind in kinds.all_kinds():
        declared = [parameter.name for parameter in (*kind.options, *kind.policy)]
        found |= {kind.key, *declared, *(name for name in kind.fields if len(name) > 1)}
    return sorted(found)


def named(text: str) -> list[str]:
    """The kinds' words that stand in a source as strings of their own, or end one."""
    code = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    strings = re.findall(r"\"([^\"\n]*)\"|'([^'\n]*)'", code)
    said = {a or b for a, b in strings}
    return sorted(w for w in said if w in words() or w.endswith(SUFFIXES))


def test_no_file_of_the_queue_or_of_releases_names_a_kind_or_a_field_of_one() -> None:
    found = {}
    for app in ("projects", "releases", "audit", "api"):
        for path in (ROOT / app).rglob("*.py"):
            if "migrations" not in path.parts and (names := named(path.read_text(encoding="utf-8"))):
                found[str(path.relative_to(ROOT))] = set(names)
    assert found == MAY_SAY


def test_one_that_is_named_would_be_found() -> None:
    assert named('if kind.key == "label":') == ["label"]
    assert named("value['polarity_cue']") == ["polarity_cue"]
    assert named('ordering = ["label_of"]') == []


def test_every_kind_is_one_folder_with_its_guideline_and_tables_that_take_inserts_only() -> None:
    from audit.triggers import guarded_tables

    for kind in kinds.all_kinds():
        folder = ROOT.joinpath(*type(kind).__module__.split(".")[:-1])
        assert folder.name == kind.key
        assert (folder / "guideline.md").is_file()
        assert kind.tables
        assert {table._meta.db_table for table in kind.tables} <= set(guarded_tables())
