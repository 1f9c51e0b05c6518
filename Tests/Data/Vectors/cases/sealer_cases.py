"""What a sealer makes of a payload before it encrypts anything, and what it refuses."""

import hashlib
import json
from dataclasses import replace
from typing import Any

from reference import sealing
from reference.envelope import BODY_OFFSET, BUCKETS, MAXIMUM_TTL, TIME_LIMIT
from reference.sealing import Plan, Refused, Request
from reference.trust import NEVER

from .material import PAYLOAD, SENT_AT
from .payload_cases import nested
from .reference_cases import GOOD
from .vector import Header, Vector, vector

SYSTEM_TYPES = (
    "complication",
    "controls",
    "fileprovider",
    "liveactivity",
    "location",
    "mdm",
    "pushtotalk",
    "widgets",
)
REFERENCE = json.dumps(GOOD, separators=(",", ":"))


def of_size(size: int) -> bytes:
    """An alert of so many bytes, without white space."""
    frame = b'{"aps":{"alert":"%s"}}'
    return frame % (b"x" * (size - len(frame % b"")))


def plan(request: Request) -> Plan | None:
    try:
        return sealing.plan(request)
    except Refused:
        return None


def request_case(name: str, expected: str, rules: str, comment: str, request: Request) -> Vector:
    request = replace(request, time=request.time or SENT_AT)
    result = plan(request)
    assert ("accepted" if result else "refused") == expected, name
    header: list[Header] = [
        ("push-type", request.push_type),
        ("time", request.time),
        ("time-to-live", request.time_to_live),
        ("title", request.title if request.title != Request(b"").title else None),
        ("certificate-expires-at", request.expires_at if request.expires_at != NEVER else None),
        ("clear-sound", {None: None, "": "none"}.get(request.clear_sound, request.clear_sound)),
        *(("kept", field) for field in request.kept),
        *(("attachment", reference) for reference in request.attachments),
        ("certificate", "yes" if request.has_certificate else None),
        ("sent-exactly", "yes" if request.is_sent_exactly else None),
    ]
    if result:
        header += [
            ("bucket", result.bucket),
            ("payload-sha256", hashlib.sha256(result.payload).hexdigest()),
            ("clear", result.clear),
            ("length", result.length),
            ("widest-length", result.widest_length),
        ]
    return vector("payloads", name, expected, rules, comment, header, request.payload)


def accepted(name: str, rules: str, comment: str, body: bytes = PAYLOAD, **options: object) -> Vector:
    return request_case(name, "accepted", rules, comment, Request(body, **options))  # type: ignore[arg-type]


def refused(name: str, rules: str, comment: str, body: bytes = PAYLOAD, **options: object) -> Vector:
    return request_case(name, "refused", rules, comment, Request(body, **options))  # type: ignore[arg-type]


def clear_part_cases() -> list[Vector]:
    visible = "Everyone on the path can read this."
    full = (
        b'{"aps":{"alert":{"title":"Anna","body":"Look"},"badge":7,"category":"CHAT","thread-id":"c41","sound":"bell.caf",'
        b'"interruption-level":"time-sensitive","relevance-score":1,"target-content-id":"w","filter-criteria":"work"},"x":1}'
    )
    fields = ("badge", "category", "thread-id", "interruption-level", "relevance-score", "target-content-id")
    return [
        accepted("an alert with a sound", "S-2 S-3", visible),
        accepted("an alert without a sound", "S-2 S-3", visible, b'{"aps":{"alert":"hi"}}'),
        accepted("an alert that wakes the app", "S-2 S-3", visible, b'{"aps":{"alert":"hi","content-available":1}}'),
        accepted("an alert that does not wake the app", "S-3", visible, b'{"aps":{"alert":"hi","content-available":0}}'),
        accepted("nothing of a full alert is in the clear", "S-3", visible, full),
        accepted("fields that the caller keeps in the clear", "S-3", visible, full, kept=(*fields, "filter-criteria")),
        accepted("one field that the caller keeps in the clear", "S-3", visible, full, kept=("category",)),
        accepted("a field to keep that the payload does not have", "S-3", visible, kept=("badge",)),
        accepted("no sound in the clear", "S-3", visible, clear_sound=""),
        accepted("a sound of the caller in the clear", "S-3", visible, clear_sound="tap.caf"),
        accepted("a title of the caller", "S-2 S-3", visible, title="Bank"),
        accepted(
            "a background push", "S-2 S-3", visible, b'{"aps":{"content-available":1},"n":1}', push_type="background"
        ),
        accepted("a background push that does not say so", "S-3", visible, b'{"aps":{},"n":1}', push_type="background"),
        accepted("a voip push", "S-3", visible, b'{"aps":{},"call":"c1"}', push_type="voip"),
        accepted(
            "a voip push that wakes the app",
            "S-3",
            visible,
            b'{"aps":{"content-available":1},"call":"c1"}',
            push_type="voip",
        ),
    ]


