"""What a message says beside its payload: `Docs/Format.md`, Withdrawal and drop; Sender."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._attachments import Reference
from ._errors import Code, PushcryptError
from ._format import AVATAR_TYPES, INVISIBLE_CHARACTERS, LARGEST_AVATAR, MOST_RECIPIENTS, MOST_WITHDRAWN
from ._json import is_unicode
from ._types import Value, check_optional, check_type, checked_tuple, is_label

#: Where ranges begin, and where they have ended.
INVISIBLE = [bound + place % 2 for place, bound in enumerate(INVISIBLE_CHARACTERS)]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Person(Value):
    """The person that a notification is from, whom a phone may show with a face [N-9].

    Texts have 1 to 255 bytes, without control characters.
    """

    #: The name to show.
    name: str
    #: The app's name for the person, by default `name`.
    handle: str | None = None
    #: The app's name for the conversation.
    conversation: str | None = None
    #: The others in the conversation, at most 8.
    recipients: Sequence[str] = ()
    #: A picture of at most 1,000,000 sealed bytes, JPEG or PNG.
    avatar: Reference | None = None

    def __post_init__(self) -> None:
        for text, what in ((self.name, "name"), (self.handle or "", "handle"), (self.conversation or "", "conversation")):
            check_type(text, str, what)
        object.__setattr__(self, "recipients", checked_tuple(self.recipients, str, "recipients"))
        texts = [self.name, *(text for text in (self.handle, self.conversation) if text is not None), *self.recipients]
        if not all(map(is_label, texts)) or len(self.recipients) > MOST_RECIPIENTS:
            raise PushcryptError(Code.INVALID_REQUEST, "a text of a person is empty, over 255 bytes or two lines, or over 8 recipients")
        check_optional(self.avatar, Reference, "the avatar")
        if self.avatar is not None:
            check_avatar(self.avatar)

    def members(self) -> dict[str, Any]:
        """The member `sender` of a payload."""
        handle = None if self.handle == self.name else self.handle
        avatar = None if self.avatar is None else self.avatar.members()
        members = {"name": self.name, "handle": handle, "conversation": self.conversation, "recipients": self.recipients, "avatar": avatar}
        return {name: value for name, value in members.items() if value}


def is_visible(text: str) -> bool:
    """Whether no character of an id is invisible, whatever Python's tables say."""
    # An odd number of bounds are at or below a character of a range.
    return not any(bisect.bisect_right(INVISIBLE, ord(character)) % 2 for character in text)


def check_avatar(reference: Reference) -> None:
    """[A-24]"""
    if reference.type not in AVATAR_TYPES or reference.size > LARGEST_AVATAR:
        raise PushcryptError(Code.MALFORMED_REFERENCE, "an avatar is a JPEG or PNG of at most 1,000,000 sealed bytes")


def check_withdrawal(ids: Sequence[str], own: str | None) -> None:
    """Refuses ids that no receiver would take [O-8.12]."""
    if len(ids) > MOST_WITHDRAWN:
        raise PushcryptError(Code.INVALID_REQUEST, f"a message withdraws at most {MOST_WITHDRAWN} others; send several")
    if not all(id and is_unicode(id) for id in ids):
        raise PushcryptError(Code.INVALID_REQUEST, "the id of a message to withdraw is empty, or has half a surrogate pair")
    if own in ids:
        raise PushcryptError(Code.INVALID_REQUEST, "the message would withdraw itself; give it another id")
