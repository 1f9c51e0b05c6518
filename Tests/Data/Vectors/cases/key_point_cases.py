"""Public keys that are rightly written and are weak."""

from math import gcd

from reference import curve25519, keys
from reference.keys import Kind

from .hpke_cases import zero_result_points
from .key_cases import P, invalid, little, valid
from .material import PHONE, PROVIDER
from .vector import Vector


def device_key_faults() -> list[Vector]:
    points = [
        *zero_result_points(),
        ("the base point with p added", little(9 + P)),
        ("p + 2", little(P + 2)),
        ("2^255 - 1", little(2**255 - 1)),
        ("2^256 - 1", little(2**256 - 1)),
        ("a good key with bit 255 set", little(int.from_bytes(PHONE.public, "little") | curve25519.SIGN)),
    ]
    kind = Kind.DEVICE_PUBLIC
    comment = "X25519 gives zero for it, or it has another encoding below p."
    return [
        invalid(f"X25519: {name}", kind, "weak-key", "K-8", comment, keys.text_form(kind, point), point)
        for name, point in points
    ]


def weak_points() -> list[tuple[str, bytes]]:
    """Encodings that are no key of Ed25519: of small order, or not below p."""
    torsion = curve25519.torsion()
    orders = [8 // gcd(8, number) for number in range(8)]
    small = [
        (f"small order {order}, {number} times the generator of the eight", curve25519.encode(point))
        for number, (order, point) in enumerate(zip(orders, torsion, strict=True))
    ]
    small_again = [
        ("small order, not canonical: the identity with the sign of x set", little(1 | curve25519.SIGN)),
        ("small order, not canonical: the point of order 2 with the sign of x set", little(P - 1 | curve25519.SIGN)),
        ("small order, not canonical: y = p, which is 0, of order 4", little(P)),
        ("small order, not canonical: y = p with the sign of x set", little(P | curve25519.SIGN)),
        ("small order, not canonical: y = p + 1, which is the identity", little(P + 1)),
        ("small order, not canonical: y = p + 1 with the sign of x set", little(P + 1 | curve25519.SIGN)),
    ]

    # p + 2 … p + 18 are the other encodings of what is not below p, on the curve or not.
    non_canonical = [
        (f"not canonical: y = p + {y}, x {'odd' if sign else 'even'}", little(P + y | sign))
        for y in range(2, 19)
        for sign in (0, curve25519.SIGN)
    ]
    return [*small, *small_again, *non_canonical]


def other_points() -> list[tuple[str, bytes]]:
    """Keys that nobody makes, and that are taken: of mixed order, and no points."""
    torsion = curve25519.torsion()
    orders = [8 // gcd(8, number) for number in range(8)]
    off_curve = next(y for y in range(2, P) if curve25519.recover_x(y, False) is None)
    good = curve25519.decode(PROVIDER.public)
    assert good
    mixed = [
        (
            f"mixed order: a good key plus a point of order {order}, {number} times the generator of the eight",
            curve25519.encode(curve25519.add(good, point)),
        )
        for number, (order, point) in enumerate(zip(orders, torsion, strict=True))
        if order > 1
    ]
    return [
        ("no point on the curve", little(off_curve)),
        ("no point on the curve, x odd", little(off_curve | curve25519.SIGN)),
        *mixed,
    ]


def provider_key_faults() -> list[Vector]:
    kind = Kind.PROVIDER_PUBLIC
    comment = "Of small order, so that anyone can sign for it, or another encoding."
    taken = "Its owner gains nothing, and nothing verifies under what is no point."
    return [
        *(valid(f"Ed25519: {name}", kind, point, "K-7", taken) for name, point in other_points()),
        *(
            invalid(f"Ed25519: {name}", kind, "weak-key", "K-7", comment, keys.text_form(kind, point), point)
            for name, point in weak_points()
        ),
    ]
