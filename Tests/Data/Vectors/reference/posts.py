"""What phones post, signed records and replies, and what becomes of a provider's devices: `Docs/FormatRecords.md`."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field, replace

from . import keys, records, trust
from .envelope import TIME_LIMIT
from .keys import Kind
from .records import End, Held, Provider, Record, Refused, Reply
from .trust import Certificate, Learned

MAXIMUM_POST, MAXIMUM_RECORD = 32_768, 16_384
SESSION, OPEN = 1, 2
DAY = 86_400_000
BASE64URL = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str | None, minimum: int, maximum: int) -> bytes:
    """The bytes of the only text of them."""
    records.require(text is not None and BASE64URL.fullmatch(text) is not None and len(text) % 4 != 1)
    assert text is not None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    records.require(encode(data) == text and minimum <= len(data) <= maximum)
    return data


def lp16(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()


# Records.


def record_to_sign(channel: int, topic: str, provider: bytes | None, record: bytes) -> bytes:
    return b"pushcrypt/1 record\x00" + bytes([channel]) + lp16(topic) + (provider or bytes(32)) + record


def post(record: bytes, signature: bytes) -> bytes:
    return json.dumps({"record": encode(record), "signature": encode(signature)}, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Post:
    """A signed record. Nothing about the signature is verified."""

    content: Record | End
    data: bytes
    signature: bytes

    @property
    def device(self) -> str:
        assert self.content.device
        return self.content.device

    @property
    def sequence(self) -> int:
        return records.END_SEQUENCE if isinstance(self.content, End) else self.content.sequence or 0

    def is_signed(self, by: bytes | None, channel: int, topic: str) -> bool:
        signed = record_to_sign(channel, topic, self.content.provider, self.data)
        return by is not None and keys.verifies(by, self.signature, signed)


def read_post(body: bytes, has_session: bool) -> Post | dict[str, str]:
    """D-14 to D-18: a signed record, or the one member of another post."""
    records.require(len(body) <= MAXIMUM_POST)
    members = records.members(body)
    kinds = [name for name in ("record", "pairing", "answer", "hello") if name in members]
    records.require(len(kinds) == 1)
    text = records.text_of(members, kinds[0])
    if kinds == ["hello"]:
        decode(text, 16, 16)
    if kinds != ["record"]:
        assert text is not None
        return {kinds[0]: text}
    data = decode(text, 0, MAXIMUM_RECORD)
    signature = decode(records.text_of(members, "signature"), 64, 64)
    record = records.members(data)
    if records.is_end(record):
        return Post(records.read_end(record), data, signature)
    content = records.read_record(data, Kind.DEVICE_PUBLIC)
    needed = [content.device, content.update_key, content.sequence, content.nonce]
    records.require(None not in needed and (has_session or content.provider is not None))
    return Post(content, data, signature)


# What a provider holds.


@dataclass(frozen=True)
class Device:
    """A row of the provider's. `removed` is why, if the device is not held; of its key then only a hash counts."""

    key: bytes
    generation: int
    topic: str | None
    user: str | None
    update_key: bytes | None
    sequence: int
    grant: str | None
    others: tuple[object, ...] = ()
    removed: str | None = None


