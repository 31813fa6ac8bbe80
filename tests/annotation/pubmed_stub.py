"""A stub of NCBI's E-utilities: ESearch with history, EFetch by ids, and errors."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from django.test import override_settings

from tests.annotation.jats_files import DOCTYPE
from tests.annotation.pubmed_files import article, as_xml

SEARCHED = (
    '<?xml version="1.0" encoding="UTF-8" ?>\n<!DOCTYPE eSearchResult PUBLIC "-//NLM//DTD esearch 20060628//EN" '
    '"https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20060628/esearch.dtd">\n'
)
#: Status, headers and body of an erroneous reply.
Wrong = tuple[int, dict[str, str], bytes]


@dataclass
class Stub:
    """The stub's records, the requests it got, and errors to send next."""

    records: dict[str, str] = field(default_factory=dict)
    #: PubMed Central's texts by PMID; its own ids are these with a 9 in front.
    full_texts: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    wrong: list[Wrong | None] = field(default_factory=list)
    url: str = ""

    def fill(self, count: int, first: int = 30_000_000) -> list[str]:
        """Add invented reviews; the second one has no abstract."""
        pmids = [str(first + n) for n in range(count)]
        for n, pmid in enumerate(pmids):
            parts = {"parts": ()} if n == 1 else {}
            self.records[pmid] = article(pmid, references=[str(40_000_000 + n)], **parts)  # type: ignore[arg-type]
        return pmids

    def programs(self) -> list[str]:
        return [program for program, _ in self.asked]

    def answer(self, program: str, asked: dict[str, str]) -> Wrong:
        self.asked.append((program, asked))
        wrong = self.wrong.pop(0) if self.wrong else None
        if wrong:
            return wrong
        if asked["db"] == "pmc":
            body = self._found_there(asked) if program == "esearch.fcgi" else self._fetched_there(asked)
        else:
            body = self._searched(asked) if program == "esearch.fcgi" else self._fetched(asked)
        return 200, {"Content-Type": "text/xml"}, body

    def _searched(self, asked: dict[str, str]) -> bytes:
        start, most = int(asked.get("retstart", 0)), int(asked.get("retmax", 20))
        ids = "".join(f"<Id>{pmid}</Id>" for pmid in list(self.records)[start : start + most])
        return (
            f"{SEARCHED}<eSearchResult><Count>{len(self.records)}</Count><RetMax>{most}</RetMax>"
            f"<RetStart>{start}</RetStart><QueryKey>1</QueryKey><WebEnv>MCID_1</WebEnv><IdList>{ids}</IdList>"
            "<QueryTranslation>&quot;relapse&quot;[All Fields]</QueryTranslation></eSearchResult>"
        ).encode()

    def _fetched(self, asked: dict[str, str]) -> bytes:
        return as_xml(self.records[pmid] for pmid in asked["id"].split(",") if pmid in self.records)

    def _found_there(self, asked: dict[str, str]) -> bytes:
        pmids = [one.removesuffix("[pmid]") for one in asked["term"].split(" OR ")]
        ids = [f"<Id>9{pmid}</Id>" for pmid in pmids if pmid in self.full_texts]
        found = f"<eSearchResult><Count>{len(ids)}</Count><IdList>{''.join(ids)}</IdList></eSearchResult>"
        return f"{SEARCHED}{found}".encode()

    def _fetched_there(self, asked: dict[str, str]) -> bytes:
        articles = "".join(self.full_texts[id[1:]] for id in asked["id"].split(","))
        return f'<?xml version="1.0"?>\n{DOCTYPE}\n<pmc-articleset>{articles}</pmc-articleset>'.encode()


class _Handler(BaseHTTPRequestHandler):
    stub: Stub

    def do_POST(self) -> None:
        said = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        program = self.path.rpartition("/")[2]
        assert "?" not in self.path, "a key in an address is a key in logs"
        status, headers, body = self.stub.answer(program, {key: values[0] for key, values in said.items()})
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[Stub]:
    """A running stub."""
    stub = Stub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"stub": stub}))
    stub.url = f"http://127.0.0.1:{server.server_port}/entrez/eutils/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with override_settings(PUBMED_URL=stub.url):
            yield stub
    finally:
        server.shutdown()
        server.server_close()
