"""A provider's replies to records, and what becomes of what the phone holds."""

import json

from reference import keys, records
from reference.keys import Kind
from reference.records import Phone, Refused
from reference.trust import Learned

from .certificate_cases import GOOD as CERTIFICATE
from .forge import flip
from .material import (
    CHAIN,
    PHONE,
    PROVIDER,
    SECOND_PROVIDER,
    SIGNING,
    STRANGER,
    TABLET,
    TOPIC,
    Pair,
    certify,
    kept,
)
from .record_cases import GOOD, MALFORMED, device_text
from .vector import (
    Header,
    Vector,
    base64url,
    certificate_text,
    learned_after_header,
    provider_text,
    trust_header,
    vector,
)

ACKNOWLEDGED = {"version": 1, "acknowledged": GOOD["public_key"], "provider": provider_text(PROVIDER.public)}
PUSH_KEY = SIGNING[4].public
NONCE = str(GOOD["nonce"])


def reply_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    text: str,
    pins: tuple[Pair, ...] = (),
    learned: dict[bytes, Learned] | None = None,
    has_built_in: bool = False,
) -> Vector:
    """A phone whose record named the key of `device` gets the text."""
    phone = Phone(PHONE.public, TOPIC, tuple(pin.public for pin in pins), learned or {}, has_built_in)
    header: list[Header] = [
        ("device", keys.text_form(Kind.DEVICE_SECRET, PHONE.secret)),
        ("context", TOPIC),
        *trust_header(phone.pins, phone.learned),
        ("built-in", "yes" if has_built_in else None),
    ]
    try:
        reply = records.read_reply(text.encode())
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        confirms, after, told = records.apply(reply, phone)
        header += [
            ("acknowledged", device_text(reply.acknowledged) if reply.acknowledged else None),
            ("refused", reply.refused),
            ("ended", reply.ended),
            ("hello", reply.hello),
            ("sequence", reply.sequence),
            ("provider", provider_text(reply.provider) if reply.provider else None),
            ("certificate", certificate_text(reply.certificate) if reply.certificate else None),
            ("push-key", reply.push_key.hex() if reply.push_key else None),
            ("next-push-key", reply.next_push_key.hex() if reply.next_push_key else None),
            ("grant", reply.grant),
            ("suites", " ".join(map(str, reply.suites)) if reply.suites != [1] else None),
            *(("foreign", member) for member in reply.foreign),
            ("confirms", "yes" if confirms else "no"),
            *(("pin-after", provider_text(pin)) for pin in after.pins if after.pins != phone.pins),
            *learned_after_header(phone.learned, after.learned),
            ("told", told),
        ]
    return vector("replies", name, expected, rules, comment, header, text.encode())


def changed(**members: object) -> str:
    return json.dumps({name: value for name, value in (ACKNOWLEDGED | members).items() if value is not ...})


def refusal(reason: str, **members: object) -> str:
    return changed(acknowledged=..., refused=reason, **members)