@dataclass(frozen=True)
class Store:
    """A provider's devices by id, for one app. `seals` are the suites that it can seal to."""

    topic: str
    own_keys: tuple[bytes, ...]
    devices: dict[str, Device] = field(default_factory=dict)
    seals: tuple[int, ...] | None = None

    def accept(self, body: bytes, has_session: bool, user: str | None, now: int) -> tuple["Store", str]:
        """What a phone posted: the store after it, and the outcome. Raises Refused."""
        one = read_post(body, has_session)
        assert isinstance(one, Post)
        is_end = isinstance(one.content, End)
        has_session = has_session and not is_end
        held = self.devices.get(one.device)
        topic = getattr(one.content, "topic", None) or (held.topic if held else None) or self.topic
        given = self.given(one.device, None if is_end else one.content.key, user if has_session else None)
        if has_session:
            records.check_user(one.content, given)
        elif held is None or held.removed not in (None, "apns"):
            raise Refused("unknown-device")
        held_key = held.update_key if held else None
        brought = held_key if is_end else one.content.update_key
        if not one.is_signed(brought, SESSION if has_session else OPEN, topic) or not (has_session or brought == held_key):
            raise Refused("bad-record-signature")
        if held and one.sequence <= held.sequence:
            raise Refused("stale-record")
        if is_end:
            return self.with_device(one.device, replace(held, sequence=one.sequence, grant=None, removed="ended")), "ended"
        if brought != held_key:
            records.check_generation(one.content, given)
        records.check_key(one.content, given)
        return self.stored(one.device, one.content, user, now)

    def accept_bare(self, record: Record, user: str | None, now: int) -> tuple["Store", str]:
        """The operator's word."""
        assert record.device
        records.register(record, self.given(record.device, record.key, user))
        return self.stored(record.device, record, user, now)

    def given(self, device: str, key: bytes | None, user: str | None) -> Provider:
        row = self.devices.get(device)
        held = Held(row.key, row.generation, row.topic, row.user, row.update_key) if row else Held()
        others = [other for name, other in self.devices.items() if name != device and other.removed is None and other.key == key]
        elsewhere = (others[0].user or "") if others else None
        return Provider(held, user=user, elsewhere=elsewhere, own_keys=self.own_keys, is_removed=bool(row and row.removed), seals=self.seals)

    def stored(self, device: str, record: Record, user: str | None, now: int) -> tuple["Store", str]:
        """D-32, D-33."""
        row = self.devices.get(device)
        if row and row.removed == "ended":
            row = replace(row, update_key=None, sequence=0)
        present = row if row and row.removed is None else None
        others = tuple(map(str, (record.suites, record.created, record.provider, record.app_version)))
        after = Device(
            record.key, record.generation, record.topic or (row.topic if row else None), user or (row.user if row else None),
            record.update_key or (row.update_key if row else None), max(record.sequence or 0, row.sequence if row else 0),
            record.grant or (present.grant if present else None), others,
        )
        store = self
        for name, other in self.devices.items():
            if name != device and other.removed is None and other.key == record.key:
                store = store.with_device(name, replace(other, grant=None, removed="key-moved"))
        is_same = present and replace(present, sequence=after.sequence) == after
        return store.with_device(device, after), "unchanged" if is_same else "updated" if present else "added"

    def removing(self, device: str, why: str, now: int) -> "Store":
        """D-39: by APNs' answer or by the operator."""
        row = self.devices[device]
        assert row.removed is None and why in ("apns", "operator")
        return self.with_device(device, replace(row, sequence=max(row.sequence, now + DAY), grant=None, removed=why))

    def with_device(self, device: str, row: Device) -> "Store":
        return replace(self, devices={**self.devices, device: row})


# Replies.


def reply_to_sign(topic: str, provider: bytes, signing_key: bytes, epoch: int, asked: bytes, reply: bytes) -> bytes:
    keys_of_it = provider + signing_key + epoch.to_bytes(4, "big")
    return b"pushcrypt/1 reply\x00" + lp16(topic) + keys_of_it + hashlib.sha256(asked).digest() + reply


def signed_reply(reply: bytes, signature: bytes) -> bytes:
    return json.dumps({"reply": encode(reply), "signature": encode(signature)}, separators=(",", ":")).encode()


def believed(
    body: bytes, asked: bytes, pins: tuple[bytes, ...], learned: dict[bytes, Learned], topic: str, now: int
) -> Reply | None:
    """D-44: the reply, if a message of its certificate would open now."""
    try:
        members = records.members(body)
        data = decode(records.text_of(members, "reply"), 0, MAXIMUM_RECORD)
        signature = decode(records.text_of(members, "signature"), 64, 64)
        reply = records.read_reply(data)
    except Refused:
        return None
    if reply.certificate_fault:
        return None
    for pin in pins:
        if is_of(pin, reply.certificate, learned.get(pin, Learned()), topic, now):
            signing_key, epoch = (reply.certificate.signing_key, reply.certificate.epoch) if reply.certificate else (pin, 0)
            if keys.verifies(signing_key, signature, reply_to_sign(topic, pin, signing_key, epoch, asked, data)):
                return reply
    return None


def is_of(pin: bytes, certificate: Certificate | None, learned: Learned, topic: str, now: int) -> bool:
    if certificate is None:
        return learned.opens(0, None, now, now)
    try:
        certificate.check(pin, topic)
    except trust.Refused:
        return False
    return learned.learning(certificate)[0].opens(certificate.epoch, certificate, now, now)


def next_sequence(last: int, clock: int) -> int:
    """D-45."""
    return max(last + 1, clock if clock <= trust.LATEST_CLOCK * 1000 else 0)


def sequence_after_stale(last: int, told: int) -> int:
    """D-46."""
    return max(last, min(told, last + 2**40))


assert records.END_SEQUENCE == TIME_LIMIT - 1
