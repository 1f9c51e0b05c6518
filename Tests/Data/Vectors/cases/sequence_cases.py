"""Several pushes one after the other: what is shown twice."""

from dataclasses import replace
import json
from typing import Any

from reference.envelope import to_text
from reference.keys import Kind, import_text, text_form
from reference.opening import Receiver
from reference.replay import ROOM, Memory
from reference.reserved import MOST_WITHDRAWN, message_id
from reference.trust import Certificate

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
    STRANGERS_PHONE,
    TABLET,
    Pair,
    pinned,
    seed,
    signer,
)
from .vector import Header, Vector, certificate_text, learned_after_header, provider_text, vector

# A line of a sequence: when, which event, under which request or which number, and the envelope or certificate.
Step = tuple[int, str, str | None, bytes | Certificate | None]

OTHER_MESSAGE = seed("another message id")[:16]
THIRD_MESSAGE = seed("a third message id")[:16]
GENUINE = forge()
BY_SECOND = signer(provider=SECOND_PROVIDER)


def comes(now: int, request: str | None, envelope: bytes) -> Step:
    """Taken and handed over at once."""
    return now, "receive", request, envelope


def take(now: int, request: str | None, envelope: bytes) -> Step:
    return now, "take", request, envelope


def hand_over(now: int, number: int) -> Step:
    """Of the delivery taken as number `number`, from 1."""
    return now, "hand-over", str(number), None


def lose(now: int) -> Step:
    return now, "lose-guard", None, None


def lock(now: int) -> Step:
    return now, "lock-guard", None, None


def unlock(now: int) -> Step:
    return now, "unlock-guard", None, None


def screen(now: int) -> Step:
    """The notifications to remove."""
    return now, "remove", None, None


def learn(now: int, one: Certificate) -> Step:
    """The app gets it in a reply."""
    return now, "learn", None, one


def launch(now: int) -> Step:
    """The app takes over what the extension wrote."""
    return now, "launch", None, None


def pin(now: int, provider: Pair) -> Step:
    return now, "pin", provider_text(provider.public), None


def unpin(now: int, provider: Pair) -> Step:
    return now, "unpin", provider_text(provider.public), None


def run(memory: Memory, step: Step) -> str | None:
    now, event, argument, envelope = step
    if isinstance(envelope, Certificate):
        return memory.learn(envelope)
    if event in ("pin", "unpin"):
        provider = import_text(Kind.PROVIDER_PUBLIC, argument or "")
        return memory.pin(provider) if event == "pin" else memory.unpin(provider)
    if event == "lose-guard":
        memory.lose_guard(now)
    elif event in ("lock-guard", "unlock-guard"):
        memory.is_writable = event == "unlock-guard"
    elif event == "remove":
        return ",".join(memory.on_screen()) or "nothing"
    elif event == "hand-over":
        return memory.hand_over(int(argument or 0) - 1)
    elif envelope:
        text = to_text(envelope)
        return (memory.take if event == "take" else memory.receive)(text, argument, now)
    return None


