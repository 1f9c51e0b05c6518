"""Records of keys, and what becomes of what a provider holds."""

import json

from reference import keys, records
from reference.keys import Kind
from reference.records import Held, Provider, Refused

from .material import PHONE, PROVIDER, RECOVERY, SECOND_PROVIDER, SECOND_RECOVERY, SENT_AT, STRANGER, TABLET, TOPIC
from .vector import Header, Vector, recovery_text, sender_text, vector

MALFORMED = "malformed-record"


def device_text(key: bytes) -> str:
    return keys.text_form(Kind.DEVICE_PUBLIC if len(key) == 32 else Kind.XWING_PUBLIC, key)


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
    "recovery": [recovery_text(RECOVERY.public)],
    "app_version": "2.3.1",
}
SENDER: dict[str, object] = {
    "public_key": sender_text(PROVIDER.public),
    "key_id": PROVIDER.key_id.hex(),
    "topic": TOPIC,
    "generation": 3,
    "created": SENT_AT,
    "recovery": [recovery_text(RECOVERY.public), recovery_text(SECOND_RECOVERY.public)],
}


def record_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    text: str,
    kind: Kind = Kind.DEVICE_PUBLIC,
    provider: Provider | None = None,
) -> Vector:
    header: list[Header] = [("kind", kind.value.removesuffix("-public"))]
    held = provider.held if provider else Held()
    if provider:
        own = [(kind, key) for key in provider.own_keys for kind in [own_kind(key)]]
        header += [
            ("user", provider.user),
            ("held-key", device_text(held.key) if held.key else None),
            ("held-generation", held.generation if held.key else None),
            ("held-topic", held.topic),
            ("held-user", held.user),
            ("elsewhere", provider.elsewhere if provider.elsewhere != "" else "-"),
            ("replace", "yes" if provider.is_replaced else None),
            ("seals", " ".join(map(str, provider.seals)) if provider.seals else None),
            *(("provider-has", keys.text_form(kind, key)) for kind, key in own),
        ]
    try:
        record = records.read_record(text.encode(), kind)
        if provider:
            records.register(record, provider)
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        header += [
            ("key", device_text(record.key) if kind is Kind.DEVICE_PUBLIC else keys.text_form(kind, record.key)),
            ("device", record.device),
            ("suites", " ".join(map(str, record.suites)) or None),
            ("topic", record.topic or held.topic),
            ("generation", record.generation),
            ("created", record.created),
            ("sender", sender_text(record.sender) if record.sender else None),
            *(("recovery", recovery_text(key)) for key in record.recovery),
            ("app-version", record.app_version),
        ]
        if provider and provider.own_keys:
            header += [("foreign", member) for member in records.foreign_members(record, provider)]
    return vector("records", name, expected, rules, comment, header, text.encode())


def own_kind(key: bytes) -> Kind:
    return Kind.RECOVERY_PUBLIC if key in (RECOVERY.public, SECOND_RECOVERY.public) else Kind.SENDER_PUBLIC


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
        with_member("one recovery key", "accepted", "D-16", "The limit is inclusive.", "recovery", [recovery_text(SECOND_RECOVERY.public)]),
        with_member("two recovery keys", "accepted", "D-16", "The limit is inclusive.", "recovery", SENDER["recovery"]),
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
        ("recovery keys that are a string", "D-16", "recovery", recovery_text(RECOVERY.public)),
        ("no recovery key in the array", "D-16", "recovery", []),
        ("three recovery keys", "D-16", "recovery", [recovery_text(key.public) for key in (RECOVERY, SECOND_RECOVERY, STRANGER)]),
        ("a recovery key that is a number", "D-16", "recovery", [7]),
        ("a recovery key that is null", "D-16", "recovery", [None]),
        ("one recovery key twice", "K-10", "recovery", [recovery_text(RECOVERY.public)] * 2),
        ("one recovery key twice, once with a newline", "K-10", "recovery", [recovery_text(RECOVERY.public), recovery_text(RECOVERY.public) + "\n"]),
        ("a recovery key that is the sender's", "K-10", "recovery", [recovery_text(PROVIDER.public)]),
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
        ("a sender's key among the recovery keys", "wrong-kind-of-key", "D-1 K-6", "recovery", [GOOD["sender"]]),
        ("a recovery key in the place of the sender's", "wrong-kind-of-key", "D-1 K-6", "sender", recovery_text(RECOVERY.public)),
        ("a recovery key that is the identity", "weak-key", "D-1 K-7", "recovery", [recovery_text(b"\x01" + bytes(31))]),
        ("a second recovery key that was mistyped", "wrong-checksum", "D-1 K-5", "recovery", [recovery_text(RECOVERY.public), recovery_text(SECOND_RECOVERY.public)[:-1] + "q"]),
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
        ("a generation of -0", "D-5", good.replace('"generation": 2', '"generation": -0')),
        ("a time with an exponent", "D-5", good.replace(str(SENT_AT), "1767225600e3")),
        ("a generation of 5,000 digits", "D-5", good.replace('"generation": 2', '"generation": ' + "9" * 5000)),
        ("a suite with a fraction", "D-3", good.replace('"suite": 1', '"suite": 1.0')),
        ("a suite with an exponent", "D-3", good.replace('"suite": 1', '"suite": 1e0')),
        ("a suite with an exponent among the suites", "D-9", good.replace('"suites": [1]', '"suites": [1e0]')),
        ("an array of suites in an array", "D-9", good.replace('"suites": [1]', '"suites": [[1]]')),
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


