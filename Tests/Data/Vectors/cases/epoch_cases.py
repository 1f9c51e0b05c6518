"""T-4: which epochs open, and until when."""

from dataclasses import replace
from typing import Any

from reference.opening import Receiver
from reference.trust import AFTER_EXPIRY, GRACE, NEVER, Certificate, Learned

from .forge import forge, open_case
from .inner_cases import FAILED
from .material import (
    CHAIN,
    DAY,
    EPOCHS,
    NOW,
    PROVIDER,
    SENT_AT,
    SIGNING,
    by,
    certify,
    epoch_of,
    kept,
    knows,
    pinned,
    signer,
)
from .vector import Vector

RULES = "O-5.3 T-4"


def case(name: str, expected: str, envelope: bytes, comment: str, receiver: Receiver, now: int = NOW, rules: str = RULES) -> Vector:
    return open_case(name, expected, rules, envelope, comment, receiver=receiver, now=now)


def floor_cases() -> list[Vector]:
    comment = "What is below the highest floor opens never again."
    first, second, third, fourth = (signer(number) for number in range(4))
    floor_at_second = pinned(PROVIDER, learned={PROVIDER.public: Learned(CHAIN[3], EPOCHS[3])})
    low, high = certify(EPOCHS[0] + 5, SIGNING[4], EPOCHS[0] + 5), certify(EPOCHS[2], SIGNING[2], grace_until=NEVER)
    return [
        case("an epoch below the floor", FAILED, forge(signer=first), comment, knows(2)),
        case("an epoch that is the floor", "opened", forge(signer=second), comment, knows(2)),
        case("an epoch just below the floor", FAILED, forge(signer=by(SIGNING[4], certify(EPOCHS[1] - 1, SIGNING[4]))), comment, knows(2)),
        case("an epoch after a theft, and the one before it", FAILED, forge(signer=third), comment, knows(3)),
        case("an epoch after a theft", "opened", forge(signer=fourth), comment, knows(3)),
        case("epoch 0 after a theft", FAILED, forge(), comment, knows(3)),
        case("epoch 0, and a floor of 1", FAILED, forge(), comment, pinned(PROVIDER, learned=kept(certify(EPOCHS[3], SIGNING[0], 1)))),
        case("epoch 0, and a floor of 0", "opened", forge(), comment, pinned(PROVIDER, learned=kept(certify(EPOCHS[3], SIGNING[0])))),
        case("a floor that a lower certificate raised", FAILED, forge(signer=first), comment, pinned(PROVIDER, learned=kept(high, low)), rules=RULES + " T-6"),
        case("above a floor that a lower certificate raised", "opened", forge(signer=by(SIGNING[4], low)), comment, pinned(PROVIDER, learned=kept(high, low)), rules=RULES + " T-6"),
        case("a message whose own certificate has a floor above the one kept", "opened", forge(signer=fourth), comment, knows(0), rules=RULES + " T-3"),
        case("an epoch that began with a floor of its own, below the one kept", FAILED, forge(signer=by(SIGNING[4], certify(EPOCHS[2] + 1, SIGNING[4], EPOCHS[2] + 1))), comment, floor_at_second, rules=RULES + " T-6"),
        case("epoch 1 and a floor of 1", "opened", forge(signer=by(SIGNING[0], certify(1, SIGNING[0], 1))), comment, pinned(PROVIDER)),
        case("the last epoch", "opened", forge(signer=by(SIGNING[0], certify(2**32 - 1, SIGNING[0], grace_until=NOW))), comment, knows(0, 1)),
        case("an epoch, and the last one is known", FAILED, forge(signer=second), comment, pinned(PROVIDER, learned=kept(certify(2**32 - 1, SIGNING[0], 2**32 - 1)))),
    ]