def other_form_cases() -> list[Vector]:
    """What libraries write for a member that is not there, for a flag, and for an integer."""
    other = "It is sealed as written, and counts as what it means."
    nulls = b'{"aps":{"alert":{"title":"Anna","subtitle":null,"body":"Look"},"badge":null,"sound":null,"category":null,"content-available":null}}'
    return [
        accepted("nulls in aps are not in the clear", "J-8 S-3 S-7", other, nulls, kept=("badge", "category")),
        accepted("a sound with nulls", "J-8 S-3", other, b'{"aps":{"alert":"hi","sound":{"name":"a.caf","critical":null,"volume":null}}}'),
        *(
            accepted(f"an alert with content-available {form}", "J-8 S-3 S-7", other, b'{"aps":{"alert":"hi","content-available":%s}}' % form.encode())
            for form in ("true", "false", "1.0", "1e0", "0.0", "-0")
        ),
        accepted("a voip push with content-available true", "J-8 S-3", other, b'{"aps":{"content-available":true}}', push_type="voip"),
        accepted("mutable-content true", "J-8 S-2", other, b'{"aps":{"alert":"hi","mutable-content":true}}'),
        accepted("a badge of 3.0 in the clear", "J-8 S-3", other, b'{"aps":{"alert":"hi","badge":3.0}}', kept=("badge",)),
        accepted("numbers and nulls as arguments of a localised text", "J-8", other, b'{"aps":{"alert":{"loc-key":"K","loc-args":["a",7,1.50,null]}}}'),
    ]


def bucket_cases() -> list[Vector]:
    smallest = "The smallest bucket that holds the body."
    cases = []
    for bucket, following in zip(BUCKETS[:6], BUCKETS[1:7], strict=True):
        largest = bucket - BODY_OFFSET
        cases.append(accepted(f"the largest payload of bucket {bucket}", "S-6", smallest, of_size(largest)))
        cases.append(accepted(f"one byte more than bucket {bucket} holds", "S-6", smallest, of_size(largest + 1)))
        assert plan(Request(of_size(largest + 1))) == replace(plan_of(of_size(largest + 1)), bucket=following)
    alert, voip = 2596, 3364
    room = "The certificate is part of the body, and has room without one too."
    return [
        *cases,
        accepted("the largest payload of an alert", "S-6", smallest, of_size(alert)),
        refused("one byte more than an alert holds", "S-5 S-6", room, of_size(alert + 1)),
        refused("one byte more than a background push holds", "S-5 S-6", room, of_size(alert + 1), push_type="background"),
        refused("an alert that needs the bucket of calls", "S-5 S-6", "Bucket 3584 is for voip only.", of_size(2816 - BODY_OFFSET + 1)),
        accepted("one byte more than an alert holds, as voip", "S-6", smallest, of_size(alert + 1), push_type="voip"),
        accepted("the largest payload of all", "S-6", smallest, of_size(voip), push_type="voip"),
        refused("one byte more than a call holds", "S-5", room, of_size(voip + 1), push_type="voip"),
        refused("one byte more than any bucket holds", "S-5", "It fits no bucket.", of_size(3584 - BODY_OFFSET + 1), push_type="voip"),
        *(
            accepted(f"the largest payload of bucket {bucket} beside a certificate", "S-6 S-9", smallest, of_size(bucket - BODY_OFFSET - 121), has_certificate=True)
            for bucket in BUCKETS[:7]
        ),
        *(
            accepted(f"one byte more than bucket {bucket} holds beside a certificate", "S-6 S-9", smallest, of_size(bucket - BODY_OFFSET - 120), has_certificate=True)
            for bucket in BUCKETS[:6]
        ),
        accepted("the largest payload of all beside a certificate", "S-6 S-9", smallest, of_size(voip), push_type="voip", has_certificate=True),
        refused("one byte more than an alert holds beside a certificate", "S-5", room, of_size(alert + 1), has_certificate=True),
        refused("one byte more than a background push holds beside a certificate", "S-5", room, of_size(alert + 1), push_type="background", has_certificate=True),
        refused("one byte more than a call holds beside a certificate", "S-5", room, of_size(voip + 1), push_type="voip", has_certificate=True),
    ]


