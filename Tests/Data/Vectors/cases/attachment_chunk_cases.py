"""Sealed files whose chunks are changed, left out, repeated, moved or wrongly ended, and files of another size or hash."""

from reference.attachments import CHUNK_SIZE, PREFIX, SEALED_CHUNK_SIZE, nonce

from .attachment_cases import FAILED, LAST, WRONG_HASH, WRONG_SIZE, Chunk, open_case, sealed_chunks
from .forge import flip
from .material import seed
from .vector import Vector

START = len(PREFIX)


def chunk_cases() -> list[Vector]:
    other, middle = "The last chunk does not open.", "A chunk other than the last does not open."
    place, data = "A chunk opens only in its own place.", "The associated data of each chunk is the first five bytes of the file."
    second = START + SEALED_CHUNK_SIZE
    another, _ = sealed_chunks((Chunk(), LAST), seed("another attachment key"))
    faults: list[tuple[str, str, str, tuple[Chunk, ...], dict[str, object]]] = [
        ("the key of another file", "A-29", other, (LAST,), {"key": seed("another attachment key")}),
        ("a bit of the ciphertext flipped", "A-29", other, (LAST,), {"edit": flip(START)}),
        ("a bit of the authenticator flipped", "A-29", other, (LAST,), {"edit": flip(-1)}),
        ("a bit of the authenticator of an empty file flipped", "A-29", other, (Chunk(0),), {"edit": flip(-1)}),
        ("a bit of the first of two chunks flipped", "A-26", middle, (Chunk(), LAST), {"edit": flip(START)}),
        ("a bit of the authenticator of the first of two chunks flipped", "A-26", middle, (Chunk(), LAST), {"edit": flip(second - 1)}),
        ("a bit of the second of two chunks flipped", "A-29", other, (Chunk(), LAST), {"edit": flip(second)}),
        ("no associated data", "A-2 A-29", data, (Chunk(100, None, b""),), {}),
        ("the magic alone as associated data", "A-2 A-29", data, (Chunk(100, None, b"PCA2"),), {}),
        ("no associated data in the first of two chunks", "A-2 A-26", data, (Chunk(data=b""), LAST), {}),
        ("no associated data in the last chunk", "A-2 A-29", data, (Chunk(), Chunk(100, None, b"")), {}),
        ("two chunks exchanged", "A-26", middle, (Chunk(), Chunk(), LAST), {"order": (1, 0, 2)}),
        ("a chunk missing at the beginning", "A-29", place, (Chunk(), LAST), {"order": (1,)}),
        ("a chunk missing in the middle", "A-29", place, (Chunk(), Chunk(), LAST), {"order": (0, 2)}),
        ("a chunk twice", "A-26", middle, (Chunk(), LAST), {"order": (0, 0, 1)}),
        ("the last chunk missing, and the size is that of the rest", "A-29", "The chunk before is not the last.", (Chunk(), LAST), {"order": (0,)}),
        ("the last of three chunks missing, and the size is that of the rest", "A-29", "The chunk before is not the last.", (Chunk(), Chunk(), Chunk()), {"order": (0, 1)}),
        ("a last chunk twice, whole", "A-26", "What is last ends the file.", (Chunk(),), {"order": (0, 0)}),
        ("a chunk after the last", "A-26", "What is last ends the file.", (Chunk(nonce=nonce(0, True)), LAST), {}),
        ("the first of two chunks sealed as the last", "A-2 A-26", "The flag is 1 for the last chunk alone.", (Chunk(nonce=nonce(0, True)), Chunk(100, nonce(1, True))), {}),
        ("no last flag on the only chunk", "A-2 A-29", "The flag is 1 for the last chunk.", (Chunk(100, nonce(0, False)),), {}),
        ("no last flag on the only chunk of an empty file", "A-2 A-29", "The flag is 1 for the last chunk.", (Chunk(0, nonce(0, False)),), {}),
        ("no last flag on the second chunk", "A-2 A-29", "The flag is 1 for the last chunk.", (Chunk(), Chunk(100, nonce(1, False))), {}),
        ("a last flag of 2", "A-2 A-29", "The flag is 1 for the last chunk.", (Chunk(100, bytes(11) + b"\x02"),), {}),
        ("a counter that begins at 1", "A-2 A-29", "It begins at 0.", (Chunk(100, nonce(1, True)),), {}),
        ("a counter that stays", "A-2 A-29", "It counts the chunks.", (Chunk(), Chunk(100, nonce(0, True))), {}),
        ("a little-endian counter", "A-2 A-29", "It is big-endian.", (Chunk(), Chunk(100, b"\x01" + bytes(10) + b"\x01")), {}),
        ("a counter of four bytes behind eight zeros", "A-2 A-29", "The flag is the last byte.", (Chunk(), Chunk(100, bytes(8) + (1).to_bytes(4, "big"))), {}),
        ("a chunk of another file", "A-26", middle, (Chunk(), LAST), {"edit": lambda one: one[:START] + another[0] + one[START + SEALED_CHUNK_SIZE :]}),
        ("a short chunk that is not the last", "A-1 A-29", "Every chunk but the last has 65,536 bytes.", (Chunk(100), LAST), {}),
        ("a chunk of 65,570 bytes", "A-26", middle, (Chunk(CHUNK_SIZE + 34),), {}),
        ("the last byte missing", "A-29", other, (LAST,), {"edit": lambda one: one[:-1]}),
        ("one byte more after a short last chunk", "A-29", other, (LAST,), {"edit": lambda one: one + b"\x00"}),
    ]
    return [
        open_case(name, FAILED, rules, comment, *chunks, **options)  # type: ignore[arg-type]
        for name, rules, comment, chunks, options in faults
    ]


