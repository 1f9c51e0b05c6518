"""What a person is shown of a push: a function of the sealed payload, or the fallback."""

import json

from reference import content
from reference.envelope import to_text
from reference.opening import Opened

from .forge import flip, forge, opening, receiver_header
from .material import NOW, PAYLOAD, RECEIVER, seed
from .reference_cases import GOOD
from .vector import Header, Vector, base64url, vector

# What a hostile relay writes around an envelope.
RELAY: dict[str, object] = {
    "aps": {
        "mutable-content": 1,
        "alert": {"title": "Bank", "subtitle": "Send", "body": "money", "launch-image": "x"},
        "sound": "alarm.caf",
        "category": "PAY",
        "badge": 9,
        "thread-id": "t",
        "target-content-id": "w",
        "filter-criteria": "f",
        "relevance-score": 1,
        "interruption-level": "critical",
    },
    "url": "https://example.com",
}
CRITICAL: list[tuple[str, object]] = [
    ("critical", {"critical": 1, "name": "alarm.caf", "volume": 1.0}),
    ("critical without a name", {"critical": True}),
    ("the default one, critical", {"critical": 1.0, "name": "default", "volume": 0.5}),
    ("critical with an empty name", {"critical": 1, "name": ""}),
]
# The words of it that are in no payload sealed here.
RELAYS = ("Bank", "Send", "money", "alarm.caf", "PAY", "example.com")


def push_of(envelope: bytes | str, clear: dict[str, object] | None = None) -> str:
    text = envelope if isinstance(envelope, str) else to_text(envelope)
    return json.dumps((RELAY if clear is None else clear) | {"ENCRYPTED_DATA": text}, ensure_ascii=False)


def shown_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    push: str | bytes,
    may_pass: bool = False,
    withheld: tuple[str, ...] = (),
    repeated: str | None = None,
) -> Vector:
    """`withheld` are words of the push, in the clear or sealed, that nothing shown has."""
    data = push if isinstance(push, bytes) else push.encode()
    result = opening(data, RECEIVER, NOW)
    code = result if isinstance(result, str) else "opened"
    if code == "not-encrypted" and may_pass and "ENCRYPTED_DATA" not in json.loads(data):
        code = "passed"
    assert code == expected, (name, code)
    if isinstance(result, Opened):
        shown = content.opened(result.payload)
        if repeated:
            shown = content.quiet(shown, repeated == "duplicate-quietly")
    elif code == "passed":
        shown = content.passed(data)
    else:
        shown = content.fallback(data, code)
    everything = data + (result.payload if isinstance(result, Opened) else b"")
    values = [value for values in shown.fields.values() for value in values]
    assert all(word.encode() in everything for word in withheld), name
    assert not any(word in value for word in withheld for value in values), name
    whole_info = None
    if isinstance(result, Opened) and b"null" in result.payload:
        whole_info = content.restored(content.user_info(content.read(result.payload.decode())))
    header: list[Header] = [
        *receiver_header(RECEIVER, NOW),
        ("may-pass-in-the-clear", "yes" if may_pass else None),
        ("repeated", repeated),
        *((f"shown-{field}", value) for field, values in shown.fields.items() for value in values),
        ("shown-user-info-json", json.dumps(whole_info, ensure_ascii=False) if whole_info is not None else None),
        *(("not-shown", word) for word in withheld),
    ]
    return vector("notifications", name, code, rules, comment, header, data)


def sealed(name: str, rules: str, comment: str, payload: str, withheld: tuple[str, ...] = ()) -> Vector:
    return shown_case(name, "opened", rules, comment, push_of(forge(payload.encode())), withheld=withheld)


