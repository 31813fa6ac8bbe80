"""The faults: each a small change of the product that does harm, and that the checks must find.

They were listed before the suite was shortened, and whoever shortens it again plants them again. ``old`` stands exactly
once in its file (a quick test holds that); where the product changes, the fault changes with it, never its matter.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """``new`` in the place of ``old`` in ``file``, and why that matters."""

    name: str
    file: str
    old: str
    new: str
    why: str


FAULTS = (
    Fault(
        "lost-permission", "projects/models/roles.py",
        '"control jobs": _LEADS,', '"control jobs": _READERS,',
        "A viewer may stop the jobs of others.",
    ),
    Fault(
        "who-has-left-still-reads", "projects/permissions.py",
        'Member.objects.active().select_related("project", "user").filter(project=project_id, user=user)',
        'Member.objects.select_related("project", "user").filter(project=project_id, user=user)',
        "Whoever was taken out of a project still reads its rounds, units and answers.",
    ),
    Fault(
        "weight-of-kappa", "measures/agreement/weights.py",
        "return 1 - (gap / spread) ** 2", "return 1 - (gap / (spread + 1)) ** 2",
        "Quadratic kappa and AC2 are too high, and plausibly so.",
    ),
    Fault(
        "variance-of-ac1", "measures/agreement/coefficients.py",
        "excess = 2 * (factor * (basis.share @ (1 - basis.pi)) - pe)",
        "excess = factor * (basis.share @ (1 - basis.pi)) - pe",
        "AC1 is right, and its interval is too narrow.",
    ),
    Fault(
        "span-off-by-one", "measures/spans.py",
        "if joined and start <= joined[-1][1]:", "if joined and start < joined[-1][1]:",
        "Pieces of a cue that touch are two where they are one.",
    ),
    Fault(
        "summaries-without-triggers", "generation/migrations/0002_append_only.py",
        'Guard("generation_version", "generation_summary")', 'Guard("generation_version")',
        "What a system wrote can be changed afterwards.",
    ),
    Fault(
        "migration-forgets-triggers", "projects/migrations/0013_indexes_that_fit.py",
        '        Guard("projects_answer", sealed=True),\n', "",
        "SQLite rebuilt the table of answers in this migration: they can be changed and deleted, on SQLite alone.",
    ),
    Fault(
        "rows-change-on-postgresql", "audit/triggers.py",
        "BEFORE UPDATE OR DELETE ON", "BEFORE DELETE ON",
        "Answers, decisions and the log can be changed, on PostgreSQL alone.",
    ),
    Fault(
        "no-lock-on-postgresql", "sql/held.py",
        'template=f"EXISTS(%(subquery)s FOR {lock})"', 'template="EXISTS(%(subquery)s)"',
        "On PostgreSQL an answer is stored in a round that is being closed, and counts nowhere.",
    ),
    Fault(
        "surplus-counted-twice", "projects/rounds/counted.py",
        ' f"{slot}number__gte": 1,', "",
        "An answer that came after its slot had gone to another person counts in gold and agreement beside that one.",
    ),
    Fault(
        "replay-refused", "projects/actions/answers.py",
        'if slot is None or vars(slot)["is_replay"]:', "if slot is None:",
        "An answer that is sent again because its reply was lost is told that it is out of date.",
    ),
    Fault(
        "other-bytes-taken-for-stored", "projects/actions/answers.py",
        "if not is_theirs or stored.body_digest != submission.digest:", "if not is_theirs:",
        "Another answer under a used identifier is acknowledged as stored, and is lost.",
    ),
    Fault(
        "names-leak", "projects/permissions.py",
        'return self._pseudonyms.get(user.pk, "")', "return user.name",
        "Viewers read by name who did what, where a pseudonym was promised.",
    ),
    Fault(
        "condition-leaks-into-the-card", "annotation/kinds/label/kind.py",
        'if not round.options.get("suggestions") or', "if not round.options or",
        "Candidates of a machine are sent to those who were to label without them.",
    ),
    Fault(
        "inline-scripts", "config/settings.py",
        '"script-src": [SELF],', '"script-src": [SELF, "\'unsafe-inline\'"],',
        "What somebody pastes in may run as a script.",
    ),
    Fault(
        "no-csrf-token-wanted", "accounts/authentication.py",
        "super().enforce_csrf(without_body)  # type: ignore[arg-type]  # reads of it what both kinds of request have",
        "del without_body",
        "A foreign page can act as whoever is signed in.",
    ),
    Fault(
        "origin-of-gold", "projects/kinds/majority.py",
        "return Origin.UNANIMOUS if agreeing == of else Origin.MAJORITY",
        "return Origin.UNANIMOUS if agreeing >= of - 1 else Origin.MAJORITY",
        "A release says that all agreed where one did not.",
    ),
    Fault(
        "stale-flag-not-set", "projects/actions/staleness.py",
        "decisions_up_to=newest, changed_by=by.user", "decisions_up_to=0, changed_by=by.user",
        "What was said of a text before it was corrected passes for said of the corrected one.",
    ),
    Fault(
        "checksum-forgotten", "releases/folders/manifest.py",
        "for e in entries if e.path not in (NAME, SUMS))", 'for e in entries if e.path not in (NAME, SUMS, "LICENSE"))',
        "A file of a release can be changed without anybody noticing.",
    ),
    Fault(
        "query-for-each-person", "projects/pages/progress.py",
        'in round.participants.select_related("member__user").order_by("pk")', 'in round.participants.order_by("pk")',
        "The page of a round of a crowd asks the data base twice for each of them.",
    ),
    Fault(
        "lease-never-lapses", "projects/models/round.py",
        "return self.counted().unanswered().filter(leased_until__lte=now)",
        "return self.counted().unanswered().filter(leased_until__lte=now, person=None)",
        "Units of whoever went home stay theirs, and the round never ends.",
    ),
    Fault(
        "lease-of-a-job-not-renewed", "projects/background/jobs.py",
        "time.monotonic() - renewed < HEARTBEAT_SECONDS:", "time.monotonic() - renewed < 100 * HEARTBEAT_SECONDS:",
        "A job that says nothing for a minute is begun again by another worker.",
    ),
    Fault(
        "hold-not-proved", "projects/background/batches.py",
        "            holder.hold(far.done, far.total)\n", "            holder.check()\n",
        "A worker that was suspended writes its work beside that of the worker that took it over.",
    ),
    Fault(
        "import-half-stored", "annotation/actions/imports.py",
        "                transaction.enter_context(batches.batch())\n", "",
        "A fault in the second file leaves the first one stored.",
    ),
    Fault(
        "seed-forgotten", "measures/agreement/rounds.py",
        "bootstrap=bootstrap, seed=seed % 2**32,", "bootstrap=bootstrap, seed=0,",
        "The intervals are not those of the seed that the report names.",
    ),
    Fault(
        "tries-not-counted", "accounts/throttling.py",
        "    check(Failure.What.TOKEN, who)\n    count(Failure.What.TOKEN, who)\n",
        "    check(Failure.What.TOKEN, who)\n",
        "Tokens can be tried without end, and nobody sees it.",
    ),
    Fault(
        "migration-verifies-everybody", "accounts/migrations/0005_verified_addresses.py",
        "if since and key not in invited:", "if since:",
        "An upgrade takes addresses for verified that nobody has shown to be theirs.",
    ),
    Fault(
        "offsets-in-utf-16", "frontend/src/text/offsets.ts",
        "for (let n = 0; n < points && i < text.length; n++) i += text.codePointAt(i)! > 0xffff ? 2 : 1",
        "for (let n = 0; n < points && i < text.length; n++) i += 1",
        "Behind an emoji every mark of a stored answer is shown one place too early.",
    ),
    Fault(
        "held-key-settles", "frontend/src/work/keymap.ts",
        " || (press.repeat && !found.repeats)) return null", ") return null",
        "A key that is held too long answers the next unit, too.",
    ),
    Fault(
        "key-does-nothing", "frontend/src/kinds/selecting.ts",
        "{ keys: [' '], command: 'keep'", "{ keys: ['v'], command: 'keep'",
        "Space, which the page names, keeps no piece of a cue.",
    ),
    Fault(
        "outbox-drops-what-was-refused", "frontend/src/work/outbox.ts",
        "await write(['outbox'], (tx) => void tx.objectStore('outbox').put(marked) as undefined)",
        "await write(['outbox'], (tx) => void tx.objectStore('outbox').delete(entry.seq!) as undefined)",
        "An answer that the server refuses is gone after a reload, without a word.",
    ),
)  # fmt: skip
