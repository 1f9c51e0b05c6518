"""One test of the kit: its group, the sentence that is its name, its header and its body.

`README.md` has the format.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from reference.keys import Kind, text_form
from reference.trust import Certificate, Learned

# A header line. A value of None leaves it out.
Header = tuple[str, str | int | None]

# The members of a test: texts and lists of texts.
Members = dict[str, str | list[str]]

# A rule of Docs/Format.md and its parts.
RULE = re.compile(r"(?:[OSJKDNAT])-\d+(?:\.\d+)?", re.ASCII)

# The fewest equal bytes that are written as one byte and a number.
SHORTEST_RUN = 64

LONGEST_NAME = 120

# The members that are lists, also of one value or none.
LISTS = {
    "rules", "pin", "learned", "pin-after", "learned-after", "told", "not-shown", "shown-user-info", "account", "account-pin",
    "device-after", "kept", "attachment", "dropped", "withdraws", "recipient", "foreign", "provider-has", "issued", "past",
}
RECEIVER = {"device", "pin"}
LISTS_OF_GROUPS = {
    "envelopes": RECEIVER, "suite-2-envelopes": RECEIVER, "pushes": RECEIVER, "notifications": RECEIVER,
    "sequences": RECEIVER | {"body"}, "certificates": {"expect", "body", "pin"}, "posts": {"body"},
}

# The members that most tests of a group share. They stand once in its file, and in the tests that differ.
SITUATION = ("time", "context", "device", "pin")
SHARED = {
    "envelopes": SITUATION, "suite-2-envelopes": SITUATION, "pushes": SITUATION, "notifications": SITUATION,
    "sequences": ("context", "device", "pin", "floor"), "certificates": ("context", "pin"),
    "payloads": ("push-type", "time", "time-to-live"), "replies": ("device", "context"), "attachments": ("key",),
    "posts": ("context", "provider-seed", "id"),
}

# Outcomes of what is taken as it came. With every other one something is refused, or withheld.
TAKEN = {"added", "updated", "ended", "hello", "accepted", "opened", "passed", "unchanged", "new", "again", "copy", "pinned", "unpinned"}


@dataclass(frozen=True)
class Vector:
    group: str
    name: str
    header: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        return f"{self.group}/{self.member_name}"

    @property
    def member_name(self) -> str:
        """The sentence in lower-case letters, digits and hyphens."""
        text = self.name.replace("^", " to the ").replace(" - ", " minus ").replace(" + ", " plus ").replace("'", "")
        text = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
        assert text and len(text) <= LONGEST_NAME, self.name
        return text

    @property
    def rules(self) -> list[str]:
        return self.values("rules")

    def values(self, name: str) -> list[str]:
        return [value for other, value in self.header if other == name]

    @property
    def refuses(self) -> bool:
        """Whether it shows something that a rule stops: a part of what is taken may be left out, or passed over."""
        return (
            not TAKEN.issuperset(self.values("expect"))
            or any(self.values(name) for name in ("dropped", "not-shown", "repeated"))
            or self.group == "reserved"
            and not self.values("drop") and not self.values("sender-name") and len(self.values("withdraws")) != 2
            or self.group == "posts"
            and any(line.split(b" ", 4)[3].decode() not in TAKEN for line in self.body.split(b"\n") if b" removed-by-" not in line)
            or self.group in ("records", "posts")
            and bool(self.values("foreign") or self.values("stale"))
            or self.group == "replies"
            and (
                self.values("confirms") == ["no"]
                or bool(self.values("told"))
                or bool(self.values("provider"))
                and not self.values("pin-after")
                and self.values("provider") != self.values("pin")
            )
        )

    def members(self) -> Members:
        assert all(value and "\n" not in value for _, value in self.header), (self.name, self.header)
        lists, members = LISTS | LISTS_OF_GROUPS.get(self.group, set()), {"name": self.member_name}
        for name in dict.fromkeys(name for name, _ in self.header):
            values = self.values(name)
            assert name in lists or len(values) == 1, (self.name, name)
            members[name] = values if name in lists else values[0]
        if not is_text(self.body):
            return members | {"pieces": pieces(self.body)}
        text = self.body.decode()
        return members | {"body": text.split("\n") if "body" in lists else text}


def document(group: str, vectors: list[Vector]) -> dict[str, object]:
    """The file of a group."""
    tests = [vector.members() for vector in vectors]
    shared: Members = {}
    for name in SHARED.get(group, ()):
        values = [json.dumps(test.get(name, [])) for test in tests]
        shared[name] = json.loads(max(values, key=values.count))
    for number, test in enumerate(tests):
        none: Members = {name: [] for name in shared if name not in test}
        assert none.keys() <= LISTS_OF_GROUPS.get(group, set()), (test["name"], none)
        tests[number] = {name: value for name, value in test.items() if shared.get(name) != value} | none
    return {"group": group, "shared": shared, "tests": tests}


def vector(
    group: str, name: str, expect: str, rules: str, comment: str, header: Iterable[Header], body: bytes
) -> Vector:
    """`rules` are separated by spaces."""
    assert rules and all(RULE.fullmatch(rule) for rule in rules.split()), (name, rules)
    lines: list[Header] = [
        ("expect", expect),
        *(("rules", rule) for rule in rules.split()),
        ("comment", comment),
        *header,
    ]
    return Vector(group, name, tuple((key, str(value)) for key, value in lines if value is not None), body)


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


def provider_text(key: bytes) -> str:
    return text_form(Kind.PROVIDER_PUBLIC, key)


def certificate_text(one: Certificate) -> str:
    return base64url(one.data)


def learned_lines(learned: Mapping[bytes, Learned]) -> list[str]:
    """A provider key, the certificate kept for it and the floor."""
    return sorted(
        f"{provider_text(key)} {certificate_text(one.certificate)} {one.floor}"
        for key, one in learned.items()
        if one.certificate
    )


def trust_header(pins: Iterable[bytes], learned: Mapping[bytes, Learned]) -> list[Header]:
    return [*(("pin", provider_text(key)) for key in pins), *(("learned", line) for line in learned_lines(learned))]


def learned_after_header(before: Mapping[bytes, Learned], after: Mapping[bytes, Learned]) -> list[Header]:
    """Nothing when nothing changed."""
    lines = learned_lines(after)
    return [("learned-after", line) for line in lines] if lines != learned_lines(before) else []
