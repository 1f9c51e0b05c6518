"""Lines of `pushcrypt seal --batch` and its answers: `Docs/ProviderPipelines.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._errors import Code, PushcryptError
from ._format import RETRYABLE
from ._json import minify, parse_object, write_object
from ._keys import DevicePublicKey
from ._messages import Person
from ._sealing import PushType
from ._types import utf8

#: The member by which answers are matched.
NUMBER = "pushcrypt-number"
#: Options, and the members of a line that they are.
OPTIONS = {name: name for name in ("id", "topic", "ttl", "placeholder", "push_type", "withdraw", "drop", "collapse_id", "priority")}
OPTIONS["person"] = "from_name"
OWN = {"to", "to_user", "payload", NUMBER, *OPTIONS.values()}
#: What is wrong with a message alone.
REFUSED = (PushcryptError, ValueError, TypeError)


@dataclass(kw_only=True)
class Message:
    """A line of `seal --batch`. What is `None` is as the command's options say."""

    #: A device's id in the store, its public key, or `None` for a device without a key.
    to: DevicePublicKey | str | None
    #: The APNs payload. One given as bytes or text is kept but for white space.
    payload: bytes | str | Mapping[str, Any]
    #: The message's name, the same in every retry.
    id: str | None = None
    #: The app's bundle id.
    topic: str | None = None
    #: Seconds, or text such as "2h".
    ttl: int | str | None = None
    #: A title, or an object with title, sound and clear.
    placeholder: str | dict[str, Any] | None = None
    #: What the push will be sent as.
    push_type: PushType | None = None
    #: The ids of earlier messages that it takes off the screen.
    withdraw: Sequence[str] | None = None
    #: Whether nothing is to be shown.
    drop: bool | None = None
    #: Whom the notification is from: the member `from_name`.
    person: str | Person | None = None
    #: With --emit request: pushes of this name replace each other.
    collapse_id: str | None = None
    #: With --emit request: 10, 5 or 1.
    priority: int | None = None
    #: What comes back with the answer, such as the token.
    passed: Mapping[str, Any] = field(default_factory=dict)

    def _line(self) -> bytes:
        """The line without its last brace, so that the number can follow."""
        if not OWN.isdisjoint(self.passed):
            raise ValueError(f"these cannot be passed through: {', '.join(sorted(OWN & self.passed.keys()))}")
        line: dict[str, Any] = {**self.passed, "to": str(self.to) if isinstance(self.to, DevicePublicKey) else self.to}
        for name, own in OPTIONS.items():
            if (value := getattr(self, name)) is not None:
                line[own] = value.members() if isinstance(value, Person) else value
        try:
            if isinstance(self.payload, Mapping):
                return write_object({**line, "payload": dict(self.payload)}, 0)[:-1]
            payload = minify(utf8(self.payload, "the payload, unless it is a dict,"))
            # Checked, so that nothing in it can end the member.
            parse_object(payload, Code.MALFORMED_PAYLOAD)
            return write_object(line, 0)[:-1] + b',"payload":' + payload
        except PushcryptError:
            try:
                write_object(line, 0)
            except PushcryptError:
                text = "a member beside the payload has a value that JSON cannot express"
                raise PushcryptError(Code.INVALID_REQUEST, text) from None
            raise


class Refusal(NamedTuple):
    """Why a message is refused."""

    #: For programs; `pushcrypt explain CODE` has the cause and the fix. Most are a `Code` of this package.
    code: str
    #: For people.
    text: str

    @property
    def retryable(self) -> bool:
        """Whether the same message may be sealed later: a signer, the store or the disk failed."""
        return self.code in RETRYABLE


class Answer(NamedTuple):
    """The command's answer: either `payload` or `error`."""

    #: What to send, as JSON of any form.
    payload: dict[str, Any] | None
    #: Why nothing is to be sent.
    error: Refusal | None
    #: All other members: those of the message, and with --emit request the headers.
    members: dict[str, Any]


class FilterError(Exception):
    """The command does not answer, or the filter is closed.

    It is not known whether the message was sealed: submit it again with its `id`, and a phone shows it once.
    """

    #: The reason, for programs.
    code = Code.FILTER_ENDED

    def __init__(self, text: str, retryable: bool = True) -> None:
        super().__init__(text)
        #: Whether this filter may answer later. Otherwise it is closed, or its command is one that pushcrypt does not accept.
        self.retryable = retryable


def refused(message: Message, error: Exception) -> Answer:
    """The answer to a message that the command was not asked to seal."""
    code = error.code if isinstance(error, PushcryptError) else Code.INVALID_REQUEST
    return Answer(None, Refusal(str(code), str(error).removeprefix(f"{code}: ")), {**message.passed})
