"""Messages of epoch 1 and later: the certificate that each carries."""

from typing import Any

from reference import keys, trust
from reference.envelope import BODY_OFFSET, CERTIFICATE_BIT
from reference.trust import Certificate

from .certificate_cases import GOOD
from .forge import Edit, flip, forge, open_case, put
from .inner_cases import FAILED
from .key_point_cases import weak_points
from .material import (
    CHAIN,
    EPOCHS,
    NOW,
    PAYLOAD,
    PROVIDER,
    PROVIDER_SIGNER,
    RECEIVER,
    SECOND_PROVIDER,
    SENT_AT,
    SIGNING,
    STRANGER,
    TOPIC,
    by,
    certify,
    kept,
    knows,
    pinned,
    signer,
)
from .vector import Vector

CARRIED = "Every message of epoch 1 or more begins with the certificate of the key that signed it; one of epoch 0 has none."
SOME = by(SIGNING[0], GOOD)
KIND = CERTIFICATE_BIT | 1


def opened_cases() -> list[Vector]:
    fresh = "A phone needs one message, whatever it has."
    second = by(SIGNING[1], certify(EPOCHS[1], SIGNING[1], provider=SECOND_PROVIDER), SECOND_PROVIDER)
    both = pinned(PROVIDER, SECOND_PROVIDER, learned=kept(CHAIN[0]))
    strangers = kept(certify(1, SIGNING[4], provider=STRANGER), provider=STRANGER)
    return [
        open_case("a message with the first certificate", "opened", "O-5.2 T-1 T-2 T-3", forge(signer=SOME), fresh),
        *(open_case(f"a message of epoch {number} of four, to a phone that has none", "opened", "O-5.2 T-3", forge(signer=signer(number - 1)), fresh) for number in range(1, 5)),
        open_case("a message with the certificate that the phone has", "opened", "O-5.2 T-3", forge(signer=signer(1)), "Nothing changes.", receiver=knows(1)),
        *(open_case(f"a message of epoch {new} of four, to a phone that has epoch {old}", "opened", "O-5.2 T-3", forge(signer=signer(new - 1)), fresh, receiver=knows(old - 1)) for old, new in ((1, 2), (1, 3), (1, 4), (2, 3), (3, 4))),
        open_case("a message of the second of two pins, with a certificate", "opened", "O-5.2 T-5 T-6", forge(signer=second), "Each provider key has its own certificates.", receiver=both),
        open_case("a message of epoch 0 of the second of two pins, whose first has certificates", "opened", "O-5.2 T-5 T-6", forge(signer=signer(provider=SECOND_PROVIDER)), "Each provider key has its own epochs.", receiver=both),
        open_case("a message of epoch 0, and a certificate of another provider key is kept", "opened", "T-4 T-6", forge(), "Each provider key has its own epochs.", receiver=pinned(PROVIDER, learned=strangers)),
        open_case("a signing key that another provider key certified too", "opened", "O-5.4", forge(signer=second), "The signature covers the provider key.", receiver=pinned(SECOND_PROVIDER)),
        open_case("the largest payload beside a certificate", "opened", "O-5.1 O-5.2", forge(b'{"aps":{}}'.ljust(2816 - BODY_OFFSET - trust.SIZE), signer=SOME, bucket=2816), "121 bytes of the body are the certificate."),
        open_case("the smallest payload beside a certificate", "opened", "O-5.1 O-5.2", forge(b'{"aps":{}}', signer=SOME), "121 bytes of the body are the certificate."),
        open_case("a payload that leaves no room for a certificate", "opened", "O-5.1 O-5.2", forge(b'{"aps":{}}'.ljust(2816 - BODY_OFFSET), bucket=2816), "No sealer writes it, and a receiver opens it."),
        open_case(
            "another signature of the claim that the phone has",
            "opened",
            "T-3 T-6",
            forge(signer=by(SIGNING[0], certify(GOOD.epoch, SIGNING[0], GOOD.floor, nonce=12345))),
            "No conflict; the higher bytes are kept.",
            receiver=pinned(PROVIDER, learned=kept(GOOD)),
        ),
    ]


