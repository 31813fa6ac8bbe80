"""PubMed client: access data of a person, the shared rate limit, and requests with retries.

The API key is stored encrypted and never shown.
"""

import random
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, ParseError

import httpx2
from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import User
from accounts.tokens import decrypt, encrypt
from api.outgoing.addresses import NotAllowed
from api.outgoing.transport import Exchange, Limits, TooLarge, Untrusted, retry_after
from api.problems import Problem
from projects.jobs import batches

from ..models import PubMedAccess, PubMedRateLimit

PURPOSE = "annotation.pubmed.client"


@dataclass(frozen=True)
class Access:
    """Access data sent with each request to PubMed. `repr` omits the key."""

    email: str
    key: str = field(default="", repr=False)


def access_of(user: User | None) -> Access:
    """Return a person's access data.

    The e-mail address defaults to the account's. A key that cannot be decrypted counts as none.
    """
    stored = PubMedAccess.objects.filter(user=user).first() if user else None
    if stored is None:
        return Access(user.email if user else "")
    return Access(stored.email, decrypt(stored.encrypted_key, purpose=PURPOSE))


def store_access(user: User, *, email: str, key: str | None) -> None:
    """Store an address and a key: "" removes the key, None leaves it unchanged."""
    fields: dict[str, str] = {"email": email}
    if key is not None:
        fields["encrypted_key"] = encrypt(key, purpose=PURPOSE)
    PubMedAccess.objects.update_or_create(user=user, defaults=fields)


#: NCBI allows 3 requests per second without a key and 10 with one. Stay slightly below, because client and server
#: clocks differ.
WITHOUT_KEY, WITH_KEY = timedelta(seconds=0.36), timedelta(seconds=0.11)
#: Limit on how far in the future the next request may be, so that one wrong clock cannot block everybody.
FURTHEST = timedelta(minutes=5)


def rate_limit_key(key: str) -> str:
    """Return the rate-limit key: all requests without an API key share one; each API key has its own.

    The API key cannot be derived from it.
    """
    return salted_hmac("annotation.pubmed.client", key, algorithm="sha256").hexdigest() if key else "without a key"


def reserve_time(key: str, between: timedelta) -> datetime:
    """Reserve and return the time at which the caller may send one request.

    Uses compare-and-set, so no two callers get the same time, on either database.
    """
    while True:
        now = timezone.now()
        # A job may repeat this write: a reservation that is not used does no harm.
        with batches.idempotent():
            row = PubMedRateLimit.objects.filter(pk=key).first()
            if row is None:
                _create_rate_limit(key, now)
                continue
            reserved = max(now, row.next_at) if row.next_at <= now + FURTHEST else now
            if PubMedRateLimit.objects.filter(pk=key, next_at=row.next_at).update(next_at=reserved + between):
                return reserved


def postpone(key: str, seconds: float) -> None:
    """Delay all requests of a rate-limit key, because NCBI reported an error or too many requests."""
    later = timezone.now() + min(timedelta(seconds=seconds), FURTHEST)
    with batches.idempotent():
        PubMedRateLimit.objects.filter(pk=key, next_at__lt=later).update(next_at=later)


def _create_rate_limit(key: str, now: datetime) -> None:
    try:
        with transaction.atomic():
            PubMedRateLimit.objects.create(pk=key, next_at=now)
    except IntegrityError:
        pass  # another worker created the row first


TOOL = "concord"
#: Number of attempts per request; seconds before the second attempt, which double each time, and their maximum.
TRIES = 5
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 120.0
#: An answer with 200 records that have long abstracts and reference lists takes about 10 MiB.
LIMITS = Limits(connect=10.0, total=120.0, size=64 * 2**20)
#: PubMed returns only the first 9,999 records of a query.
MOST_FOUND = 9_999
#: Number of ids requested per answer.
PAGE = 2_000
_RETRIED = (408, 429, 500, 502, 503, 504)
Wait = Callable[[float], None]


class PubMedUnavailable(Problem):
    """PubMed did not answer, or the answer was invalid. The same request can be repeated."""

    status = 503
    type = "pubmed-away"
    title = "PubMed did not answer"


class ResponseTooLarge(PubMedUnavailable):
    """An answer over the size limit. A retry does not help, but fewer records may fit."""


