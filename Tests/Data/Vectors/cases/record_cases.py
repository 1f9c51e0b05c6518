"""Records of keys, and what becomes of what a provider holds."""

import json

from reference import keys, records
from reference.keys import Kind
from reference.records import Held, Refused

from .material import PHONE, PROVIDER, SECOND_PROVIDER, SENT_AT, TABLET, TOPIC
from .vector import Header, Vector, sender_text, vector

MALFORMED = "malformed-record"


def device_text(key: bytes) -> str:
    return keys.text_form(Kind.DEVICE_PUBLIC, key)


GOOD: dict[str, object] = {
    "device": "5d0f9c1e",
    "public_key": device_text(PHONE.public),
    "key_id": PHONE.key_id.hex(),
    "suite": 1,
    "suites": [1],
    "topic": TOPIC,
    "generation": 2,
    "created": SENT_AT,
    "sender": sender_text(PROVIDER.public),
    "app_version": "2.3.1",
}
SENDER: dict[str, object] = {
    "public_key": sender_text(PROVIDER.public),
    "key_id": PROVIDER.key_id.hex(),
    "topic": TOPIC,
    "generation": 3,
    "created": SENT_AT,
}


def record_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    text: str,
    kind: Kind = Kind.DEVICE_PUBLIC,
    held: Held | None = None,
    is_replaced: bool = False,
) -> Vector:
    header: list[Header] = [("kind", kind.value.removesuffix("-public"))]
    if held:
        header += [
            ("held-key", device_text(held.key)),
            ("held-generation", held.generation),
            ("held-topic", held.topic),
            ("replace", "yes" if is_replaced else None),
        ]
    try:
        record = records.read_record(text.encode(), kind)
        records.register(record, held, is_replaced)
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        header += [
            ("key", keys.text_form(kind, record.key)),
            ("device", record.device),
            ("suites", " ".join(map(str, record.suites)) or None),
            ("topic", record.topic or (held and held.topic) or None),
            ("generation", record.generation),
            ("created", record.created),
            ("sender", sender_text(record.sender) if record.sender else None),
            ("app-version", record.app_version),
        ]
    return vector("records", name, expected, rules, comment, header, text.encode())


def with_member(name: str, expected: str, rules: str, comment: str, member: str, value: object) -> Vector:
    return record_case(name, expected, rules, comment, json.dumps(GOOD | {member: value}, ensure_ascii=False))


def accepted_cases() -> list[Vector]:
    least = {"public_key": GOOD["public_key"]}
    absent = "Everything but the key may be absent."
    null = {member: None for member in GOOD if member != "public_key"}
    later = GOOD | {"later": [1, {"a": 2}], "apns_token": "00"}
    return [
        record_case(
            "a device's record", "accepted", "D-1 D-2 D-3 D-4 D-5 D-9 D-10 D-14", "Every member.", json.dumps(GOOD)
        ),
        record_case("a device's key alone", "accepted", "D-1 D-6", absent, json.dumps(least)),
        record_case("members that are null", "accepted", "D-6", absent, json.dumps(least | null)),
        record_case("members that nobody knows", "accepted", "D-6", "They are ignored.", json.dumps(later)),
        record_case(
            "white space, another order, escapes",
            "accepted",
            "D-6",
            "A record is any JSON text of the object.",
            json.dumps(dict(reversed(GOOD.items())), indent=1).replace("pcr1", "\\u0070cr1"),
        ),
        with_member("a record of several suites", "accepted", "D-9", "In ascending order.", "suites", [1, 2, 255]),
        with_member(
            "a record of sixteen suites", "accepted", "D-9", "The limit is inclusive.", "suites", list(range(1, 17))
        ),
        with_member("a record of generation 0", "accepted", "D-5", "The limit is inclusive.", "generation", 0),
        with_member("the largest generation", "accepted", "D-5", "The limit is inclusive.", "generation", 2**53 - 1),
        with_member(
            "a device id of 255 bytes", "accepted", "D-14", "The limit is inclusive.", "device", "é" * 127 + "x"
        ),
        with_member("a device id of one character", "accepted", "D-14", "The limit is inclusive.", "device", "1"),
        with_member(
            "a device id with spaces around it", "accepted", "D-14", "It is kept unchanged.", "device", " Anna's phone "
        ),
        with_member(
            "a device id that begins like a key in capitals",
            "accepted",
            "D-14",
            "A public key is written in lower case.",
            "device",
            "PCR1phone",
        ),
        with_member("a version of 64 bytes", "accepted", "D-10", "The limit is inclusive.", "app_version", "é" * 32),
        record_case(
            "a sender's record", "accepted", "D-1 D-2", "Every member.", json.dumps(SENDER), Kind.SENDER_PUBLIC
        ),
        record_case(
            "a sender's key alone",
            "accepted",
            "D-1 D-6",
            absent,
            json.dumps({"public_key": SENDER["public_key"]}),
            Kind.SENDER_PUBLIC,
        ),
    ]


