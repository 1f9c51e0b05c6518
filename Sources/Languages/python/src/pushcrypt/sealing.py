"""Sealing a payload for one device: `Docs/Format.md`, Clear part, Size and Sealing, and `Docs/FormatNotes.md`."""

from __future__ import annotations

import base64
import bisect
import hashlib
import re
import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union

from ._aps import CheckedPayload
from ._envelope import (
    BODY,
    BUCKETS,
    CERTIFIED,
    CLASSES,
    CONTENT,
    LARGEST_TIME,
    LONGEST_TIME_TO_LIVE,
    OUTSIDE,
    SUITE,
    check_topic,
    encode,
    envelope_info,
    fingerprint,
    lp16,
    milliseconds_now,
    named_message,
    signed,
)
from ._errors import Code, PushcryptError
from ._hpke import setup_base_s
from ._json import Number, write, write_object
from ._types import check_type, check_types
from .attachments import MOST, FullBody, Reference, check_full_body_reference
from .certificates import Certificate
from .keys import DevicePublicKey, ProviderPublicKey
from .messages import Person, check_withdrawal
from .signing import AnyKey, Hedge, Identity, check_key, checked_signature

__all__ = ["ClearField", "Placeholder", "PushRequest", "PushType", "SealedPush", "Sealer"]

PushType = Literal["alert", "background", "voip"]
ClearField = Literal[
    "badge", "category", "thread-id", "interruption-level", "relevance-score", "target-content-id", "filter-criteria"
]
Payload = Union[bytes, str, dict[str, Any]]

#: For each push type, the most bytes that APNs accepts, and the largest bucket.
LIMITS = {"alert": (4096, 2816), "background": (4096, 2816), "voip": (5120, 3584)}
CLEAR_FIELDS = (
    "badge", "category", "thread-id", "interruption-level", "relevance-score", "target-content-id", "filter-criteria"
)
LONGEST_CLEAR_TEXT = 4096
LONGEST_DEVICE_NAME = 255
END_UNIT = 600_000
# What follows the text of the envelope.
AFTER = b'"}'
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|.')
CHARACTER = re.compile(r"\\u....|\\.|.")


@dataclass(frozen=True, kw_only=True)
class Placeholder:
    """What a phone shows if it cannot open a push. The relay reads all of it, and it is not signed.

    `sound` is `"matching"` for the system's sound if the payload has one, `None` for silence, or the name of a sound
    file. `clear` names fields of `aps` that are also in the clear; the opened notification does not depend on them.
    """

    title: str = "New message"
    sound: str | None = "matching"
    clear: Sequence[ClearField] = ()

    def __post_init__(self) -> None:
        for name, text in (("title", self.title), ("sound", self.sound)):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"the placeholder's {name} is a str, not {type(text).__name__}")
        if self.title is None or not is_visible(self.title) or not (self.sound is None or is_visible(self.sound)):
            raise PushcryptError(
                Code.INVALID_PLACEHOLDER,
                "the title or the sound's name shows nothing, is over 4,096 bytes or has half a surrogate pair",
            )
        unknown = [name for name in self.clear if name not in CLEAR_FIELDS]
        if isinstance(self.clear, str) or unknown:
            raise PushcryptError(Code.INVALID_PLACEHOLDER, f"clear is a list of these: {', '.join(CLEAR_FIELDS)}")


def is_visible(text: str) -> bool:
    return bool(text.strip()) and is_unicode(text) and len(text.encode()) <= LONGEST_CLEAR_TEXT


