"""One file of the test kit: its folder, the sentence that is its name, its header and its body.

`kit/README.md` has the format.
"""

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from reference.keys import Kind, text_form
from reference.rotation import Statement
from reference.trust import Superseded, Trust

# A header line. A value of None leaves it out.
Header = tuple[str, str | int | None]

# A rule of Docs/Format.md and its parts.
RULE = re.compile(r"(?:[OSJKRDNAT])-\d+(?:\.\d+)?", re.ASCII)

# The fewest equal bytes that are written as one byte and a number.
SHORTEST_RUN = 64

LONGEST_NAME = 120

# Outcomes of what is taken as it came. With every other one something is refused, or withheld.
TAKEN = {"accepted", "opened", "passed", "unchanged", "new", "again", "copy"}


@dataclass(frozen=True)
class Vector:
    folder: str
    name: str
    header: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        return f"{self.folder}/{file_name(self.name)}.txt"

    @property
    def rules(self) -> list[str]:
        return self.values("rule")

    def values(self, name: str) -> list[str]:
        return [value for other, value in self.header if other == name]

    @property
    def refuses(self) -> bool:
        """Whether it shows something that a rule stops: a part of what is taken may be left out, or passed over."""
        def differ(name: str, after: str) -> bool:
            return bool(self.values(name)) and self.values(name) != self.values(after)

        return (
            not TAKEN.issuperset(self.values("expect"))
            or any(self.values(name) for name in ("dropped", "not-shown", "repeated"))
            or self.folder == "reserved"
            and not self.values("drop") and not self.values("name") and len(self.values("withdraws")) != 2
            or self.folder == "records"
            and bool(self.values("foreign"))
            or self.folder == "replies"
            and (
                self.values("confirms") == ["no"]
                or differ("sender", "pinned-after")
                or differ("recovery", "recovery-after")
            )
        )

    def render(self) -> bytes:
        lines, body = list(self.header), self.body
        if not is_text(body):
            lines.append(("encoding", "pieces"))
            body = "\n".join(pieces(body)).encode()
        assert all(value and "\n" not in value for _, value in lines), (self.name, lines)
        return "".join(f"{name}: {value}\n" for name, value in lines).encode() + b"\n" + body + b"\n"


def vector(
    folder: str, name: str, expect: str, rules: str, comment: str, header: Iterable[Header], body: bytes
) -> Vector:
    """`rules` are separated by spaces."""
    assert rules and all(RULE.fullmatch(rule) for rule in rules.split()), (name, rules)
    lines: list[Header] = [
        ("expect", expect),
        *(("rule", rule) for rule in rules.split()),
        ("comment", comment),
        *header,
    ]
    return Vector(folder, name, tuple((key, str(value)) for key, value in lines if value is not None), body)


def file_name(name: str) -> str:
    """The sentence in lower-case letters, digits and hyphens."""
    text = name.replace("^", " to the ").replace(" - ", " minus ").replace(" + ", " plus ").replace("'", "")
    text = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    assert text and len(text) <= LONGEST_NAME, name
    return text


# Bodies.


def is_text(body: bytes) -> bool:
    """Whether an editor shows the body as it is, and leaves it so."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return False
    return (
        all(character == "\n" or character >= " " and character != "\x7f" for character in text)
        and "\ufeff" not in text
    )


def runs(data: bytes) -> list[str]:
    """The bytes in hexadecimal digits, long runs of one byte as `00*65536`."""
    found = [""]
    for _, group in groupby(data):
        run = bytes(group)
        if len(run) >= SHORTEST_RUN:
            found += [f"{run[:1].hex()}*{len(run)}", ""]
        else:
            found[-1] += run.hex()
    return [piece for piece in found if piece]


def pieces(data: bytes) -> list[str]:
    """The same in lines of 64 characters at most."""
    return [piece[start : start + 64] for piece in runs(data) for start in range(0, len(piece), 64)]


# Values.


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def sender_text(key: bytes) -> str:
    return text_form(Kind.SENDER_PUBLIC, key)


def recovery_text(key: bytes) -> str:
    return text_form(Kind.RECOVERY_PUBLIC, key)


def superseded_text(entry: Superseded) -> str:
    return sender_text(entry.key) + (f" {base64url(entry.statement.data)}" if entry.statement else "")


def trust_header(trust: Trust) -> list[Header]:
    """Each line begins with the name of its sender."""
    lines: list[Header] = []
    for sender in trust.senders:
        assert " " not in sender.name
        lines += [
            ("sender", f"{sender.name} {sender_text(sender.pinned) if sender.pinned else '-'}"),
            *(("superseded", f"{sender.name} {superseded_text(entry)}") for entry in sender.superseded),
            *(("recovery", f"{sender.name} {recovery_text(key)}") for key in sender.recovery),
        ]
        if sender.last_recovery:
            lines.append(("last-recovery", f"{sender.name} {base64url(sender.last_recovery)}"))
    return lines


def trust_after_header(before: Trust, after: Trust) -> list[Header]:
    """Nothing when nothing changed. No statement changes the recovery keys."""
    if after == before:
        return []
    return [(f"{name}-after", value) for name, value in trust_header(after) if name != "recovery"]
