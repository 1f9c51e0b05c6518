"""Full bodies: which plain files are texts that are shown."""

from .vector import Vector, vector

LARGEST = 65_536


def body_cases() -> list[Vector]:
    comment = "A full body is 1 to 65,536 bytes of UTF-8 without a byte order mark. Otherwise the short body is shown."
    cases = [
        ("a text of one letter", "accepted", b"x"),
        ("a text of several lines", "accepted", "첫 줄\nSee you at 8 🚲\n".encode()),
        ("a byte order mark behind the first character", "accepted", "a\ufeffb".encode()),
        ("a text that is a NUL", "accepted", b"\x00"),
        ("the longest text", "accepted", b"x" * LARGEST),
        ("a file of no bytes is no text", "malformed-file", b""),
        ("a text that is one byte too long", "malformed-file", b"x" * (LARGEST + 1)),
        ("a byte order mark in front", "malformed-file", "\ufeffabc".encode()),
        ("a byte that is never UTF-8", "malformed-file", b"a\xffb"),
        ("a character cut off", "malformed-file", "abc🚲".encode()[:-1]),
        ("an overlong form", "malformed-file", b"\xc0\xaf"),
        ("a surrogate in UTF-8", "malformed-file", b"\xed\xa0\xbd"),
        ("a text in UTF-16", "malformed-file", "\ufeffabc".encode("utf-16-be")),
    ]
    return [vector("full-bodies", name, expected, "A-20 A-22", comment, [], plain) for name, expected, plain in cases]
