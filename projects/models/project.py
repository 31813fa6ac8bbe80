"""Projects, members, invitations, imports and guidelines."""

from typing import TYPE_CHECKING, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import Lower

from audit.models import AppendOnly

if TYPE_CHECKING:
    from accounts.models import User


M = TypeVar("M", bound=models.Model)
#: Longest name of an imported rater.
LONGEST_RATER = 200


class Role(models.TextChoices):
    """Role of a member in a project. `MAY` lists the permissions of each role."""

    LEAD = "lead"
    CURATOR = "curator"
    ANNOTATOR = "annotator"
    EVALUATOR = "evaluator"
    VIEWER = "viewer"
    # A person without an account, who joined by a participant link and sees only one round.
    VOLUNTEER = "volunteer"


class ProjectQuerySet(models.QuerySet["Project"]):
    def of(self, user: object) -> Self:
        """Return the projects in which ``user`` is an active member, in any role."""
        return self.filter(members__user=user, members__left_at__isnull=True)


class Project(models.Model):
    """A data set under construction."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    licence = models.CharField(
        max_length=120, blank=True, help_text="Licence of the released data: an SPDX id or a description."
    )
    citation = models.TextField(blank=True)
    publish_comments = models.BooleanField(
        default=False, help_text="Whether releases include the comments of annotators."
    )
    show_adjudication = models.BooleanField(
        default=True,
        help_text="Whether people see the decisions on their answers, with reasons, after a round is closed.",
    )
    illustrative = models.BooleanField(
        default=False, help_text="Invented data that shows the product; not research data."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class MemberQuerySet(models.QuerySet["Member"]):
    def active(self) -> Self:
        """Return members who can work: they have an account and have not left."""
        return self.with_account().filter(left_at__isnull=True)

    def with_account(self) -> Self:
        return self.filter(user__isnull=False)


class Member(models.Model):
    """A person in a project. Files and other annotators show the pseudonym.

    A rater whose ratings were imported has no account: ``user`` is null, and ``rater`` is the name in the file.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="members")
    # Typed as never null: everybody who acts in a project has an account. Only imported raters have none.
    user: "models.ForeignKey[User | None, User]" = models.ForeignKey(  # type: ignore[misc]
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="memberships"
    )
    rater = models.CharField(
        max_length=LONGEST_RATER, blank=True, default="", help_text="Name of an imported rater, who has no account."
    )
    role = models.CharField(max_length=12, choices=Role)
    pseudonym = models.CharField(max_length=20)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)

    objects = MemberQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_user"),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="one_pseudonym_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_role_is_known"),
            models.UniqueConstraint(
                fields=["project", "rater"], condition=Q(user__isnull=True), name="one_member_per_imported_rater"
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=True, rater__gt="") | Q(user__isnull=False, rater=""),
                name="a_member_has_an_account_or_is_an_imported_rater",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pseudonym} ({self.role})"

    @property
    def name(self) -> str:
        return self.rater or self.user.name

    @property
    def is_volunteer(self) -> bool:
        """Whether the person joined by a participant link, into one round."""
        return self.role == Role.VOLUNTEER


class Invitation(models.Model):
    """A single-use, expiring invitation of one e-mail address to a project.

    The token is looked up by its hash. Its encrypted form lets a lead show the link again while the invitation is open.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=12, choices=Role)
    token_hash = models.CharField(max_length=64, unique=True)
    encrypted_token = models.TextField(blank=True, help_text="Empty once the invitation is accepted or revoked.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(Member, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                "project",
                Lower("email"),
                condition=Q(accepted_at__isnull=True, revoked_at__isnull=True),
                name="one_open_invitation_per_email",
            )
        ]


class ImportState(models.TextChoices):
    """State of an import. The rows of an arriving import are hidden, because they are written in batches."""

    ARRIVING = "arriving"
    ARRIVED = "arrived"


class Import(models.Model):
    """One imported file or set of files: the source of rows without an author."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="imports")
    format = models.CharField(max_length=20)
    level = models.CharField(max_length=60, blank=True)
    file_name = models.CharField(max_length=200, help_text="Name of the file, or the names of a set's files.")
    sha256 = models.CharField(max_length=64, help_text="Of the file, or of the digests of a set's files.")
    size = models.PositiveBigIntegerField()
    state = models.CharField(max_length=8, choices=ImportState, default=ImportState.ARRIVED)
    counts = models.JSONField(default=dict)
    report = models.JSONField(default=dict, help_text="Number of import warnings by kind, and counts of values.")
    progress = models.JSONField(
        default=dict, help_text="While arriving: the position in the files up to which all rows are written."
    )
    job = models.ForeignKey(
        "projects.Job",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Job that writes the rows. Null for a command.",
    )
    licence = models.CharField(
        max_length=120,
        blank=True,
        default="",
        help_text="Licence of the source: an SPDX id, or the name of another licence. Empty: unknown.",
    )
    may_redistribute = models.BooleanField(
        null=True, help_text="Whether the licence allows to redistribute the texts. Null: unknown."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            # The same records can be imported at two levels: as reviews, and as studies of several reviews.
            models.UniqueConstraint(
                fields=["project", "format", "sha256", "level"], name="one_import_per_file_content_and_level"
            ),
            # A second import would compare its texts with rows that may be withdrawn.
            models.UniqueConstraint(
                fields=["project"], condition=Q(state=ImportState.ARRIVING), name="one_arriving_import_per_project"
            ),
        ]


