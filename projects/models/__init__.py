"""Models common to all studies: people, guidelines, units, rounds, answers, decisions and jobs."""

from ..purposes import Purpose
from .accuracy import AccuracyEvent
from .answer import Act, Answer, CameBy, Outcome, Remark
from .decision import WAITING, Change, Decision, Origin, Reference, StoredAgreement
from .figures import StoredFigures
from .gate import GateReading, PilotGate
from .job import Digest, Job, JobProblem, JobStatus, Notification
from .participation import Admission, Consent, ParticipantLink, QuestionTry
from .project import (
    ArrivedManager,
    Guideline,
    Import,
    ImportedRecord,
    ImportFile,
    ImportState,
    ImportWarning,
    Invitation,
    Member,
    Project,
    Role,
    has_arrived,
)
from .recruitment import ExternalId, Recruit, Recruitment
from .round import Assignment, Participant, Round, Unit
from .suggestion import Suggestion, SuggestionFate, SuggestionOutcome, SuggestionSet, SuggestionSource

__all__ = [
    "WAITING",
    "AccuracyEvent",
    "Act",
    "Admission",
    "Answer",
    "ArrivedManager",
    "Assignment",
    "CameBy",
    "Change",
    "Consent",
    "Decision",
    "Digest",
    "ExternalId",
    "GateReading",
    "Guideline",
    "Import",
    "ImportFile",
    "ImportState",
    "ImportWarning",
    "ImportedRecord",
    "Invitation",
    "Job",
    "JobProblem",
    "JobStatus",
    "Member",
    "Notification",
    "Origin",
    "Outcome",
    "Participant",
    "ParticipantLink",
    "PilotGate",
    "Project",
    "Purpose",
    "QuestionTry",
    "Recruit",
    "Recruitment",
    "Reference",
    "Remark",
    "Role",
    "Round",
    "StoredAgreement",
    "StoredFigures",
    "Suggestion",
    "SuggestionFate",
    "SuggestionOutcome",
    "SuggestionSet",
    "SuggestionSource",
    "Unit",
    "has_arrived",
]