def plan_of(body: bytes) -> Plan:
    result = plan(Request(body))
    assert result
    return result


def text_cases() -> list[Vector]:
    kept = "White space between tokens is removed, and strings have the fewest bytes; numbers keep theirs."
    chinese = json.dumps({"aps": {"alert": {"title": "通知", "body": "你好，您的订单已经发货。" * 40}}}).encode()
    assert len(chinese) > 2817 - BODY_OFFSET
    every = "".join(f"\\u{number:04X}" for number in [*range(0x20), 0x22, 0x2F, 0x5C, 0x7F, 0x80, 0x2028, 0xFFFF])
    return [
        accepted(
            "white space between tokens",
            "S-7",
            kept,
            b' {\r\n\t"aps" : { "alert" : " two  words " } , "n" : [ 1 , 2 ] }\n',
        ),
        accepted(
            "escapes become characters, and numbers stay",
            "S-7",
            kept,
            rb'{"aps":{"alert":"\u00e9\/\n\ud83d\udeb2"},"n":[1.50,1E+2,-0,123456789012345678901234567890]}',
        ),
        accepted("quotes and backslashes inside a string", "S-7", kept, rb'{"aps":{"alert":"a \" , \\"} , "b" : "\\"}'),
        accepted("letters outside ASCII stay", "S-7", kept, '{"aps":{"alert":"예약 🚲"}}'.encode()),
        accepted("every control character and others as escapes", "S-7", kept, ('{"aps":{"alert":"' + every + '"}}').encode()),
        accepted("every short escape", "S-7", kept, rb'{"aps":{"alert":"\"\\\/\b\f\n\r\t"}}'),
        accepted("escapes in names", "S-7", kept, rb'{"\u0061ps":{"alert":"hi"},"\u5b57\ud83d\udeb2\/\u0022\u000A":1}'),
        accepted("a backslash before what looks like an escape", "S-7", kept, rb'{"aps":{"alert":"\\u0041\\\u0041\\/"}}'),
        accepted("characters of the first and last planes as escapes", "S-7", kept, rb'{"aps":{"alert":"\ud800\udc00\uDBFF\uDFFF\ue000\ud7ff"}}'),
        accepted("Chinese that Python escapes", "S-7", "It is twice as long as written.", chinese),
        accepted("a kept field with escapes", "S-3 S-7", kept, rb'{"aps":{"alert":"hi","thread-id":"\u5b57\/"}}', kept=("thread-id",)),
    ]


def size_cases() -> list[Vector]:
    """The largest alert leaves 270 bytes for everything outside its envelope's text."""
    body = of_size(2596)
    widest = "A client may write the clear part in a wider form; the widest one has to fit."

    def longest(character: str, exactly: bool = False) -> int:
        """How many of a character the title can have."""
        count = 1
        while plan(Request(body, title=character * (count + 1), is_sent_exactly=exactly)):
            count += 1
        return count

    cases = []
    for what, character in [
        ("letters", "x"),
        ("letters of two bytes", "é"),
        ("letters of three bytes", "예"),
        ("pictures of four bytes", "🚲"),
        ("slashes", "/"),
        ("ampersands", "&"),
        ("plus signs", "+"),
        ("DEL", "\x7f"),
        ("quotation marks", '"'),
        ("backslashes", "\\"),
        ("commas", ","),
    ]:
        count = longest(character)
        cases.append(accepted(f"the longest title of {what}", "S-4", widest, body, title=character * count))
        cases.append(
            refused(f"a title of {what} that is one too long", "S-4 S-5", widest, body, title=character * (count + 1))
        )
    exact = longest("é", exactly=True)
    room = "With a certificate the envelope would be longer."
    return [
        *cases,
        accepted("a title as long as the envelope leaves beside a certificate", "S-4", room, of_size(2561 - BODY_OFFSET - 121), title="x" * longest("x")),
        refused("a title too long for the envelope beside a certificate", "S-4 S-5", room, of_size(2561 - BODY_OFFSET - 121), title="x" * (longest("x") + 1)),
        accepted(
            "the longest title that is sent exactly",
            "S-4",
            "If the client sends the bytes unchanged, their own length is measured.",
            body,
            title="é" * exact,
            is_sent_exactly=True,
        ),
        refused(
            "a title that is sent exactly and is one too long",
            "S-4 S-5",
            "If the client sends the bytes unchanged, their own length is measured.",
            body,
            title="é" * (exact + 1),
            is_sent_exactly=True,
        ),
    ]


