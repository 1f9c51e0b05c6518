"""What this package refuses: one exception, with one code for each reason."""

from __future__ import annotations

from ._format import CODE_PAGE, RETRYABLE, TEXTS, Code as Code


class PushcryptError(Exception):
    """The input is refused.

    The text says what is wrong and what to do. It quotes no key and nothing of a payload, and is for the developer's
    log: a phone's user is shown the fallback, and nothing is sent back.
    """

    #: The reason, for programs.
    code: Code
    #: The held one, for the reply `stale-record`.
    sequence: int | None

    def __init__(self, code: Code, text: str | None = None, *, sequence: int | None = None) -> None:
        super().__init__(f"{code}: {text or TEXTS[code]} ({CODE_PAGE}{code})")
        self.code, self.sequence = code, sequence

    @property
    def url(self) -> str:
        """The page about the code: its cause and its fix."""
        return CODE_PAGE + str(self.code)

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later, such as with the clock set or a signer that works again."""
        return self.code in RETRYABLE

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.args), vars(self)


def _restored(kind: type[PushcryptError], args: tuple[object, ...]) -> PushcryptError:
    error = kind.__new__(kind)
    error.args = args
    return error