def grace_cases() -> list[Vector]:
    comment = "An epoch before the highest opens until the highest certificate's grace ends."
    end = NOW + 20 * DAY
    old = certify(EPOCHS[1], SIGNING[1])
    new = certify(EPOCHS[2], SIGNING[2], grace_until=end)
    holder = pinned(PROVIDER, learned=kept(new))
    before, current = by(SIGNING[1], old), by(SIGNING[2], new)
    sent = {"sent_at": end - DAY}
    endless = pinned(PROVIDER, learned=kept(certify(EPOCHS[2], SIGNING[2], grace_until=NEVER)))
    later = certify(EPOCHS[3], SIGNING[3], grace_until=NOW - 1)
    return [
        case("an earlier epoch within the grace", "opened", forge(signer=before), comment, holder),
        case("an earlier epoch at the end of the grace", "opened", forge(signer=before, **sent), comment, holder, end),
        case("an earlier epoch a millisecond after the grace", FAILED, forge(signer=before, **sent), comment, holder, end + 1),
        case("an earlier epoch sent before the end of the grace, and opened after it", FAILED, forge(signer=before, sent_at=end - 1), comment, holder, end + 5_000),
        case("the current epoch a millisecond after the grace", "opened", forge(signer=current, **sent), comment, holder, end + 1),
        case("epoch 0 at the end of the grace", "opened", forge(**sent), comment, holder, end),
        case("epoch 0 a millisecond after the grace", FAILED, forge(**sent), comment, holder, end + 1),
        case("epoch 0, and no certificate is known", "opened", forge(sent_at=end), comment, pinned(PROVIDER), end),
        case("an earlier epoch whose own grace is longer", FAILED, forge(signer=by(SIGNING[1], certify(EPOCHS[1], SIGNING[1], grace_until=NEVER)), **sent), comment, holder, end + 1),
        case("an earlier epoch, and a grace without an end", "opened", forge(signer=before, sent_at=SENT_AT + 300 * DAY), comment, endless, SENT_AT + 300 * DAY),
        case("epoch 0, and a grace without an end", "opened", forge(sent_at=SENT_AT + 300 * DAY), comment, endless, SENT_AT + 300 * DAY),
        case("a grace that was over when its certificate was made", FAILED, forge(signer=by(SIGNING[2], CHAIN[2])), comment, pinned(PROVIDER, learned=kept(later))),
        case("of two earlier epochs the one that a shorter grace had ended", "opened", forge(signer=by(SIGNING[0], CHAIN[0])), "Only the highest certificate's grace counts.", pinned(PROVIDER, learned=kept(CHAIN[1], new))),
        case("a new certificate ends an epoch in the message that brings it", "opened", forge(signer=by(SIGNING[3], later)), comment, holder, rules=RULES + " T-3"),
        case("a clock at 0 and an earlier epoch", "opened", forge(signer=before, sent_at=0), comment, holder, 0),
        case("a clock at 0 and an epoch before a theft", FAILED, forge(signer=signer(2), sent_at=0), comment, knows(3), 0),
    ]


