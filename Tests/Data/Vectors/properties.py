"""What must hold of trust whatever happens, tried on the reference with real certificates, messages and clocks.

    .build/interop/bin/python Tests/Data/Vectors/properties.py               scenarios to a small depth, and some walks
    .build/interop/bin/python Tests/Data/Vectors/properties.py WALKS [SEED]   as many walks, from this seed

One phone, its provider and somebody who steals: signing keys, and in a scenario the provider key itself. Time is in days.

    P1  No message opens whose epoch is below a floor that the phone has accepted.
    P2  A genuine message of the current epoch opens.
    P3  So does one that was sealed before a planned rotation, or by a server that has the new key late.
    P4  What two states come to does not depend on the order, and loses nothing.
    P5  A message rings once, also when it is sealed again after a rotation, and a thief silences none once the theft is known.
    P6  A thief is believed no more once phone and provider have talked.
    P7  A provider can always rotate.
    P8  A key that was replaced long ago is not believed by a phone that knows the current epoch.
"""

import hashlib
import itertools
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

sys.dont_write_bytecode = True

from cases.material import DAY, PHONE, PROVIDER, SECOND_PROVIDER, SENT_AT, TOPIC, Pair, certify, seed  # noqa: E402
from reference import keys, trust  # noqa: E402
from reference.envelope import MAXIMUM_TTL, Message, Signer, seal, smallest_bucket, to_text  # noqa: E402
from reference.opening import Receiver, Refused  # noqa: E402
from reference.replay import VERDICTS, Memory  # noqa: E402
from reference.reserved import message_id  # noqa: E402
from reference.trust import NEVER, Certificate, Learned  # noqa: E402

TTL, ROLLOUT, LONG = 30, 7, 80
START = SENT_AT
NAME = message_id("order-7731")


class Broken(Exception):
    """The argument is the property, and how."""


def need(holds: bool, what: str) -> None:
    if not holds:
        raise Broken(what)


def signing_key(number: int) -> Pair:
    return Pair(seed(f"properties signing key {number}"))


@dataclass(frozen=True)
class Store:
    """A provider's store: its current certificate, what it replaced and when, and what it issued."""

    current: Certificate | None = None
    key: Pair = PROVIDER
    past: tuple[tuple[Certificate | None, int], ...] = ()
    issued: tuple[Certificate, ...] = ()
    proven: Certificate | None = None

    @property
    def epoch(self) -> int:
        return self.current.epoch if self.current else 0

    @property
    def signer(self) -> Signer:
        return Signer(self.key.seed, PROVIDER.public, self.current)


@dataclass
class World:
    """`ago` is the clock of the phone against the provider's, `talks` the number of rotations that the phone has heard of."""

    memory: Memory
    day: int = 0
    store: Store = field(default_factory=Store)
    saved: Store | None = None
    late: Store | None = None
    rotated_at: int = 0
    ago: int = 0
    made: int = 0
    sent: int = 0
    thief: tuple[Signer, ...] = ()
    flight: list[tuple[str, int, int, int]] = field(default_factory=list)
    thefts: int = 0
    heard: int = -1
    rang: int = -1
    rang_at: int = 0
    floor: int = 0
    is_stale: bool = False
    has_forgotten: bool = False
    copies: tuple[Learned, ...] = ()

    @property
    def now(self) -> int:
        return START + self.day * DAY

    @property
    def learned(self) -> Learned:
        return self.memory.receiver.learned.get(PROVIDER.public, Learned())

    @property
    def is_healthy(self) -> bool:
        alive = self.store.current is None or self.now <= self.store.current.expires_at
        return not self.is_stale and abs(self.ago) <= 1 and alive


def started(epoch: int) -> World:
    receiver = Receiver(TOPIC, (PHONE.secret,), (PROVIDER.public, SECOND_PROVIDER.public))
    world = World(Memory(receiver, {PHONE.secret: "active"}, 0))
    if epoch:
        rotate(world)
        hear(world, world.store.current)
    return world


# Messages.