def order_cases() -> list[Vector]:
    """Two faults each: which one is reported."""
    order = "Two faults: first what is no text of a key, then those in order, last what follows of the keys."
    weak, weak_sender = device_text(bytes(32)), sender_text(b"\x01" + bytes(31))
    mistyped = recovery_text(RECOVERY.public)[:-1] + "q"
    faults: list[tuple[str, str, str, dict[str, object]]] = [
        ("a wrong suite before a weak key", MALFORMED, "D-1 D-3", {"suite": 2, "public_key": weak}),
        ("a bad version before a weak sender", MALFORMED, "D-1 D-10", {"app_version": "", "sender": weak_sender}),
        ("no recovery key in the array before a weak key", MALFORMED, "D-1 D-16", {"recovery": [], "public_key": weak}),
        ("a weak key before the key id of another", "weak-key", "D-1 D-2", {"public_key": weak}),
        ("a weak key before a sender of the wrong kind", "weak-key", "D-1", {"public_key": weak, "sender": GOOD["public_key"]}),
        ("a weak sender before a recovery key that was mistyped", "weak-key", "D-1", {"sender": weak_sender, "recovery": [mistyped]}),
        ("a recovery key that was mistyped before the key id of another", "wrong-checksum", "D-1 D-2", {"recovery": [mistyped], "key_id": "00000000"}),
    ]
    return [
        record_case(name, expected, rules, order, json.dumps(GOOD | changes))
        for name, expected, rules, changes in faults
    ]