def expiry_cases() -> list[Vector]:
    comment = "Sent by its end, and opened by 31 days after that."
    end = SENT_AT + 10 * DAY
    one = certify(epoch_of(1), SIGNING[0], expires_at=end)
    key, holder = by(SIGNING[0], one), pinned(PROVIDER)
    last = end + AFTER_EXPIRY

    def ends(at: int, **fields: Any) -> bytes:
        return forge(signer=by(SIGNING[0], certify(epoch_of(1), SIGNING[0], expires_at=at)), **fields)

    newer = pinned(PROVIDER, learned=kept(certify(epoch_of(0), SIGNING[1], grace_until=NEVER)))
    return [
        case("sent at the end of its certificate", "opened", forge(signer=key, sent_at=end), comment, holder, end),
        case("sent a millisecond after the end of its certificate", FAILED, forge(signer=key, sent_at=end + 1), comment, holder, end + 1),
        case("sent before the end of its certificate, and opened 30 days after it", "opened", forge(signer=key, sent_at=end), comment, holder, end + 30 * DAY),
        case("a message that had expired when its certificate did", "expired", forge(signer=key, ttl=60), comment, holder, last),
        case("opened 31 days after the end of its certificate, by a clock that is ahead", "expired", forge(signer=key, sent_at=end), comment, holder, last),
        case("opened a millisecond after these 31 days", FAILED, forge(signer=key, sent_at=end), comment, holder, last + 1),
        case("a certificate that had expired when the message was sealed", FAILED, ends(SENT_AT - 1), comment, holder),
        case("a certificate that had expired when the message was sealed, and the phone's clock is behind", FAILED, ends(SENT_AT - 1), comment, holder, SENT_AT - DAY),
        case("a certificate that expires when the message was sent", "opened", ends(SENT_AT), comment, holder),
        case("a certificate that expired at 0", FAILED, ends(0), comment, holder),
        case("a certificate that expires at 0, and a message of then", "opened", ends(0, sent_at=0), comment, holder, 0),
        case("a certificate that never expires, at the end of time", "opened", forge(signer=by(SIGNING[0], certify(epoch_of(1), SIGNING[0])), sent_at=2**53 - 1), comment, holder, 2**53 - 1),
        case("a certificate that expires at 2^64 - 2", "opened", ends(NEVER - 1, sent_at=2**53 - 1), "31 days later is beyond 64 bits.", holder, 2**53 - 1, RULES + " K-3"),
        case("a clock at 2^64 - 1 and a certificate that expires at 2^64 - 2", "expired", ends(NEVER - 1), "31 days later is beyond 64 bits.", holder, 2**64 - 1, RULES + " K-3"),
        case("an earlier epoch sent at the end of its certificate", "opened", forge(signer=key, sent_at=end), comment, newer, end),
        case("an earlier epoch sent after the end of its certificate", FAILED, forge(signer=key, sent_at=end + 1), comment, newer, end + 1),
        case("epoch 0 does not expire", "opened", forge(sent_at=end + 300 * DAY), comment, pinned(PROVIDER, learned=kept(replace_grace(one))), end + 300 * DAY),
        case("the certificate kept has expired, and a newer one comes", "opened", forge(signer=signer(3), sent_at=SENT_AT), comment, pinned(PROVIDER, learned=kept(certify(EPOCHS[2], SIGNING[0], expires_at=0)))),
    ]


def replace_grace(one: Certificate) -> Certificate:
    return certify(one.epoch, SIGNING[0], grace_until=NEVER, expires_at=one.expires_at)


def effect_cases() -> list[Vector]:
    """The certificate of a message that does not open changes nothing."""
    comment = "It takes effect when every step has passed."
    to_call = replace(knows(0), push_type="voip")
    return [
        open_case("a new certificate in an expired message", "expired", "O-6.4 O-9.1 O-9.3", forge(signer=signer(3), ttl=1), comment, receiver=knows(0)),
        open_case("a new certificate in a message of the future", "not-yet-valid", "O-6.5 O-9.1 O-9.3", forge(signer=signer(3), sent_at=NOW + DAY + 1), comment, receiver=knows(0)),
        open_case("a new certificate before a malformed payload", "malformed-payload", "O-7.1 O-9.1 O-9.3", forge(b"{", signer=signer(3)), comment, receiver=knows(0)),
        open_case("a new certificate in a message of another push class", "wrong-push-class", "O-6.2 O-9.1 O-9.3", forge(signer=signer(3)), comment, receiver=to_call),
        open_case("a new certificate in a message that a stranger signed", FAILED, "O-5.4 O-9.1 O-9.3", forge(signer=signer(3), signing_seed=SIGNING[4].seed), comment, receiver=knows(0)),
    ]


def epoch_cases() -> list[Vector]:
    assert GRACE == 38 * DAY
    return [*floor_cases(), *grace_cases(), *expiry_cases(), *effect_cases()]
