"""Records of keys, and what becomes of what a provider holds."""

import json

from reference import keys, records
from reference.keys import Kind
from reference.records import Held, Provider, Refused

from .certificate_cases import GOOD as CERTIFICATE
from .forge import flip
from .material import (
    CHAIN,
    EPOCHS,
    NOW,
    PHONE,
    PROVIDER,
    SECOND_PROVIDER,
    SENT_AT,
    SIGNING,
    STRANGER,
    TABLET,
    TOPIC,
    certify,
    seed,
)
from .vector import Header, Vector, base64url, certificate_text, provider_text, vector

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
    "provider": provider_text(PROVIDER.public),
    "certificate": certificate_text(CERTIFICATE),
    "app_version": "2.3.1",
    "token": "8f3a00ff" * 8,
    "environment": "production",
    "update_key": base64url(SIGNING[4].public),
    "sequence": SENT_AT,
    "nonce": base64url(seed("nonce")[:16]),
    "grant": base64url(seed("grant")),
}
PROVIDERS: dict[str, object] = {
    "public_key": provider_text(PROVIDER.public),
    "key_id": PROVIDER.provider_id.hex(),
    "topic": TOPIC,
    "generation": 3,
    "created": SENT_AT,
    "certificate": certificate_text(CERTIFICATE),
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
        header += [
            ("checked", "yes"),
            ("user", provider.user),
            ("held-key", device_text(held.key) if held.key else None),
            ("held-generation", held.generation if held.key else None),
            ("held-topic", held.topic),
            ("held-user", held.user),
            ("elsewhere", provider.elsewhere if provider.elsewhere != "" else "-"),
            ("replace", "yes" if provider.is_replaced else None),
            ("seals", " ".join(map(str, provider.seals)) if provider.seals else None),
            ("removed", "yes" if provider.is_removed else None),
            *(("provider-has", provider_text(key)) for key in provider.own_keys),
            *(("issued", certificate_text(one)) for one in provider.issued),
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
            ("provider", provider_text(record.provider) if record.provider else None),
            ("certificate", certificate_text(record.certificate) if record.certificate else None),
            ("app-version", record.app_version),
            ("token", record.token),
            ("environment", record.environment),
            ("update-key", record.update_key.hex() if record.update_key else None),
            ("sequence", record.sequence),
            ("nonce", records.from_base64url(record.nonce).hex() if record.nonce else None),
            ("grant", record.grant),
        ]
        if provider and provider.own_keys:
            topic = record.topic or held.topic or TOPIC
            header += [("foreign", member) for member in records.foreign_members(record, provider)]
            header += [("stale", "yes" if records.is_stale(record, provider, topic) else None)]
    return vector("records", name, expected, rules, comment, header, text.encode())


def with_member(name: str, expected: str, rules: str, comment: str, member: str, value: object) -> Vector:
    return record_case(name, expected, rules, comment, json.dumps(GOOD | {member: value}, ensure_ascii=False))


def accepted_cases() -> list[Vector]:
    least = {"public_key": GOOD["public_key"]}
    absent = "Everything but the key may be absent."
    null = {member: None for member in GOOD if member != "public_key"}
    later = GOOD | {"later": [1, {"a": 2}], "apns_token": "00", "push_key": 7, "sender": []}
    return [
        record_case(
            "a device's record", "accepted", "D-1 D-2 D-3 D-4 D-5 D-7 D-8 D-20", "Every member.", json.dumps(GOOD)
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
        with_member("a record of several suites", "accepted", "D-7", "In ascending order.", "suites", [1, 2, 255]),
        with_member(
            "a record of sixteen suites", "accepted", "D-7", "The limit is inclusive.", "suites", list(range(1, 17))
        ),
        with_member("a record of generation 0", "accepted", "D-5", "The limit is inclusive.", "generation", 0),
        with_member("the largest generation", "accepted", "D-5", "The limit is inclusive.", "generation", 2**53 - 1),
        with_member(
            "a device id of 255 bytes", "accepted", "D-20", "The limit is inclusive.", "device", "é" * 127 + "x"
        ),
        with_member("a device id of one character", "accepted", "D-20", "The limit is inclusive.", "device", "1"),
        with_member(
            "a device id with spaces around it", "accepted", "D-20", "It is kept unchanged.", "device", " Anna's phone "
        ),
        with_member(
            "a device id that begins like a key in capitals",
            "accepted",
            "D-20",
            "A public key is written in lower case.",
            "device",
            "PCR1phone",
        ),
        with_member("a token of one byte", "accepted", "D-9", "The limit is inclusive.", "token", "0a"),
        with_member("a token of 100 bytes", "accepted", "D-9", "The limit is inclusive.", "token", "f0" * 100),
        with_member("a token of the development environment", "accepted", "D-10", "One of two.", "environment", "development"),
        with_member("the lowest sequence", "accepted", "D-14", "The limit is inclusive.", "sequence", 1),
        with_member("the largest sequence", "accepted", "D-14", "The limit is inclusive.", "sequence", 2**53 - 2),
        with_member("a nonce of zeros", "accepted", "D-14", "Any 16 bytes.", "nonce", "A" * 22),
        with_member("a record that ends nothing", "accepted", "D-15 D-6", "The member is null.", "ended", None),
        with_member("a grant that is not the text of any bytes", "accepted", "D-11", "It is the relay's.", "grant", "AAAAB"),
        with_member("a grant of one character", "accepted", "D-11", "The limit is inclusive.", "grant", "_"),
        with_member("a grant of 1,024 characters", "accepted", "D-11", "The limit is inclusive.", "grant", "-Az9" * 256),
        *(
            with_member(name, "accepted", rules, "A certificate that is not good counts as absent.", "certificate", value)
            for name, rules, value in [
                ("an empty certificate", "D-12 T-1", ""),
                ("a certificate of 161 characters", "D-12 T-1", certificate_text(CERTIFICATE)[:-1]),
                ("a certificate of 163 characters", "D-12 T-1", certificate_text(CERTIFICATE) + "A"),
                ("a certificate with a newline", "D-12 T-1", certificate_text(CERTIFICATE) + "\n"),
                ("a certificate with padding", "D-12 T-1", certificate_text(CERTIFICATE) + "=="),
                ("a certificate with an unused bit set", "D-12 T-1", raised(certificate_text(CERTIFICATE))),
                ("a certificate with a space in it", "D-12 T-1", " " + certificate_text(CERTIFICATE)[1:]),
                ("a certificate of version 2", "D-12 T-1", base64url(b"\x02" + CERTIFICATE.data[1:])),
                ("a certificate of epoch 0", "D-12 T-1", certificate_text(certify(0, SIGNING[0]))),
                ("a certificate whose floor is above its epoch", "D-12 T-1", certificate_text(certify(1, SIGNING[0], 2, NOW))),
                ("a certificate of a weak signing key", "D-12 T-1 K-7", certificate_text(certify(1, bytes(32)))),
            ]
        ),
        with_member("a certificate that nobody signed", "accepted", "D-12", "Its signature is for the provider to verify.", "certificate", base64url(flip(-1)(CERTIFICATE.data))),
        with_member("a certificate whose signing key is the pin", "accepted", "D-12", "It is for the provider to verify.", "certificate", certificate_text(certify(EPOCHS[0], PROVIDER))),
        with_member("a certificate without a pin", "accepted", "D-12", "Each member is read by itself.", "provider", None),
        with_member("a version of 64 bytes", "accepted", "D-8", "The limit is inclusive.", "app_version", "é" * 32),
        record_case(
            "a provider's record", "accepted", "D-1 D-2", "Every member.", json.dumps(PROVIDERS), Kind.PROVIDER_PUBLIC
        ),
        record_case(
            "a provider's key alone",
            "accepted",
            "D-1 D-6",
            absent,
            json.dumps({"public_key": PROVIDERS["public_key"]}),
            Kind.PROVIDER_PUBLIC,
        ),
        record_case("a provider's record with members of a device's", "accepted", "D-6", "They are not its own.", json.dumps(PROVIDERS | {"token": 7, "device": "", "suites": []}), Kind.PROVIDER_PUBLIC),
    ]


def raised(text: str) -> str:
    """One of the four unused bits of the last character set."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


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
        ("a record of no suite at all", "D-7", "suites", []),
        ("a record of seventeen suites", "D-7", "suites", list(range(1, 18))),
        ("suites in descending order", "D-7", "suites", [2, 1]),
        ("a suite twice", "D-7", "suites", [1, 1]),
        ("suites without the key's own", "D-7", "suites", [2, 3]),
        ("suite 0 among the suites", "D-7", "suites", [0, 1]),
        ("suite 256 among the suites", "D-7", "suites", [1, 256]),
        ("a suite with a fraction among the suites", "D-7", "suites", [1, 2.0]),
        ("a suite that is null among the suites", "D-7", "suites", [1, None]),
        ("suites that are a number", "D-7", "suites", 1),
        ("an empty version", "D-8", "app_version", ""),
        ("a version of 65 bytes", "D-8", "app_version", "é" * 32 + "x"),
        ("a version with a newline", "D-8", "app_version", "2.3\n"),
        ("a version with a control character above ASCII", "D-8", "app_version", "2.3\x85"),
        ("a version that is a number", "D-8", "app_version", 2),
        ("a provider that is an array", "D-1", "provider", []),
        ("a certificate that is a number", "D-12", "certificate", 1),
        ("a certificate that is an array", "D-12", "certificate", [certificate_text(CERTIFICATE)]),
        ("a certificate that is an object", "D-12", "certificate", {"epoch": 1}),
        ("an empty token", "D-9", "token", ""),
        ("a token of half a byte", "D-9", "token", "0a1"),
        ("a token of 101 bytes", "D-9", "token", "f0" * 101),
        ("a token in capitals", "D-9", "token", "0A"),
        ("a token with a space", "D-9", "token", "0a 1b"),
        ("a token with a newline", "D-9", "token", "0a1b\n"),
        ("a token with a digit outside ASCII", "D-9", "token", "\uff11a"),
        ("a token that is a number", "D-9", "token", 12),
        ("another environment", "D-10", "environment", "sandbox"),
        ("an environment in capitals", "D-10", "environment", "Production"),
        ("an empty environment", "D-10", "environment", ""),
        ("an environment that is a number", "D-10", "environment", 1),
        ("an environment with a newline", "D-10", "environment", "production\n"),
        ("an update key that is a number", "D-13", "update_key", 7),
        ("a sequence of 0", "D-14", "sequence", 0),
        ("a negative sequence", "D-14", "sequence", -1),
        ("a sequence of 2^53 - 1 of a record that is no end", "D-14", "sequence", 2**53 - 1),
        ("a sequence of 2^53", "D-14", "sequence", 2**53),
        ("a sequence with a fraction", "D-14", "sequence", 2.0),
        ("a sequence that is a string", "D-14", "sequence", "2"),
        ("an empty nonce", "D-14", "nonce", ""),
        ("a nonce of 21 characters", "D-14", "nonce", "A" * 21),
        ("a nonce of 23 characters", "D-14", "nonce", "A" * 23),
        ("a nonce with padding", "D-14", "nonce", "A" * 22 + "=="),
        ("a nonce with an unused bit set", "D-14", "nonce", "A" * 21 + "B"),
        ("a nonce of the other alphabet", "D-14", "nonce", "+" + "A" * 21),
        ("a nonce with a newline", "D-14", "nonce", "A" * 22 + "\n"),
        ("a nonce that is a number", "D-14", "nonce", 10**21),
        ("a bare record that ends", "D-15", "ended", True),
        ("a bare record that does not end", "D-15", "ended", False),
        ("a bare record whose ended is 1", "D-15", "ended", 1),
        ("an empty grant", "D-11", "grant", ""),
        ("a grant of 1,025 characters", "D-11", "grant", "A" * 1025),
        ("a grant with padding", "D-11", "grant", "QQ=="),
        ("a grant of the other alphabet", "D-11", "grant", "a+b/"),
        ("a grant with a newline", "D-11", "grant", "QQ\n"),
        ("a grant that is an object", "D-11", "grant", {}),
        ("an empty device id", "D-20", "device", ""),
        ("a device id of 256 bytes", "D-20", "device", "é" * 128),
        ("a device id of spaces", "D-20", "device", "  "),
        ("a device id that begins like a key", "D-20", "device", "pcr1phone"),
        ("a device's public key as its id", "D-20", "device", GOOD["public_key"]),
        ("a device id with a newline", "D-20", "device", "phone1\n"),
        ("a device id with a NUL", "D-20", "device", "phone\x001"),
        ("a device id with a control character above ASCII", "D-20", "device", "phone\x85"),
        ("a device id that is a number", "D-20", "device", 7),
        *((f"a device id with the character U+{code:04X}", "D-20", "device", f"phone{chr(code)}1") for code in (0x00AD, 0x061C, 0x180E, 0x200B, 0x200D, 0x202E, 0x2028, 0x2029, 0x2066, 0xFEFF, 0xE0041)),
    ]
    texts: list[tuple[str, str, str, str, object]] = [
        ("a provider's key in the place of the device's", "wrong-kind-of-key", "D-1 K-6", "public_key", PROVIDERS["public_key"]),
        ("a device's key in the place of the provider's", "wrong-kind-of-key", "D-1 K-6", "provider", GOOD["public_key"]),
        ("a device's key that is zero", "weak-key", "D-1 K-8", "public_key", device_text(bytes(32))),
        ("a provider's key that is the identity", "weak-key", "D-1 K-7", "provider", provider_text(b"\x01" + bytes(31))),
        ("a key that was mistyped", "wrong-checksum", "D-1 K-5", "public_key", str(GOOD["public_key"])[:-1] + "q"),
        ("a provider's key that was mistyped", "wrong-checksum", "D-1 K-5", "provider", str(GOOD["provider"])[:-1] + ("q" if str(GOOD["provider"])[-1] != "q" else "p")),
        ("a signing key in the place of the provider's", "wrong-kind-of-key", "D-1 K-6", "provider", keys.text_form(Kind.SIGNING_SECRET, SIGNING[0].seed)),
        ("a key with a space behind it", "malformed-key", "D-1 K-4", "public_key", str(GOOD["public_key"]) + " "),
        ("a key without a known prefix", "malformed-key", "D-1 D-3 D-7 K-6", "public_key", "PCR1" + str(GOOD["public_key"])[4:]),
        ("an empty update key", "malformed-key", "D-13", "update_key", ""),
        ("an update key of 42 characters", "malformed-key", "D-13", "update_key", str(GOOD["update_key"])[:-1]),
        ("an update key with padding", "malformed-key", "D-13", "update_key", str(GOOD["update_key"]) + "="),
        ("an update key with an unused bit set", "malformed-key", "D-13", "update_key", base64url(bytes(32))[:-1] + "B"),
        ("an update key that is a provider's text", "malformed-key", "D-13", "update_key", GOOD["provider"]),
        ("an update key that is the identity", "weak-key", "D-13 K-7", "update_key", base64url(b"\x01" + bytes(31))),
        ("an update key that is no point", "weak-key", "D-13 K-7", "update_key", base64url(b"\xff" * 32)),
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
        ("a suite with an exponent among the suites", "D-7", good.replace('"suites": [1]', '"suites": [1e0]')),
        ("an array of suites in an array", "D-7", good.replace('"suites": [1]', '"suites": [[1]]')),
    ]
    one = "A record with one fault."
    return [
        *(with_member(name, MALFORMED, rules, one, member, value) for name, rules, member, value in faults),
        *(with_member(name, expected, rules, one, member, value) for name, expected, rules, member, value in texts),
        *(record_case(name, MALFORMED, rules, one, text) for name, rules, text in shapes),
        record_case(
            "the key id of another provider's key",
            MALFORMED,
            "D-2",
            one,
            json.dumps(PROVIDERS | {"key_id": SECOND_PROVIDER.provider_id.hex()}),
            Kind.PROVIDER_PUBLIC,
        ),
        record_case(
            "a device's record where a provider's belongs",
            "wrong-kind-of-key",
            "D-1 K-6",
            one,
            good,
            Kind.PROVIDER_PUBLIC,
        ),
        record_case("the key id of a provider's key as if it were a signing key's", MALFORMED, "D-2 K-1", one, json.dumps(PROVIDERS | {"key_id": keys.signing_key_id(PROVIDER.public).hex()}), Kind.PROVIDER_PUBLIC),
        record_case("a provider's certificate that is a number", MALFORMED, "D-12", one, json.dumps(PROVIDERS | {"certificate": 7}), Kind.PROVIDER_PUBLIC),
        record_case("a provider's record of suite 2", MALFORMED, "D-3", one, json.dumps(PROVIDERS | {"suite": 2}), Kind.PROVIDER_PUBLIC),
    ]


def order_cases() -> list[Vector]:
    """Two faults each: which one is reported."""
    order = "Two faults: first what is no text of a key, then those in order, last what follows of the keys."
    weak, weak_provider = device_text(bytes(32)), provider_text(b"\x01" + bytes(31))
    faults: list[tuple[str, str, str, dict[str, object]]] = [
        ("a wrong suite before a weak key", MALFORMED, "D-1 D-3", {"suite": 2, "public_key": weak}),
        ("a bad version before a weak provider", MALFORMED, "D-1 D-8", {"app_version": "", "provider": weak_provider}),
        ("a bad token before a weak key", MALFORMED, "D-1 D-9", {"token": "", "public_key": weak}),
        ("a certificate that is a number before a weak key", MALFORMED, "D-1 D-12", {"certificate": 1, "public_key": weak}),
        ("a weak key before the key id of another", "weak-key", "D-1 D-2", {"public_key": weak}),
        ("a weak key before a provider of the wrong kind", "weak-key", "D-1", {"public_key": weak, "provider": GOOD["public_key"]}),
        ("a key of suite 2 without a known prefix", MALFORMED, "D-3 D-7", {"suite": 2, "suites": [2], "public_key": "pcry1" + str(GOOD["public_key"])[4:]}),
        ("a bad nonce before a weak key", MALFORMED, "D-1 D-14", {"nonce": "", "public_key": weak}),
        ("a weak provider before an update key that is too short", "weak-key", "D-1 D-13", {"provider": weak_provider, "update_key": "A"}),
        ("an update key that is too short before the key id of another", "malformed-key", "D-2 D-13", {"update_key": "A", "key_id": "00000000"}),
        ("a weak provider before the key id of another", "weak-key", "D-1 D-2", {"provider": weak_provider, "key_id": "00000000"}),
        ("a key id of another beside a malformed certificate", MALFORMED, "D-2 D-12", {"certificate": "", "key_id": "00000000"}),
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
        case("a later generation", "accepted", "D-27", old, Held(other, 1, TOPIC)),
        case("the same generation and key", "accepted", "D-27", old, Held(same, 2, TOPIC)),
        case("a lower generation", rollback, "D-27", old, Held(other, 3, TOPIC)),
        case("a lower generation of the same key", rollback, "D-27", old, Held(same, 3, TOPIC)),
        case("the same generation and another key", rollback, "D-27", old, Held(other, 2, TOPIC)),
        case("no generation where generation 2 is held", rollback, "D-27 D-6", old, Held(other, 2, TOPIC), generation=None),
        case("a lower generation of a device that its operator replaces", "accepted", "D-27", operator, Held(other, 3, TOPIC), is_replaced=True),
        case("another topic than is held", mismatch, "D-31", app, Held(other, 1, elsewhere)),
        case("no topic where one is held", "accepted", "D-31", app, Held(other, 1, elsewhere), topic=None),
        case("a topic where none is held", "accepted", "D-31", app, Held(other, 1, None)),
        case("another topic of a device that its operator replaces", "accepted", "D-31", operator, Held(other, 1, elsewhere), is_replaced=True),
        case("generation 1,024 above the one held", "accepted", "D-28", bound, Held(other, 1, TOPIC), generation=1025),
        case("generation 1,025 above the one held", high, "D-28", bound, Held(other, 1, TOPIC), generation=1026),
        case("the largest generation where generation 1 is held", high, "D-28", bound, Held(other, 1, TOPIC), generation=2**53 - 1),
        case("a first generation of 1,024", "accepted", "D-28", bound, Held(), generation=1024),
        case("a first generation of 1,025", high, "D-28", bound, Held(), generation=1025),
        case("a generation that is too high, of a device that its operator replaces", "accepted", "D-28", operator, Held(other, 1, TOPIC), generation=2**53 - 1, is_replaced=True),
        case("the user who has the device", "accepted", "D-22", owner, alices, user="alice"),
        case("another user than has the device", other_user, "D-22", owner, alices, user="bob"),
        case("another user, by capitals", other_user, "D-22", owner, alices, user="Alice"),
        case("a user where none is held", other_user, "D-22", "A session does not take over what the operator added.", Held(other, 1, TOPIC), user="bob"),
        case("a user and the same key where no user is held", other_user, "D-22", "A session does not take over what the operator added.", Held(same, 2, TOPIC), user="bob"),
        case("a user where none is held, and the operator replaces", "accepted", "D-22", operator, Held(other, 1, TOPIC), user="bob", is_replaced=True),
        case("a user where nothing is held", "accepted", "D-22", owner, Held(), user="bob"),
        case("no user and the same key where a user is held", "accepted", "D-22", "The device keeps its user.", Held(same, 2, TOPIC, "alice"), update_key=None),
        case("no user, the same key and an update key where a user is held without", other_user, "D-22", owner, Held(same, 2, TOPIC, "alice")),
        case("no user and another key where a user is held", other_user, "D-22", owner, alices),
        case("no user and another key where a user is held, and the operator replaces", "accepted", "D-22", operator, alices, is_replaced=True),
        case("another user of a device that its operator replaces", "accepted", "D-22", operator, alices, user="bob", is_replaced=True),
        case("the key under another id of the same user", "accepted", "D-32", "It moves: the provider removes it there.", Held(), user="alice", elsewhere="alice"),
        case("the key under another id of another user", taken, "D-32", once, Held(), user="bob", elsewhere="alice"),
        case("the key under another id of nobody", taken, "D-32", once, Held(), user="bob", elsewhere=""),
        case("the key under another id, and no users at all", taken, "D-32", once, Held(), elsewhere=""),
        case("the key under another id of the user who has this one", "accepted", "D-32", "It moves.", alices, user="alice", elsewhere="alice"),
        case("the key under another id of another user, and an operator who replaces", taken, "D-32", once, Held(other, 3, TOPIC), user="bob", elsewhere="alice", is_replaced=True),
        case("another user before a lower generation", other_user, "D-22 D-27", "Two faults; the order of the rules decides.", Held(other, 3, TOPIC, "alice"), user="bob"),
        case("a lower generation before another topic", rollback, "D-27 D-31", "Two faults; the order of the rules decides.", Held(other, 3, elsewhere)),
        case("a generation that is too high before another topic", high, "D-28 D-31", "Two faults; the order of the rules decides.", Held(other, 1, elsewhere), generation=2000),
        case("another topic before a key that is taken", mismatch, "D-31 D-32", "Two faults; the order of the rules decides.", Held(other, 1, elsewhere), elsewhere=""),
    ]


def removed_cases() -> list[Vector]:
    """D-38: a device that was removed, and comes back under its id."""
    bound = "What was learned of the device still binds its id."
    again, mine, rollback = Held(TABLET.public, 1, TOPIC, "alice"), "alice", "generation-rollback"

    def case(name: str, expected: str, rules: str, held: Held, user: str | None, **options: object) -> Vector:
        changes = {key: value for key, value in options.items() if key in GOOD}
        known = {key: value for key, value in options.items() if key not in GOOD}
        provider = Provider(held, user=user, is_removed=True, **known)  # type: ignore[arg-type]
        return record_case(name, expected, f"D-38 {rules}", bound, json.dumps(GOOD | changes), provider=provider)

    return [
        case("a removed device comes back with its user", "accepted", "D-22 D-27", again, mine),
        case("a removed device comes back with its key and its user", "accepted", "D-27", Held(PHONE.public, 2, TOPIC, "alice"), mine),
        case("a removed device comes back with another user", "user-mismatch", "D-22", again, "bob"),
        case("a removed device comes back without a user", "user-mismatch", "D-22", again, None),
        case("a removed device comes back with generation 1", rollback, "D-27", Held(TABLET.public, 5, TOPIC, "alice"), mine, generation=1),
        case("a removed device comes back with its generation and another key", rollback, "D-27", Held(TABLET.public, 2, TOPIC, "alice"), mine),
        case("a removed device comes back with another user, and the operator replaces", "accepted", "D-22", again, "bob", is_replaced=True),
        case("a removed device comes back with a lower generation, and the operator replaces", "accepted", "D-27", Held(TABLET.public, 5, TOPIC, "alice"), mine, is_replaced=True),
        case("a removed device comes back with its key and without a user", "accepted", "D-22", Held(PHONE.public, 2, TOPIC, "alice"), None, update_key=None),
        case("a removed device of nobody comes back with a user", "user-mismatch", "D-22", Held(TABLET.public, 1, TOPIC), "bob"),
        case("a removed device of nobody comes back without a user", "accepted", "D-22", Held(TABLET.public, 1, TOPIC), None),
        case("a removed device comes back for another app", "accepted", "D-31", Held(TABLET.public, 1, "com.example.other", "alice"), mine),
    ]


def foreign_cases() -> list[Vector]:
    shows = "Somebody else is trusted there: the record is accepted, and the provider says so."
    provider, second = PROVIDER.public, SECOND_PROVIDER.public

    def case(name: str, *own: bytes, **changes: object) -> Vector:
        known = Provider(own_keys=own, issued=(CERTIFICATE,))
        return record_case(name, "accepted", "D-35", shows, json.dumps(GOOD | changes), provider=known)

    return [
        case("a provider key that the provider has", provider),
        case("a provider key that the provider had before", second, provider, certificate=None),
        case("a provider key that the provider never had", second, certificate=None),
        case("a provider key that the provider never had, with its certificate", second),
        case("no provider key in the record", second, provider=None, certificate=None),
    ]


def stale_cases() -> list[Vector]:
    """D-36: what a record's certificate proves."""
    proves = "It verifies and was never issued here: the store is an old copy, or the provider key was stolen."
    nothing = "It proves nothing."
    other_claim = certify(CHAIN[1].epoch, SIGNING[4])
    again = certify(CHAIN[1].epoch, SIGNING[1], nonce=12345)

    def case(name: str, one: object, comment: str = nothing, issued: int = 2, **changes: object) -> Vector:
        known = Provider(own_keys=(PROVIDER.public,), issued=tuple(CHAIN[:issued]))
        text = one if isinstance(one, str) else certificate_text(one)  # type: ignore[arg-type]
        return record_case(name, "accepted", "D-36 T-2", comment, json.dumps(GOOD | {"certificate": text} | changes), provider=known)

    cases = [
        case("the certificate that was issued last", CHAIN[1]),
        case("a certificate that was issued before", CHAIN[0]),
        case("a certificate that was issued, with another signature", again),
        case("a certificate of a later epoch that was never issued", CHAIN[2], proves),
        case("a certificate of an epoch between two that were issued", certify(CHAIN[0].epoch + 1, SIGNING[4]), proves),
        case("a certificate of another claim for an epoch that was issued", other_claim, proves),
        case("a certificate at epoch 0", CHAIN[0], proves, issued=0),
        case("a certificate that was never issued, without a pin", CHAIN[3], proves, provider=None),
        case("a certificate of a stranger", certify(CHAIN[2].epoch, SIGNING[0], provider=STRANGER)),
        case("a certificate for another app", certify(CHAIN[2].epoch, SIGNING[0], topic="com.example.other")),
        case("a certificate that was changed", base64url(flip(24)(CHAIN[2].data))),
        case("a certificate with the provider key as its signing key", certify(CHAIN[2].epoch, PROVIDER)),
        case("a certificate at the floor that was never issued, and the floor is the current epoch", certify(CHAIN[3].epoch, SIGNING[2], CHAIN[3].epoch), proves, issued=4),
        case("a certificate below the floor that was never issued", certify(CHAIN[3].epoch - 1, SIGNING[2]), "What is below the floor has ended.", issued=4),
        case("a malformed certificate", certify(CHAIN[2].epoch, SIGNING[0], 0, 0)),
    ]
    assert [one.values("stale") for one in cases].count(["yes"]) == 6
    return cases


def record_cases() -> list[Vector]:
    return [
        *accepted_cases(),
        *refused_cases(),
        *order_cases(),
        *held_cases(),
        *removed_cases(),
        *foreign_cases(),
        *stale_cases(),
    ]
