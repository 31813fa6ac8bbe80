"""Corpus statistics: counts, value distributions, and M3's Table 2 (targets, inputs, compression)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, OuterRef, Q, QuerySet

from annotation.clusters.gold import current_label_value, current_relation
from measures.counterfactuals import Kind
from projects.jobs.batches import Progress, silent
from projects.models import Project, has_arrived
from sql.batches import in_batches

from ..models import (
    Cluster,
    Counterfactual,
    Element,
    Input,
    Level,
    Modality,
    Passage,
    PicoElement,
    PicoForm,
    Polarity,
    Proposition,
    Question,
    RecordStatus,
    Relation,
    Review,
    Study,
    Target,
    WrittenSummary,
)
from .states import read_imports

Json = dict[str, Any]


def summary(project: Project) -> Json:
    """Return counts of rows, and of current values by role. Needs a fixed number of queries."""
    values, propositions = _labels(Proposition.objects.current().filter(cluster__project=project))
    return {
        "reviews": Review.objects.filter(project=project).count(),
        "has_reviews": Project.objects.filter(has_reviews(project), pk=project.pk).exists(),
        "studies": Study.objects.filter(project=project).count(),
        "documents": Target.objects.current().filter(project=project, level=Level.DOCUMENT).count(),
        "sentences": Target.objects.current().filter(project=project, level=Level.SENTENCE).count(),
        "clusters": Cluster.objects.current().filter(project=project).count(),
        "propositions": propositions["target"] + propositions["input"],
        "inputs": propositions["input"],
        "questions": Question.objects.filter(project=project).count(),
        "passages": Passage.objects.filter(question__project=project).count(),
        "written_summaries": WrittenSummary.objects.current().filter(question__project=project).count(),
        "values": {**values, "relation": _relations(project)},
        "pico": _pico(project),
        "counterfactuals": _counterfactuals(project),
    }


def has_reviews(project: Project) -> Q:
    """Return a condition: more than a document is known of a review, or the project has clusters or target sentences.

    A review of which only a document is known is the document's place in the corpus, not a review. Reviews of MSLR have
    pages, although their tables have neither titles nor abstracts.
    """
    described = ~Q(title="") | ~Q(abstract="") | ~Q(topic="") | ~Q(record=RecordStatus.NOT_READ)
    documents = Target.objects.filter(review=OuterRef("pk"), level=Level.DOCUMENT)
    reviews = Review.objects.filter(described | ~Q(Exists(documents.order_by())), project=project)
    clusters = Cluster.objects.filter(project=project)
    sentences = Target.objects.filter(project=project, level=Level.SENTENCE)
    known = (reviews, clusters, sentences, read_imports(project))
    return Q(*(Exists(rows.order_by()) for rows in known), _connector=Q.OR)


def _labels(claims: QuerySet[Proposition]) -> tuple[Json, Counter[str]]:
    """Return the counts of current values by role and field, and the counts of propositions by role.

    Needs one query; each value is looked up once per proposition.
    """
    value = {field: current_label_value(field) for field in ("polarity", "modality")}
    rows = claims.order_by().annotate(of_target=ExpressionWrapper(Q(position=0), BooleanField()), **value)
    counts: dict[str, Counter[str | None]] = defaultdict(Counter)
    roles: Counter[str] = Counter()
    for of_target, polarity, modality, n in (
        rows.values_list("of_target", *value).annotate(n=Count("id")).values_list("of_target", *value, "n")
    ):
        role = "target" if of_target else "input"
        roles[role] += n
        counts[f"{role}_polarity"][polarity] += n
        counts[f"{role}_modality"][modality] += n
    scales = {"polarity": Polarity.values, "modality": Modality.values}
    return {
        f"{role}_{field}": _on_scale(counts[f"{role}_{field}"], scale)
        for role in ("target", "input")
        for field, scale in scales.items()
    }, roles


def _relations(project: Project) -> list[Json]:
    clusters = Cluster.objects.current().filter(project=project).order_by().annotate(relation=current_relation())
    return _on_scale(
        dict(clusters.values_list("relation").annotate(n=Count("id")).values_list("relation", "n")), Relation.values
    )


def _on_scale(counts: Mapping[Any, int], values: Iterable[str]) -> list[Json]:
    """Return the count of every value of the scale, including values that do not occur."""
    return [{"value": value, "count": counts.get(value, 0)} for value in values]


def _pico(project: Project) -> list[Json]:
    rows = (
        PicoElement.objects.filter(
            has_arrived("cluster__imported"), cluster__project=project, cluster__unit__superseded_by=None
        )
        .order_by()
        .values_list("element", "form")
    )
    counts = {
        (element, form): n for element, form, n in rows.annotate(n=Count("id")).values_list("element", "form", "n")
    }
    return [
        {"element": element, "form": form, "count": counts.get((element, form), 0)}
        for element in Element.values
        for form in PicoForm.values
    ]


def _counterfactuals(project: Project) -> list[Json]:
    """Return the number of current counterfactuals by kind, and by kind and polarity of the target."""
    current = Counterfactual.objects.of(project).current()
    with_polarity = current.order_by().annotate(polarity=current_label_value("polarity", of="target__unit"))
    counts = {(k, p): n for k, p, n in with_polarity.values_list("kind", "polarity").annotate(n=Count("pk"))}
    totals: Counter[str] = Counter()
    for (kind, _), n in counts.items():
        totals[kind] += n
    return [
        {
            "kind": k.value,
            "count": totals[k.value],
            "polarity": [{"value": p, "count": counts.get((k.value, p), 0)} for p in Polarity.values],
        }
        for k in Kind
    ]


#: Number of targets whose input texts are read with one query.
BATCH = 100


def table(project: Project, progress: Progress = silent) -> list[Json]:
    """Return M3's Table 2 with one row for each level in the project.

    Columns are targets, inputs, reviews, studies, inputs per target, and compression. Compression is the mean over
    targets of (words of the inputs / words of the target). Words are split at white space. Memory does not grow with
    the number of texts.
    """
    rows = []
    for level in Level.values:
        targets = Target.objects.current().filter(project=project, level=level)
        # One join by its key. `target__in=targets` joins the targets twice, and PostgreSQL may compare each input with
        # each target.
        inputs = Input.objects.current().filter(
            target__project=project, target__level=level, target__unit__superseded_by=None
        )
        rows.append(
            _row(
                level,
                targets.values_list("pk", "text"),
                Target.objects.current().values_list("pk", "text"),
                _input_texts,
                progress,
                reviews=targets.values("review").distinct().count(),
                studies=inputs.values("study").distinct().count(),
            )
        )
    claims = Proposition.objects.current().filter(cluster__project=project)
    inputs_of_clusters = claims.filter(position__gte=1)
    rows.append(
        _row(
            "proposition",
            claims.filter(position=0).values_list("cluster", "text"),
            Proposition.objects.current().values_list("cluster", "text"),
            lambda ids: inputs_of_clusters.filter(cluster__in=ids).values_list("cluster", "text"),
            progress,
            reviews=Cluster.objects.current().filter(project=project).values("review").distinct().count(),
            studies=inputs_of_clusters.values("study").distinct().count(),
        )
    )
    return [row for row in rows if row["targets"]]


Texts = QuerySet[Any, tuple[int, str]]


def _input_texts(targets: Sequence[int]) -> Texts:
    inputs = Input.objects.current().filter(target__in=targets).with_source_text()
    return inputs.values_list("target", "source_text")


def _row(
    level: str,
    targets: Texts,
    all_targets: Texts,
    inputs_of: Callable[[Sequence[int]], Texts],
    progress: Progress,
    *,
    reviews: int,
    studies: int,
) -> Json:
    total, counts = targets.count(), Counter(targets=0, inputs=0, ratios=0)

    def ratios() -> Iterator[float]:
        for batch in in_batches(targets, BATCH, all_targets):
            progress(counts["targets"], total, f"reading texts of level {level}")
            words: Counter[int] = Counter()
            for pk, text in inputs_of([pk for pk, _ in batch]).order_by().iterator(chunk_size=BATCH):
                words[pk] += len(text.split())
                counts["inputs"] += 1
            counts["targets"] += len(batch)
            for pk, text in batch:
                if n := len(text.split()):
                    counts["ratios"] += 1
                    yield words[pk] / n

    # `sum` of all ratios rounds less than a running total.
    ratio = sum(ratios())
    return {
        "level": level,
        "targets": counts["targets"],
        "inputs": counts["inputs"],
        "reviews": reviews,
        "studies": studies,
        "inputs_per_target": counts["inputs"] / counts["targets"] if counts["targets"] else None,
        "compression": ratio / counts["ratios"] if counts["ratios"] else None,
    }
