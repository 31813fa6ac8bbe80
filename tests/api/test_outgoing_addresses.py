"""Outgoing connections only go to addresses that the administrator allows, whatever a name resolves to."""

import socket
from contextlib import suppress
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from api.outgoing import addresses
from api.outgoing.addresses import NotAllowed, Unresolved

PRIVATE = [ip_network("10.0.0.0/8")]
places = partial(addresses.checked_addresses, setting="GENERATION_NETWORKS")
refusal = partial(addresses.refusal, setting="GENERATION_NETWORKS")


class Resolver:
    """A resolver with prepared answers, one per lookup; the last one is repeated."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: list[list[str]] = []
        self.asked: list[str] = []
        monkeypatch.setattr(socket, "getaddrinfo", self)

    def __call__(self, host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        with suppress(ValueError):
            return [self._entry(str(ip_address(host)), port)]  # an address resolves to itself
        self.asked.append(host)
        if not self.answers:
            raise socket.gaierror("Name or service not known")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [self._entry(one, port) for one in answer]

    def _entry(self, address: str, port: int) -> Any:
        family = {4: socket.AF_INET, 6: socket.AF_INET6}[ip_address(address).version]
        return family, socket.SOCK_STREAM, 6, "", (address, port)


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(monkeypatch)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert refusal("llm.example.org", address, []) == ""


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.5",
        "172.17.0.2",
        "192.168.1.1",
        "127.0.0.1",
        "::1",
        "fc00::1",
        "100.64.0.1",
        "::ffff:10.0.0.5",
        "64:ff9b::a00:5",
        "2002:a00:5::",
    ],
)
def test_private_addresses_need_to_be_allowed(address: str) -> None:
    assert "GENERATION_NETWORKS" in refusal("llm.example.org", address, [])
    assert "GENERATION_NETWORKS" in refusal("localhost.example.org", address, [])
    assert refusal(address, address, []) == "", "the administrator wrote this very address"


def test_an_allowed_network_covers_its_addresses_also_written_as_ipv6() -> None:
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
    [
        "169.254.169.254",
        "169.254.0.1",
        "fe80::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "::",
        "255.255.255.255",
        "224.0.0.1",
        "ff02::1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
        "fd00:42::42",
        "not an address",
    ],
)
@pytest.mark.row(61)
def test_link_local_and_metadata_addresses_are_never_allowed(address: str) -> None:
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    assert refusal("llm.example.org", address, everything)
    assert refusal(address, address, everything)


#: IANA's special-purpose registries: block and whether it is globally reachable. Three blocks (::ffff:0:0/96,
#: 64:ff9b::/96 and 2002::/16) depend on the embedded address: `EMBEDDINGS`.
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
#: Not in the special-purpose registries: reserved, deprecated, or unassigned.
ELSEWHERE_IPV6 = """
::/96 no, ::ffff:0:0:0/96 no, fec0::/10 no, ff00::/8 no, ::/8 no, 100::/8 no, 200::/7 no, 400::/6 no, 800::/5 no,
1000::/4 no, 4000::/3 no, 6000::/3 no, 8000::/3 no, a000::/3 no, c000::/3 no, e000::/4 no, f000::/5 no, f800::/6 no,
fe00::/9 no
"""


def blocks(*texts: str) -> list[tuple[str, str]]:
    return [tuple(line.split()) for text in texts for line in text.replace("\n", " ").split(",")]  # type: ignore[misc]


@pytest.mark.parametrize(("block", "reachable"), blocks(REGISTRY_IPV4, REGISTRY_IPV6, ELSEWHERE_IPV6))
@pytest.mark.row(61)
def test_special_address_blocks_are_refused_unless_globally_reachable(block: str, reachable: str) -> None:
    network = ip_network(block)
    for address in (network[0], network[network.num_addresses // 2], network[-1]):
        refused = refusal("llm.example.org", str(address), [])
        # Special, but globally reachable (anycast of protocols): may be refused too.
        assert refused or reachable == "yes", address


#: IPv4 addresses embedded in IPv6, which lead to them by the system, a tunnel or a translator.
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
        assert "never allowed" in refusal("llm.example.org", address, everything), address
        assert refusal(address, address, everything), address
        assert refusal("llm.example.org", address, []), address
    for private in ("10.0.0.5", "127.0.0.1", "172.16.9.9", "192.168.1.1", "100.64.0.1", "240.0.0.1"):
        address = embedded(way, private)
        assert "GENERATION_NETWORKS" in refusal("llm.example.org", address, []), address
        # An allowed IPv6 network does not allow an IPv4 network behind it.
        assert "GENERATION_NETWORKS" in refusal("llm.example.org", address, [ip_network("::/0")]), address
        assert refusal("llm.example.org", address, everything) == "", address
        assert refusal(address, address, []) == "", "the administrator wrote this very address"


@pytest.mark.parametrize("way", ["mapped", "NAT64", "ISATAP"])
def test_a_public_address_stays_public_where_public_addresses_are_embedded(way: str) -> None:
    assert refusal("llm.example.org", embedded(way, "93.184.216.34"), []) == ""


def test_6to4_addresses_are_not_public_in_any_python_version() -> None:
    """6to4 relays are deprecated (RFC 7526); older versions of ``ipaddress`` call the block global."""
    assert "GENERATION_NETWORKS" in refusal("llm.example.org", embedded("6to4", "93.184.216.34"), [])


@pytest.mark.parametrize("name", ["2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "127.1", "0"])
def test_addresses_in_other_spellings_are_judged_by_where_they_lead(name: str) -> None:
    with pytest.raises((NotAllowed, Unresolved)):
        places(name, 80, [])


def test_one_address_that_is_not_allowed_refuses_the_name(resolver: Resolver) -> None:
    resolver.answers = [["93.184.216.34", "169.254.169.254"]]
    with pytest.raises(NotAllowed, match=r"llm\.example\.org is 169\.254\.169\.254"):
        places("llm.example.org", 443, [])
