"""signed.json: signed records and replies byte for byte, and replies that a phone must not believe."""

import json

from reference import posts
from reference.keys import sign
from reference.posts import OPEN, SESSION
from reference.records import END_SEQUENCE
from reference.trust import Certificate, Learned

from .forge import flip
from .material import CHAIN, DAY, NOW, PROVIDER, SECOND_PROVIDER, SIGNING, STRANGER, TOPIC, Case, Pair, certify, epoch_of, kept, seed, signer
from .post_cases import ID, UPDATE, compact, end, members
from .record_cases import GOOD
from .vector import base64url, certificate_text, learned_lines, provider_text

HELLO = base64url(seed("hello")[:16])


def posted(record: dict[str, object]) -> bytes:
    """The bytes that the reply to a posted record is signed over: the record, and its signature."""
    data = compact(record)
    return data + sign(UPDATE.seed, posts.record_to_sign(OPEN, TOPIC, PROVIDER.public, data))


RECORD = posted(members(NOW))


def record_case(name: str, record: dict[str, object], channel: int = OPEN, topic: str = TOPIC, provider: Pair | None = PROVIDER) -> Case:
    data = compact(record)
    signed = posts.record_to_sign(channel, topic, provider.public if provider else None, data)
    signature = sign(UPDATE.seed, signed)
    body = posts.post(data, signature)
    one = posts.read_post(body, channel == SESSION)
    assert isinstance(one, posts.Post) and one.is_signed(UPDATE.public, channel, topic)
    return {
        "name": name, "updateSeed": UPDATE.seed.hex(), "channel": channel, "context": topic,
        "provider": provider_text(provider.public) if provider else None, "record": data.decode(), "signed": signed.hex(),
        "signature": base64url(signature), "body": body.decode(),
    }


def record_cases() -> list[Case]:
    return [
        record_case("a record without a session", members(NOW)),
        record_case("a record in a session", members(NOW), SESSION),
        record_case("a record in a session, before the first pin", members(NOW, provider=...), SESSION, provider=None),
        record_case("of another app", members(NOW, topic="com.example.other"), topic="com.example.other"),
        record_case("for another provider", members(NOW, provider=provider_text(SECOND_PROVIDER.public)), provider=SECOND_PROVIDER),
        record_case("every member", GOOD | members(NOW)),
        record_case("the largest sequence", members(END_SEQUENCE - 1)),
        record_case("an end", end()),
    ]


def reply(outcome: dict[str, object], certificate: str | None) -> bytes:
    return compact({"version": 1} | outcome | ({"certificate": certificate} if certificate else {}))


ACKNOWLEDGED: dict[str, object] = {"acknowledged": GOOD["public_key"], "provider": GOOD["provider"]}


def signed_reply(outcome: dict[str, object], number: int | None, asked: bytes = RECORD, topic: str = TOPIC) -> tuple[bytes, bytes, bytes]:
    """The reply record, what is signed, and the body; by a certificate of the chain or by the provider key."""
    one = signer(number)
    record = reply(outcome, text_of(one.certificate))
    to_sign = posts.reply_to_sign(topic, PROVIDER.public, one_key(number).public, one.certificate.epoch if one.certificate else 0, asked, record)
    return record, to_sign, posts.signed_reply(record, sign(one.seed, to_sign))


def text_of(certificate: Certificate | None) -> str | None:
    return certificate_text(certificate) if certificate else None


def one_key(number: int | None) -> Pair:
    return PROVIDER if number is None else SIGNING[number]


def reply_cases() -> list[Case]:
    def case(name: str, outcome: dict[str, object], number: int | None = 1, asked: bytes = RECORD, topic: str = TOPIC) -> Case:
        record, to_sign, body = signed_reply(outcome, number, asked, topic)
        learned = kept(CHAIN[number]) if number is not None else {}
        assert posts.believed(body, asked, (PROVIDER.public,), learned, topic, NOW), name
        return {
            "name": name, "providerSeed": PROVIDER.seed.hex(), "signingSeed": None if number is None else SIGNING[number].seed.hex(),
            "certificate": None if number is None else certificate_text(CHAIN[number]), "context": topic, "asked": asked.hex(),
            "replyRecord": record.decode(), "signed": to_sign.hex(), "body": body.decode(),
        }

    return [
        case("a record is acknowledged", ACKNOWLEDGED),
        case("a record is acknowledged at epoch 0", ACKNOWLEDGED, None),
        case("a record is refused", {"refused": "stale-record", "sequence": NOW + 9}),
        case("a device is not known", {"refused": "unknown-device"}),
        case("a device has ended", {"ended": ID}, asked=posted(end())),
        case("a hello", {"hello": HELLO}, asked=HELLO.encode()),
        case("a hello at epoch 0", {"hello": HELLO}, None, HELLO.encode()),
        case("the grant of the record has ended", ACKNOWLEDGED | {"grant": "ended"}),
        case("two push keys", ACKNOWLEDGED | {"push_key": base64url(SIGNING[3].public), "next_push_key": base64url(SIGNING[4].public)}),
        case("of another app at epoch 0", ACKNOWLEDGED, None, topic="com.example.other"),
    ]


