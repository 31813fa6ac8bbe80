"""Kinds are plug-ins: nothing outside the folder of a kind names it."""

from pathlib import Path

from audit.models import AppendOnly
from projects import kinds
from projects.models import Answer, Assignment

ROOT = Path(__file__).parents[2]


def test_every_kind_is_one_folder_with_its_guideline() -> None:
    for kind in kinds.all_kinds():
        folder = ROOT.joinpath(*type(kind).__module__.split(".")[:-1])
        assert folder.name == kind.key
        assert (folder / "guideline.md").is_file()


def test_tables_with_the_values_of_answers_accept_inserts_only() -> None:
    typed = {f.related_model for f in Answer._meta.related_objects} - {Assignment}
    assert len(typed) > 10
    for model in typed:
        inner = {f.related_model for f in model._meta.related_objects if model._meta.app_label != "projects"}
        assert all(issubclass(m, AppendOnly) for m in {model, *inner}), model
