"""What Apple documents for the fields of `aps`, and what this package refuses of a provider's payload."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ._errors import Code, PushcryptError
from ._format import ALERT_FIELDS, EVENTS, FIELDS, LEVELS, RULES, SHOWN_TEXTS, SOUND_FIELDS, TIME_FIELD_END
from ._json import Number, minify, parse_object


def is_from_0(value: Any, most: float) -> bool:
    """Whether the nearest double of a number is in a range."""
    return type(value) is Number and 0 <= float(value) <= most


TESTS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: type(value) is str,
    "texts": lambda value: isinstance(value, list) and all(one is None or type(one) in (str, Number) for one in value),
    "text-or-object": lambda value: type(value) is str or isinstance(value, dict),
    "object": lambda value: isinstance(value, dict),
    "flag": lambda value: type(value) is bool or type(value) is Number and value.whole() in (0, 1),
    "count": lambda value: type(value) is Number and value.whole() is not None,
    "fraction": lambda value: is_from_0(value, 1),
    "time": lambda value: is_from_0(value, math.nextafter(TIME_FIELD_END, 0)),
    "level": lambda value: type(value) is str and value in LEVELS,
    "event": lambda value: type(value) is str and value in EVENTS,
}


class CheckedPayload:
    """A payload that has passed all rules, so that it can be opened and shown after sealing."""

    __slots__ = ("aps", "json", "wakes_app")

    def __init__(self, payload: bytes, push_type: str) -> None:
        members = parse_object(payload, Code.MALFORMED_PAYLOAD)
        if "ENCRYPTED_DATA" in members:
            raise PushcryptError(Code.RESERVED_KEY, "the payload has ENCRYPTED_DATA: seal the original, not a sealed one")
        if "pushcrypt" in members:
            raise PushcryptError(Code.RESERVED_KEY, "the key pushcrypt at the top level is the format's; rename yours")
        aps = members.get("aps")
        if not isinstance(aps, dict):
            raise PushcryptError(Code.MISSING_APS)
        # Null counts as absent [J-8].
        aps = {name: value for name, value in aps.items() if value is not None}
        check(aps, FIELDS, "aps")
        alert, sound = aps.get("alert"), aps.get("sound")
        if isinstance(alert, dict):
            check(alert, ALERT_FIELDS, "aps.alert")
        if isinstance(sound, dict):
            check(sound, SOUND_FIELDS, "aps.sound")
        has_text = any(map(alert.get, SHOWN_TEXTS)) if isinstance(alert, dict) else bool(alert)
        if push_type == "alert" and not has_text:
            raise PushcryptError(Code.NOTHING_TO_SHOW)
        self.aps, self.json = aps, minify(payload)
        wakes = aps.get("content-available")
        self.wakes_app = wakes is True or type(wakes) is Number and wakes.whole() == 1

    @property
    def has_sound(self) -> bool:
        return "sound" in self.aps


def check(members: dict[str, Any], rules: dict[str, str], place: str) -> None:
    """Unknown fields are ignored, as by the system."""
    for name, value in members.items():
        rule = rules.get(name)
        if rule is not None and value is not None and not TESTS[rule](value):
            raise PushcryptError(Code.INVALID_FIELD, f"{place}.{name} must be {RULES[rule]}")