class ImportFile(models.Model):
    """One file of an import, in the order in which the files were read."""

    imported = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="files")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["imported_id", "position"]
        constraints = [models.UniqueConstraint(fields=["imported", "position"], name="one_import_file_per_position")]
        indexes = [models.Index(fields=["sha256"], name="import_file_by_content")]


class ImportedRecord(models.Model):
    """Where an imported record is in its file: the line on which it begins. Older imports have no rows."""

    imported = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="records", db_index=False)
    key = models.TextField(help_text="Key of the record in the file.")
    file = models.PositiveIntegerField(help_text="Position of the file among those of the import.")
    line = models.PositiveIntegerField(help_text="From 1.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["imported", "key"], name="one_imported_record_per_key")]


class ImportWarning(models.Model):
    """An unusual value that was imported unchanged."""

    imported = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="warnings")
    kind = models.CharField(max_length=80)
    message = models.TextField()
    item = models.TextField(blank=True, help_text="Key of the item in the file.")
    place = models.CharField(max_length=60, blank=True, help_text="Text of the item: target, input 3, or a line.")
    field = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["imported", "kind", "id"], name="import_warnings_by_kind")]


#: Ids of the imports that are arriving. As SQL, because a queryset would double the time to build most queries.
ARRIVING = RawSQL(f"SELECT id FROM {Import._meta.db_table} WHERE state = '{ImportState.ARRIVING}'", [])


def has_arrived(path: str = "imported") -> Q:
    """Condition: the row does not belong to an import that is still arriving. ``path`` leads to its import."""
    return ~Q(**{f"{path}__in": ARRIVING})


class ArrivedManager(models.Manager[M]):
    """Manager of rows that may come from an import. It leaves out rows of an import that is still arriving.

    The importer uses the other manager, ``with_arriving``, and so do subqueries of parts of a row that has arrived.
    """

    #: Leads to the import of a row. Not an argument: Django creates related managers without arguments.
    path = "imported"

    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(has_arrived(self.path))


LEAD, CURATOR, VIEWER = Role.LEAD, Role.CURATOR, Role.VIEWER
_LEADS = frozenset({LEAD})
_CURATORS = frozenset({LEAD, CURATOR})
_READERS = frozenset({LEAD, CURATOR, VIEWER})

#: Permissions that not every member has, and the roles that have them. Volunteers have none of them: they only work in
#: the round of their link. docs/lead.md prints this table.
MAY: dict[str, frozenset[Role]] = {
    "read the corpus": _READERS,
    "read rounds": _READERS,
    "read systems and results": _READERS,
    "read releases": _READERS,
    "work in rounds": frozenset({LEAD, CURATOR, Role.ANNOTATOR, Role.EVALUATOR}),
    "see names": _CURATORS,
    "see who answered what": _CURATORS,
    "curate": _CURATORS,
    "read the audit trail": _CURATORS,
    "read reports of jobs": _CURATORS,
    "verify releases by a job": _CURATORS,
    "see e-mail addresses": _LEADS,
    "read texts of other writers": _LEADS,
    "change the project": _LEADS,
    "change members": _LEADS,
    "invite people": _LEADS,
    "manage participant links": _LEADS,
    "write guidelines": _LEADS,
    "write rating protocols": _LEADS,
    "import data": _LEADS,
    "open, change and close rounds": _LEADS,
    "export and import sheets": _LEADS,
    "register and run systems": _LEADS,
    "add endpoints and run judges": _LEADS,
    "freeze releases": _LEADS,
    "control jobs": _LEADS,
}


def verbs_of(role: str) -> list[str]:
    """Return the permissions of a role, in the order of `MAY`."""
    return [verb for verb, roles in MAY.items() if role in roles]


class Guideline(AppendOnly):
    """One version of the guideline of one kind. Never changed: an edit creates the next number.

    ``scope``, ``concerns`` and ``reason`` describe the change from the version before
    (docs/decisions/0038-guideline-changes.md).
    """

    class Scope(models.TextChoices):
        # Versions from before the field existed, first versions, and clients that do not state it.
        NOT_STATED = "", "not stated"
        WORDING = "wording", "wording only, no answer is affected"
        VALUES = "values", "some fields and values"
        ALL = "all", "all answers"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="guidelines")
    kind = models.CharField(max_length=30)
    number = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the text.")
    questions = models.JSONField(
        default=list,
        blank=True,
        help_text="Questions asked before a round: each has options, the index of the correct one, and an explanation.",
    )
    scope = models.CharField(
        max_length=7, choices=Scope, blank=True, default=Scope.NOT_STATED, db_default="", help_text="Affected answers."
    )
    concerns = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        help_text="With the scope *values*: fields and their values. An empty list of values means any value.",
    )
    reason = models.TextField(blank=True, default="", db_default="", help_text="Why the version was written.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["kind", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "number"], name="one_guideline_per_number"),
            models.CheckConstraint(
                condition=Q(number=1) | Q(scope__in=["", "wording"]) | ~Q(reason=""),
                name="a_guideline_change_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} guideline {self.number}"
