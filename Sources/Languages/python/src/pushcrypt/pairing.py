"""Pairing by a code: a phone registers with a server that has no accounts. `Docs/FormatRecords.md`, Pairing, has the rules.

    from pushcrypt.pairing import Pairing

    pairing = Pairing.new(provider.public_key, url="https://home.example.net/pair", topic="com.example.app")
    # Show pairing.code to its user alone, and store pairing.to_json(), which is as secret, under pairing.id.

`pushcrypt.home` answers what the phone then posts to the url.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import ipaddress
import json
import os
import re
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ._envelope import TOPIC, check_topic, clock, decode, encode, lp16
from ._errors import Code, PushcryptError
from ._fields import Fields, written
from ._identity import Identity
from ._keys import DevicePublicKey, ProviderPublicKey
from ._records import DeviceRecord, Reply, raw_key
from ._registration import check_user
from ._types import check_optional, check_type
from .answers import derived

__all__ = ["Pairing"]

LIFE = 600_000
ID_LENGTH, HEADER_LENGTH, SALT_LENGTH, TAG_LENGTH, LONGEST_URL = 8, 24, 16, 16, 1024
LONGEST_REQUEST = 16_384
#: What a record has that pairs.
NEEDED = {"device", "update_key", "sequence", "nonce"}
SECRET = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")
URL = re.compile(r"(https?)://(?:([A-Za-z0-9.-]+)|\[([A-Fa-f0-9:]+)\])(?::0*([1-9][0-9]{0,4}))?(?:[/?][!-\"$-\[\]-~]*)?")
PRIVATE = [ipaddress.ip_network(text) for text in (
    "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7", "fe80::/10")]
LOCAL = re.compile(r"localhost|fritz\.box|(?:[^.]+\.)+(?:local|home\.arpa|internal|lan|ts\.net|fritz\.box)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, repr=False)
class Pairing:
    """A code for one phone, and what came of it, as a server stores it. `new` makes one. It has a secret, and is not printed."""

    #: The provider key that the code names.
    provider: ProviderPublicKey
    #: Where the phone posts.
    url: str
    #: The app's bundle id.
    topic: str
    #: Whose phone it will be; `None` for nobody's.
    user: str | None = None
    #: The device that it may replace, because its operator says that it was set up again [P-9].
    replaces: str | None = None
    #: When the code was made, in milliseconds since 1970. It ends 10 minutes later [P-3].
    created: int
    #: When a phone paired; `None` before. Its answer ends 10 minutes later [P-6].
    claimed: int | None = None
    #: The device that paired, and its update key.
    device: str | None = None
    update_key: bytes | None = None
    #: The reply record that it got.
    reply: str | None = None
    _secret: bytes

    @classmethod
    def new(cls, provider: ProviderPublicKey, *, url: str, topic: str, user: str | None = None, replaces: str | None = None) -> Pairing:
        """Makes a code.

        Args:
            provider: Your provider key.
            url: Where the phone posts, now and later: https, or http to a name or address of a home network [P-2].
            topic: The app's bundle id.
            user: Whose phone it will be.
            replaces: The device that it may replace, if it was set up again.
        """
        check_type(provider, ProviderPublicKey, "provider")
        check_user(user)
        check_optional(replaces, str, "replaces")
        check_topic(topic)
        check_type(url, str, "the url")
        if not is_url(url):
            raise PushcryptError(Code.INVALID_REQUEST, "the url is not https, or http in a home network, without user and fragment")
        return cls(provider=provider, url=url, topic=topic, user=user, replaces=replaces, created=clock(), _secret=os.urandom(SALT_LENGTH))

    @classmethod
    def from_json(cls, text: str | bytes) -> Pairing:
        """Reads what `to_json` wrote. Refuses anything else with `malformed-record`, or the code of a key."""
        fields = Fields(text, "stored pairings")
        secret, url = fields.needed(fields.text("secret", SECRET.fullmatch), "secret"), fields.needed(fields.text("url", is_url), "url")
        topic, created = fields.needed(fields.text("topic", TOPIC.fullmatch), "topic"), fields.needed(fields.number("created"), "created")
        claim = claimed, device, reply, _ = fields.number("claimed"), fields.text("device"), fields.text("reply"), fields.text("update_key")
        fields.require(set(claim) == {None} or None not in claim, "the claim")
        provider = fields.needed(fields.read("provider", ProviderPublicKey.parse), "provider")
        _ = reply is None or acknowledged_in(reply)
        return cls(
            provider=provider, url=url, topic=topic, user=fields.text("user"), replaces=fields.text("replaces"), created=created, claimed=claimed, device=device, update_key=fields.read("update_key", raw_key),
            reply=reply, _secret=decode(secret))

    def to_json(self) -> str:
        """What to store, with the secret: only the server may read it. Delete it when the code has ended."""
        names = ("url", "topic", "provider", "user", "replaces", "created", "claimed", "device", "update_key", "reply")
        return written({"secret": self._secret} | {name: getattr(self, name) for name in names})

    @property
    def id(self) -> str:
        """What the phone's request names, 16 hexadecimal digits."""
        return id_of(self._secret).hex()

    @property
    def code(self) -> str:
        """The text for a QR code. Anyone who sees it can pair."""
        return f"pushcrypt:1?{encode(bytes([1]) + self._secret + fingerprint_of(self.provider))}&{self.url}"

    def _open(self, request: bytes, identity: Identity) -> PairingRequest:
        """Opens what a phone posted. If it raises, the answer is 404, and nothing changes [P-4]. A key that is not the code's provider's is a fault."""
        now = clock()
        if identity.provider != self.provider:
            raise PushcryptError(Code.INVALID_REQUEST, "the key is not of the provider that the code names")
        start = self.created if self.claimed is None else self.claimed
        # A code of a clock that was ahead has ended, too [P-3].
        if not start - LIFE <= now < start + LIFE:
            raise PushcryptError(Code.EXPIRED, "the code has ended")
        plain = opened(request_key(self._secret, request[ID_LENGTH:HEADER_LENGTH], self._scene), request[:HEADER_LENGTH], request[HEADER_LENGTH:])
        record, reply = self._decided(plain)
        made = PairingRequest(record=record, answer=None, _pairing=self, _identity=identity, _request=request, _plain=plain, _at=now)
        return made if reply is None else dataclasses.replace(made, answer=made._sealed(reply))

    def _decided(self, plain: bytes) -> tuple[DeviceRecord, None] | tuple[None, str]:
        """The record, or the reply record if that is decided."""
        try:
            fields, record = Fields(plain, "records"), DeviceRecord.from_json(plain)
            fields.require(NEEDED <= fields.members.keys(), "a member")
        except PushcryptError:
            return None, Reply(refused=str(Code.MALFORMED_RECORD)).to_json()
        if self.reply is None:
            return record, None
        claim = self.device, acknowledged_in(self.reply), self.update_key
        is_repeated = (record.device, record.public_key, record.update_key) == claim
        return None, self.reply if is_repeated else Reply(refused="pairing-used").to_json()

    @property
    def _scene(self) -> bytes:
        return scene_of(self.url, self.topic, fingerprint_of(self.provider))

    def __repr__(self) -> str:
        return f"<Pairing {self.id}>"