@dataclass(frozen=True)
class SearchResult:
    """Number of records, the query as PubMed understood it, and the history entry that holds the ids."""

    count: int
    translation: str
    web_env: str
    query_key: str


class _Retry(Exception):
    """A failed attempt that can be retried. ``wait``: the delay in seconds that PubMed requested."""

    def __init__(self, words: str, wait: float | None = None) -> None:
        super().__init__(words)
        self.wait = wait


class Client:
    """E-utilities with the access data of one person. ``wait`` pauses, and may raise to cancel."""

    def __init__(self, access: Access, wait: Wait) -> None:
        self._access, self._wait = access, wait
        self._url = settings.PUBMED_URL.rstrip("/")
        self._tls = ssl.create_default_context() if self._url.startswith("https:") else None
        self._rate_key = rate_limit_key(access.key)
        self._between = WITH_KEY if access.key else WITHOUT_KEY

    def find(self, query: str, since: date | None = None, until: date | None = None) -> SearchResult:
        """Search PubMed and keep the result in its history. Raise `PubMedUnavailable`."""
        parameters = {"db": "pubmed", "term": query, "usehistory": "y", "retmax": "0", "retmode": "xml"}
        if since or until:
            parameters |= {
                "datetype": "pdat",
                "mindate": f"{since or date(1000, 1, 1):%Y/%m/%d}",
                "maxdate": f"{until or date(3000, 1, 1):%Y/%m/%d}",
            }
        root = self._searched(parameters)
        for path in ("ErrorList/PhraseNotFound", "ErrorList/FieldNotFound"):
            if (phrase := root.findtext(path)) and root.findtext("Count") == "0":
                return SearchResult(0, f"not found: {phrase}", "", "")
        return SearchResult(
            _number(root, "Count"),
            root.findtext("QueryTranslation") or "",
            root.findtext("WebEnv") or "",
            root.findtext("QueryKey") or "",
        )

    def ids(self, result: SearchResult) -> list[str]:
        """Return all ids of a search from the history, page by page. Raise `PubMedUnavailable` if some are missing."""
        ids: list[str] = []
        for start in range(0, result.count, PAGE):
            parameters = {
                "db": "pubmed",
                "term": f"#{result.query_key}",
                "WebEnv": result.web_env,
                "retstart": str(start),
                "retmax": str(PAGE),
                "retmode": "xml",
            }
            ids += [id.text or "" for id in self._searched(parameters).iterfind("IdList/Id")]
        ids = [id for id in dict.fromkeys(ids) if re.fullmatch(r"[1-9][0-9]{0,9}", id)]
        if len(ids) != result.count:
            raise PubMedUnavailable(
                f"PubMed found {result.count:,} records but returned {len(ids):,} PMIDs. Resume the search."
            )
        return ids

    def fetch(self, pmids: Sequence[str]) -> bytes:
        """Return the records of some ids as XML, unchanged.

        Raise `PubMedUnavailable`, or `ResponseTooLarge` for too many ids.
        """
        parameters = {"db": "pubmed", "id": ",".join(pmids), "retmode": "xml", "rettype": "abstract"}
        return self._asked("efetch.fcgi", parameters, _is_record_set)

    def full_texts_of(self, pmids: Sequence[str]) -> list[str]:
        """Return the PubMed Central ids of the articles with these PMIDs. Omit articles that it does not have."""
        term = " OR ".join(f"{pmid}[pmid]" for pmid in pmids)
        root = self._searched({"db": "pmc", "term": term, "retmax": str(PAGE), "retmode": "xml"})
        return [
            id for element in root.iterfind("IdList/Id") if re.fullmatch(r"[1-9][0-9]{0,9}", id := element.text or "")
        ]

    def fetch_full_texts(self, ids: Sequence[str]) -> bytes:
        """Return articles of PubMed Central as JATS, unchanged.

        If a publisher does not share the full text, the article has none.
        """
        parameters = {"db": "pmc", "id": ",".join(ids), "retmode": "xml"}
        return self._asked("efetch.fcgi", parameters, lambda body: body.rstrip().endswith(b"</pmc-articleset>"))

    def _searched(self, parameters: Mapping[str, str]) -> Element:
        body = self._asked("esearch.fcgi", parameters, lambda body: _result(body) is not None)
        root = _result(body)
        assert root is not None
        if error := root.findtext("ERROR"):
            raise PubMedUnavailable(f"PubMed rejected the query: {self._safe(error)}")
        return root

    def _asked(self, program: str, parameters: Mapping[str, str], is_sound: Callable[[bytes], bool]) -> bytes:
        """Return the body of a valid answer.

        The request is a form, so that no query or key appears in a URL.
        """
        form = {"tool": TOOL, "email": self._access.email, **parameters}
        if self._access.key:
            form["api_key"] = self._access.key
        body = urlencode(form).encode()
        for number in range(1, TRIES + 1):
            try:
                return self._once(program, body, is_sound)
            except _Retry as retry:
                if number == TRIES:
                    words = f"PubMed did not answer {TRIES} requests: {self._safe(str(retry))}"
                    raise PubMedUnavailable(words) from None
                pause = _pause(number) if retry.wait is None else min(retry.wait, LONGEST_PAUSE)
                postpone(self._rate_key, pause)
                self._wait(pause)
        raise AssertionError("TRIES must be at least 1")

    def _once(self, program: str, body: bytes, is_sound: Callable[[bytes], bool]) -> bytes:
        send_at = reserve_time(self._rate_key, self._between)
        self._wait(max(0.0, (send_at - timezone.now()).total_seconds()))
        try:
            reply = self._sent(program, body)
        except TooLarge as error:
            raise ResponseTooLarge(str(error)) from error
        except httpx2.TransportError as error:
            raise _Retry(f"{str(error).rstrip('.')}.") from error
        except (NotAllowed, Untrusted) as error:
            raise PubMedUnavailable(str(error)) from error
        if reply.status_code in _RETRIED:
            raise _Retry(f"HTTP status {reply.status_code}.", retry_after(reply))
        if reply.status_code != 200:
            raise PubMedUnavailable(
                f"PubMed returned HTTP status {reply.status_code}: {self._safe(_excerpt(reply.content))}"
            )
        if not is_sound(reply.content):
            raise _Retry(_invalid_message(reply.content))
        return reply.content

    def _sent(self, program: str, body: bytes) -> httpx2.Response:
        headers = {"Accept": "application/xml", "Content-Type": "application/x-www-form-urlencoded", "User-Agent": TOOL}
        exchange = Exchange(LIMITS, (), setting="PUBMED_URL", tls=self._tls)
        return exchange.send("POST", f"{self._url}/{program}", body, headers)

    def _safe(self, words: str) -> str:
        """Return words of PubMed with the key masked, because an error message may repeat it."""
        return words.replace(self._access.key, "[key]") if self._access.key else words


