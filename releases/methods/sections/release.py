"""Section on the release: version, checks and audit trail."""

from collections.abc import Iterator
from datetime import date

from ..facts.study import StudyFacts
from ..text import Section, count, day, one_line, quoted


def sections(facts: StudyFacts) -> Iterator[Section]:
    section, release = Section("Release and checks"), facts.release
    newest = day(date.fromisoformat(release.newest))
    if release.version:
        doi = f" (DOI {release.doi})" if release.doi else ""
        section.say(
            f"This text belongs to release {release.version}{doi}. The newest change to its data is of {newest}."
        )
    else:
        section.say(f"This text belongs to no release. The newest change to the data is of {newest}.")
    passed = release.checks - len(release.failed)
    failed = [f"{check.title} ({one_line(check.detail).rstrip('.')})" for check in release.failed]
    section.say(
        f"{passed:,} of {count(release.checks, 'check')} of the data passed.",
        f"{'The check that failed' if len(failed) == 1 else 'Checks that failed'}: {'; '.join(failed)}."
        if failed
        else "",
        f"Reason for the release despite failed checks: {quoted(release.reason).rstrip('.')}."
        if release.reason
        else "",
    )
    if release.checkpoint:
        number, digest = release.checkpoint
        section.say(
            "Answers and decisions are never changed or deleted; a log chains them by digests. Its newest checkpoint "
            f"is number {number} (SHA-256 {digest[:12]})."
        )
    if not release.has_texts:
        section.say("The release contains no texts of its sources; each is replaced by its SHA-256.")
    yield section
