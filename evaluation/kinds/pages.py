"""Base class of the kinds whose unit is a page of texts: options, layout, blinding and display."""

from collections.abc import Iterable, Mapping, Sequence, Set
from math import comb
from secrets import token_hex
from typing import Any

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from annotation.kinds.clusters import CLUSTER
from annotation.kinds.units import of_reviews
from annotation.models import Cluster
from api.parameters import Parameter, Takes
from api.problems import Refused
from generation import sources
from generation.models import ItemStatus, Run, RunItem, UnitLevel
from generation.runs.actions import embargo_run
from measures.design import SIZE, fewest_tuples
from measures.unit_names import unit_name
from projects.answers.assignments import Shape, overlap_block
from projects.kinds import Batch, Kind, SkipReason, Value, groups
from projects.models import Answer, Assignment, Member, Project, Round, Unit

from ..design import stored, systems, writers
from ..design.plan import SYSTEMS, Planned, drawn_by
from ..design.planning import CHECKS, PAIRS, TUPLES, in_order, planned
from ..design.sources import holds_against_target
from ..models import PageText, RatingDesign, RatingPage, Unblinding
from ..protocols import content as protocol_content
from ..protocols.parts import Content
from ..protocols.parts import Kind as ProtocolKey
from . import choice
from .choice import PROTOCOL
from .shown import Page, TextIds, as_planned, pages_of, target_of


def _of_reviews(pmids: Sequence[str]) -> Q:
    clusters = Q(cluster__in=Cluster.objects.filter(review__pmid__in=pmids))
    return clusters | Q(target__review__pmid__in=pmids) | Q(review__pmid__in=pmids)


