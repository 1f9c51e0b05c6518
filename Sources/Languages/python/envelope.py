"""The layout and opening of envelopes: Docs/Format.md, "Envelope", "Construction", "Inner plaintext" and "Opening".

There is no replay guard: an app that shows notifications needs its own store of shown messages ("Replay"). Nothing is
wiped, and there is no constant-time guarantee except in hpke.py.
"""
import base64
import copy
import hashlib
import re
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from hpke import setup_base_r
from keys import X25519, Refused, key_id
from payload import check_payload, parse_object
from trust import NEVER, RECOVERS, STATEMENT, TOLERANCE, later, number, verifies

SUITE = 0x01
BUCKETS = (256, 512, 1024, 1536, 2048, 2560, 2816, 3584)
OUTSIDE = 53
CONTENT = 68
BODY = 99
LONGEST_TEXT = 4850
LONGEST_PUSH = 65536
LONGEST_TIME_TO_LIVE = 2_592_000
LARGEST_TIME = 2**53 - 1
PAYLOAD, STATEMENTS = 0x01, 0x02
MOST_STATEMENTS = 4


class DeviceKey:
    """A device's secret key. A retiring key opens up to and including the millisecond of its end date."""

    def __init__(self, secret, end=NEVER):
        self.secret, self.end = X25519PrivateKey.from_private_bytes(secret), end
        self.public = self.secret.public_key().public_bytes_raw()
        self.id = key_id(X25519, self.public)


@dataclass(frozen=True)
class Opened:
    """An authentic, fresh message. The app's guard decides by `sender` and `message_id` whether it was shown before.

    Whatever the guard says, the app, under one lock, makes the *currently* stored trust `follow` the accepted
    `statements`, with the context and the `now` of the opening, and stores it [O-9.1]. It must not store the trust that
    it opened with, because another message may have changed the stored trust since. A pending `device` key becomes
    active [O-9.2], and the conflicts in `told` are reported to the app [R-7], [R-19].

    `pushcrypt` in the `payload` contains the keys of files. Remove it before the app, `userInfo` and logs get the
    payload [A-15], [N-2].
    """

    payload: bytes = field(repr=False)
    message_id: bytes
    sent_at: int
    time_to_live: int
    sender: bytes
    device: DeviceKey
    statements: list
    told: list


def open_push(push, context, devices, trust, now):
    """Opens a push as received. `context` is the app's own bundle id, never a value from the push [O-0.2].

    Reads nothing of the push but the envelope [O-0.1], and changes nothing: see `Opened`.
    """
    if len(push) > LONGEST_PUSH:
        raise Refused("malformed-notification")
    text = parse_object(push, "malformed-notification").get("ENCRYPTED_DATA")
    if type(text) is not str:
        raise Refused("not-encrypted")
    return open_text(text, context, devices, trust, now)


def open_text(text, context, devices, trust, now):
    """Opens the text of an envelope: steps 2 to 7."""
    check_context(context)
    envelope = decode(text)
    header, enc, sealed = envelope[:5], envelope[5:37], envelope[37:]

    # Step 3. Exactly one key is tried [O-3.2].
    device = next((key for key in devices if key.id == header[1:] and now <= key.end), None)
    if device is None:
        raise Refused("unknown-recipient-key")

    # Step 4.
    inner = setup_base_r(enc, device.secret, envelope_info(header, context)).open(b"", sealed)

    # Step 5.
    end = BODY + number(inner, 97, 99)
    if end > len(inner):
        raise Refused("authentication-failed")
    body = inner[BODY:end]
    statements, payload = split(inner[68], body)
    after = copy.copy(trust)
    accepted, told = after.follow(statements or (), context, now)
    candidates = after.candidates(inner[:4], now)
    if not any(statement[0] == RECOVERS for statement in accepted):
        candidates += trust.candidates(inner[:4], now)
    if not candidates and told:
        raise Refused(told[0])
    data = [(sender, signed(header, enc, device.public, sender, context, inner)) for sender in candidates]
    sender = next((sender for sender, data in data if verifies(sender, inner[4:68], data)), None)
    if sender is None or any(inner[end:]):
        raise Refused("authentication-failed")

    # Step 6.
    sent_at, time_to_live = number(inner, 85, 93), number(inner, 93, 97)
    if inner[68] not in (PAYLOAD, STATEMENTS):
        raise Refused("unsupported-message")
    if not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE or sent_at > LARGEST_TIME:
        raise Refused("unsupported-message")
    if now > later(sent_at, time_to_live):
        raise Refused("expired")
    if sent_at > later(now, TOLERANCE):
        raise Refused("not-yet-valid")

    # Step 7.
    if statements is None:
        raise Refused("malformed-payload")
    check_payload(payload)
    return Opened(payload, inner[69:85], sent_at, time_to_live, sender, device, accepted, told)


def decode(text):
    """Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text."""
    if not 1 <= len(text) <= LONGEST_TEXT or not re.fullmatch(r"[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        raise Refused("malformed-envelope")
    envelope = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(envelope) != text:
        raise Refused("malformed-envelope")
    if envelope[0] != SUITE:
        raise Refused("unsupported-suite")
    if len(envelope) - OUTSIDE not in BUCKETS:
        raise Refused("malformed-envelope")
    return envelope


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def split(content_type, body):
    """The statements and the payload of a body. The statements are `None` if they are unreadable [O-7.1]; the trust
    ignores those of an unknown version."""
    if content_type != STATEMENTS:
        return [], body
    count = body[0] if body else 0
    start = 1 + STATEMENT * count
    statements = [body[1 + STATEMENT * index :][:STATEMENT] for index in range(count)]
    if not 1 <= count <= MOST_STATEMENTS or len(body) < start:
        return None, b""
    return statements, body[start:]


def fingerprint(text):
    """Identifies an envelope in a log. Never decide anything by it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def check_context(context):
    """Whether a text is a valid context, the app's bundle id without a suffix [K-2]."""
    if not re.fullmatch(r"[A-Za-z0-9.-]{1,255}", context):
        raise Refused("malformed-context")


def lp16(text):
    return len(text).to_bytes(2, "big") + text.encode()


def envelope_info(header, context):
    return b"pushcrypt/1 envelope\0" + header + lp16(context)


def signed(header, enc, recipient, sender, context, inner):
    content_hash = hashlib.sha256(inner[CONTENT:]).digest()
    return b"pushcrypt/1 signature\0" + header + enc + recipient + sender + lp16(context) + content_hash