def refused_cases() -> list[Vector]:
    provider, one = PROVIDER.public, "A reply with one fault. It confirms no key and pins no provider."
    identity = b"\x01" + bytes(31)
    push_key = base64url(PUSH_KEY)
    faults: list[tuple[str, str, str, str]] = [
        ("a reply without a version", MALFORMED, "D-19", changed(version=...)),
        ("a reply of version 2", MALFORMED, "D-19", changed(version=2)),
        ("a version that is a string", MALFORMED, "D-19", changed(version="1")),
        ("neither acknowledged nor refused", MALFORMED, "D-19", changed(acknowledged=...)),
        ("both acknowledged and refused", MALFORMED, "D-19", changed(refused="generation-rollback")),
        ("acknowledged that is null", MALFORMED, "D-19 D-6", changed(acknowledged=None)),
        ("an empty reason", MALFORMED, "D-19", changed(acknowledged=..., refused="")),
        ("a reason of 65 characters", MALFORMED, "D-19", changed(acknowledged=..., refused="a" * 65)),
        ("a reason with a capital", MALFORMED, "D-19", changed(acknowledged=..., refused="Rollback")),
        ("a reason with a space", MALFORMED, "D-19", changed(acknowledged=..., refused="try again")),
        ("a reason that is a number", MALFORMED, "D-19", changed(acknowledged=..., refused=7)),
        ("a weak key acknowledged", "weak-key", "D-19 K-8", changed(acknowledged=device_text(bytes(32)))),
        ("a provider's key acknowledged", "wrong-kind-of-key", "D-19 K-6", changed(acknowledged=provider_text(provider))),
        ("a weak provider", "weak-key", "D-19 K-7", changed(provider=provider_text(identity))),
        ("a provider that is a number", MALFORMED, "D-19", changed(provider=1)),
        ("a version with a fraction", MALFORMED, "D-19", changed().replace('"version": 1', '"version": 1.0')),
        ("a version with an exponent", MALFORMED, "D-19", changed().replace('"version": 1', '"version": 1e0')),
        ("a version that is true", MALFORMED, "D-19", changed(version=True)),
        ("a certificate that is a number", MALFORMED, "D-12", changed(certificate=1)),
        ("a certificate that is an object", MALFORMED, "D-12", changed(certificate={})),
        ("a push key that is a number", MALFORMED, "D-13", changed(push_key=1)),
        ("an empty push key", "malformed-key", "D-13", changed(push_key="")),
        ("a push key of 42 characters", "malformed-key", "D-13", changed(push_key=push_key[:-1])),
        ("a push key with padding", "malformed-key", "D-13", changed(push_key=push_key + "=")),
        ("a push key with an unused bit set", "malformed-key", "D-13", changed(push_key=base64url(bytes(32))[:-1] + "B")),
        ("a push key of the other alphabet", "malformed-key", "D-13", changed(push_key=push_key[:-2] + "+A")),
        ("a push key that is a provider's text", "malformed-key", "D-13", changed(push_key=provider_text(PUSH_KEY))),
        ("a push key that is the identity", "weak-key", "D-13 K-7", changed(push_key=base64url(identity))),
        ("a push key that is no point", "weak-key", "D-13 K-7", changed(push_key=base64url(b"\xff" * 32))),
        ("a next push key of 42 characters", "malformed-key", "D-13", changed(next_push_key=push_key[:-1])),
        ("a next push key that is the identity", "weak-key", "D-13 K-7", changed(next_push_key=base64url(identity))),
        ("a next push key that is a number", MALFORMED, "D-13", changed(next_push_key=1)),
        ("a weak push key before a next push key that is too short", "weak-key", "D-13", changed(push_key=base64url(identity), next_push_key="A")),
        ("both acknowledged and ended", MALFORMED, "D-19", changed(ended=GOOD["device"])),
        ("both ended and hello", MALFORMED, "D-19", changed(acknowledged=..., ended=GOOD["device"], hello=NONCE)),
        ("both refused and hello", MALFORMED, "D-19", changed(acknowledged=..., refused="stale-record", hello=NONCE)),
        ("an empty device that has ended", MALFORMED, "D-16 D-20", changed(acknowledged=..., ended="")),
        ("ended that is true", MALFORMED, "D-16", changed(acknowledged=..., ended=True)),
        ("a hello that is true", MALFORMED, "D-16", changed(acknowledged=..., hello=True)),
        ("a negative held sequence", MALFORMED, "D-16", refusal("stale-record", sequence=-1)),
        ("a held sequence of 2^53", MALFORMED, "D-16", refusal("stale-record", sequence=2**53)),
        ("a held sequence that is a string", MALFORMED, "D-16", refusal("stale-record", sequence="1")),
        ("a grant that has another word", MALFORMED, "D-16", changed(grant="revoked")),
        ("an empty grant in a reply", MALFORMED, "D-16", changed(grant="")),
        ("a grant that is true", MALFORMED, "D-16", changed(grant=True)),
        ("suites in descending order", MALFORMED, "D-7", changed(suites=[2, 1])),
        ("suites that are empty", MALFORMED, "D-7", changed(suites=[])),
        ("suite 0 among the suites of a reply", MALFORMED, "D-7", changed(suites=[0, 1])),
        ("foreign that is a string", MALFORMED, "D-21", changed(foreign="provider")),
        ("foreign that is empty", MALFORMED, "D-21", changed(foreign=[])),
        ("foreign of 17 strings", MALFORMED, "D-21", changed(foreign=["provider"] * 17)),
        ("foreign of a number", MALFORMED, "D-21", changed(foreign=[1])),
        ("both acknowledged and refused, before a weak provider", MALFORMED, "D-19 D-1", changed(refused="a", provider=provider_text(identity))),
        ("a weak key acknowledged before a provider of the wrong kind", "weak-key", "D-1", changed(acknowledged=device_text(bytes(32)), provider=GOOD["public_key"])),
        ("a weak provider before a push key that is too short", "weak-key", "D-1 D-13", changed(provider=provider_text(identity), push_key="A")),
        ("a malformed certificate and a push key that is too short", "malformed-key", "D-12 D-13", changed(certificate="", push_key="A")),
        ("a reply that is an array", MALFORMED, "J-3", f"[{changed()}]"),
        ("a reply with a member twice", MALFORMED, "J-5", changed()[:-1] + ', "version": 1}'),
    ]
    return [reply_case(name, expected, rules, one, text) for name, expected, rules, text in faults]


