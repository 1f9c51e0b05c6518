"""The member `pushcrypt` of a payload, but for files: what a message withdraws, whether it is shown, and whom it is from."""

import hashlib
from dataclasses import dataclass

from .attachments import Reference, Refused, read_reference
from .characters import CONTROL, has_none, visible

MOST_WITHDRAWN = 64
MOST_RECIPIENTS = 8
LONGEST_TEXT = 255
LARGEST_AVATAR = 1_000_000


def message_id(name: str) -> bytes:
    return hashlib.sha256(b"pushcrypt/1 caller id\0" + name.encode()).digest()[:16]


def own(payload: dict[str, object]) -> dict[str, object]:
    reserved = payload.get("pushcrypt")
    return reserved if isinstance(reserved, dict) else {}


def withdrawals(payload: dict[str, object], own_id: bytes) -> list[bytes]:
    names = own(payload).get("withdraw")
    if not isinstance(names, list):
        return []
    ids = [message_id(name) for name in names[:MOST_WITHDRAWN] if isinstance(name, str) and name]
    return [one for one in dict.fromkeys(ids) if one != own_id]


def is_dropped(payload: dict[str, object]) -> bool:
    return own(payload).get("drop") is True


@dataclass(frozen=True)
class Sender:
    name: str
    handle: str
    conversation: str | None
    recipients: tuple[str, ...]
    avatar: Reference | None


def is_text(value: object) -> bool:
    return (
        isinstance(value, str)
        and 1 <= len(value.encode()) <= LONGEST_TEXT
        and has_none(value, CONTROL)
    )


def sender(payload: dict[str, object]) -> tuple[Sender | None, list[str]]:
    """The sender, and a code for an avatar that is left out."""
    value = own(payload).get("sender")
    if not isinstance(value, dict):
        return None, []
    name, handle, conversation = value.get("name"), value.get("handle"), value.get("conversation")
    recipients = value.get("recipients")
    avatar, dropped = None, []
    if value.get("avatar") is not None:
        try:
            avatar = read_avatar(value["avatar"])
        except Refused as error:
            dropped = [error.args[0]]
    others = [] if recipients is None else recipients
    texts = [name, *(text for text in (handle, conversation) if text is not None)]
    if not isinstance(others, list) or len(others) > MOST_RECIPIENTS or not all(map(is_text, [*texts, *others])):
        return None, dropped
    shown = [visible(one) for one in [name, *others]]  # type: ignore[list-item]
    if not all(shown):
        return None, dropped
    return Sender(shown[0], str(handle or name), conversation, tuple(shown[1:]), avatar), dropped  # type: ignore[arg-type]


def read_avatar(value: object) -> Reference:
    reference = read_reference(value)
    if reference.type not in ("public.jpeg", "public.png") or reference.file.size > LARGEST_AVATAR:
        raise Refused("malformed-reference")
    return reference
