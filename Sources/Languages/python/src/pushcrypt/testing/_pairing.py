"""The phone's half of pairing, for tests: `Docs/FormatPairing.md`."""

from __future__ import annotations

import hmac
import secrets

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from .._envelope import check_topic, decode, encode
from .._errors import Code, PushcryptError
from .._records import DeviceRecord, Reply
from .._types import check_type
from ..pairing import SALT_LENGTH, decoded, fingerprint_of, id_of, is_url, opened, reply_key, request_key, scene_of

START, CODE_LENGTH = "pushcrypt:1?", 44


class PairingCode:
    """A code as a phone reads it. The app shows the host of its `url` and asks the user, posts `request` there, and follows no redirect."""

    #: Where to post.
    url: str

    def __init__(self, text: str, *, topic: str) -> None:
        """Refuses what is no code, or has an address that is not allowed: `invalid-request`."""
        check_type(text, str, "the code")
        check_topic(topic)
        end = len(START) + CODE_LENGTH
        data = text[len(START) : end]
        self.url = text[end + 1 :]
        code = decode(data)
        if not text.startswith(START) or text[end : end + 1] != "&" or not is_url(self.url) or code[:1] != b"\1":
            raise PushcryptError(Code.INVALID_REQUEST, "this is not the code of a server")
        self._secret, self._fingerprint = code[1 : 1 + SALT_LENGTH], code[1 + SALT_LENGTH :]
        self._scene = scene_of(self.url, topic, self._fingerprint)

    def request(self, record: DeviceRecord) -> str:
        """What to post; after a lost reply the same again."""
        return self._sealed(record.to_json().encode(), secrets.token_bytes(SALT_LENGTH))

    def open(self, request: str, reply: str | bytes) -> Reply:
        """Opens what came back with status 200. A reply to another request, or of another provider key, is refused [P-8]."""
        sealed = decoded(reply)
        key = reply_key(self._secret, sealed[:SALT_LENGTH], self._scene, decoded(request))
        found = Reply.from_json(opened(key, sealed[:SALT_LENGTH], sealed[SALT_LENGTH:]))
        fingerprint = None if found.provider is None else fingerprint_of(found.provider)
        if found.refused is None if fingerprint is None else not hmac.compare_digest(fingerprint, self._fingerprint):
            raise PushcryptError(Code.AUTHENTICATION_FAILED, "the reply does not have the provider key of the code")
        return found

    def _sealed(self, record: bytes, salt: bytes) -> str:
        header = id_of(self._secret) + salt
        return encode(header + ChaCha20Poly1305(request_key(self._secret, salt, self._scene)).encrypt(bytes(12), record, header))
