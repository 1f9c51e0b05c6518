"""A receiver's trust: senders, their keys, and what statements change of them."""

from dataclasses import dataclass, replace

from . import keys
from .rotation import CLOCK_TOLERANCE, MAXIMUM_OVERLAP, Recovery, Rotation, Statement

# The rules in the order of evaluation. Of several senders the one that came furthest decides the code.
CODES = {
    3: "untrusted-old-key",
    4: "bad-statement-signature",
    5: "weak-key",
    6: "bad-statement-signature",
    8: "superseded-new-key",
    9: "overlap-too-long",
    10: "statement-not-yet-valid",
    11: "statement-expired",
    15: "unknown-recovery-key",
    16: "bad-statement-signature",
    17: "weak-key",
    18: "bad-statement-signature",
    20: "superseded-new-key",
}
CONFLICTS = ("rotation-conflict", "recovery-conflict")


class Fails(Exception):
    """The first argument is the number of the rule, the second one the code if it is not the rule's only one."""


class Unchanged(Exception):
    """An evaluation that ends without an effect and without an error."""


@dataclass(frozen=True)
class Superseded:
    """A superseded key and the statement that superseded it. Without a statement it is revoked."""

    key: bytes
    statement: Rotation | None

    def still_verifies(self, now: int) -> bool:
        return self.statement is not None and now <= self.statement.issued_at + self.statement.overlap * 1000


@dataclass(frozen=True)
class TrustedSender:
    """One name that the app gave. `last_recovery` is the first 53 bytes of the last recovery statement."""

    name: str
    pinned: bytes | None = None
    superseded: tuple[Superseded, ...] = ()
    recovery: tuple[bytes, ...] = ()
    last_recovery: bytes = b""

    @property
    def serial(self) -> int:
        return int.from_bytes(self.last_recovery[49:53], "big")

    @property
    def past_keys(self) -> list[bytes]:
        return [entry.key for entry in self.superseded]

    @property
    def keys(self) -> list[bytes]:
        return [*([self.pinned] if self.pinned else []), *self.past_keys]


@dataclass(frozen=True)
class Trust:
    """The senders that a receiver trusts in one context."""

    senders: tuple[TrustedSender, ...] = ()

    @property
    def revoked(self) -> set[bytes]:
        return {entry.key for sender in self.senders for entry in sender.superseded if not entry.statement}

    @property
    def recovery_keys(self) -> set[bytes]:
        return {key for sender in self.senders for key in sender.recovery}

    def candidates(self, sender_id: bytes, now: int) -> list[bytes]:
        """The keys with this id that verify messages now, each once."""
        pinned = [sender.pinned for sender in self.senders if sender.pinned]
        overlapping = [entry.key for sender in self.senders for entry in sender.superseded if entry.still_verifies(now)]
        return [
            key
            for key in dict.fromkeys([*pinned, *overlapping])
            if key not in self.revoked and keys.sender_key_id(key) == sender_id
        ]


@dataclass(frozen=True)
class Outcome:
    """`what` is "accepted", "unchanged", or the error code; `told` a conflict, which may stand beside another outcome."""

    what: str
    trust: Trust
    told: str | None = None


def evaluate(statement: Statement, trust: Trust, topic: str, now: int) -> Outcome:
    """R-14: every sender apart."""
    senders, accepted, unchanged, failures = [], False, False, []
    for sender in trust.senders:
        try:
            if isinstance(statement, Recovery):
                senders.append(recovered(statement, sender, trust, topic))
            else:
                senders.append(rotated(statement, sender, trust, now))
            accepted = True
        except Unchanged:
            senders.append(sender)
            unchanged = True
        except Fails as failure:
            senders.append(sender)
            rule, code = failure.args
            failures.append((rule, code or CODES[rule]))
    conflict = next((code for _, code in failures if code in CONFLICTS), None)
    if accepted:
        return Outcome("accepted", replace(trust, senders=tuple(senders)), conflict)
    if conflict or unchanged:
        return Outcome(conflict or "unchanged", trust, conflict)
    nobody = 15 if isinstance(statement, Recovery) else 3
    return Outcome(max(failures, default=(nobody, CODES[nobody]))[1], trust)


def require(condition: bool, rule: int, code: str = "") -> None:
    if not condition:
        raise Fails(rule, code)


def rotated(statement: Rotation, sender: TrustedSender, trust: Trust, now: int) -> TrustedSender:
    """R-2 to R-12 for one sender."""
    before = [entry.statement for entry in sender.superseded if entry.statement]
    if any(other.first_53 == statement.first_53 for other in before):
        raise Unchanged
    known = [key for key in sender.keys if keys.sender_key_id(key) == statement.key_id]
    require(bool(known), 3)
    old_key = next(filter(statement.is_signed_by_old, known), None)
    if old_key is None:
        raise Fails(4, "")
    require(keys.is_acceptable_sender_key(statement.new_key), 5)
    require(statement.is_signed_by_new(old_key), 6)
    require(old_key not in trust.revoked, 7, "untrusted-old-key")
    require(old_key == sender.pinned, 7, "rotation-conflict")
    require(statement.new_key != old_key and is_fit(statement.new_key, sender, trust), 8)
    require(statement.overlap <= MAXIMUM_OVERLAP, 9)
    require(statement.issued_at <= now + CLOCK_TOLERANCE, 10)
    require(now <= statement.issued_at + statement.accept_for * 1000, 11)
    return replace(
        sender, pinned=statement.new_key, superseded=(*sender.superseded, Superseded(old_key, statement))
    )


def recovered(statement: Recovery, sender: TrustedSender, trust: Trust, topic: str) -> TrustedSender:
    """R-15 to R-21 for one sender."""
    known = [key for key in sender.recovery if keys.recovery_key_id(key) == statement.key_id]
    require(sender.pinned is not None and bool(known), 15)
    recovery_key = next((key for key in known if statement.is_signed_by_recovery(key, topic)), None)
    if recovery_key is None:
        raise Fails(16, "")
    require(keys.is_acceptable_sender_key(statement.new_key), 17)
    require(statement.is_signed_by_new(recovery_key, topic), 18)
    if statement.serial < sender.serial or statement.first_53 == sender.last_recovery:
        raise Unchanged
    require(statement.serial > sender.serial, 19, "recovery-conflict")
    require(is_fit(statement.new_key, sender, trust), 20)
    return replace(
        sender,
        pinned=statement.new_key,
        superseded=tuple(Superseded(key, None) for key in [*sender.past_keys, sender.pinned] if key and key != statement.new_key),
        last_recovery=statement.first_53,
    )


def is_fit(new_key: bytes, sender: TrustedSender, trust: Trust) -> bool:
    """Whether a key may be pinned for a sender."""
    return new_key not in [*sender.past_keys, *trust.revoked, *trust.recovery_keys]


@dataclass(frozen=True)
class Evaluation:
    """What the statements of one message come to."""

    trust: Trust
    told: tuple[str, ...] = ()
    is_recovered: bool = False


def evaluate_all(statements: list[Statement | None], trust: Trust, topic: str, now: int) -> Evaluation:
    """R-13. None stands for a statement of an unknown version."""
    told: list[str] = []
    is_recovered = False
    for statement in statements:
        if statement is None:
            continue
        outcome = evaluate(statement, trust, topic, now)
        trust = outcome.trust
        is_recovered = is_recovered or outcome.what == "accepted" and isinstance(statement, Recovery)
        if outcome.told:
            told.append(outcome.told)
    return Evaluation(trust, tuple(sorted(set(told))), is_recovered)
