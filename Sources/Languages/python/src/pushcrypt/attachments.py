"""Files that accompany a push: `Docs/FormatAttachments.md`.

Nothing is fetched: an app must fetch over https only, after redirects too, from the same host, and never more than
`size` bytes [A-16], [A-34].
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import io
import re
import secrets
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ._errors import Code, PushcryptError
from ._json import Number
from .signing import AnyKey, Hedge, check_key

__all__ = ["FileOpener", "FullBody", "Reference", "SealedFile", "check_full_body", "seal_file", "seal_full_body"]

PREFIX = b"PCA2\x10"
OVERHEAD = 16
PLAIN_CHUNK = 65536
CHUNK = PLAIN_CHUNK + OVERHEAD
SMALLEST_FILE = len(PREFIX) + OVERHEAD
LARGEST_FILE = 2**53 - 1
LARGEST_FULL_BODY = 65536
LARGEST_PORT = 65535
MOST = 8

URL = re.compile(
    r"https://(?P<host>[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
)
NAME = re.compile(r"(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z][A-Za-z0-9_-]{0,62}")
ADDRESS = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
TYPE = re.compile(r"(?=.{3,255}\Z)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
BYTES32 = re.compile("[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")


def malformed_reference(text: str) -> PushcryptError:
    return PushcryptError(Code.MALFORMED_REFERENCE, text)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The address of a sealed file, and its key. Because of the key it must never reach `userInfo` or a log [A-15].

    `size` and `sha256` are those of the sealed file; `type` is the plain file's uniform type identifier, such as
    `public.jpeg`. The name is a label to show, never a path: [A-7] allows names that some systems treat as paths, such as
    `C:x`, `CON` or a backslash.
    """

    url: str
    key: bytes = field(repr=False)
    size: int
    sha256: bytes
    type: str
    name: str

    def __post_init__(self) -> None:
        """[A-5] to [A-10]"""
        if not is_url(self.url):
            raise malformed_reference("url is not an https address without user name and fragment")
        if not TYPE.fullmatch(self.type):
            raise malformed_reference("type is not a uniform type identifier, such as public.jpeg")
        if not is_file_name(self.name):
            raise malformed_reference("name has not 1 to 255 bytes, or has a slash or control characters")
        if not is_size(self.size):
            raise malformed_reference(f"size is not {SMALLEST_FILE} to 2**53 - 1, or that of no sealed file")
        if len(self.key) != 32 or len(self.sha256) != 32:
            raise malformed_reference("key or sha256 does not have 32 bytes")

    def members(self) -> dict[str, Any]:
        """The JSON object that a payload carries."""
        return {
            "url": self.url, "key": text32(self.key), "size": self.size, "sha256": text32(self.sha256), "type": self.type,
            "name": self.name,
        }


def parse_reference(value: object) -> Reference:
    """Reads a reference from a JSON value."""
    if not isinstance(value, dict):
        raise malformed_reference("a reference is not an object")
    texts: list[Any] = [value.get(name) for name in ("url", "type", "name", "key", "sha256")]
    size = value.get("size")
    if any(type(text) is not str for text in texts) or type(size) is not Number:
        raise malformed_reference("a member of a reference is missing, or of another type")
    length = size.at_most(LARGEST_FILE)
    if length is None:
        raise malformed_reference("size is not an integer that is small enough")
    url, uniform_type, name, key, sha256 = texts
    return Reference(url=url, key=bytes32(key), size=length, sha256=bytes32(sha256), type=uniform_type, name=name)


def is_size(size: int) -> bool:
    """[A-8], and whether a last chunk can be so long: it is empty only if it is the first."""
    last = (size - len(PREFIX)) % CHUNK
    return SMALLEST_FILE <= size <= LARGEST_FILE and (last == 0 or last > OVERHEAD or size == SMALLEST_FILE)


def is_url(text: str) -> bool:
    """The grammar of [A-5]."""
    parts = URL.fullmatch(text)
    if parts is None or int(parts["port"] or 0) > LARGEST_PORT:
        return False
    if ADDRESS.fullmatch(parts["host"]):
        return all(int(byte) <= 255 for byte in parts["host"].split("."))
    return NAME.fullmatch(parts["host"]) is not None