def message(world: World, signer: Signer, identifier: bytes | None = None, withdraws: bool = False) -> str:
    """Sealed now."""
    world.sent += 1
    identifier = identifier or seed(f"properties message {world.sent}")[:16]
    payload: dict[str, object] = {"aps": {"alert": "hi"}}
    if withdraws:
        payload["pushcrypt"] = {"withdraw": ["order-7731"]}
    body = signer.body(json.dumps(payload).encode())
    one = Message(body, identifier, world.now, MAXIMUM_TTL, signer.kind("alert"))
    ikm = hashlib.sha256(repr((signer, one)).encode()).digest()
    return to_text(seal(one, PHONE.public, signer, TOPIC, ikm, smallest_bucket(len(body))))


def deliver(world: World, text: str, epoch: int) -> str:
    """The verdict, or a code. P1 holds of each."""
    before = world.learned
    verdict = world.memory.receive(text, None, world.now + world.ago * DAY)
    if is_open(verdict):
        need(epoch >= before.floor and epoch >= world.floor, "P1: below a floor that the phone had accepted")
    need(before.merged(world.learned) == world.learned, "P4: what the phone knew is lost")
    world.floor = max(world.floor, world.learned.floor)
    return verdict


def is_open(verdict: str) -> bool:
    return verdict in VERDICTS or verdict.endswith("quietly")


def hear(world: World, one: Certificate | None) -> None:
    """The app gets a certificate in a reply."""
    if one:
        world.memory.learn(one)
        world.floor = max(world.floor, world.learned.floor)


# Events. Each returns False if it cannot happen.

Event = Callable[[World], bool | None]


def genuine(world: World) -> None:
    opened = is_open(deliver(world, message(world, world.store.signer), world.store.epoch))
    if world.is_healthy:
        need(opened, "P2: a genuine message of the current epoch is refused")


def named(world: World) -> None:
    verdict = deliver(world, message(world, world.store.signer, NAME), world.store.epoch)
    if not world.is_healthy:
        return
    need(is_open(verdict), "P2: a genuine message of the current epoch is refused")
    is_retry = world.rang == world.thefts and world.day <= world.rang_at + TTL
    need(not is_retry or world.has_forgotten or verdict != "new", "P5: a retry rings twice")
    stolen_since = world.thefts > 0 and world.rang < world.thefts
    if stolen_since and not world.has_forgotten and verdict != "new":
        poisoned = any(signer.epoch >= world.learned.floor for signer in world.thief)
        need(poisoned, "P5: a thief has silenced a message")
    if verdict == "new":
        world.rang, world.rang_at = world.thefts, world.day


def hold(world: World) -> bool | None:
    if world.is_stale or len(world.flight) > 1 or not world.is_healthy:
        return False
    world.flight.append((message(world, world.store.signer), world.store.epoch, world.thefts, world.day))
    return None


def late(world: World) -> bool | None:
    """By a server that has not got the new key yet."""
    old = world.late
    if not old or world.day > world.rotated_at + ROLLOUT or old.epoch < (world.store.current or CLEAR).floor:
        return False
    if old.current and world.now > old.current.expires_at or len(world.flight) > 1:
        return False
    world.flight.append((message(world, old.signer), old.epoch, world.thefts, world.day))
    return None


def release(world: World) -> bool | None:
    if not world.flight:
        return False
    text, epoch, thefts, sent_on = world.flight.pop(0)
    verdict = deliver(world, text, epoch)
    if world.is_healthy and thefts == world.thefts and world.day <= sent_on + TTL:
        need(is_open(verdict), "P3: a message in flight is refused")
    return None


def steal(world: World) -> bool | None:
    if not world.store.current:
        return False
    world.thief = tuple(dict.fromkeys([*world.thief, world.store.signer]))[-2:]
    return None


def thief(world: World, identifier: bytes | None = None, withdraws: bool = False) -> bool | None:
    if not world.thief:
        return False
    for signer in world.thief:
        if not is_open(deliver(world, message(world, signer, identifier, withdraws), signer.epoch)):
            continue
        current = world.store.current
        has_talked = world.heard == world.made and not world.is_stale
        need(not has_talked or signer.epoch >= (current or CLEAR).floor, "P6: a thief is believed after a talk")
        gone = [at for one, at in world.store.past if one == signer.certificate]
        knows = world.learned.certificate and world.learned.certificate.epoch >= world.store.epoch
        if gone and knows and not world.ago and not world.is_stale:
            need(world.day <= gone[0] + LONG, "P8: a key of long ago is believed")
    return None


