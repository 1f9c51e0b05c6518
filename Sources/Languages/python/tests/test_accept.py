"""`Tests/Data/Vectors/accept.json`: what becomes of a record that a session authenticates, and of what phones post to a home."""

from __future__ import annotations

from typing import Any

import pytest

import vectors
from pushcrypt import DevicePublicKey, DeviceRecord, ProviderKey, PushcryptError, StoredDevice, accept
from pushcrypt.testing import DeviceKey

TOPIC, NOW = "com.example.app", 1000
KEYS = {name: DeviceKey(bytes([seed]) * 32).public_key for name, seed in (("1A", 1), ("1B", 2))}
KEYS |= {name: DevicePublicKey(bytes(1184) + bytes(KEYS[other])) for name, other in (("2Q", "1A"), ("2R", "1B"))}
UPDATE_KEYS = {name: ProviderKey(bytes([seed]) * 32) for name, seed in (("U", 3), ("V", 4))}
PROVIDER = ProviderKey(bytes([5]) * 32)


def members(row: dict[str, Any], topic: str) -> dict[str, Any]:
    update_key = UPDATE_KEYS.get(row.get("update_key", ""))
    return {
        "device": row.get("id", "d"), "public_key": KEYS[row.get("key", "1A")], "generation": row.get("generation", 1), "created": row.get("created", 100),
        "topic": row.get("topic", topic), "token": row.get("token"), "sequence": row.get("sequence"),
        "update_key": None if update_key is None else bytes(update_key.public_key),
    }


def stored(row: dict[str, Any], topic: str) -> StoredDevice:
    device = StoredDevice(**members(row, topic), environment="production" if "token" in row else None, user=row.get("user"))
    return device.ended(device.sequence) if "removed" in row else device


def topic_of(case: dict[str, Any]) -> str:
    """The app of a case; its rows may have none, which no package stores."""
    return str(case["record"].get("topic") or case.get("held", {}).get("topic") or TOPIC)


def check(case: dict[str, Any], changes: Any) -> None:
    """Rows are written in any order."""
    rows = {row.get("id", "d"): stored(row, topic_of(case)) for row in case["after"]}
    assert {device: row.is_removed for device, row in rows.items()} == {one.device: one.is_removed for one in changes}
    for one in changes:
        row = rows[one.device]
        names = ["user", "public_key", "generation", "update_key", "sequence", *([] if one.is_removed else ["topic", "token", "created"])]
        assert {name: getattr(one, name) for name in names} == {name: getattr(row, name) for name in names}


def is_session(case: dict[str, Any] | None) -> bool:
    """Whether it is a record of a session that has checked the signature, or of none with a signature."""
    return case is None or case.get("record", {}).get("way") in ("bare", "session") and case["expect"] != "bad-record-signature"


CASES = [one for one in vectors.cases("accept.json", "cases") if is_session(one.values[0])]


@pytest.mark.parametrize("case", CASES)
def test_accept(case: dict[str, Any]) -> None:
    if case.get("suite") == 2:
        pytest.skip("this package does not seal to suite 2")
    topic, given = topic_of(case), case["record"]
    rows = [stored(row, topic) for row in [*([case["held"]] if "held" in case else []), *case.get("holders", ())]]
    record = DeviceRecord(**members(given, topic) | {"topic": given.get("topic")})
    store = vectors.Store(*rows)
    try:
        accepted = accept(record, store, given.get("user"), topic=topic, provider=PROVIDER.public_key, replace=given.get("replace", False))
    except PushcryptError as refused:
        assert str(refused.code) == case["expect"] and "after" not in case
        assert refused.sequence == (case["held"]["sequence"] if case["expect"] == "stale-record" else None)
        return
    assert case["expect"] in ("added", "updated", "unchanged")
    check(case, accepted.changes)


def test_the_table_has_cases() -> None:
    assert len(CASES) > 45 or not vectors.FOLDER.is_dir()
