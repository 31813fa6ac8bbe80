"""E-utilities, asked until they answer or it is plain that they will not: at the common pace, never redirected."""

import random
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode, urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.conf import settings
from django.utils import timezone

from api.outgoing.addresses import NotAllowed, Unresolved, places
from api.outgoing.connection import Away, Connection, Limits, Reply, TooLarge, Trouble, Untrusted, exchange
from api.problems import Problem

from . import pace
from .access import Access

TOOL = "concord"
#: How often a request is sent before it is given up; seconds before the second try, which double, and the longest.
TRIES = 5
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 120.0
#: An answer with 200 records of long abstracts and reference lists has some 10 MiB.
LIMITS = Limits(connect=10.0, total=120.0, size=64 * 2**20)
#: PubMed hands out the first 9,999 of what a query finds, and no more.
MOST_FOUND = 9_999
#: Ids that are asked for in one answer.
PAGE = 2_000
_AGAIN = (408, 429, 500, 502, 503, 504)
Wait = Callable[[float], None]


class PubMedAway(Problem):
    """PubMed did not answer, or not as it should. Nothing is lost: the same can be asked again."""

    status = 503
    type = "pubmed-away"
    title = "PubMed did not answer"


class TooMuchAtOnce(PubMedAway):
    """An answer over the limit, which it stays however often it is asked for: fewer records may fit."""


@dataclass(frozen=True)
class Found:
    """How many there are, the query as it was understood, and the history that the ids are taken from."""

    count: int
    translation: str
    web_env: str
    query_key: str


class _Again(Exception):
    """A try that came to nothing; ``wait``: the seconds that were asked for."""

    def __init__(self, words: str, wait: float | None = None) -> None:
        super().__init__(words)
        self.wait = wait


