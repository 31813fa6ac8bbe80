"""Where a worker connects to: only to what the administrator allows, whatever a name or an endpoint says."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest

from generation.backends.openai import client as clients
from generation.backends.openai.addresses import Unresolved, places, refusal
from generation.backends.openai.client import Client, Effort
from generation.backends.openai.connection import Limits
from generation.backends.protocol import BackendError, PassingError
from generation.endpoints import Endpoint, parse
from tests.generation import endpoint as fake

LOOPBACK = [ip_network("127.0.0.0/8")]
PRIVATE = [ip_network("10.0.0.0/8")]


class Resolver:
    """Names that say what a test wants: a list of answers, one a look-up, the last for ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: list[list[str]] = []
        self.asked: list[str] = []
        monkeypatch.setattr(socket, "getaddrinfo", self)

    def __call__(self, host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        self.asked.append(host)
        if not self.answers:
            raise socket.gaierror("Name or service not known")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        families = {4: socket.AF_INET, 6: socket.AF_INET6}
        return [
            (families[ip_address(one).version], socket.SOCK_STREAM, 6, "", (one, port)) for one in answer
        ]  # fmt: skip


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(monkeypatch)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[fake.Endpoint]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.0)
    with fake.serving() as running:
        yield running


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert refusal("llm.example.org", address, []) == ""


@pytest.mark.parametrize(
    "address",
    ["10.0.0.5", "172.17.0.2", "192.168.1.1", "127.0.0.1", "::1", "fc00::1", "100.64.0.1", "::ffff:10.0.0.5",
     "64:ff9b::a00:5", "2002:a00:5::"],
)  # fmt: skip
def test_private_addresses_need_to_be_allowed(address: str) -> None:
    assert "GENERATION_NETWORKS" in refusal("llm.example.org", address, [])
    assert "GENERATION_NETWORKS" in refusal("localhost.example.org", address, [])
    assert refusal(address, address, []) == "", "the administrator wrote this very address"


def test_an_allowed_network_allows_what_lies_in_it_also_written_as_ipv6() -> None:
    assert refusal("vllm", "10.0.0.5", PRIVATE) == ""
    assert refusal("vllm", "::ffff:10.0.0.5", PRIVATE) == ""
    assert refusal("vllm", "11.0.0.5", PRIVATE) == ""  # public
    assert refusal("vllm", "192.168.0.5", PRIVATE)


def test_localhost_is_this_machine_and_nothing_else() -> None:
    assert refusal("localhost", "127.0.0.1", []) == ""
    assert refusal("ollama.localhost", "::1", []) == ""
    assert refusal("localhost", "10.0.0.5", [])


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "100.100.100.200", "168.63.129.16",
     "192.0.0.192", "0.0.0.0", "::", "255.255.255.255", "224.0.0.1", "ff02::1", "::ffff:169.254.169.254",
     "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
     "not an address"],
)  # fmt: skip
@pytest.mark.row(61)
def test_link_local_and_metadata_addresses_are_never_allowed(address: str) -> None:
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    assert refusal("llm.example.org", address, everything)
    assert refusal(address, address, everything)


