"""What every study has, whatever it annotates: people, guidelines, units, rounds, answers, decisions, jobs."""

from ..purposes import Purpose
from .act import Act
from .agreement import KeptAgreement
from .answer import Answer, CameBy, Outcome
from .change import Change
from .decision import WAITING, Decision, Origin
from .guideline import Guideline
from .job import Job, JobProblem, JobStatus
from .notification import Digest, Notification
from .participation import Consent, ParticipantLink
from .project import Import, Invitation, Member, Project, Role
from .readiness import Admission, QuestionTry
from .reference import Reference
from .remark import Remark
from .round import Assignment, Participant, Round, Unit

__all__ = [
    "WAITING",
    "Act",
    "Admission",
    "Answer",
    "Assignment",
    "CameBy",
    "Change",
    "Consent",
    "Decision",
    "Digest",
    "Guideline",
    "Import",
    "Invitation",
    "Job",
    "JobProblem",
    "JobStatus",
    "KeptAgreement",
    "Member",
    "Notification",
    "Origin",
    "Outcome",
    "Participant",
    "ParticipantLink",
    "Project",
    "Purpose",
    "QuestionTry",
    "Reference",
    "Remark",
    "Role",
    "Round",
    "Unit",
]
