"""Objects of the apps above that are kept from a member. Jobs and the log know them by type and id alone, so whoever
shows one of these asks here."""

from collections.abc import Callable

from .models import Job, Member

Rule = Callable[[Member], set[int]]
_rules: dict[str, Rule] = {}


def register(object_type: str, rule: Rule) -> None:
    """``rule`` gives the ids of the objects of a type that are kept from a member."""
    _rules[object_type] = rule


def hidden_from(member: Member) -> dict[str, set[int]]:
    """The ids of what is kept from a member, by type."""
    return {object_type: rule(member) for object_type, rule in _rules.items()}


def is_about_hidden(job: Job, member: Member) -> bool:
    """Whether a job is about something that is kept from the member: it names it by its type in its parameters."""
    return any(job.params.get(object_type) in ids for object_type, ids in hidden_from(member).items() if ids)