def refused_cases() -> list[Vector]:
    faults: list[tuple[str, str, str, object]] = [
        ("no public key", "D-1", "public_key", None),
        ("a public key that is a number", "D-1", "public_key", 7),
        ("the key id of another key", "D-2", "key_id", TABLET.key_id.hex()),
        ("a key id in capitals", "D-2", "key_id", PHONE.key_id.hex().upper()),
        ("a key id that is a number", "D-2", "key_id", 1),
        ("a key of suite 2", "D-3", "suite", 2),
        ("a key of suite 0", "D-3", "suite", 0),
        ("a suite that is a string", "D-3", "suite", "1"),
        ("a suite that is true", "D-3", "suite", True),
        ("an empty topic", "D-4 K-2", "topic", ""),
        ("a topic with a space", "D-4 K-2", "topic", "com.example app"),
        ("a topic that is an object", "D-4", "topic", {}),
        ("a negative generation", "D-5", "generation", -1),
        ("a generation of 2^53", "D-5", "generation", 2**53),
        ("a generation of 2^64", "D-5", "generation", 2**64),
        ("a generation with a fraction", "D-5", "generation", 2.0),
        ("a generation that is a string", "D-5", "generation", "2"),
        ("a time of 2^53", "D-5", "created", 2**53),
        ("a negative time", "D-5", "created", -1),
        ("a record of no suite at all", "D-9", "suites", []),
        ("a record of seventeen suites", "D-9", "suites", list(range(1, 18))),
        ("suites in descending order", "D-9", "suites", [2, 1]),
        ("a suite twice", "D-9", "suites", [1, 1]),
        ("suites without the key's own", "D-9", "suites", [2, 3]),
        ("suite 0 among the suites", "D-9", "suites", [0, 1]),
        ("suite 256 among the suites", "D-9", "suites", [1, 256]),
        ("a suite with a fraction among the suites", "D-9", "suites", [1, 2.0]),
        ("a suite that is null among the suites", "D-9", "suites", [1, None]),
        ("suites that are a number", "D-9", "suites", 1),
        ("an empty version", "D-10", "app_version", ""),
        ("a version of 65 bytes", "D-10", "app_version", "é" * 32 + "x"),
        ("a version with a newline", "D-10", "app_version", "2.3\n"),
        ("a version with a control character above ASCII", "D-10", "app_version", "2.3\x85"),
        ("a version that is a number", "D-10", "app_version", 2),
        ("a sender that is an array", "D-1", "sender", []),
        ("an empty device id", "D-14", "device", ""),
        ("a device id of 256 bytes", "D-14", "device", "é" * 128),
        ("a device id of spaces", "D-14", "device", "  "),
        ("a device id that begins like a key", "D-14", "device", "pcr1phone"),
        ("a device's public key as its id", "D-14", "device", GOOD["public_key"]),
        ("a device id with a newline", "D-14", "device", "phone1\n"),
        ("a device id with a NUL", "D-14", "device", "phone\x001"),
        ("a device id with a control character above ASCII", "D-14", "device", "phone\x85"),
        ("a device id that is a number", "D-14", "device", 7),
    ]
    texts: list[tuple[str, str, str, str, object]] = [
        (
            "a sender's key in the place of the device's",
            "wrong-kind-of-key",
            "D-1 K-6",
            "public_key",
            SENDER["public_key"],
        ),
        ("a device's key in the place of the sender's", "wrong-kind-of-key", "D-1 K-6", "sender", GOOD["public_key"]),
        ("a device's key that is zero", "weak-key", "D-1 K-8", "public_key", device_text(bytes(32))),
        ("a sender's key that is the identity", "weak-key", "D-1 K-7", "sender", sender_text(b"\x01" + bytes(31))),
        ("a key that was mistyped", "wrong-checksum", "D-1 K-5", "public_key", str(GOOD["public_key"])[:-1] + "q"),
        ("a key with a space behind it", "malformed-key", "D-1 K-4", "public_key", str(GOOD["public_key"]) + " "),
    ]
    good = json.dumps(GOOD)
    shapes = [
        ("a record that is an array", "J-3", f"[{good}]"),
        ("a record that is a string", "J-3", json.dumps(GOOD["public_key"])),
        ("a record with a member twice", "J-5", good[:-1] + f', "public_key": "{GOOD["public_key"]}"}}'),
        ("a record that ends too early", "J-2", good[:-1]),
        ("a record with an escaped surrogate alone", "J-6", good[:-1] + ', "a": "\\ud83d"}'),
        ("a record with a byte order mark", "J-1", "\ufeff" + good),
        ("a record of depth 33", "J-4", good[:-1] + ', "a": ' + "[" * 32 + "]" * 32 + "}"),
        ("a generation with an exponent", "D-5", good.replace('"generation": 2', '"generation": 2e0')),
    ]
    one = "A record with one fault."
    return [
        *(with_member(name, MALFORMED, rules, one, member, value) for name, rules, member, value in faults),
        *(with_member(name, expected, rules, one, member, value) for name, expected, rules, member, value in texts),
        *(record_case(name, MALFORMED, rules, one, text) for name, rules, text in shapes),
        record_case(
            "the key id of another sender's key",
            MALFORMED,
            "D-2",
            one,
            json.dumps(SENDER | {"key_id": SECOND_PROVIDER.key_id.hex()}),
            Kind.SENDER_PUBLIC,
        ),
        record_case(
            "a device's record where a sender's belongs",
            "wrong-kind-of-key",
            "D-1 K-6",
            one,
            good,
            Kind.SENDER_PUBLIC,
        ),
    ]