#: IANA's registries of special addresses, line by line, and whether a block is globally reachable. Three of its lines
#: (::ffff:0:0/96, 64:ff9b::/96 and 2002::/16) are what stands in them: `EMBEDDINGS`.
REGISTRY_IPV4 = """
0.0.0.0/8 no, 0.0.0.0/32 no, 10.0.0.0/8 no, 100.64.0.0/10 no, 127.0.0.0/8 no, 169.254.0.0/16 no, 172.16.0.0/12 no,
192.0.0.0/24 no, 192.0.0.0/29 no, 192.0.0.8/32 no, 192.0.0.9/32 yes, 192.0.0.10/32 yes, 192.0.0.170/32 no,
192.0.0.171/32 no, 192.0.2.0/24 no, 192.31.196.0/24 yes, 192.52.193.0/24 yes, 192.88.99.0/24 n/a, 192.88.99.2/32 no,
192.168.0.0/16 no, 192.175.48.0/24 yes, 198.18.0.0/15 no, 198.51.100.0/24 no, 203.0.113.0/24 no, 240.0.0.0/4 no,
255.255.255.255/32 no
"""
REGISTRY_IPV6 = """
::1/128 no, ::/128 no, 64:ff9b:1::/48 no, 100::/64 no, 100:0:0:1::/64 no, 2001::/23 no, 2001::/32 n/a,
2001:1::1/128 yes, 2001:1::2/128 yes, 2001:1::3/128 yes, 2001:2::/48 no, 2001:3::/32 yes, 2001:4:112::/48 yes,
2001:10::/28 n/a, 2001:20::/28 yes, 2001:30::/28 yes, 2001:db8::/32 no, 2620:4f:8000::/48 yes, 3fff::/20 no,
5f00::/16 no, fc00::/7 no, fe80::/10 no
"""
#: Outside of the registry of special addresses: reserved, deprecated, or given to nobody.
ELSEWHERE_IPV6 = """
::/96 no, ::ffff:0:0:0/96 no, fec0::/10 no, ff00::/8 no, ::/8 no, 100::/8 no, 200::/7 no, 400::/6 no, 800::/5 no,
1000::/4 no, 4000::/3 no, 6000::/3 no, 8000::/3 no, a000::/3 no, c000::/3 no, e000::/4 no, f000::/5 no, f800::/6 no,
fe00::/9 no
"""


def blocks(*texts: str) -> list[tuple[str, str]]:
    return [tuple(line.split()) for text in texts for line in text.replace("\n", " ").split(",")]  # type: ignore[misc]