class Client:
    """E-utilities as one person asks them. ``wait`` pauses, and may break off by raising."""

    def __init__(self, access: Access, wait: Wait) -> None:
        self._access, self._wait = access, wait
        parts = urlsplit(settings.PUBMED_URL)
        self._host, self._is_secure = parts.hostname or "", parts.scheme == "https"
        self._port = parts.port or (443 if self._is_secure else 80)
        self._path = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if self._is_secure else None
        self._lane = pace.lane_of(access.key)
        self._between = pace.WITH_KEY if access.key else pace.WITHOUT_KEY

    def find(self, query: str, since: date | None = None, until: date | None = None) -> Found:
        """Have PubMed search, and keep the outcome in its history. Raises `PubMedAway`."""
        asked = {"db": "pubmed", "term": query, "usehistory": "y", "retmax": "0", "retmode": "xml"}
        if since or until:
            asked |= {
                "datetype": "pdat", "mindate": f"{since or date(1000, 1, 1):%Y/%m/%d}",
                "maxdate": f"{until or date(3000, 1, 1):%Y/%m/%d}",
            }  # fmt: skip
        said = self._searched(asked)
        for wrong in ("ErrorList/PhraseNotFound", "ErrorList/FieldNotFound"):
            if (phrase := said.findtext(wrong)) and said.findtext("Count") == "0":
                return Found(0, f"not found: {phrase}", "", "")
        return Found(
            _number(said, "Count"), said.findtext("QueryTranslation") or "", said.findtext("WebEnv") or "",
            said.findtext("QueryKey") or "",
        )  # fmt: skip

    def ids(self, found: Found) -> list[str]:
        """All ids of what was found, from its history, page by page. Raises `PubMedAway` where some are not there."""
        ids: list[str] = []
        for start in range(0, found.count, PAGE):
            asked = {
                "db": "pubmed", "term": f"#{found.query_key}", "WebEnv": found.web_env, "retstart": str(start),
                "retmax": str(PAGE), "retmode": "xml",
            }  # fmt: skip
            ids += [id.text or "" for id in self._searched(asked).iterfind("IdList/Id")]
        ids = [id for id in dict.fromkeys(ids) if re.fullmatch(r"[1-9][0-9]{0,9}", id)]
        if len(ids) != found.count:
            raise PubMedAway(f"PubMed found {found.count:,} records and named {len(ids):,}: ask again.")
        return ids

    def fetch(self, pmids: Sequence[str]) -> bytes:
        """The records of some ids as XML, as it came. Raises `PubMedAway`, and `TooMuchAtOnce` for too many of them."""
        asked = {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml", "rettype": "abstract"}
        return self._asked("efetch.fcgi", asked, _is_a_set)

    def full_texts_of(self, pmids: Sequence[str]) -> list[str]:
        """The ids by which PubMed Central has the articles of these PMIDs; those that it does not have are left out."""
        term = " OR ".join(f"{pmid}[pmid]" for pmid in pmids)
        said = self._searched({"db": "pmc", "term": term, "retmax": str(PAGE), "retmode": "xml"})
        return [id for one in said.iterfind("IdList/Id") if re.fullmatch(r"[1-9][0-9]{0,9}", id := one.text or "")]

    def fetch_full_texts(self, ids: Sequence[str]) -> bytes:
        """Articles of PubMed Central as JATS, as they came; without a text where their publisher gives none out."""
        asked = {"db": "pmc", "id": ",".join(ids), "retmode": "xml"}
        return self._asked("efetch.fcgi", asked, lambda body: body.rstrip().endswith(b"</pmc-articleset>"))

    def _searched(self, asked: Mapping[str, str]) -> Element:
        body = self._asked("esearch.fcgi", asked, lambda body: _result(body) is not None)
        said = _result(body)
        assert said is not None
        if error := said.findtext("ERROR"):
            raise PubMedAway(f"PubMed refused the query: {self._safe(error)}")
        return said

    def _asked(self, program: str, asked: Mapping[str, str], is_sound: Callable[[bytes], bool]) -> bytes:
        """The body of a sound answer. Sent as a form: no query or key stands in an address."""
        said = {"tool": TOOL, "email": self._access.email, **asked}
        if self._access.key:
            said["api_key"] = self._access.key
        body = urlencode(said).encode()
        for number in range(1, TRIES + 1):
            try:
                return self._once(program, body, is_sound)
            except _Again as setback:
                if number == TRIES:
                    words = f"PubMed was asked {TRIES} times: {self._safe(str(setback))}"
                    raise PubMedAway(words) from None
                pause = _pause(number) if setback.wait is None else min(setback.wait, LONGEST_PAUSE)
                pace.put_off(self._lane, pause)
                self._wait(pause)
        raise AssertionError("it is asked at least once")

    def _once(self, program: str, body: bytes, is_sound: Callable[[bytes], bool]) -> bytes:
        turn = pace.take(self._lane, self._between)
        self._wait(max(0.0, (turn - timezone.now()).total_seconds()))
        try:
            reply = self._sent(f"{self._path}/{program}", body)
        except TooLarge as error:
            raise TooMuchAtOnce(str(error)) from error
        except (Away, Unresolved, Trouble) as error:
            raise _Again(f"{str(error).rstrip('.')}.") from error
        except (NotAllowed, Untrusted) as error:
            raise PubMedAway(str(error)) from error
        if reply.status in _AGAIN:
            raise _Again(f"it answered with HTTP {reply.status}.", reply.retry_after())
        if reply.status != 200:
            raise PubMedAway(f"PubMed answered with HTTP {reply.status}: {self._safe(_shown(reply.body))}")
        if not is_sound(reply.body):
            raise _Again(_unsound(reply.body))
        return reply.body

    def _sent(self, path: str, body: bytes) -> Reply:
        headers = {
            "Accept": "application/xml", "Accept-Encoding": "identity", "Connection": "close",
            "Content-Type": "application/x-www-form-urlencoded", "User-Agent": TOOL,
        }  # fmt: skip
        found = places(self._host, self._port, (), setting="PUBMED_URL")
        for last, place in enumerate(found, start=1 - len(found)):
            connection = Connection(self._host, self._port, place, self._tls, LIMITS)
            try:
                return exchange(connection, "POST", path, body, headers, LIMITS)
            except Away:
                if last == 0:
                    raise
        raise AssertionError("places are never empty")

    def _safe(self, words: str) -> str:
        """What PubMed said, without the key, which a complaint about it may repeat."""
        return words.replace(self._access.key, "[key]") if self._access.key else words


def _result(body: bytes) -> Element | None:
    """An answer of ESearch; None for whatever else it is."""
    try:
        # DOCTYPE and all: no entity may be declared, and no DTD is loaded.
        said: Element = fromstring(body, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return None
    is_one = said.tag == "eSearchResult" and any(said.find(name) is not None for name in ("Count", "ERROR"))
    return said if is_one else None


def _is_a_set(body: bytes) -> bool:
    """Whether an answer begins and ends as a set of records; what lies between is read when it is stored."""
    ends = (b"</PubmedArticleSet>", b"<PubmedArticleSet/>")
    return b"<PubmedArticleSet" in body and body.rstrip().endswith(ends)


def _unsound(body: bytes) -> str:
    if not body.strip():
        return "it answered with nothing."
    return f"its answer is no whole XML of PubMed, or was cut off: {_shown(body)}"


def _shown(body: bytes) -> str:
    words = " ".join(re.sub(r"<[^>]*>", " ", body[:2000].decode("utf-8", errors="replace")).split())
    return f"{words[:200]}{'…' if len(words) > 200 else ''}" or "(no words)"


def _number(said: Element, name: str) -> int:
    text = said.findtext(name) or ""
    if not re.fullmatch(r"\d{1,12}", text):
        raise PubMedAway("PubMed did not say how many records it found.")
    return int(text)


def _pause(number: int) -> float:
    """Longer after every try, and not the same for all workers."""
    return min(FIRST_PAUSE * 2.0 ** (number - 1), LONGEST_PAUSE) * (1 + random.random() / 4)