def sequence_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    *steps: Step,
    receiver: Receiver = RECEIVER,
    pending: bytes | None = None,
    accounts: dict[bytes, str] | None = None,
    floor: int = 0,
    is_strict: bool = False,
    room: int = ROOM,
) -> Vector:
    """`expected` names the outcomes in order. `pending` is a pending key beside those of the receiver, of which those
    with an end are retiring."""
    states = {key: "retiring" if key in receiver.ends else "active" for key in receiver.device_secrets}
    holder = receiver
    if pending:
        states[pending] = "pending"
        holder = replace(receiver, device_secrets=(*receiver.device_secrets, pending))
    memory = Memory(holder, states, floor, is_strict, accounts or {}, room)
    lines, outcomes, verdicts = [], [], []
    for step in steps:
        now, event, argument, envelope = step
        outcome = run(memory, step)
        outcomes += [outcome] if outcome else []
        verdicts += [outcome] if outcome and event != "remove" else []
        lines.append(f"{now} {event} {argument or '-'} {outcome or '-'} {last_word(envelope)}")
    assert outcomes == expected.split(), (name, outcomes)

    def secret_text(secret: bytes) -> str:
        return text_form(Kind.DEVICE_SECRET, secret)

    time, *known = receiver_header(receiver, 0)
    assert time[0] == "time"
    changes_keys = bool(pending or receiver.ends)
    header: list[Header] = [
        *known,
        ("pending", secret_text(pending) if pending else None),
        *(("account", f"{account} {secret_text(secret)}") for secret, account in (accounts or {}).items()),
        *(
            ("account-pin", f"{(accounts or {})[secret]} {provider_text(key)}")
            for secret, keys in receiver.account_pins.items()
            for key in keys
        ),
        ("floor", floor),
        ("room", room if room != ROOM else None),
        ("strict", "yes" if is_strict else None),
        *learned_after_header(receiver.learned, memory.receiver.learned),
        *(("device-after", f"{state} {secret_text(secret)}") for secret, state in memory.states.items() if changes_keys),
    ]
    return vector("sequences", name, verdicts[-1], rules, comment, header, "\n".join(lines).encode())


def last_word(item: bytes | Certificate | None) -> str:
    if isinstance(item, Certificate):
        return certificate_text(item)
    return to_text(item) if item else "-"


def take_cases() -> list[Vector]:
    """Taken and handed over at once: what is shown twice."""
    twice = "The same message, twice."
    copy = forge(PAYLOAD[:-1] + b" }")
    long, short = forge(ttl=30 * 86_400), forge(ttl=3600)
    end = SENT_AT + HOUR
    both = pinned(PROVIDER, SECOND_PROVIDER)

    def same(name: str, expected: str, rules: str, after: int, request: str | None, **options: Any) -> Vector:
        return sequence_case(
            name, expected, rules, twice, comes(NOW, "a", GENUINE), comes(NOW + after, request, GENUINE), **options
        )

    return [
        same("the same request at once", "new again-quietly", "O-8.5 O-8.7", 0, "a"),
        same("the same request after a second", "new again-quietly", "O-8.5 O-8.7", 1000, "a"),
        same("the same request after a month", "new again-quietly", "O-8.5", 29 * DAY, "a"),
        same("the same message under another request", "new duplicate-quietly", "O-8.1 O-8.4 O-8.6", 1000, "b"),
        same("another request, and a strict receiver", "new duplicate", "O-8.6 O-8.7", 1000, "b", is_strict=True),
        same("the same request, and a strict receiver", "new again-quietly", "O-8.5", 1000, "a", is_strict=True),
        sequence_case(
            "no request identifier, twice",
            "new again-quietly",
            "O-8.5",
            "The message id stands for the request.",
            comes(NOW, None, GENUINE),
            comes(NOW + 1000, None, GENUINE),
        ),
        sequence_case(
            "sealed again under the same message id",
            "new duplicate-quietly",
            "O-8.6",
            "A retry is a new envelope of the same message.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 1000, "b", copy),
        ),
        sequence_case(
            "two messages under one request",
            "new new",
            "O-8.4",
            "The message is identified, not the request.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 1000, "a", forge(message_id=OTHER_MESSAGE)),
        ),
        sequence_case(
            "one message id of two providers",
            "new new",
            "O-8.4",
            "A row contains the pin: no one can block another provider's message.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 1000, "b", forge(signer=BY_SECOND)),
            receiver=both,
        ),
        sequence_case(
            "three copies under three requests",
            "new duplicate-quietly duplicate-quietly",
            "O-8.6",
            "Each is a copy of the first.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 1, "b", GENUINE),
            comes(NOW + 2, "c", GENUINE),
        ),
        sequence_case(
            "the first request again after a copy under another",
            "new duplicate-quietly again-quietly",
            "O-8.5 O-8.6",
            "The row keeps the request that made it.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 1, "b", GENUINE),
            comes(NOW + 2, "a", GENUINE),
        ),
        sequence_case(
            "a copy that has expired",
            "new expired",
            "O-6.4 O-8.6",
            "Times come before replay.",
            comes(NOW, "a", short),
            comes(end + 1, "b", short),
        ),
        sequence_case(
            "a copy that lives longer, after the end of the first",
            "new duplicate-quietly",
            "O-8.9",
            "A row is kept after its end.",
            comes(NOW, "a", short),
            comes(end + 1, "b", long),
        ),
        sequence_case(
            "a message that does not open takes nobody's place",
            "authentication-failed new",
            "O-9.3",
            "A failure leaves no row.",
            comes(NOW, "a", flip(-1)(GENUINE)),
            comes(NOW + 1000, "b", GENUINE),
        ),
    ]


