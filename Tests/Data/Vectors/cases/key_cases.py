"""Text forms and key ids, and the texts that must not be imported."""

from reference import bech32, curve25519, hpke, keys
from reference.keys import KeyRefused, Kind

from .material import (
    COLLIDING_DEVICES,
    PHONE,
    PROVIDER,
    SECOND_PROVIDER,
    SIGNING,
    Device,
    seed,
)
from .vector import Header, Vector, vector

MALFORMED, WRONG_KIND = "malformed-key", "wrong-kind-of-key"

P = curve25519.P

EVERY_KIND = [
    (Kind.DEVICE_PUBLIC, PHONE.public),
    (Kind.PROVIDER_PUBLIC, PROVIDER.public),
    (Kind.DEVICE_SECRET, PHONE.secret),
    (Kind.PROVIDER_SECRET, PROVIDER.seed),
    (Kind.SIGNING_SECRET, SIGNING[0].seed),
]


def little(number: int) -> bytes:
    return number.to_bytes(32, "little")


def valid(name: str, kind: Kind, key: bytes, rules: str, comment: str, ending: str = "") -> Vector:
    text = keys.text_form(kind, key) + ending
    assert keys.import_text(kind, text) == key
    public = {
        Kind.DEVICE_SECRET: hpke.public_key,
        Kind.PROVIDER_SECRET: keys.signature_public_key,
        Kind.SIGNING_SECRET: keys.signature_public_key,
    }
    key_id = {
        Kind.DEVICE_PUBLIC: keys.device_key_id,
        Kind.PROVIDER_PUBLIC: keys.provider_key_id,
    }
    header: list[Header] = [
        ("kind", kind.value),
        ("bytes", key.hex()),
        ("key-id", key_id[kind](key).hex() if kind in key_id else None),
        ("public-key", public[kind](key).hex() if kind in public else None),
    ]
    return vector("keys", name, "accepted", rules, comment, header, text.encode())


def invalid(
    name: str, kind: Kind, expected: str, rules: str, comment: str, text: str, key: bytes | None = None
) -> Vector:
    """`key` is what the text says, where that is the fault."""
    try:
        keys.import_text(kind, text)
    except KeyRefused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        raise AssertionError(f"{name} was imported")
    header: list[Header] = [("kind", kind.value), ("bytes", key.hex() if key is not None else None)]
    return vector("keys", name, expected, rules, comment, header, text.encode())


def valid_cases() -> list[Vector]:
    plain, shared = "A key and its text.", "Two keys share this id; a device makes or imports only one of them."
    ends = "Every 32 bytes are a secret key."
    cases = []
    for name in ("phone", "tablet", "watch"):
        device = Device(seed(f"device {name}"))
        cases.append(valid(f"the {name}'s device key", Kind.DEVICE_SECRET, device.secret, "K-4 K-6", plain))
        cases.append(valid(f"the {name}'s public key", Kind.DEVICE_PUBLIC, device.public, "K-4 K-6 K-8", plain))
    for name, provider in (("provider", PROVIDER), ("second provider", SECOND_PROVIDER)):
        cases.append(valid(f"the {name}'s secret key", Kind.PROVIDER_SECRET, provider.seed, "K-4 K-6", plain))
        cases.append(valid(f"the {name}'s public key", Kind.PROVIDER_PUBLIC, provider.public, "K-4 K-6 K-7", plain))
    for name, signing in (("first", SIGNING[0]), ("second", SIGNING[1])):
        cases.append(valid(f"the {name} signing key", Kind.SIGNING_SECRET, signing.seed, "K-4 K-6", plain))
    same = "The same bytes are another key with another prefix."
    cases.append(valid("a provider's seed as a signing key", Kind.SIGNING_SECRET, PROVIDER.seed, "K-6", same))
    for number, device in enumerate(COLLIDING_DEVICES, 1):
        name = f"a device key whose id another has too, {number} of 2"
        cases.append(valid(name, Kind.DEVICE_PUBLIC, device.public, "K-1 O-3.2", shared))
    for kind in (Kind.DEVICE_SECRET, Kind.PROVIDER_SECRET, Kind.SIGNING_SECRET):
        cases.append(valid(f"{kind.value}: all bytes 0x00", kind, bytes(32), "K-4", ends))
        cases.append(valid(f"{kind.value}: all bytes 0xff", kind, b"\xff" * 32, "K-4", ends))
    assert curve25519.on_twist(2)
    return [
        *cases,
        valid(
            "a u-coordinate on the twist is acceptable to X25519",
            Kind.DEVICE_PUBLIC,
            little(2),
            "K-8",
            "Only the two conditions of the rule apply to a device's key.",
        ),
        valid("the base point of X25519", Kind.DEVICE_PUBLIC, little(9), "K-8", plain),
        valid(
            "the largest u-coordinate but one",
            Kind.DEVICE_PUBLIC,
            little(P - 2),
            "K-8",
            "p - 1 gives zero, p - 2 does not.",
        ),
        valid("the base point of Ed25519", Kind.PROVIDER_PUBLIC, curve25519.encode(curve25519.BASE), "K-7", plain),
        *(
            valid(
                f"{kind.value}: one trailing newline is dropped",
                kind,
                key,
                "K-4",
                "Files of keys end with a newline.",
                "\n",
            )
            for kind, key in EVERY_KIND
        ),
    ]


