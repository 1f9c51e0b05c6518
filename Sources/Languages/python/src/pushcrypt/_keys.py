"""Keys, their texts and ids: `Docs/Format.md`, Key ids and Keys as text."""

from __future__ import annotations

import hashlib
import os
from typing import ClassVar, TypeVar

from ._errors import Code, PushcryptError
from ._format import (
    KEY_ALPHABET, KEY_ID_LENGTH, KEY_LENGTH, LABEL_KEY_ID, MLKEM_MODULUS, POST_QUANTUM_KEY_LENGTH, WEAK_DEVICE_KEYS,
    WEAK_VERIFYING_KEYS,
)
from ._types import check_type

#: The five kinds of keys, and device keys of suite 2, post-quantum: a provider may hold public ones, and secret ones are refused as
#: what they are.
KINDS = ("pcr", "pcs", "pcr-secret-", "pcs-secret-", "pck-secret-")
SUITE_2 = {"pcr": "pcrx", "pcr-secret-": "pcrx-secret-"}
#: The types in key ids.
X25519, ED25519, XWING = 0x01, 0x02, 0x03
#: For each five bits that leave the checksum of BIP-173, what is added to it.
GENERATORS = [0]
for one in (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3):
    GENERATORS += [one ^ other for other in GENERATORS]
# The prime of the field.
P = 2**255 - 19
# The u-coordinates below P for which X25519 gives zero, and the y-coordinates of points of small order.
SMALL_ORDER_U, SMALL_ORDER_Y = (
    frozenset(int.from_bytes(bytes.fromhex(key), "little") for key in keys) for keys in (WEAK_DEVICE_KEYS, WEAK_VERIFYING_KEYS)
)

AnyKey = TypeVar("AnyKey", bound="_Key")


class _Key:
    """Bytes with a text of their own kind."""

    __slots__ = ("_bytes",)
    KIND: ClassVar[str]
    LENGTHS: ClassVar[tuple[int, ...]] = (KEY_LENGTH,)

    def __init__(self, data: bytes) -> None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"a key is made from bytes, not {type(data).__name__}; parse() reads its text")
        if len(data) not in self.LENGTHS:
            raise PushcryptError(Code.MALFORMED_KEY, f"a key has {' or '.join(map(str, self.LENGTHS))} bytes, not {len(data)}")
        self._bytes = bytes(data)

    @classmethod
    def parse(cls: type[AnyKey], text: str) -> AnyKey:
        """Reads a key's text; one newline at its end is dropped, any other white space refused [K-4] to [K-8]."""
        check_type(text, str, "the text of a key")
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
            type = self.TYPE if len(self._bytes) == KEY_LENGTH else XWING
            self._id = hashlib.sha256(LABEL_KEY_ID + bytes([type]) + self._bytes).digest()[:KEY_ID_LENGTH]
        return self._id


class DevicePublicKey(_PublicKey):
    """A device's public key, `pcr1…`: what a payload is sealed to. Made from its 32 bytes, or by `parse` from its text.

    One of suite 2, `pcrx1…`, can be held for a device [D-30], but this package does not seal to it.
    """

    __slots__ = ()
    KIND: ClassVar[str] = "pcr"
    TYPE: ClassVar[int] = X25519
    LENGTHS: ClassVar[tuple[int, ...]] = (KEY_LENGTH, POST_QUANTUM_KEY_LENGTH)

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        check_device_key(self._bytes)

    @property
    def suite(self) -> int:
        """1, or 2 for `pcrx1…`."""
        return 1 if len(self._bytes) == KEY_LENGTH else 2


class ProviderPublicKey(_PublicKey):
    """A provider's public key, `pcs1…`: what a phone pins. Made from its 32 bytes, or by `parse` from its text."""

    __slots__ = ()
    KIND: ClassVar[str] = "pcs"
    TYPE: ClassVar[int] = ED25519

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        check_verifying_key(self._bytes)

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether a signature of 64 bytes over a message is by this key [K-9]."""
        check_type(signature, bytes, "the signature")
        check_type(message, bytes, "the message")
        return verifies(self._bytes, signature, message)


def verifies(key: bytes, signature: bytes, message: bytes) -> bool:
    """Ed25519 by [K-9], under a key that has passed [K-7]. OpenSSL compares the bytes of R, and refuses a key that is no point."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if len(signature) != 64 or y_of(signature[:32]) in SMALL_ORDER_Y:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except InvalidSignature:
        return False


