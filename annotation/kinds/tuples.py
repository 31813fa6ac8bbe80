"""Shared by the kinds with PICO tuples: serializers, check of marked pieces, and storage."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rest_framework import serializers

from api.fields import at_most
from projects.kinds import check_fragments

from ..clusters import strata
from ..clusters.pico import ELEMENTS, without_implied
from ..models import Element, PicoForm, StandsFor

Plain = serializers.Serializer[Any]


class RangeSerializer(Plain):
    """A half-open range of Unicode code points of the stored text."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)


class FragmentSerializer(RangeSerializer):
    """A piece of a cue with its quote. The server compares the quote with its own slice of the text."""

    quote = serializers.CharField(trim_whitespace=False)


class CurrentElementSerializer(Plain):
    """One element of the current tuple, with the position of an explicit one in the target text."""

    element = serializers.ChoiceField(choices=Element.choices)
    form = serializers.ChoiceField(choices=PicoForm.choices)
    text = serializers.CharField(allow_blank=True)
    stands_for = serializers.ChoiceField(choices=StandsFor.choices, allow_blank=True)
    fragments = RangeSerializer(many=True)


class TupleElementSerializer(Plain):
    """One element as typed, without surrounding spaces.

    Its form is derived from the text: [brackets] are implied, words of the target are explicit.
    """

    text = serializers.CharField(allow_blank=True, max_length=strata.ELEMENT)
    fragments = FragmentSerializer(
        many=True,
        default=list,
        **at_most(strata.PIECES),
        help_text="Marked pieces of the target. The text then consists of the quotes, joined by spaces, and implied "
        "text.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        quotes = [f["quote"] for f in attrs["fragments"]]
        joined = " ".join(quotes).strip()
        if quotes and attrs["text"] != joined and " ".join(without_implied(attrs["text"]).split()) != joined:
            raise serializers.ValidationError(
                {"text": "Expected the marked pieces joined by spaces, with [implied] text between them."}
            )
        return attrs


class ComparatorSerializer(TupleElementSerializer):
    stands_for = serializers.ChoiceField(
        choices=StandsFor.choices, allow_blank=True, default="", help_text="Meaning of a blank comparator."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["stands_for"] and attrs["text"]:
            raise serializers.ValidationError(
                {"stands_for": "Only a blank comparator can stand for something. Leave this empty."}
            )
        return super().validate(attrs)


class TupleValueSerializer(Plain):
    """The four elements of a PICO tuple."""

    p = TupleElementSerializer()
    i = TupleElementSerializer()
    c = ComparatorSerializer()
    o = TupleElementSerializer()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not any(attrs[element]["text"] for element in Element.values):
            raise serializers.ValidationError({"i": "Fill in at least one element of the tuple."})
        return attrs


def has_marks(value: Mapping[str, Any]) -> bool:
    return any(value[element]["fragments"] for element in ELEMENTS)


def check_marks(text: str, value: Mapping[str, Any], path: str) -> None:
    """Check that marked pieces are in the text, in order, and quoted exactly.

    Raise `Refused` naming the element under ``path``.
    """
    for name in ELEMENTS:
        if fragments := value[name]["fragments"]:
            check_fragments(text, fragments, f"{path}.{name}.fragments")


def store_tuples(
    tuples: Sequence[tuple[Any, Mapping[str, Any]]], elements: type[Any], fragments: type[Any], to: str
) -> None:
    """Insert the elements and fragments of tuples that were just inserted.

    ``elements`` and ``fragments`` are subclasses of `models.cluster.EnteredElement` and `EnteredFragment`. ``to`` is
    the name of the foreign key from the element to its tuple.
    """
    entered = [(row, name, value[name]) for row, value in tuples for name in ELEMENTS]
    rows = elements._default_manager.bulk_create(
        elements(**{to: row}, element=name, text=element["text"], stands_for=element.get("stands_for", ""))
        for row, name, element in entered
    )
    fragments._default_manager.bulk_create(
        fragments(element=row, position=n, start=f["start"], end=f["end"], quote=f["quote"])
        for row, (_, _, element) in zip(rows, entered, strict=True)
        for n, f in enumerate(element["fragments"])
    )


def tuple_value(elements: Iterable[Any]) -> dict[str, Any]:
    """Return the value of a tuple from its rows. Prefetch ``fragments``."""
    value: dict[str, Any] = {}
    for row in elements:
        marked = [{"start": f.start, "end": f.end, "quote": f.quote} for f in row.fragments.all()]
        value[row.element] = {"text": row.text, "fragments": marked}
        if row.element == Element.C:
            value[row.element]["stands_for"] = row.stands_for
    return value
