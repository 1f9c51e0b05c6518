"""Files that accompany a push, on the phone: `Docs/FormatAttachments.md`."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from .._attachments import (
    Reference, SealedFile, check_full_body_reference, is_size, malformed_file, malformed_reference, nonce, parse_reference,
)
from .._errors import Code, PushcryptError
from .._format import FILE_HEADER, MOST_ATTACHMENTS, SEALED_CHUNK
from .._types import check_type


def own_member(members: dict[str, Any]) -> dict[str, Any]:
    """The member `pushcrypt` of an opened payload, if it is an object."""
    own = members.get("pushcrypt")
    return own if isinstance(own, dict) else {}


def attachments_in(members: dict[str, Any]) -> tuple[list[Reference], list[Code]]:
    """The references in an opened payload, and a code for each dropped item [A-11] to [A-14]."""
    list_, own = own_member(members).get("attachments"), members.get("pushcrypt")
    if list_ is None and (own is None or isinstance(own, dict)):
        return [], []
    if not isinstance(list_, list):
        return [], [Code.MALFORMED_REFERENCE]
    references, dropped = [], []
    for element in list_[:MOST_ATTACHMENTS]:
        try:
            references.append(parse_reference(element))
        except PushcryptError as refused:
            dropped.append(refused.code)
    return references, dropped + [Code.TOO_MANY_ATTACHMENTS] * (len(list_) > MOST_ATTACHMENTS)


def full_body_in(members: dict[str, Any]) -> Reference | None:
    """The reference of a text that was too long for the push, or `None` [A-28], [A-31]."""
    body = own_member(members).get("body")
    if body is None:
        return None
    reference = parse_reference(body)
    check_full_body_reference(reference)
    return reference


class FileOpener:
    """Opens a sealed file in pieces [A-17] to [A-26]. After an error, and after `finish`, everything is refused."""

    def __init__(self, reference: Reference | SealedFile) -> None:
        check_type(reference, (Reference, SealedFile), "the reference")
        if not is_size(reference.size):
            raise malformed_reference("size is that of no sealed file")
        self._aead = ChaCha20Poly1305(reference.key)
        self._size, self._sha256, self._hash = reference.size, reference.sha256, hashlib.sha256()
        self._came, self._number, self._start, self._buffer, self._ended = 0, 0, b"", bytearray(), False

    def update(self, piece: bytes) -> bytes:
        """Accepts bytes of the file and returns those of the chunks that are now known not to be the last."""
        check_type(piece, (bytes, bytearray, memoryview), "a piece of the file")
        self._begin()
        is_over = len(piece) > self._size - self._came
        within = piece[: self._size - self._came]
        self._came += len(within)
        self._hash.update(within)
        if len(self._start) < len(FILE_HEADER):
            missing = len(FILE_HEADER) - len(self._start)
            self._start, within = self._start + within[:missing], within[missing:]
            if len(self._start) == len(FILE_HEADER) and self._start != FILE_HEADER:
                raise PushcryptError(Code.NOT_A_SEALED_FILE, "the file does not begin as sealed files do; check its address")
        plain: list[bytes] = []
        self._buffer += within
        while len(self._buffer) > SEALED_CHUNK:
            plain.append(self._open(bytes(self._buffer[:SEALED_CHUNK]), False))
            del self._buffer[:SEALED_CHUNK]
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
            plain = self._aead.decrypt(nonce(self._number, is_last), chunk, FILE_HEADER)
        except InvalidTag:
            raise PushcryptError(Code.AUTHENTICATION_FAILED, "part of the file is not sealed under this key") from None
        self._number += 1
        return plain
