"""Merkle roots, inclusion proofs, and the chain of checkpoints."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.merkle import GENESIS, chain_hash, chain_head, inclusion_proof, leaf_hash, merkle_root, verify_inclusion

HEX = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
LEAVES = [bytes.fromhex(each) for each in HEX]
ROOTS = [  # the reference tree of Certificate Transparency (RFC 6962)
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
DIGESTS = st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=40)


@pytest.mark.parametrize("size", range(1, 9))
def test_the_root_equals_that_of_rfc_6962(size: int) -> None:
    assert merkle_root(LEAVES[:size]).hex() == ROOTS[size - 1]


def test_the_root_of_nothing_is_the_hash_of_nothing() -> None:
    assert merkle_root([]) == hashlib.sha256(b"").digest()


@given(DIGESTS, st.data())
def test_every_leaf_is_proved_and_no_other_leaf_index_or_root_is(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    root, path = merkle_root(leaves), inclusion_proof(leaves, index)
    assert verify_inclusion(leaves[index], index, len(leaves), path, root)
    assert not verify_inclusion(bytes(32) if leaves[index] != bytes(32) else b"1" * 32, index, len(leaves), path, root)
    assert not verify_inclusion(leaves[index], index, len(leaves), path, leaf_hash(root))
    assert not verify_inclusion(leaves[index], index, len(leaves), [*path, root], root)
    assert not verify_inclusion(leaves[index], len(leaves), len(leaves), path, root)
    if path:
        assert not verify_inclusion(leaves[index], index, len(leaves), path[:-1], root)


@given(DIGESTS, st.data())
def test_changing_swapping_or_dropping_a_leaf_changes_the_root(leaves: list[bytes], data: st.DataObject) -> None:
    root = merkle_root(leaves)
    at = data.draw(st.integers(0, len(leaves) - 1))
    flipped = bytes([leaves[at][0] ^ 1]) + leaves[at][1:]
    assert merkle_root([*leaves[:at], flipped, *leaves[at + 1 :]]) != root
    assert merkle_root(leaves[:at] + leaves[at + 1 :]) != root
    if at and leaves[at] != leaves[at - 1]:
        assert merkle_root([*leaves[: at - 1], leaves[at], leaves[at - 1], *leaves[at + 1 :]]) != root


def test_an_inner_node_cannot_pass_as_a_leaf() -> None:
    a, b = hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest()
    assert merkle_root([leaf_hash(a) + leaf_hash(b)]) != merkle_root([a, b])


def test_a_proof_of_a_leaf_that_does_not_exist_is_refused() -> None:
    with pytest.raises(IndexError):
        inclusion_proof(LEAVES, 8)


def test_the_chain_commits_to_every_root_and_to_their_order() -> None:
    a, b = hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest()
    assert chain_head([a, b]) == chain_hash(chain_hash(GENESIS, a), b)
    assert chain_head([a, b]) != chain_head([b, a])
    assert chain_head([]) == GENESIS
    with pytest.raises(ValueError, match="32 bytes"):
        chain_hash(b"short", a)
