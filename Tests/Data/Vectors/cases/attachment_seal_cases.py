"""attachments.json: files that are sealed, with every value in between."""

import hashlib

from reference import attachments
from reference.attachments import CHUNK_SIZE, PREFIX, SealedFile
from reference.envelope import hedge_key
from reference.secretstream import TAG_FINAL, TAG_MESSAGE

from . import witness
from .material import PROVIDER, SECOND_PROVIDER, Case, Sender, seed
from .vector import runs


def seal_case(name: str, plain: bytes, sender: Sender = PROVIDER) -> Case:
    hedge, r, header = hedge_key(sender.seed), seed(f"file {name} r"), seed(f"file {name} header")[:24]
    key = attachments.file_key(hedge, r, plain)
    sealed = attachments.seal(key, header, plain)
    *first, last = attachments.chunks(plain)
    assert sealed == PREFIX + header + witness.push_all(
        key, header, [*((chunk, TAG_MESSAGE, PREFIX) for chunk in first), (last, TAG_FINAL, PREFIX)]
    )
    file = SealedFile(key, len(sealed), hashlib.sha256(sealed).digest())
    assert attachments.open_file(sealed, file) == plain
    return {
        "name": name,
        "senderSeed": sender.seed.hex(),
        "hedgeKey": hedge.hex(),
        "r": r.hex(),
        "plain": runs(plain),
        "plainSHA256": hashlib.sha256(plain).hexdigest(),
        "key": key.hex(),
        "header": header.hex(),
        "size": file.size,
        "sha256": file.sha256.hex(),
        **({"sealed": runs(sealed)} if len(sealed) < 1000 else {}),
    }


def seal_cases() -> list[Case]:
    return [
        seal_case("an empty file", b""),
        seal_case("a file of one byte", b"a"),
        seal_case("a short file", b"attachment"),
        seal_case("a short file of another sender", b"attachment", SECOND_PROVIDER),
        seal_case("300 bytes", bytes(300)),
        seal_case("one byte less than a chunk", b"a" * (CHUNK_SIZE - 1)),
        seal_case("exactly one chunk", b"a" * CHUNK_SIZE),
        seal_case("one byte more than a chunk", b"a" * CHUNK_SIZE + b"b"),
        seal_case("exactly two chunks", b"a" * CHUNK_SIZE + b"b" * CHUNK_SIZE),
        seal_case("two chunks and a half", b"a" * CHUNK_SIZE + b"b" * CHUNK_SIZE + b"c" * (CHUNK_SIZE // 2)),
    ]