def read_cases() -> list[Vector]:
    reads = "The requirements for a reply."
    nothing, keeps = "It concerns another key: nothing changes.", "A reply never replaces a pin."
    other = device_text(TABLET.public)
    return [
        reply_case("the key is acknowledged, and the first provider pinned", "accepted", "D-19 D-42", reads, changed()),
        reply_case("no provider in the reply", "accepted", "D-19", reads, changed(provider=...)),
        reply_case("members that nobody knows", "accepted", "D-6", reads, changed(later=[1])),
        reply_case("members that are null", "accepted", "D-6", reads, changed(certificate=None, push_key=None, foreign=None, refused=None)),
        reply_case("the record is refused", "accepted", "D-19 D-27", reads, refusal("generation-rollback")),
        reply_case("the record is refused for a reason of the provider's", "accepted", "D-19", reads, refusal("a" * 64)),
        reply_case("the key is taken", "accepted", "D-19 D-32 D-48", reads, refusal("key-taken")),
        reply_case("another key is acknowledged", "accepted", "D-41", nothing, changed(acknowledged=other)),
        reply_case("another key is acknowledged while a provider is pinned", "accepted", "D-41", nothing, changed(acknowledged=other), (SECOND_PROVIDER,)),
        reply_case("another provider than the pin", "accepted", "D-42", keeps, changed(), (SECOND_PROVIDER,)),
        reply_case("the provider that is pinned already", "accepted", "D-42", keeps, changed(), (PROVIDER,)),
        reply_case("the second of two pins", "accepted", "D-42 T-5", keeps, changed(), (SECOND_PROVIDER, PROVIDER)),
        reply_case("a third provider beside two pins", "accepted", "D-42 T-5", keeps, changed(), (SECOND_PROVIDER, STRANGER)),
        reply_case("a provider, and the app has one built in", "accepted", "D-42", "The app's own pins are all.", changed(), has_built_in=True),
        reply_case("a provider in a refusal", "accepted", "D-42", "Only an acknowledgement pins.", refusal("generation-rollback")),
        reply_case("the phone trusts a foreign provider", "accepted", "D-21", "It changes no trust.", changed(foreign=["provider", "later"]), (SECOND_PROVIDER,)),
        reply_case("two suites", "accepted", "D-7", reads, changed(suites=[1, 2])),
        reply_case("suites without the first", "accepted", "D-7", reads, changed(suites=[2])),
        reply_case("a push key", "accepted", "D-13", reads, changed(push_key=base64url(PUSH_KEY))),
        reply_case("the next push key", "accepted", "D-13", reads, changed(push_key=base64url(PUSH_KEY), next_push_key=base64url(SIGNING[3].public))),
        reply_case("a grant that has ended", "accepted", "D-16", reads, changed(grant="ended")),
        reply_case("a stale record", "accepted", "D-16 D-25", reads, refusal("stale-record", sequence=2**53 - 1)),
        reply_case("a stale record, and no sequence", "accepted", "D-16", reads, refusal("stale-record")),
        reply_case("the device has ended", "accepted", "D-16 D-19", reads, changed(acknowledged=..., ended=GOOD["device"])),
        reply_case("a hello comes back", "accepted", "D-16 D-19", reads, changed(acknowledged=..., hello=NONCE)),
    ]


