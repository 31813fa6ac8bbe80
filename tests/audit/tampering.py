"""Changes of rows past the application, as somebody with the database password could make; each must be detected.

``tamper()`` makes all changes that the rows allow, on any database whose rows are in checkpoints, and returns what
the findings must name. Used by tests, and by `make soak` after its drill.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from audit import triggers

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Tampering:
    """One change: ``choose`` selects rows (SQL), ``change`` changes them (SQL with the selected values), ``names``
    is what a finding must name."""

    name: str
    choose: str
    change: str
    names: str

    def plant(self) -> str | None:
        """Make the change; return what a finding must name, or None if there is no such row."""
        with connection.cursor() as cursor:
            cursor.execute(self.choose)
            chosen: Row | None = cursor.fetchone()
            if chosen is None:
                return None
            for statement in self.change.split(";"):
                cursor.execute(statement.format(*(_literal(value) for value in chosen)))
        return self.names.format(*(_uuid(value) for value in chosen))


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, int) else f"'{value}'"


def _uuid(value: Any) -> str:
    """Return a UUID with hyphens, which SQLite omits."""
    text = str(value)
    if len(text) == 32 and not text.isdigit():
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
    return text


def _text(table: str, column: str, label: str, where: str = "1 = 1") -> Tampering:
    """Change the text in one column of the last row."""
    return Tampering(
        f"{label}.{column} rewritten",
        f"SELECT id FROM {table} WHERE {where} ORDER BY id DESC LIMIT 1",
        f"UPDATE {table} SET {column} = 'forged' WHERE id = {{0}}",
        f"{label} {{0}}",
    )


ANSWERED = "projects_assignment WHERE current_answer_id IS NOT NULL AND number > 0"

TAMPERINGS: tuple[Tampering, ...] = (
    _text("annotation_proposition", "text", "annotation.proposition"),
    _text("annotation_label", "polarity", "annotation.label", "imported_id IS NOT NULL AND polarity <> 'n/a'"),
    _text("annotation_input", "text", "annotation.input"),
    _text("annotation_target", "text", "annotation.target"),
    _text("annotation_counterfactual", "text", "annotation.counterfactual"),
    _text("projects_guideline", "text", "projects.guideline"),
    _text("projects_import", "sha256", "projects.import"),
    _text("projects_change", "reason", "projects.change"),
    _text("projects_consent", "text", "projects.consent"),
    _text("projects_round", "name", "projects.round"),
    _text("generation_summary", "text", "generation.summary"),
    _text("releases_release", "snapshot_hash", "releases.release"),
    _text("audit_entry", "reason", "audit.entry"),
    _text("projects_decision", "reason", "projects.decision"),
    _text("projects_participantlink", "consent_text", "projects.participantlink"),
    _text("projects_participantlink", "agreed", "projects.participantlink"),
    _text("projects_storedagreement", "report", "projects.storedagreement"),
    Tampering(
        "stored agreement deleted",
        "SELECT id FROM projects_storedagreement LIMIT 1",
        "DELETE FROM projects_storedagreement WHERE id = {0}",
        "projects.storedagreement {0}",
    ),
    Tampering(
        "a run's counter changed",
        "SELECT id FROM generation_run WHERE purpose = 'summaries' LIMIT 1",
        "UPDATE generation_run SET items_cut = items_cut + 1 WHERE id = {0}",
        "generation.run {0}",
    ),
    Tampering(
        "an embargo lifted",
        "SELECT id FROM generation_embargo WHERE lifted_at IS NULL LIMIT 1",
        "UPDATE generation_embargo SET lifted_at = created_at WHERE id = {0}",
        "generation.embargo {0}",
    ),
    Tampering(
        "an embargo deleted",
        "SELECT id FROM generation_embargo LIMIT 1",
        "DELETE FROM generation_embargo WHERE id = {0}",
        "generation.embargo {0}",
    ),
    Tampering(
        "a cue moved",
        "SELECT f.id, c.label_id FROM annotation_cuefragment f JOIN annotation_cue c ON c.id = f.cue_id "
        "JOIN annotation_label l ON l.id = c.label_id WHERE l.imported_id IS NOT NULL ORDER BY f.id LIMIT 1",
        'UPDATE annotation_cuefragment SET "end" = "end" + 1 WHERE id = {0}',
        "annotation.label {1}",
    ),
    Tampering(
        "an imported tuple rewritten",
        "SELECT s.id, s.cluster_id FROM annotation_picoelement s JOIN annotation_cluster c ON c.id = s.cluster_id "
        "WHERE c.imported_id IS NOT NULL AND s.text <> '' AND NOT EXISTS (SELECT 1 FROM annotation_picotuple t "
        "WHERE t.unit_id = c.unit_id) ORDER BY s.id LIMIT 1",
        "UPDATE annotation_picoelement SET text = 'forged' WHERE id = {0}",
        "annotation.cluster {1}",
    ),
    Tampering(
        "an answer's comment rewritten",
        "SELECT uuid FROM projects_answer ORDER BY received_at LIMIT 1",
        "UPDATE projects_answer SET comment = 'forged' WHERE uuid = {0}",
        "projects.answer {0}",
    ),
    Tampering(
        "the units of two answers exchanged",
        "SELECT a.id, b.id, a.unit_id, b.unit_id FROM projects_assignment a JOIN projects_assignment b "
        "ON a.round_id = b.round_id AND a.number = b.number AND a.unit_id < b.unit_id WHERE a.number > 0 "
        "AND a.current_answer_id IS NOT NULL AND b.current_answer_id IS NOT NULL "
        # Neither person has an assignment of the other's unit, which a constraint forbids to have twice.
        "AND NOT EXISTS (SELECT 1 FROM projects_assignment c WHERE c.round_id = a.round_id "
        "AND c.id NOT IN (a.id, b.id) AND (c.unit_id = a.unit_id AND c.person_id = b.person_id "
        "OR c.unit_id = b.unit_id AND c.person_id = a.person_id)) ORDER BY a.id LIMIT 1",
        "UPDATE projects_assignment SET repeat = 99 WHERE id = {0};"
        "UPDATE projects_assignment SET unit_id = {2} WHERE id = {1};"
        "UPDATE projects_assignment SET unit_id = {3}, repeat = 0 WHERE id = {0}",
        "projects.assignment {0}",
    ),
    Tampering(
        "an answer taken out of force by its number",
        f"SELECT id FROM {ANSWERED} ORDER BY id DESC LIMIT 1",
        "UPDATE projects_assignment SET number = -id WHERE id = {0}",
        "projects.assignment {0}",
    ),
    Tampering(
        "an answer taken out of force by its pointer",
        f"SELECT id FROM {ANSWERED} ORDER BY id LIMIT 1",
        "UPDATE projects_assignment SET current_answer_id = NULL, revision = 0 WHERE id = {0}",
        "projects.assignment {0}",
    ),
    Tampering(
        "pseudonyms exchanged",
        "SELECT a.id, b.id, a.pseudonym, b.pseudonym FROM projects_member a JOIN projects_member b "
        "ON a.project_id = b.project_id AND a.id < b.id ORDER BY a.id LIMIT 1",
        "UPDATE projects_member SET pseudonym = 'aside' WHERE id = {0};"
        "UPDATE projects_member SET pseudonym = {2} WHERE id = {1};"
        "UPDATE projects_member SET pseudonym = {3} WHERE id = {0}",
        "projects.member {1}",
    ),
    Tampering(
        "a remark deleted",
        "SELECT id FROM projects_remark ORDER BY id LIMIT 1",
        "DELETE FROM projects_remark WHERE id = {0}",
        "projects.remark {0}",
    ),
    Tampering(
        "a unit taken out of the corpus",
        "SELECT a.id, b.id FROM projects_unit a JOIN projects_unit b ON a.project_id = b.project_id "
        "AND a.type = b.type AND a.id < b.id WHERE a.superseded_by_id IS NULL AND a.type = 'cluster' "
        "ORDER BY a.id LIMIT 1",
        "UPDATE projects_unit SET superseded_by_id = {1} WHERE id = {0}",
        "projects.unit {0}",
    ),
    Tampering(
        "a closed round opened again",
        "SELECT id FROM projects_round WHERE status = 'closed' ORDER BY id LIMIT 1",
        "UPDATE projects_round SET status = 'open' WHERE id = {0}",
        "projects.round {0}",
    ),
    Tampering(
        "a checkpoint dated back",
        "SELECT number FROM audit_checkpoint ORDER BY number LIMIT 1",
        "UPDATE audit_checkpoint SET created_at = '2020-01-01 00:00:00+00:00' WHERE number = {0}",
        "checkpoint {0}",
    ),
)


def tamper(*some: Tampering) -> dict[str, str]:
    """Make all changes, or some, with triggers suspended: name of each -> what a finding must name. Changes without
    rows are left out."""
    found: dict[str, str] = {}
    with triggers.suspend_triggers(connection):
        for tampering in some or TAMPERINGS:
            if named := tampering.plant():
                found[tampering.name] = named
    return found