def opened_cases() -> list[Vector]:
    alone = "The sealed content is shown, whatever the relay wrote around it."
    field = "A value of the wrong type or outside the field's range counts as absent."
    other = "Other ways to write a number, a flag, and nothing."
    whole = "A member with a number beyond a double is left out: with it, the system's reader would take none."
    texts = "A key for a localised text wins over the text beside it."
    every = {
        "alert": {"title": "Anna", "subtitle": "in Rome", "body": "Look!", "launch-image": "map"},
        "badge": 3,
        "sound": "bell.caf",
        "thread-id": "c41",
        "category": "CHAT",
        "interruption-level": "time-sensitive",
        "relevance-score": 0.5,
        "target-content-id": "window",
        "filter-criteria": "work",
    }

    def aps(**members: object) -> str:
        return json.dumps(
            {"aps": {name.replace("_", "-"): value for name, value in members.items()}}, ensure_ascii=False
        )

    full_body = GOOD | {"type": "public.plain-text", "key": base64url(seed("full body key"))}
    localised = {
        "title-loc-key": "T",
        "title-loc-args": ["a", 1.50, None, "b"],
        "title": "no",
        "subtitle-loc-key": "S",
        "loc-key": "B",
        "loc-args": [],
        "body": "no",
    }
    return [
        sealed("nothing of the relay's is shown", "N-1 O-0.1", alone, PAYLOAD.decode(), RELAYS),
        sealed("every field is the sealed one", "N-1", alone, json.dumps({"aps": every, "chat": "c41"}), RELAYS),
        sealed("an empty payload clears every field", "N-1 O-0.1", alone, '{"aps":{}}', RELAYS),
        sealed(
            "the app sees the members beside aps",
            "N-2",
            "The format's own members are not the app's.",
            '{"aps":{"alert":"hi"},"chat":"c41","n":{"a":[1]},"pushcrypt_":1}',
        ),
        sealed("a number that no double holds", "N-2", whole, '{"aps":{"alert":"hi"},"n":1e400,"chat":"c41"}', ("n",)),
        sealed("a number that no double holds, inside a member", "N-2", whole, '{"aps":{"alert":"hi"},"n":{"a":[1,-1e309]},"chat":"c41"}', ("n",)),
        sealed("an integer that no double holds", "N-2", whole, '{"aps":{"alert":"hi"},"n":1' + "0" * 309 + ',"chat":"c41"}', ("n",)),
        sealed("the largest numbers that a double holds", "N-2", whole, '{"aps":{"alert":"hi"},"n":[1.797e308,-1e308,1e-400],"chat":"c41"}'),
        sealed("a number that no double holds, in aps", "N-2", whole, '{"aps":{"alert":"hi","badge":1e400},"chat":"c41"}'),
        *(
            sealed(f"nulls in the app's members: {where}", "N-2", "A property list has no null, so the app sees none, at any depth.", json.dumps({"aps": {"alert": "hi"}} | members))
            for where, members in [
                ("a member", {"chat": "c41", "x": None}),
                ("every member", {"x": None, "y": None}),
                ("a member of a member", {"chat": {"id": "c41", "x": None}}),
                ("an element", {"chat": [1, None, "c41", None]}),
                ("nothing but nulls in an array and an object", {"a": [None, None], "o": {"x": None}}),
                ("deep inside", {"a": [[{"b": [None, {"c": None, "d": [None, 1.5, False, "null"]}]}], None]}),
                ("a name that is null", {"null": "null"}),
            ]
        ),
        sealed("a text of such a number", "N-2", whole, '{"aps":{"alert":"hi"},"n":"1e400"}'),
        sealed(
            "the app does not see the format's own member",
            "N-2 A-17",
            "It contains the keys of attachments.",
            '{"aps":{"alert":"hi"},"chat":"c41","pushcrypt":{"attachments":[],"later":"secret"}}',
            ("pushcrypt", "secret"),
        ),
        sealed(
            "the app does not see the keys of attachments and of a full body",
            "N-2 A-17 A-23",
            "Anyone with the key of a file can read it.",
            json.dumps({"aps": {"alert": "hi"}, "pushcrypt": {"attachments": [GOOD], "body": full_body}}),
            ("pushcrypt", GOOD["key"], full_body["key"]),
        ),
        sealed(
            "a name of the app's inside the format's own member",
            "N-2 A-17",
            "Only the top level of the payload is the app's.",
            '{"aps":{"alert":"hi"},"pushcrypt":{"chat":"c41"}}',
            ("chat", "c41"),
        ),
        sealed(
            "the app does not see a sealed ENCRYPTED_DATA",
            "N-2",
            "No sealer writes one; a receiver ignores it.",
            '{"aps":{"alert":"hi"},"ENCRYPTED_DATA":"AQ","chat":"c41"}',
            ("ENCRYPTED_DATA",),
        ),
        sealed(
            "an alert that is a string is the body",
            "N-3",
            "Nothing else is shown then.",
            aps(alert="See you at 8"),
            RELAYS,
        ),
        sealed("localised texts win over the texts beside them", "N-1", texts, aps(alert=localised)),
        sealed("an empty key of a localised text", "N-1", texts, aps(alert={"title-loc-key": "", "title": "Anna"})),
        sealed("a key that is no string", "N-1", texts, aps(alert={"loc-key": 7, "body": "Look!"})),
        sealed("a title that is a number", "N-1", field, aps(alert={"title": 7, "body": "Look!"})),
        sealed("a title that turns text round, and a long one", "N-1 N-4", "Only a fallback's title loses characters: this one is its provider's.", aps(alert={"title": "\u202eannA\u202c\u200b" + "x" * 70, "title-loc-args": ["\u200b"]})),
        sealed("an alert that is an array", "N-1", field, aps(alert=["Look!"])),
        sealed("a badge of 0 is set", "N-1", field, aps(alert="hi", badge=0)),
        sealed("a negative badge", "N-1", field, aps(alert="hi", badge=-1)),
        sealed("a badge of 3.0", "N-1 J-8", other, aps(alert="hi", badge=3.0)),
        sealed("a badge of -0", "N-1 J-8", other, '{"aps":{"alert":"hi","badge":-0}}'),
        sealed("a badge with an exponent", "N-1 J-8", other, '{"aps":{"alert":"hi","badge":3e0}}'),
        sealed("a badge of 1.5", "N-1 J-8", other, aps(alert="hi", badge=1.5)),
        sealed("a badge of 2^53 - 1 with a fraction", "N-1 J-8", other, '{"aps":{"alert":"hi","badge":9007199254740991.0}}'),
        sealed("a badge of 2^53 with a fraction", "N-1 J-8", other, '{"aps":{"alert":"hi","badge":9007199254740992.0}}'),
        sealed("a badge of 2^63", "N-1", field, aps(alert="hi", badge=2**63)),
        sealed("the largest badge", "N-1", field, aps(alert="hi", badge=2**63 - 1)),
        sealed("a badge that is a string", "N-1", field, aps(alert="hi", badge="3")),
        sealed("an empty sound is silence", "N-1", field, aps(alert="hi", sound="")),
        sealed("a sound that is a number", "N-1", field, aps(alert="hi", sound=1)),
        sealed(
            "a critical sound", "N-1", field, aps(alert="hi", sound={"critical": 1, "name": "a.caf", "volume": 0.25})
        ),
        sealed(
            "a critical sound of the system", "N-1", field, aps(alert="hi", sound={"critical": 1, "name": "default"})
        ),
        sealed("a critical sound that is too loud", "N-1", field, aps(alert="hi", sound={"critical": 1, "volume": 7})),
        sealed(
            "a critical sound that is less than silent",
            "N-1",
            field,
            aps(alert="hi", sound={"critical": 1, "volume": -1}),
        ),
        sealed(
            "a sound that says it is not critical",
            "N-1",
            field,
            aps(alert="hi", sound={"critical": 0, "name": "a.caf"}),
        ),
        sealed("a sound that says 1.0 for critical", "N-1 J-8", other, '{"aps":{"alert":"hi","sound":{"critical":1.0,"name":"a.caf"}}}'),
        sealed("a sound that says 1e0 for critical", "N-1 J-8", other, '{"aps":{"alert":"hi","sound":{"critical":1e0,"name":"a.caf"}}}'),
        sealed(
            "a sound that says true for critical",
            "N-1 J-8",
            other,
            aps(alert="hi", sound={"critical": True, "name": "a.caf"}),
        ),
        sealed(
            "a sound that says false for critical",
            "N-1 J-8",
            other,
            aps(alert="hi", sound={"critical": False, "name": "a.caf"}),
        ),
        sealed(
            "nulls in aps, its alert and its sound",
            "N-1 J-8",
            other,
            '{"aps":{"alert":{"title":null,"subtitle":null,"body":"hi","loc-key":null,"loc-args":null},"badge":null,'
            '"sound":{"critical":null,"name":"a.caf","volume":null},"interruption-level":null,"relevance-score":null}}',
        ),
        sealed("a relevance above 1", "N-1", field, aps(alert="hi", relevance_score=5)),
        sealed("a relevance below 0", "N-1", field, aps(alert="hi", relevance_score=-5)),
        sealed("a relevance that is a string", "N-1", field, aps(alert="hi", relevance_score="1")),
        sealed("an interruption level that nobody knows", "N-1", field, aps(alert="hi", interruption_level="loud")),
        sealed("a passive notification", "N-1", field, aps(alert="hi", interruption_level="passive")),
        sealed("a category that is null", "N-1", field, aps(alert="hi", category=None)),
    ]