@pytest.mark.parametrize(("block", "reachable"), blocks(REGISTRY_IPV4, REGISTRY_IPV6, ELSEWHERE_IPV6))
@pytest.mark.row(61)
def test_no_line_of_the_registries_is_public_unless_it_says_so(block: str, reachable: str) -> None:
    network = ip_network(block)
    for address in (network[0], network[network.num_addresses // 2], network[-1]):
        refused = refusal("llm.example.org", str(address), [])
        # What is special and can be reached from everywhere (anycast of protocols) may be refused all the same.
        assert refused or reachable == "yes", address


#: How an IPv4 address is written in IPv6: each of these leads to it, by the system, a tunnel or a translator.
EMBEDDINGS = {
    "mapped": "::ffff:{0:02x}{1:02x}:{2:02x}{3:02x}",
    "compatible": "::{0:02x}{1:02x}:{2:02x}{3:02x}",
    "translated": "::ffff:0:{0:02x}{1:02x}:{2:02x}{3:02x}",
    "NAT64": "64:ff9b::{0:02x}{1:02x}:{2:02x}{3:02x}",
    "NAT64 of one's own, /96": "64:ff9b:1::{0:02x}{1:02x}:{2:02x}{3:02x}",
    "NAT64 of one's own, /64": "64:ff9b:1:0:{0:02x}:{1:02x}{2:02x}:{3:02x}00:0",
    "NAT64 of one's own, /56": "64:ff9b:1:{0:02x}:{1:02x}:{2:02x}{3:02x}::",
    "NAT64 of one's own, /48": "64:ff9b:1:{0:02x}{1:02x}:{2:02x}:{3:02x}00::",
    "6to4": "2002:{0:02x}{1:02x}:{2:02x}{3:02x}::1",
    "Teredo, server": "2001:0:{0:02x}{1:02x}:{2:02x}{3:02x}:8000:63bf:f7f7:f7f7",
    "Teredo, client": "2001:0:808:808:8000:63bf:{4:02x}{5:02x}:{6:02x}{7:02x}",
    "ISATAP": "2606:2800:220:1:0:5efe:{0:02x}{1:02x}:{2:02x}{3:02x}",
    "ISATAP, global": "2606:2800:220:1:200:5efe:{0:02x}{1:02x}:{2:02x}{3:02x}",
}


def embedded(way: str, address: str) -> str:
    packed = ip_address(address).packed
    return EMBEDDINGS[way].format(*packed, *(255 - byte for byte in packed))


@pytest.mark.parametrize("way", EMBEDDINGS)
@pytest.mark.row(61)
def test_an_ipv4_address_in_whatever_ipv6_is_judged_as_what_it_is(way: str) -> None:
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    for never in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "224.0.0.1"):
        address = embedded(way, never)
        assert "never connected to" in refusal("llm.example.org", address, everything), address
        assert refusal(address, address, everything), address
        assert refusal("llm.example.org", address, []), address
    for private in ("10.0.0.5", "127.0.0.1", "172.16.9.9", "192.168.1.1", "100.64.0.1", "240.0.0.1"):
        address = embedded(way, private)
        assert "GENERATION_NETWORKS" in refusal("llm.example.org", address, []), address
        # A network of IPv6 that is allowed says nothing of an IPv4 network behind it.
        assert "GENERATION_NETWORKS" in refusal("llm.example.org", address, [ip_network("::/0")]), address
        assert refusal("llm.example.org", address, everything) == "", address
        assert refusal(address, address, []) == "", "the administrator wrote this very address"


@pytest.mark.parametrize("way", ["mapped", "NAT64", "ISATAP"])
def test_a_public_address_stays_public_where_public_addresses_are_embedded(way: str) -> None:
    assert refusal("llm.example.org", embedded(way, "93.184.216.34"), []) == ""


def test_6to4_is_special_whatever_the_release_of_python_says() -> None:
    """Its relays are given up (RFC 7526); ``ipaddress`` has called it global, and no longer does."""
    assert "GENERATION_NETWORKS" in refusal("llm.example.org", embedded("6to4", "93.184.216.34"), [])


@pytest.mark.parametrize("name", ["2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "127.1", "0"])
def test_addresses_in_other_spellings_are_judged_by_where_they_lead(name: str) -> None:
    with pytest.raises((BackendError, Unresolved)):
        places(name, 80, [])


def test_one_address_that_is_not_allowed_refuses_the_name(resolver: Resolver) -> None:
    resolver.answers = [["93.184.216.34", "169.254.169.254"]]
    with pytest.raises(BackendError, match=r"llm\.example\.org is 169\.254\.169\.254"):
        places("llm.example.org", 443, [])


def test_a_name_that_nobody_knows_is_away(resolver: Resolver) -> None:
    client = Client(Endpoint("lab", "http://llm.example.org/v1"), [], Limits())
    client_effort = Effort()
    client_effort.give_up()
    with pytest.raises(PassingError, match=r"The name llm\.example\.org could not be resolved"):
        client.complete({}, client_effort)


def connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Where sockets connect to from now on."""
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
    assert client.complete({"model": "m"}, Effort()).tries == 1
    assert resolver.asked == ["llm.example.org"], "resolved once, by its name"
    assert server.seen[0][2]["Host"] == f"llm.example.org:{server.server_port}"
    with pytest.raises(BackendError, match=r"169\.254\.169\.254"):
        client.complete({"model": "m"}, Effort())
    assert made == [("127.0.0.1", server.server_port)]


def test_a_name_outside_of_the_allowed_networks_is_never_connected_to(
    server: fake.Endpoint, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver.answers = [["127.0.0.1"]]
    made = connections(monkeypatch)
    client = Client(Endpoint("lab", f"http://llm.example.org:{server.server_port}/v1"), PRIVATE, Limits())
    with pytest.raises(BackendError, match="is private"):
        client.complete({"model": "m"}, Effort())
    assert not made
    assert not server.seen


def test_the_next_address_of_a_name_is_tried_where_nobody_listens_at_the_first(
    server: fake.Endpoint, resolver: Resolver
) -> None:
    resolver.answers = [["127.0.0.2", "127.0.0.1"]]
    client = Client(Endpoint("lab", f"http://llm.example.org:{server.server_port}/v1"), LOOPBACK, Limits(total=30))
    assert client.complete({"model": "m"}, Effort()).tries == 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of llm.example.org that it signed itself, with its key, in one file."""
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
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )  # fmt: skip
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
def test_a_certificate_must_be_the_hosts_and_signed_by_somebody_known(
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
                client.complete({"model": "m"}, Effort())
            assert not server.seen
        else:
            assert client.complete({"model": "m"}, Effort()).tries == 1


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
        ("lab=http://user:pass@h/v1", "no user"),
        ("lab=http://h/v1?key=x", "no user, query"),
        ("lab=http://h/v1#x", "no user, query"),
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
