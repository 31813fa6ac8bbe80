"""Serializers of creators, funding and description of a data set."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import NameField, Strict, at_most
from measures import identifiers

from ..models import CreditRole, DataCiteRelation, IdentifierType
from .questions import DATASHEET, HEDS, IDS

Plain = serializers.Serializer[Any]
MOST_CREATORS, MOST_FUNDERS, MOST_RELATED, MOST_KEYWORDS = 500, 50, 100, 50
LONGEST_ANSWER = 5000
#: Forms of identifiers that `measures.identifiers` does not check.
FORMS = {
    IdentifierType.URL: (re.compile(r"https?://\S+", re.ASCII), "Not a web address. Expected http:// or https://."),
    IdentifierType.PMID: (re.compile(r"\d{1,9}", re.ASCII), "Not a PubMed id. Expected digits only."),
    IdentifierType.ARXIV: (
        re.compile(r"(?:arXiv:)?(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.ASCII),
        "Not an arXiv id. Expected a form such as 2205.12345.",
    ),
}


@extend_schema_field(serializers.CharField())
class IdentifierField(serializers.CharField):
    """An identifier that is stored in its bare form. Empty is allowed."""

    def __init__(self, normalise: Callable[[str], str], **kwargs: Any) -> None:
        self.normalise = normalise
        if "required" not in kwargs:
            kwargs["default"] = ""
        super().__init__(allow_blank=True, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        value: str = super().to_internal_value(data)
        return _or_invalid(self.normalise, value) if value else ""


def _or_invalid(normalise: Callable[[str], Any], value: str) -> Any:
    try:
        return normalise(value)
    except ValueError as error:
        raise serializers.ValidationError(str(error)) from None


def optional(length: int, help_text: str = "") -> NameField:
    return NameField(max_length=length, allow_blank=True, default="", help_text=help_text)


class CreatorSerializer(Strict):
    """A person (family and given names) or an organisation."""

    family = optional(120, "Family name of a person.")
    given = optional(120, "Given names of a person.")
    organisation = optional(200, "Name of an organisation; then family, given and ORCID iD are empty.")
    orcid = IdentifierField(identifiers.orcid, max_length=60)
    affiliation = optional(200)
    ror = IdentifierField(identifiers.ror, max_length=60, help_text="ROR id of the affiliation or organisation.")
    roles = serializers.ListField(
        child=serializers.ChoiceField(choices=CreditRole.choices),
        default=list,
        help_text="CRediT roles.",
        **at_most(len(CreditRole)),
    )

    def validate_roles(self, roles: list[str]) -> list[str]:
        return [role for role in CreditRole.values if role in roles]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["organisation"]:
            for name in ("family", "given", "orcid"):
                if attrs[name]:
                    raise serializers.ValidationError({name: "An organisation has none. Enter a person or a name."})
        elif not attrs["family"]:
            raise serializers.ValidationError({"family": "Enter a family name, or the name of an organisation."})
        return attrs


class FunderSerializer(Strict):
    name = NameField(max_length=200)
    identifier = serializers.CharField(
        max_length=100, allow_blank=True, default="", help_text="ROR id or Crossref funder id."
    )
    scheme = serializers.CharField(read_only=True, help_text="Scheme of the identifier.")
    award_number = optional(100)
    award_title = optional(300)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs["scheme"] = ""
        if attrs["identifier"]:
            try:
                attrs["identifier"], attrs["scheme"] = identifiers.funder(attrs["identifier"])
            except ValueError as error:
                raise serializers.ValidationError({"identifier": str(error)}) from None
        return attrs


class RelatedIdentifierSerializer(Strict):
    relation = serializers.ChoiceField(choices=DataCiteRelation.choices)
    type = serializers.ChoiceField(choices=IdentifierType.choices)
    identifier = serializers.CharField(max_length=300)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        value = attrs["identifier"]
        if attrs["type"] == IdentifierType.DOI:
            try:
                attrs["identifier"] = identifiers.doi(value)
            except ValueError as error:
                raise serializers.ValidationError({"identifier": str(error)}) from None
        else:
            form, message = FORMS[attrs["type"]]
            if not form.fullmatch(value):
                raise serializers.ValidationError({"identifier": message})
        return attrs


def _refuse_repeated(rows: Iterable[dict[str, Any]], keys: tuple[str, ...], at: str, message: str) -> None:
    """Raise an error at each row whose ``keys`` are those of an earlier row. Rows without a value are skipped."""
    first: dict[tuple[Any, ...], int] = {}
    errors: list[dict[str, list[str]]] = []
    for number, row in enumerate(rows, 1):
        key = tuple(row[name] for name in keys)
        is_repeated = bool(row[at]) and first.setdefault(key, number) != number
        errors.append({at: [message.format(first[key])]} if is_repeated else {})
    if any(errors):
        raise serializers.ValidationError(errors)


class SheetQuestionSerializer(Plain):
    id = serializers.CharField()
    section = serializers.CharField()
    text = serializers.CharField()


class ProjectCitationSerializer(Strict):
    """Creators, funding and description of a data set. Lists are replaced as a whole; their order is the citation's."""

    creators = CreatorSerializer(many=True, required=False, **at_most(MOST_CREATORS))
    funders = FunderSerializer(many=True, required=False, **at_most(MOST_FUNDERS))
    related = RelatedIdentifierSerializer(many=True, required=False, **at_most(MOST_RELATED))
    keywords = serializers.ListField(child=NameField(max_length=60), required=False, **at_most(MOST_KEYWORDS))
    language = IdentifierField(
        identifiers.language, max_length=35, required=False, help_text="Language of the texts: a BCP 47 tag such as en."
    )
    answers = serializers.DictField(
        child=serializers.CharField(max_length=LONGEST_ANSWER, allow_blank=True),
        required=False,
        help_text="Answers to questions of datasheet.md and heds3.md, by the question's id. An empty one is removed.",
    )

    questions = serializers.SerializerMethodField(help_text="Questions of datasheet.md and heds3.md, in their order.")

    @extend_schema_field(SheetQuestionSerializer(many=True))
    def get_questions(self, citation: object) -> Any:
        return SheetQuestionSerializer([question._asdict() for question in (*DATASHEET, *HEDS)], many=True).data

    def validate_answers(self, answers: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(set(answers) - IDS):
            raise serializers.ValidationError({unknown[0]: ["There is no such question."]})
        return answers

    def validate_creators(self, creators: list[dict[str, Any]]) -> list[dict[str, Any]]:
        _refuse_repeated(creators, ("orcid",), "orcid", "Creator {} has this ORCID iD. Each person is listed once.")
        same = "The same as creator {}. Add an ORCID iD or an affiliation if they are two."
        _refuse_repeated(creators, ("family", "given", "orcid", "affiliation"), "family", same)
        _refuse_repeated(creators, ("organisation",), "organisation", same)
        return creators

    def validate_funders(self, funders: list[dict[str, Any]]) -> list[dict[str, Any]]:
        keys = ("name", "identifier", "award_number", "award_title")
        _refuse_repeated(funders, keys, "name", "The same as funder {}. List it once.")
        return funders

    def validate_related(self, related: list[dict[str, Any]]) -> list[dict[str, Any]]:
        keys = ("relation", "type", "identifier")
        _refuse_repeated(related, keys, "identifier", "The same as entry {}. List it once.")
        return related

    def validate_keywords(self, keywords: list[str]) -> list[str]:
        by_folded: dict[str, str] = {}
        for keyword in keywords:
            by_folded.setdefault(keyword.casefold(), keyword)
        return list(by_folded.values())
