"""Keys as text, key ids, and the public keys that must be refused: Docs/Format.md, "Key ids" and "Keys as text".

Nothing here is constant-time, because Python's integers are not. A secret key's text stays in memory until it is
garbage-collected.
"""
import hashlib

ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
DEVICE_PUBLIC, SENDER_PUBLIC, RECOVERY_PUBLIC = "pcr", "pcs", "pcv"
DEVICE_SECRET, SENDER_SECRET, RECOVERY_SECRET = "pcr-secret-", "pcs-secret-", "pcv-secret-"
SECRETS = (DEVICE_SECRET, SENDER_SECRET, RECOVERY_SECRET)
KINDS = (DEVICE_PUBLIC, SENDER_PUBLIC, RECOVERY_PUBLIC, *SECRETS)
X25519, ED25519, RECOVERY = 0x01, 0x02, 0x04

# The curve edwards25519: -x² + y² = 1 + dx²y² modulo P, and the order L of its large subgroup.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
# The u-coordinates below P for which X25519 gives zero.
SMALL_ORDER_U = (
    0,
    1,
    int.from_bytes(bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"), "little"),
    int.from_bytes(bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"), "little"),
    P - 1,
)


class Refused(Exception):
    """The input is refused. The code is the format's, for the developer's log, never for the user."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def key_id(type, public_key):
    """The 4-byte id of a public key: a hint for lookups, never to be compared instead of the key [K-1]."""
    return hashlib.sha256(b"pushcrypt/1 key id\0" + bytes([type]) + public_key).digest()[:4]


def parse_key(text, kind):
    """Reads the 32 bytes of a key's text [K-4] to [K-8]. A returned public key is safe to use."""
    text = text[:-1] if text.endswith("\n") else text
    alphabet = ALPHABET.upper() if kind in SECRETS else ALPHABET
    of = [other for other in KINDS if text.startswith((other.upper() if other in SECRETS else other) + "1")]
    if not of:
        raise Refused("malformed-key")
    if of[0] != kind:
        raise Refused("wrong-kind-of-key")
    values = [alphabet.find(character) for character in text[len(kind) + 1 :]]
    if len(values) != 58 or -1 in values:
        raise Refused("malformed-key")
    if polymod(kind, values) != 1:
        raise Refused("wrong-checksum")
    if values[51] & 15:
        raise Refused("malformed-key")
    number = 0
    for value in values[:52]:
        number = number << 5 | value
    key = (number >> 4).to_bytes(32, "big")
    if kind == DEVICE_PUBLIC:
        check_device_key(key)
    elif kind in (SENDER_PUBLIC, RECOVERY_PUBLIC):
        check_sender_key(key)
    return key


def key_text(key, kind):
    """Returns the text of a key's 32 bytes. For a secret key it is as secret as the key."""
    number = int.from_bytes(key, "big") << 4
    values = [number >> 5 * place & 31 for place in reversed(range(52))]
    checksum = polymod(kind, values + [0] * 6) ^ 1
    values += [checksum >> 5 * place & 31 for place in reversed(range(6))]
    text = kind + "1" + "".join(ALPHABET[value] for value in values)
    return text.upper() if kind in SECRETS else text


def polymod(prefix, values):
    """The checksum of BIP-173: 1 for a valid text."""
    prefix = prefix.encode()
    checksum = 1
    for value in [byte >> 5 for byte in prefix] + [0] + [byte & 31 for byte in prefix] + values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            if top >> bit & 1:
                checksum ^= generator
    return checksum


def check_device_key(key):
    """Refuses what [K-8] refuses: unreduced numbers, and the five for which X25519 gives zero."""
    u = int.from_bytes(key, "little")
    if u >= P or u in SMALL_ORDER_U:
        raise Refused("weak-key")


def check_sender_key(key):
    """Refuses what [K-7] refuses of sender and recovery keys, by definition: decodes the point and multiplies it by L.

    The other receivers use the shortcut through X25519 that the format describes. The tests verify that both agree.
    """
    y, sign = int.from_bytes(key, "little") & (1 << 255) - 1, key[31] >> 7
    if y >= P:
        raise Refused("weak-key")
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if x * x % P != square or x == 0:
        # No such point, or one of the two with x = 0: the identity and the point of order 2.
        raise Refused("weak-key")
    x = P - x if x & 1 != sign else x
    point, product = (x, y, 1, x * y % P), (0, 1, 1, 0)
    for bit in bin(L)[2:]:
        product = add(product, product)
        if bit == "1":
            product = add(product, point)
    if product[0] != 0 or product[1] != product[2]:
        raise Refused("weak-key")


def add(a, b):
    """The sum of two points (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z: RFC 8032, section 5.1.4."""
    s, t = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    u, v = 2 * D * a[3] * b[3], 2 * a[2] * b[2]
    e, f, g, h = t - s, v - u, v + u, t + s
    return e * f % P, g * h % P, f * g % P, e * h % P
