"""Sealed files whose chunks are changed, left out, repeated, moved or wrongly ended."""

from reference.attachments import CHUNK_SIZE, SEALED_CHUNK_SIZE
from reference.secretstream import TAG_FINAL

from .attachment_cases import FAILED, LAST, Chunk, open_case, pushed
from .forge import flip
from .material import seed
from .vector import Vector


def chunk_cases() -> list[Vector]:
    sealed_tag, ciphertext, tag = 29, 30, -1
    second = 29 + SEALED_CHUNK_SIZE
    another, _ = pushed((Chunk(), LAST), header=seed("another attachment header")[:24])
    return [
        open_case(
            "the key of another file",
            FAILED,
            "A-23",
            "The last chunk does not open.",
            LAST,
            key=seed("another attachment key"),
        ),
        open_case(
            "a bit of the encrypted tag flipped",
            FAILED,
            "A-23",
            "The last chunk does not open.",
            LAST,
            edit=flip(sealed_tag),
        ),
        open_case(
            "the encrypted tag changed from 0x03 to 0x00",
            FAILED,
            "A-23",
            "The last chunk does not open.",
            LAST,
            edit=lambda data: flip(29, 1)(flip(29)(data)),
        ),
        open_case(
            "a bit of the ciphertext flipped",
            FAILED,
            "A-23",
            "The last chunk does not open.",
            LAST,
            edit=flip(ciphertext),
        ),
        open_case(
            "a bit of the authenticator flipped", FAILED, "A-23", "The last chunk does not open.", LAST, edit=flip(tag)
        ),
        open_case(
            "a bit of the first of two chunks flipped",
            FAILED,
            "A-18",
            "A chunk other than the last does not open.",
            Chunk(),
            LAST,
            edit=flip(ciphertext),
        ),
        open_case(
            "a bit of the second of two chunks flipped",
            FAILED,
            "A-23",
            "The last chunk does not open.",
            Chunk(),
            LAST,
            edit=flip(second + 1),
        ),
        open_case(
            "no associated data",
            FAILED,
            "A-2 A-23",
            "The associated data of each chunk is the first five bytes of the file.",
            Chunk(100, TAG_FINAL, b""),
        ),
        open_case(
            "the magic alone as associated data",
            FAILED,
            "A-2 A-23",
            "The associated data of each chunk is the first five bytes of the file.",
            Chunk(100, TAG_FINAL, b"PCA1"),
        ),
        open_case(
            "no associated data in the last chunk",
            FAILED,
            "A-2 A-23",
            "The associated data of each chunk is the first five bytes of the file.",
            Chunk(),
            Chunk(100, TAG_FINAL, b""),
        ),
        open_case(
            "two chunks exchanged",
            FAILED,
            "A-18",
            "A chunk other than the last does not open.",
            Chunk(),
            Chunk(),
            LAST,
            order=(1, 0, 2),
        ),
        open_case(
            "a chunk missing at the beginning",
            FAILED,
            "A-23",
            "A chunk opens only in its own place.",
            Chunk(),
            LAST,
            order=(1,),
        ),
        open_case(
            "a chunk missing in the middle",
            FAILED,
            "A-23",
            "A chunk opens only in its own place.",
            Chunk(),
            Chunk(),
            LAST,
            order=(0, 2),
        ),
        open_case(
            "a chunk twice",
            FAILED,
            "A-18",
            "A chunk other than the last does not open.",
            Chunk(),
            LAST,
            order=(0, 0, 1),
        ),
        open_case(
            "a chunk of another file under the same key",
            FAILED,
            "A-18",
            "A chunk other than the last does not open.",
            Chunk(),
            LAST,
            edit=lambda data: data[:29] + another[0] + data[29 + SEALED_CHUNK_SIZE :],
        ),
        open_case(
            "a short chunk that is not the last",
            FAILED,
            "A-1 A-23",
            "Every chunk but the last has 65,536 bytes.",
            Chunk(100),
            LAST,
        ),
        open_case(
            "a chunk of 65,537 bytes",
            FAILED,
            "A-18",
            "A chunk other than the last does not open.",
            Chunk(CHUNK_SIZE + 1, TAG_FINAL),
        ),
        open_case(
            "the last byte missing", FAILED, "A-23", "The last chunk does not open.", LAST, edit=lambda data: data[:-1]
        ),
        open_case(
            "one byte more after a short last chunk",
            FAILED,
            "A-23",
            "The last chunk does not open.",
            LAST,
            edit=lambda data: data + b"\x00",
        ),
    ]
