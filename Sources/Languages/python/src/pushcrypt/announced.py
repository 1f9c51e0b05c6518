"""The statements that messages announce, as a text: `Docs/ProviderPipelines.md`, Without a store."""

from __future__ import annotations

import base64
import itertools
import re

from ._envelope import MOST_STATEMENTS, encode, later, milliseconds_now, number
from ._errors import Code, PushcryptError
from ._types import check_type
from .keys import SenderPublicKey
from .trust import LARGEST_DURATION, RECOVERS, check_form, malformed, signed

__all__ = ["AnnouncedStatements", "statement_line"]

STATEMENT_TEXT = re.compile(r"[A-Za-z0-9_-]{242}")


class AnnouncedStatements:
    """The statements that messages of a sender key carry, for a provider without the command's store.

    Their text is what `pushcrypt export sender --statements` writes: a line for each, oldest first, as of `statement_line`.
    """

    __slots__ = ("sender", "_lines")

    #: The key to which the last line leads.
    sender: SenderPublicKey

    def __init__(self, sender: SenderPublicKey, lines: tuple[tuple[SenderPublicKey, bytes], ...]) -> None:
        self.sender, self._lines = sender, lines

    @classmethod
    def parse(cls, text: str, sender: SenderPublicKey) -> AnnouncedStatements:
        """Reads a text of 1 to 4 lines. Each rotation leads on from the line before, and the last line to `sender`.

        After a recovery, older rotations may be missing. The signatures of rotations are checked; that of a recovery needs the
        recovery key, which phones have.

        Raises:
            PushcryptError: `malformed-statement`, `untrusted-old-key`, `bad-statement-signature` or `weak-key`.
        """
        check_type(text, str, "the text")
        check_type(sender, SenderPublicKey, "the sender")
        lines: list[tuple[SenderPublicKey, bytes]] = []
        last: SenderPublicKey | None = None
        for line in filter(None, text.split("\n")):
            words = line.split(" ")
            if len(words) != 2 or not STATEMENT_TEXT.fullmatch(words[1]):
                raise malformed()
            statement = base64.urlsafe_b64decode(words[1] + "==")
            if encode(statement) != words[1]:
                raise malformed()
            check_form(statement)
            key = parsed(words[0])
            if statement[0] == RECOVERS:
                key = last = recovered_key(statement, key, is_first=not lines)
            else:
                key, last = rotated_key(statement, key, last)
            lines.append((key, statement))
        if not 1 <= len(lines) <= MOST_STATEMENTS:
            raise PushcryptError(Code.MALFORMED_STATEMENT, f"there are {len(lines)} statements, and a message carries 1 to 4")
        if last != sender:
            raise foreign("the last statement leads to another key than the one that signs")
        return cls(sender, tuple(lines))

    @property
    def text(self) -> str:
        """The text that `parse` reads, to be stored."""
        return "".join(statement_line(statement, key) for key, statement in self._lines)

    def adding(self, rotation: bytes, *, announced_for: int = 5_184_000, at: int | None = None) -> AnnouncedStatements:
        """Returns what to announce after a rotation of `sender`: these statements and that one. Its `sender` is the new key.

        Older rotations stay for `announced_for` seconds after their issue, by default 60 days. A recovery stays permanently; all that
        lead on from it stay while phones accept them and there is room. The text of the first rotation is its `statement_line`; so is
        that of a recovery, instead of all before it.

        Raises:
            PushcryptError: `too-many-announcements` if four others stay, `malformed-statement`, also of a recovery,
                `untrusted-old-key`, `bad-statement-signature`, `weak-key`, `superseded-new-key` or `invalid-time`.
        """
        at = milliseconds_now() if at is None else at
        check_type(rotation, bytes, "the rotation")
        check_type(announced_for, int, "announced_for")
        check_type(at, int, "at")
        check_form(rotation)
        if rotation[0] == RECOVERS:
            raise PushcryptError(Code.MALFORMED_STATEMENT, "a recovery is not added to a text: it begins another")
        if rotation[1:5] != self.sender.id_bytes:
            raise foreign("the rotation replaces another key than the one that signs")
        _, new = rotated_key(rotation, self.sender, None)
        if new == self.sender or new in [key for key, _ in self._lines]:
            raise PushcryptError(Code.SUPERSEDED_NEW_KEY, "the new key was replaced before, and phones never return to one")
        if not 0 <= announced_for <= LARGEST_DURATION:
            raise PushcryptError(Code.INVALID_TIME, "the time to announce rotations for is out of range")
        recoveries = [statement for _, statement in self._lines[:1] if statement[0] == RECOVERS]
        older = self._lines[len(recoveries) :]
        if not self._follows_recovery(at):
            announced = itertools.takewhile(lambda line: at <= later(number(line[1], 37, 45), announced_for), reversed(older))
            older = tuple(reversed(list(announced)))
        rotations = [*older, (self.sender, rotation)]
        # What a recovery leads to from now on.
        lines = [(rotations[0][0], recovery) for recovery in recoveries] + rotations
        if len(lines) > MOST_STATEMENTS:
            raise PushcryptError(
                Code.TOO_MANY_ANNOUNCEMENTS,
                "4 statements are being announced, the most that a message carries: wait until the first rotation's announcement "
                "ends, or shorten it and lose the phones that missed it")
        return AnnouncedStatements(new, tuple(lines))

    def _follows_recovery(self, at: int) -> bool:
        """Whether phones that follow a recovery get to `sender`, and there is room: without a line they would stop at its key."""
        key, first = self._lines[0]
        is_whole = first[0] == RECOVERS and first[5:37] == bytes(key) and len(self.accepted(at)) == len(self._lines)
        return is_whole and len(self._lines) < MOST_STATEMENTS

    def accepted(self, at: int | None = None) -> list[bytes]:
        """The statements that phones accept at a time: a recovery always, and rotations after the last expired one."""
        at = milliseconds_now() if at is None else at
        check_type(at, int, "at")
        statements = [statement for _, statement in self._lines]
        recovery = [statement for statement in statements[:1] if statement[0] == RECOVERS]
        rotations: list[bytes] = []
        for statement in reversed(statements[len(recovery) :]):
            if at > later(number(statement, 37, 45), number(statement, 45, 49)):
                break
            rotations.insert(0, statement)
        return recovery + rotations

    def __repr__(self) -> str:
        return f"<{len(self._lines)} statements to {self.sender}>"


