"""A receiver's memory between pushes: shown messages, its keys, and its trust."""

from dataclasses import dataclass, field, replace

import json

from . import keys, reserved, trust
from .opening import CLOCK_TOLERANCE, Opened, Receiver, Refused, open_text
from .trust import Certificate, Learned

HOUR = 3_600_000
REMADE_FLOOR_AGE = 600_000
RETIRING = 31 * 24 * HOUR
KEPT_AFTER_EXPIRY = 48 * HOUR
KEPT_AFTER_RETIRING = 24 * HOUR
ROOM = 4096
DEFAULT_ACCOUNT = "default"
KEPT_WITHDRAWN = 30 * 24 * HOUR
MOST_PINS = 2
VERDICTS = ("new", "again", "again-handed-over", "copy", "seen", "withdrawn")

# The pin and the account.
Pair = tuple[bytes, str]


@dataclass
class Row:
    request: str
    sent_at: int
    ends_at: int
    epoch: int
    is_handed_over: bool = False
    is_withdrawn: bool = False


@dataclass
class Shelf:
    """What the guard has of one pin and one account, by message id. The floor has the epoch of the row that raised it."""

    floor: int = 0
    floor_epoch: int = 0
    highest: int = 0
    rows: dict[bytes, Row] = field(default_factory=dict)


@dataclass
class Delivery:
    """A message that was taken. `row` is missing where none was found or written."""

    verdict: str
    opened: Opened
    pair: Pair
    request: str
    now: int


