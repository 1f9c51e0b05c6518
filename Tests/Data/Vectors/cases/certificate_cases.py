"""Certificates one after another, and what a phone keeps of them."""

from reference import keys, trust
from reference.curve25519 import L
from reference.opening import Receiver
from reference.trust import NEVER, Certificate, Learned, Refused

from .forge import flip, put
from .key_point_cases import other_points, weak_points
from .material import (
    CHAIN,
    EPOCHS,
    NOW,
    PROVIDER,
    RECEIVER,
    SECOND_PROVIDER,
    SENT_AT,
    SIGNING,
    STRANGER,
    TOPIC,
    Case,
    Pair,
    certify,
    kept,
    knows,
    pinned,
)
from .vector import Header, Vector, base64url, learned_after_header, trust_header, vector

ACCEPTED, UNCHANGED, CONFLICT = "accepted", "unchanged", "certificate-conflict"
MALFORMED, WEAK, BAD = "malformed-certificate", "weak-key", "bad-certificate-signature"
EPOCH = EPOCHS[2]
GOOD = certify(EPOCH, SIGNING[0], EPOCHS[1])


def accept(data: bytes, receiver: Receiver) -> tuple[str, Receiver]:
    """The outcome for the first pin that verifies the bytes, and what the phone keeps then."""
    try:
        one = trust.parse(data)
    except Refused as error:
        return str(error.args[0]), receiver
    codes = []
    for pin in receiver.pins:
        try:
            one.check(pin, receiver.topic)
        except Refused as error:
            codes.append(str(error.args[0]))
            continue
        learned, said = receiver.learned.get(pin, Learned()).learning(one)
        return said, receiver.keeping(pin, learned)
    return codes[0], receiver


def case(
    name: str, expected: str, rules: str, comment: str, *certificates: Certificate | bytes, before: Receiver = RECEIVER
) -> Vector:
    """`expected` names the outcomes in order; one name stands for all."""
    lines = [one.data if isinstance(one, Certificate) else one for one in certificates]
    after, outcomes = before, []
    for data in lines:
        outcome, after = accept(data, after)
        outcomes.append(outcome)
    wanted = expected.split()
    assert outcomes == (wanted * len(lines) if len(wanted) == 1 else wanted), (name, outcomes)
    first, *others = outcomes
    header: list[Header] = [
        *(("expect", outcome) for outcome in others),
        ("context", before.topic),
        *trust_header(before.pins, before.learned),
        *learned_after_header(before.learned, after.learned),
    ]
    return vector("certificates", name, first, rules, comment, header, "\n".join(map(base64url, lines)).encode())


