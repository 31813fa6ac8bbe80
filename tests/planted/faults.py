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
        "lost-permission",
        "projects/models/project.py",
        '"control jobs": _LEADS,',
        '"control jobs": _READERS,',
        "A viewer may stop the jobs of others.",
    ),
    Fault(
        "who-has-left-still-reads",
        "projects/permissions.py",
        'Member.objects.active().select_related("project", "user").filter(project=project_id, user=user)',
        'Member.objects.select_related("project", "user").filter(project=project_id, user=user)',
        "Whoever was taken out of a project still reads its rounds, units and answers.",
    ),
    Fault(
        "weight-of-kappa",
        "measures/agreement/weights.py",
        "return 1 - (gap / spread) ** 2",
        "return 1 - (gap / (spread + 1)) ** 2",
        "Quadratic kappa and AC2 are too high, and plausibly so.",
    ),
    Fault(
        "variance-of-ac1",
        "measures/agreement/coefficients.py",
        "excess = 2 * (factor * (basis.share @ (1 - basis.pi)) - pe)",
        "excess = factor * (basis.share @ (1 - basis.pi)) - pe",
        "AC1 is right, and its interval is too narrow.",
    ),
    Fault(
        "span-off-by-one",
        "measures/spans.py",
        "if joined and start <= joined[-1][1]:",
        "if joined and start < joined[-1][1]:",
        "Pieces of a cue that touch are two where they are one.",
    ),
    Fault(
        "summaries-without-triggers",
        "generation/models/runs.py",
        "class Summary(AppendOnly):",
        "class Summary(models.Model):",
        "What a system wrote can be changed afterwards.",
    ),
    Fault(
        "migration-forgets-triggers",
        "audit/triggers.py",
        "if fault in (MISSING, CHANGED)}",
        "if fault == CHANGED}",
        "After a migration on SQLite that rebuilds a table, rows of that table can be changed and deleted.",
    ),
    Fault(
        "rows-change-on-postgresql",
        "audit/triggers.py",
        "BEFORE UPDATE OR DELETE ON",
        "BEFORE DELETE ON",
        "Answers, decisions and the log can be changed, on PostgreSQL alone.",
    ),
    Fault(
        "no-lock-on-postgresql",
        "sql/expressions.py",
        'template=f"EXISTS(%(subquery)s FOR {lock})"',
        'template="EXISTS(%(subquery)s)"',
        "On PostgreSQL an answer is stored in a round that is being closed, and counts nowhere.",
    ),
    Fault(
        "surplus-counted-twice",
        "projects/answers/queries.py",
        ' f"{prefix}number__gte": 1,',
        "",
        "An answer that came after its assignment had passed to another person counts in gold and agreement.",
    ),
    Fault(
        "replay-refused",
        "projects/queue/actions.py",
        'if assignment is None or vars(assignment)["is_replay"]:',
        "if assignment is None:",
        "An answer that is sent again because its reply was lost is told that it is out of date.",
    ),
    Fault(
        "other-bytes-taken-for-stored",
        "projects/queue/actions.py",
        "if not is_theirs or stored.body_digest != submission.digest:",
        "if not is_theirs:",
        "Another answer under a used identifier is acknowledged as stored, and is lost.",
    ),
    Fault(
        "names-leak",
        "projects/permissions.py",
        'return self._pseudonyms.get(user.pk, "")',
        "return user.name",
        "Viewers read by name who did what, where a pseudonym was promised.",
    ),
    Fault(
        "condition-leaks-into-the-card",
        "annotation/kinds/label/kind.py",
        'if not round.options.get("suggestions") or',
        "if not round.options or",
        "Candidates of a machine are sent to those who were to label without them.",
    ),
    Fault(
        "inline-scripts",
        "config/settings.py",
        '"script-src": [SELF],',
        '"script-src": [SELF, "\'unsafe-inline\'"],',
        "What somebody pastes in may run as a script.",
    ),
    Fault(
        "no-csrf-token-wanted",
        "accounts/authentication.py",
        "super().enforce_csrf(without_body)",
        "del without_body",
        "A foreign page can act as whoever is signed in.",
    ),
    Fault(
        "origin-of-gold",
        "projects/kinds/majority.py",
        "return Origin.UNANIMOUS if agreeing == of else Origin.MAJORITY",
        "return Origin.UNANIMOUS if agreeing >= of - 1 else Origin.MAJORITY",
        "A release says that all agreed where one did not.",
    ),
    Fault(
        "stale-flag-not-set",
        "projects/staleness/actions.py",
        "decisions_up_to=newest,",
        "decisions_up_to=0,",
        "What was said of a text before it was corrected passes for said of the corrected one.",
    ),
    Fault(
        "checksum-forgotten",
        "releases/folders/manifest.py",
        "for e in entries if e.path not in (NAME, SUMS))",
        'for e in entries if e.path not in (NAME, SUMS, "LICENSE"))',
        "A file of a release can be changed without anybody noticing.",
    ),
    Fault(
        "query-for-each-person",
        "projects/rounds/queries.py",
        'in round.participants.select_related("member__user").order_by("pk")',
        'in round.participants.order_by("pk")',
        "The page of a round of a crowd asks the data base twice for each of them.",
    ),
    Fault(
        "lease-never-lapses",
        "projects/models/round.py",
        "return self.counted().unanswered().filter(leased_until__lte=now)",
        "return self.counted().unanswered().filter(leased_until__lte=now, person=None)",
        "Units of whoever went home stay theirs, and the round never ends.",
    ),
    Fault(
        "lease-of-a-job-not-renewed",
        "projects/jobs/running.py",
        "time.monotonic() - renewed < HEARTBEAT_SECONDS:",
        "time.monotonic() - renewed < 100 * HEARTBEAT_SECONDS:",
        "A job that says nothing for a minute is begun again by another worker.",
    ),
    Fault(
        "hold-not-proved",
        "projects/jobs/batches.py",
        "            holder.hold(far.done, far.total)\n",
        "            holder.check()\n",
        "A worker that was suspended writes its work beside that of the worker that took it over.",
    ),
    Fault(
        "import-half-stored",
        "annotation/imports/actions.py",
        "                transaction.enter_context(batches.batch())\n",
        "",
        "A fault in the second file leaves the first one stored.",
    ),
    Fault(
        "seed-forgotten",
        "measures/agreement/rounds.py",
        '"seed": seed % 2**32,',
        '"seed": 0,',
        "The intervals are not those of the seed that the report names.",
    ),
    Fault(
        "tries-not-counted",
        "accounts/throttling.py",
        "    check(Failure.What.TOKEN, who)\n    count(Failure.What.TOKEN, who)\n",
        "    check(Failure.What.TOKEN, who)\n",
        "Tokens can be tried without end, and nobody sees it.",
    ),
    Fault(
        "password-outlives-verification",
        "accounts/verification.py",
        '"password": make_password(None), ',
        "",
        "Who made an account for the address of another person still gets in after its owner has verified it.",
    ),
    Fault(
        "offsets-in-utf-16",
        "frontend/src/text/offsets.ts",
        "for (let n = 0; n < points && i < text.length; n++) i += text.codePointAt(i)! > 0xffff ? 2 : 1",
        "for (let n = 0; n < points && i < text.length; n++) i += 1",
        "Behind an emoji every mark of a stored answer is shown one place too early.",
    ),
    Fault(
        "held-key-settles",
        "frontend/src/work/keymap.ts",
        " || (press.repeat && !binding.repeats)) return null",
        ") return null",
        "A key that is held too long answers the next unit, too.",
    ),
    Fault(
        "key-does-nothing",
        "frontend/src/kinds/selecting.ts",
        "{ keys: [' '], command: 'keep'",
        "{ keys: ['v'], command: 'keep'",
        "Space, which the page names, keeps no piece of a cue.",
    ),
    Fault(
        "outbox-drops-what-was-refused",
        "frontend/src/work/outbox.ts",
        "await write(['outbox'], (tx) => void tx.objectStore('outbox').put(refusedEntry) as undefined)",
        "await write(['outbox'], (tx) => void tx.objectStore('outbox').delete(entry.seq!) as undefined)",
        "An answer that the server refuses is gone after a reload, without a word.",
    ),
    Fault(
        "outbox-not-flushed",
        "frontend/src/work/outbox.ts",
        "concat({ ...stored, seq: Number(seq) })\n    this.tell()\n    void this.flush()\n",
        "concat({ ...stored, seq: Number(seq) })\n    this.tell()\n",
        "An answer stays in the browser until the page is loaded again.",
    ),
    Fault(
        "refusal-without-its-reason",
        "frontend/src/work/outbox.ts",
        "errors: problem.errors,",
        "errors: [],",
        "The page does not show which field of a refused answer is wrong.",
    ),
    Fault(
        "draft-not-kept",
        "frontend/src/work/drafts.ts",
        "void tx.objectStore('drafts').put(draft) as undefined",
        "void [tx, draft] as undefined",
        "A reload in the middle of an answer loses it.",
    ),
    Fault(
        "wrong-plural",
        "frontend/src/pages/NewRound/plan.ts",
        "${counted(overlap, 'person', 'people')}${more}",
        "${count(overlap)} people${more}",
        "A new round is planned with *1 people*.",
    ),
    Fault(
        "figure-without-n",
        "frontend/src/plots/report.ts",
        " + `, n = ${count(row.n)}`",
        "",
        "A coefficient is shown without the number of units that it rests on.",
    ),
    Fault(
        "error-not-shown",
        "frontend/src/components/LoadFailure.svelte",
        "reason={isRefused ? refusal.slice(1).join(' ') : from.error}>",
        'reason="">',
        "A page that cannot be loaded does not say why.",
    ),
    Fault(
        "bar-without-a-name",
        "frontend/src/components/Bar.svelte",
        " aria-label={label}",
        "",
        "A screen reader does not say what a progress bar counts.",
    ),
    Fault(
        "buttons-of-another-project",
        "frontend/src/session.svelte.ts",
        "projects.find((p) => p.slug === slug)?.may?.includes(verb)",
        "projects.some((p) => slug && p.may?.includes(verb))",
        "The lead of one project sees the buttons of a lead in all others.",
    ),
    Fault(
        "pages-of-another-role",
        "frontend/src/shell/navigation.ts",
        "project.may?.includes(r.may)",
        "project.may?.length",
        "The navigation of an annotator lists pages that are refused.",
    ),
    Fault(
        "options-in-another-order",
        "frontend/src/kinds/label/values.ts",
        "{ value: 'strong', key: '1' },\n  { value: 'moderate', key: '2' },",
        "{ value: 'moderate', key: '1' },\n  { value: 'strong', key: '2' },",
        "The keys that the guideline names give another modality.",
    ),
    Fault(
        "focus-stays-behind",
        "frontend/src/kinds/rate/navigation.ts",
        "const calm: State = { ...s, at, item: 0, row: 0, place: 'criteria',",
        "const calm: State = { ...s, at, item: 0, row: 0,",
        "After the last mark in a summary, keys at the next summary move in its text, and answer nothing.",
    ),
)
