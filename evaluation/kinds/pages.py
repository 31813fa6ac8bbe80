"""What the kinds whose unit is a page of texts share: options, layout, blinding, and what is shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Literal

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from annotation.kinds.clusters import CLUSTER
from annotation.kinds.filters import of_reviews
from annotation.models import Cluster
from api.parameters import Parameter, Takes
from api.problems import Refused
from generation.actions.runs import seal_run
from generation.models import ItemStatus, Run, RunItem, UnitLevel
from generation.runs import sources
from projects.kinds import Batch, Kind, SkipReason
from projects.models import Assignment, Member, Project, Round, Unit

from ..design import entrants, stored
from ..design.planning import PAIRS, Planned, drawn_by, in_order, planned
from ..models import PageText, ProtocolVersion, RatingDesign, RatingPage, Unblinding
from ..protocols import content as contents
from ..protocols import shipped
from ..protocols.parts import Content
from ..protocols.writing import create_protocol, free_name

PROTOCOL, ENTRANTS = "protocol", "entrants"
SHIPPED = "shipped:"


@dataclass(frozen=True)
class Page:
    """A page as it is shown to a place of the queue: ``texts`` in its order, by code and text."""

    content: Content
    stored: Any
    source: Mapping[str, Any]
    gold: Mapping[str, Any] | None
    texts: Sequence[Any]


def _of_reviews(pmids: Sequence[str]) -> Q:
    clusters = Q(cluster__in=Cluster.objects.filter(review__pmid__in=pmids))
    return clusters | Q(target__review__pmid__in=pmids) | Q(review__pmid__in=pmids)


class PageKind(Kind):
    """A kind whose units are pages, laid out from source units when its round is prepared. Its raters are blind."""

    unit_types = (stored.PAGE,)
    blind = True
    designed = True
    #: Which protocols it takes.
    protocol_kind: Literal["rate", "compare"]
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("known", "I know who wrote one of them"),
        SkipReason("unclear", "A text cannot be read"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    filters = (of_reviews(_of_reviews),)

    # What a lead sets

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """Among protocols and runs of the project; newest versions first, then those to begin with."""
        choices, words = self._protocols(project)
        runs, called, usual = entrants.offered(project)
        first = (
            Parameter(PROTOCOL, Takes.CHOICE, "Protocol", choices=choices, words=words, required=True,
                      default=choices[0] if choices else None, help="What raters are asked, word for word."),
            Parameter(ENTRANTS, Takes.SEVERAL, "Summaries of", choices=runs, words=called, required=True,
                      default=usual,
                      help="Of one level. Opening the round hides them from everybody who rates."),
        )  # fmt: skip
        return (*first, *self.options)

    def _protocols(self, project: Project) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found: dict[str, str] = {}
        versions = ProtocolVersion.objects.filter(protocol__project=project, protocol__kind=self.protocol_kind)
        for pk, name, number in versions.order_by("protocol", "-number").values_list("pk", "protocol__name", "number"):
            found[str(pk)] = f"{name}, version {number}"
        for template in shipped.templates():
            if template.content.kind == self.protocol_kind:
                found[SHIPPED + template.key] = f"{template.name} (ships with Concord)"
        return tuple(found), tuple(found.values())

    def content(self, options: Mapping[str, Any]) -> Content:
        """What a round with such options asks, before it is laid out."""
        asked = str(options[PROTOCOL])
        if asked.startswith(SHIPPED):
            return shipped.get(asked.removeprefix(SHIPPED)).content
        return contents.load(ProtocolVersion.objects.values_list("content", flat=True).get(pk=int(asked)))

    def _version(self, round: Round) -> ProtocolVersion:
        """The version that a round freezes: one of the project's, or one that ships, which the project takes over."""
        asked = str(round.options[PROTOCOL])
        if not asked.startswith(SHIPPED):
            return ProtocolVersion.objects.get(pk=int(asked), protocol__project=round.project)
        template = shipped.get(asked.removeprefix(SHIPPED))
        digest = contents.digest(template.content)
        there = ProtocolVersion.objects.filter(protocol__project=round.project, digest=digest).order_by("pk").first()
        return there or create_protocol(
            project=round.project, name=free_name(round.project, template.name),
            content=contents.as_json(template.content), note="Ships with Concord.", by=round.created_by,
        )  # fmt: skip

    # Which units

    def units(self, project: Project) -> QuerySet[Unit]:
        """Whatever can be summarised, in the order of the corpus: clusters, target sentences, reviews."""
        ids = Q()
        for level in UnitLevel:
            ids |= Q(pk__in=sources.units(project, level).order_by())
        return Unit.objects.filter(ids, project=project).order_by("pk")

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Pages that were rated."""
        return Unit.objects.filter(project=project, type=stored.PAGE, rating_page__isnull=False).order_by("pk")

    def narrowed(self, units: QuerySet[Unit], options: Mapping[str, Any]) -> QuerySet[Unit]:
        """Source units that every run has summarised; of pages those of the same protocol."""
        asked = str(options.get(PROTOCOL) or "")
        if not asked:
            return units
        digest = contents.digest(self.content(options))
        # Of closed rounds: their gold is formed. Whose a text is, a page does not say, unblinded or not.
        design = "rating_page__source__design__"
        same = Q(**{f"{design}version__digest": digest, f"{design}round__status": Round.Status.CLOSED})
        runs = [int(one) for one in options.get(ENTRANTS) or [] if one != entrants.REFERENCES]
        levels = set(Run.objects.filter(pk__in=runs).values_list("version__level", flat=True))
        summarised = ~Q(type=stored.PAGE)
        if len(levels) != 1:
            # Told by `lay_out`; nothing is left meanwhile.
            return units.filter(same)
        for run in runs:
            done = RunItem.objects.filter(run=run, unit=OuterRef("pk"), status=ItemStatus.DONE)
            summarised &= Q(Exists(done))
        return units.filter(same | summarised)

    def units_after_layout(self, project: Project, chosen: int, options: Mapping[str, Any]) -> int:
        taking = len(options.get(ENTRANTS) or [])
        if not options.get(PROTOCOL):
            return chosen
        content = self.content(options)
        if content.kind == "compare":
            return chosen * min(options.get(PAIRS) or 10**6, taking * (taking - 1) // 2)
        return chosen * (taking if content.texts_per_page == "one" else 1)

    def plan(self, round: Round, units: Sequence[int], secret: str = "") -> Planned:
        """The design of a round that asks about these source units. Raises `Refused` naming the option."""
        content = self.content(round.options)
        if gaps := contents.unready(content):
            raise Refused.field(f"options.{PROTOCOL}", f"This protocol is not ready: {gaps[0]}")
        taking = entrants.chosen(round.project, round.options)
        if len(entrants.levels(taking)) != 1:
            raise Refused.field(
                f"options.{ENTRANTS}", "Choose runs of one level: their summaries are of the same units."
            )
        if content.kind == "compare" and len(taking) < 2:
            raise Refused.field(f"options.{ENTRANTS}", "Choose two or more: texts are compared with each other.")
        plan = planned(round.project, units, content, taking, round.options, round.seed, secret)
        if not plan.pages:
            raise Refused.field("filters", "Of none of these units every system has a text.")
        return plan

    def lay_out(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if there := stored.laid_out(round):
            return there
        if round.meaning.chooses != "any":
            # Pages of other rounds, with what is in force of them: laid out they are.
            return chosen
        return stored.store(round, self._version(round), self.plan(round, [unit for unit, _ in chosen], token_hex(16)))

    def deal(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[int]
    ) -> Mapping[int, Sequence[int]] | None:
        """Where each page has one text: by lists, so that nobody gets a source twice, as far as there are people for a
        list each."""
        design = RatingDesign.objects.filter(round=round).first()
        if design is None or design.plan["kind"] == "compare" or design.plan["texts_per_page"] != "one":
            return None
        lists = len(design.plan["entrants"])
        pages = design.plan["pages"]
        each = len(people) // lists
        if round.sampling.get("block") or round.sampling.get("repeats") or each < round.overlap:
            return None
        size = max(1, len(design.plan["sources"]))
        dealt: dict[int, list[int]] = {}
        for n, (unit, _) in enumerate(units):
            of_list = people[(n // size) % lists :: lists] if len(pages) == size * lists else ()
            if len(of_list) < round.overlap:
                return None
            dealt[unit] = [of_list[(n + k) % len(of_list)] for k in range(round.overlap)]
        return dealt

    def discarded(self, round: Round) -> None:
        stored.remove(round)

    # Who must not know

    def keeps_blind(self, round: Round) -> bool:
        """Until it is unblinded; one that has no design yet has told nothing either."""
        return not Unblinding.objects.filter(design__round=round).exists()

    def joined(self, round: Round, member: Member) -> None:
        """What a person is to rate is hidden from that person everywhere else, whatever the role."""
        for run in Run.objects.filter(entrants__design__round=round).order_by("pk"):
            seal_run(run=run, members=[member], by=round.created_by)

    # What is shown

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Whose summaries they are is said by nothing here: the source's name."""
        pages = RatingPage.objects.filter(unit__in=list(units))
        return {unit: f"Summaries of {key}" for unit, key in pages.values_list("unit", "source__unit__key")}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(RatingPage.objects.filter(unit__in=list(units)).values_list("unit", "source__review"))

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        """Pages with their texts: two queries. Before a round is laid out, what its pages will be."""
        if round.pk is None and all(slot.unit.type != stored.PAGE for slot in slots):
            return Batch({slot.unit_id: self.plan(round, [slot.unit_id]) for slot in slots})
        return Batch(pages_of([slot.unit_id for slot in slots]))

    def shown(self, slot: Assignment, batch: Batch, round: Round) -> Page:
        """The page of a slot, texts in the order of its place."""
        found = batch.rows[slot.unit_id]
        if isinstance(found, Planned):
            return _as_planned(found, slot)
        design = found.source.design
        texts = in_order(
            found.texts.all(), pairs=self.protocol_kind == "compare", page=found.number, number=slot.number,
            repeat=slot.repeat, seed=drawn_by(round.seed, design.secret),
        )  # fmt: skip
        return Page(stored.content_by(design.version.digest), found, found.source.shown, found.source.gold, texts)

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        page = self.shown(slot, batch, round)
        show = page.content.show
        return {
            "protocol": contents.as_json(page.content),
            "source": {
                "query": page.source["query"] if show.query else "",
                "title": page.source["title"],
                "studies": page.source["studies"] if show.source else [],
            },
            "target": _target(show.target, page.gold, page.stored),
            "texts": [{"key": text.code, "text": text.shown} for text in page.texts],
        }

    def page_of(self, slot: Assignment) -> RatingPage:
        """The page of a slot that is answered, with its texts."""
        return pages_of([slot.unit_id])[slot.unit_id]

    # What it comes to

    def fields_of(self, round: Round) -> Sequence[str]:
        return [criterion.key for criterion in self.content_of(round).criteria]

    def content_of(self, round: Round) -> Content:
        """What a round asks, laid out or not."""
        if round.pk and RatingDesign.objects.filter(round=round).exists():
            return stored.content_of(round)
        return self.content(round.options)

    def hanging_on(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        ids = [unit.pk for unit in units]
        kind = Q(assignments__round__kind=self.key)
        # A cluster is told of whatever changes in it; a document is not told of its propositions.
        alone = Q(rating_page__source__target__in=ids) & ~Q(rating_page__source__unit__type=CLUSTER)
        shows = Q(rating_page__source__unit__in=ids) | alone
        return Unit.objects.filter(kind, shows).distinct().order_by("pk")


def pages_of(units: Sequence[int]) -> dict[int, RatingPage]:
    """Pages by unit id, with source, design and texts: two queries."""
    pages = RatingPage.objects.filter(unit__in=units).select_related("source__design__version")
    pages = pages.defer("source__design__plan", "source__design__version__content")
    found = pages.prefetch_related(Prefetch("texts", PageText.objects.order_by("number")))
    return {page.unit_id: page for page in found}


def text_ids(units: Iterable[int]) -> dict[tuple[int, str], int]:
    """The texts of pages by unit id and code. One query."""
    texts = PageText.objects.filter(page__unit__in=set(units)).values_list("page__unit", "code", "pk")
    return {(unit, code): pk for unit, code, pk in texts}


def _as_planned(plan: Planned, slot: Assignment) -> Page:
    page = plan.pages[0]
    source = plan.sources[page.source]
    texts = [
        PageText(code=text.code, shown=text.shown, number=n, entrants=sorted(text.of), is_check=text.is_check)
        for n, text in enumerate(page.texts)
    ]
    ordered = in_order(texts, pairs=plan.pairs, page=page.number, number=1, repeat=slot.repeat, seed=plan.drawn)
    return Page(plan.content, source, source.shown, source.gold, ordered)


def _target(show: str, gold: Mapping[str, Any] | None, stored: Any) -> dict[str, Any] | None:
    """As much of the target as a protocol shows."""
    if show == "none" or gold is None:
        return None
    nothing = {"text": "", "slots": [], "polarity": "", "modality": ""}
    names = {"text": ("text",), "tuple": ("slots",), "gold": ("text", "slots", "polarity", "modality")}[show]
    return nothing | {name: gold[name] for name in names}
