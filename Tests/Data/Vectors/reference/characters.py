"""Characters that texts must not have, or lose: lists of the format, and no tables of Unicode."""

CONTROL = {*range(0x20), *range(0x7F, 0xA0)}
INVISIBLE = {
    *CONTROL, 0xAD, *range(0x600, 0x606), 0x61C, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x180E, *range(0x200B, 0x2010), *range(0x2028, 0x202F),
    *range(0x2060, 0x2065), *range(0x2066, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC), 0x110BD, 0x110CD, *range(0x13430, 0x13440),
    *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), 0xE0001, *range(0xE0020, 0xE0080),
}
# N-4: they turn text round, or take no room. Persian and family emoji need U+200C and U+200D.
DROPPED = {0x061C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF}
LINE_ENDS = {0x2028, 0x2029}


def has_none(text: str, characters: set[int]) -> bool:
    return not any(ord(character) in characters for character in text)


def visible(text: str) -> str:
    return "".join(character for character in text if ord(character) not in DROPPED)


def on_one_line(text: str, length: int) -> str:
    spaced = CONTROL | LINE_ENDS
    return "".join(" " if ord(character) in spaced else character for character in visible(text)[:length])