def state_cases() -> list[Vector]:
    """Taking and handing over apart: who rings."""
    once = "Who hands the message over first rings, whatever the request; nobody else does."
    fetch = "Only what is new, or found the row taken under its own request, may fetch files."

    def two(name: str, expected: str, rules: str, request: str, *order: int, **options: Any) -> Vector:
        steps = [take(NOW, "a", GENUINE), take(NOW + 10, request, GENUINE)]
        steps += [hand_over(NOW + 20 + place, number) for place, number in enumerate(order)]
        return sequence_case(name, expected, rules, once, *steps, **options)

    def killed(name: str, expected: str, rules: str, request: str, **options: Any) -> Vector:
        steps = (take(NOW, "a", GENUINE), comes(NOW + 40_000, request, GENUINE), comes(NOW + 50_000, "c", GENUINE))
        return sequence_case(name, expected, rules, "The first delivery ended before it was handed over.", *steps, **options)

    quiet = "again-quietly"
    return [
        two("two deliveries of one request, the first is handed over first", f"new again new {quiet}", "O-8.3 O-8.7", "a", 1, 2),
        two("two deliveries of one request, the second is handed over first", f"new again again {quiet}", "O-8.3 O-8.7", "a", 2, 1),
        two("a copy taken meanwhile, and handed over after", "new copy new duplicate-quietly", "O-8.6 O-8.7", "b", 1, 2),
        two("a copy taken meanwhile, and handed over before", f"new copy copy {quiet}", "O-8.6 O-8.7", "b", 2, 1),
        two("a copy taken meanwhile, handed over after, to a strict receiver", "new copy new duplicate", "O-8.6 O-8.7", "b", 1, 2, is_strict=True),
        two("a copy taken meanwhile, handed over before, to a strict receiver", f"new copy copy {quiet}", "O-8.7", "b", 2, 1, is_strict=True),
        killed("a delivery that ended, and the same request", "new again duplicate-quietly", "O-8.5 O-8.7", "a"),
        killed("a delivery that ended, and another request", "new copy duplicate-quietly", "O-8.6 O-8.7", "b"),
        killed("a delivery that ended, and another request to a strict receiver", "new copy duplicate", "O-8.6 O-8.7", "b", is_strict=True),
        sequence_case(
            "the same delivery handed over twice",
            f"new new {quiet}",
            "O-8.7",
            once,
            take(NOW, "a", GENUINE),
            hand_over(NOW + 10, 1),
            hand_over(NOW + 20, 1),
        ),
        sequence_case(
            "the same request after the handing over may fetch nothing",
            f"new new again-handed-over {quiet}",
            "O-8.5 O-8.8",
            fetch,
            take(NOW, "a", GENUINE),
            hand_over(NOW + 10, 1),
            take(NOW + 20, "a", GENUINE),
            hand_over(NOW + 30, 2),
        ),
        sequence_case(
            "a guard that is lost between taking and handing over",
            f"new new duplicate-quietly",
            "O-8.10 O-8.7",
            "What is new rings although its row is gone, and makes the row.",
            take(NOW, "a", GENUINE),
            lose(NOW + 10),
            hand_over(NOW + 20, 1),
            comes(NOW + 30, "b", GENUINE),
        ),
        sequence_case(
            "a copy whose row is lost before it is handed over",
            "new copy duplicate-quietly",
            "O-8.10 O-8.7",
            "It did not make the row, and nobody can tell whether the message was shown.",
            take(NOW, "a", GENUINE),
            take(NOW + 5, "b", GENUINE),
            lose(NOW + 10),
            hand_over(NOW + 20, 2),
        ),
        sequence_case(
            "the same request, whose row is lost before it is handed over",
            f"new again {quiet}",
            "O-8.10 O-8.7",
            "It did not make the row, and nobody can tell whether the message was shown.",
            take(NOW, "a", GENUINE),
            take(NOW + 5, "a", GENUINE),
            lose(NOW + 10),
            hand_over(NOW + 20, 2),
        ),
        sequence_case(
            "a guard that cannot be written",
            "new new",
            "O-8.11 O-8.7",
            "A lost message harms the user more than a repeated one.",
            lock(NOW),
            comes(NOW, "a", GENUINE),
            comes(NOW + 10, "b", GENUINE),
        ),
        sequence_case(
            "a guard that can be written again before the message is handed over",
            "new new duplicate-quietly",
            "O-8.11 O-8.7",
            "Handing over makes the row that taking could not write.",
            lock(NOW),
            take(NOW, "a", GENUINE),
            unlock(NOW + 5),
            hand_over(NOW + 10, 1),
            comes(NOW + 20, "b", GENUINE),
        ),
        sequence_case(
            "a guard that cannot be written when a new message is handed over",
            "new new",
            "O-8.11 O-8.7",
            "It took the row, and rings.",
            take(NOW, "a", GENUINE),
            lock(NOW + 5),
            hand_over(NOW + 10, 1),
        ),
        sequence_case(
            "a guard that cannot be written when a copy is handed over",
            "new copy duplicate-quietly",
            "O-8.11 O-8.7",
            "Somebody else took the row, and may have rung.",
            take(NOW, "a", GENUINE),
            lock(NOW + 5),
            take(NOW + 6, "b", GENUINE),
            hand_over(NOW + 10, 2),
        ),
        sequence_case(
            "a guard that cannot be written, with the row of a message that was shown",
            f"new {quiet} duplicate-quietly",
            "O-8.11",
            "What can be read decides.",
            comes(NOW, "a", GENUINE),
            lock(NOW + 5),
            comes(NOW + 6, "a", GENUINE),
            comes(NOW + 7, "b", GENUINE),
        ),
    ]