def accepted_cases() -> list[Vector]:
    limits, order = "The limits are inclusive.", "Whatever the order, the highest certificate and the highest floor are kept."
    first, second, third, fourth = CHAIN
    high_floor = certify(EPOCHS[0] + 1, SIGNING[4], EPOCHS[0] + 1)
    last = 2**32 - 1
    return [
        case("a good certificate", ACCEPTED, "T-1 T-2 T-3", "The first that the phone has.", GOOD),
        *(
            case(name, ACCEPTED, "T-1", limits, one)
            for name, one in [
                ("epoch 1 and floor 0", certify(1, SIGNING[0])),
                ("epoch 1 and floor 1", certify(1, SIGNING[0], 1)),
                ("the last epoch", certify(last, SIGNING[0], 0, NOW)),
                ("the last epoch, which is its floor", certify(last, SIGNING[0], last)),
                ("a floor just below the epoch", certify(EPOCH, SIGNING[0], EPOCH - 1)),
                ("a grace of one millisecond", certify(EPOCH, SIGNING[0], 0, 1)),
                ("a grace without an end", certify(EPOCH, SIGNING[0], 0, NEVER)),
                ("a grace that is over", certify(EPOCH, SIGNING[0], 0, NOW - 1)),
                ("one that expired at 0", certify(EPOCH, SIGNING[0], 0, expires_at=0)),
                ("one that has expired", certify(EPOCH, SIGNING[0], 0, expires_at=NOW - 1)),
                ("one that expires at 2^64 - 2", certify(EPOCH, SIGNING[0], 0, expires_at=NEVER - 1)),
            ]
        ),
        case("the signing key of another provider key", ACCEPTED, "T-1", "Only this provider's own key signs no messages.", certify(EPOCH, SECOND_PROVIDER)),
        *(case(f"a signing key that nobody makes: {name}", ACCEPTED, "T-1 K-7", "The provider signed it, and it gains nothing.", certify(EPOCH, point)) for name, point in other_points()),
        case("the same certificate twice", "accepted unchanged", "T-3", "Nothing is raised.", GOOD, GOOD),
        case("the certificate that the phone has", UNCHANGED, "T-3", "Nothing is raised.", second, before=knows(1)),
        case("four epochs in order", ACCEPTED, "T-3", order, *CHAIN),
        case("four epochs backwards", "accepted unchanged unchanged unchanged", "T-3", order, fourth, third, second, first),
        case("four epochs, the second before the first and the fourth before the third", "accepted unchanged accepted unchanged", "T-3", order, second, first, fourth, third),
        case("two epochs after another that the phone has", "unchanged accepted", "T-3", order, first, third, before=knows(1)),
        case("a higher floor in a lower epoch", "accepted accepted", "T-3 T-6", order, second, high_floor),
        case("a higher floor in a lower epoch, that one first", "accepted accepted", "T-3 T-6", order, high_floor, second),
        case("a lower epoch and a lower floor", UNCHANGED, "T-3 T-6", order, first, before=knows(2)),
        case("a higher epoch and a lower floor", ACCEPTED, "T-3 T-6", "The floor stays.", certify(EPOCHS[3] + 1, SIGNING[4]), before=knows(3)),
        case("the first of two pins", ACCEPTED, "T-2 T-5 T-6", "Each provider key has its own.", GOOD, before=pinned(PROVIDER, SECOND_PROVIDER)),
        case("the second of two pins", ACCEPTED, "T-2 T-5 T-6", "Each provider key has its own.", certify(EPOCH, SIGNING[0], provider=SECOND_PROVIDER), before=pinned(PROVIDER, SECOND_PROVIDER, learned=kept(third))),
        case(
            "both pins, and what is kept for a key that is not pinned",
            "accepted accepted",
            "T-5 T-6",
            "Each provider key has its own.",
            GOOD,
            certify(EPOCH, SIGNING[1], provider=SECOND_PROVIDER),
            before=pinned(PROVIDER, SECOND_PROVIDER, learned=kept(certify(1, SIGNING[4], provider=STRANGER), provider=STRANGER)),
        ),
    ]


def conflict_cases() -> list[Vector]:
    told, merge = "One epoch, two claims: the app is told, and the higher is kept.", "The order of arrival must not matter."
    one, other = certify(EPOCH, SIGNING[0]), certify(EPOCH, SIGNING[1])
    low, high = sorted((one, other))
    floor = certify(EPOCH, SIGNING[2], EPOCH)
    again = [certify(EPOCH, SIGNING[0], EPOCHS[1], nonce=nonce) for nonce in (12345, 54321)]
    assert len({GOOD.data, *(certificate.data for certificate in again)}) == 3
    down, up = sorted((GOOD, again[0]))
    return [
        case("two signing keys for one epoch, the lower first", "accepted certificate-conflict", "T-3", told, low, high),
        case("two signing keys for one epoch, the higher first", "accepted certificate-conflict", "T-3", told, high, low),
        case("two signing keys for one epoch, and the first again", "accepted certificate-conflict certificate-conflict", "T-3", told, low, high, low),
        case("two claims for one epoch that is not the highest", "accepted unchanged unchanged", "T-3", "It concerns no key that is kept.", CHAIN[3], low, high),
        case("a conflict that raises the floor", "accepted certificate-conflict", "T-3 T-6", told, high, floor),
        case("a conflict that raises the floor, that one first", "accepted certificate-conflict", "T-3 T-6", told, floor, high),
        case("one expiry and another for one epoch", "accepted certificate-conflict", "T-3", told, one, certify(EPOCH, SIGNING[0], expires_at=NOW)),
        case("one grace and another for one epoch", "accepted certificate-conflict", "T-3", told, one, certify(EPOCH, SIGNING[0], grace_until=NOW)),
        case("another signature of the same claim, the lower first", "accepted unchanged", "T-3 T-6", merge, down, up),
        case("another signature of the same claim, the higher first", "accepted unchanged", "T-3 T-6", merge, up, down),
        case("three signatures of one claim", "accepted unchanged unchanged", "T-3 T-6", merge, *again, GOOD),
        case("a conflict under another provider key", "accepted accepted", "T-3 T-5", "Each provider key has its own epochs.", one, certify(EPOCH, SIGNING[1], provider=SECOND_PROVIDER), before=pinned(PROVIDER, SECOND_PROVIDER)),
    ]


