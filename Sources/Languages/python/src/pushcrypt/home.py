"""The address of a self-hosted server, to which its phones post everything: `Docs/FormatRecords.md`, Posts and Pairing.

    from pushcrypt.home import answer_post

    # A POST to the url of the pairing codes, in one transaction; `home` looks into your store.
    posted = answer_post(body, home, key, topic="com.example.app")
    for row in posted.changes:
        devices[row.device] = row
    if posted.pairing:
        pairings[posted.pairing.id] = posted.pairing
    if posted.answer:
        answers.append(posted.answer)  # for open_answer
    # Commit, then answer with posted.status and posted.body.

A phone signs each record under its update key, and the reply is signed: neither needs a session or https.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from ._certificates import Certificate
from ._envelope import check_topic, decode, lp16
from ._errors import Code, PushcryptError
from ._fields import Fields
from ._format import LARGEST_TIME
from ._identity import AnyKey, Identity
from ._keys import ProviderPublicKey, verifies
from ._records import NONCE, DeviceRecord, Reply, is_device_id
from ._registration import Accepted, Devices, StoredDevice, accept, found
from ._types import check_optional, utf8
from .pairing import ID_LENGTH, NEEDED, Pairing, decoded, _signed_reply

__all__ = ["Home", "Posted", "answer_post"]

LONGEST_POST, LONGEST_RECORD = 32_768, 16_384
POSTS = {"record", "pairing", "answer", "hello"}


class Home(Devices, Protocol):
    """How `answer_post` looks into your store, in the transaction in which you store what it returns."""

    def pairing(self, id: str) -> Pairing | None:
        """The pairing that you stored under an id, locked; `None` if there is none."""


@dataclass(frozen=True, kw_only=True)
class Posted:
    """What to answer a post with, and what to store before."""

    #: 200, or 404 for what is no post of a phone of yours.
    status: int
    #: What to answer.
    body: str = ""
    #: What to store: each device replaces what you hold under its id.
    changes: Sequence[StoredDevice] = ()
    #: What to store under its id; `None` if that stays.
    pairing: Pairing | None = None
    #: A sealed answer, for `open_answer`.
    answer: str | None = None
    #: Sentences for your operator.
    warnings: Sequence[str] = ()


class _Desk:
    """What answers one post."""

    def __init__(
        self, home: Home, key: AnyKey, topic: str, push_key: bytes | None, next_push_key: bytes | None,
        own_keys: Collection[ProviderPublicKey], issued: Collection[Certificate] | None,
    ) -> None:
        check_topic(topic)
        self.home, self.topic, self.identity = home, topic, Identity(key, topic)
        self.push_key, self.next_push_key, self.own_keys, self.issued = push_key, next_push_key, own_keys, issued

    def reply(self, context: str, asked: bytes, reply: Reply) -> str:
        return _signed_reply(self.identity, context, asked, reply.to_json().encode())

    def named(self, **members: object) -> Reply:
        """A reply with the provider's keys."""
        own = self.identity
        keys = {"push_key": self.push_key, "next_push_key": self.next_push_key}
        return Reply(provider=own.provider, certificate=own.certificate, **keys, **members)  # type: ignore[arg-type]

    def accept(self, record: DeviceRecord, user: str | None, replace: bool = False, is_signed: bool = False) -> Accepted:
        own = self.identity
        return accept(
            record, self.home, user, topic=self.topic, provider=own.provider, own_keys=self.own_keys, certificate=own.certificate,
            issued=self.issued, replace=replace, push_key=self.push_key, next_push_key=self.next_push_key, _is_signed=is_signed)

    def pair(self, text: str) -> Posted:
        request = decoded(text)
        pairing = self.home.pairing(request[:ID_LENGTH].hex())
        check_optional(pairing, Pairing, "what pairing returns")
        if pairing is None:
            return Posted(status=404)
        opened = pairing._open(request, self.identity)
        record = opened.record
        if record is None or record.device is None:
            return Posted(status=200, body=opened.answer or "")
        accepted, replaces = None, pairing.replaces == record.device
        try:
            held = found(self.home, record.device)
            # A code for nobody brings no user's device back [P-9].
            if held is not None and not replaces and (not held.is_removed or held.user != pairing.user):
                raise PushcryptError(Code.USER_MISMATCH)
            accepted = self.accept(record, pairing.user, replaces)
            reply = accepted.reply
        except PushcryptError as error:
            reply = Reply.refusal(error)
        after, body = opened.seal(reply)
        if accepted is None:
            return Posted(status=200, body=body)
        return Posted(status=200, body=body, changes=accepted.changes, pairing=after, warnings=accepted.warnings)

    def take(self, data: bytes, signature: bytes) -> Posted:
        fields, record = Fields(data, "records"), None
        if fields.members.get("ended") is True:
            device, provider = fields.needed(fields.text("device", is_device_id), "device"), fields.read("provider", ProviderPublicKey.parse)
            own_topic = None
            fields.require(fields.number("sequence") == LARGEST_TIME and fields.text("nonce", NONCE.fullmatch) is not None, "an end")
        else:
            record = DeviceRecord.from_json(data)
            fields.require(NEEDED <= fields.members.keys(), "a member")
            device, provider, own_topic = record.device or "", record.provider, record.topic
        provider = fields.needed(provider, "provider")
        held = found(self.home, device)
        context = own_topic or (held.topic if held else self.topic)
        changes: Sequence[StoredDevice] = ()
        warnings: Sequence[str] = ()
        try:
            if held is None or held.is_removed:
                raise PushcryptError(Code.UNKNOWN_DEVICE)
            key = held.update_key
            is_held = key is not None and (record is None or record.update_key == key)
            message = b"pushcrypt/1 record\0\x02" + lp16(context.encode()) + bytes(provider) + data
            if key is None or not is_held or not verifies(key, signature, message):
                raise PushcryptError(Code.BAD_RECORD_SIGNATURE)
            if record is None:
                reply, changes = self.named(ended=device), (held.ended(LARGEST_TIME),)
            else:
                accepted = self.accept(record, held.user, is_signed=True)
                reply, changes, warnings = accepted.reply, accepted.changes, accepted.warnings
        except PushcryptError as error:
            reply = self.named(refused=str(error.code), sequence=error.sequence)
        return Posted(status=200, body=self.reply(context, data + signature, reply), changes=changes, warnings=warnings)