def statement_line(statement: bytes, key: SenderPublicKey) -> str:
    """The line of a statement, with its newline.

    For a rotation, `key` is the key it replaces. For a recovery, it is the key that the next line replaces or, if that is the last
    line, the key that signs. Unless rotations are missing, this is the recovery's new key.

    Raises:
        PushcryptError: `malformed-statement`, or `untrusted-old-key` if a rotation replaces another key.
    """
    check_type(statement, bytes, "the statement")
    check_type(key, SenderPublicKey, "the key")
    check_form(statement)
    if statement[0] != RECOVERS and key.id_bytes != statement[1:5]:
        raise foreign("the line of a rotation needs the key that it replaces")
    return f"{key} {encode(statement)}\n"


def parsed(text: str) -> SenderPublicKey | None:
    try:
        return SenderPublicKey.parse(text)
    except PushcryptError:
        return None


def recovered_key(statement: bytes, key: SenderPublicKey | None, *, is_first: bool) -> SenderPublicKey:
    if not is_first or not is_sender_key(statement[5:37]):
        raise PushcryptError(Code.MALFORMED_STATEMENT, "a recovery must be the first line, and lead to a valid key")
    if key is None:
        raise foreign("the line of a recovery must begin with a sender key")
    return key


def is_sender_key(key: bytes) -> bool:
    try:
        SenderPublicKey(key)
    except PushcryptError:
        return False
    return True


def rotated_key(
    statement: bytes, old: SenderPublicKey | None, last: SenderPublicKey | None
) -> tuple[SenderPublicKey, SenderPublicKey]:
    """The old key and the new one."""
    if old is None or old.id_bytes != statement[1:5] or last not in (None, old):
        raise foreign("a line does not begin with the key that it replaces, or that the line before leads to")
    if not old.verifies(statement[53:117], signed(statement, 0x01, old)):
        raise PushcryptError(Code.BAD_STATEMENT_SIGNATURE, "the old key did not sign the statement")
    new = SenderPublicKey(statement[5:37])
    if not new.verifies(statement[117:181], signed(statement, 0x02, old)):
        raise PushcryptError(Code.BAD_STATEMENT_SIGNATURE, "the new key did not sign the statement")
    return old, new


def foreign(text: str) -> PushcryptError:
    return PushcryptError(Code.UNTRUSTED_OLD_KEY, text)
