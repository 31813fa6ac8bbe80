"""A worker connects to the very address that was checked, whatever a name or endpoint says."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from api.outgoing.transport import Limits
from generation.backends.openai import client as clients
from generation.backends.openai.client import Client, RequestGroup
from generation.backends.protocol import BackendError, PassingError
from generation.endpoints import Endpoint, parse
from tests.api.test_outgoing_addresses import Resolver
from tests.generation import endpoint as fake

LOOPBACK = [ip_network("127.0.0.0/8")]
PRIVATE = [ip_network("10.0.0.0/8")]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(monkeypatch)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[fake.Endpoint]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.0)
    with fake.serving() as running:
        yield running


def test_a_name_that_cannot_be_resolved_is_a_passing_error(resolver: Resolver) -> None:
    client = Client(Endpoint("lab", "http://llm.example.org/v1"), [], Limits())
    client_effort = RequestGroup()
    client_effort.give_up()
    with pytest.raises(PassingError, match=r"The name llm\.example\.org could not be resolved"):
        client.complete({}, client_effort)


def connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Records where sockets connect to."""
    made: list[Any] = []

    class Watched(socket.socket):
        def connect(self, address: Any) -> None:
            made.append(address)
            super().connect(address)

    monkeypatch.setattr(socket, "socket", Watched)
    return made


def test_a_name_that_changes_after_it_was_judged_changes_nothing(
    server: fake.Endpoint, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver.answers = [["127.0.0.1"], ["169.254.169.254"]]
    made = connections(monkeypatch)
    client = Client(Endpoint("lab", f"http://llm.example.org:{server.server_port}/v1"), LOOPBACK, Limits(total=30))
    assert client.complete({"model": "m"}, RequestGroup()).attempts == 1
    assert resolver.asked == ["llm.example.org"], "resolved once, by its name"
    assert server.seen[0][2]["Host"] == f"llm.example.org:{server.server_port}"
    with pytest.raises(BackendError, match=r"169\.254\.169\.254"):
        client.complete({"model": "m"}, RequestGroup())
    assert made == [("127.0.0.1", server.server_port)]


def test_a_name_outside_of_the_allowed_networks_is_never_connected_to(
    server: fake.Endpoint, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver.answers = [["127.0.0.1"]]
    made = connections(monkeypatch)
    client = Client(Endpoint("lab", f"http://llm.example.org:{server.server_port}/v1"), PRIVATE, Limits())
    with pytest.raises(BackendError, match="is private"):
        client.complete({"model": "m"}, RequestGroup())
    assert not made
    assert not server.seen


def test_the_next_address_of_a_name_is_tried_where_nobody_listens_at_the_first(
    server: fake.Endpoint, resolver: Resolver
) -> None:
    resolver.answers = [["127.0.0.2", "127.0.0.1"]]
    client = Client(Endpoint("lab", f"http://llm.example.org:{server.server_port}/v1"), LOOPBACK, Limits(total=30))
    assert client.complete({"model": "m"}, RequestGroup()).attempts == 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of llm.example.org with its key, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "llm.example.org")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("llm.example.org")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + pem)
    return path


@pytest.mark.parametrize(
    ("host", "known", "words"),
    [
        ("llm.example.org", True, ""),
        ("other.example.org", True, "Hostname mismatch"),
        ("llm.example.org", False, "self-signed"),
    ],
)
def test_a_certificate_must_match_the_host_and_have_a_known_issuer(
    resolver: Resolver, certificate: Path, monkeypatch: pytest.MonkeyPatch, host: str, known: bool, words: str
) -> None:
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(certificate)
    resolver.answers = [["127.0.0.1"]]
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate) if known else "/dev/null")
    with fake.serving(theirs) as server:
        client = Client(Endpoint("lab", f"https://{host}:{server.server_port}/v1"), LOOPBACK, Limits(total=30))
        if words:
            with pytest.raises(BackendError, match=words):
                client.complete({"model": "m"}, RequestGroup())
            assert not server.seen
        else:
            assert client.complete({"model": "m"}, RequestGroup()).attempts == 1


def test_endpoints_are_named_with_their_address_and_where_their_key_is() -> None:
    found = parse(" lab=http://10.0.0.5:8000/v1/ , cloud=https://llm.example.org/v1 LLM_KEY,v6=http://[::1]:11434/v1")
    assert [(e.name, e.host, e.port, e.path, e.secure, e.key_variable) for e in found.values()] == [
        ("lab", "10.0.0.5", 8000, "/v1", False, ""),
        ("cloud", "llm.example.org", 443, "/v1", True, "LLM_KEY"),
        ("v6", "::1", 11434, "/v1", False, ""),
    ]
    assert parse("") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("http://10.0.0.5/v1", "name=url"),
        ("lab=", "must begin with"),
        ("lab=ftp://10.0.0.5/v1", "must begin with"),
        ("lab=10.0.0.5/v1", "must begin with"),
        ("lab=http:///v1", "name a host"),
        ("lab=http://user:pass@h/v1", "must not contain"),
        ("lab=http://h/v1?key=x", "must not contain"),
        ("lab=http://h/v1#x", "must not contain"),
        ("lab=http://h:99999/v1", "ort"),
        ("lab=http://hé/v1", "ASCII"),
        ("lab=http://h/v1 sk-secret-value", "only the name of the variable"),
        ("lab=http://h/v1 A B", "only the name of the variable"),
        ("lab=http://h/v1,lab=http://i/v1", "two endpoints"),
        ("a b=http://h/v1", "name=url"),
    ],
)
def test_an_endpoint_that_makes_no_sense_is_refused_without_repeating_a_key(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        parse(text)
    assert "secret" not in str(refused.value)
