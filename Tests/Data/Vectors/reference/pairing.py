"""Pairing by a code: `Docs/FormatRecords.md`, Pairing."""

import base64
import hashlib
import hmac
import ipaddress
import re

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from . import posts, records


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


def seal_reply(secret: bytes, where: bytes, request: bytes, reply: bytes) -> bytes:
    """`reply` is a signed reply."""
    salt = hmac.digest(secret, b"pushcrypt/1 pairing reply salt\x00" + hashlib.sha256(request).digest() + reply, "sha256")[:16]
    return salt + ChaCha20Poly1305(reply_key(secret, salt, where, request)).encrypt(bytes(12), reply, salt)


def open_request(secret: bytes, where: bytes, request: bytes) -> bytes:
    return ChaCha20Poly1305(request_key(secret, request[8:24], where)).decrypt(bytes(12), request[24:], request[:24])


def open_reply(secret: bytes, where: bytes, request: bytes, reply: bytes) -> bytes:
    return ChaCha20Poly1305(reply_key(secret, reply[:16], where, request)).decrypt(bytes(12), reply[16:], reply[:16])


HOME = re.compile(r"localhost|fritz\.box|.*[^.]\.(?:local|home\.arpa|internal|lan|ts\.net|fritz\.box)", re.ASCII | re.IGNORECASE)
PRIVATE = [ipaddress.ip_network(text) for text in (
    "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7", "fe80::/10")]


def is_url(url: str) -> bool:
    """[P-2]"""
    parts = re.fullmatch(r"(https?)://(?:([A-Za-z0-9.-]+)|\[([A-Fa-f0-9:]+)\])(?::([0-9]+))?(?:[/?].*)?", url)
    if parts is None or not re.fullmatch(r"[!-~]{1,1024}", url) or set(url) & set("#\\"):
        return False
    scheme, name, bracketed, port = parts.groups()
    try:
        address = ipaddress.ip_address(name if bracketed is None else bracketed)
    except ValueError:
        address = None
    if (bracketed is not None and address is None) or (port is not None and not 1 <= int(port) <= 65_535):
        return False
    is_private = address is not None and any(address in network for network in PRIVATE)
    return scheme == "https" or HOME.fullmatch(name or "") is not None or is_private


def believed(body: bytes, asked: bytes, fingerprint_of_code: bytes, topic: str, now: int) -> records.Reply | None:
    """P-8: a signed reply under the provider key that it names, if that is the code's."""
    try:
        reply = records.read_reply(posts.decode(records.text_of(records.members(body), "reply"), 0, posts.MAXIMUM_RECORD))
    except records.Refused:
        return None
    if reply.provider is None or fingerprint(reply.provider) != fingerprint_of_code:
        return None
    return posts.believed(body, asked, (reply.provider,), {}, topic, now)
