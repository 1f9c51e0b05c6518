"""Keys, their texts and ids: `Docs/Format.md`, Key ids and Keys as text."""

from __future__ import annotations

import hashlib
import secrets
from typing import ClassVar, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ._errors import Code, PushcryptError

__all__ = ["DeviceKey", "DevicePublicKey", "ProviderKey", "ProviderPublicKey", "SigningKey"]

LENGTH, LONG_LENGTH = 32, 1216
ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
KINDS = ("pcr", "pcs", "pcr-secret-", "pcs-secret-", "pck-secret-")
#: Device keys of suite 2, post-quantum: a provider may hold public ones, and secret ones are refused as what they are.
SUITE_2 = {"pcr": "pcrx", "pcr-secret-": "pcrx-secret-"}
X25519, ED25519, XWING = 0x01, 0x02, 0x03
#: ML-KEM's modulus: every coefficient in a key is below it.
MLKEM_Q = 3329

# The curve edwards25519: -x² + y² = 1 + dx²y² modulo P, and the order L of its large subgroup.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
# The u-coordinates below P for which X25519 gives zero.
SMALL_ORDER_U = (
    0,
    1,
    int.from_bytes(bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"), "little"),
    int.from_bytes(bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"), "little"),
    P - 1,
)
# The first byte of the encoding of the identity; 31 zero bytes follow.
IDENTITY = bytes([1]) + bytes(31)

AnyKey = TypeVar("AnyKey", bound="_Key")


class _Key:
    """Bytes with a text of their own kind."""

    __slots__ = ("_bytes",)
    KIND: ClassVar[str]
    LENGTHS: ClassVar[tuple[int, ...]] = (LENGTH,)

    def __init__(self, data: bytes) -> None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"a key is made from bytes, not {type(data).__name__}; parse() reads its text")
        if len(data) not in self.LENGTHS:
            raise PushcryptError(Code.MALFORMED_KEY, f"a key has {' or '.join(map(str, self.LENGTHS))} bytes, not {len(data)}")
        self._bytes = bytes(data)

    @classmethod
    def parse(cls: type[AnyKey], text: str) -> AnyKey:
        """Reads a key's text; one newline at its end is dropped, any other white space refused [K-4] to [K-8]."""
        if not isinstance(text, str):
            raise TypeError(f"the text of a key is a str, not {type(text).__name__}")
        return cls(read_text(text, cls.KIND))


class _PublicKey(_Key):
    __slots__ = ("_id", "_text")
    TYPE: ClassVar[int]

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._id: bytes | None = None
        self._text: str | None = None

    def __bytes__(self) -> bytes:
        return self._bytes

    def __str__(self) -> str:
        if self._text is None:
            self._text = write_text(self._bytes, self.KIND)
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    @property
    def key_id(self) -> str:
        """8 hexadecimal digits: a hint for people and look-ups, never to be compared instead of the key [K-1]."""
        return self.id_bytes.hex()

    @property
    def id_bytes(self) -> bytes:
        """The four bytes of the key's id."""
        if self._id is None:
            type = self.TYPE if len(self._bytes) == LENGTH else XWING
            self._id = hashlib.sha256(b"pushcrypt/1 key id\0" + bytes([type]) + self._bytes).digest()[:4]
        return self._id


class DevicePublicKey(_PublicKey):
    """A device's public key, `pcr1…`: what a payload is sealed to.

    One of suite 2, `pcrx1…`, can be held for a device [D-24], but this package does not seal to it.
    """

    __slots__ = ()
    KIND, TYPE = "pcr", X25519
    LENGTHS = (LENGTH, LONG_LENGTH)

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        check_device_key(self._bytes)

    @property
    def suite(self) -> int:
        """1, or 2 for `pcrx1…`."""
        return 1 if len(self._bytes) == LENGTH else 2


class ProviderPublicKey(_PublicKey):
    """A provider's public key, `pcs1…`: what a phone pins."""

    __slots__ = ()
    KIND, TYPE = "pcs", ED25519

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        check_verifying_key(self._bytes)

    def verifies(self, signature: bytes, message: bytes) -> bool:
        return verifies(self._bytes, signature, message)


def verifies(key: bytes, signature: bytes, message: bytes) -> bool:
    """Ed25519 by [K-9], under a key that has passed [K-7]. OpenSSL compares the bytes of R."""
    if signature[:32] == IDENTITY:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except InvalidSignature:
        return False


class _SecretKey(_Key):
    """A secret key. It is not printed; Python cannot wipe it from memory."""

    __slots__ = ()

    @classmethod
    def generate(cls: type[AnyKey]) -> AnyKey:
        """Creates a key from the system's random source."""
        return cls(secrets.token_bytes(LENGTH))

    def secret_text(self) -> str:
        """The key's text, as secret as the key: for a file that only its owner reads."""
        return write_text(self._bytes, self.KIND)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class DeviceKey(_SecretKey):
    """A device's secret key, `PCR-SECRET-1…`."""

    __slots__ = ("public_key", "_private")
    KIND = "pcr-secret-"

    public_key: DevicePublicKey

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._private = X25519PrivateKey.from_private_bytes(self._bytes)
        self.public_key = DevicePublicKey(self._private.public_key().public_bytes_raw())

    def exchange_key(self) -> X25519PrivateKey:
        return self._private


class _Ed25519Key(_SecretKey):
    __slots__ = ("_private",)

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._private = Ed25519PrivateKey.from_private_bytes(self._bytes)

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature, 64 bytes."""
        return self._private.sign(message)

    def public_bytes(self) -> bytes:
        """The public half."""
        return self._private.public_key().public_bytes_raw()

    def hedge_seed(self) -> bytes:
        return self._bytes


class ProviderKey(_Ed25519Key):
    """A provider key, `PCS-SECRET-1…`: it signs certificates and, at epoch 0, messages."""

    __slots__ = ("public_key",)
    KIND = "pcs-secret-"

    public_key: ProviderPublicKey

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.public_key = ProviderPublicKey(self.public_bytes())


class SigningKey(_Ed25519Key):
    """A signing key, `PCK-SECRET-1…`: it signs messages by a certificate, and is replaced by another."""

    __slots__ = ()
    KIND = "pck-secret-"


def shown(kind: str) -> str:
    """A prefix in the case of its texts."""
    return kind.upper() if kind.endswith("-") else kind


def read_text(text: str, kind: str) -> bytes:
    text = text[:-1] if text.endswith("\n") else text
    of = next((other for other in (*KINDS, *SUITE_2.values()) if text.startswith(shown(other) + "1")), None)
    if of is None:
        raise PushcryptError(Code.MALFORMED_KEY, f"this is not the text of a key; it begins with {shown(kind)}1")
    if of not in (kind, SUITE_2.get(kind)):
        raise PushcryptError(Code.WRONG_KIND_OF_KEY, f"this is a {shown(of)}1 key, and a {shown(kind)}1 key is needed")
    alphabet, length = ALPHABET.upper() if of.endswith("-") else ALPHABET, LONG_LENGTH if of == "pcrx" else LENGTH
    values, count = [alphabet.find(character) for character in text[len(of) + 1 :]], -(-8 * length // 5)
    if len(values) != count + 6 or -1 in values:
        raise PushcryptError(Code.MALFORMED_KEY, "the key's text is too short, too long or has a wrong character; copy it whole")
    if polymod(of, values) != 1:
        raise PushcryptError(Code.WRONG_CHECKSUM, "the key was mistyped or cut; copy it again")
    padding = 5 * count - 8 * length
    if values[count - 1] & (1 << padding) - 1:
        raise PushcryptError(Code.MALFORMED_KEY, "the key's text has bits after its end")
    if of != kind and kind.endswith("-"):
        raise PushcryptError(Code.UNSUPPORTED_SUITE, f"this is a {shown(of)}1 key, of suite 2, which this package does not open")
    number = 0
    for value in values[:count]:
        number = number << 5 | value
    return (number >> padding).to_bytes(length, "big")


def write_text(key: bytes, kind: str) -> str:
    kind, count = kind if len(key) == LENGTH else SUITE_2[kind], -(-8 * len(key) // 5)
    number = int.from_bytes(key, "big") << 5 * count - 8 * len(key)
    values = [number >> 5 * place & 31 for place in reversed(range(count))]
    checksum = polymod(kind, values + [0] * 6) ^ 1
    values += [checksum >> 5 * place & 31 for place in reversed(range(6))]
    text = kind + "1" + "".join(ALPHABET[value] for value in values)
    return text.upper() if kind.endswith("-") else text


def polymod(kind: str, values: list[int]) -> int:
    """The checksum of BIP-173: 1 for a valid text."""
    prefix = kind.encode()
    checksum = 1
    for value in [byte >> 5 for byte in prefix] + [0] + [byte & 31 for byte in prefix] + values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            if top >> bit & 1:
                checksum ^= generator
    return checksum


def weak() -> PushcryptError:
    return PushcryptError(Code.WEAK_KEY, "no honest program makes this public key; find out who sent it")


def check_device_key(key: bytes) -> None:
    """Refuses what [K-8] refuses: unreduced numbers, and the five for which X25519 gives zero."""
    u, numbers = int.from_bytes(key[-LENGTH:], "little"), int.from_bytes(key[: -2 * LENGTH], "little")
    if u >= P or u in SMALL_ORDER_U:
        raise weak()
    if any(numbers >> bit & 4095 >= MLKEM_Q for bit in range(0, numbers.bit_length(), 12)):
        raise weak()


def check_verifying_key(key: bytes) -> None:
    """Refuses what [K-7] refuses of provider and signing keys, by definition: decodes the point and multiplies it by L.

    Python's integers do not compute in constant time; the key is public.
    """
    y, sign = int.from_bytes(key, "little") & (1 << 255) - 1, key[31] >> 7
    if y >= P:
        raise weak()
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or x == 0:
        # No such point, or one of the two with x = 0: the identity and the point of order 2.
        raise weak()
    x = P - x if x & 1 != sign else x
    point, product = (x, y, 1, x * y % P), (0, 1, 1, 0)
    for bit in bin(L)[2:]:
        product = add(product, product)
        if bit == "1":
            product = add(product, point)
    if product[0] != 0 or product[1] != product[2]:
        raise weak()


Point = tuple[int, int, int, int]


def add(a: Point, b: Point) -> Point:
    """The sum of two points (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z: RFC 8032, section 5.1.4."""
    s, t = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    u, v = 2 * D * a[3] * b[3], 2 * a[2] * b[2]
    e, f, g, h = t - s, v - u, v + u, t + s
    return e * f % P, g * h % P, f * g % P, e * h % P