def account_cases() -> list[Vector]:
    """Two accounts on one phone: PHONE is of one, TABLET of the other, under one provider."""
    one_id = "Two accounts get one message each, with one id: both are shown."
    both = pinned(PROVIDER, devices=(PHONE, TABLET))
    others = {TABLET.secret: "work"}
    there = forge(device=TABLET)
    old = {"sent_at": SENT_AT - HOUR, "message_id": OTHER_MESSAGE}
    return [
        sequence_case(
            "one message id for two accounts",
            "new new duplicate-quietly duplicate-quietly",
            "O-8.4 O-8.6",
            one_id,
            comes(NOW, "a", GENUINE),
            comes(NOW + 10, "b", there),
            comes(NOW + 20, "c", GENUINE),
            comes(NOW + 30, "d", there),
            receiver=both,
            accounts=others,
        ),
        sequence_case(
            "one message id for two keys of one account",
            "new duplicate-quietly",
            "O-8.6",
            "The account belongs to the row and not its key: a retry after a rotation is shown once.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 10, "b", there),
            receiver=both,
        ),
        sequence_case(
            "one message id for two keys of another account",
            "new duplicate-quietly",
            "O-8.6",
            "The account belongs to the row and not its key: a retry after a rotation is shown once.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 10, "b", there),
            receiver=both,
            accounts={PHONE.secret: "work", TABLET.secret: "work"},
        ),
        sequence_case(
            "a floor that rose for one account",
            "new new duplicate-quietly new",
            "O-8.9",
            "Count and floor are of a pin and an account.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 10, "b", forge(message_id=THIRD_MESSAGE, sent_at=SENT_AT + 1)),
            comes(NOW + 20, "c", forge(**old)),
            comes(NOW + 30, "d", forge(device=TABLET, **old)),
            receiver=both,
            accounts=others,
            room=1,
        ),
        sequence_case(
            "a pending key of one account leaves the other's active",
            "new",
            "O-9.2",
            "Each account has its own active key.",
            comes(NOW, "a", forge(device=STRANGERS_PHONE)),
            receiver=both,
            pending=STRANGERS_PHONE.secret,
            accounts={TABLET.secret: "work", STRANGERS_PHONE.secret: "work"},
        ),
    ]


