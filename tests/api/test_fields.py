"""Fields of inputs."""

from importlib import import_module

import pytest
from rest_framework import serializers

from api.fields import NameField, Strict


@pytest.mark.parametrize("name", ["Eye\u202eM3", "Eye\u2066M3", "Eye\nM3", "Eye\x07M3"])
def test_a_name_cannot_break_its_line_or_reverse_the_text_after_it(name: str) -> None:
    with pytest.raises(serializers.ValidationError, match="control characters"):
        NameField().run_validation(name)


@pytest.mark.parametrize("name", ["سارة كريم", "שרה\u200f 3", "👩‍🔬 Längsschnitt"])
def test_a_name_can_have_any_script_and_emoji(name: str) -> None:
    assert NameField().run_validation(name) == name


def subclasses(of: type[Strict]) -> set[type[Strict]]:
    return {found for one in of.__subclasses__() for found in {one, *subclasses(one)}}


def test_every_name_in_a_request_is_checked() -> None:
    import_module("config.urls")
    assert [one.__name__ for one in subclasses(Strict) if type(one().fields.get("name")) is serializers.CharField] == []
