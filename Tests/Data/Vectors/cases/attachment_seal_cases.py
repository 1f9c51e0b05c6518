"""attachments.json: files that are sealed, with every value in between."""

import hashlib

from reference import attachments
from reference.attachments import CHUNK_SIZE, PREFIX, SealedFile, nonce
from reference.envelope import hedge_key

from . import witness
from .material import PROVIDER, SIGNING, Case, Pair, seed
from .vector import runs


def seal_case(name: str, plain: bytes, key_pair: Pair = PROVIDER) -> Case:
    hedge, r = hedge_key(key_pair.seed), seed(f"file {name} r")
    key = attachments.file_key(hedge, r, plain)
    sealed = attachments.seal(key, plain)
    pieces = attachments.chunks(plain)
    places = [nonce(index, index == len(pieces) - 1) for index in range(len(pieces))]
    assert sealed == PREFIX + b"".join(
        witness.seal_chunk(key, place, piece, PREFIX) for place, piece in zip(places, pieces, strict=True)
    )
    file = SealedFile(key, len(sealed), hashlib.sha256(sealed).digest())
    assert attachments.open_file(sealed, file) == plain
    return {
        "name": name,
        "signingSeed": key_pair.seed.hex(),
        "hedgeKey": hedge.hex(),
        "r": r.hex(),
        "plain": runs(plain),
        "plainSHA256": hashlib.sha256(plain).hexdigest(),
        "key": key.hex(),
        "size": file.size,
        "sha256": file.sha256.hex(),
        **({"sealed": runs(sealed)} if len(sealed) < 1000 else {}),
    }


def seal_cases() -> list[Case]:
    return [
        seal_case("an empty file", b""),
        seal_case("a file of one byte", b"a"),
        seal_case("a short file", b"attachment"),
        seal_case("a short file of a signing key", b"attachment", SIGNING[0]),
        seal_case("300 bytes", bytes(300)),
        seal_case("one byte less than a chunk", b"a" * (CHUNK_SIZE - 1)),
        seal_case("exactly one chunk", b"a" * CHUNK_SIZE),
        seal_case("one byte more than a chunk", b"a" * CHUNK_SIZE + b"b"),
        seal_case("exactly two chunks", b"a" * CHUNK_SIZE + b"b" * CHUNK_SIZE),
        seal_case("two chunks and a half", b"a" * CHUNK_SIZE + b"b" * CHUNK_SIZE + b"c" * (CHUNK_SIZE // 2)),
    ]