def shape_cases() -> list[Vector]:
    """T-1. All are signed as they stand."""
    comment = "It is signed as it stands."

    def signed(edit: object) -> Certificate:
        claim = edit(GOOD.claim)  # type: ignore[operator]
        return Certificate(claim + keys.sign(PROVIDER.seed, trust.signed_bytes(claim, PROVIDER.public, TOPIC)))

    malformed = [
        *((f"version {version}", signed(put(0, bytes([version])))) for version in (0, 2, 0x81, 255)),
        ("epoch 0", certify(0, SIGNING[0], 0)),
        ("epoch 0 with a grace", certify(0, SIGNING[0], 0, NOW)),
        ("a floor above the epoch by one", certify(EPOCH, SIGNING[0], EPOCH + 1, NOW)),
        ("a floor above the epoch by one, without a grace", certify(EPOCH, SIGNING[0], EPOCH + 1, 0)),
        ("a floor of 2^32 - 1 above epoch 1", certify(1, SIGNING[0], 2**32 - 1, NOW)),
        ("a grace where the floor is the epoch", certify(EPOCH, SIGNING[0], EPOCH, NOW)),
        ("a grace of a millisecond where the floor is the epoch", certify(EPOCH, SIGNING[0], EPOCH, 1)),
        ("no grace where the floor is below the epoch", certify(EPOCH, SIGNING[0], EPOCH - 1, 0)),
        ("no grace where the floor is 0", certify(1, SIGNING[0], 0, 0)),
    ]
    weak = [(f"a signing key that is weak: {name}", certify(EPOCH, point)) for name, point in weak_points()]
    cut = [GOOD.data[:size] for size in range(trust.SIZE)]
    return [
        *(case(f"a certificate with {name}", MALFORMED, "T-1", comment, one) for name, one in malformed),
        case("a certificate cut at every byte", MALFORMED, "T-1", "It has 121 bytes.", *cut),
        case("a certificate with bytes behind it", MALFORMED, "T-1", "It has 121 bytes.", *(GOOD.data + bytes(size) for size in (1, 2, 7, 121))),
        case("two certificates in one", MALFORMED, "T-1", "It has 121 bytes.", GOOD.data * 2),
        *(case(name, WEAK, "T-1 K-7", comment, one) for name, one in weak),
        case("the provider key as the signing key", WEAK, "T-1", comment, certify(EPOCH, PROVIDER)),
        case("the provider key as the signing key of an epoch that is its floor", WEAK, "T-1", comment, certify(EPOCH, PROVIDER, EPOCH)),
        case("a malformed certificate with a weak signing key", MALFORMED, "T-1", "The shape comes first.", certify(EPOCH, bytes(32), EPOCH + 1, NOW)),
        case("a weak signing key, and no good signature", WEAK, "T-1 T-2", "The signing key comes before the signature.", flip(-1)(certify(EPOCH, bytes(32)).data)),
    ]