def belief_cases() -> list[Case]:
    """What a phone believes that has posted `asked`, and what it must not."""
    asked = RECORD

    def case(name: str, is_believed: bool, body: bytes, *pins: Pair, learned: dict[bytes, Learned] | None = None, asked: bytes = asked, now: int = NOW) -> Case:
        trusted, known = tuple(pin.public for pin in pins or (PROVIDER,)), learned or {}
        assert (posts.believed(body, asked, trusted, known, TOPIC, now) is not None) == is_believed, name
        return {
            "name": name, "context": TOPIC, "now": now, "pins": [provider_text(pin) for pin in trusted], "learned": learned_lines(known),
            "asked": asked.hex(), "body": body.decode(), "believed": is_believed,
        }

    def made(outcome: dict[str, object], key: Pair, certificate: Certificate | None, *, provider: Pair = PROVIDER, shown: Certificate | None = None,
             epoch: int | None = None, signing: Pair | None = None, asked: bytes = asked, topic: str = TOPIC,
             shown_text: str | None = None) -> bytes:
        record = reply(outcome, shown_text or text_of(shown or certificate))
        at = epoch if epoch is not None else certificate.epoch if certificate else 0
        to_sign = posts.reply_to_sign(topic, provider.public, (signing or key).public, at, asked, record)
        return posts.signed_reply(record, sign(key.seed, to_sign))

    def current(outcome: dict[str, object] = ACKNOWLEDGED, **options: object) -> bytes:
        return made(outcome, SIGNING[1], CHAIN[1], **options)  # type: ignore[arg-type]

    _, _, good = signed_reply(ACKNOWLEDGED, 1)
    _, _, at_zero = signed_reply(ACKNOWLEDGED, None)
    parts = json.loads(good)
    bare = posts.decode(parts["reply"], 0, posts.MAXIMUM_RECORD)
    same_sequence = posted(members(NOW, nonce=base64url(seed("another nonce")[:16])))
    expired = certify(epoch_of(60), SIGNING[2], expires_at=NOW - 1)
    soon = certify(epoch_of(60), SIGNING[2], expires_at=NOW)
    grace_ends = certify(epoch_of(10), SIGNING[3], epoch_of(60), NOW)
    over = certify(epoch_of(10), SIGNING[3], epoch_of(60), NOW - 1)
    others = certify(epoch_of(60), SIGNING[1], provider=SECOND_PROVIDER)
    old, unsaid = {"learned": kept(CHAIN[1])}, {"refused": "unknown-device"}
    return [
        case("by the current certificate", True, good),
        case("by the certificate that the phone has", True, good, learned=kept(CHAIN[1])),
        case("by a certificate above the one that the phone has", True, good, learned=kept(CHAIN[0])),
        case("by the provider key at epoch 0", True, at_zero),
        case("of the second of two pins", True, good, STRANGER, PROVIDER),
        case("by the certificate before the one that the phone has, until its grace ends", True, good, learned=kept(grace_ends)),
        case("by a certificate that expires now", True, made(ACKNOWLEDGED, SIGNING[2], soon)),
        case("with white space and other members", True, json.dumps(parts | {"later": 1}, indent=1).encode()),
        case("that refuses the record", True, current(unsaid)),
        case("that is not signed", False, bare, **old),
        case("without a signature", False, compact({"reply": parts["reply"]}), **old),
        case("with a signature of zeros", False, compact(parts | {"signature": base64url(bytes(64))}), **old),
        case("with a bit of the signature changed", False, compact(parts | {"signature": base64url(flip(40)(posts.decode(parts["signature"], 64, 64)))}), **old),
        case("that was changed", False, compact(parts | {"reply": base64url(bare + b" ")}), **old),
        case("that breaks a rule of replies", False, current({"refused": "Unknown device"})),
        case("that neither acknowledges nor refuses", False, current({})),
        case("to another record", False, good, asked=posted(members(NOW + 1))),
        case("to a record of the same sequence, with another nonce", False, good, asked=same_sequence),
        case("to the record with another signature", False, current(unsaid, asked=flip(-40)(RECORD)), **old),
        case("to the record alone", False, good, asked=RECORD[:-64]),
        case("to another hello", False, current({"hello": HELLO}, asked=HELLO.encode()), asked=base64url(seed("another hello")[:16]).encode()),
        case("for another app", False, current(topic="com.example.other")),
        case("of a stranger with a certificate of his own", False, made(ACKNOWLEDGED, SIGNING[1], certify(epoch_of(60), SIGNING[1], provider=STRANGER), provider=STRANGER)),
        case("of a stranger at epoch 0", False, made(ACKNOWLEDGED, STRANGER, None, provider=STRANGER)),
        case("of a stranger at epoch 0 who claims the pin", False, made(ACKNOWLEDGED, STRANGER, None)),
        case("of a provider that is not pinned for the account", False, made(ACKNOWLEDGED, SIGNING[1], others, provider=SECOND_PROVIDER)),
        case("with the certificate of another provider, signed for the pin", False, made(ACKNOWLEDGED, SIGNING[1], others)),
        case("by another key than its certificate names", False, made(ACKNOWLEDGED, SIGNING[4], CHAIN[1])),
        case("by another key that claims the certificate's", False, made(ACKNOWLEDGED, SIGNING[4], CHAIN[1], signing=SIGNING[1])),
        case("by the provider key beside a certificate", False, made(ACKNOWLEDGED, PROVIDER, CHAIN[1])),
        case("of another epoch than its certificate's", False, current(epoch=epoch_of(59))),
        case("without the certificate of the key that signs", False, made(ACKNOWLEDGED, SIGNING[1], None, epoch=CHAIN[1].epoch), **old),
        case("with another certificate than that of the key that signs", False, made(ACKNOWLEDGED, SIGNING[1], CHAIN[1], shown=CHAIN[2])),
        case("with a certificate that nobody signed", False, current(shown_text=base64url(flip(-1)(CHAIN[1].data)))),
        case("with a certificate for another app", False, made(ACKNOWLEDGED, SIGNING[1], certify(epoch_of(60), SIGNING[1], topic="com.example.other"))),
        case("with a malformed certificate at epoch 0", False, made(ACKNOWLEDGED, PROVIDER, None, shown_text="AA")),
        case("by a replaced signing key, after a theft", False, made(ACKNOWLEDGED, SIGNING[2], CHAIN[2]), learned=kept(CHAIN[3])),
        case("by a signing key whose grace has ended", False, good, learned=kept(over)),
        case("by a signing key below the floor", False, made(unsaid, SIGNING[0], CHAIN[0]), learned=kept(CHAIN[2])),
        case("by the provider key after it has certified a signing key with a floor", False, at_zero, learned=kept(CHAIN[3])),
        case("by a certificate that has expired", False, made(ACKNOWLEDGED, SIGNING[2], expired)),
        case("without a pin", False, good, STRANGER),
    ]