def agreement_cases() -> list[Vector]:
    """Whole, correctly sealed files that do not match the reference."""
    states, no_more = "The reference states the number of bytes.", "No byte comes after the size of the reference."
    signed = "Anyone with the key can seal another file; the hash is signed."
    two = "Two faults; the first one in the file decides the code."
    return [
        open_case("one byte less than the reference says", WRONG_SIZE, "A-28", states, LAST, more=1),
        open_case("one byte more than the reference says", WRONG_SIZE, "A-27", no_more, LAST, more=-1),
        open_case("two whole chunks where the reference says one", WRONG_SIZE, "A-27", no_more, Chunk(), Chunk(), size=START + SEALED_CHUNK_SIZE),
        open_case("one whole chunk where the reference says two", WRONG_SIZE, "A-28", states, Chunk(nonce=nonce(0, False)), size=START + 2 * SEALED_CHUNK_SIZE),
        open_case("the end missing, and the size that of the whole", WRONG_SIZE, "A-28", states, Chunk(), LAST, order=(0,), more=116),
        open_case("16 bytes left of the last chunk, and the size that of the whole", WRONG_SIZE, "A-28", states, Chunk(), LAST, edit=lambda data: data[: START + SEALED_CHUNK_SIZE + 16], more=100),
        open_case("another file under the same key", WRONG_HASH, "A-30", signed, LAST, hashed=PREFIX + b"another file"),
        open_case("the hash of the empty string", WRONG_HASH, "A-30", signed, Chunk(), LAST, hashed=b""),
        open_case("the hash of an empty file that has other bytes", WRONG_HASH, "A-30", signed, Chunk(0), hashed=PREFIX),
        open_case("a fault in the first chunk, and one byte more than the reference says: the first is reported", FAILED, "A-26 A-27", two, Chunk(), LAST, edit=flip(START), more=-1),
        open_case("a fault in the first chunk, and the end missing: the first is reported", FAILED, "A-26 A-28", two, Chunk(), LAST, edit=flip(START), more=1),
        open_case("the end missing inside the first chunk, with a fault in it: the size is reported", WRONG_SIZE, "A-26 A-28", "It is checked when all its bytes are there.", Chunk(), LAST, edit=lambda data: flip(START)(data)[:60_000], size=START + SEALED_CHUNK_SIZE + 116),
        open_case("a fault in the last chunk, and one byte more than the reference says: the size is reported", WRONG_SIZE, "A-27 A-29", two, LAST, edit=flip(START), more=-1),
        open_case("a fault in the last chunk, and a wrong hash: the chunk is reported", FAILED, "A-29 A-30", two, LAST, edit=flip(START), hashed=b""),
    ]


def attachment_chunk_cases() -> list[Vector]:
    return [*chunk_cases(), *agreement_cases()]
