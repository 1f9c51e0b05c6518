"""Keys: types, lengths, and the points that are refused."""

from __future__ import annotations

import copy
import hashlib
import pickle
import time
from typing import Any

import pytest

from pushcrypt import DevicePublicKey, ProviderKey, ProviderPublicKey, SigningKey
from pushcrypt._keys import P, check_verifying_key
from pushcrypt.testing import DeviceKey

KINDS: list[Any] = [DevicePublicKey, ProviderPublicKey, ProviderKey, SigningKey, DeviceKey]
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


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


# [K-7] by definition: the point is decoded and multiplied by L, with RFC 8032's formulas.


def add(a: Any, b: Any) -> Any:
    s, t = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    u, v = 2 * D * a[3] * b[3], 2 * a[2] * b[2]
    e, f, g, h = t - s, v - u, v + u, t + s
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiplied(point: Any, number: int) -> Any:
    product = (0, 1, 1, 0)
    for bit in bin(number)[2:]:
        product = add(product, product)
        product = add(product, point) if bit == "1" else product
    return product


def decoded(key: bytes) -> Any:
    y, sign = int.from_bytes(key, "little") & (1 << 255) - 1, key[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


def encoded(point: Any) -> bytes:
    x, y = (value * pow(point[2], -1, P) % P for value in point[:2])
    return (y | (x & 1) << 255).to_bytes(32, "little")


def is_good(key: bytes) -> bool:
    point = decoded(key)
    if point is None or (point[0] == 0 and point[1] == 1):
        return False
    product = multiplied(point, L)
    return bool(product[0] == 0 and product[1] == product[2])


def is_accepted(key: bytes) -> bool:
    try:
        check_verifying_key(key)
    except Exception as error:
        assert getattr(error, "code", None) == "weak-key"
        return False
    return True


def torsion() -> list[Any]:
    """The eight points of small order: L times a point that has all orders."""
    for seed in range(100):
        point = decoded(hashlib.sha256(bytes([seed])).digest())
        if point is not None:
            small = multiplied(point, L)
            points = [multiplied(small, number) for number in range(8)]
            if len({encoded(one) for one in points}) == 8:
                return points
    raise AssertionError


def test_the_fast_check_is_the_definition() -> None:
    some, counts = [hashlib.sha256(b"key %d" % number).digest() for number in range(60)], {True: 0, False: 0}
    good = [ProviderKey(seed).public_bytes() for seed in some[:6]]
    # Of small order, of a good point plus one of small order, and y without a point or above P.
    small = torsion()
    mixed = [encoded(add(decoded(key), one)) for key in good for one in small]
    large = [(number | sign << 255).to_bytes(32, "little") for number in (0, 1, P - 1, P, P + 1, 2**255 - 1) for sign in (0, 1)]
    for key in [*some, *good, *(encoded(one) for one in small), *mixed, *large]:
        counts[is_good(key)] += 1
        assert is_accepted(key) == is_good(key), key.hex()
    assert min(counts.values()) > 10


def test_the_check_is_fast() -> None:
    """It took 1.6 ms in big integers."""
    key, start = ProviderKey.generate().public_bytes(), time.process_time()
    for _ in range(200):
        check_verifying_key(key)
    assert (time.process_time() - start) / 200 < 0.0008