@dataclass
class Memory:
    """`states` has the state of each device secret of the receiver, `accounts` those not of the default account;
    `floor` is that of the whole guard."""

    receiver: Receiver
    states: dict[bytes, str]
    floor: int
    is_strict: bool = False
    accounts: dict[bytes, str] = field(default_factory=dict)
    room: int = ROOM
    shelves: dict[Pair, Shelf] = field(default_factory=dict)
    is_writable: bool = True
    deliveries: list[Delivery] = field(default_factory=list)

    def lose_guard(self, now: int) -> None:
        """It was damaged."""
        self.shelves.clear()
        self.floor = max(0, now - REMADE_FLOOR_AGE)

    def receive(self, text: str, request: str | None, now: int) -> str:
        """Both steps at once."""
        verdict = self.take(text, request, now)
        return self.hand_over(len(self.deliveries) - 1) if verdict in VERDICTS else verdict

    # What the app changes.

    def learn(self, one: Certificate) -> str:
        """From a reply, for the first pin that verifies it."""
        codes = []
        for pin in self.receiver.pins:
            try:
                one.check(pin, self.receiver.topic)
            except trust.Refused as error:
                codes.append(str(error.args[0]))
                continue
            learned, said = self.receiver.learned.get(pin, Learned()).learning(one)
            self.receiver = self.receiver.keeping(pin, learned)
            return said
        return codes[0]

    def pin(self, provider: bytes) -> str:
        pins = tuple(dict.fromkeys([*self.receiver.pins, provider]))
        if len(pins) > MOST_PINS:
            return "too-many-pins"
        self.receiver = replace(self.receiver, pins=pins)
        return "pinned"

    def unpin(self, provider: bytes) -> str:
        self.receiver = replace(self.receiver, pins=tuple(pin for pin in self.receiver.pins if pin != provider))
        return "unpinned"

    # Taking.

    def take(self, text: str, request: str | None, now: int) -> str:
        """The verdict, or an error code."""
        try:
            opened = open_text(text, self.receiver, now)
        except Refused as error:
            return str(error.args[0])
        self.settle(opened, now)
        secret = self.secret_of(opened)
        pair = (opened.provider, self.accounts.get(secret, DEFAULT_ACCOUNT))
        if self.is_writable:
            self.forget_below(opened.learned.floor, opened.provider)
        delivery = Delivery("", opened, pair, request or opened.message.message_id.hex(), now)
        delivery.verdict = self.judge(delivery)
        self.withdraw(delivery)
        self.deliveries.append(delivery)
        return delivery.verdict

    def forget_below(self, floor: int, provider: bytes) -> None:
        """O-8.2, for every account: what is kept of a provider key is the same for all."""
        for (pin, _), shelf in self.shelves.items():
            if pin == provider:
                shelf.rows = {name: row for name, row in shelf.rows.items() if row.epoch >= floor}
                if shelf.floor_epoch < floor:
                    shelf.floor = shelf.floor_epoch = 0

    def withdraw(self, delivery: Delivery) -> None:
        message, epoch = delivery.opened.message, delivery.opened.epoch
        ends_at = message.sent_at + KEPT_WITHDRAWN
        for name in reserved.withdrawals(json.loads(delivery.opened.payload), message.message_id):
            if not self.is_writable:
                continue
            row = self.shelves.get(delivery.pair, Shelf()).rows.get(name)
            if row is None:
                self.make_room(delivery.pair, delivery)
                row = self.shelves[delivery.pair].rows[name] = Row("", message.sent_at, ends_at, epoch)
            row.is_withdrawn = True
            self.keep_later(row, delivery, ends_at)

    def keep_later(self, row: Row, delivery: Delivery, ends_at: int) -> None:
        message, shelf = delivery.opened.message, self.shelves[delivery.pair]
        row.sent_at, row.ends_at = max(row.sent_at, message.sent_at), max(row.ends_at, ends_at)
        row.epoch = max(row.epoch, delivery.opened.epoch)
        shelf.highest = max(shelf.highest, message.sent_at)

    def on_screen(self) -> list[str]:
        """The requests of the withdrawn messages that have come, by their first request."""
        rows = [row for shelf in self.shelves.values() for row in shelf.rows.values()]
        return sorted(row.request for row in rows if row.is_withdrawn and row.request)

    def judge(self, delivery: Delivery) -> str:
        message = delivery.opened.message
        ends_at = message.sent_at + message.ttl * 1000
        shelf = self.shelves.get(delivery.pair, Shelf())
        latest = delivery.now + CLOCK_TOLERANCE
        lowest_epoch = delivery.opened.learned.floor
        own_floor = shelf.floor if shelf.floor_epoch >= lowest_epoch else 0
        floors = [0 if floor > latest else floor for floor in (self.floor, own_floor)]
        if self.is_writable:
            self.floor, shelf.floor = floors
        row = self.row_of(delivery)
        if row is not None and self.is_writable:
            self.keep_later(row, delivery, ends_at)
        if row is not None and row.is_withdrawn:
            return "withdrawn"
        if row is None:
            if message.sent_at <= max(floors):
                return "seen"
            self.insert(delivery, is_handed_over=False)
            return "new"
        if row.request != delivery.request:
            return "copy"
        return "again-handed-over" if row.is_handed_over else "again"

    def row_of(self, delivery: Delivery) -> Row | None:
        row = self.shelves.get(delivery.pair, Shelf()).rows.get(delivery.opened.message.message_id)
        return row if row and row.epoch >= delivery.opened.learned.floor else None

    def insert(self, delivery: Delivery, is_handed_over: bool) -> None:
        if not self.is_writable:
            return
        message = delivery.opened.message
        shelf = self.make_room(delivery.pair, delivery)
        ends_at, epoch = message.sent_at + message.ttl * 1000, delivery.opened.epoch
        row = Row(delivery.request, message.sent_at, ends_at, epoch, is_handed_over)
        shelf.rows[message.message_id] = row
        shelf.highest = max(shelf.highest, message.sent_at)

    def make_room(self, pair: Pair, delivery: Delivery) -> Shelf:
        shelf = self.shelves.setdefault(pair, Shelf())
        gone = min(delivery.now, shelf.highest) - KEPT_AFTER_EXPIRY
        shelf.rows = {name: row for name, row in shelf.rows.items() if row.ends_at >= gone}
        while len(shelf.rows) >= self.room:
            lowest = min(shelf.rows, key=lambda name: shelf.rows[name].sent_at)
            row = shelf.rows.pop(lowest)
            if row.sent_at > shelf.floor:
                shelf.floor, shelf.floor_epoch = row.sent_at, row.epoch
        return shelf

    # Handing over.

    def hand_over(self, number: int) -> str:
        delivery = self.deliveries[number]
        row = self.row_of(delivery)
        if delivery.verdict == "withdrawn" or row and row.is_withdrawn:
            self.delete_retired(delivery)
            return "withdrawn"
        rings = self.sets_handed_over(delivery)
        self.delete_retired(delivery)
        if delivery.verdict in ("new", "again", "again-handed-over"):
            loud = "new" if delivery.verdict == "new" else "again"
            return loud if rings else "again-quietly"
        if rings:
            return "copy"
        return "duplicate" if self.is_strict else "duplicate-quietly"

    def sets_handed_over(self, delivery: Delivery) -> bool:
        if delivery.verdict == "seen":
            return False
        row = self.row_of(delivery)
        if row and row.is_handed_over:
            return False
        if not self.is_writable or row is None:
            if delivery.verdict == "new":
                self.insert(delivery, is_handed_over=True)
            return delivery.verdict == "new"
        row.is_handed_over = True
        return True

    # Step 9.

    def secret_of(self, opened: Opened) -> bytes:
        return next(secret for secret in self.states if keys.device_public_key(secret) == opened.recipient)

    def settle(self, opened: Opened, now: int) -> None:
        self.receiver = self.receiver.keeping(opened.provider, opened.learned)
        used = self.secret_of(opened)
        if self.states[used] == "pending":
            account = self.accounts.get(used, DEFAULT_ACCOUNT)
            for secret, state in self.states.items():
                if state == "active" and self.accounts.get(secret, DEFAULT_ACCOUNT) == account:
                    self.states[secret] = "retiring"
                    self.receiver = replace(self.receiver, ends={**self.receiver.ends, secret: now + RETIRING})
            self.states[used] = "active"

    def delete_retired(self, delivery: Delivery) -> None:
        """O-9.5, for keys whose end date is known."""
        latest = min(delivery.now, delivery.opened.message.sent_at)
        gone = [key for key, end in self.receiver.ends.items() if end + KEPT_AFTER_RETIRING < latest]
        for secret in gone:
            if self.states[secret] == "retiring":
                self.states[secret] = "deleted"
        kept = tuple(secret for secret in self.receiver.device_secrets if self.states[secret] != "deleted")
        self.receiver = replace(self.receiver, device_secrets=kept)
