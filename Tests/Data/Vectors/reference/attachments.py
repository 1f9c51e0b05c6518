"""Attachments: the sealed file, its key, the reference to it, and the list of references in a payload."""

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from .characters import CONTROL, has_none

FILE_LABEL = b"pushcrypt/1 file\x00"

PREFIX = b"PCA2\x10"
CHUNK_SIZE, OVERHEAD = 65536, 16
SEALED_CHUNK_SIZE = CHUNK_SIZE + OVERHEAD
SMALLEST_SIZE = len(PREFIX) + OVERHEAD
LARGEST_SIZE = 2**53 - 1

MAXIMUM_COUNT = 8
MAXIMUM_NAME = 255

# The grammar of A-6. The lengths of the host and the value of the port are checked apart.
CHARACTER = r"[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2}"
OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
HOST = rf"(?:[A-Za-z0-9_-]{{1,63}}\.)*[A-Za-z][A-Za-z0-9_-]{{0,62}}|{OCTET}(?:\.{OCTET}){{3}}"
URL = re.compile(
    rf"https://(?P<host>{HOST})(?::(?P<port>[0-9]{{1,5}}))?(?:/(?:{CHARACTER}|/)*)?(?:\?(?:{CHARACTER}|[/?])*)?", re.ASCII
)
MAXIMUM_HOST, MAXIMUM_PORT = 253, 65535
TYPE = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", re.ASCII)


class Refused(Exception):
    """The argument is the error code."""


# Sealing.


def file_key(hedge: bytes, r: bytes, plain: bytes) -> bytes:
    data = FILE_LABEL + r + len(plain).to_bytes(8, "big") + hashlib.sha256(plain).digest()
    return hmac.digest(hedge, data, "sha256")


def chunks(plain: bytes) -> list[bytes]:
    """The empty file has one chunk, and no other file has an empty one."""
    return [plain[start : start + CHUNK_SIZE] for start in range(0, len(plain), CHUNK_SIZE)] or [b""]


def nonce(index: int, is_last: bool) -> bytes:
    return index.to_bytes(11, "big") + bytes([is_last])


def seal_chunk(key: bytes, index: int, is_last: bool, plain: bytes) -> bytes:
    return ChaCha20Poly1305(key).encrypt(nonce(index, is_last), plain, PREFIX)


def seal(key: bytes, plain: bytes) -> bytes:
    pieces = chunks(plain)
    return PREFIX + b"".join(
        seal_chunk(key, index, index == len(pieces) - 1, piece) for index, piece in enumerate(pieces)
    )


# Opening.


@dataclass(frozen=True)
class SealedFile:
    """What a reference says of the sealed file."""

    key: bytes
    size: int
    sha256: bytes


def open_chunk(key: bytes, index: int, is_last: bool, sealed: bytes) -> bytes:
    try:
        return ChaCha20Poly1305(key).decrypt(nonce(index, is_last), sealed, PREFIX)
    except InvalidTag as error:
        raise Refused("authentication-failed") from error


def is_size(size: int) -> bool:
    """Whether a sealed file can have this many bytes: only the empty one ends with an empty chunk."""
    last = (size - len(PREFIX)) % SEALED_CHUNK_SIZE
    return SMALLEST_SIZE <= size <= LARGEST_SIZE and (last == 0 or last > OVERHEAD or size == SMALLEST_SIZE)


def open_file(sealed: bytes, file: SealedFile) -> bytes:
    """The plain file. Reports the first fault in the file; its end and its hash are checked last."""
    assert is_size(file.size)
    if len(sealed) >= len(PREFIX) and not sealed.startswith(PREFIX):
        raise Refused("not-a-sealed-file")
    starts = range(len(PREFIX), file.size, SEALED_CHUNK_SIZE)
    ends = [(index, start, start + SEALED_CHUNK_SIZE) for index, start in enumerate(starts[:-1])]
    plain = [open_chunk(file.key, index, False, sealed[start:end]) for index, start, end in ends if end <= len(sealed)]
    if len(sealed) != file.size:
        raise Refused("wrong-size")
    plain.append(open_chunk(file.key, len(starts) - 1, True, sealed[starts[-1] :]))
    if hashlib.sha256(sealed).digest() != file.sha256:
        raise Refused("wrong-hash")
    return b"".join(plain)


# References.


@dataclass(frozen=True)
class Reference:
    url: str
    file: SealedFile
    type: str
    name: str


def to_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read_bytes(text: object) -> bytes:
    """base64url of 32 bytes, without padding, the unused bits zero."""
    if isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]{43}", text, re.ASCII):
        data = base64.urlsafe_b64decode(text + "=")
        if to_base64url(data) == text:
            return data
    raise Refused("malformed-reference")


def is_url(text: str) -> bool:
    parts = URL.fullmatch(text)
    return parts is not None and len(parts["host"]) <= MAXIMUM_HOST and int(parts["port"] or 0) <= MAXIMUM_PORT


def is_name(text: str) -> bool:
    return (
        1 <= len(text.encode()) <= MAXIMUM_NAME
        and text not in (".", "..")
        and has_none(text, CONTROL | {ord("/")})
    )


def read_reference(value: object) -> Reference:
    """The members of a reference, from parsed JSON. Other members are ignored."""
    if not isinstance(value, dict):
        raise Refused("malformed-reference")
    url, size, kind, name = (value.get(member) for member in ("url", "size", "type", "name"))
    if (
        not isinstance(url, str)
        or not is_url(url)
        or not isinstance(size, int)
        or isinstance(size, bool)
        or not is_size(size)
        or not isinstance(kind, str)
        or not TYPE.fullmatch(kind)
        or len(kind) > MAXIMUM_NAME
        or not isinstance(name, str)
        or not is_name(name)
    ):
        raise Refused("malformed-reference")
    file = SealedFile(read_bytes(value.get("key")), size, read_bytes(value.get("sha256")))
    return Reference(url, file, kind, name)


def read_full_body(value: object) -> Reference:
    reference = read_reference(value)
    sizes = range(SMALLEST_SIZE + 1, SMALLEST_SIZE + CHUNK_SIZE + 1)
    if reference.type != "public.plain-text" or reference.file.size not in sizes:
        raise Refused("malformed-reference")
    return reference


def read_reserved(payload: dict[str, object]) -> tuple[list[Reference], Reference | None, list[str]]:
    """The attachments of a payload, its full body, and a code for each one that is dropped.

    Attachments from the ninth on have one code. A full body that is dropped comes last.
    """
    reserved = payload.get("pushcrypt")
    if reserved is None:
        return [], None, []
    if not isinstance(reserved, dict):
        return [], None, ["malformed-reference"]
    accepted, dropped = read_list(reserved.get("attachments"))
    full_body = None
    if reserved.get("body") is not None:
        try:
            full_body = read_full_body(reserved["body"])
        except Refused as error:
            dropped.append(error.args[0])
    return accepted, full_body, dropped


def read_list(elements: object) -> tuple[list[Reference], list[str]]:
    if elements is None:
        return [], []
    if not isinstance(elements, list):
        return [], ["malformed-reference"]
    accepted, dropped = [], []
    for element in elements[:MAXIMUM_COUNT]:
        try:
            accepted.append(read_reference(element))
        except Refused as error:
            dropped.append(error.args[0])
    if len(elements) > MAXIMUM_COUNT:
        dropped.append("too-many-attachments")
    return accepted, dropped
