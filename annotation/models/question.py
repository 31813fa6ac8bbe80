"""Questions, the passages that answer them, and summaries of these passages written by people (MEDIQA-AnS)."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from projects.models import Answer, ArrivedManager, Import, Project, Round, Unit

from .corpus import CREATED_BY_IMPORT


class Question(models.Model):
    """A question, for example of a consumer about health. Its text is a row of `QuestionText`."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="questions", db_index=False)
    key = models.CharField(max_length=60, help_text="Id in the source file.")
    position = models.PositiveIntegerField(help_text="Order in the source file, from 0.")
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="question")
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text=CREATED_BY_IMPORT
    )

    objects = ArrivedManager["Question"]()
    with_arriving = models.Manager["Question"]()

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_question_per_key")]

    def __str__(self) -> str:
        return f"question {self.key}"


class PassageRating(models.IntegerChoices):
    """How well a passage answers its question (MEDIQA-AnS)."""

    INCORRECT = 1, "Incorrect"
    RELATED = 2, "Related"
    INCOMPLETE = 3, "Incomplete"
    EXCELLENT = 4, "Excellent"


class Passage(models.Model):
    """A retrieved answer to a question. Its text, that of its whole page, and the URL are rows of `QuestionText`."""

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="passages", db_index=False)
    key = models.CharField(max_length=60, help_text="Id in the source file.")
    position = models.PositiveIntegerField(help_text="Order among the passages of the question, from 0.")
    rating = models.PositiveSmallIntegerField(
        null=True, blank=True, choices=PassageRating, help_text="Imported rating."
    )
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="passage")
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text=CREATED_BY_IMPORT
    )

    objects = ArrivedManager["Passage"]()
    with_arriving = models.Manager["Passage"]()

    class Meta:
        ordering = ["question_id", "position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "key"], name="one_passage_per_key"),
            models.CheckConstraint(
                condition=Q(rating=None) | Q(rating__range=(1, 4)), name="a_passage_is_rated_1_to_4"
            ),
        ]

    def __str__(self) -> str:
        return f"passage {self.key}"


class RatedPassage(AppendOnly):
    """One answer: how well a passage answers its question."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="passage_ratings")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="passage_rating")
    rating = models.PositiveSmallIntegerField(choices=PassageRating)

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=Q(rating__range=(1, 4)), name="an_answer_rates_1_to_4")]


class Part(models.TextChoices):
    """What a text of a question or of a passage is."""

    QUESTION = "question", "Question"
    PASSAGE = "passage", "Passage"
    PAGE = "page", "Whole page"
    URL = "url", "Address of the page"


class QuestionTextQuerySet(models.QuerySet["QuestionText"]):
    def current(self) -> Self:
        """Exclude texts that were replaced by a correction."""
        return self.filter(is_current=True)


class QuestionText(models.Model):
    """A version of one text of a question or of a passage.

    A text never changes: a correction is the next ``version``, and increases the revision of the unit. A file that is
    imported later can add parts, for example the pages.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="texts", db_index=False)
    passage = models.ForeignKey(
        Passage, null=True, blank=True, on_delete=models.PROTECT, related_name="texts", db_index=False
    )
    part = models.CharField(max_length=8, choices=Part)
    version = models.PositiveSmallIntegerField(default=1)
    text = models.TextField(blank=True)
    is_current = models.BooleanField(default=True)
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text=CREATED_BY_IMPORT
    )

    objects = ArrivedManager.from_queryset(QuestionTextQuerySet)()
    with_arriving = models.Manager["QuestionText"]()

    class Meta:
        ordering = ["question_id", "passage_id", "part", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["question", "version"], condition=Q(passage=None), name="one_text_per_version_of_a_question"
            ),
            models.UniqueConstraint(fields=["passage", "part", "version"], name="one_text_per_version_of_a_passage"),
            models.CheckConstraint(
                condition=Q(passage=None, part=Part.QUESTION) | Q(passage__isnull=False) & ~Q(part=Part.QUESTION),
                name="a_question_has_its_own_text",
            ),
        ]


class SummaryForm(models.TextChoices):
    EXTRACTIVE = "extractive", "Extractive"
    ABSTRACTIVE = "abstractive", "Abstractive"


