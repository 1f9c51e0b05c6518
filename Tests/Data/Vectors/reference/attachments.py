"""Attachments: the sealed file, its key, the reference to it, and the list of references in a payload."""

import base64
import hashlib
import hmac
import re
import unicodedata
from dataclasses import dataclass

from .secretstream import HEADER_SIZE, OVERHEAD, TAG_FINAL, TAG_MESSAGE, ChunkRefused, Stream

FILE_LABEL = b"pushcrypt/1 file\x00"

PREFIX = b"PCA1\x10"
FIRST_CHUNK = len(PREFIX) + HEADER_SIZE
CHUNK_SIZE = 65536
SEALED_CHUNK_SIZE = CHUNK_SIZE + OVERHEAD
SMALLEST_SIZE = FIRST_CHUNK + OVERHEAD
LARGEST_SIZE = 2**53 - 1

MAXIMUM_COUNT = 8
MAXIMUM_NAME = 255

# The grammar of A-5. The lengths of the host and the value of the port are checked apart.
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


def seal(key: bytes, header: bytes, plain: bytes) -> bytes:
    stream = Stream(key, header)
    *first, last = chunks(plain)
    sealed = [stream.push(chunk, TAG_MESSAGE, PREFIX) for chunk in first]
    return PREFIX + header + b"".join(sealed) + stream.push(last, TAG_FINAL, PREFIX)


# Opening.


@dataclass(frozen=True)
class SealedFile:
    """What a reference says of the sealed file."""

    key: bytes
    size: int
    sha256: bytes


def open_file(sealed: bytes, file: SealedFile) -> bytes:
    """The plain file. Reports the first fault in the file; its end and its hash are checked last."""
    inside = sealed[: file.size]
    plain, rest = [], inside[FIRST_CHUNK:]
    if rest and not inside.startswith(PREFIX):
        raise Refused("not-a-sealed-file")
    stream = Stream(file.key, inside[len(PREFIX) : FIRST_CHUNK]) if rest else None

    def pull(chunk: bytes) -> tuple[bytes, int]:
        try:
            return stream.pull(chunk, PREFIX)
        except ChunkRefused as error:
            raise Refused("authentication-failed") from error

    while len(rest) > SEALED_CHUNK_SIZE:
        chunk, tag = pull(rest[:SEALED_CHUNK_SIZE])
        if tag != TAG_MESSAGE:
            raise Refused("malformed-file")
        plain.append(chunk)
        rest = rest[SEALED_CHUNK_SIZE:]

    if len(sealed) != file.size:
        raise Refused("wrong-size")
    if len(rest) < OVERHEAD:
        raise Refused("truncated-file")
    chunk, tag = pull(rest)
    if tag == TAG_MESSAGE:
        raise Refused("truncated-file")
    if tag != TAG_FINAL or not chunk and plain:
        raise Refused("malformed-file")
    if hashlib.sha256(sealed).digest() != file.sha256:
        raise Refused("wrong-hash")
    return b"".join([*plain, chunk])


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
        and not any(character == "/" or unicodedata.category(character) == "Cc" for character in text)
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
        or not SMALLEST_SIZE <= size <= LARGEST_SIZE
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
