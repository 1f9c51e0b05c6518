"""A receiver's memory between pushes: shown messages, its keys, and its trust."""

from dataclasses import dataclass, field, replace

from . import hpke
from .opening import Opened, Receiver, Refused, open_text

SOUND_WINDOW = 60_000
REMADE_FLOOR_AGE = 600_000
KEPT_AFTER_EXPIRY = 48 * 3_600_000


@dataclass
class Row:
    request: str
    first_seen: int
    expires_at: int


@dataclass
class Memory:
    """`states` has the state of each device secret of the receiver; `floor` that of a guard with no rows dropped."""

    receiver: Receiver
    states: dict[bytes, str]
    floor: int
    is_strict: bool
    rows: dict[tuple[bytes, bytes], Row] = field(default_factory=dict)

    def lose_guard(self, now: int) -> None:
        self.rows.clear()
        self.floor = max(0, now - REMADE_FLOOR_AGE)

    def receive(self, text: str, request: str | None, now: int) -> str:
        try:
            opened = open_text(text, self.receiver, now)
        except Refused as error:
            return str(error.args[0])
        outcome = self.judge(opened, request, now)
        if not outcome.startswith("duplicate"):
            self.settle(opened)
        return outcome

    def judge(self, opened: Opened, request: str | None, now: int) -> str:
        message = opened.message
        name = (opened.sender, message.message_id)
        asked, expires_at = request or message.message_id.hex(), message.sent_at + message.ttl * 1000
        duplicate = "duplicate" if self.is_strict else "duplicate-quietly"
        row = self.rows.get(name)
        if row is None:
            if message.sent_at <= self.floor:
                return duplicate
            self.rows = {key: kept for key, kept in self.rows.items() if now <= kept.expires_at + KEPT_AFTER_EXPIRY}
            self.rows[name] = Row(asked, now, expires_at)
            return "new"
        row.expires_at = max(row.expires_at, expires_at)
        if row.request != asked:
            return duplicate
        return "again" if now - row.first_seen <= SOUND_WINDOW else "again-quietly"

    def settle(self, opened: Opened) -> None:
        """Step 9."""
        self.receiver = replace(self.receiver, trust=opened.trust)
        used = next(secret for secret in self.states if hpke.public_key(secret) == opened.recipient)
        if self.states[used] == "pending":
            self.states = {
                secret: "active" if secret == used else "retiring" if state == "active" else state
                for secret, state in self.states.items()
            }
