"""Parse and validate one review of MS^2 as published.

Source: DeYoung et al., MS^2 (EMNLP 2021), and its files. A review has a tagged abstract, its sentences with a class and
the probabilities of all classes, studies, other references, and for each pair of an intervention and an outcome the
probabilities of three directions (*significances*). Every study has the same pairs.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from measures.abstracts import CLASSES
from measures.direction import MS2_CLASSES
from measures.pio import Tag, count_spans, tags_before, untag

from ...clusters.strata import DOCUMENT, length_error
from ...imports.format import Notice
from ...imports.json_lines import describe, illegal_character, quoted
from ...models import SENTENCE_CLASSES, Direction
from .items import LONGEST_ID, ROLES, EffectRow, Item, Json, Reference, Sentence, key_of, path_of

REQUIRED = (
    "docid", "title", "abstract", "structured_abstract", "included_studies", "general_references", "pmid",
    "significances",
)  # fmt: skip
EFFECT_KEYS = ("intervention", "outcome", "classification", "evidence_sentence", "evidence_sentence_score")
#: Lists of studies that are kept as published, because the published files have none.
OTHER_LISTS = ("ongoing_studies", "awaiting_studies", "excluded_studies", "unattributed_references")
#: Probabilities may sum to 1 plus or minus this. The sums in the published sample differ from 1 by less than 1e-6.
TOLERANCE = 1e-4
_DECREASED, _NO_DIFFERENCE, _INCREASED = Direction.values
_EFFECT_KEYS, _MS2_CLASSES = list(EFFECT_KEYS), list(MS2_CLASSES)
_ESCAPED = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

Fault = Callable[[str, str], None]


def parse_review(value: Json, line: str, fault: Fault) -> Item | None:
    """Return the review, or None after reporting all of its errors with ``fault(field, message)``."""
    return _Parser(value, line, fault).parse()


class _Parser:
    def __init__(self, value: Json, line: str, fault: Fault) -> None:
        self.value, self.line, self._fault = value, line, fault
        self.faults = 0
        self.key = key_of(value)
        self.notices: list[Notice] = []
        self.pairs: dict[tuple[str, str], int] = {}
        self.is_respelled = False
        self.spans = 0

    def fault(self, field: str, message: str) -> None:
        self.faults += 1
        self._fault(field, message)

    def note(self, kind: str, message: str, place: str = "", field: str = "", text: str = "") -> None:
        self.notices.append(Notice(kind, message, self.key, place, field, text))

    def parse(self) -> Item | None:
        value = self.value
        for key in REQUIRED:
            if key not in value:
                self.fault(key, "this key is missing")
        if _ESCAPED.search(self.line):
            self._refuse_illegal(value, "")
        if not isinstance(value.get("docid"), str) or not self.key:
            self.fault("docid", f"expected a string, found {describe(value.get('docid'))}")
        elif len(self.key) > LONGEST_ID:
            self.fault("pmid", f"{len(self.key)} characters; expected at most {LONGEST_ID}")
        self._text(value, "title", "")
        abstract = self._text(value, "abstract", "")
        if self.faults:
            return None
        text, tags = untag(abstract or "")
        self._count_spans(text, tags, "abstract", "abstract")
        sentences = self._sentences(abstract or "", text, tags)
        effects = self._effects(value.get("significances"), "significances", text, "abstract")
        references, repeated = self._references()
        target = "\n".join(sentence.text for sentence in sentences if sentence.label == "EFFECT")
        if self.faults:
            return None
        if not target:
            self.note("no target", "No sentence has the class EFFECT, so the review has no target.", "abstract")
        for name in OTHER_LISTS:
            if listed := value.get(name):
                self.note("other studies", f"{len(listed)} entries are kept, but not listed as studies.", field=name)
        if self.is_respelled:
            message = "Keys have another order, or numbers no decimal point. A release writes them as MS^2 does."
            self.note("spelled differently", message)
        return Item(
            self.key, value, text, tags, sentences, target, list(self.pairs), effects, references, repeated,
            self.notices, self.spans,
        )  # fmt: skip

    def _refuse_illegal(self, value: Any, path: str) -> None:
        if isinstance(value, str):
            if problem := illegal_character(value):
                self.fault(path or "line", problem)
        elif isinstance(value, dict):
            for key, inner in value.items():
                self._refuse_illegal(key, path)
                self._refuse_illegal(inner, f"{path}.{key}" if path else key)
        elif isinstance(value, list):
            for n, inner in enumerate(value):
                self._refuse_illegal(inner, f"{path}[{n}]")

    def _text(self, value: Json, key: str, path: str) -> str | None:
        """Return a text, or None if it is null or missing, or after reporting an error."""
        text = value.get(key)
        if text is None:
            return None
        if not isinstance(text, str):
            self.fault(_join(path, key), f"expected a string or null, found {describe(text)}")
            return None
        if problem := length_error(text, DOCUMENT):
            self.fault(_join(path, key), problem)
        return text

    def _list(self, value: Json, key: str, path: str) -> Sequence[Any] | None:
        listed = value.get(key)
        if isinstance(listed, list):
            return listed
        self.fault(_join(path, key), f"expected a list, found {describe(listed)}")
        return None

    def _count_spans(self, text: str, tags: Sequence[Tag], place: str, field: str) -> None:
        if not tags:
            return
        spans, strays = count_spans(text, tags)
        self.spans += spans
        if strays:
            tag = "tag has" if strays == 1 else "tags have"
            self.note("unpaired tag", f"{strays} {tag} no partner, and mark nothing.", place, field)

    def _sentences(self, abstract: str, text: str, tags: Sequence[Tag]) -> list[Sentence]:
        rows: list[tuple[str, str, list[float]]] = []
        for n, row in enumerate(self._list(self.value, "structured_abstract", "") or ()):
            path = f"structured_abstract[{n}]"
            if not (isinstance(row, list) and len(row) == 3 and isinstance(row[1], str)):
                self.fault(path, f"expected a class, a sentence and probabilities, found {describe(row)}")
            elif not isinstance(row[0], str) or row[0] not in CLASSES:
                self.fault(f"{path}[0]", f"expected one of {', '.join(CLASSES)}, found {quoted(row[0])}")
            elif (found := self._distribution(row[2], SENTENCE_CLASSES, f"{path}[2]")) is not None:
                rows.append((row[0], row[1], found))
        if " ".join(sentence for _, sentence, _ in rows) != abstract:
            if not self.faults:
                self.note("sentences differ", "The sentences do not join to the abstract.", "abstract")
            places: list[tuple[int, int] | None] = [None] * len(rows)
        else:
            places = list(tags_before(tags, _ends(sentence for _, sentence, _ in rows)))
            if None in places:
                self.note("sentences differ", "A sentence ends inside a tag.", "abstract")
                places = [None] * len(rows)
        sentences, at = [], 0
        for (label, sentence, probabilities), place in zip(rows, places, strict=True):
            if place is None:
                sentences.append(Sentence(label, probabilities, untag(sentence)[0], sentence, None, 0))
            else:
                end, before = place
                sentences.append(Sentence(label, probabilities, text[at:end].strip(), sentence, end, before))
                at = end
        return sentences

    def _distribution(self, value: Any, classes: Sequence[str], path: str) -> list[float] | None:
        """Return probabilities in the order of ``classes``, or None after reporting an error."""
        if not isinstance(value, dict):
            self.fault(path, f"expected an object of probabilities, found {describe(value)}")
            return None
        if tuple(value) != classes:
            if unknown := [key for key in value if key not in classes]:
                self.fault(path, f"unknown class {quoted(unknown[0])}; expected {', '.join(classes)}")
                return None
            if missing := [key for key in classes if key not in value]:
                self.fault(path, f"the class {quoted(missing[0])} is missing")
                return None
            self.is_respelled = True
        probabilities = [value[key] for key in classes]
        for key, probability in zip(classes, probabilities, strict=True):
            if type(probability) is not float and (type(probability) is not int):
                self.fault(f"{path}.{key}", f"expected a number, found {describe(probability)}")
                return None
            if not 0 <= probability <= 1:
                self.fault(f"{path}.{key}", f"expected a number from 0 to 1, found {probability}")
                return None
            self.is_respelled |= type(probability) is int
        if abs(sum(probabilities) - 1) > TOLERANCE:
            total = f"{sum(probabilities):.6g}"
            self.fault(path, f"the probabilities sum to {total}; expected 1, plus or minus {TOLERANCE:g}")
            return None
        return probabilities

    def _references(self) -> tuple[list[Reference], list[tuple[str, int]]]:
        references: dict[str, Reference] = {}
        repeated: list[tuple[str, int]] = []
        number = 0
        for name in ROLES:
            for n, entry in enumerate(self._list(self.value, name, "") or ()):
                number += 1
                reference = self._reference(name, n, entry, f"input {number}")
                if reference is None:
                    continue
                first = references.setdefault(reference.pmid, reference)
                if first is reference:
                    continue
                repeated.append(reference.place)
                if first.text != reference.text and None not in (first.text, reference.text):
                    message = f"the study {reference.pmid} has another abstract in {path_of(first.place)}"
                    self.fault(path_of(reference.place), message)
                message = f"The review lists {reference.pmid} more than once. Only the first one is a study."
                self.note("repeated study", message, f"input {number}", "pmid", reference.pmid)
        return list(references.values()), repeated

    def _reference(self, name: str, n: int, entry: Any, label: str) -> Reference | None:
        path = f"{name}[{n}]"
        if not isinstance(entry, dict):
            self.fault(path, f"expected an object, found {describe(entry)}")
            return None
        if name == "included_studies":
            listed = entry.get("references")
            if not (isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], dict)):
                self.fault(f"{path}.references", f"expected a list of one reference, found {describe(listed)}")
                return None
            entry, path = listed[0], f"{path}.references[0]"
        pmid = _pmid_of(entry)
        if not pmid or len(pmid) > LONGEST_ID:
            self.fault(f"{path}.pmid", f"expected a PMID or an s2id, found {describe(entry.get('pmid'))}")
            return None
        self._text(entry, "title", path)
        types = entry.get("publication_types")
        if types is not None and not (isinstance(types, list) and all(isinstance(each, str) for each in types)):
            self.fault(f"{path}.publication_types", f"expected a list of strings, found {describe(types)}")
        abstract = self._text(entry, "abstract", path)
        text, tags = (None, list[Tag]()) if abstract is None else untag(abstract)
        if text and tags:
            self._count_spans(text, tags, label, f"{path}.abstract")
        effects = self._effects(entry.get("significances"), f"{path}.significances", text or "", label)
        return Reference((name, n), pmid, text, tags, effects)

    def _effects(self, value: Any, path: str, text: str, label: str) -> list[EffectRow] | None:
        if value is None:
            return None
        if not isinstance(value, list):
            self.fault(path, f"expected a list or null, found {describe(value)}")
            return None
        found: dict[str, tuple[int | None, int | None, str]] = {}
        rows: list[EffectRow] = []
        for n, one in enumerate(value):
            # Most of the time of an import is spent here.
            try:
                intervention, outcome, classification, evidence, score = one.values()
                decreased, none, increased = classification.values()
                place, pair = found[evidence], self.pairs[intervention, outcome]
                is_usual = (
                    [*one] == _EFFECT_KEYS
                    and [*classification] == _MS2_CLASSES
                    and decreased.__class__ is none.__class__ is increased.__class__ is score.__class__ is float
                    and min(decreased, none, increased, score) >= 0.0
                    and score <= 1.0
                    and -TOLERANCE <= decreased + none + increased - 1.0 <= TOLERANCE
                )
            except (AttributeError, KeyError, TypeError, ValueError):
                is_usual = False
            if not is_usual:
                checked = self._checked_effect(one, f"{path}[{n}]")
                if checked is None:
                    continue
                (intervention, outcome, evidence, score), (decreased, none, increased) = checked
                pair = self.pairs.setdefault((intervention, outcome), len(self.pairs))
                if evidence not in found:
                    found[evidence] = locate(text, evidence)
                    if found[evidence][0] is None:
                        message = "The evidence sentence does not occur in the abstract."
                        self.note("evidence not found", message, label, f"{path}[{n}].evidence_sentence", evidence)
                place = found[evidence]
            if decreased >= none:
                direction = _DECREASED if decreased >= increased else _INCREASED
            else:
                direction = _NO_DIFFERENCE if none >= increased else _INCREASED
            rows.append((pair, direction, decreased, none, increased, *place, score))
        return rows

    def _checked_effect(self, one: Any, path: str) -> tuple[tuple[str, str, str, float], list[float]] | None:
        """Return the texts and the score of a significance, and its distribution; None after reporting an error."""
        if not isinstance(one, dict) or set(one) != set(EFFECT_KEYS):
            self.fault(path, f"expected an object with {', '.join(EFFECT_KEYS)}, found {describe(one)}")
            return None
        self.is_respelled |= tuple(one) != EFFECT_KEYS
        texts = {key: one[key] for key in ("intervention", "outcome", "evidence_sentence")}
        for key, text in texts.items():
            if not isinstance(text, str):
                self.fault(f"{path}.{key}", f"expected a string, found {describe(text)}")
                return None
        score = one["evidence_sentence_score"]
        if type(score) is not float or not 0 <= score <= 1:
            self.fault(f"{path}.evidence_sentence_score", f"expected a number from 0.0 to 1.0, found {quoted(score)}")
            return None
        distribution = self._distribution(one["classification"], MS2_CLASSES, f"{path}.classification")
        return None if distribution is None else ((*texts.values(), score), distribution)


def locate(text: str, evidence: str) -> tuple[int | None, int | None, str]:
    """Return the range of a sentence in a text, and the sentence itself if it is spaced differently or not found."""
    at = text.find(evidence)
    if at >= 0 and evidence:
        return at, at + len(evidence), ""
    if (words := evidence.split()) and (match := re.search(r"\s+".join(map(re.escape, words)), text)):
        return match.start(), match.end(), evidence
    return None, None, evidence


def _ends(sentences: Iterator[str]) -> Iterator[int]:
    """Yield the end of each sentence in the text that they make when joined by blanks."""
    at = -1
    for sentence in sentences:
        at += 1 + len(sentence)
        yield at


def _pmid_of(value: Json) -> str:
    """Return the PMID of a reference, or else the id of Semantic Scholar with a prefix. Empty if neither is known."""
    for key, prefix in (("pmid", ""), ("s2id", "s2-")):
        given = value.get(key)
        if isinstance(given, int | str) and not isinstance(given, bool) and given:
            return f"{prefix}{given}"
    return ""


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