def fallback_cases() -> list[Vector]:
    keeps = "Only the title and the sound come from the clear part; everything else in it is ignored."
    plain = "Anyone can send a push that is not sealed."
    genuine = forge()
    nothing: dict[str, object] = {"aps": {}}
    open_clear = json.dumps(RELAY)
    return [
        shown_case(
            "a push that does not open", "authentication-failed", "N-4 O-9.4", keeps, push_of(flip(-1)(genuine))
        ),
        shown_case("a push of an unknown suite", "unsupported-suite", "N-4 O-9.4", keeps, push_of("BA")),
        shown_case("a push that has expired", "expired", "N-4 O-9.4", keeps, push_of(forge(ttl=1))),
        shown_case(
            "a push that does not open and has no clear part",
            "authentication-failed",
            "N-4",
            keeps,
            push_of(flip(-1)(genuine), nothing),
        ),
        shown_case(
            "a push that does not open and whose aps is no object",
            "authentication-failed",
            "N-4",
            keeps,
            push_of(flip(-1)(genuine), {"aps": "Bank"}),
        ),
        *(
            shown_case(
                f"a push that does not open, and its clear sound is {what}",
                "authentication-failed",
                "N-4",
                "Anybody on the way could ring a phone that is silenced.",
                push_of(flip(-1)(genuine), {"aps": {"alert": {"title": "a"}, "sound": sound}}),
                withheld=("critical",),
            )
            for what, sound in CRITICAL
        ),
        *(
            shown_case(
                f"a push that the app lets pass, and its sound is {what}",
                "passed",
                "N-4 N-6",
                "Anybody on the way could ring a phone that is silenced.",
                json.dumps({"aps": {"alert": {"title": "a"}, "sound": sound}}),
                may_pass=True,
                withheld=("critical",),
            )
            for what, sound in CRITICAL
        ),
        shown_case("a push that is no JSON", "malformed-notification", "N-4 O-1.1", keeps, b"hello"),
        shown_case("a push that is not sealed", "not-encrypted", "N-5", plain, open_clear),
        shown_case(
            "a push whose ENCRYPTED_DATA is no string",
            "not-encrypted",
            "N-5",
            plain,
            json.dumps(RELAY | {"ENCRYPTED_DATA": {"a": 1}}),
        ),
        shown_case(
            "a push that is not sealed, and the app lets it pass",
            "passed",
            "N-6",
            "For the time when a provider starts to seal.",
            open_clear,
            may_pass=True,
        ),
        shown_case(
            "a push whose ENCRYPTED_DATA is no string, and the app would let it pass",
            "not-encrypted",
            "N-6",
            "Never if ENCRYPTED_DATA is present.",
            json.dumps(RELAY | {"ENCRYPTED_DATA": 7}),
            may_pass=True,
        ),
        shown_case(
            "a push whose ENCRYPTED_DATA is null, and the app would let it pass",
            "not-encrypted",
            "N-6",
            "Never if ENCRYPTED_DATA is present.",
            json.dumps(RELAY | {"ENCRYPTED_DATA": None}),
            may_pass=True,
        ),
        shown_case(
            "a push that does not open, and the app would let it pass",
            "authentication-failed",
            "N-6",
            "Never if ENCRYPTED_DATA is present.",
            push_of(flip(-1)(genuine)),
            may_pass=True,
        ),
    ]


