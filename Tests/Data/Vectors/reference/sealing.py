"""A sealer's work before encryption: it checks, removes white space, chooses a bucket and measures."""

import json
import re
from dataclasses import dataclass

from . import payload
from .envelope import BODY_OFFSET, BUCKETS, MAXIMUM_TTL, OUTER_OVERHEAD, TIME_LIMIT
from .trust import NEVER, SIZE

LIMITS = {"alert": 4096, "background": 4096, "voip": 5120}
LARGEST_BUCKETS = {"alert": 2816, "background": 2816, "voip": 3584}
MAXIMUM_ATTACHMENTS = 8
PLACEHOLDER = "(Encrypted)"

# The forms in which a client may write a character of JSON.
WIDEST = {**dict.fromkeys("<>&'+=`\x7f", 6), "/": 2}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[ \t\r\n]+|[^"\s]+', re.DOTALL)
PART = re.compile(r"\\u....|\\.|.", re.DOTALL)


class Refused(Exception):
    pass


@dataclass(frozen=True)
class Request:
    """The provider's request. `clear_sound` is None for a matching one, and empty for none."""

    payload: bytes
    push_type: str = "alert"
    title: str = "New message"
    clear_sound: str | None = None
    kept: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    has_certificate: bool = False
    time: int = 0
    time_to_live: int = MAXIMUM_TTL
    is_sent_exactly: bool = False
    expires_at: int = NEVER


@dataclass(frozen=True)
class Plan:
    """The result: the payload to seal, the bucket, and the push without its envelope."""

    payload: bytes
    bucket: int
    clear: str
    length: int
    widest_length: int


def minified(text: str) -> str:
    """The same JSON with the fewest bytes: no white space between tokens, no escape without need, numbers as they were written."""
    return "".join(shortest(token) for token in TOKEN.findall(text) if token.strip(" \t\r\n"))


def shortest(token: str) -> str:
    """Python escapes quotation marks, backslashes and controls below U+0020, as S-7 does."""
    return json.dumps(json.loads(token), ensure_ascii=False) if token.startswith('"') else token


def widest_length(text: str) -> int:
    """The length of JSON without white space in the widest form that a client may write it in."""
    return sum(
        sum(map(width, PART.findall(token[1:-1]))) + 2
        if token.startswith('"')
        else sum(2 if character in ",:" else width(character) for character in token)
        for token in TOKEN.findall(text)
    )


def width(part: str) -> int:
    """Of one character, or one escape."""
    if part.startswith("\\"):
        return 6
    if part in WIDEST:
        return WIDEST[part]
    size = len(part.encode())
    return {1: 1, 2: 6, 3: 6, 4: 12}[size]


def clear_part(request: Request, aps: dict[str, object]) -> str:
    """The push without ENCRYPTED_DATA."""
    clear: dict[str, object] = {}
    aps = {name: value for name, value in aps.items() if value is not None}  # J-8
    if request.push_type == "alert":
        clear["mutable-content"] = 1
        clear["alert"] = {"title": request.title, "body": PLACEHOLDER}
        sound = request.clear_sound if request.clear_sound is not None else ("default" if aps.get("sound") else "")
        if sound:
            clear["sound"] = sound
        clear |= {name: value for name, value in aps.items() if name in request.kept}
    # In Python, True and 1.0 are equal to 1, as in J-8.
    if aps.get("content-available") == 1 or request.push_type == "background":
        clear["content-available"] = 1
    return json.dumps({"aps": clear}, ensure_ascii=False, separators=(",", ":"))


def plan(request: Request) -> Plan:
    if request.push_type not in LIMITS:
        raise Refused
    try:
        members = payload.parse(request.payload)
    except payload.MalformedPayload as error:
        raise Refused from error
    if "ENCRYPTED_DATA" in members or "pushcrypt" in members:
        raise Refused
    if not 0 <= request.time_to_live <= MAXIMUM_TTL or request.time >= TIME_LIMIT or request.time > request.expires_at:
        raise Refused
    if len(request.attachments) > MAXIMUM_ATTACHMENTS:
        raise Refused

    sealed = minified(request.payload.decode())
    if request.attachments:
        sealed = sealed[:-1] + ',"pushcrypt":{"attachments":[' + ",".join(request.attachments) + "]}}"
    size = len(sealed.encode())
    fitting = [one for one in BUCKETS if one <= LARGEST_BUCKETS[request.push_type] and BODY_OFFSET + SIZE + size <= one]
    if not fitting:
        raise Refused
    bucket = next(one for one in BUCKETS if BODY_OFFSET + (SIZE if request.has_certificate else 0) + size <= one)

    aps = members["aps"]
    assert isinstance(aps, dict)
    clear = clear_part(request, aps)
    around = clear[:-1] + ',"ENCRYPTED_DATA":""}'
    text, longest_text = (-(-(OUTER_OVERHEAD + one) * 4 // 3) for one in (bucket, fitting[0]))
    length, widest = len(around.encode()), widest_length(around)
    if (length if request.is_sent_exactly else widest) + longest_text > LIMITS[request.push_type]:
        raise Refused
    length, widest = length + text, widest + text
    return Plan(sealed.encode(), bucket, clear, length, widest)


EXPIRATION_STEP = 600


def expiration(sent_at: int, requested: int, push_type: str) -> tuple[int, int]:
    """The sealed time to live, and the header `apns-expiration` in seconds. 0 is now or never."""
    if requested == 0:
        return EXPIRATION_STEP, 0
    end = sent_at + requested * 1000
    if push_type == "voip":
        return requested, end // 1000
    step = EXPIRATION_STEP * 1000
    up = -(-end // step) * step
    if -(-(up - sent_at) // 1000) > MAXIMUM_TTL:
        up = end // step * step
    return -(-(up - sent_at) // 1000), up // 1000