def is_unicode(text: str) -> bool:
    """Whether a text can be encoded as UTF-8: it has no lone surrogate."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


class ClearPart:
    """The text before the envelope, and the longest that a client may make of what surrounds the envelope."""

    __slots__ = ("before", "widest")

    def __init__(self, placeholder: Placeholder, checked: CheckedPayload, push_type: PushType) -> None:
        members: list[str] = []
        if push_type == "alert":
            alert = {"title": placeholder.title, "body": "(Encrypted)"}
            members += ['"mutable-content":1', f'"alert":{write(alert)}']
            sound = placeholder.sound
            if sound == "matching":
                sound = "default" if checked.has_sound else None
            if sound is not None:
                members.append(f'"sound":{write(sound)}')
            # A number as written, or a string.
            members += [
                f"{write(name)}:{value if type(value) is Number else write(value)}"
                for name, value in checked.aps.items() if name in placeholder.clear
            ]
        if push_type == "background" or checked.wakes_app:
            members.append('"content-available":1')
        before = '{"aps":{' + ",".join(members) + '},"ENCRYPTED_DATA":"'
        self.before, self.widest = before.encode(), widest_length(before + AFTER.decode())


@dataclass(frozen=True)
class SealedPush:
    """What to send to Apple instead of the original payload."""

    #: The complete JSON, as the body of the request.
    payload: bytes
    #: The value of ENCRYPTED_DATA, for clients that write `aps` themselves.
    envelope: str = field(repr=False)
    message_id: bytes
    recipient: DevicePublicKey
    push_type: PushType
    #: The last millisecond at which a phone shows the message: `apns-expiration` is this in seconds.
    expires_at: int
    #: The bytes of the longest form that a client may re-encode the JSON to.
    widest: int

    @property
    def fingerprint(self) -> str:
        """8 hexadecimal digits that name the envelope in logs, also in the phone's."""
        return fingerprint(self.envelope)