def refused_cases() -> list[Vector]:
    """O-5.1 and O-5.2: what stands at the beginning of the body. All is signed as it is sent."""
    other = certify(GOOD.epoch + 1, SIGNING[0], GOOD.floor)
    messages: list[tuple[str, dict[str, Any]]] = [
        ("epoch 1 without a certificate, signed by the provider key", {"signer": PROVIDER_SIGNER, "epoch": 1}),
        ("an epoch of the provider without a certificate, signed by the provider key", {"signer": PROVIDER_SIGNER, "epoch": GOOD.epoch}),
        ("the last epoch without a certificate, signed by the provider key", {"signer": PROVIDER_SIGNER, "epoch": 2**32 - 1}),
        ("an epoch without its certificate, signed by the signing key", {"signer": SOME, "kind": 1, "head": b""}),
        ("a certificate and a kind without bit 7", {"signer": SOME, "kind": 1}),
        ("epoch 0 with a certificate, signed by the provider key", {"signer": PROVIDER_SIGNER, "kind": KIND, "head": GOOD.data}),
        ("epoch 0 with a certificate, signed by the signing key", {"signer": SOME, "epoch": 0}),
        ("epoch 0 with bit 7 and no certificate", {"signer": PROVIDER_SIGNER, "kind": KIND}),
        ("epoch 0 signed by the signing key", {"signer": SOME, "epoch": 0, "kind": 1, "head": b""}),
        ("a certificate of an epoch above the message's", {"signer": SOME, "head": other.data}),
        ("a certificate of an epoch below the message's", {"signer": SOME, "epoch": GOOD.epoch + 1}),
        ("a certificate behind the payload", {"signer": SOME, "head": b"", "body": PAYLOAD + GOOD.data}),
        ("bit 7 and an empty body", {"signer": SOME, "head": b"", "body": b""}),
        *((f"bit 7 and a body of {size} bytes", {"signer": SOME, "head": GOOD.data[:size], "body": b""}) for size in (1, 57, 120)),
        *((f"bits 4 to 6 with a certificate: kind 0x{kind:02x}", {"signer": SOME, "kind": kind}) for kind in (0x91, 0xA1, 0xC1, 0xF1)),
        ("signed by the provider key under a certificate", {"signer": SOME, "signing_seed": PROVIDER.seed}),
        ("signed by the provider key under a certificate, and over it as the signing key", {"signer": SOME, "signing_seed": PROVIDER.seed, "signed_signing_key": PROVIDER.public}),
        ("signed by another signing key than the certificate's", {"signer": SOME, "signing_seed": SIGNING[1].seed}),
        ("signed over another signing key than the certificate's", {"signer": SOME, "signed_signing_key": SIGNING[1].public}),
        ("signed over another epoch than the certificate's", {"signer": SOME, "signed_epoch": GOOD.epoch + 1}),
        ("signed over another provider key than the certificate's", {"signer": SOME, "signed_provider": SECOND_PROVIDER.public}),
    ]
    second = by(SIGNING[0], certify(GOOD.epoch, SIGNING[0], provider=SECOND_PROVIDER), SECOND_PROVIDER)
    return [
        *(
            open_case(name, FAILED, "O-5.1" if "bits 4" in name else "O-5.4" if name.startswith("signed") else "O-5.2", forge(body, **fault), CARRIED)
            for name, fault in messages
            for body in [fault.pop("body", PAYLOAD)]
        ),
        open_case("an epoch that the phone knows, without its certificate", FAILED, "O-5.2", forge(signer=SOME, kind=1, head=b""), CARRIED, receiver=pinned(PROVIDER, learned=kept(GOOD))),
        open_case("an epoch that the phone knows, without its certificate, signed by the provider key", FAILED, "O-5.2", forge(signer=PROVIDER_SIGNER, epoch=GOOD.epoch), CARRIED, receiver=pinned(PROVIDER, learned=kept(GOOD))),
        open_case("a message without a payload behind the certificate", "malformed-payload", "O-7.1", forge(b"", signer=SOME), CARRIED),
        open_case("two certificates before the payload", "malformed-payload", "O-5.2 O-7.1", forge(CHAIN[0].data + PAYLOAD, signer=SOME), "The second is payload."),
        open_case("a certificate twice before the payload", "malformed-payload", "O-5.2 O-7.1", forge(GOOD.data + PAYLOAD, signer=SOME), "The second is payload."),
        open_case("a message of the second provider, and the first is pinned", FAILED, "O-5.2 T-5", forge(signer=second), "Its certificate does not verify.", receiver=RECEIVER),
        open_case("the certificate of one pin, signed for the other", FAILED, "O-5.4 T-5", forge(signer=SOME, signed_provider=SECOND_PROVIDER.public), "The signature is for one provider key.", receiver=pinned(PROVIDER, SECOND_PROVIDER)),
    ]


