"""Reads the vectors of the format, which a checkout has in Tests/Data/Vectors; PUSHCRYPT_VECTORS names another folder.

What is not checked must not pass: a group, a member or an outcome that is not known here is a failure.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from pushcrypt import DevicePublicKey, StoredDevice

CHECKOUT = pathlib.Path(__file__).resolve().parents[4]
FOLDER = pathlib.Path(os.environ.get("PUSHCRYPT_VECTORS") or CHECKOUT / "Tests/Data/Vectors")
MISSING = f"THE VECTORS OF THE FORMAT ARE MISSING: {FOLDER} does not exist; set PUSHCRYPT_VECTORS to Tests/Data/Vectors of a checkout"

# The members of the worked example.
DEVICE_SECRET = "PCR-SECRET-145HAW2SRDFRXKJRZVU33YCGGHHFLEELAGG52A3VC6HWZJ2L5HJ0SADFV30"
DEVICE_PUBLIC = "pcr159pzcec20fm5ve6e0ypku9z6u8drmmweeuknsfguj73r5e2ungxs6smkrx"
PROVIDER_SECRET = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ"
PROVIDER_PUBLIC = "pcs1rqc3xgvzk2wqcguwxtkf62wj2w8lxk2ev8rvs88qnj8zsjtftrkst37dvk"


class Store:
    """A provider's devices."""

    def __init__(self, *devices: StoredDevice | None) -> None:
        self.rows = {one.device: one for one in devices if one is not None}

    def find(self, device: str) -> StoredDevice | None:
        return self.rows.get(device)

    def holders(self, public_key: DevicePublicKey, token: str | None) -> list[StoredDevice]:
        return [one for one in self.rows.values() if one.public_key == public_key or token is not None and one.token == token]


def stored(key: DevicePublicKey, topic: str = "a", **named: Any) -> StoredDevice:
    """A device with a key."""
    return StoredDevice(**{"device": "phone1", "public_key": key, "topic": topic} | named)


COMMON = {"name", "expect", "rules", "comment", "body", "pieces"}
#: For each group what any of its tests may have, and what those with a good outcome have besides.
GROUPS: dict[str, tuple[set[str], set[str]]] = {
    "certificates": ({"context", "pin", "learned"}, {"learned-after"}),
    "plans": ({"time", "kind", "certificate", "past", "proven", "lifetime"}, {"epoch", "floor", "grace-until", "expires-at"}),
    "contexts": (set(), set()),
    "keys": ({"kind", "bytes"}, {"key-id", "public-key"}),
    "suite-2-keys": ({"kind", "bytes"}, {"key-id", "public-key"}),
    "references": (set(), {"url", "key", "size", "sha256", "type", "file-name"}),
    "full-bodies": (set(), set()),
    "records": (
        {
            "kind", "held-key", "held-generation", "held-topic", "held-user", "user", "elsewhere", "replace", "removed", "provider-has",
            "issued", "seals", "checked",
        },
        {
            "key", "generation", "device", "suites", "topic", "created", "provider", "certificate", "app-version", "token", "environment",
            "update-key", "sequence", "nonce", "grant", "foreign", "stale",
        },
    ),
    "posts": (
        {"context", "provider-seed", "id", "seals", "key-after", "removed-after", "update-key-after", "sequence-after", "user-after", "grant-after", "foreign"},
        set(),
    ),
    "payloads": (
        {"push-type", "time", "time-to-live", "title", "clear-sound", "kept", "attachment", "certificate", "certificate-expires-at", "sent-exactly"},
        {"bucket", "payload-sha256", "clear", "length", "widest-length"},
    ),
}
#: The phone's groups.
NOT_ASKED = {
    "attachments", "attachment-lists", "envelopes", "notifications", "pushes", "replies", "reserved", "sequences", "suite-2-envelopes",
}
GOOD = {"accepted", "unchanged", "certificate-conflict"}


class Test:
    """A test of the kit."""

    __test__ = False

    def __init__(self, group: str, members: dict[str, Any]) -> None:
        self.group, self.name, self.members = group, members["name"], members
        self.expected = self.all("expect")
        if not self.expected or (len(self.expected) != 1 and group != "certificates"):
            raise ValueError(f"{group}/{self.name}: not one `expect`")
        always, if_good = GROUPS[group]
        unknown = members.keys() - COMMON - always - (if_good if GOOD & set(self.expected) else set())
        if unknown or ("body" in members) == ("pieces" in members):
            raise ValueError(f"{group}/{self.name}: {sorted(unknown)} is not known here, or says nothing of {self.expected}")

    @property
    def outcome(self) -> str:
        return self.expected[0]

    def all(self, name: str) -> list[str]:
        value = self.members.get(name, [])
        return value if isinstance(value, list) else [value]

    def one(self, name: str, default: str | None = None) -> str:
        values = self.all(name) or ([] if default is None else [default])
        assert len(values) == 1, f"{len(values)} times {name}"
        return values[0]

    def maybe(self, name: str) -> str | None:
        return self.one(name) if name in self.members else None

    @property
    def body(self) -> bytes:
        if "pieces" in self.members:
            return joined(self.members["pieces"])
        body = self.members["body"]
        return (body if isinstance(body, str) else "\n".join(body)).encode()


def joined(pieces: list[str]) -> bytes:
    """Runs of bytes: `00*65536` is one byte repeated."""
    runs = [piece.partition("*") for piece in pieces]
    return b"".join(bytes.fromhex(digits) * int(count or 1) for digits, _, count in runs)


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def tests_of(group: str) -> Iterator[Test]:
    document = read(f"kit/{group}.json")
    assert document.keys() == {"group", "shared", "tests"} and document["group"] == group and document["tests"]
    names = [test["name"] for test in document["tests"]]
    assert len(set(names)) == len(names), f"{group}: a name occurs twice"
    for test in document["tests"]:
        yield Test(group, {name: value for name, value in (document["shared"] | test).items() if value != []})


def parameters(group: str) -> list[Any]:
    """The tests of a group, for `pytest.mark.parametrize`."""
    if not FOLDER.is_dir():
        return [pytest.param(None, id="missing", marks=pytest.mark.skip(reason=MISSING))]
    return [pytest.param(test, id=test.name) for test in tests_of(group)]


def cases(file: str, member: str) -> list[Any]:
    """The cases of another file."""
    if not FOLDER.is_dir():
        return [pytest.param(None, id="missing", marks=pytest.mark.skip(reason=MISSING))]
    return [pytest.param(case, id=case["name"]) for case in read(file)[member]]


def base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def label(value: object) -> str:
    """A short id of a test's argument, whatever it is."""
    if isinstance(value, int) and abs(value) >= 1 << 64:
        return "huge"
    if isinstance(value, dict):
        return " ".join(f"{label(name)}={label(one)}" for name, one in value.items())
    return (value if isinstance(value, str) else repr(value))[:40].encode("ascii", "replace").decode()
