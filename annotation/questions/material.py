"""Kinds of material of a corpus of questions."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from projects.material.registry import Column, Match, Matches, Material, Row, Rows
from projects.models import Member, Project
from projects.permissions import SUMMARY_TEXTS, hidden_from, may

from ..corpus.figures import SUMMARY
from ..corpus.material import Levels, shortened
from ..models import Part, Passage, PassageRating, Question, QuestionText, SummaryForm, WrittenSummary
from .ratings import with_current_rating


def _with_words(words: str, **of: Any) -> Exists:
    """Return a condition: a current text of the outer row contains these words."""
    texts = QuestionText.objects.current().filter(text__icontains=words, **of).exclude(part=Part.URL)
    return Exists(texts.order_by())


class Questions(Material):
    key, order, figures = "questions", 80, SUMMARY
    singular, plural = "question", "questions"
    is_searched = True
    columns = (
        Column("text", "Question"),
        Column("key", "ID"),
        Column("passages", "Passages", "count"),
        Column("summaries", "Written summaries", "count"),
    )
    states: Mapping[str, tuple[str, Q]] = {
        "no_passages": ("Without passages", ~Q(Exists(Passage.objects.filter(question=OuterRef("pk")).order_by()))),
        "no_summaries": (
            "Without summaries",
            ~Q(Exists(WrittenSummary.objects.current().filter(question=OuterRef("pk")).order_by())),
        ),
    }

    def all(self, project: Project) -> Rows:
        return Question.objects.filter(project=project).order_by("position", "id")

    def matching(self, rows: Rows, words: str) -> Rows:
        return rows.filter(Q(key__contains=words) | Q(_with_words(words, question=OuterRef("pk"), passage=None)))

    def rows(self, page: Sequence[Question], member: Member) -> list[Row]:
        ids = [question.pk for question in page]
        texts = _texts(ids)
        passages, summaries = (
            dict(rows.filter(question__in=ids).order_by().values_list("question").annotate(n=Count("pk")))
            for rows in (Passage.objects.all(), WrittenSummary.objects.current())
        )
        return [
            Row(
                one.pk,
                (texts.get(one.pk, ""), one.key, passages.get(one.pk, 0), summaries.get(one.pk, 0)),
                f"origin/{one.unit_id}",
            )
            for one in page
        ]

    def search(self, member: Member, words: str, limit: int) -> Matches:
        rows = self.matching(self.all(member.project), words)
        page = list(rows[:limit])
        texts = _texts([row.pk for row in page])
        total = rows.count() if len(page) == limit else len(page)
        return Matches(total, [Match(f"{row.key}: {texts.get(row.pk, '')}", "corpus?kind=questions") for row in page])

    def release_note(self, levels: Levels, paths: Sequence[str]) -> str:
        if not any(path.startswith("mediqa_ans/") for path in paths):
            return ""
        return (
            "`mediqa_ans/` has the questions, their passages and the written summaries in the form of MEDIQA-AnS: "
            "each of its nine files that the texts can fill. `summary` is empty if nothing was relevant. Ratings: "
            + ", ".join(f"{rating} {rating.label.lower()}" for rating in PassageRating)
            + "."
        )


def _texts(questions: Sequence[int]) -> dict[int, str]:
    """Return the shortened text of each question. One query."""
    rows = QuestionText.objects.current().filter(question__in=questions, passage=None)
    return {question: shortened(text) for question, text in rows.values_list("question", "text")}


class Passages(Material):
    key, order, figures = "passages", 90, SUMMARY
    singular, plural = "passage", "passages"
    columns = (
        Column("text", "Passage"),
        Column("key", "ID"),
        Column("rating", "Rating", fields=("current_rating",)),
        Column("characters", "Characters", "count"),
        Column("question", "Question"),
    )
    states: Mapping[str, tuple[str, Q]] = {
        **{
            f"rated_{rating}": (f"Rated {rating}: {rating.label}", Q(current_rating=rating)) for rating in PassageRating
        },
        "not_rated": ("Not rated", Q(current_rating=None)),
    }

    def all(self, project: Project) -> Rows:
        rows = with_current_rating(Passage.objects.filter(question__project=project))
        return rows.order_by("question__position", "position", "id")

    def matching(self, rows: Rows, words: str) -> Rows:
        return rows.filter(Q(key__contains=words) | Q(_with_words(words, passage=OuterRef("pk"))))

    def rows(self, page: Sequence[Any], member: Member) -> list[Row]:
        texts: dict[int | None, dict[str, str]] = {}
        current = QuestionText.objects.current().filter(passage__in=page, part__in=(Part.PASSAGE, Part.PAGE))
        for passage, part, text in current.values_list("passage", "part", "text"):
            texts.setdefault(passage, {})[part] = text
        questions = _texts([passage.question_id for passage in page])
        rows = []
        for one in page:
            of_passage = texts.get(one.pk, {})
            text = of_passage.get(Part.PASSAGE) or of_passage.get(Part.PAGE, "")
            rating = PassageRating(one.current_rating).label if one.current_rating else ""
            cells = (shortened(text), one.key, rating, len(text), shortened(questions.get(one.question_id, ""), 100))
            rows.append(Row(one.pk, cells, f"origin/{one.unit_id}"))
        return rows


class WrittenSummaries(Material):
    key, order, figures = "written_summaries", 100, SUMMARY
    singular, plural = "written summary", "written summaries"
    columns = (
        Column("text", "Summary"),
        Column("form", "Type", fields=("form",)),
        Column("question", "Question"),
        Column("passage", "Passage"),
        Column("words", "Words", "count"),
        Column("writer", "Writer"),
    )
    states: Mapping[str, tuple[str, Q]] = {
        **{str(form): (form.label, Q(form=form)) for form in SummaryForm},
        "of_passage": ("Of one passage", Q(passage__isnull=False)),
        "of_all": ("Of all passages", Q(passage=None)),
        "empty": ("Nothing relevant", Q(text="")),
    }

    def all(self, project: Project) -> Rows:
        rows = WrittenSummary.objects.current().filter(question__project=project).select_related("question", "passage")
        return rows.order_by("question__position", "passage__position", "form", "id")

    def release_note(self, levels: Levels, paths: Sequence[str]) -> str:
        if "written/agreement.json" not in paths:
            return ""
        return (
            "`written/summaries.csv` has every written summary with its writer; nothing relevant is an empty text with "
            "this status. `written/agreement.json` compares the newest texts of all writers."
        )

    def hidden(self, member: Member) -> Q | None:
        """Only leads read what others wrote in rounds, because a reader may write or rate the same texts later.

        Nobody reads texts that the person rates blindly, because the list names the writers.
        """
        blind = hidden_from(member).get(SUMMARY_TEXTS) or set()
        if may(member, "read texts of other writers"):
            return Q(pk__in=blind) if blind else None
        return Q(author__isnull=False) & ~Q(author=member.user_id) | Q(pk__in=blind)

    def matching(self, rows: Rows, words: str) -> Rows:
        return rows.filter(text__icontains=words)

    def rows(self, page: Sequence[WrittenSummary], member: Member) -> list[Row]:
        writers = Member.objects.filter(project=member.project_id, user__in={one.author_id for one in page})
        pseudonyms: dict[int | None, str] = dict(writers.values_list("user", "pseudonym"))
        rows = []
        for one in page:
            text = shortened(one.text) if one.text.strip() else "Nothing relevant"
            passage = one.passage.key if one.passage else "all"
            form, words = SummaryForm(one.form).label, len(one.text.split())
            writer = pseudonyms.get(one.author_id) or one.writer or "imported"
            rows.append(Row(one.pk, (text, form, one.question.key, passage, words, writer), f"origin/{one.unit_id}"))
        return rows


def hidden_summaries(member: Member, units: Sequence[int]) -> set[int]:
    """Return the units of those written summaries whose texts a member may not read."""
    condition = WrittenSummaries().hidden(member)
    if condition is None:
        return set()
    return set(WrittenSummary.objects.filter(condition, unit__in=units).values_list("unit", flat=True))