def poison(world: World) -> bool | None:
    return thief(world, NAME)


def withdraw(world: World) -> bool | None:
    return thief(world, None, True)


def rotate(world: World, is_stolen: bool = False, days: int | None = None) -> None:
    store = world.store
    past = [(one.epoch if one else 0, START + day * DAY) for one, day in store.past]
    try:
        epoch, floor, grace = trust.plan(store.current, past, store.proven, world.now, is_stolen)
    except trust.Refused as error:
        raise Broken("P7: the provider cannot rotate") from error
    key = signing_key(world.made)
    one = certify(epoch, key, floor, grace, NEVER if days is None else world.now + days * DAY)
    trust.parse(one.data).check(PROVIDER.public, TOPIC)
    need(epoch > store.epoch and (store.proven is None or epoch > store.proven.epoch), "P7: the epoch does not rise")
    world.thefts += is_stolen or store.proven is not None or world.is_stale
    world.late = None if world.is_stale else store
    replaced = ((store.current, world.day),)
    world.store = Store(one, key, (*store.past, *replaced)[-9:], (*store.issued, one))
    world.made, world.rotated_at, world.is_stale = world.made + 1, world.day, False


def planned(world: World) -> None:
    rotate(world)


def stolen(world: World) -> None:
    rotate(world, is_stolen=True)


def short(world: World) -> None:
    rotate(world, days=90)


def launch(world: World) -> None:
    """The phone sends its record and gets a reply."""
    report(world)
    hear(world, world.store.current)
    world.heard = world.made


def report(world: World) -> None:
    """The phone sends its record, and the reply is lost."""
    proof, issued = world.learned.certificate, [one.claim for one in world.store.issued]
    if proof and proof.claim not in issued:
        world.store = replace(world.store, proven=max(filter(None, (world.store.proven, proof))))


def old_reply(world: World) -> bool | None:
    if not world.late or not world.late.current:
        return False
    hear(world, world.late.current)
    return None


def repin(world: World) -> None:
    world.memory.unpin(PROVIDER.public)
    world.memory.pin(PROVIDER.public)
    pins = world.memory.receiver.pins
    world.memory.receiver = replace(world.memory.receiver, pins=tuple(sorted(pins)))


def backup(world: World) -> None:
    world.saved = world.store


def restore(world: World) -> bool | None:
    if not world.saved:
        return False
    world.is_stale = world.is_stale or world.saved.current != world.store.current
    # What it forgot, a theft or a name that rang, it cannot keep.
    world.store, world.thefts, world.late = world.saved, world.thefts + 1, None
    world.has_forgotten, world.heard = True, -1
    world.thief = () if world.is_stale else world.thief
    return None


def image(world: World) -> None:
    """The extension's copy, which the app has not taken over."""
    world.copies = (*world.copies, world.learned)[-2:]


def merge(world: World) -> bool | None:
    """It comes later, in any order."""
    if not world.copies:
        return False
    for copy in world.copies:
        merged = world.learned.merged(copy)
        need(merged == copy.merged(world.learned), "P4: the order of a merge matters")
        need(merged == world.learned, "P4: a merge of an older copy changes something")
    return None


def ahead(world: World) -> None:
    world.ago = 400


def behind(world: World) -> None:
    world.ago = -400


def right(world: World) -> None:
    world.ago = 0


def days(number: int) -> Event:
    def event(world: World) -> None:
        world.day += number

    event.__name__ = f"days_{number}"
    return event


CLEAR = certify(1, signing_key(0))
D1, D29, D100 = days(1), days(29), days(100)