@dataclass(frozen=True, kw_only=True, repr=False)
class PairingRequest:
    """What a phone posted, once it was opened: a record, or what to answer if that is decided, because the phone has paired already, another has
    the code, or the record breaks a rule."""

    record: DeviceRecord | None
    answer: str | None
    _pairing: Pairing
    _identity: Identity
    _request: bytes
    _plain: bytes
    _at: int

    def seal(self, reply: Reply) -> tuple[Pairing, str]:
        """The pairing to store in the transaction that stores the device [P-5], and what to answer then.

        A refusal leaves the code open. The reply gets the provider key and the certificate of the key that signs it [P-7]. If there was an
        `answer`, that is it, whatever the reply. One that acknowledges another key than the record's raises `invalid-request`.
        """
        check_type(reply, Reply, "the reply")
        if self.answer is not None or self.record is None:
            return self._pairing, self.answer or ""
        text, pairing = reply.to_json(), self._pairing
        if reply.refused is None:
            if reply.acknowledged != self.record.public_key:
                raise PushcryptError(Code.INVALID_REQUEST, "the reply acknowledges another key than the record's")
            pairing = dataclasses.replace(pairing, claimed=self._at, device=self.record.device, update_key=self.record.update_key, reply=text)
        return pairing, self._sealed(text)

    def _sealed(self, reply: str) -> str:
        own = self._identity
        text = written(json.loads(reply) | {"provider": own.provider, "certificate": own.certificate})
        signed = _signed_reply(own, self._pairing.topic, self._plain, text.encode())
        return seal_reply(self._pairing._secret, self._pairing._scene, self._request, signed.encode())

    def __repr__(self) -> str:
        return f"<PairingRequest of {self._pairing!r}>"


