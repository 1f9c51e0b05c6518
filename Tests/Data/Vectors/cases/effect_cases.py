"""Several pushes one after another: a message's changes of keys and of what is kept of its provider."""

from dataclasses import replace

from .forge import forge
from .material import CHAIN, DAY, NOW, PHONE, PROVIDER, RECEIVER, SENT_AT, STRANGER, TABLET, knows, pinned, signer
from .sequence_cases import GENUINE, OTHER_MESSAGE, Step, comes, hand_over, sequence_case, take
from .vector import Vector


def effect_cases() -> list[Vector]:
    one = RECEIVER
    to_pending = forge(device=TABLET)
    again = "A certificate that has taken effect stays in effect."
    rotates = "The provider seals to it, so it becomes active."
    theft, before = forge(signer=signer(3)), forge(signer=signer(2), message_id=OTHER_MESSAGE)
    assert CHAIN[3].floor == CHAIN[3].epoch
    late = "It takes effect when every step has passed."

    def case(name: str, expected: str, rules: str, comment: str, *envelopes: bytes, **options: object) -> Vector:
        steps = [comes(NOW + 1000 * number, "abc"[number], envelope) for number, envelope in enumerate(envelopes)]
        return sequence_case(name, expected, rules, comment, *steps, **{"receiver": knows(2)} | options)  # type: ignore[arg-type]

    return [
        case("the certificate of a message takes effect", "new authentication-failed", "O-9.1 T-3 T-4", again, theft, before),
        case("without the certificate nothing has changed", "new new", "O-9.1", again, forge(signer=signer(2)), before),
        case("the certificate of a message that has expired takes no effect", "expired new", "O-9.1 O-9.3", late, forge(signer=signer(3), ttl=1), before),
        case("the certificate of a message with a malformed payload takes no effect", "malformed-payload new", "O-9.1 O-9.3", late, forge(b"{", signer=signer(3)), before),
        case("the certificate of a message of another push class takes no effect", "wrong-push-class new", "O-9.1 O-9.3 O-6.2", late, forge(signer=signer(3), push_type="voip"), before),
        case("the certificate of a stranger's message takes no effect", "authentication-failed new", "O-9.1 O-9.3", "A genuine certificate, in a message that anyone could have made.", forge(signer=signer(3), signing_seed=STRANGER.seed), before),
        case("the certificate of a message that was seen takes effect", "duplicate-quietly authentication-failed", "O-9.1 O-8.6", "A guard that was lost does not lose it.", theft, before, floor=SENT_AT),
        case("the certificate of a duplicate takes effect", "new duplicate-quietly authentication-failed", "O-9.1 O-8.6", "The copy was sealed again after a planned rotation.", forge(signer=signer(1)), forge(signer=signer(2)), forge(signer=signer(0), message_id=OTHER_MESSAGE), receiver=knows(0)),
        case("the same certificate in two messages", "new new", "O-9.1 T-3", again, theft, forge(signer=signer(3), message_id=OTHER_MESSAGE)),
        sequence_case(
            "a pending key that opens a message becomes active",
            "new",
            "O-9.2",
            rotates,
            comes(NOW, "a", to_pending),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "after that the key before it still opens",
            "new new",
            "O-9.2 O-3.1",
            "It retires, and opens messages still in transit.",
            comes(NOW, "a", to_pending),
            comes(NOW + 1000, "b", forge(message_id=OTHER_MESSAGE)),
            receiver=one,
            pending=TABLET.secret,
        ),
        *(
            sequence_case(
                f"after that the key before it {what}",
                f"new {outcome}",
                "O-9.2 O-3.1",
                "It ends 31 days after.",
                comes(NOW, "a", to_pending),
                comes(NOW + 31 * DAY + more, "b", forge(message_id=OTHER_MESSAGE, sent_at=NOW + 31 * DAY)),
                receiver=one,
                pending=TABLET.secret,
            )
            for what, outcome, more in [("opens for 31 days", "new", 0), ("opens for no millisecond more", "unknown-recipient-key", 1)]
        ),
        sequence_case(
            "a message to the active key changes no key",
            "new",
            "O-9.2",
            "The provider does not seal to the pending one yet.",
            comes(NOW, "a", GENUINE),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "a message to the pending key that does not open changes no key",
            "authentication-failed",
            "O-9.2 O-9.3",
            "Anyone can seal to a public key.",
            comes(NOW, "a", forge(device=TABLET, signer=signer(provider=STRANGER))),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "an expired message to the pending key changes no key",
            "expired",
            "O-9.2 O-9.3",
            "A message that does not open changes nothing.",
            comes(NOW, "a", forge(device=TABLET, ttl=1)),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "a copy that was sealed to the pending key makes it active",
            "new duplicate-quietly",
            "O-9.2 O-8.6",
            "The message is genuine: the provider seals to that key.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 1, "b", to_pending),
            receiver=one,
            pending=TABLET.secret,
        ),
        *retired_cases(),
    ]


def retired_cases() -> list[Vector]:
    """The tablet's key is retiring until an end date."""
    deletes = "A retiring key is deleted 24 hours after its end, by the clock and by the message's sent at."

    def case(name: str, expected: str, end: int, *steps: Step) -> Vector:
        holder = replace(pinned(PROVIDER, devices=(PHONE, TABLET)), ends={TABLET.secret: end})
        return sequence_case(name, expected, "O-9.5", deletes, *steps, receiver=holder)

    to_old = forge(device=TABLET, message_id=OTHER_MESSAGE)
    return [
        case("a key that retired more than a day before the message was sent", "new", SENT_AT - DAY - 1, comes(NOW, "a", GENUINE)),
        case("a key that retired exactly a day before the message was sent", "new", SENT_AT - DAY, comes(NOW, "a", GENUINE)),
        case(
            "a clock that jumps ten days ahead and back deletes no key",
            "new new",
            NOW + DAY,
            comes(NOW + 10 * DAY, "a", GENUINE),
            comes(NOW, "b", to_old),
        ),
        case(
            "a provider whose clock is ahead deletes no key",
            "new",
            NOW - 1000,
            comes(NOW, "a", forge(sent_at=NOW + DAY)),
        ),
        case("taking alone deletes no key", "new", SENT_AT - 2 * DAY, take(NOW, "a", GENUINE)),
        case("a copy deletes the key as well", "new copy copy", SENT_AT - 2 * DAY, take(NOW, "a", GENUINE), take(NOW, "b", GENUINE), hand_over(NOW, 2)),
        case("a message that does not open deletes no key", "authentication-failed", SENT_AT - 2 * DAY, comes(NOW, "a", forge(signer=signer(provider=STRANGER)))),
    ]
