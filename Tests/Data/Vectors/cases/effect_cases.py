"""Several pushes one after another: a message's changes of keys and trust."""

from reference.opening import Receiver

from .carried_cases import FIRST, GOOD, KNOWS_FIRST, SECOND, block, carry
from .forge import forge
from .material import DAY, HOUR, NOW, PHONE, SENT_AT, STRANGER, TABLET, TOPIC, TRUST
from .sequence_cases import GENUINE, OTHER_MESSAGE, Step, comes, hand_over, sequence_case, take
from .vector import Vector


def effect_cases() -> list[Vector]:
    statement, plain = carry(FIRST, block(GOOD)), forge(sender=SECOND, message_id=OTHER_MESSAGE)
    one = Receiver(TOPIC, (PHONE.secret,), TRUST)
    to_pending = forge(device=TABLET)
    again = "A statement that has taken effect stays in effect."
    rotates = "The provider seals to it, so it becomes active."
    return [
        sequence_case(
            "the statements of a message take effect",
            "new new",
            "O-9.1",
            again,
            comes(NOW, "a", statement),
            comes(NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "without the statement nothing has changed",
            "new authentication-failed",
            "O-9.1 R-0",
            "A message never pins a sender.",
            comes(NOW, "a", forge(sender=FIRST)),
            comes(NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a message that has expired take no effect",
            "expired authentication-failed",
            "O-9.1 O-9.3",
            "They take effect when every step has passed.",
            comes(NOW, "a", carry(FIRST, block(GOOD), ttl=1)),
            comes(NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a message with a malformed payload take no effect",
            "malformed-payload authentication-failed",
            "O-9.1 O-9.3",
            "They take effect when every step has passed.",
            comes(NOW, "a", carry(FIRST, block(GOOD), b"{")),
            comes(NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a stranger's message take no effect",
            "authentication-failed authentication-failed",
            "O-9.1 O-9.3",
            "A genuine statement, in a message that anyone could have made.",
            comes(NOW, "a", carry(STRANGER, block(GOOD))),
            comes(NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a message that was seen take effect",
            "duplicate-quietly new",
            "O-9.1 O-8.5",
            "A statement authenticates itself; a guard that was lost does not lose it.",
            comes(NOW, "a", statement),
            comes(NOW + 1000, "b", forge(sender=SECOND, message_id=OTHER_MESSAGE, sent_at=SENT_AT + 2 * HOUR)),
            receiver=KNOWS_FIRST,
            floor=SENT_AT + HOUR,
        ),
        sequence_case(
            "the statements of a duplicate take effect for a strict receiver",
            "new duplicate new",
            "O-9.1 O-8.5",
            "The copy was sealed again while the rotation was announced.",
            comes(NOW, "a", forge(sender=FIRST)),
            comes(NOW + 1, "b", statement),
            comes(NOW + 1000, "c", plain),
            receiver=KNOWS_FIRST,
            is_strict=True,
        ),
        sequence_case(
            "the same statement in two messages",
            "new new",
            "O-9.1 R-2",
            again,
            comes(NOW, "a", statement),
            comes(NOW + 1000, "b", carry(SECOND, block(GOOD), message_id=OTHER_MESSAGE)),
            receiver=KNOWS_FIRST,
        ),
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
            comes(NOW, "a", forge(device=TABLET, sender=STRANGER)),
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
            "O-9.2 O-8.5",
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
        holder = Receiver(TOPIC, (PHONE.secret, TABLET.secret), TRUST, {TABLET.secret: end})
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
            "a sender whose clock is ahead deletes no key",
            "new",
            NOW - 1000,
            comes(NOW, "a", forge(sent_at=NOW + DAY)),
        ),
        case("taking alone deletes no key", "new", SENT_AT - 2 * DAY, take(NOW, "a", GENUINE)),
        case("a copy deletes the key as well", "new copy copy", SENT_AT - 2 * DAY, take(NOW, "a", GENUINE), take(NOW, "b", GENUINE), hand_over(NOW, 2)),
        case("a message that does not open deletes no key", "authentication-failed", SENT_AT - 2 * DAY, comes(NOW, "a", forge(sender=STRANGER))),
    ]