def is_file_name(name: str) -> bool:
    """[A-7]"""
    controls = any(unicodedata.category(character) in ("Cc", "Cs") for character in name)
    return not controls and name not in (".", "..") and "/" not in name and 1 <= len(name.encode()) <= 255


def bytes32(text: str) -> bytes:
    """Reads 32 bytes from canonical base64url: 43 characters, the last with two unused bits."""
    if not BYTES32.fullmatch(text):
        raise malformed_reference("key or sha256 is not 32 bytes in base64url")
    return base64.urlsafe_b64decode(text + "=")


def text32(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def attachments_in(members: dict[str, Any]) -> tuple[list[Reference], list[Code]]:
    """The references in an opened payload, and a code for each dropped item [A-11] to [A-14]."""
    own = members.get("pushcrypt")
    if own is None:
        return [], []
    list_ = own.get("attachments") if isinstance(own, dict) else own
    if isinstance(own, dict) and list_ is None:
        return [], []
    if not isinstance(own, dict) or not isinstance(list_, list):
        return [], [Code.MALFORMED_REFERENCE]
    references, dropped = [], []
    for element in list_[:MOST]:
        try:
            references.append(parse_reference(element))
        except PushcryptError as refused:
            dropped.append(refused.code)
    return references, dropped + [Code.TOO_MANY_ATTACHMENTS] * (len(list_) > MOST)


def full_body_in(members: dict[str, Any]) -> Reference | None:
    """The reference of a text that was too long for the push, or `None` [A-28], [A-31]."""
    own = members.get("pushcrypt")
    if not isinstance(own, dict) or own.get("body") is None:
        return None
    reference = parse_reference(own["body"])
    check_full_body_reference(reference)
    return reference


def check_full_body_reference(reference: Reference) -> None:
    if reference.type != "public.plain-text" or not 1 <= reference.size - SMALLEST_FILE <= LARGEST_FULL_BODY:
        raise malformed_reference("a full body has the type public.plain-text and 22 to 65,557 sealed bytes")


def check_full_body(plain: bytes) -> str:
    """Returns the text in the plain file of a full body [A-28], [A-30]. If it is refused, the payload's own is shown."""
    try:
        text = plain.decode("utf-8")
    except UnicodeDecodeError:
        raise malformed_file("the full body is not UTF-8") from None
    if not 1 <= len(plain) <= LARGEST_FULL_BODY or text.startswith("\ufeff"):
        raise malformed_file(f"the full body has not 1 to {LARGEST_FULL_BODY} bytes, or begins with a byte order mark")
    return text


def malformed_file(text: str) -> PushcryptError:
    return PushcryptError(Code.MALFORMED_FILE, text)


# Sealing


@dataclass(frozen=True)
class SealedFile:
    """The key, size and SHA-256 of a sealed file."""

    key: bytes = field(repr=False)
    size: int
    sha256: bytes

    def reference(self, *, url: str, type: str, name: str) -> Reference:
        """The reference for a payload, once the sealed file is stored at the address."""
        return Reference(url=url, key=self.key, size=self.size, sha256=self.sha256, type=type, name=name)


def seal_file(plain: BinaryIO, sealed: BinaryIO, key: AnyKey) -> SealedFile:
    """Seals a file under a new key [A-1] to [A-4], in the memory of two chunks.

    The new key is hedged with the provider's, so the plain file, which must be seekable, is read twice. Discard `sealed` unless this
    returns.
    """
    check_key(key)
    return seal_chunks(plain, sealed, Hedge(key), secrets.token_bytes(32))


def seal_chunks(plain: BinaryIO, sealed: BinaryIO, hedge: Hedge, random: bytes) -> SealedFile:
    start, first, length = plain.tell(), hashlib.sha256(), 0
    for piece in pieces(plain):
        first.update(piece)
        length += len(piece)
    key = hedge.digest(b"pushcrypt/1 file\0" + random + length.to_bytes(8, "big") + first.digest())
    plain.seek(start)

    aead, second, hash, size, came = ChaCha20Poly1305(key), hashlib.sha256(), hashlib.sha256(), 0, 0

    def write(data: bytes) -> None:
        nonlocal size
        sealed.write(data)
        hash.update(data)
        size += len(data)

    write(PREFIX)
    chunks = pieces(plain) if length else iter([b""])
    for number, chunk in enumerate(chunks):
        came += len(chunk)
        second.update(chunk)
        if came > length or (came == length and second.digest() != first.digest()):
            raise changed_file()
        write(aead.encrypt(nonce(number, came == length), chunk, PREFIX))
    if came != length:
        raise changed_file()
    return SealedFile(key, size, hash.digest())


def nonce(number: int, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


def changed_file() -> PushcryptError:
    return PushcryptError(Code.CHANGED_FILE, "the file changed while it was being sealed; seal it again")


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


@dataclass(frozen=True)
class FullBody:
    """A body that is too long for a push, as a sealed file. Store `sealed` at the reference's address first."""

    sealed: bytes = field(repr=False)
    reference: Reference


def seal_full_body(text: str, *, url: str, key: AnyKey) -> FullBody:
    """Seals the whole text; the payload's own body has to be one that can be shown alone, such as its beginning."""
    try:
        plain = text.encode("utf-8")
    except UnicodeEncodeError:
        raise malformed_file("the full body has half a surrogate pair") from None
    if len(plain) > LARGEST_FULL_BODY:
        raise PushcryptError(Code.BODY_TOO_LONG, f"the body has {len(plain)} bytes, over {LARGEST_FULL_BODY}")
    check_full_body(plain)
    output = io.BytesIO()
    file = seal_file(io.BytesIO(plain), output, key)
    return FullBody(output.getvalue(), file.reference(url=url, type="public.plain-text", name="body"))


# Opening


class FileOpener:
    """Opens a sealed file in pieces [A-17] to [A-26].

    The bytes from `update` are authentic but may be truncated: write them to a file with a temporary name, and rename
    it only after `finish` has returned the rest [A-27], [A-35]. After an error, and after `finish`, everything is
    refused.
    """

    def __init__(self, reference: Reference | SealedFile) -> None:
        if not is_size(reference.size):
            raise malformed_reference("size is that of no sealed file")
        self._aead = ChaCha20Poly1305(reference.key)
        self._size, self._sha256, self._hash = reference.size, reference.sha256, hashlib.sha256()
        self._came, self._number, self._start, self._buffer, self._ended = 0, 0, b"", bytearray(), False

    def update(self, piece: bytes) -> bytes:
        """Accepts bytes of the file and returns those of the chunks that are now known not to be the last."""
        self._begin()
        is_over = len(piece) > self._size - self._came
        within = piece[: self._size - self._came]
        self._came += len(within)
        self._hash.update(within)
        if len(self._start) < len(PREFIX):
            missing = len(PREFIX) - len(self._start)
            self._start, within = self._start + within[:missing], within[missing:]
            if len(self._start) == len(PREFIX) and self._start != PREFIX:
                raise PushcryptError(Code.NOT_A_SEALED_FILE, "the file does not begin as sealed files do; check its address")
        plain: list[bytes] = []
        self._buffer += within
        while len(self._buffer) > CHUNK:
            plain.append(self._open(bytes(self._buffer[:CHUNK]), False))
            del self._buffer[:CHUNK]
        if is_over:
            raise PushcryptError(Code.WRONG_SIZE, "the file is longer than its reference says")
        self._ended = False
        return b"".join(plain)

    def finish(self) -> bytes:
        """Returns the last chunk, if the whole file matches its reference."""
        self._begin()
        if self._came != self._size:
            raise PushcryptError(Code.WRONG_SIZE, "the file is shorter than its reference says")
        chunk = self._open(bytes(self._buffer), True)
        if not hmac.compare_digest(self._hash.digest(), self._sha256):
            raise PushcryptError(Code.WRONG_HASH, "this is another file than the payload means")
        return chunk

    def open(self, pieces: Iterable[bytes]) -> bytes:
        """Opens a whole file that fits into memory."""
        plain = [self.update(piece) for piece in pieces]
        return b"".join([*plain, self.finish()])

    def _begin(self) -> None:
        """Refuses further calls until the current one succeeds."""
        if self._ended:
            raise malformed_file("the file was refused or finished before; open it again from its start")
        self._ended = True

    def _open(self, chunk: bytes, is_last: bool) -> bytes:
        try:
            plain = self._aead.decrypt(nonce(self._number, is_last), chunk, PREFIX)
        except InvalidTag:
            raise PushcryptError(Code.AUTHENTICATION_FAILED, "part of the file is not sealed under this key") from None
        self._number += 1
        return plain