class AskedPassage(models.Model):
    """A passage that a round asks people to summarise. It is chosen when the round is prepared, and stays.

    Otherwise a later rating would change the question while people write.
    """

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="asked_passages", db_index=False)
    passage = models.ForeignKey(Passage, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["round_id", "passage__position", "id"]
        constraints = [models.UniqueConstraint(fields=["round", "passage"], name="one_asked_passage_per_round")]


class WrittenStep(AppendOnly):
    """One text of an answer of the kind *write*: a summary of one passage, or of all passages of the question.

    ``chunks``: ranges of an extractive text in the order in which they are joined, each as id of the `QuestionText`,
    start and end in code points. ``nothing``: the person found nothing relevant; the text is empty.
    """

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="written_steps")
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="written_steps")
    number = models.PositiveSmallIntegerField(help_text="Position in the answer, from 0.")
    passage = models.ForeignKey(
        Passage, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="Null: of all passages."
    )
    form = models.CharField(max_length=11, choices=SummaryForm)
    text = models.TextField(blank=True)
    chunks = models.JSONField(default=list, blank=True)
    nothing = models.BooleanField(default=False)

    class Meta:
        ordering = ["answer_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "number"], name="one_written_step_per_number"),
            models.UniqueConstraint(
                fields=["answer", "form"], condition=Q(passage=None), name="one_step_of_all_passages_per_form"
            ),
            models.UniqueConstraint(fields=["answer", "passage", "form"], name="one_step_of_a_passage_per_form"),
            models.CheckConstraint(
                condition=Q(nothing=True, text="") | Q(nothing=False) & ~Q(text=""),
                name="a_step_has_a_text_or_nothing_relevant",
            ),
        ]


class WrittenSummaryQuerySet(models.QuerySet["WrittenSummary"]):
    def current(self) -> Self:
        """Exclude texts that were superseded by a correction."""
        return self.filter(unit__superseded_by=None)


class WrittenSummary(models.Model):
    """A summary of one passage or of all passages of a question, written by a person.

    A text never changes: a correction is the next ``version``, and the unit of the old text names its successor. An
    empty text means that nothing was relevant.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="summaries", db_index=False)
    passage = models.ForeignKey(
        Passage,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="summaries",
        help_text="Null: of all passages.",
    )
    form = models.CharField(max_length=11, choices=SummaryForm)
    version = models.PositiveSmallIntegerField(default=1)
    text = models.TextField(blank=True)
    chunks = models.JSONField(
        default=list,
        blank=True,
        help_text="Ranges that an extractive text consists of, in order: id of the `QuestionText`, start and end in "
        "code points. Empty if unknown.",
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    writer = models.CharField(max_length=100, blank=True, help_text="Name of the author in an imported file.")
    answer = models.ForeignKey(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text=CREATED_BY_IMPORT
    )
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="written_summary")

    objects = ArrivedManager.from_queryset(WrittenSummaryQuerySet)()
    with_arriving = models.Manager["WrittenSummary"]()

    class Meta:
        ordering = ["question_id", "passage_id", "form", "id"]
        verbose_name_plural = "written summaries"
        constraints = [
            # One per writer: a person, or a name in an imported file.
            *(
                models.UniqueConstraint(
                    fields=[of, "form", by, "version"],
                    condition=Q(passage__isnull=of == "question", author__isnull=by == "writer"),
                    name=f"one_summary_of_a_{of}_per_{by}",
                )
                for of in ("question", "passage")
                for by in ("writer", "author")
            ),
            models.CheckConstraint(
                condition=Q(answer=None, author=None) | Q(answer__isnull=False, author__isnull=False, writer=""),
                name="a_summary_is_answered_or_imported",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.form} summary of {self.passage or self.question}"


class PublishedFile(models.Model):
    """A file of MEDIQA-AnS as imported, without its texts: the order of its keys, and fields that no row has.

    ``skeleton`` is JSON text, because PostgreSQL would reorder the keys of a JSON column.
    """

    imported = models.OneToOneField(Import, on_delete=models.PROTECT, related_name="published_file")
    file = models.CharField(max_length=60, help_text="One of MEDIQA-AnS's nine files.")
    skeleton = models.TextField()

    class Meta:
        ordering = ["id"]
