"""Sealed files of attachments: valid ones, and faults before the first chunk.

A sealed file with whole chunks is long, so its plain chunks are chosen for their ciphertext to be zero bytes, of which
a vector gives only the number.
"""

import hashlib
from typing import NamedTuple

from reference import attachments
from reference.attachments import CHUNK_SIZE, PREFIX, SEALED_CHUNK_SIZE, Refused, SealedFile
from reference.secretstream import TAG_FINAL, TAG_MESSAGE, Stream

from . import witness
from .forge import Edit, flip, unchanged
from .material import seed
from .vector import Header, Vector, vector

KEY = seed("attachment key")
HEADER = seed("attachment header")[:24]

NOT_SEALED, FAILED, MALFORMED = "not-a-sealed-file", "authentication-failed", "malformed-file"
TRUNCATED, WRONG_SIZE, WRONG_HASH = "truncated-file", "wrong-size", "wrong-hash"


class Chunk(NamedTuple):
    """A chunk whose ciphertext is this many zero bytes."""

    size: int = CHUNK_SIZE
    tag: int = TAG_MESSAGE
    data: bytes = PREFIX


LAST = Chunk(100, TAG_FINAL)
WHOLE_LAST = Chunk(CHUNK_SIZE, TAG_FINAL)


def pushed(chunks: tuple[Chunk, ...], key: bytes = KEY, header: bytes = HEADER) -> tuple[list[bytes], bytes]:
    """The sealed chunks one by one, and the plain file."""
    stream, plain, sealed = Stream(key, header), [], []
    for chunk in chunks:
        plain.append(stream.plain_of(bytes(chunk.size)))
        sealed.append(stream.push(plain[-1], chunk.tag, chunk.data))
    pushes = [(piece, chunk.tag, chunk.data) for piece, chunk in zip(plain, chunks, strict=True)]
    assert b"".join(sealed) == witness.push_all(key, header, pushes)
    return sealed, b"".join(plain)


def open_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    *chunks: Chunk,
    order: tuple[int, ...] | None = None,
    prefix: bytes = PREFIX,
    header: bytes = HEADER,
    key: bytes = KEY,
    edit: Edit = unchanged,
    size: int | None = None,
    more: int = 0,
    hashed: bytes | None = None,
) -> Vector:
    """A file with one fault at most.

    `order` reorders sealed chunks. `prefix`, `header` and `key` are the start of the file and the reference's key,
    independent of the sealing. `edit` changes the file. The reference has the size (or `size`, or `more` bytes more)
    and the hash of the resulting file, or of `hashed`.
    """
    sealed, plain = pushed(chunks)
    sealed = [sealed[index] for index in order] if order is not None else sealed
    data = edit(prefix + header + b"".join(sealed))
    file = SealedFile(
        key, (len(data) if size is None else size) + more, hashlib.sha256(data if hashed is None else hashed).digest()
    )
    lines: list[Header] = [("key", file.key.hex()), ("size", file.size), ("sha256", file.sha256.hex())]
    try:
        opened = attachments.open_file(data, file)
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "opened" and opened == plain, name
        assert b"".join(witness.pull_all(key, data[len(PREFIX) :], PREFIX, SEALED_CHUNK_SIZE)) == plain
        lines += [("plain-size", len(plain)), ("plain-sha256", hashlib.sha256(plain).hexdigest())]
    return vector("attachments", name, expected, rules, comment, lines, data)


def opened_cases() -> list[Vector]:
    return [
        open_case("an empty file", "opened", "A-1 A-2 A-25", "A file as a sealer makes it.", Chunk(0, TAG_FINAL)),
        open_case("a file of one byte", "opened", "A-1 A-2 A-25", "A file as a sealer makes it.", Chunk(1, TAG_FINAL)),
        open_case(
            "one byte less than a chunk",
            "opened",
            "A-1 A-2 A-25",
            "A file as a sealer makes it.",
            Chunk(CHUNK_SIZE - 1, TAG_FINAL),
        ),
        open_case("exactly one chunk", "opened", "A-1 A-2 A-25", "A file as a sealer makes it.", WHOLE_LAST),
        open_case(
            "one byte more than a chunk",
            "opened",
            "A-1 A-2 A-25",
            "A file as a sealer makes it.",
            Chunk(),
            Chunk(1, TAG_FINAL),
        ),
        open_case("exactly two chunks", "opened", "A-1 A-2 A-25", "A file as a sealer makes it.", Chunk(), WHOLE_LAST),
        open_case(
            "three chunks and a bit",
            "opened",
            "A-1 A-2 A-25",
            "A file as a sealer makes it.",
            Chunk(),
            Chunk(),
            Chunk(),
            LAST,
        ),
    ]


def beginning_cases() -> list[Vector]:
    return [
        open_case(
            "a changed magic", NOT_SEALED, "A-17", "The first five bytes of a sealed file.", LAST, prefix=b"PCA2\x10"
        ),
        open_case(
            "a changed magic, sealed with it as associated data",
            NOT_SEALED,
            "A-17",
            "The first five bytes of a sealed file.",
            Chunk(100, TAG_FINAL, b"PCA2\x10"),
            prefix=b"PCA2\x10",
        ),
        open_case(
            "chunks of 2^15 bytes, sealed with that as associated data",
            NOT_SEALED,
            "A-17",
            "The first five bytes of a sealed file.",
            Chunk(100, TAG_FINAL, b"PCA1\x0f"),
            prefix=b"PCA1\x0f",
        ),
        open_case(
            "a file that was not sealed",
            NOT_SEALED,
            "A-17",
            "The first five bytes of a sealed file.",
            edit=lambda _: b"GIF89a" + bytes(194),
        ),
        open_case(
            "a changed stream header",
            FAILED,
            "A-23",
            "The header of the stream takes part in its key and nonce.",
            LAST,
            header=flip(0)(HEADER),
        ),
        open_case(
            "a stream header changed at its end",
            FAILED,
            "A-23",
            "The header of the stream takes part in its key and nonce.",
            LAST,
            header=flip(-1, 7)(HEADER),
        ),
        open_case("the header alone", WRONG_SIZE, "A-21", "The reference states the number of bytes.", order=(), size=46),
        open_case(
            "no bytes at all",
            WRONG_SIZE,
            "A-21",
            "The reference states the number of bytes.",
            edit=lambda _: b"",
            size=46,
        ),
        open_case(
            "one byte less than the smallest file",
            WRONG_SIZE,
            "A-21",
            "The reference states the number of bytes.",
            Chunk(0, TAG_FINAL),
            edit=lambda data: data[:-1],
            size=46,
        ),
    ]


def open_cases() -> list[Vector]:
    return [*opened_cases(), *beginning_cases()]
