"""What a message says beside its payload: `Docs/FormatMessages.md`."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._envelope import named_message
from ._errors import Code, PushcryptError
from ._types import check_type
from .attachments import Reference, parse_reference

__all__ = ["Person"]

MOST_WITHDRAWN = 64
MOST_RECIPIENTS = 8
LONGEST_TEXT = 255
LARGEST_AVATAR = 1_000_000
#: What a title or a name loses [N-4].
INVISIBLE = dict.fromkeys([0x061C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF])
AVATAR_TYPES = ("public.jpeg", "public.png")


@dataclass(frozen=True, kw_only=True)
class Person:
    """The person that a notification is from, whom a phone may show with a face [N-9].

    `handle` is the app's name for the person, by default `name`; `recipients` are the others in the conversation.
    """

    name: str
    handle: str | None = None
    conversation: str | None = None
    recipients: Sequence[str] = ()
    avatar: Reference | None = None

    def __post_init__(self) -> None:
        if isinstance(self.recipients, str):
            raise TypeError("recipients is a list of names, not one")
        texts = [self.name, *(text for text in (self.handle, self.conversation) if text is not None), *self.recipients]
        if not all(map(is_label, texts)) or len(self.recipients) > MOST_RECIPIENTS:
            raise PushcryptError(
                Code.INVALID_REQUEST,
                "a person's texts have 1 to 255 bytes without control characters, and there are at most 8 recipients",
            )
        check_type(self.avatar, (Reference, type(None)), "the avatar")
        if self.avatar is not None:
            check_avatar(self.avatar)

    def members(self) -> dict[str, Any]:
        """The member `sender` of a payload."""
        members: dict[str, Any] = {"name": self.name}
        if self.handle is not None and self.handle != self.name:
            members["handle"] = self.handle
        if self.conversation is not None:
            members["conversation"] = self.conversation
        if self.recipients:
            members["recipients"] = list(self.recipients)
        if self.avatar is not None:
            members["avatar"] = self.avatar.members()
        return members


def is_label(text: object, longest: int = LONGEST_TEXT) -> bool:
    """Whether a text has 1 to so many bytes of UTF-8, and no control characters."""
    if not isinstance(text, str) or any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        return False
    return 1 <= len(text.encode()) <= longest


def is_visible(text: str) -> bool:
    """Whether no character of an id is invisible."""
    return not any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in text)


def check_avatar(reference: Reference) -> None:
    """[A-36]"""
    if reference.type not in AVATAR_TYPES or reference.size > LARGEST_AVATAR:
        raise PushcryptError(Code.MALFORMED_REFERENCE, "an avatar is a JPEG or PNG of at most 1,000,000 sealed bytes")


def check_withdrawal(names: Sequence[str], own: str | None) -> None:
    """Refuses names that no receiver would take [O-8.11]."""
    if isinstance(names, str):
        raise TypeError("withdrawing is a list of names, not one")
    if len(names) > MOST_WITHDRAWN:
        raise PushcryptError(Code.INVALID_REQUEST, f"a message withdraws at most {MOST_WITHDRAWN} others; send several")
    if "" in names:
        raise PushcryptError(Code.INVALID_REQUEST, "the name of a message to withdraw is empty")
    if own in names:
        raise PushcryptError(Code.INVALID_REQUEST, "the message would withdraw itself; give it another name")


def withdrawals_in(members: dict[str, Any], own_id: bytes) -> list[bytes]:
    """The ids of the messages that an opened payload withdraws, each once."""
    own = members.get("pushcrypt")
    names = own.get("withdraw") if isinstance(own, dict) else None
    if not isinstance(names, list):
        return []
    ids = [named_message(name) for name in names[:MOST_WITHDRAWN] if type(name) is str and name]
    return [id for id in dict.fromkeys(ids) if id != own_id]


def person_in(members: dict[str, Any]) -> tuple[Person | None, list[Code]]:
    """The person that an opened payload is from, and the code of an avatar that is left out."""
    own = members.get("pushcrypt")
    value = own.get("sender") if isinstance(own, dict) else None
    if not isinstance(value, dict):
        return None, []
    avatar, dropped = None, []
    if value.get("avatar") is not None:
        try:
            avatar = parse_reference(value["avatar"])
            check_avatar(avatar)
        except PushcryptError as refused:
            avatar, dropped = None, [refused.code]
    texts = [value.get(name) for name in ("name", "handle", "conversation")]
    recipients = value.get("recipients")
    recipients = [] if recipients is None else recipients
    if not isinstance(recipients, list) or any(type(text) not in (str, type(None)) for text in [*texts, *recipients]):
        return None, dropped
    name, handle, conversation = texts
    if name is None or not is_label(name):
        return None, dropped
    try:
        person = Person(
            name=name.translate(INVISIBLE), handle=name if handle is None else handle, conversation=conversation,
            recipients=tuple("" if one is None else one.translate(INVISIBLE) for one in recipients), avatar=avatar,
        )
    except PushcryptError:
        return None, dropped
    return person, dropped
