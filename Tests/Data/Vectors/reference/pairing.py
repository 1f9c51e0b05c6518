"""Pairing by a code: `Docs/FormatPairing.md`."""

import base64
import hashlib
import hmac

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def hkdf(ikm: bytes, salt: bytes, info: bytes) -> bytes:
    """One block of output, written out. An empty salt is 32 zero bytes."""
    return hmac.digest(hmac.digest(salt or bytes(32), ikm, "sha256"), info + b"\x01", "sha256")


def fingerprint(provider: bytes) -> bytes:
    return hashlib.sha256(provider).digest()[:16]


def code(secret: bytes, provider: bytes, url: str) -> str:
    return f"pushcrypt:1?{encode(bytes([1]) + secret + fingerprint(provider))}&{url}"


def pairing_id(secret: bytes) -> bytes:
    return hkdf(secret, b"", b"pushcrypt/1 pairing id\x00")[:8]


def scene(url: str, topic: str, provider: bytes) -> bytes:
    texts = b"".join(len(text).to_bytes(2, "big") + text.encode() for text in (url, topic))
    return texts + fingerprint(provider)


def request_key(secret: bytes, salt: bytes, where: bytes) -> bytes:
    return hkdf(secret, salt, b"pushcrypt/1 pairing request\x00" + where)


def reply_key(secret: bytes, salt: bytes, where: bytes, request: bytes) -> bytes:
    return hkdf(secret, salt, b"pushcrypt/1 pairing reply\x00" + where + hashlib.sha256(request).digest())


def seal_request(secret: bytes, salt: bytes, where: bytes, record: bytes) -> bytes:
    header = pairing_id(secret) + salt
    return header + ChaCha20Poly1305(request_key(secret, salt, where)).encrypt(bytes(12), record, header)


def seal_reply(secret: bytes, salt: bytes, where: bytes, request: bytes, reply: bytes) -> bytes:
    return ChaCha20Poly1305(reply_key(secret, salt, where, request)).encrypt(bytes(12), reply, b"")


def open_request(secret: bytes, where: bytes, request: bytes) -> bytes:
    return ChaCha20Poly1305(request_key(secret, request[8:24], where)).decrypt(bytes(12), request[24:], request[:24])


def open_reply(secret: bytes, where: bytes, request: bytes, reply: bytes) -> bytes:
    return ChaCha20Poly1305(reply_key(secret, request[8:24], where, request)).decrypt(bytes(12), reply, b"")
