"""Keys: types, lengths, and the points that are refused."""

from __future__ import annotations

import copy
import hashlib
import pickle
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from pushcrypt import DevicePublicKey, ProviderKey, ProviderPublicKey, SigningKey
from pushcrypt._keys import P
from pushcrypt.testing import DeviceKey

KINDS: list[Any] = [DevicePublicKey, ProviderPublicKey, ProviderKey, SigningKey, DeviceKey]


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_another_type(kind: Any) -> None:
    for wrong in ("a" * 32, 32, 1_500_000_000, None, [0] * 32):
        with pytest.raises(TypeError):
            kind(wrong)
    for wrong in (b"pcr1", 7, None, ["pcr1"]):
        with pytest.raises(TypeError):
            kind.parse(wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_another_length(kind: Any, refused: Any) -> None:
    for length in (0, 31, 33, 64, 10_000_000):
        error = refused("malformed-key", kind, bytes(length))
        assert f"not {length}" in str(error)
    prefix = {"pcr": "pcr1", "pcs": "pcs1"}.get(kind.KIND, kind.KIND.upper() + "1")
    for text in ("", prefix, prefix + "q" * 10_000_000, prefix + "é" * 58, "a" * 10_000_000):
        refused("malformed-key", kind.parse, text)


def test_public_keys_are_values() -> None:
    key = ProviderKey.generate().public_key
    again = ProviderPublicKey.parse(str(key) + "\n")
    assert key == again and hash(key) == hash(again) and key != bytes(key) and key != DevicePublicKey(bytes([9]) * 32)
    assert pickle.loads(pickle.dumps(key)) == copy.deepcopy(key) == eval(repr(key)) == key


def test_a_signature_of_another_length_or_type() -> None:
    key = ProviderKey.generate()
    signature = key.sign(b"a")
    assert key.public_key.verifies(signature, b"a") and not key.public_key.verifies(signature, b"b")
    assert not key.public_key.verifies(signature[:-1], b"a") and not key.public_key.verifies(b"", b"a")
    for arguments in (("a" * 64, b"a"), (signature, "a"), (64, b"a")):
        with pytest.raises(TypeError):
            key.public_key.verifies(*arguments)
    with pytest.raises(TypeError):
        key.sign("a")  # type: ignore[arg-type]


def test_points_of_small_order(refused: Any) -> None:
    """[K-7]: by either sign of x, and however y is written. A key that is no point is taken, and verifies nothing [K-9]."""
    order_8 = [bytes.fromhex(key) for key in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")]
    numbers = [0, 1, P - 1, P, P + 1, 2**255 - 1, *(int.from_bytes(key, "little") for key in order_8)]
    for number in numbers:
        for sign in (0, 1):
            refused("weak-key", ProviderPublicKey, (number | sign << 255).to_bytes(32, "little"))
    assert not ProviderPublicKey((2).to_bytes(32, "little")).verifies(bytes(64), b"a")


def test_a_signature_whose_first_point_has_small_order() -> None:
    """[K-9], which OpenSSL takes: R is the neutral point, and S the hash times the secret scalar."""
    seed, r = bytes([1]) * 32, (1).to_bytes(32, "little")
    key, order = ProviderKey(seed).public_key, 2**252 + 27742317777372353535851937790883648493
    scalar = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little") & (2**254 - 8) | 2**254
    s = int.from_bytes(hashlib.sha512(r + bytes(key) + b"a").digest(), "little") * scalar % order
    signature = r + s.to_bytes(32, "little")
    Ed25519PublicKey.from_public_bytes(bytes(key)).verify(signature, b"a")
    assert not key.verifies(signature, b"a")