def acknowledged_in(reply: str) -> DevicePublicKey:
    """The key in a stored reply."""
    fields = Fields(reply, "stored pairings")
    return fields.needed(fields.read("acknowledged", DevicePublicKey.parse), "the reply")


def is_url(url: str) -> bool:
    """[P-2]"""
    parts = URL.fullmatch(url) if len(url) <= LONGEST_URL else None
    if parts is None or int(parts[4] or 1) > 65_535:
        return False
    try:
        address = ipaddress.ip_address(parts[2] or parts[3])
    except ValueError:
        return parts[2] is not None and (parts[1] == "https" or LOCAL.fullmatch(parts[2]) is not None)
    return parts[1] == "https" or any(address in network for network in PRIVATE)


def decoded(text: str) -> bytes:
    """The bytes of a request."""
    data = decode(text)
    if HEADER_LENGTH + TAG_LENGTH <= len(data) <= LONGEST_REQUEST:
        return data
    raise PushcryptError(Code.MALFORMED_ENVELOPE, "this is not the base64url of a request, or it is too long")


def _signed_reply(own: Identity, topic: str, record: bytes, reply: bytes) -> str:
    """The body of an answer to a record, whose bytes the signature covers too."""
    whose = lp16(topic.encode()) + bytes(own.provider) + own.signing_key + own.epoch.to_bytes(4, "big")
    data = b"pushcrypt/1 reply\0" + whose + hashlib.sha256(record).digest() + reply
    return written({"reply": encode(reply), "signature": encode(own.key.sign(data))})


def id_of(secret: bytes) -> bytes:
    return derived(secret, b"", b"pushcrypt/1 pairing id\0")[:ID_LENGTH]


def fingerprint_of(provider: ProviderPublicKey) -> bytes:
    return hashlib.sha256(bytes(provider)).digest()[:SALT_LENGTH]


def scene_of(url: str, topic: str, fingerprint: bytes) -> bytes:
    return lp16(url.encode()) + lp16(topic.encode()) + fingerprint


def request_key(secret: bytes, salt: bytes, scene: bytes) -> bytes:
    return derived(secret, salt, b"pushcrypt/1 pairing request\0" + scene)


def reply_key(secret: bytes, salt: bytes, scene: bytes, request: bytes) -> bytes:
    return derived(secret, salt, b"pushcrypt/1 pairing reply\0" + scene + hashlib.sha256(request).digest())


def seal_reply(secret: bytes, scene: bytes, request: bytes, text: bytes) -> str:
    """The salt depends on the text: a request that comes again after a refusal gets another key for another text."""
    salt = hmac.digest(secret, b"pushcrypt/1 pairing reply salt\0" + hashlib.sha256(request).digest() + text, "sha256")[:SALT_LENGTH]
    return encode(salt + ChaCha20Poly1305(reply_key(secret, salt, scene, request)).encrypt(bytes(12), text, salt))


def opened(key: bytes, header: bytes, sealed: bytes) -> bytes:
    try:
        return ChaCha20Poly1305(key).decrypt(bytes(12), sealed, header)
    except InvalidTag:
        raise PushcryptError(Code.AUTHENTICATION_FAILED, "the request or reply was changed, or is of another code") from None