def refused_cases() -> list[Vector]:
    reads = "The system reads such a push before any code of the app."
    rules = "A sealer checks what a receiver will check."
    malformed = [
        ("no JSON", "J-2", b"hello"),
        ("an object that does not end", "J-2", b'{"aps":{"alert":"hi"}'),
        ("an array", "J-3", b'[{"aps":{"alert":"hi"}}]'),
        ("a byte order mark", "J-1", b'\xef\xbb\xbf{"aps":{"alert":"hi"}}'),
        ("a byte that is never UTF-8", "J-1", b'{"aps":{"alert":"\xff"}}'),
        ("depth 33", "J-4", nested(b"[", b"]", 33)),
        ("a name twice", "J-5", b'{"aps":{"alert":"hi"},"a":1,"a":1}'),
        ("a name twice, once with an escape", "J-5", b'{"aps":{"alert":"hi"},"a":1,"\\u0061":1}'),
        ("an escaped surrogate alone", "J-6", rb'{"aps":{"alert":"\ud83d"}}'),
        ("no aps", "J-7", b'{"alert":"hi"}'),
        ("aps that is no object", "J-7", b'{"aps":"hi"}'),
    ]
    reserved = [
        ("a payload that is sealed already", b'{"aps":{"alert":"hi"},"ENCRYPTED_DATA":"AQ"}'),
        ("a payload with ENCRYPTED_DATA that is null", b'{"aps":{"alert":"hi"},"ENCRYPTED_DATA":null}'),
        ("a payload with the format's own member", b'{"aps":{"alert":"hi"},"pushcrypt":{}}'),
        ("a payload with the format's own member, escaped", b'{"aps":{"alert":"hi"},"push\\u0063rypt":{}}'),
    ]
    times: list[tuple[str, dict[str, Any]]] = [
        ("a time to live one second over the maximum", {"time_to_live": MAXIMUM_TTL + 1}),
        ("a time of 2^53", {"time": TIME_LIMIT}),
        ("a time after the end of the certificate", {"has_certificate": True, "expires_at": SENT_AT - 1}),
    ]
    return [
        *(refused(f"push type {name}", "S-1", reads, push_type=name) for name in (*SYSTEM_TYPES, "Alert", "voip2")),
        *(refused(f"a payload: {name}", rule, rules, body) for name, rule, body in malformed),
        *(refused(name, "S-8", "The name is the format's own.", body) for name, body in reserved),
        accepted(
            "the format's names below the top level",
            "S-8",
            "Only the top level is the format's.",
            b'{"aps":{"alert":"hi"},"data":{"pushcrypt":1,"ENCRYPTED_DATA":2}}',
        ),
        *(refused(name, "S-10", "No receiver opens it.", **options) for name, options in times),
        accepted("a time to live of 0", "S-10", "Now or never: 600 seconds are sealed.", time_to_live=0),
        accepted("the end of the certificate", "S-10", "The limit is inclusive.", has_certificate=True, expires_at=SENT_AT),
        accepted("the shortest time to live", "S-10", "The limit is inclusive.", time_to_live=1),
        accepted("the latest time", "S-10", "The limit is inclusive.", time=TIME_LIMIT - 1),
        accepted("eight attachments are taken", "A-13", "References are part of the body.", attachments=(REFERENCE,) * 8),
        refused("nine attachments are too many", "A-13", "A receiver would drop the ninth.", attachments=(REFERENCE,) * 9),
        refused(
            "attachments that leave no room",
            "A-13 S-5",
            "References are part of the body.",
            of_size(2596 - 100),
            attachments=(REFERENCE,),
        ),
    ]


def sealer_cases() -> list[Vector]:
    return [*clear_part_cases(), *other_form_cases(), *bucket_cases(), *text_cases(), *size_cases(), *refused_cases()]
