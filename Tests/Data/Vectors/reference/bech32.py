"""Bech32 (BIP-173) without its limit of 90 characters.

Symbols are in lower case here. Which prefix and which case a kind of key wants is decided in `keys`.
"""

ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
BECH32, BECH32M = 1, 0x2BC830A3


def polymod(values: list[int]) -> int:
    state = 1
    for value in values:
        top = state >> 25
        state = (state & 0x1FFFFFF) << 5 ^ value
        for bit, constant in enumerate(GENERATOR):
            if top >> bit & 1:
                state ^= constant
    return state


def expand(prefix: str) -> list[int]:
    return [ord(character) >> 5 for character in prefix] + [0] + [ord(character) & 31 for character in prefix]


def checksum(prefix: str, groups: list[int], constant: int = BECH32) -> list[int]:
    state = polymod(expand(prefix) + groups + [0] * 6) ^ constant
    return [state >> 5 * (5 - position) & 31 for position in range(6)]


def to_groups(data: bytes) -> list[int]:
    """Groups of five bits, most significant first; the last one is filled up with zeros."""
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    return [int(bits[start : start + 5], 2) for start in range(0, len(bits), 5)]


def from_groups(groups: list[int]) -> bytes | None:
    """The bytes, or None when more than four bits are left over or one of them is set."""
    bits = "".join(f"{group:05b}" for group in groups)
    whole = len(bits) // 8 * 8
    rest = bits[whole:]
    if len(rest) > 4 or "1" in rest:
        return None
    return bytes(int(bits[start : start + 8], 2) for start in range(0, whole, 8))


def spell(prefix: str, groups: list[int], constant: int = BECH32) -> str:
    """The text form of groups that need not be well formed, in lower case."""
    return prefix + "1" + "".join(ALPHABET[group] for group in groups + checksum(prefix, groups, constant))


def encode(prefix: str, data: bytes) -> str:
    return spell(prefix, to_groups(data))


def is_checksum_right(prefix: str, symbols: str) -> bool:
    return polymod(expand(prefix) + [ALPHABET.index(symbol) for symbol in symbols]) == BECH32


def data(symbols: str) -> bytes | None:
    """The bytes before the checksum, or None if padding bits are set."""
    return from_groups([ALPHABET.index(symbol) for symbol in symbols[:-6]])
