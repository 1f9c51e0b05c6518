"""Files that accompany a push: `Docs/FormatFiles.md`.

Nothing is fetched: an app must fetch over https only, after redirects too, from the same host, and never more than
`size` bytes [A-18], [A-19].
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from ._envelope import encode
from ._errors import Code, PushcryptError
from ._fields import Fields, written
from ._format import (
    FILE_HEADER, FULL_BODY_TYPE, LABEL_FILE, LARGEST_FILE, LONGEST_FILE_NAME, LONGEST_FULL_BODY, PLAIN_CHUNK, SEALED_CHUNK,
    SMALLEST_FILE, TAG_LENGTH,
)
from ._identity import AnyKey, Hedge, Hedged, hedge_of
from ._types import Value, check_type, is_label

LARGEST_PORT = 65535

URL = (
    r"https://(?P<host>[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
)
NAME = r"(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z][A-Za-z0-9_-]{0,62}"
ADDRESS = r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})"
TYPE = r"(?=.{3,255}\Z)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"


def malformed_reference(text: str) -> PushcryptError:
    return PushcryptError(Code.MALFORMED_REFERENCE, text)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reference(Value):
    """The address of a sealed file, and its key. Because of the key it must never reach `userInfo` or a log [A-17]."""

    #: An https address, without user name and fragment [A-6].
    url: str
    #: The key of the file, 32 bytes.
    key: bytes = field(repr=False)
    #: The bytes of the sealed file.
    size: int
    #: The SHA-256 of the sealed file, 32 bytes.
    sha256: bytes
    #: The plain file's uniform type identifier, such as `public.jpeg`.
    type: str
    #: A label to show, 1 to 255 bytes, never a path: [A-8] allows names that some systems treat as paths, such as `C:x`, `CON` or a
    #: backslash.
    name: str

    def __post_init__(self) -> None:
        """[A-6] to [A-11]"""
        for what, kind in {"url": str, "key": bytes, "size": int, "sha256": bytes, "type": str, "name": str}.items():
            check_type(getattr(self, what), kind, what)
        for is_good, text in (
            (is_url(self.url), "url is not an https address without user name and fragment"),
            (re.fullmatch(TYPE, self.type), "type is not a uniform type identifier, such as public.jpeg"),
            (is_file_name(self.name), "name has not 1 to 255 bytes, or has a slash or control characters"),
            (is_size(self.size), f"size is not {SMALLEST_FILE} to 2**53 - 1, or that of no sealed file"),
            (len(self.key) == len(self.sha256) == 32, "key or sha256 does not have 32 bytes"),
        ):
            if not is_good:
                raise malformed_reference(text)

    @classmethod
    def from_json(cls, text: str | bytes) -> Reference:
        """Reads a reference. Refuses anything else with `malformed-reference`."""
        return parse_reference(Fields(text, "references", Code.MALFORMED_REFERENCE).members)

    def to_json(self) -> str:
        """The reference as minimal JSON, as secret as the key in it."""
        return written(self.members())

    def members(self) -> dict[str, Any]:
        """The JSON object that a payload carries."""
        key, sha256 = encode(self.key), encode(self.sha256)
        return {"url": self.url, "key": key, "size": self.size, "sha256": sha256, "type": self.type, "name": self.name}


def parse_reference(value: object) -> Reference:
    """Reads a reference from a JSON value."""
    if not isinstance(value, dict):
        raise malformed_reference("a reference is not an object")
    fields = Fields(b"", "references", Code.MALFORMED_REFERENCE, value)
    values: dict[str, Any] = {name: fields.text(name) for name in ("url", "type", "name")}
    values |= {"size": fields.number("size"), "key": fields.bytes32("key"), "sha256": fields.bytes32("sha256")}
    return Reference(**{name: fields.needed(value, name) for name, value in values.items()})


def is_size(size: int) -> bool:
    """[A-9], and whether a last chunk can be so long: it is empty only if it is the first."""
    last = (size - len(FILE_HEADER)) % SEALED_CHUNK
    return SMALLEST_FILE <= size <= LARGEST_FILE and (last == 0 or last > TAG_LENGTH or size == SMALLEST_FILE)


def is_url(text: str) -> bool:
    """The grammar of [A-6]."""
    parts = re.fullmatch(URL, text)
    if parts is None or int(parts["port"] or 0) > LARGEST_PORT:
        return False
    if re.fullmatch(ADDRESS, parts["host"]):
        return all(int(byte) <= 255 for byte in parts["host"].split("."))
    return re.fullmatch(NAME, parts["host"]) is not None


def is_file_name(name: str) -> bool:
    """[A-8]"""
    return name not in (".", "..") and "/" not in name and is_label(name, LONGEST_FILE_NAME)


def check_full_body_reference(reference: Reference) -> None:
    if reference.type != FULL_BODY_TYPE or not 1 <= reference.size - SMALLEST_FILE <= LONGEST_FULL_BODY:
        raise malformed_reference("a full body has the type public.plain-text and 22 to 65,557 sealed bytes")


def malformed_file(text: str) -> PushcryptError:
    return PushcryptError(Code.MALFORMED_FILE, text)


# Sealing


@dataclass(frozen=True, eq=False, repr=False)
class SealedFile(Value):
    """What `seal_file` made: its `reference` goes into a payload."""

    #: The key of the file, 32 bytes.
    key: bytes = field(repr=False)
    #: The bytes of the sealed file.
    size: int
    #: The SHA-256 of the sealed file, 32 bytes.
    sha256: bytes

    def reference(self, *, url: str, type: str, name: str) -> Reference:
        """The reference for a payload, once the sealed file is stored at the address."""
        return Reference(url=url, key=self.key, size=self.size, sha256=self.sha256, type=type, name=name)


def seal_file(plain: BinaryIO, sealed: BinaryIO, key: AnyKey | Hedged) -> SealedFile:
    """Seals a file under a new key [A-1] to [A-4], in the memory of two chunks.

    `plain` must be seekable: because the new key is hedged, it is read twice, and refused with `changed-file` if it is another one then.
    Discard `sealed` unless this returns. `key` is your sealer, or the key that it has.
    """
    for file, needed in ((plain, "read"), (sealed, "write")):
        if not callable(getattr(file, needed, None)) or isinstance(file, io.TextIOBase):
            raise TypeError(f"a file is open in binary mode, to {needed}, not {type(file).__name__}")
    return seal_chunks(plain, sealed, hedge_of(key), os.urandom(32))


def seal_chunks(plain: BinaryIO, sealed: BinaryIO, hedge: Hedge, random: bytes) -> SealedFile:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    start, first, length = plain.tell(), hashlib.sha256(), 0
    for piece in pieces(plain):
        first.update(piece)
        length += len(piece)
    key = hedge.digest(LABEL_FILE + random + length.to_bytes(8, "big") + first.digest())
    plain.seek(start)

    aead, second, hash, size, came = ChaCha20Poly1305(key), hashlib.sha256(), hashlib.sha256(), 0, 0

    def write(data: bytes) -> None:
        nonlocal size
        sealed.write(data)
        hash.update(data)
        size += len(data)

    write(FILE_HEADER)
    chunks = pieces(plain) if length else iter([b""])
    for number, chunk in enumerate(chunks):
        came += len(chunk)
        second.update(chunk)
        if came > length or (came == length and second.digest() != first.digest()):
            raise PushcryptError(Code.CHANGED_FILE)
        write(aead.encrypt(nonce(number, came == length), chunk, FILE_HEADER))
    if came != length:
        raise PushcryptError(Code.CHANGED_FILE)
    return SealedFile(key, size, hash.digest())


def nonce(number: int, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """Whole chunks, and the rest. A raw file may return fewer bytes than requested before its end."""
    chunk = b""
    while piece := file.read(PLAIN_CHUNK - len(chunk)):
        chunk += piece
        if len(chunk) == PLAIN_CHUNK:
            yield chunk
            chunk = b""
    if chunk:
        yield chunk


@dataclass(frozen=True, eq=False, repr=False)
class FullBody(Value):
    """A body that is too long for a push, as a sealed file."""

    #: The file: store it at the reference's address before you push.
    sealed: bytes = field(repr=False)
    #: What the payload carries.
    reference: Reference


def seal_full_body(text: str, *, url: str, key: AnyKey | Hedged) -> FullBody:
    """Seals a text of 1 to 65,536 bytes; the payload's own body has to be one that can be shown alone, such as its beginning [A-20].

    `url` is the https address at which you store it, `key` your sealer, or the key that it has. Refuses with `body-too-long`,
    `malformed-file`, or `malformed-reference` for the address.
    """
    check_type(text, str, "the text")
    try:
        plain = text.encode("utf-8")
    except UnicodeEncodeError:
        raise malformed_file("the full body has half a surrogate pair") from None
    if len(plain) > LONGEST_FULL_BODY:
        raise PushcryptError(Code.BODY_TOO_LONG, f"the body has {len(plain)} bytes, over {LONGEST_FULL_BODY}")
    if not plain or text.startswith("\ufeff"):
        raise malformed_file("the full body is empty, or begins with a byte order mark")
    output = io.BytesIO()
    file = seal_file(io.BytesIO(plain), output, key)
    return FullBody(output.getvalue(), file.reference(url=url, type=FULL_BODY_TYPE, name="body"))
