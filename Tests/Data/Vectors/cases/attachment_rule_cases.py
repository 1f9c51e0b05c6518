"""Sealed files whose chunks open, but whose tags, end, size or hash are wrong."""

from reference.attachments import PREFIX, SEALED_CHUNK_SIZE
from reference.secretstream import TAG_FINAL, TAG_MESSAGE, TAG_PUSH, TAG_REKEY

from .attachment_cases import (
    FAILED,
    HEADER,
    LAST,
    MALFORMED,
    TRUNCATED,
    WHOLE_LAST,
    WRONG_HASH,
    WRONG_SIZE,
    Chunk,
    open_case,
    pushed,
)
from .forge import flip
from .material import seed
from .vector import Vector


def rule_cases() -> list[Vector]:
    def tagged(tag: int) -> Chunk:
        return Chunk(100, tag)

    return [
        open_case(
            "the only chunk has the tag 0x00", TRUNCATED, "A-24", "The end of the file is missing.", tagged(TAG_MESSAGE)
        ),
        open_case(
            "the last chunk missing", TRUNCATED, "A-24", "The end of the file is missing.", Chunk(), LAST, order=(0,)
        ),
        open_case(
            "two whole chunks and no last one", TRUNCATED, "A-24", "The end of the file is missing.", Chunk(), Chunk()
        ),
        open_case(
            "16 bytes left of the last chunk",
            TRUNCATED,
            "A-22",
            "A chunk has 17 bytes at least.",
            Chunk(),
            LAST,
            edit=lambda data: data[: 29 + SEALED_CHUNK_SIZE + 16],
        ),
        open_case(
            "the tag PUSH on the only chunk",
            MALFORMED,
            "A-2 A-25",
            "The last chunk has the tag FINAL.",
            tagged(TAG_PUSH),
        ),
        open_case(
            "the tag REKEY on the only chunk",
            MALFORMED,
            "A-2 A-25",
            "The last chunk has the tag FINAL.",
            tagged(TAG_REKEY),
        ),
        open_case(
            "the tag 0x04 on the only chunk", MALFORMED, "A-2 A-25", "The last chunk has the tag FINAL.", tagged(0x04)
        ),
        open_case(
            "the tag 0x83 on the only chunk", MALFORMED, "A-2 A-25", "The last chunk has the tag FINAL.", tagged(0x83)
        ),
        open_case(
            "the tag PUSH on the first chunk",
            MALFORMED,
            "A-2 A-19",
            "Every chunk but the last has the tag MESSAGE.",
            Chunk(tag=TAG_PUSH),
            LAST,
        ),
        open_case(
            "the tag REKEY on the first chunk",
            MALFORMED,
            "A-2 A-19",
            "Every chunk but the last has the tag MESSAGE.",
            Chunk(tag=TAG_REKEY),
            LAST,
        ),
        open_case("a chunk after FINAL", MALFORMED, "A-19", "FINAL is the last chunk.", WHOLE_LAST, LAST),
        open_case(
            "an empty chunk after FINAL", MALFORMED, "A-19", "FINAL is the last chunk.", WHOLE_LAST, Chunk(0, TAG_FINAL)
        ),
        open_case(
            "one byte after FINAL",
            MALFORMED,
            "A-19",
            "FINAL is the last chunk.",
            WHOLE_LAST,
            edit=lambda data: data + b"\x00",
        ),
        open_case(
            "an empty last chunk after a whole one",
            MALFORMED,
            "A-1 A-25",
            "A file that is not empty has no empty chunk.",
            Chunk(),
            Chunk(0, TAG_FINAL),
        ),
    ]


def agreement_cases() -> list[Vector]:
    """Whole, correctly sealed files that do not match the reference."""
    another, _ = pushed((LAST,), header=seed("another attachment header")[:24])
    prefix = PREFIX + seed("another attachment header")[:24]
    meant, _ = pushed((LAST,))
    return [
        open_case(
            "one byte less than the reference says",
            WRONG_SIZE,
            "A-21",
            "The reference states the number of bytes.",
            LAST,
            more=1,
        ),
        open_case(
            "one byte more than the reference says",
            WRONG_SIZE,
            "A-20",
            "No byte comes after the size of the reference.",
            LAST,
            more=-1,
        ),
        open_case(
            "two whole chunks where the reference says one",
            WRONG_SIZE,
            "A-20",
            "No byte comes after the size of the reference.",
            Chunk(),
            WHOLE_LAST,
            size=29 + SEALED_CHUNK_SIZE,
        ),
        open_case(
            "the end missing, and the size that of the whole",
            WRONG_SIZE,
            "A-21",
            "The reference states the number of bytes.",
            Chunk(),
            LAST,
            order=(0,),
            more=117,
        ),
        open_case(
            "another file under the same key",
            WRONG_HASH,
            "A-26",
            "Anyone with the key can seal another file; the hash is signed.",
            edit=lambda _: prefix + another[0],
            hashed=PREFIX + HEADER + meant[0],
        ),
        open_case(
            "a hash with one bit changed",
            WRONG_HASH,
            "A-26",
            "Anyone with the key can seal another file; the hash is signed.",
            LAST,
            hashed=b"another file",
        ),
        open_case(
            "the hash of the empty string",
            WRONG_HASH,
            "A-26",
            "Anyone with the key can seal another file; the hash is signed.",
            Chunk(),
            LAST,
            hashed=b"",
        ),
        open_case(
            "a fault in the first chunk, and one byte more than the reference says: the first is reported",
            FAILED,
            "A-18 A-20",
            "Two faults; the first one in the file decides the code.",
            Chunk(),
            LAST,
            edit=flip(30),
            more=-1,
        ),
        open_case(
            "a fault in the last chunk, and one byte more than the reference says: the size is reported",
            WRONG_SIZE,
            "A-20 A-23",
            "Two faults; the first one in the file decides the code.",
            LAST,
            edit=flip(30),
            more=-1,
        ),
        open_case(
            "a fault in the last chunk, and a wrong hash: the chunk is reported",
            FAILED,
            "A-23 A-26",
            "Two faults; the first one in the file decides the code.",
            LAST,
            edit=flip(30),
            hashed=b"",
        ),
    ]


def open_cases() -> list[Vector]:
    return [*rule_cases(), *agreement_cases()]
