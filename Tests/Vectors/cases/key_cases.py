"""keys.json: text forms and key ids, and the texts that must not be imported."""

from math import gcd

from reference import bech32, curve25519, hpke, keys
from reference.keys import KeyRefused, Kind

from .hpke_cases import zero_result_points
from .material import COLLIDING_DEVICES, COLLIDING_SENDERS, PHONE, PROVIDER, Case, Device, Sender, seed

P = curve25519.P


def little(number: int) -> bytes:
    return number.to_bytes(32, "little")


def valid(name: str, kind: Kind, key: bytes) -> Case:
    text = keys.text_form(kind, key)
    assert keys.import_text(kind, text) == key
    case = {"name": name, "kind": kind.value, "bytes": key.hex(), "text": text}
    if kind is Kind.DEVICE_SECRET:
        case["public"] = hpke.public_key(key).hex()
    elif kind is Kind.SENDER_SECRET:
        case["public"] = keys.sender_public_key(key).hex()
    elif kind is Kind.DEVICE_PUBLIC:
        case["keyID"] = keys.device_key_id(key).hex()
    else:
        case["keyID"] = keys.sender_key_id(key).hex()
    return case


def invalid(name: str, kind: Kind, fault: str, text: str, key: bytes | None = None) -> Case:
    try:
        keys.import_text(kind, text)
    except KeyRefused as error:
        assert error.args == (fault,), (name, error.args)
    else:
        raise AssertionError(f"{name} was imported")
    case = {"name": name, "kind": kind.value, "fault": fault, "text": text}
    return case if key is None else case | {"bytes": key.hex()}


def valid_cases() -> list[Case]:
    cases = []
    for name in ("phone", "tablet", "watch"):
        device = Device(seed(f"device {name}"))
        cases.append(valid(f"the {name}'s device key", Kind.DEVICE_SECRET, device.secret))
        cases.append(valid(f"the {name}'s public key", Kind.DEVICE_PUBLIC, device.public))
    for name in ("provider", "second provider"):
        sender = Sender(seed(f"sender {name}"))
        cases.append(valid(f"the {name}'s signing seed", Kind.SENDER_SECRET, sender.seed))
        cases.append(valid(f"the {name}'s public key", Kind.SENDER_PUBLIC, sender.public))
    for number, device in enumerate(COLLIDING_DEVICES, 1):
        cases.append(valid(f"a device key whose id another has too, {number} of 2", Kind.DEVICE_PUBLIC, device.public))
    for number, sender in enumerate(COLLIDING_SENDERS, 1):
        cases.append(valid(f"a sender key whose id another has too, {number} of 2", Kind.SENDER_PUBLIC, sender.public))
    for kind in (Kind.DEVICE_SECRET, Kind.SENDER_SECRET):
        cases.append(valid(f"{kind.value}: all bytes 0x00", kind, bytes(32)))
        cases.append(valid(f"{kind.value}: all bytes 0xff", kind, b"\xff" * 32))
    assert curve25519.on_twist(2)
    cases.append(valid("a u-coordinate on the twist is acceptable to X25519", Kind.DEVICE_PUBLIC, little(2)))
    cases.append(valid("the base point of X25519", Kind.DEVICE_PUBLIC, little(9)))
    cases.append(valid("the base point of Ed25519", Kind.SENDER_PUBLIC, curve25519.encode(curve25519.BASE)))
    trailing = valid("one trailing newline is dropped", Kind.DEVICE_PUBLIC, PHONE.public)
    trailing["text"] += "\n"
    assert keys.import_text(Kind.DEVICE_PUBLIC, trailing["text"]) == PHONE.public
    return [*cases, trailing]