def quiet_cases() -> list[Vector]:
    """What was shown before."""
    again, copy = "again-quietly", "duplicate-quietly"
    comment = "No sound, no light and no badge; under another request no category either."
    full = json.dumps(
        {
            "aps": {
                "alert": {"title": "Anna", "body": "Look!"},
                "badge": 3,
                "sound": {"critical": 1, "name": "bell.caf"},
                "thread-id": "c41",
                "category": "CHAT",
                "interruption-level": "critical",
                "relevance-score": 0.5,
                "target-content-id": "window",
            },
            "chat": "c41",
        }
    )
    plain = '{"aps":{"alert":"hi","sound":"default","badge":0}}'

    def quiet(name: str, payload: str, repeated: str, *withheld: str) -> Vector:
        push = push_of(forge(payload.encode()))
        return shown_case(name, "opened", "N-7", comment, push, withheld=(*RELAYS, *withheld), repeated=repeated)

    return [
        quiet("shown again under its own request", full, again, "bell.caf"),
        quiet("shown again under another request", full, copy, "bell.caf", "CHAT"),
        quiet("a short one shown again under its own request", plain, again, "default"),
        quiet("a short one shown again under another request", plain, copy, "default"),
        quiet("an empty one shown again under another request", '{"aps":{}}', copy),
    ]