def floor_cases() -> list[Vector]:
    """What counts as seen without a row, and how long rows are kept."""
    short = forge(ttl=3600)
    end = SENT_AT + HOUR
    seen = "It counts as seen."

    def message(number: int, **fields: Any) -> bytes:
        fields = {"sent_at": SENT_AT + number, **fields}
        return forge(message_id=seed(f"message {number}")[:16], **fields)

    both = pinned(PROVIDER, SECOND_PROVIDER)
    return [
        sequence_case(
            "sent at the floor", "duplicate-quietly", "O-8.4 O-8.6", seen, comes(NOW, "a", GENUINE), floor=SENT_AT
        ),
        sequence_case(
            "sent a millisecond after the floor",
            "new",
            "O-8.4",
            "It is new.",
            comes(NOW, "a", GENUINE),
            floor=SENT_AT - 1,
        ),
        sequence_case(
            "sent before the floor, to a strict receiver",
            "duplicate",
            "O-8.6 O-8.7",
            seen,
            comes(NOW, "a", GENUINE),
            floor=SENT_AT + HOUR,
            is_strict=True,
        ),
        sequence_case(
            "sent before the floor, twice under one request",
            "seen seen duplicate-quietly duplicate-quietly",
            "O-8.6",
            "What was seen gets no row, so no second copy has the same request.",
            take(NOW, "a", GENUINE),
            take(NOW + 10, "a", GENUINE),
            hand_over(NOW + 20, 1),
            hand_over(NOW + 30, 2),
            floor=SENT_AT + HOUR,
        ),
        sequence_case(
            "sent before the floor, and a later copy above it",
            "duplicate-quietly new",
            "O-8.6",
            "What was seen gets no row.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 10, "b", forge(sent_at=SENT_AT + 1)),
            floor=SENT_AT,
        ),
        sequence_case(
            "a guard that was lost, and the message in hand",
            "new",
            "O-8.10",
            "It counts as new up to ten minutes after it was sent.",
            lose(SENT_AT + 599_999),
            comes(SENT_AT + 599_999, "a", GENUINE),
        ),
        sequence_case(
            "a guard that was lost, and a message from ten minutes before",
            "duplicate-quietly",
            "O-8.10",
            "What may have been shown counts as shown.",
            lose(SENT_AT + 600_000),
            comes(SENT_AT + 600_000, "a", GENUINE),
        ),
        sequence_case(
            "a guard that was lost while the clock was ten days ahead",
            "new new",
            "O-8.10",
            "A floor above now + 24 hours is void, also when its time comes.",
            lose(NOW + 10 * DAY),
            comes(NOW, "a", GENUINE),
            comes(NOW + 11 * DAY, "b", forge(message_id=OTHER_MESSAGE)),
        ),
        sequence_case(
            "a guard that was lost while the clock was a day ahead",
            "duplicate-quietly",
            "O-8.10",
            "The limit is inclusive.",
            lose(NOW + DAY + 600_000),
            comes(NOW, "a", GENUINE),
        ),
        sequence_case(
            "a message that counts as seen finds a row when it is handed over",
            "seen new duplicate-quietly new",
            "O-8.3 O-8.7",
            "It is quiet, and leaves the row to the one that made it.",
            take(NOW, "a", GENUINE),
            take(NOW - DAY - 1, "b", GENUINE),
            hand_over(NOW, 1),
            hand_over(NOW + 1, 2),
            floor=NOW,
        ),
        sequence_case(
            "the floor of a provider that rose while the clocks were ten days ahead",
            "new new new",
            "O-8.10",
            "It becomes 0 like the guard's.",
            comes(NOW + 10 * DAY, "a", message(1, sent_at=NOW + 10 * DAY)),
            comes(NOW + 10 * DAY, "b", message(2, sent_at=NOW + 10 * DAY + 1)),
            comes(NOW, "c", message(3)),
            room=1,
        ),
        sequence_case(
            "the floor of a provider that rose while its clock was a day ahead",
            "new new duplicate-quietly",
            "O-8.10",
            "The limit is inclusive.",
            comes(NOW, "a", message(1, sent_at=NOW + DAY)),
            comes(NOW, "b", message(2, sent_at=NOW + DAY - 1)),
            comes(NOW, "c", message(3)),
            room=1,
        ),
        sequence_case(
            "no more room: the message that comes stays, even if it was sent first",
            "new new duplicate-quietly duplicate-quietly",
            "O-8.9",
            "Room is made before the row.",
            comes(NOW, "a", message(4)),
            comes(NOW + 1, "b", message(2)),
            comes(NOW + 2, "b", message(3)),
            comes(NOW + 3, "c", message(2)),
            room=1,
        ),
        sequence_case(
            "no more room: the row of the lowest sent at goes, and the floor rises to it",
            "new new new duplicate-quietly duplicate-quietly new",
            "O-8.9",
            "What may have been forgotten counts as seen.",
            comes(NOW, "a", message(2)),
            comes(NOW + 1, "b", message(4)),
            comes(NOW + 2, "c", message(6)),
            comes(NOW + 3, "d", message(2)),
            comes(NOW + 4, "e", message(1)),
            comes(NOW + 5, "f", message(3)),
            room=2,
        ),
        sequence_case(
            "no more room: a row goes by when it was sent, not by when it came",
            "new new new duplicate-quietly duplicate-quietly",
            "O-8.9",
            "The floor rises to the lowest sent at.",
            comes(NOW, "a", message(4)),
            comes(NOW + 1, "b", message(2)),
            comes(NOW + 2, "c", message(6)),
            comes(NOW + 3, "d", message(4)),
            comes(NOW + 4, "e", message(2)),
            room=2,
        ),
        sequence_case(
            "no more room: the row of a message whose time to live is over has no precedence",
            "new new new duplicate-quietly",
            "O-8.9",
            "A clock that jumps ahead makes rows look expired.",
            comes(NOW, "a", message(4, ttl=3600)),
            comes(NOW + 1, "b", message(2)),
            comes(SENT_AT + DAY, "c", message(6)),
            comes(NOW + 3, "d", message(4, ttl=3600)),
            room=2,
        ),
        sequence_case(
            "room is counted for each provider",
            "new new duplicate-quietly duplicate-quietly",
            "O-8.9",
            "One provider cannot push out another's rows.",
            comes(NOW, "a", GENUINE),
            comes(NOW + 1, "b", forge(signer=BY_SECOND)),
            comes(NOW + 2, "c", GENUINE),
            comes(NOW + 3, "d", forge(signer=BY_SECOND)),
            receiver=both,
            room=1,
        ),
        sequence_case(
            "of several copies the latest sent at decides which row goes",
            "new new duplicate-quietly new duplicate-quietly duplicate-quietly",
            "O-8.9",
            "A message sealed again has the place of its latest copy.",
            comes(NOW, "a", message(1)),
            comes(NOW + 1, "b", message(3)),
            comes(NOW + 2, "c", message(1, sent_at=SENT_AT + 5)),
            comes(NOW + 3, "d", message(7)),
            comes(NOW + 4, "e", message(1, sent_at=SENT_AT + 5)),
            comes(NOW + 5, "f", message(3)),
            room=2,
        ),
        sequence_case(
            "a clock that jumps ten days ahead and back forgets nothing",
            "new new duplicate-quietly",
            "O-8.9",
            "A row is kept until 48 hours after its end, by the clock and by the latest sent at of its provider.",
            comes(NOW, "a", short),
            comes(end + 10 * DAY, "b", forge(message_id=OTHER_MESSAGE)),
            comes(NOW + 2000, "c", short),
        ),
        sequence_case(
            "a provider whose clock is ahead makes nobody forget",
            "new new duplicate-quietly",
            "O-8.9",
            "A row is kept until 48 hours after its end, by the clock and by the latest sent at of its provider.",
            comes(NOW, "a", short),
            comes(NOW + 1000, "b", forge(message_id=OTHER_MESSAGE, sent_at=NOW + DAY)),
            comes(NOW + 2000, "c", short),
        ),
        sequence_case(
            "a jump of the clock, and what another provider sent later, forget nothing",
            "new new new duplicate-quietly",
            "O-8.9",
            "The latest sent at is that of the row's own provider.",
            comes(NOW, "a", short),
            comes(end + 10 * DAY, "b", forge(message_id=OTHER_MESSAGE, sent_at=end + 9 * DAY, signer=BY_SECOND)),
            comes(end + 10 * DAY, "c", forge(message_id=THIRD_MESSAGE)),
            comes(NOW + 2000, "d", short),
            receiver=both,
        ),
        sequence_case(
            "at 48 hours after its end a row is still kept",
            "new new duplicate-quietly",
            "O-8.9",
            "The limit is inclusive, by the clock and by the latest sent at.",
            comes(NOW, "a", short),
            comes(end + 2 * DAY + 1000, "b", forge(message_id=OTHER_MESSAGE, sent_at=end + 2 * DAY)),
            comes(NOW + 2000, "c", short),
        ),
        sequence_case(
            "of several copies the latest end counts",
            "new duplicate-quietly new duplicate-quietly",
            "O-8.9",
            "The row of a message is kept for its longest-lived copy.",
            comes(NOW, "a", short),
            comes(NOW + 1000, "b", forge(ttl=30 * 86_400)),
            comes(end + 4 * DAY, "c", forge(message_id=OTHER_MESSAGE, sent_at=end + 3 * DAY)),
            comes(end + 4 * DAY + 1000, "d", forge(ttl=30 * 86_400)),
        ),
    ]


