"""Several pushes one after the other: what is shown twice."""

from typing import Any

from reference.envelope import to_text
from reference.keys import Kind, text_form
from reference.opening import Receiver
from reference.replay import Memory

from .forge import flip, forge, receiver_header
from .material import (
    DAY,
    HOUR,
    NOW,
    PAYLOAD,
    PHONE,
    PROVIDER,
    RECEIVER,
    SECOND_PROVIDER,
    SENT_AT,
    TOPIC,
    seed,
    trust_in,
)
from .vector import Header, Vector, trust_header, vector

# A line of a sequence: when it comes, under which request, and the envelope. An envelope of None loses the guard.
Push = tuple[int, str | None, bytes | None]

LOST = "guard-lost"
OTHER_MESSAGE = seed("another message id")[:16]
GENUINE = forge()


def sequence_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    *pushes: Push,
    receiver: Receiver = RECEIVER,
    pending: bytes | None = None,
    floor: int = 0,
    is_strict: bool = False,
) -> Vector:
    """`expected` names the outcomes in order. `pending` is a key of the account of the receiver's first one."""
    states = dict.fromkeys(receiver.device_secrets, "active")
    holder = receiver
    if pending:
        states[pending] = "pending"
        holder = Receiver(receiver.topic, (*receiver.device_secrets, pending), receiver.trust)
    memory = Memory(holder, states, floor, is_strict)
    lines, outcomes = [], []
    for now, request, envelope in pushes:
        if envelope is None:
            memory.lose_guard(now)
            lines.append(f"{now} - {LOST} -")
            continue
        text = to_text(envelope)
        outcomes.append(memory.receive(text, request, now))
        lines.append(f"{now} {request or '-'} {outcomes[-1]} {text}")
    assert outcomes == expected.split(), (name, outcomes)

    def secret_text(secret: bytes) -> str:
        return text_form(Kind.DEVICE_SECRET, secret)

    time, *known = receiver_header(receiver, 0)
    assert time[0] == "time"
    trust = memory.receiver.trust
    header: list[Header] = [
        *known,
        ("pending", secret_text(pending) if pending else None),
        ("floor", floor),
        ("strict", "yes" if is_strict else None),
        *(trust_header(trust, "-after") if trust != receiver.trust else []),
        *(("device-after", f"{state} {secret_text(secret)}") for secret, state in memory.states.items() if pending),
    ]
    return vector("sequences", name, outcomes[-1], rules, comment, header, "\n".join(lines).encode())


def replay_cases() -> list[Vector]:
    twice = "The same message, twice."
    copy = forge(PAYLOAD[:-1] + b" }")
    long, short = forge(ttl=30 * 86_400), forge(ttl=3600)
    later = forge(message_id=OTHER_MESSAGE, sent_at=SENT_AT + 3 * DAY)
    end = SENT_AT + HOUR
    both = Receiver(TOPIC, (PHONE.secret,), trust_in(PROVIDER, SECOND_PROVIDER))

    def same(name: str, expected: str, rules: str, after: int, request: str | None, **options: Any) -> Vector:
        return sequence_case(
            name, expected, rules, twice, (NOW, "a", GENUINE), (NOW + after, request, GENUINE), **options
        )

    return [
        same("the same request at once", "new again", "O-8.3 O-8.4", 0, "a"),
        same("the same request after exactly a minute", "new again", "O-8.4", 60_000, "a"),
        same("the same request a millisecond after a minute", "new again-quietly", "O-8.4", 60_001, "a"),
        same("the same request after a month", "new again-quietly", "O-8.4", 29 * DAY, "a"),
        same("the same message under another request", "new duplicate-quietly", "O-8.1 O-8.3 O-8.5", 1000, "b"),
        same("another request, and a strict receiver", "new duplicate", "O-8.5", 1000, "b", is_strict=True),
        same("the same request, and a strict receiver", "new again", "O-8.4", 1000, "a", is_strict=True),
        sequence_case(
            "no request identifier, twice",
            "new again",
            "O-8.4",
            "The message id stands for the request.",
            (NOW, None, GENUINE),
            (NOW + 1000, None, GENUINE),
        ),
        sequence_case(
            "sealed again under the same message id",
            "new duplicate-quietly",
            "O-8.5",
            "A retry is a new envelope of the same message.",
            (NOW, "a", GENUINE),
            (NOW + 1000, "b", copy),
        ),
        sequence_case(
            "two messages under one request",
            "new new",
            "O-8.3",
            "The message is identified, not the request.",
            (NOW, "a", GENUINE),
            (NOW + 1000, "a", forge(message_id=OTHER_MESSAGE)),
        ),
        sequence_case(
            "one message id of two senders",
            "new new",
            "O-8.3",
            "A row contains the sender's key: no one can block another sender's message.",
            (NOW, "a", GENUINE),
            (NOW + 1000, "b", forge(sender=SECOND_PROVIDER)),
            receiver=both,
        ),
        sequence_case(
            "three copies under three requests",
            "new duplicate-quietly duplicate-quietly",
            "O-8.5",
            "Each is a copy of the first.",
            (NOW, "a", GENUINE),
            (NOW + 1, "b", GENUINE),
            (NOW + 2, "c", GENUINE),
        ),
        sequence_case(
            "a copy that has expired",
            "new expired",
            "O-6.3 O-8.5",
            "Times come before replay.",
            (NOW, "a", short),
            (end + 1, "b", short),
        ),
        sequence_case(
            "sent at the floor",
            "duplicate-quietly",
            "O-8.3 O-8.5",
            "It counts as seen.",
            (NOW, "a", GENUINE),
            floor=SENT_AT,
        ),
        sequence_case(
            "sent a millisecond after the floor", "new", "O-8.3", "It is new.", (NOW, "a", GENUINE), floor=SENT_AT - 1
        ),
        sequence_case(
            "sent before the floor, to a strict receiver",
            "duplicate",
            "O-8.5",
            "It counts as seen.",
            (NOW, "a", GENUINE),
            floor=SENT_AT + HOUR,
            is_strict=True,
        ),
        sequence_case(
            "a guard that was lost, and the message in hand",
            "new",
            "O-8.7",
            "It counts as new up to ten minutes after it was sent.",
            (SENT_AT + 599_999, None, None),
            (SENT_AT + 599_999, "a", GENUINE),
        ),
        sequence_case(
            "a guard that was lost, and a message from ten minutes before",
            "duplicate-quietly",
            "O-8.7",
            "What may have been shown counts as shown.",
            (SENT_AT + 600_000, None, None),
            (SENT_AT + 600_000, "a", GENUINE),
        ),
        sequence_case(
            "a clock that jumps ahead and back forgets nothing",
            "new new duplicate-quietly",
            "O-8.6",
            "A row is kept for 48 hours beyond the time to live.",
            (NOW, "a", short),
            (end + 2 * DAY, "b", later),
            (NOW + 2000, "c", short),
        ),
        sequence_case(
            "of several copies the one that lives longest counts",
            "new duplicate-quietly new duplicate-quietly",
            "O-8.6",
            "The row of a message is kept for its latest copy.",
            (NOW, "a", short),
            (NOW + 1000, "b", long),
            (end + 2 * DAY + 1000, "c", later),
            (end + 2 * DAY + 2000, "d", long),
        ),
        sequence_case(
            "a message that does not open takes nobody's place",
            "authentication-failed new",
            "O-9.3",
            "A failure leaves no row.",
            (NOW, "a", flip(-1)(GENUINE)),
            (NOW + 1000, "b", GENUINE),
        ),
    ]
