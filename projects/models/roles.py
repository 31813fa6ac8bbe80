"""What each role of a project may: one table, for every app. Who is refused is told in these words."""

from .project import Role

LEAD, CURATOR, VIEWER = Role.LEAD, Role.CURATOR, Role.VIEWER
_LEADS = frozenset({LEAD})
_CURATORS = frozenset({LEAD, CURATOR})
_READERS = frozenset({LEAD, CURATOR, VIEWER})

#: What is not open to every member of a project, in words, and the roles it is open to. A volunteer may nothing of it,
#: and works in the one round of the link. docs/lead.md prints it.
MAY: dict[str, frozenset[Role]] = {
    "read the corpus": _READERS,
    "read rounds": _READERS,
    "read systems and results": _READERS,
    "read releases": _READERS,
    "be put into rounds": frozenset({LEAD, CURATOR, Role.ANNOTATOR, Role.EVALUATOR}),
    "see names": _CURATORS,
    "see who answered what": _CURATORS,
    "curate": _CURATORS,
    "read the audit trail": _CURATORS,
    "read reports of jobs": _CURATORS,
    "have a release verified by a job": _CURATORS,
    "see e-mail addresses": _LEADS,
    "change the project": _LEADS,
    "change members": _LEADS,
    "invite people": _LEADS,
    "let volunteers in": _LEADS,
    "write guidelines": _LEADS,
    "write rating protocols": _LEADS,
    "bring data in": _LEADS,
    "open, change and close rounds": _LEADS,
    "send rounds out as sheets and bring them back": _LEADS,
    "register and run systems": _LEADS,
    "freeze releases": _LEADS,
    "control jobs": _LEADS,
}


def verbs_of(role: str) -> list[str]:
    """What a role may, in the order of the table."""
    return [verb for verb, roles in MAY.items() if role in roles]