def held_cases() -> list[Vector]:
    """What a provider must not take although the record is good."""
    old = "An old record, kept by someone on the path, must not restore an old key."
    app, bound = "A device belongs to one app.", "A high generation must not lock the device out."
    owner, once = "A device belongs to one user.", "A key belongs to one device."
    operator, rollback = "The operator requests it.", "generation-rollback"
    high, mismatch, other_user, taken = "generation-too-high", "topic-mismatch", "user-mismatch", "key-taken"

    def case(name: str, expected: str, rules: str, comment: str, held: Held, **options: object) -> Vector:
        known = {key: value for key, value in options.items() if key in Provider.__dataclass_fields__}
        changes = {key: value for key, value in options.items() if key not in known}
        provider = Provider(held, **known)  # type: ignore[arg-type]
        return record_case(name, expected, rules, comment, json.dumps(GOOD | changes), provider=provider)

    same, other = PHONE.public, TABLET.public
    elsewhere = "com.example.other"
    alices = Held(other, 1, TOPIC, "alice")
    return [
        case("a later generation", "accepted", "D-7", old, Held(other, 1, TOPIC)),
        case("the same generation and key", "accepted", "D-7", old, Held(same, 2, TOPIC)),
        case("a lower generation", rollback, "D-7", old, Held(other, 3, TOPIC)),
        case("a lower generation of the same key", rollback, "D-7", old, Held(same, 3, TOPIC)),
        case("the same generation and another key", rollback, "D-7", old, Held(other, 2, TOPIC)),
        case("no generation where generation 2 is held", rollback, "D-7 D-6", old, Held(other, 2, TOPIC), generation=None),
        case("a lower generation of a device that its operator replaces", "accepted", "D-7", operator, Held(other, 3, TOPIC), is_replaced=True),
        case("another topic than is held", mismatch, "D-8", app, Held(other, 1, elsewhere)),
        case("no topic where one is held", "accepted", "D-8", app, Held(other, 1, elsewhere), topic=None),
        case("a topic where none is held", "accepted", "D-8", app, Held(other, 1, None)),
        case("another topic of a device that its operator replaces", "accepted", "D-8", operator, Held(other, 1, elsewhere), is_replaced=True),
        case("generation 1,024 above the one held", "accepted", "D-18", bound, Held(other, 1, TOPIC), generation=1025),
        case("generation 1,025 above the one held", high, "D-18", bound, Held(other, 1, TOPIC), generation=1026),
        case("the largest generation where generation 1 is held", high, "D-18", bound, Held(other, 1, TOPIC), generation=2**53 - 1),
        case("a first generation of 1,024", "accepted", "D-18", bound, Held(), generation=1024),
        case("a first generation of 1,025", high, "D-18", bound, Held(), generation=1025),
        case("a generation that is too high, of a device that its operator replaces", "accepted", "D-18", operator, Held(other, 1, TOPIC), generation=2**53 - 1, is_replaced=True),
        case("the user who has the device", "accepted", "D-15", owner, alices, user="alice"),
        case("another user than has the device", other_user, "D-15", owner, alices, user="bob"),
        case("another user, by capitals", other_user, "D-15", owner, alices, user="Alice"),
        case("a user where none is held", "accepted", "D-15", owner, Held(other, 1, TOPIC), user="bob"),
        case("no user where one is held", "accepted", "D-15", "The device keeps its user.", alices),
        case("another user of a device that its operator replaces", "accepted", "D-15", operator, alices, user="bob", is_replaced=True),
        case("the key under another id of the same user", "accepted", "D-17", "It moves: the provider removes it there.", Held(), user="alice", elsewhere="alice"),
        case("the key under another id of another user", taken, "D-17", once, Held(), user="bob", elsewhere="alice"),
        case("the key under another id of nobody", taken, "D-17", once, Held(), user="bob", elsewhere=""),
        case("the key under another id, and no users at all", taken, "D-17", once, Held(), elsewhere=""),
        case("the key under another id of the user who has this one", "accepted", "D-17", "It moves.", alices, elsewhere="alice"),
        case("the key under another id of another user, and an operator who replaces", taken, "D-17", once, Held(other, 3, TOPIC), user="bob", elsewhere="alice", is_replaced=True),
        case("another user before a lower generation", other_user, "D-15 D-7", "Two faults; the order of the rules decides.", Held(other, 3, TOPIC, "alice"), user="bob"),
        case("a lower generation before another topic", rollback, "D-7 D-8", "Two faults; the order of the rules decides.", Held(other, 3, elsewhere)),
        case("a generation that is too high before another topic", high, "D-18 D-8", "Two faults; the order of the rules decides.", Held(other, 1, elsewhere), generation=2000),
        case("another topic before a key that is taken", mismatch, "D-8 D-17", "Two faults; the order of the rules decides.", Held(other, 1, elsewhere), elsewhere=""),
    ]


def foreign_cases() -> list[Vector]:
    shows = "Somebody else is trusted there: the record is accepted, and the provider says so."
    provider, second = PROVIDER.public, SECOND_PROVIDER.public

    def case(name: str, *own: bytes, **changes: object) -> Vector:
        known = Provider(own_keys=own)
        return record_case(name, "accepted", "D-22", shows, json.dumps(GOOD | changes), provider=known)

    return [
        case("a sender and a recovery key that the provider has", provider, RECOVERY.public),
        case("a sender that the provider had before", second, provider, RECOVERY.public),
        case("a sender that the provider never had", second, RECOVERY.public),
        case("a recovery key that the provider never had", provider),
        case("one recovery key of two that the provider never had", provider, RECOVERY.public, recovery=SENDER["recovery"]),
        case("a sender and a recovery key that the provider never had", second),
        case("neither sender nor recovery key in the record", second, sender=None, recovery=None),
    ]


def record_cases() -> list[Vector]:
    return [*accepted_cases(), *refused_cases(), *order_cases(), *held_cases(), *foreign_cases()]