class SecretKey(_Key):
    """A secret key. It is not printed; Python cannot wipe it from memory."""

    __slots__ = ()

    @classmethod
    def generate(cls: type[AnyKey]) -> AnyKey:
        """Creates a key from the system's random source."""
        return cls(os.urandom(KEY_LENGTH))

    def secret_text(self) -> str:
        """The key's text, as secret as the key: for a file that only its owner reads."""
        return write_text(self._bytes, self.KIND)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class _Ed25519Key(SecretKey):
    __slots__ = ("_private",)

    def __init__(self, data: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        super().__init__(data)
        self._private = Ed25519PrivateKey.from_private_bytes(self._bytes)

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature, 64 bytes."""
        check_type(message, bytes, "the message")
        return self._private.sign(message)

    def public_bytes(self) -> bytes:
        """The public half."""
        return self._private.public_key().public_bytes_raw()

    def hedge_seed(self) -> bytes:
        return self._bytes


class ProviderKey(_Ed25519Key):
    """A provider key, `PCS-SECRET-1…`: it signs certificates and, at epoch 0, messages."""

    __slots__ = ("public_key",)
    KIND: ClassVar[str] = "pcs-secret-"

    public_key: ProviderPublicKey

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.public_key = ProviderPublicKey(self.public_bytes())


class SigningKey(_Ed25519Key):
    """A signing key, `PCK-SECRET-1…`: it signs messages by a certificate, and is replaced by another."""

    __slots__ = ()
    KIND: ClassVar[str] = "pck-secret-"


def bytes32(key: bytes, what: str) -> bytes:
    """Checks a key that is stored as bytes."""
    check_type(key, bytes, what)
    if len(key) != KEY_LENGTH:
        raise PushcryptError(Code.MALFORMED_KEY, f"{what} has {KEY_LENGTH} bytes, not {len(key)}")
    return key


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
    alphabet, length = KEY_ALPHABET.upper() if of.endswith("-") else KEY_ALPHABET, POST_QUANTUM_KEY_LENGTH if of == "pcrx" else KEY_LENGTH
    start, count = len(of) + 1, -(-8 * length // 5)
    values = [alphabet.find(character) for character in text[start : start + count + 6]]
    if len(text) != start + count + 6 or -1 in values:
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
    kind, count = kind if len(key) == KEY_LENGTH else SUITE_2[kind], -(-8 * len(key) // 5)
    number = int.from_bytes(key, "big") << 5 * count - 8 * len(key)
    values = [number >> 5 * place & 31 for place in reversed(range(count))]
    checksum = polymod(kind, values + [0] * 6) ^ 1
    values += [checksum >> 5 * place & 31 for place in reversed(range(6))]
    text = kind + "1" + "".join(KEY_ALPHABET[value] for value in values)
    return text.upper() if kind.endswith("-") else text


def polymod(kind: str, values: list[int]) -> int:
    """The checksum of BIP-173: 1 for a valid text."""
    prefix = kind.encode()
    checksum = 1
    for value in [byte >> 5 for byte in prefix] + [0] + [byte & 31 for byte in prefix] + values:
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value ^ GENERATORS[checksum >> 25]
    return checksum


def check_device_key(key: bytes) -> None:
    """Refuses what [K-8] refuses: unreduced numbers, and the five for which X25519 gives zero."""
    u, numbers = int.from_bytes(key[-KEY_LENGTH:], "little"), int.from_bytes(key[: -2 * KEY_LENGTH], "little")
    is_large = any(numbers >> bit & 4095 >= MLKEM_MODULUS for bit in range(0, numbers.bit_length(), 12))
    if u >= P or u in SMALL_ORDER_U or is_large:
        raise PushcryptError(Code.WEAK_KEY)


def y_of(point: bytes) -> int:
    """The y-coordinate of an encoded point."""
    return int.from_bytes(point, "little") & (1 << 255) - 1


def check_verifying_key(key: bytes) -> None:
    """Refuses what [K-7] refuses of provider, signing, push and update keys: unreduced coordinates, and those of points of small order."""
    y = y_of(key)
    if y >= P or y in SMALL_ORDER_Y:
        raise PushcryptError(Code.WEAK_KEY)