def bad_certificate_cases() -> list[Vector]:
    """Messages whose certificate fails T-1 or T-2, signed by the key that it names."""

    def carry(name: str, rules: str, certificate: Certificate, **fault: Any) -> Vector:
        return open_case(name, FAILED, f"O-5.2 {rules}", forge(signer=by(SIGNING[0], certificate), **fault), "Whoever signed it, its certificate is not good.")

    def changed(edit: Edit) -> Certificate:
        return Certificate(edit(GOOD.data))

    def signed(edit: Edit) -> Certificate:
        claim = edit(GOOD.claim)
        return Certificate(claim + keys.sign(PROVIDER.seed, trust.signed_bytes(claim, PROVIDER.public, TOPIC)))

    fields = {"epoch": (1, 4), "floor": (5, 8), "grace until": (9, 16), "expires at": (17, 24), "R": (57, 88), "S": (89, 120)}
    weak = dict(weak_points())
    identity = next(point for name, point in weak.items() if point[0] == 1 and not any(point[1:]))
    return [
        *(
            carry(f"a message whose certificate has a bit of its {field} changed, in byte {place}", "T-1 T-2", changed(flip(place)))
            for field, ends in fields.items()
            for place in ends
        ),
        carry("a message whose certificate has version 2", "T-1", signed(put(0, b"\x02"))),
        carry("a message whose certificate has a floor above its epoch", "T-1", certify(GOOD.epoch, SIGNING[0], GOOD.epoch + 1, NOW)),
        carry("a message whose certificate has a grace, and its floor is the epoch", "T-1", certify(GOOD.epoch, SIGNING[0], GOOD.epoch, NOW)),
        carry("a message whose certificate has no grace, and its floor is below the epoch", "T-1", certify(GOOD.epoch, SIGNING[0], 0, 0)),
        carry("a message whose certificate names the provider key as its signing key", "T-1", certify(GOOD.epoch, PROVIDER), signing_seed=PROVIDER.seed, signed_signing_key=PROVIDER.public),
        carry("a message whose certificate has the identity as its signing key, and a signature of the identity", "T-1 K-9", certify(GOOD.epoch, identity), signed_signing_key=identity, edit_signature=lambda _: identity + bytes(32)),
        carry("a message whose certificate is of another provider", "T-2", certify(GOOD.epoch, SIGNING[0], provider=STRANGER)),
        carry("a message whose certificate is of another app", "T-2", certify(GOOD.epoch, SIGNING[0], topic="com.example.other")),
        carry("a message whose certificate was signed by the signing key", "T-2", Certificate(GOOD.claim + keys.sign(SIGNING[0].seed, trust.signed_bytes(GOOD.claim, PROVIDER.public, TOPIC)))),
        carry("a message whose certificate has no signature", "T-2", Certificate(GOOD.claim + bytes(64))),
    ]


def conflict_cases() -> list[Vector]:
    told = "Two claims of one epoch: both open, the higher is kept, and the app is told."
    one, other = (certify(EPOCHS[2], SIGNING[number], EPOCHS[1]) for number in (0, 1))
    floor = certify(EPOCHS[2], SIGNING[2], EPOCHS[2])
    (low, its), (high, higher) = sorted(((one, SIGNING[0]), (other, SIGNING[1])), key=lambda pair: pair[0])
    return [
        open_case("the lower of two claims of one epoch", "opened", "T-3 T-4", forge(signer=by(its, low)), told, receiver=pinned(PROVIDER, learned=kept(high))),
        open_case("the higher of two claims of one epoch", "opened", "T-3 T-4", forge(signer=by(higher, high)), told, receiver=pinned(PROVIDER, learned=kept(low))),
        open_case("the lower of two claims of one epoch, and both are known", "opened", "T-3 T-4", forge(signer=by(its, low)), told, receiver=pinned(PROVIDER, learned=kept(low, high))),
        open_case("a claim in conflict that raises the floor to its epoch", "opened", "T-3 T-4", forge(signer=by(SIGNING[2], floor)), told, receiver=pinned(PROVIDER, learned=kept(low))),
        open_case("a claim in conflict that has expired", FAILED, "T-3 T-4", forge(signer=by(SIGNING[3], certify(EPOCHS[2], SIGNING[3], EPOCHS[1], expires_at=SENT_AT - 1))), "Each has its own end.", receiver=pinned(PROVIDER, learned=kept(low))),
        open_case("a claim that has no end, and the one that the phone has expired", "opened", "T-3 T-4", forge(signer=by(its, low)), told, receiver=pinned(PROVIDER, learned=kept(certify(EPOCHS[2], SIGNING[3], EPOCHS[1], expires_at=0)))),
    ]


def carried_cases() -> list[Vector]:
    return [*opened_cases(), *refused_cases(), *bad_certificate_cases(), *conflict_cases()]