def _result(body: bytes) -> Element | None:
    """Return the root of an ESearch answer; None for any other content."""
    try:
        # A DOCTYPE is allowed, but no entity may be declared, and no DTD is loaded.
        root: Element = fromstring(body, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return None
    is_search_result = root.tag == "eSearchResult" and any(root.find(name) is not None for name in ("Count", "ERROR"))
    return root if is_search_result else None


def _is_record_set(body: bytes) -> bool:
    """Return whether an answer begins and ends as a set of records. Its content is checked when it is stored."""
    ends = (b"</PubmedArticleSet>", b"<PubmedArticleSet/>")
    return b"<PubmedArticleSet" in body and body.rstrip().endswith(ends)


def _invalid_message(body: bytes) -> str:
    if not body.strip():
        return "the response was empty."
    return f"the response was truncated, or no XML from PubMed: {_excerpt(body)}"


def _excerpt(body: bytes) -> str:
    words = " ".join(re.sub(r"<[^>]*>", " ", body[:2000].decode("utf-8", errors="replace")).split())
    return f"{words[:200]}{'…' if len(words) > 200 else ''}" or "(empty)"


def _number(root: Element, name: str) -> int:
    text = root.findtext(name) or ""
    if not re.fullmatch(r"\d{1,12}", text):
        raise PubMedUnavailable("The response of PubMed has no record count. Resume the search.")
    return int(text)


def _pause(number: int) -> float:
    """Return a delay that grows with each attempt, with random jitter so that workers do not retry together."""
    return min(FIRST_PAUSE * 2.0 ** (number - 1), LONGEST_PAUSE) * (1 + random.random() / 4)