def sequence_cases() -> list[Case]:
    """What a phone's next record has."""
    rows = [
        ("the clock", NOW - DAY, NOW), ("a clock that is behind", NOW + 5, NOW), ("a clock that stands still", NOW, NOW), ("no record before", 0, NOW),
        ("the last moment of 2100", NOW, 4_102_444_800_000), ("a clock after 2100", NOW, 4_102_444_800_001), ("the largest clock", NOW, 2**53 - 1),
        ("a clock in 1970", NOW, 0), ("the last sequence", END_SEQUENCE - 2, NOW),
    ]
    return [{"name": name, "last": last, "clock": clock, "next": posts.next_sequence(last, clock)} for name, last, clock in rows]


def stale_cases() -> list[Case]:
    """What a phone's last sequence becomes after `stale-record`."""
    rows = [
        ("a sequence ahead", NOW, NOW + 9), ("the same sequence", NOW, NOW), ("a lower sequence", NOW, NOW - 9), ("2^40 ahead", NOW, NOW + 2**40),
        ("more than 2^40 ahead", NOW, NOW + 2**40 + 1), ("the largest sequence of a record", NOW, END_SEQUENCE - 1),
    ]
    return [{"name": name, "last": last, "told": told, "after": posts.sequence_after_stale(last, told)} for name, last, told in rows]