def withdrawal_cases() -> list[Vector]:
    """What a message withdraws, whatever comes first."""
    comment = "What is withdrawn stays withdrawn, in any order."
    table = message_id("table-17")

    def named(name: str = "table-17", **fields: Any) -> bytes:
        return forge(message_id=message_id(name), **fields)

    def withdraws(names: object, **fields: Any) -> bytes:
        payload = {"aps": {"alert": "Changed"}, "pushcrypt": {"withdraw": names}}
        return forge(json.dumps(payload, separators=(",", ":")).encode(), **({"message_id": OTHER_MESSAGE} | fields))

    message, withdrawal = named(), withdraws(["table-17"])
    others = {TABLET.secret: "work"}
    two_keys = pinned(PROVIDER, devices=(PHONE, TABLET))
    two_providers = pinned(PROVIDER, SECOND_PROVIDER)
    many = [f"n{number}" for number in range(MOST_WITHDRAWN)]
    assert table == message_id("table-17")

    def case(name: str, expected: str, rules: str, *steps: Step, **options: Any) -> Vector:
        return sequence_case(name, expected, rules, comment, *steps, **options)

    return [
        case("a message that is withdrawn after it was shown", "new new a", "O-8.12 O-8.13 O-8.15", comes(NOW, "a", message), comes(NOW + 1, "b", withdrawal), screen(NOW + 2)),
        case("a message that is withdrawn before it comes", "new withdrawn nothing", "O-8.13 O-8.14 O-8.15 N-8", comes(NOW, "b", withdrawal), comes(NOW + 1, "a", message), screen(NOW + 2)),
        case("a copy of a withdrawn message", "new new withdrawn withdrawn", "O-8.14 N-8", comes(NOW, "a", message), comes(NOW + 1, "b", withdrawal), comes(NOW + 2, "c", message), comes(NOW + 3, "a", message)),
        case("a message that is withdrawn between taking and handing over", "new new withdrawn", "O-8.13 O-8.14 N-8", take(NOW, "a", message), comes(NOW + 1, "b", withdrawal), hand_over(NOW + 2, 1)),
        case("a withdrawal takes effect when it is taken", "new new a", "O-8.13 O-8.15", comes(NOW, "a", message), take(NOW + 1, "b", withdrawal), screen(NOW + 2)),
        case("a withdrawal that comes twice", "new again-quietly withdrawn", "O-8.13 O-8.14", comes(NOW, "b", withdrawal), comes(NOW + 1, "b", withdrawal), comes(NOW + 2, "a", message)),
        case("a withdrawal that counts as seen", "duplicate-quietly withdrawn", "O-8.13", comes(NOW, "b", withdraws(["table-17"], sent_at=SENT_AT - 1)), comes(NOW + 1, "a", message), floor=SENT_AT - 1),
        case("a withdrawal that does not open", "new authentication-failed nothing", "O-8.13 O-9.3", comes(NOW, "a", message), comes(NOW + 1, "b", flip(-1)(withdrawal)), screen(NOW + 2)),
        case("another provider's message is not withdrawn", "new new nothing", "O-8.13", comes(NOW, "a", message), comes(NOW + 1, "b", withdraws(["table-17"], signer=BY_SECOND)), screen(NOW + 2), receiver=two_providers),
        case("another account's message is not withdrawn", "new new nothing", "O-8.13", comes(NOW, "a", message), comes(NOW + 1, "b", withdraws(["table-17"], device=TABLET)), screen(NOW + 2), receiver=two_keys, accounts=others),
        case("a message does not withdraw itself", "new again-quietly nothing", "O-8.12", comes(NOW, "a", withdraws(["table-17"], message_id=table)), comes(NOW + 1, "a", withdraws(["table-17"], message_id=table)), screen(NOW + 2)),
        case("a message that was withdrawn may withdraw others", "new withdrawn withdrawn", "O-8.13 O-8.14", comes(NOW, "b", withdrawal), comes(NOW + 1, "a", withdraws(["table-18"], message_id=table)), comes(NOW + 2, "c", named("table-18"))),
        case("two messages are withdrawn at once", "new new new a,c", "O-8.12 O-8.15", comes(NOW, "a", message), comes(NOW + 1, "c", named("table-18")), comes(NOW + 2, "b", withdraws(["table-17", "table-18"])), screen(NOW + 3)),
        case("the sixty-fifth name is not withdrawn", "new withdrawn new", "O-8.12", comes(NOW, "b", withdraws([*many, "table-17"])), comes(NOW + 1, "c", named(many[-1])), comes(NOW + 2, "a", message)),
        case("a name that is no string leaves the others", "new withdrawn", "O-8.12", comes(NOW, "b", withdraws([7, "", None, "table-17"])), comes(NOW + 1, "a", message)),
        case("a withdrawal that is no array", "new new", "O-8.12", comes(NOW, "b", withdraws("table-17")), comes(NOW + 1, "a", message)),
        case("a withdrawal is kept for thirty days after it was sent", "new withdrawn new", "O-8.13", comes(NOW, "b", withdraws(["table-17"], ttl=60)), comes(SENT_AT + 29 * DAY, "a", message), comes(SENT_AT + 40 * DAY, "c", named("table-18", sent_at=SENT_AT + 40 * DAY))),
        case("a withdrawal while the guard cannot be written", "new new nothing", "O-8.11 O-8.13", comes(NOW, "a", message), lock(NOW + 1), comes(NOW + 2, "b", withdrawal), unlock(NOW + 3), screen(NOW + 4)),
    ]


def replay_cases() -> list[Vector]:
    return [*take_cases(), *state_cases(), *account_cases(), *floor_cases(), *withdrawal_cases()]