SCENARIOS: list[tuple[str, list[Event], int, int]] = [
    ("thief of a signing key", [genuine, thief, planned, stolen, steal, launch, old_reply, D100], 4, 1),
    ("thief, expiry, grace", [genuine, thief, short, planned, steal, D29, D100], 4, 1),
    ("in flight, servers late", [genuine, hold, late, release, planned, launch, D1, D29], 4, 0),
    ("in flight, clock wrong", [genuine, hold, release, planned, ahead, right, launch], 4, 1),
    ("pin removed, pinned again", [genuine, thief, planned, stolen, steal, repin, launch], 4, 1),
    ("old provider store", [genuine, planned, stolen, backup, restore, launch, report, D29], 4, 1),
    ("extension and app", [genuine, stolen, planned, image, merge, launch, thief, steal], 4, 1),
    ("names and replay rows", [named, poison, withdraw, planned, stolen, steal, launch, D1], 4, 1),
]


def run(epoch: int, trace: tuple[Event, ...]) -> None:
    """Raises Broken with the trace up to the event."""
    world = started(epoch)
    for number, event in enumerate(trace):
        # So that no two certificates are of one second.
        world.day += 1 if event in (planned, stolen, short) else 0
        try:
            event(world)
        except Broken as error:
            raise Broken(f"{error}: epoch {epoch}: {' '.join(one.__name__ for one in trace[: number + 1])}") from error


def scenarios() -> int:
    steps = 0
    for name, events, depth, epoch in SCENARIOS:
        traces = list(itertools.product(events, repeat=depth))
        # Of the longest traces a part, the same in every run.
        chosen = random.Random(name).sample(traces, 100)
        for trace in chosen:
            run(epoch, trace)
            steps += len(trace)
    return steps


def walks(count: int, start: int) -> int:
    events = sorted({event for _, some, _, _ in SCENARIOS for event in some} | {behind}, key=lambda one: one.__name__)
    chance, steps = random.Random(start), 0
    for _ in range(count):
        weights = [chance.random() ** 2 for _ in events]
        trace = tuple(chance.choices(events, weights, k=30))
        run(chance.randrange(2), trace)
        steps += len(trace)
    return steps


def lattice() -> int:
    """P4 on every pair and some triples of small states."""
    ones = [certify(epoch, signing_key(key), floor) for epoch, floor, key in ((2, 0, 0), (2, 2, 1), (3, 1, 2), (3, 3, 3), (4, 2, 4))]
    ones.append(certify(3, signing_key(2), 1, nonce=12345))
    states = {Learned()}
    for count in (1, 2, 3):
        for some in itertools.permutations(ones, count):
            state = Learned()
            for one in some:
                state, _ = state.learning(one)
            states.add(state)
    for a, b in itertools.product(states, repeat=2):
        both = a.merged(b)
        need(both == b.merged(a) and both.merged(b) == both and a.merged(a) == a, "P4: merging is not a maximum")
        need(both.floor == max(a.floor, b.floor), "P4: a floor is lost")
    triples = list(itertools.product(states, repeat=3))
    for a, b, c in random.Random(1).sample(triples, min(2000, len(triples))):
        need(a.merged(b).merged(c) == a.merged(b.merged(c)), "P4: merging in another order gives another state")
    return len(states) ** 2


def root_theft() -> int:
    """A thief of the provider key certifies what he likes: he is believed, and even then no floor ever falls."""
    world = started(1)
    own = certify(2**32 - 1, signing_key(90), 2**32 - 1)
    forged = Signer(signing_key(90).seed, PROVIDER.public, own)
    need(is_open(deliver(world, message(world, forged), own.epoch)), "the thief of a provider key is believed")
    verdict = deliver(world, message(world, world.store.signer), world.store.epoch)
    need(not is_open(verdict), "and ends every epoch")
    other = Signer(SECOND_PROVIDER.seed, SECOND_PROVIDER.public)
    need(is_open(deliver(world, message(world, other), 2**32)), "the second pin of the app's release is not touched")
    world.memory.unpin(PROVIDER.public)
    need(not is_open(deliver(world, message(world, forged), own.epoch)), "without the pin nothing of it opens")
    return 4


def main(arguments: list[str]) -> int:
    count, start = (int(arguments[0]) if arguments else 60), (int(arguments[1]) if len(arguments) > 1 else 7)
    assert keys.signature_public_key(PROVIDER.seed) == PROVIDER.public and issubclass(Refused, Exception)
    try:
        steps = lattice() + root_theft() + scenarios() + walks(count, start)
    except Broken as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"properties: {steps} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