def title_cases() -> list[Vector]:
    """The title of a fallback."""
    comment = "The relay chooses it, so it is on one line and short."
    broken = flip(-1)(forge())

    def titled(name: str, alert: object, code: str = "authentication-failed") -> Vector:
        clear: dict[str, object] = {"aps": {"alert": alert}}
        if code == "not-encrypted":
            return shown_case(name, code, "N-4 N-5", comment, json.dumps(clear, ensure_ascii=False))
        return shown_case(name, code, "N-4", comment, push_of(broken, clear))

    return [
        titled("a title of 64 code points in a fallback", {"title": "x" * 63 + "🚲"}),
        titled("a title of 65 code points in a fallback", {"title": "🚲" * 65}),
        titled("a long title in a fallback", {"title": "Call this number now. " * 200}),
        titled("a title of 64 code points and a line feed in a fallback", {"title": "예" * 64 + "\n"}),
        titled("a title of two lines in a fallback", {"title": "Bank\r\nSend money"}),
        titled("a title with other line ends in a fallback", {"title": "a\u2028b\u2029c\x85d\x0be\x7ff\tg"}),
        titled("a title with a combining mark at the end in a fallback", {"title": "e" * 63 + "e\u0301"}),
        titled("a localised title in a fallback", {"title-loc-key": "New message", "title-loc-args": ["a\nb"], "title": "no"}),
        titled("an empty key of a localised title in a fallback", {"title-loc-key": "", "title": "yes"}),
        titled("a title in a fallback that turns text round", {"title": "\u202eknaB\u202c \u2066x\u2067y\u2068z\u2069 \u202a\u202b\u202d\u061c\u200e\u200f."}),
        titled("a title in a fallback with characters that take no room", {"title": "B\u200ba\u2060n\ufeffk"}),
        titled("a title in a fallback of Persian letters and a family", {"title": "می\u200cخواهم 👨\u200d👩\u200d👧"}),
        titled("a title in a fallback that begins with a hundred characters that take no room", {"title": "\u200b" * 100 + "x" * 65}),
        titled("a title in a fallback with control characters among what is cut and dropped", {"title": "\u200b\x07" * 40 + "\u2028" * 40}),
        titled("a title in a fallback of nothing that anybody sees", {"title": "\u200b\u2060"}),
        titled("arguments of a localised title in a fallback that turn text round", {"title-loc-key": "New message", "title-loc-args": ["\u202eannA\u202c", "می\u200cخواهم", "\u200b"]}),
        titled("a subtitle and a body in a fallback", {"title": "a", "subtitle": "b", "body": "c"}),
        titled("an alert that is a string in a fallback", "Bank"),
        titled("a long title of a push that is not sealed", {"title": "x" * 65 + "\n"}, "not-encrypted"),
    ]


def notification_cases() -> list[Vector]:
    return [*opened_cases(), *fallback_cases(), *quiet_cases(), *title_cases()]