def answer_post(
    body: bytes | str, home: Home, key: AnyKey, *, topic: str, push_key: bytes | None = None, next_push_key: bytes | None = None,
    own_keys: Collection[ProviderPublicKey] = (), issued: Collection[Certificate] | None = None,
) -> Posted:
    """Answers what a phone posts: a pairing, its signed record or end, an answer, or a hello [D-17] to [D-26].

    A refusal is an answer, too. It raises for faults of yours alone, such as a `home` that returns another device.

    Args:
        body: What was posted.
        home: Your store.
        key: What signs: a `ProviderKey`, at epoch 0, or the `Credential` of a signing key.
        topic: The app's bundle id.
        push_key: The public key with which you sign requests to a relay, 32 bytes.
        next_push_key: The one that will follow it.
        own_keys: Other provider keys that you have or had.
        issued: All certificates that you issued, down to the floor of the current one.
    """
    desk, data = _Desk(home, key, topic, push_key, next_push_key, own_keys, issued), utf8(body, "the body")
    try:
        fields = Fields(data if len(data) <= LONGEST_POST else b"", "posts")
        kinds = POSTS & fields.members.keys()
        fields.require(len(kinds) == 1, "what is posted")
        (kind,) = kinds
        text = fields.needed(fields.text(kind), kind)
        if kind == "answer":
            return Posted(status=200, answer=text)
        if kind == "hello":
            fields.require(NONCE.fullmatch(text) is not None, "hello")
            return Posted(status=200, body=desk.reply(topic, text.encode(), desk.named(hello=text)))
        if kind == "pairing":
            return desk.pair(text)
        record, signature = decode(text), decode(fields.needed(fields.text("signature"), "signature"))
        fields.require(0 < len(record) <= LONGEST_RECORD and len(signature) == 64, "record or signature")
        return desk.take(record, signature)
    except PushcryptError as error:
        if error.code == Code.INVALID_REQUEST:
            raise
        return Posted(status=404)
