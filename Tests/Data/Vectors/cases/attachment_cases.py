"""Sealed files of attachments: valid ones, and faults before the first chunk.

A sealed file with whole chunks is long, so its plain chunks are chosen for their ciphertext to be zero bytes, of which
a vector gives only the number.
"""

import hashlib
from typing import NamedTuple

from reference import attachments
from reference.attachments import CHUNK_SIZE, OVERHEAD, PREFIX, Refused, SealedFile, nonce

from . import witness
from .forge import Edit, flip, put, unchanged
from .material import seed
from .vector import Header, Vector, vector

KEY = seed("attachment key")

NOT_SEALED, FAILED = "not-a-sealed-file", "authentication-failed"
WRONG_SIZE, WRONG_HASH = "wrong-size", "wrong-hash"


class Chunk(NamedTuple):
    """A chunk whose ciphertext is this many zero bytes. Without a nonce it has that of its place."""

    size: int = CHUNK_SIZE
    nonce: bytes | None = None
    data: bytes = PREFIX


LAST = Chunk(100)


def sealed_chunks(chunks: tuple[Chunk, ...], key: bytes = KEY) -> tuple[list[bytes], bytes]:
    """The sealed chunks one by one, and the plain file."""
    plain, sealed = [], []
    for index, chunk in enumerate(chunks):
        at = nonce(index, index == len(chunks) - 1) if chunk.nonce is None else chunk.nonce
        plain.append(witness.seal_chunk(key, at, bytes(chunk.size), chunk.data)[:-OVERHEAD])
        sealed.append(witness.seal_chunk(key, at, plain[-1], chunk.data))
        assert sealed[-1].startswith(bytes(chunk.size))
    return sealed, b"".join(plain)


def open_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    *chunks: Chunk,
    order: tuple[int, ...] | None = None,
    prefix: bytes = PREFIX,
    key: bytes = KEY,
    edit: Edit = unchanged,
    size: int | None = None,
    more: int = 0,
    hashed: bytes | None = None,
) -> Vector:
    """A file with one fault at most.

    `order` reorders sealed chunks. `prefix` and `key` are the start of the file and the reference's key, independent of
    the sealing. `edit` changes the file. The reference has the size (or `size`, or `more` bytes more) and the hash of the
    resulting file, or of `hashed`.
    """
    sealed, plain = sealed_chunks(chunks)
    sealed = [sealed[index] for index in order] if order is not None else sealed
    data = edit(prefix + b"".join(sealed))
    file = SealedFile(
        key, (len(data) if size is None else size) + more, hashlib.sha256(data if hashed is None else hashed).digest()
    )
    lines: list[Header] = [("key", file.key.hex()), ("size", file.size), ("sha256", file.sha256.hex())]
    try:
        opened = attachments.open_file(data, file)
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "opened" and opened == plain and attachments.seal(key, plain) == data, name
        lines += [("plain-size", len(plain)), ("plain-sha256", hashlib.sha256(plain).hexdigest())]
    return vector("attachments", name, expected, rules, comment, lines, data)


def opened_cases() -> list[Vector]:
    made = [
        ("an empty file", (Chunk(0),)),
        ("a file of one byte", (Chunk(1),)),
        ("one byte less than a chunk", (Chunk(CHUNK_SIZE - 1),)),
        ("exactly one chunk", (Chunk(),)),
        ("one byte more than a chunk", (Chunk(), Chunk(1))),
        ("exactly two chunks", (Chunk(), Chunk())),
        ("three chunks and a bit", (Chunk(), Chunk(), Chunk(), LAST)),
    ]
    return [open_case(name, "opened", "A-1 A-2 A-26 A-29", "A file as a sealer makes it.", *chunks) for name, chunks in made]


def beginning_cases() -> list[Vector]:
    begins, states = "The first five bytes of a sealed file.", "The reference states the number of bytes."
    other = [("a changed magic", b"PCA1\x10"), ("chunks of 2^15 bytes", b"PCA2\x0f"), ("a magic in lower case", b"pca2\x10"), ("chunks of no bytes", b"PCA2\x00")]
    return [
        *(open_case(name, NOT_SEALED, "A-25", begins, LAST, prefix=prefix) for name, prefix in other),
        *(open_case(f"{name}, sealed with it as associated data", NOT_SEALED, "A-25", begins, Chunk(100, None, prefix), prefix=prefix) for name, prefix in other[:2]),
        open_case("a file that was not sealed", NOT_SEALED, "A-25", begins, edit=lambda _: b"GIF89a" + bytes(194)),
        open_case("a file that was not sealed, and shorter than the reference says", NOT_SEALED, "A-25 A-28", begins, edit=lambda _: b"GIF89a" + bytes(194), more=1),
        open_case("a bit of the first byte flipped in two chunks", NOT_SEALED, "A-25", begins, Chunk(), LAST, edit=flip(0)),
        open_case("the beginning alone", WRONG_SIZE, "A-28", states, order=(), size=21),
        open_case("no bytes at all", WRONG_SIZE, "A-28", states, edit=lambda _: b"", size=21),
        open_case("one byte less than the smallest file", WRONG_SIZE, "A-28", states, Chunk(0), edit=lambda data: data[:-1], size=21),
        open_case("a short file cut to four bytes, the first of them changed", WRONG_SIZE, "A-25 A-28", "Five bytes have to be there.", LAST, edit=lambda data: put(0, b"x")(data)[:4], size=121),
    ]


def attachment_cases() -> list[Vector]:
    return [*opened_cases(), *beginning_cases()]