def text_faults(kind: Kind, key: bytes) -> list[Case]:
    """One fault in each text; every checksum is right for what precedes it unless the name says otherwise."""
    good = keys.text_form(kind, key)
    groups = bech32.to_groups(key)
    cased = str.upper if kind.is_secret else str.lower
    other = {
        Kind.DEVICE_PUBLIC: Kind.SENDER_PUBLIC,
        Kind.SENDER_PUBLIC: Kind.DEVICE_PUBLIC,
        Kind.DEVICE_SECRET: Kind.SENDER_SECRET,
        Kind.SENDER_SECRET: Kind.DEVICE_SECRET,
    }[kind]
    half = {
        Kind.DEVICE_PUBLIC: Kind.DEVICE_SECRET,
        Kind.SENDER_PUBLIC: Kind.SENDER_SECRET,
        Kind.DEVICE_SECRET: Kind.DEVICE_PUBLIC,
        Kind.SENDER_SECRET: Kind.SENDER_PUBLIC,
    }[kind]

    def spell(prefix: str, changed: list[int], constant: int = bech32.BECH32) -> str:
        return cased(bech32.spell(prefix, changed, constant))

    start = len(kind.prefix) + 1
    last = next(position for position in reversed(range(start, len(good))) if good[position].isalpha())
    changed = "q" if good[-1].lower() != "q" else "p"
    texts = [
        ("a wrong checksum", good[:-1] + cased(changed)),
        (
            "one data character changed",
            good[:start] + cased("q" if good[start].lower() != "q" else "p") + good[start + 1 :],
        ),
        ("two neighbouring characters exchanged", exchange_neighbours(good, start)),
        ("the checksum of Bech32m", spell(kind.prefix, groups, bech32.BECH32M)),
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
    cases = [invalid(f"{kind.value}: {name}", kind, "text", text) for name, text in texts]
    kinds = [
        ("another owner's key", keys.text_form(other, PROVIDER.public if other is Kind.SENDER_PUBLIC else key)),
        ("the other half of the pair", keys.text_form(half, key)),
        ("the prefix of a later suite", spell(kind.prefix[:3] + "x" + kind.prefix[3:], groups)),
        ("the prefix of nothing", spell("pc", groups)),
    ]
    return cases + [invalid(f"{kind.value}: {name}", kind, "kind", text) for name, text in kinds]


def exchange_neighbours(text: str, start: int) -> str:
    position = next(index for index in range(start, len(text) - 1) if text[index] != text[index + 1])
    return text[:position] + text[position + 1] + text[position] + text[position + 2 :]


def look_alike_faults() -> list[Case]:
    """Characters outside ASCII that case mapping, or the eye, takes for letters of the alphabet."""
    public, secret = (
        keys.text_form(Kind.SENDER_PUBLIC, PROVIDER.public),
        keys.text_form(Kind.SENDER_SECRET, PROVIDER.seed),
    )
    assert "K" in secret and "s" in public[4:]
    return [
        invalid("the Kelvin sign, whose lower case is k", Kind.SENDER_SECRET, "text", secret.replace("K", "\u212a", 1)),
        invalid("the long s, whose upper case is S", Kind.SENDER_PUBLIC, "text", "pc\u017f" + public[3:]),
        invalid("a full-width digit one", Kind.SENDER_PUBLIC, "text", public.replace("1", "\uff11", 1)),
        invalid("a Cyrillic es", Kind.SENDER_PUBLIC, "text", public.replace("c", "\u0441", 1)),
        invalid("a byte order mark", Kind.SENDER_PUBLIC, "text", "\ufeff" + public),
    ]


def device_key_faults() -> list[Case]:
    points = [
        *zero_result_points(),
        ("the base point with p added", little(9 + P)),
        ("p + 2", little(P + 2)),
        ("2^255 - 1", little(2**255 - 1)),
        ("2^256 - 1", little(2**256 - 1)),
        ("a good key with bit 255 set", little(int.from_bytes(PHONE.public, "little") | curve25519.SIGN)),
    ]
    kind = Kind.DEVICE_PUBLIC
    return [invalid(f"X25519: {name}", kind, "key", keys.text_form(kind, point), point) for name, point in points]


def sender_key_faults() -> list[Case]:
    kind = Kind.SENDER_PUBLIC
    torsion = curve25519.torsion()
    orders = [8 // gcd(8, number) for number in range(8)]
    small = [
        (f"small order {order}, {number} times the generator of the eight", curve25519.encode(point))
        for number, (order, point) in enumerate(zip(orders, torsion, strict=True))
    ]
    small_again = [
        ("small order, not canonical: the identity with the sign of x set", little(1 | curve25519.SIGN)),
        ("small order, not canonical: the point of order 2 with the sign of x set", little(P - 1 | curve25519.SIGN)),
        ("small order, not canonical: y = p, which is 0, of order 4", little(P)),
        ("small order, not canonical: y = p with the sign of x set", little(P | curve25519.SIGN)),
        ("small order, not canonical: y = p + 1, which is the identity", little(P + 1)),
        ("small order, not canonical: y = p + 1 with the sign of x set", little(P + 1 | curve25519.SIGN)),
    ]

    # p + 2 … p + 18 are the other encodings of what is not below p. Those on the curve all have a part of small order:
    # no key exists that only the check of canonicity refuses.
    non_canonical = []
    for y in range(2, 19):
        for odd in (False, True):
            x = curve25519.recover_x(y, odd)
            if x is not None:
                assert not curve25519.has_prime_order((x, y))
                name = f"not canonical: y = p + {y}, x {'odd' if odd else 'even'}"
                non_canonical.append((name, little(P + y | (curve25519.SIGN if odd else 0))))

    off_curve = next(y for y in range(2, P) if curve25519.recover_x(y, False) is None)
    good = curve25519.decode(PROVIDER.public)
    assert good
    mixed = [
        (
            f"mixed order: a good key plus a point of order {order}, {number} times the generator of the eight",
            curve25519.encode(curve25519.add(good, point)),
        )
        for number, (order, point) in enumerate(zip(orders, torsion, strict=True))
        if order > 1
    ]
    x, y = good
    assert mixed[3][1] == curve25519.encode((-x % P, -y % P))
    # L times this key has the x of the identity, which is all that the check with the fault looks at.
    assert curve25519.multiply(curve25519.L, (-x % P, -y % P))[0] == 0
    mixed[3] = (
        "mixed order: a good key (x, y) made (-x, -y), which adds the point of order 2 (CVE-2025-69277)",
        mixed[3][1],
    )
    points = [
        *small,
        *small_again,
        *non_canonical,
        ("no point on the curve", little(off_curve)),
        ("no point on the curve, x odd", little(off_curve | curve25519.SIGN)),
        *mixed,
    ]
    return [invalid(f"Ed25519: {name}", kind, "key", keys.text_form(kind, point), point) for name, point in points]


def document() -> dict[str, list[Case]]:
    faults = []
    for kind, key in (
        (Kind.DEVICE_PUBLIC, PHONE.public),
        (Kind.SENDER_PUBLIC, PROVIDER.public),
        (Kind.DEVICE_SECRET, PHONE.secret),
        (Kind.SENDER_SECRET, PROVIDER.seed),
    ):
        faults += text_faults(kind, key)
    return {
        "valid": valid_cases(),
        "invalid": [*faults, *look_alike_faults(), *device_key_faults(), *sender_key_faults()],
    }
