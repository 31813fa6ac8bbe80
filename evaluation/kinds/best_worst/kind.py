"""The best-worst kind: choose the best and the worst of four texts by the criteria of a protocol."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from api.parameters import Parameter, Takes
from api.problems import Refused
from evaluation.kinds.rate.kind import RateKind
from evaluation.kinds.rate.serializers import PageCardSerializer, RateValueSerializer
from evaluation.protocols.parts import Content
from measures.ratings.judgements import BEST, WORST
from projects.kinds import Value


class TupleCardSerializer(PageCardSerializer):
    """A page of four texts."""


class BestWorstValueSerializer(RateValueSerializer):
    """The values of the texts of a tuple. By each criterion one text is best, one is worst and the others neither."""


class BestWorstKind(RateKind):
    """Four texts of one source. The values of the texts are stored as ratings."""

    key = "best_worst"
    title = "Choose best and worst"
    description = "The best and the worst of four summaries."
    order = 205
    protocol_kind = "best_worst"
    assumed_seconds = 90.0
    options = (
        Parameter(
            "tuples_a_source",
            Takes.INTEGER,
            "Tuples a source",
            minimum=1,
            maximum=1000,
            help="Empty: as few as show each system. All systems are equally frequent, in all combinations.",
        ),
        RateKind.options[0],
        Parameter(
            "checks",
            Takes.INTEGER,
            "Attention checks (% of the tuples)",
            default=0,
            minimum=0,
            maximum=50,
            required=True,
            help="Tuples with one degraded text, which should be chosen as the worst.",
        ),
        *RateKind.options[2:],
    )
    policy = ()
    card_serializer: type[serializers.Serializer[Any]] = TupleCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = BestWorstValueSerializer
    columns = ("text", "criterion", "value")
    comments = ()

    def check_value(
        self, content: Content, texts: Mapping[str, str], studies: Sequence[str], value: Mapping[str, Any]
    ) -> None:
        super().check_value(content, texts, studies, value)
        counts = Counter((one["criterion"], one["value"]) for text in value["texts"] for one in text["said"])
        for criterion in dict.fromkeys(criterion for criterion, _ in counts):
            if counts[criterion, BEST] != 1 or counts[criterion, WORST] != 1:
                raise Refused.field("value.texts", f"Expected exactly one best and one worst text by {criterion}.")

    def sentence(self, field: str, value: Value) -> str:
        """Return the places of the best and the worst text on the rater's page."""
        places = {
            one["value"]: n
            for n, text in enumerate(value.get("texts", []), start=1)
            for one in text["said"]
            if one["criterion"] == field
        }
        return ", ".join(f"{chosen} {places[chosen]}" for chosen in (BEST, WORST) if chosen in places)