def text_faults(kind: Kind, key: bytes) -> list[Vector]:
    """One fault in each text; every checksum is right for what precedes it unless the name says otherwise."""
    good = keys.text_form(kind, key)
    groups = bech32.to_groups(key)
    cased = str.upper if kind.is_secret else str.lower

    def spell(prefix: str, changed: list[int], constant: int = bech32.BECH32) -> str:
        return cased(bech32.spell(prefix, changed, constant))

    start = len(kind.prefix) + 1
    last = next(position for position in reversed(range(start, len(good))) if good[position].isalpha())
    changed = "q" if good[-1].lower() != "q" else "p"
    texts = [
        ("mixed case", good[:last] + good[last].swapcase() + good[last + 1 :]),
        ("the wrong case for its kind", good.swapcase()),
        ("31 bytes", spell(kind.prefix, bech32.to_groups(key[:31]))),
        ("33 bytes", spell(kind.prefix, bech32.to_groups(key + b"\x00"))),
        ("no bytes", spell(kind.prefix, [])),
        ("the lowest padding bit set", spell(kind.prefix, [*groups[:-1], groups[-1] | 1])),
        ("the highest padding bit set", spell(kind.prefix, [*groups[:-1], groups[-1] | 8])),
        ("a group too many", spell(kind.prefix, [*groups, 0])),
        ("a group missing", spell(kind.prefix, groups[:-1])),
        ("a space inside", good[:20] + " " + good[20:]),
        ("a newline inside", good[:20] + "\n" + good[20:]),
        ("a leading space", " " + good),
        ("a trailing space", good + " "),
        ("two trailing newlines", good + "\n\n"),
        ("a carriage return before the newline", good + "\r\n"),
        ("a NUL at the end", good + "\x00"),
        ("a character outside the alphabet", good[:20] + cased("b") + good[21:]),
        ("no separator", good.replace("1", "", 1)),
        ("no prefix", good[good.index("1") :]),
        ("the prefix alone", good[:start]),
        ("nothing", ""),
        ("a newline alone", "\n"),
    ]
    checksums = [
        ("a wrong checksum", good[:-1] + cased(changed)),
        (
            "one data character changed",
            good[:start] + cased("q" if good[start].lower() != "q" else "p") + good[start + 1 :],
        ),
        ("two neighbouring characters exchanged", exchange_neighbours(good, start)),
        ("the checksum of Bech32m", spell(kind.prefix, groups, bech32.BECH32M)),
        (
            "a padding bit set under the checksum of none",
            good[: start + 51] + cased(bech32.ALPHABET[groups[-1] | 1]) + good[start + 52 :],
        ),
        ("the checksum of another prefix", spell("bc", groups).replace(cased("bc1"), kind.beginning, 1)),
    ]
    kinds = [
        *(
            (f"a key of the kind {other.value}", WRONG_KIND, keys.text_form(other, its))
            for other, its in EVERY_KIND
            if other is not kind
        ),
        *(
            (f"the beginning of the kind {other.value} and no key", WRONG_KIND, f"{other.beginning}!")
            for other, _ in EVERY_KIND
            if other is not kind
        ),
        *(
            (f"a key of the kind {other.value} in the wrong case", MALFORMED, keys.text_form(other, its).swapcase())
            for other, its in EVERY_KIND
            if other is not kind
        ),
        ("the prefix of a later suite", MALFORMED, spell(kind.prefix[:3] + "z" + kind.prefix[3:], groups)),
        ("the prefix of nothing", MALFORMED, spell("pc", groups)),
    ]
    return [
        *(
            invalid(
                f"{kind.value}: {name}", kind, MALFORMED, "K-4", "A key has one text, and one newline may follow.", text
            )
            for name, text in texts
        ),
        *(
            invalid(f"{kind.value}: {name}", kind, "wrong-checksum", "K-5", "The checksum detects a typing error.", text)
            for name, text in checksums
        ),
        *(
            invalid(f"{kind.value}: {name}", kind, expected, "K-6", "The prefix says what it is.", text)
            for name, expected, text in kinds
        ),
    ]


def exchange_neighbours(text: str, start: int) -> str:
    position = next(index for index in range(start, len(text) - 1) if text[index] != text[index + 1])
    return text[:position] + text[position + 1] + text[position] + text[position + 2 :]


def look_alike_faults() -> list[Vector]:
    """Characters outside ASCII that case mapping, or the eye, takes for letters of the alphabet."""
    public, secret = (
        keys.text_form(Kind.PROVIDER_PUBLIC, PROVIDER.public),
        keys.text_form(Kind.PROVIDER_SECRET, PROVIDER.seed),
    )
    comment = "Only ASCII letters stand for themselves."

    def look_alike(name: str, kind: Kind, text: str) -> Vector:
        return invalid(name, kind, MALFORMED, "K-4", comment, text)

    assert "K" in secret and "s" in public[4:]
    return [
        look_alike("the Kelvin sign, whose lower case is k", Kind.PROVIDER_SECRET, secret.replace("K", "\u212a", 1)),
        look_alike("the long s, whose upper case is S", Kind.PROVIDER_PUBLIC, "pc\u017f" + public[3:]),
        look_alike("a full-width digit one", Kind.PROVIDER_PUBLIC, public.replace("1", "\uff11", 1)),
        look_alike("a Cyrillic es", Kind.PROVIDER_PUBLIC, public.replace("c", "\u0441", 1)),
        look_alike("a byte order mark", Kind.PROVIDER_PUBLIC, "\ufeff" + public),
    ]


def key_cases() -> list[Vector]:
    return [
        *valid_cases(),
        *(fault for kind, key in EVERY_KIND for fault in text_faults(kind, key)),
        *look_alike_faults(),
    ]
