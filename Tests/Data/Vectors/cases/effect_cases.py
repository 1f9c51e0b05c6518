"""Several pushes one after another: a message's changes of keys and trust."""

from reference.opening import Receiver

from .carried_cases import FIRST, GOOD, KNOWS_FIRST, SECOND, block, carry
from .forge import forge
from .material import HOUR, NOW, PHONE, SENT_AT, STRANGER, TABLET, TOPIC, TRUST
from .sequence_cases import GENUINE, OTHER_MESSAGE, sequence_case
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
            (NOW, "a", statement),
            (NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "without the statement nothing has changed",
            "new authentication-failed",
            "O-9.1 R-0",
            "A message never pins a sender.",
            (NOW, "a", forge(sender=FIRST)),
            (NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a message that has expired take no effect",
            "expired authentication-failed",
            "O-9.1 O-9.3",
            "They take effect when every step has passed.",
            (NOW, "a", carry(FIRST, block(GOOD), ttl=1)),
            (NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a message with a malformed payload take no effect",
            "malformed-payload authentication-failed",
            "O-9.1 O-9.3",
            "They take effect when every step has passed.",
            (NOW, "a", carry(FIRST, block(GOOD), b"{")),
            (NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a stranger's message take no effect",
            "authentication-failed authentication-failed",
            "O-9.1 O-9.3",
            "A genuine statement, in a message that anyone could have made.",
            (NOW, "a", carry(STRANGER, block(GOOD))),
            (NOW + 1000, "b", plain),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "the statements of a duplicate take no effect",
            "duplicate-quietly authentication-failed",
            "O-9.1 O-8.5",
            "A duplicate has not passed every step.",
            (NOW, "a", statement),
            (NOW + 1000, "b", forge(sender=SECOND, message_id=OTHER_MESSAGE, sent_at=SENT_AT + 2 * HOUR)),
            receiver=KNOWS_FIRST,
            floor=SENT_AT + HOUR,
        ),
        sequence_case(
            "the same statement in two messages",
            "new new",
            "O-9.1 R-2",
            again,
            (NOW, "a", statement),
            (NOW + 1000, "b", carry(SECOND, block(GOOD), message_id=OTHER_MESSAGE)),
            receiver=KNOWS_FIRST,
        ),
        sequence_case(
            "a pending key that opens a message becomes active",
            "new",
            "O-9.2",
            rotates,
            (NOW, "a", to_pending),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "after that the key before it still opens",
            "new new",
            "O-9.2 O-3.1",
            "It retires, and opens messages still in transit.",
            (NOW, "a", to_pending),
            (NOW + 1000, "b", forge(message_id=OTHER_MESSAGE)),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "a message to the active key changes no key",
            "new",
            "O-9.2",
            "The provider does not seal to the pending one yet.",
            (NOW, "a", GENUINE),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "a message to the pending key that does not open changes no key",
            "authentication-failed",
            "O-9.2 O-9.3",
            "Anyone can seal to a public key.",
            (NOW, "a", forge(device=TABLET, sender=STRANGER)),
            receiver=one,
            pending=TABLET.secret,
        ),
        sequence_case(
            "an expired message to the pending key changes no key",
            "expired",
            "O-9.2 O-9.3",
            "A message that does not open changes nothing.",
            (NOW, "a", forge(device=TABLET, ttl=1)),
            receiver=one,
            pending=TABLET.secret,
        ),
    ]