@dataclass(frozen=True)
class PushRequest:
    """A request to APNs, but for the device token and the provider's authentication. The relay reads all of it."""

    topic: str
    push_type: PushType
    priority: int
    #: Seconds since 1970.
    expiration: int
    collapse_id: str
    payload: bytes

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the HTTP/2 request."""
        return {
            "apns-topic": self.topic, "apns-push-type": self.push_type, "apns-priority": str(self.priority),
            "apns-expiration": str(self.expiration), "apns-collapse-id": self.collapse_id,
        }


class Sealer:
    """Seals APNs payloads for the devices of one app. Any number of threads may use one.

    `topic` is the app's bundle id, without a suffix such as `.voip`. The key is a `ProviderKey`, at epoch 0, or the `Credential` of a
    signing key. One in a service is a `Signer`, which gives one signature here; from epoch 1 on, `provider` and `certificate` belong to it.
    """

    def __init__(
        self, key: AnyKey, *, topic: str, placeholder: Placeholder = Placeholder(), provider: ProviderPublicKey | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        check_topic(topic)
        if topic.endswith(".voip"):
            warnings.warn("the topic is the app's bundle id, without .voip; phones would not open this", stacklevel=2)
        check_type(placeholder, Placeholder, "the placeholder")
        check_key(key)
        self.topic, self.placeholder = topic, placeholder
        self._key, self._identity, self._hedge = key, Identity(key, topic, provider, certificate), Hedge(key)
        self._lp16_topic = lp16(topic.encode())
        self._clear_parts: dict[tuple[PushType, bool, bool], ClearPart] = {}

    @property
    def provider(self) -> ProviderPublicKey:
        """The provider key that phones have pinned."""
        return self._identity.provider

    def __repr__(self) -> str:
        return f"Sealer({self.provider!r}, topic={self.topic!r})"

    def seal(
        self,
        payload: Payload,
        device: DevicePublicKey,
        *,
        push_type: PushType = "alert",
        message_name: str | None = None,
        time_to_live: int = LONGEST_TIME_TO_LIVE,
        at: int | None = None,
        attachments: Sequence[Reference] = (),
        full_body: FullBody | Reference | None = None,
        person: Person | None = None,
        withdrawing: Sequence[str] = (),
        dropped: bool = False,
        sent_exactly: bool = False,
    ) -> SealedPush:
        """Seals a payload for one device.

        Args:
            payload: The APNs payload. JSON given as bytes or text is kept byte for byte but for white space between
                tokens; an object is refused if JSON cannot express it as it is.
            device: The device's registered key.
            push_type: What the push will be sent as.
            message_name: The same in every retry, so that a phone shows the message once; by default each is new.
            time_to_live: For how many seconds phones show it, at most 30 days. Unless it is a call, the end is rounded up
                to ten minutes, because the relay reads `apns-expiration`.
            at: The present time in milliseconds since 1970; by default the system's.
            attachments: At most 8, already stored. They are part of the encrypted payload, and of its size.
            full_body: The whole text, if the payload's own body is only its beginning.
            person: Who the notification is from.
            withdrawing: Names of earlier messages to this device that it takes off the screen, at most 64.
            dropped: Whether nothing is to be shown.
            sent_exactly: Whether the client sends these very bytes, so that their own length counts.

        Raises:
            PushcryptError: With the reason as its `code`.
        """
        return self._seal(
            payload, device, push_type, message_name, time_to_live, at, attachments, full_body, person, withdrawing, dropped,
            sent_exactly, secrets.token_bytes(32), secrets.token_bytes(32), None,
        )

    def _seal(
        self, payload: Payload, device: DevicePublicKey, push_type: PushType, message_name: str | None, time_to_live: int,
        at: int | None, attachments: Sequence[Reference], full_body: FullBody | Reference | None, person: Person | None,
        withdrawing: Sequence[str], dropped: bool, sent_exactly: bool, r_message_id: bytes,
        r_ephemeral: bytes, sealed_time_to_live: int | None,
    ) -> SealedPush:
        """Seals with given randomness, which must never be used twice [S-9], and time to live: for vectors."""
        if push_type not in LIMITS:
            raise PushcryptError(
                Code.PUSH_TYPE_NOT_SEALABLE, "alert, background and voip can be sealed; the system reads others itself"
            )
        if not isinstance(device, DevicePublicKey):
            raise TypeError(f"the device is a DevicePublicKey, not {type(device).__name__}; parse() reads its text")
        if device.suite != SUITE:
            raise PushcryptError(Code.UNSUPPORTED_SUITE, "the key is of suite 2, to which this package does not seal")
        check_types(attachments, Reference, "attachments")
        check_types(withdrawing, str, "withdrawing")
        check_type(full_body, (FullBody, Reference, type(None)), "full_body")
        check_type(person, (Person, type(None)), "person")
        check_type(dropped, bool, "dropped")
        check_type(sent_exactly, bool, "sent_exactly")
        sent_at = milliseconds_now() if at is None else at
        check_times(sent_at, time_to_live)
        check_withdrawal(withdrawing, message_name)
        message_id = None if message_name is None else named_message(checked_name(message_name, "the message's name"))

        checked = CheckedPayload(payload_bytes(payload), push_type)
        body = self._identity.prefix + with_member(checked.json, reserved_member(attachments, full_body, person, withdrawing, dropped))
        limit, largest = LIMITS[push_type]
        fitting = bisect.bisect_left(BUCKETS, BODY + len(body))
        bucket = BUCKETS[fitting] if fitting < len(BUCKETS) else largest + 1
        if bucket > largest:
            raise PushcryptError(
                Code.PAYLOAD_TOO_LARGE,
                f"the payload, with attachments and certificate, has {len(body)} bytes, {len(body) - largest + BODY} too many",
            )
        clear = self._clear_part(checked, push_type)
        text_length = (4 * (OUTSIDE + bucket) + 2) // 3
        widest = clear.widest + text_length
        length = len(clear.before) + len(AFTER) + text_length if sent_exactly else widest
        if length > limit:
            raise PushcryptError(
                Code.PUSH_TOO_LARGE,
                f"the push would have {length} bytes{'' if sent_exactly else ' in its widest form'}, over {limit}; shorten the placeholder",
            )

        if sealed_time_to_live is None:
            sealed_time_to_live = rounded_time_to_live(sent_at, time_to_live, push_type)
        if message_id is None:
            random = r_message_id + sent_at.to_bytes(8, "big") + hashlib.sha256(body).digest()
            message_id = self._hedge.digest(b"pushcrypt/1 message id\0" + random)[:16]
        kind = CLASSES[push_type] | (CERTIFIED if self._identity.certificate else 0)
        content = bytes([kind]) + message_id + sent_at.to_bytes(8, "big")
        content += sealed_time_to_live.to_bytes(4, "big") + len(body).to_bytes(2, "big") + body
        text = self._encrypt(content.ljust(bucket - CONTENT, b"\0"), device, r_ephemeral)
        return SealedPush(
            clear.before + text.encode() + AFTER, text, message_id, device, push_type, sent_at + 1000 * sealed_time_to_live, widest
        )

    def _encrypt(self, content: bytes, device: DevicePublicKey, r_ephemeral: bytes) -> str:
        recipient, signer = bytes(device), self._identity
        header, hash = bytes([SUITE]) + device.id_bytes, hashlib.sha256(content).digest()
        whose = signer.epoch.to_bytes(4, "big") + self._lp16_topic
        ikm_e = self._hedge.digest(b"pushcrypt/1 ephemeral\0" + r_ephemeral + header + recipient + whose + hash)
        enc, encryption = setup_base_s(recipient, envelope_info(header, self.topic), ikm_e)
        message = signed(header, enc, recipient, bytes(signer.provider), signer.signing_key, signer.epoch, self.topic, hash)
        signature = checked_signature(self._key, message)
        return encode(header + enc + encryption.seal(b"", signer.epoch.to_bytes(4, "big") + signature + content))

    def _clear_part(self, checked: CheckedPayload, push_type: PushType) -> ClearPart:
        """All that the relay sees of a push. Unless fields stay in the clear, there are few, which are kept."""
        shape = (push_type, checked.has_sound, checked.wakes_app)
        clear = None if self.placeholder.clear else self._clear_parts.get(shape)
        if clear is None:
            clear = ClearPart(self.placeholder, checked, push_type)
            if not self.placeholder.clear:
                self._clear_parts[shape] = clear
        return clear

    def request(
        self,
        push: SealedPush,
        *,
        device_name: str | None = None,
        collapse_name: str | None = None,
        priority: Literal[1, 5, 10] | None = None,
        expiration: int | None = None,
    ) -> PushRequest:
        """The request to APNs for a push that this sealer sealed.

        Args:
            push: The sealed push.
            device_name: Your name for the device, 1 to 255 bytes, so that the collapse id stays when its key changes.
            collapse_name: Pushes of this name replace each other on a device. Without it, only a retry replaces its first
                copy. Apple gets a keyed hash of it.
            priority: By default 5 for a background push, and 10 for others.
            expiration: In seconds since 1970, 0 for one attempt; by default the message's own end.
        """
        check_type(push, SealedPush, "the push")
        priority = (5 if push.push_type == "background" else 10) if priority is None else priority
        if priority not in (1, 5, 10) or (push.push_type == "background" and priority == 10):
            raise PushcryptError(Code.INVALID_REQUEST, "the priority is 10, 5 or 1, and for a background push not 10")
        if expiration is not None and (type(expiration) is not int or not 0 <= expiration < 10**11):
            raise PushcryptError(Code.INVALID_REQUEST, "the expiration is a time in seconds since 1970, or 0")
        end = push.expires_at // 1000 if expiration is None else expiration
        return PushRequest(
            self.topic + (".voip" if push.push_type == "voip" else ""), push.push_type, priority, end,
            self.collapse_id(push.recipient, push.message_id, device_name=device_name, collapse_name=collapse_name),
            push.payload,
        )

    def collapse_id(
        self, device: DevicePublicKey, message_id: bytes, *, device_name: str | None = None, collapse_name: str | None = None
    ) -> str:
        """`apns-collapse-id`: a keyed hash of the device, and of the message or the name of a group of pushes."""
        if device_name is None:
            whom = b"\x02" + bytes(device)
        else:
            name = checked_name(device_name, "the device's name").encode()
            if len(name) > LONGEST_DEVICE_NAME:
                raise PushcryptError(Code.INVALID_REQUEST, f"the device's name has over {LONGEST_DEVICE_NAME} bytes")
            whom = b"\x01" + lp16(name)
        if collapse_name is None:
            what = b"\x02" + message_id
        else:
            what = b"\x01" + checked_name(collapse_name, "the collapse name").encode()
        hash = self._hedge.digest(b"pushcrypt/1 collapse\0" + lp16(self.topic.encode()) + whom + what)
        return base64.urlsafe_b64encode(hash[:24]).decode()


def payload_bytes(payload: Payload) -> bytes:
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload)
    if isinstance(payload, str):
        return payload.encode("utf-8", "surrogatepass")
    if isinstance(payload, dict):
        return write_object(payload)
    raise TypeError(f"the payload is JSON as bytes or str, or a dict, not {type(payload).__name__}")


def checked_name(name: str, what: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{what} is a str, not {type(name).__name__}")
    if not name or not is_unicode(name):
        raise PushcryptError(Code.INVALID_REQUEST, f"{what} is empty, or has half a surrogate pair; leave it out for none")
    return name


def check_times(sent_at: int, time_to_live: int) -> None:
    if type(time_to_live) is not int or not 1 <= time_to_live <= LONGEST_TIME_TO_LIVE:
        raise PushcryptError(Code.INVALID_TIME, "the time to live is 1 to 2,592,000 seconds (30 days), a whole number")
    if type(sent_at) is not int or not 0 <= sent_at <= LARGEST_TIME:
        raise PushcryptError(Code.INVALID_TIME, "the time is in milliseconds since 1970, below 2**53; set the clock")


def rounded_time_to_live(sent_at: int, time_to_live: int, push_type: PushType) -> int:
    """The time to live whose end does not tell the relay when it was chosen."""
    if push_type == "voip":
        return time_to_live
    end = sent_at + 1000 * time_to_live
    life = (-(-end // END_UNIT) * END_UNIT - sent_at + 999) // 1000
    return life if life <= LONGEST_TIME_TO_LIVE else (end // END_UNIT * END_UNIT - sent_at + 999) // 1000


def reserved_member(
    attachments: Sequence[Reference], full_body: FullBody | Reference | None, person: Person | None,
    withdrawing: Sequence[str], dropped: bool,
) -> dict[str, Any]:
    """The member `pushcrypt` of the sealed payload."""
    if len(attachments) > MOST:
        raise PushcryptError(Code.TOO_MANY_ATTACHMENTS, f"a notification has at most {MOST} attachments")
    if not all(is_unicode(name) for name in withdrawing):
        raise PushcryptError(Code.INVALID_REQUEST, "the name of a message to withdraw has half a surrogate pair")
    member: dict[str, Any] = {}
    if full_body is not None:
        reference = full_body.reference if isinstance(full_body, FullBody) else full_body
        check_full_body_reference(reference)
        member["body"] = reference.members()
    if attachments:
        member["attachments"] = [reference.members() for reference in attachments]
    if person is not None:
        member["sender"] = person.members()
    if withdrawing:
        member["withdraw"] = list(withdrawing)
    if dropped:
        member["drop"] = True
    return member


def with_member(payload: bytes, member: dict[str, Any]) -> bytes:
    """A minimal payload, which has `aps`, with one more member."""
    return payload[:-1] + b',"pushcrypt":' + write(member).encode() + b"}" if member else payload


def widest_length(json_text: str) -> int:
    """The length of a clear part in the longest form that a client may write [S-4]."""
    count = 0
    for token in TOKEN.findall(json_text):
        if token[0] != '"':
            count += 2 if token in ",:" else 1
            continue
        for character in CHARACTER.findall(token):
            if character[0] == "\\" or character in "<>&'+=`\x7f":
                count += 6
            elif character == "/":
                count += 2
            else:
                count += 1 if character < "\x80" else 6 if character < "\U00010000" else 12
    return count