def held_cases() -> list[Vector]:
    """What a provider must not take although the record is good."""
    old = "An old record, kept by someone on the path, must not restore an old key."
    app = "A device belongs to one app."
    rollback, mismatch = "generation-rollback", "topic-mismatch"

    def case(
        name: str, expected: str, rules: str, comment: str, held: Held, is_replaced: bool = False, **members: object
    ) -> Vector:
        return record_case(name, expected, rules, comment, json.dumps(GOOD | members), held=held, is_replaced=is_replaced)

    same, other = PHONE.public, TABLET.public
    elsewhere = "com.example.other"
    return [
        case("a later generation", "accepted", "D-7", old, Held(other, 1, TOPIC)),
        case("the same generation and key", "accepted", "D-7", old, Held(same, 2, TOPIC)),
        case("a lower generation", rollback, "D-7", old, Held(other, 3, TOPIC)),
        case("a lower generation of the same key", rollback, "D-7", old, Held(same, 3, TOPIC)),
        case("the same generation and another key", rollback, "D-7", old, Held(other, 2, TOPIC)),
        case(
            "no generation where generation 2 is held", rollback, "D-7 D-6", old, Held(other, 2, TOPIC), generation=None
        ),
        case(
            "a lower generation of a device that its operator replaces",
            "accepted",
            "D-7",
            "The operator requests it.",
            Held(other, 3, TOPIC),
            True,
        ),
        case("another topic than is held", mismatch, "D-8", app, Held(other, 1, elsewhere)),
        case("no topic where one is held", "accepted", "D-8", app, Held(other, 1, elsewhere), topic=None),
        case("a topic where none is held", "accepted", "D-8", app, Held(other, 1, None)),
        case(
            "another topic of a device that its operator replaces",
            "accepted",
            "D-8",
            "The operator requests it.",
            Held(other, 1, elsewhere),
            True,
        ),
    ]


def record_cases() -> list[Vector]:
    return [*accepted_cases(), *refused_cases(), *held_cases()]
