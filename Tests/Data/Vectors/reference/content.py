"""The shown content of one push, field by field. Numbers are kept as written."""

import json
import math
from dataclasses import dataclass, field

from .characters import on_one_line, visible

TITLE_LENGTH = 64
LEVELS = ("passive", "active", "time-sensitive", "critical")


class Number(str):
    """A number of JSON, as its characters."""


@dataclass
class Content:
    """The fields that are not empty, by the name of their header; a list is several lines."""

    fields: dict[str, list[str]] = field(default_factory=dict)

    def put(self, name: str, *values: str) -> None:
        if any(values):
            self.fields[name] = list(values)


def read(text: str) -> dict[str, object]:
    members = json.loads(text, parse_int=Number, parse_float=Number)
    assert isinstance(members, dict)
    return members


def text_of(value: object) -> str:
    """A string, or nothing."""
    return value if isinstance(value, str) and not isinstance(value, Number) else ""


def put_line(content: Content, alert: dict[str, object], plain: str, prefix: str) -> None:
    key = text_of(alert.get(f"{prefix}loc-key"))
    if key:
        arguments = alert.get(f"{prefix}loc-args")
        content.put(f"{plain}-key", key)
        if isinstance(arguments, list) and arguments:
            shown = [value if isinstance(value, str) else "" for value in arguments]
            content.fields[f"{plain}-arguments"] = [json.dumps(shown, ensure_ascii=False)]
    else:
        content.put(plain, text_of(alert.get(plain)))


def whole(value: object) -> int | None:
    """J-8."""
    if not isinstance(value, Number):
        return None
    if value.isdecimal() and len(value) < 20:
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and 0 <= number < 2**53 else None


def fraction(value: object) -> float | None:
    return min(max(float(value), 0.0), 1.0) if isinstance(value, Number) else None


def sound_of(value: object) -> str:
    """`default`, the name of a file, or `critical VOLUME [NAME]`."""
    if text_of(value):
        return text_of(value)
    if not isinstance(value, dict):
        return ""
    name = text_of(value.get("name"))
    if value.get("critical") is True or whole(value.get("critical")) == 1:
        volume = fraction(value.get("volume"))
        words = ["critical", repr(1.0 if volume is None else volume)]
        return " ".join(words if name in ("", "default") else [*words, name])
    return name


def opened(payload: bytes) -> Content:
    """A function of the sealed payload alone."""
    members = read(payload.decode())
    aps = members["aps"]
    assert isinstance(aps, dict)
    content, alert = Content(), aps.get("alert")
    if text_of(alert):
        content.put("body", text_of(alert))
    elif isinstance(alert, dict):
        put_line(content, alert, "title", "title-")
        put_line(content, alert, "subtitle", "subtitle-")
        put_line(content, alert, "body", "")
        content.put("launch-image", text_of(alert.get("launch-image")))
    badge = whole(aps.get("badge"))
    if badge is not None and badge < 2**63:
        content.put("badge", str(badge))
    content.put("sound", sound_of(aps.get("sound")))
    for name in ("thread-id", "category", "target-content-id", "filter-criteria"):
        content.put(name, text_of(aps.get(name)))
    level = text_of(aps.get("interruption-level"))
    content.put("interruption-level", level if level in LEVELS and level != "active" else "")
    score = fraction(aps.get("relevance-score"))
    content.put("relevance-score", repr(score) if score else "")
    content.put("user-info", *user_info(members))
    return content


def user_info(members: dict[str, object]) -> dict[str, object]:
    """N-2."""
    others = {name: value for name, value in members.items() if name not in ("aps", "pushcrypt", "ENCRYPTED_DATA")}
    return without_nulls({name: value for name, value in others.items() if fits_doubles(value)})  # type: ignore[return-value]


def without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(element) for element in value if element is not None]
    return value


def fits_doubles(value: object) -> bool:
    """The system's reader of JSON would take nothing with a number beyond a double."""
    if isinstance(value, Number):
        return math.isfinite(float(value))
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(map(fits_doubles, members))


def quiet(content: Content, is_copy: bool) -> Content:
    """N-7."""
    gone = ("sound", "badge", "category") if is_copy else ("sound", "badge")
    fields = {name: values for name, values in content.fields.items() if name not in gone}
    return Content(fields | {"interruption-level": ["passive"]})


def uncritical(sound: str) -> str:
    """N-4: a critical sound plays as its file, or as the default."""
    critical, *words = sound.split(" ", 2)
    return sound if critical != "critical" or not words else (words[1] if len(words) == 2 else "default")


def title_of(title: str) -> str:
    return on_one_line(title, TITLE_LENGTH)


def fallback(push: bytes, code: str) -> Content:
    """The clear title and the clear sound, and one text. A push that cannot be parsed has neither."""
    content, clear = Content(), Content()
    if code != "malformed-notification":
        clear = in_the_clear(push)
    for name in ("title", "title-key", "title-arguments", "sound"):
        values = clear.fields.get(name, [])
        change = {"title": title_of, "title-arguments": visible, "sound": uncritical}
        content.put(name, *map(change.get(name, str), values))
    content.put("body" if code == "not-encrypted" else "subtitle", "(Encrypted)")
    return content


def passed(push: bytes) -> Content:
    """N-6: a push as it came, but for a critical sound."""
    content = in_the_clear(push)
    content.put("sound", *map(uncritical, content.fields.get("sound", [])))
    return content


def in_the_clear(push: bytes) -> Content:
    members = read(push.decode())
    aps = members.get("aps")
    return opened(json.dumps(restored(members | {"aps": aps if isinstance(aps, dict) else {}})).encode())


def restored(value: object) -> object:
    """Numbers as numbers again."""
    if isinstance(value, Number):
        return json.loads(value)
    if isinstance(value, dict):
        return {name: restored(member) for name, member in value.items()}
    if isinstance(value, list):
        return [restored(element) for element in value]
    return value