class PageKind(Kind):
    """A kind whose units are pages, created from source units when the round is prepared. Raters are blind."""

    group = groups.RATE
    unit_types = (stored.PAGE,)
    blind = True
    designed = True
    design_options = (PROTOCOL, systems.OPTION)
    #: The kind of protocols that this kind uses.
    protocol_kind: ProtocolKey
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("known", "I know who wrote one of them"),
        SkipReason("unclear", "A text cannot be read"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    filters = (of_reviews(_of_reviews),)
    renamed_options = {systems.OPTION: systems.FIRST_OPTION}

    def rows_to_store(self, said: Sequence[tuple[Answer, Value]], texts: TextIds) -> Sequence[Model]:
        """Return the rows that `store` inserts for answers without marked passages."""
        raise NotImplementedError

    # Options

    def options_of(self, project: Project) -> Sequence[Parameter]:
        """Return the options, with the project's protocols and runs as choices.

        The newest version of a protocol comes first. Shipped protocols come last.
        """
        choices, words = choice.protocols(project, self.protocol_kind)
        runs, called, usual = systems.offered(project)
        first = (
            Parameter(
                PROTOCOL,
                Takes.CHOICE,
                "Protocol",
                choices=choices,
                words=words,
                required=True,
                default=choices[0] if choices else None,
                help="Exact wording of the questions to raters.",
            ),
            Parameter(
                systems.OPTION,
                Takes.SEVERAL,
                "Summaries of",
                choices=runs,
                words=called,
                required=True,
                default=usual,
                help="All of one level. Opening the round hides these systems from all raters. Results of a "
                "system in two blind rounds wait until both are unblinded.",
            ),
        )
        return (*first, *self.options)

    def content(self, options: Mapping[str, Any]) -> Content:
        """Return the protocol content of a round with these options, before its pages are created."""
        return choice.content(str(options[PROTOCOL]))

    # Units

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return all units that can be summarised, in corpus order: clusters, target sentences, reviews."""
        ids = Q()
        for level in UnitLevel:
            ids |= Q(pk__in=sources.units(project, level).order_by())
        # Clauses of one query would make it read all units for each.
        written = Unit.objects.filter(writers.source_units(), project=project).order_by().values("pk")
        return Unit.objects.filter(ids | Q(pk__in=written), project=project).order_by("pk")

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Return pages that were rated, without those of attention checks."""
        of_systems = PageText.objects.filter(page__unit=OuterRef("pk"), is_check=False)
        return Unit.objects.filter(Exists(of_systems), project=project, type=stored.PAGE).order_by("pk")

    def narrowed(self, units: QuerySet[Unit], options: Mapping[str, Any]) -> QuerySet[Unit]:
        """Return the source units that every run has summarised, and the pages rated by the same protocol."""
        asked = str(options.get(PROTOCOL) or "")
        if not asked:
            return units
        digest = protocol_content.digest(self.content(options))
        # Only closed rounds have gold. A page never shows which system wrote a text, even after unblinding.
        design = "rating_page__source__design__"
        same = Q(**{f"{design}version__digest": digest, f"{design}round__status": Round.Status.CLOSED})
        runs = systems.selected_runs(options)
        written = [writers.Writer.from_id(one) for one in systems.selected_writers(options)]
        levels = set(Run.objects.filter(pk__in=runs).values_list("version__level", flat=True))
        levels |= {one.level for one in written}
        summarised = ~Q(type=stored.PAGE)
        if len(levels) != 1:
            # `plan` reports this error; no source unit matches until then.
            return units.filter(same)
        for run in runs:
            done = RunItem.objects.filter(run=run, unit=OuterRef("pk"), status=ItemStatus.DONE)
            summarised &= Q(Exists(done))
        for one in written:
            summarised &= one.has_written()
        return units.filter(same | summarised)

    def count_after_layout(self, project: Project, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        system_count, sources = len(systems.selected(options)), len(chosen)
        if not options.get(PROTOCOL):
            return sources
        content = self.content(options)
        if content.kind == "compare":
            pages = sources * min(options.get(PAIRS) or 10**6, system_count * (system_count - 1) // 2)
        elif content.kind == "best_worst":
            each = options.get(TUPLES) or fewest_tuples(system_count)
            pages = sources * min(each, comb(system_count, SIZE))
        else:
            pages = sources * (system_count if content.texts_per_page == "one" else 1)
        return pages + round(pages * int(options.get(CHECKS) or 0) / 100)

    def plan(self, round: Round, units: Sequence[int], secret: str = "") -> Planned:
        """Return the design of a round over these source units. Raise `Refused` with the invalid option."""
        content = self.content(round.options)
        if gaps := protocol_content.unready(content):
            raise Refused.field(f"options.{PROTOCOL}", f"This protocol is not ready: {gaps[0]}")
        compared_systems = systems.chosen(round.project, round.options)
        if len(systems.levels(compared_systems)) != 1:
            raise Refused.field(
                f"options.{systems.OPTION}", "Select systems of one level, so that all summarise the same units."
            )
        if systems.levels(compared_systems) <= writers.LEVELS.keys() and holds_against_target(content):
            raise Refused.field(f"options.{PROTOCOL}", "This protocol shows a target, which passages do not have.")
        if content.kind == "compare" and len(compared_systems) < 2:
            raise Refused.field(f"options.{systems.OPTION}", "Select at least two systems to compare.")
        if content.kind == "best_worst" and len(compared_systems) < SIZE:
            raise Refused.field(
                f"options.{systems.OPTION}", f"Select at least {SIZE} systems: a tuple has texts of {SIZE} systems."
            )
        plan = planned(round.project, units, content, compared_systems, round.options, round.seed, secret)
        if not plan.pages and plan.alike:
            raise Refused.field("filters", "Every pair or tuple of texts has equal texts, so none can be compared.")
        if not plan.pages:
            raise Refused.field("filters", "No unit has summaries from all systems.")
        return plan

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if existing := stored.page_units(round):
            return existing
        if round.meaning.chooses != "any":
            # The units are pages of other rounds, which exist already.
            return chosen
        return stored.store(
            round,
            choice.freeze(round, self.protocol_kind),
            self.plan(round, [unit for unit, _ in chosen], token_hex(16)),
        )

    def check_people(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[Member], wanted: int
    ) -> None:
        _refuse_authors(round, people)

    def deal(
        self, round: Round, units: Sequence[tuple[int, int]], people: Sequence[int]
    ) -> Mapping[int, Sequence[int]] | None:
        """Allocate pages with one text by lists, so that no rater gets a source twice.

        Return None if the lists do not apply or have too few people.
        """
        design = RatingDesign.objects.filter(round=round).first()
        if design is None or design.plan["kind"] != "rate" or design.plan["texts_per_page"] != "one":
            return None
        lists = len(design.plan[SYSTEMS])
        shape = Shape.of(round.overlap, round.sampling)
        if shape.repeat_share or len(people) // lists < shape.most:
            return None
        # Rounds planned by the first version of the rules do not store the list of a page.
        if "groups" not in design.plan:
            return None
        numbers = dict(RatingPage.objects.filter(source__design=design).values_list("unit", "number"))
        block = overlap_block([unit for unit, _ in units], shape, round.seed, self.drawn_together(round))
        dealt: dict[int, list[int]] = {}
        for unit, _ in units:
            number = numbers[unit]
            of_list = people[design.plan["groups"][number] :: lists]
            # Allocate by source: an attention check then goes to the people who get the original text.
            source = design.plan["pages"][number][0]
            raters = shape.block_overlap if unit in block else shape.overlap
            dealt[unit] = [of_list[(source + k) % len(of_list)] for k in range(raters)]
        return dealt

    def drawn_together(self, round: Round) -> Mapping[int, int]:
        """Return the source of each page: agreement needs the same sources for every system, as in MS^2's study."""
        return dict(RatingPage.objects.filter(source__design__round=round).values_list("unit", "source"))

    def discarded(self, round: Round) -> None:
        stored.remove(round)

    # Blinding

    def keeps_blind(self, round: Round) -> bool:
        """Whether the round is not unblinded. A round without a design is blind too."""
        return not Unblinding.objects.filter(design__round=round).exists()

    def blind_among(self, rounds: Sequence[Round]) -> Set[int]:
        unblinded = Unblinding.objects.filter(design__round__in=rounds).values_list("design__round", flat=True)
        return {round.pk for round in rounds} - set(unblinded)

    def joined(self, round: Round, member: Member) -> None:
        """Embargo the round's runs for a member who joins it. The member's role does not matter.

        Raise `Refused` if the member wrote some of the texts.
        """
        _refuse_authors(round, [member])
        for run in Run.objects.filter(compared_systems__design__round=round).order_by("pk"):
            embargo_run(run=run, members=[member], by=round.created_by)

    # Attention checks

    def checks_among(self, units: Iterable[int]) -> Set[tuple[int, str]]:
        texts = PageText.objects.filter(page__unit__in=list(units))
        checks = set(texts.filter(is_check=True).values_list("page__unit", "code"))
        pages = {unit for unit, _ in checks}
        # In older rounds, attention checks are on the pages of other texts.
        shared = texts.filter(page__unit__in=pages, is_check=False).values_list("page__unit", flat=True)
        shared_pages = set(shared) if self.part and pages else set()
        return {(unit, code if unit in shared_pages else "") for unit, code in checks}

    # Display

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the title of each page: the name of its source, without the systems."""
        pages = RatingPage.objects.filter(unit__in=list(units))
        return {unit: f"Summaries of {unit_name(key)}" for unit, key in pages.values_list("unit", "source__unit__key")}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(RatingPage.objects.filter(unit__in=list(units)).values_list("unit", "source__review"))

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        """Load pages with their texts in two queries. In a preview, plan the pages instead."""
        if round.pk is None and all(slot.unit.type != stored.PAGE for slot in slots):
            return Batch({slot.unit_id: self.plan(round, [slot.unit_id]) for slot in slots})
        return Batch(pages_of([slot.unit_id for slot in slots]))

    def ordered_page(self, slot: Assignment, batch: Batch, round: Round) -> Page:
        """Return the page of an assignment, with the texts in the order of that assignment."""
        found = batch.rows[slot.unit_id]
        if isinstance(found, Planned):
            return as_planned(found, slot)
        design = found.source.design
        texts = in_order(
            found.texts.all(),
            kind=self.protocol_kind,
            page=found.number,
            number=slot.number,
            repeat=slot.repeat,
            seed=drawn_by(round.seed, design.secret),
        )
        return Page(stored.content_by(design.version.digest), found, found.source.material, found.source.gold, texts)

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        return self.card_of(self.ordered_page(slot, batch, round))

    def card_of(self, page: Page) -> dict[str, Any]:
        """Return a page as raters, and models as judges, read it."""
        show = page.content.show
        return {
            "protocol": protocol_content.as_json(page.content),
            "source": {
                "query": page.source["query"] if show.query else "",
                "title": page.source["title"],
                "studies": page.source["studies"] if show.source else [],
            },
            "target": target_of(show.target, page.gold, page.stored),
            "texts": [{"key": text.code, "text": text.displayed_text} for text in page.texts],
        }

    def check(self, slot: Assignment, value: Value) -> None:
        page = self.page_of(slot)
        content = stored.content_by(page.source.design.version.digest)
        studies = [study["text"] for study in page.source.material["studies"]]
        self.check_value(content, {text.code: text.displayed_text for text in page.texts.all()}, studies, value)

    def check_value(
        self, content: Content, texts: Mapping[str, str], studies: Sequence[str], value: Mapping[str, Any]
    ) -> None:
        """Raise `Refused` if the answer breaks a rule of the protocol. ``texts`` maps codes to the shown texts."""
        raise NotImplementedError

    def page_of(self, slot: Assignment) -> RatingPage:
        """Return the page of an assignment, with its texts."""
        return pages_of([slot.unit_id])[slot.unit_id]

    # Results

    def fields_of(self, round: Round) -> Sequence[str]:
        return [criterion.key for criterion in self.content_of(round).criteria]

    def content_of(self, round: Round) -> Content:
        """Return the protocol content of a round, whether its pages exist or not."""
        if round.pk and RatingDesign.objects.filter(round=round).exists():
            return stored.content_of(round)
        return self.content(round.options)

    def dependents_of(self, units: Sequence[Unit]) -> QuerySet[Unit]:
        ids = [unit.pk for unit in units]
        kind = Q(assignments__round__kind=self.key)
        # Pages of a cluster depend on everything in the cluster. Pages of a document do not depend on its propositions.
        alone = Q(rating_page__source__target__in=ids) & ~Q(rating_page__source__unit__type=CLUSTER)
        shows = Q(rating_page__source__unit__in=ids) | alone
        return Unit.objects.filter(kind, shows).distinct().order_by("pk")


def _refuse_authors(round: Round, people: Sequence[Member]) -> None:
    """Raise `Refused` if people wrote some of the texts that a round compares."""
    written_by = writers.authors(systems.selected_writers(round.options))
    if own := sorted(member.pseudonym for member in people if member.pk in written_by):
        raise Refused.field("people", f"These people wrote some of the texts and cannot rate them: {', '.join(own)}.")
