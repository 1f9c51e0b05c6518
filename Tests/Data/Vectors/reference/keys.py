"""Keys: what is acceptable, their ids, their text forms."""

import hashlib
import string
from enum import Enum

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from . import bech32, curve25519, hpke, mlkem, xwing

# 52 groups of a key and 6 of the checksum, and of a public key of suite 0x02.
SYMBOLS, XWING_SYMBOLS = 58, 1952

# Upper case as ASCII has it. A lower-case letter stands for nothing then.
UPPER_TO_LOWER = str.maketrans(string.ascii_uppercase + string.ascii_lowercase, string.ascii_lowercase + 26 * "?")

KEY_ID_LABEL = b"pushcrypt/1 key id\x00"
X25519_TYPE, PROVIDER_TYPE, XWING_TYPE, SIGNING_TYPE = b"\x01", b"\x02", b"\x03", b"\x04"

# K-7 and K-9: the y of the points of order 4, 1, 2 and 8.
SMALL_ORDER = {y for _, y in curve25519.torsion()}


class Kind(Enum):
    """The kinds of key text. The value is the name used in the vectors; device keys of both suites are one kind to a reader."""

    DEVICE_PUBLIC = "device-public"
    PROVIDER_PUBLIC = "provider-public"
    DEVICE_SECRET = "device-secret"
    PROVIDER_SECRET = "provider-secret"
    SIGNING_SECRET = "signing-secret"
    XWING_PUBLIC = "xwing-public"
    XWING_SECRET = "xwing-secret"

    @property
    def prefix(self) -> str:
        return {
            Kind.DEVICE_PUBLIC: "pcr",
            Kind.PROVIDER_PUBLIC: "pcs",
            Kind.DEVICE_SECRET: "pcr-secret-",
            Kind.PROVIDER_SECRET: "pcs-secret-",
            Kind.SIGNING_SECRET: "pck-secret-",
            Kind.XWING_PUBLIC: "pcrx",
            Kind.XWING_SECRET: "pcrx-secret-",
        }[self]

    @property
    def beginning(self) -> str:
        text = self.prefix + "1"
        return text.upper() if self.is_secret else text

    @property
    def is_secret(self) -> bool:
        return self.value.endswith("-secret")


class KeyRefused(Exception):
    """The argument is the error code."""


def signature_public_key(seed: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def sign(seed: bytes, message: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def verifies(public: bytes, signature: bytes, message: bytes) -> bool:
    """K-9. The library compares the bytes of R, without the cofactor, and takes an R of small order."""
    if y_coordinate(signature[:32]) in SMALL_ORDER:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def device_key_id(public: bytes) -> bytes:
    kind = X25519_TYPE if len(public) == 32 else XWING_TYPE
    return hashlib.sha256(KEY_ID_LABEL + kind + public).digest()[:4]


def device_public_key(secret: bytes) -> bytes:
    return xwing.public_key(secret) if isinstance(secret, xwing.Seed) else hpke.public_key(secret)


def provider_key_id(public: bytes) -> bytes:
    return hashlib.sha256(KEY_ID_LABEL + PROVIDER_TYPE + public).digest()[:4]


def signing_key_id(public: bytes) -> bytes:
    return hashlib.sha256(KEY_ID_LABEL + SIGNING_TYPE + public).digest()[:4]


def is_acceptable_device_key(public: bytes) -> bool:
    """Below p, which leaves bit 255 clear, and with a product that is not zero; in suite 0x02 the last 32 bytes."""
    if len(public) != 32:
        lattice, public = public[: xwing.MLKEM_PUBLIC_SIZE], public[xwing.MLKEM_PUBLIC_SIZE :]
        if not mlkem.is_acceptable(lattice):
            return False
    if int.from_bytes(public, "little") >= curve25519.P:
        return False
    try:
        # Clamping makes every scalar a multiple of 8 below the prime orders, so that any scalar tells.
        hpke.diffie_hellman(bytes(32), public)
    except hpke.OpenError:
        return False
    return True


def y_coordinate(point: bytes) -> int:
    """Without the sign of x, bit 255."""
    return int.from_bytes(point, "little") % curve25519.SIGN


def is_acceptable_signature_key(public: bytes) -> bool:
    """Whether it is on the curve shows when it verifies something."""
    return y_coordinate(public) < curve25519.P and y_coordinate(public) not in SMALL_ORDER


def text_form(kind: Kind, key: bytes) -> str:
    text = bech32.encode(kind.prefix, key)
    return text.upper() if kind.is_secret else text


def import_text(kind: Kind, text: str) -> bytes:
    """The bytes, or KeyRefused. A device's key may be of either suite."""
    text = text.removesuffix("\n")
    for device, later in ((Kind.DEVICE_PUBLIC, Kind.XWING_PUBLIC), (Kind.DEVICE_SECRET, Kind.XWING_SECRET)):
        if kind is device and text.startswith(later.beginning):
            kind = later
    if not text.startswith(kind.beginning):
        other = any(text.startswith(another.beginning) for another in Kind)
        raise KeyRefused("wrong-kind-of-key" if other else "malformed-key")
    symbols = text.removeprefix(kind.beginning)
    if kind.is_secret:
        symbols = symbols.translate(UPPER_TO_LOWER)
    size = XWING_SYMBOLS if kind is Kind.XWING_PUBLIC else SYMBOLS
    if len(symbols) != size or any(symbol not in bech32.ALPHABET for symbol in symbols):
        raise KeyRefused("malformed-key")
    if not bech32.is_checksum_right(kind.prefix, symbols):
        raise KeyRefused("wrong-checksum")
    key = bech32.data(symbols)
    if key is None:
        raise KeyRefused("malformed-key")
    if kind is Kind.XWING_SECRET:
        return xwing.Seed(key)
    if kind in (Kind.DEVICE_PUBLIC, Kind.XWING_PUBLIC) and not is_acceptable_device_key(key):
        raise KeyRefused("weak-key")
    if kind is Kind.PROVIDER_PUBLIC and not is_acceptable_signature_key(key):
        raise KeyRefused("weak-key")
    return key
