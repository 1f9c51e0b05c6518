"""Edwards and Montgomery points by hand (RFC 7748, RFC 8032).

Libraries create only valid points. The vectors also need invalid ones: small order, mixed order, non-canonical.
Coordinates are affine, with inversions in every addition, because nothing here needs to be fast.
"""

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SIGN = 1 << 255

Point = tuple[int, int]
IDENTITY: Point = (0, 1)


def add(a: Point, b: Point) -> Point:
    """The complete addition law: no special case for doubling, the identity or points of small order."""
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    return (
        (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P,
        (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P,
    )


def multiply(n: int, point: Point) -> Point:
    result = IDENTITY
    for bit in bin(n)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, point)
    return result


def recover_x(y: int, odd: bool) -> int | None:
    """The x with the wanted parity, or None when no point has this y (RFC 8032, 5.1.3)."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        return None
    return x if x % 2 == odd else -x % P


def encode(point: Point) -> bytes:
    x, y = point
    return (y | (x % 2) * SIGN).to_bytes(32, "little")


def decode(text: bytes) -> Point | None:
    """The point of a canonical encoding, or None. Canonical means that `encode` gives the same bytes again."""
    number = int.from_bytes(text, "little")
    y, odd = number % SIGN, number >= SIGN
    x = recover_x(y % P, odd)
    if x is None or encode((x, y % P)) != text:
        return None
    return (x, y % P)


BASE_Y = 4 * pow(5, -1, P) % P
BASE: Point = (recover_x(BASE_Y, odd=False) or 0, BASE_Y)


def torsion() -> list[Point]:
    """The eight points of small order; entry n is n times a generator, so its order is 8 / gcd(8, n)."""
    for y in range(2, P):
        x = recover_x(y, False)
        if x is None:
            continue
        generator = multiply(L, (x, y))
        if multiply(4, generator) != IDENTITY:
            return [multiply(n, generator) for n in range(8)]
    raise AssertionError("unreachable")


def montgomery_u(point: Point) -> int:
    """The u-coordinate of an Edwards point; the identity has none."""
    _, y = point
    return (1 + y) * pow(1 - y, -1, P) % P


def small_order_u() -> list[int]:
    """Every u below p for which X25519 gives zero: those of the torsion points, and -1, which is on the twist."""
    return sorted({montgomery_u(point) for point in torsion() if point != IDENTITY} | {P - 1})


def on_twist(u: int) -> bool:
    """Whether u belongs to the quadratic twist: u^3 + 486662 u^2 + u is not a square."""
    return pow(u**3 + 486662 * u * u + u, (P - 1) // 2, P) == P - 1


def secret_scalar(seed: bytes) -> int:
    """Of an Ed25519 seed (RFC 8032, 5.1.5)."""
    number = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little")
    return number & ~7 & ~(1 << 255) | 1 << 254


def sign_with_nonce(scalar: int, public: bytes, message: bytes, nonce: int, commitment: bytes | None = None) -> bytes:
    """A signature with a chosen nonce, and possibly with other bytes than its point in the place of R."""
    r = encode(multiply(nonce, BASE)) if commitment is None else commitment
    k = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % L
    return r + ((nonce + k * scalar) % L).to_bytes(32, "little")


def key_with_torsion(scalar: int, torsion_point: Point) -> bytes:
    """A key of mixed order, or of small order when the scalar is 0."""
    return encode(add(multiply(scalar, BASE), torsion_point))


def sign_with_torsion(scalar: int, public: bytes, message: bytes, divides: bool = True) -> bytes:
    """A signature under such a key.

    The verifier computes S·B - k·A, in which k times the part of small order vanishes when 8 divides k. One nonce in
    eight gives such a k, so the chooser of the key can always sign. When 8 does not divide k, only a verifier with the
    cofactor takes the signature.
    """
    seed = public + message
    while True:
        seed = hashlib.sha512(seed).digest()
        nonce = int.from_bytes(seed, "little") % L
        commitment = encode(multiply(nonce, BASE))
        k = int.from_bytes(hashlib.sha512(commitment + public + message).digest(), "little") % L
        if (k % 8 == 0) == divides:
            return commitment + ((nonce + k * scalar) % L).to_bytes(32, "little")


def sign_with_small_r(scalar: int, public: bytes, message: bytes, key_torsion: Point) -> bytes:
    """A signature whose R is of small order, and is S·B - k·A, under a key with this part of order 8. Only a check of R
    can refuse it."""
    for number in range(1, 8):
        commitment = encode(multiply(number, key_torsion))
        k = int.from_bytes(hashlib.sha512(commitment + public + message).digest(), "little") % L
        if (k + number) % 8 == 0:
            return commitment + (k * scalar % L).to_bytes(32, "little")
    raise AssertionError("another message must be tried")