def signature_cases() -> list[Vector]:
    """T-2."""
    comment, at = "The provider key signs the label, itself, the context and the claim.", trust.CLAIM_SIZE
    claim, data = GOOD.claim, GOOD.data
    context = len(TOPIC).to_bytes(2, "big") + TOPIC.encode()

    def by(key: Pair, message: bytes) -> bytes:
        return claim + keys.sign(key.seed, message)

    right = trust.signed_bytes(claim, PROVIDER.public, TOPIC)
    assert by(PROVIDER, right) == data and right == trust.LABEL + PROVIDER.public + context + claim
    s = int.from_bytes(data[-32:], "little")
    faults = [
        ("of another provider", certify(EPOCH, SIGNING[0], provider=STRANGER).data),
        ("of another app", certify(EPOCH, SIGNING[0], topic="com.example.other").data),
        ("of the app in another case", certify(EPOCH, SIGNING[0], signed_topic="com.Example.app").data),
        ("signed over another provider key", certify(EPOCH, SIGNING[0], signed_provider=SECOND_PROVIDER.public).data),
        ("signed by another provider key over this one", certify(EPOCH, SIGNING[0], provider=STRANGER, signed_provider=PROVIDER.public).data),
        ("signed by the signing key", by(SIGNING[0], right)),
        ("signed without the label", by(PROVIDER, right.removeprefix(trust.LABEL))),
        ("signed under the label of a message", by(PROVIDER, right.replace(trust.LABEL, b"pushcrypt/1 signature\x00"))),
        ("signed without the zero behind the label", by(PROVIDER, right.replace(trust.LABEL, trust.LABEL[:-1]))),
        ("signed without the provider key", by(PROVIDER, trust.LABEL + context + claim)),
        ("signed without the context", by(PROVIDER, trust.LABEL + PROVIDER.public + claim)),
        ("signed without the length of the context", by(PROVIDER, trust.LABEL + PROVIDER.public + TOPIC.encode() + claim)),
        ("signed over the claim alone", by(PROVIDER, claim)),
        ("with a signature of zeros", put(at, bytes(64))(data)),
        ("with the group order added to S", data[:-32] + (s + L).to_bytes(32, "little")),
        ("with the signature of another epoch", GOOD.claim + CHAIN[0].data[at:]),
    ]
    fields = [("version", 0, 1), ("epoch", 1, 5), ("floor", 5, 9), ("grace until", 9, 17), ("expires at", 17, 25), ("signing key", 25, 57), ("R of the signature", 57, 89), ("S of the signature", 89, 121)]
    return [
        *(case(f"a certificate {name}", BAD, "T-2", comment, one) for name, one in faults),
        case("a certificate of the second pin, for an app of its own", BAD, "T-2 T-5", comment, certify(EPOCH, SIGNING[0], provider=SECOND_PROVIDER, topic="com.example.other"), before=pinned(PROVIDER, SECOND_PROVIDER)),
        case("a certificate of a key that is kept and not pinned", BAD, "T-2 T-5", "Only pins count.", certify(EPOCH, SIGNING[0], provider=STRANGER), before=pinned(PROVIDER, learned=kept(certify(1, SIGNING[4], provider=STRANGER), provider=STRANGER))),
        *(every_bit(name, start, end) for name, start, end in fields),
    ]


def every_bit(name: str, start: int, end: int) -> Vector:
    changed = [flip(position, bit)(GOOD.data) for position in range(start, end) for bit in range(8)]
    outcomes = [accept(data, RECEIVER)[0] for data in changed]
    assert not {ACCEPTED, UNCHANGED, CONFLICT} & set(outcomes)
    rules = "T-1 T-2" if name == "signing key" else "T-1" if set(outcomes) == {MALFORMED} else "T-2"
    return case(f"every bit of the {name} changed", " ".join(outcomes), rules, "One bit each.", *changed)


def certificate_cases() -> list[Vector]:
    return [*accepted_cases(), *conflict_cases(), *shape_cases(), *signature_cases()]


# trust.json


def json_case(
    name: str,
    epoch: int,
    floor: int,
    grace_until: int,
    expires_at: int = NEVER,
    provider: Pair = PROVIDER,
    signing: Pair = SIGNING[0],
    topic: str = TOPIC,
) -> Case:
    """All that goes into a certificate, the signed string included."""
    one = certify(epoch, signing, floor, grace_until, expires_at, provider=provider, topic=topic)
    trust.parse(one.data).check(provider.public, topic)
    assert (one.epoch, one.floor, one.grace_until, one.expires_at) == (epoch, floor, grace_until, expires_at)
    return {
        "name": name,
        "topic": topic,
        "providerSeed": provider.seed.hex(),
        "providerPublic": provider.public.hex(),
        "epoch": epoch,
        "floor": floor,
        "graceUntil": grace_until,
        "expiresAt": expires_at,
        "signingSeed": signing.seed.hex(),
        "signingPublic": signing.public.hex(),
        "signingKeyID": keys.signing_key_id(signing.public).hex(),
        "signed": trust.signed_bytes(one.claim, provider.public, topic).hex(),
        "certificate": one.data.hex(),
        "text": base64url(one.data),
    }


def worked_certificate() -> Case:
    return json_case("the worked example", EPOCH, EPOCHS[1], EPOCH * 1000 + trust.GRACE)


def json_cases() -> list[Case]:
    return [
        worked_certificate(),
        json_case("after a theft", EPOCHS[3], EPOCHS[3], 0, signing=SIGNING[1]),
        json_case("one that expires", EPOCH, 0, EPOCH * 1000 + trust.GRACE, SENT_AT + 90 * 86_400_000),
        json_case("the first epoch of another provider, for another app", 1, 0, 1, 0, SECOND_PROVIDER, SIGNING[2], "a"),
        json_case("the last epoch", 2**32 - 1, 2**32 - 2, NEVER, NEVER - 1, signing=SIGNING[3], topic="x" * 255),
    ]