def certificate_cases() -> list[Vector]:
    """D-43: what becomes of a reply's certificate."""
    raises, ignored = "A certificate authenticates itself.", "It is ignored, and the app is told; the rest of the reply stands."
    good, other = certificate_text(CERTIFICATE), device_text(TABLET.public)
    strangers = certificate_text(certify(CHAIN[1].epoch, SIGNING[0], provider=STRANGER))
    seconds = certificate_text(certify(CHAIN[1].epoch, SIGNING[0], provider=SECOND_PROVIDER))
    twin = certificate_text(certify(CERTIFICATE.epoch, SIGNING[3], CERTIFICATE.floor))
    pair, malformed = (PROVIDER,), certificate_text(certify(CHAIN[1].epoch, SIGNING[0], 0, 0))

    def case(name: str, rules: str, comment: str, text: str, *where: object, **options: object) -> Vector:
        return reply_case(name, "accepted", f"D-43 {rules}", comment, text, *where, **options)  # type: ignore[arg-type]

    return [
        case("the first pin with its certificate", "D-42 T-3", raises, changed(certificate=good)),
        case("a certificate for the pin", "T-3", raises, changed(certificate=good), pair),
        case("a certificate for the pin, without the provider", "T-3", raises, changed(provider=..., certificate=good), pair),
        case("the certificate that the phone has", "T-3", raises, changed(certificate=good), pair, kept(CERTIFICATE)),
        case("a certificate above the one that the phone has", "T-3", raises, changed(certificate=certificate_text(CHAIN[3])), pair, kept(CHAIN[0])),
        case("a certificate below the one that the phone has", "T-3", "An old reply lowers nothing.", changed(certificate=certificate_text(CHAIN[0])), pair, kept(CHAIN[3])),
        case("a certificate in conflict with the one that the phone has", "T-3", "The app is told.", changed(certificate=twin), pair, kept(CERTIFICATE)),
        case("a certificate in a refusal", "T-3", raises, refusal("generation-rollback", certificate=good), pair),
        case("a certificate in a refusal, and no pin", "D-42", "Only an acknowledgement pins.", refusal("generation-rollback", certificate=good)),
        case("a certificate in a reply about another key", "D-41", "Nothing changes.", changed(acknowledged=other, certificate=good), pair),
        case("a certificate of the second of two pins", "T-5", raises, changed(certificate=seconds), (PROVIDER, SECOND_PROVIDER)),
        case("a certificate for a pin that the app has built in", "T-3", raises, changed(certificate=good), pair, has_built_in=True),
        case("a certificate of a provider that is not pinned, though it names itself", "T-5", ignored, changed(provider=provider_text(STRANGER.public), certificate=strangers), pair),
        case("a certificate of a stranger beside the first pin", "D-42 T-2", ignored, changed(certificate=strangers)),
        case("a certificate of a stranger", "T-2", ignored, changed(certificate=strangers), pair),
        case("a certificate for another app", "T-2", ignored, changed(certificate=certificate_text(certify(CHAIN[1].epoch, SIGNING[0], topic="com.example.other"))), pair),
        case("a certificate with a bit changed", "T-2", ignored, changed(certificate=base64url(flip(-1)(CERTIFICATE.data))), pair),
        case("a certificate whose signing key is the pin", "T-1", ignored, changed(certificate=certificate_text(certify(CHAIN[1].epoch, PROVIDER))), pair),
        case("a malformed certificate", "D-12 T-1", ignored, changed(certificate=malformed), pair),
        case("a malformed certificate beside the first pin", "D-42 D-12 T-1", ignored, changed(certificate=malformed)),
        case("a certificate of a weak signing key", "D-12 T-1 K-7", ignored, changed(certificate=certificate_text(certify(CHAIN[1].epoch, bytes(32)))), pair),
        case("a certificate without a pin, in a reply that brings none", "D-42", "It is ignored, and nobody is told.", changed(provider=..., certificate=good)),
        case("a certificate of a stranger without a pin, in a reply that brings none", "D-42", "It is ignored, and nobody is told.", changed(provider=..., certificate=strangers)),
        case("a text that is no certificate", "D-12 T-1", ignored, changed(certificate="none"), pair),
    ]


def reply_cases() -> list[Vector]:
    return [*read_cases(), *refused_cases(), *certificate_cases()]
