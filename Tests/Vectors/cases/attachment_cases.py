"""Attachments: files that are sealed, sealed files that open or do not, references, and lists of them.

A sealed file with whole chunks is long, so its plain chunks are chosen for their ciphertext to be zero bytes, of which
a vector gives only the number.
"""

import hashlib
import json
from typing import NamedTuple

from reference import attachments
from reference.attachments import CHUNK_SIZE, PREFIX, SEALED_CHUNK_SIZE, Refused, SealedFile
from reference.envelope import hedge_key
from reference.secretstream import TAG_FINAL, TAG_MESSAGE, TAG_PUSH, TAG_REKEY, Stream

from . import witness
from .forge import Edit, flip, unchanged
from .material import PROVIDER, SECOND_PROVIDER, Case, Sender, seed
from .vector import Header, Vector, runs, vector

KEY = seed("attachment key")
HEADER = seed("attachment header")[:24]

NOT_SEALED, FAILED, MALFORMED = "not-a-sealed-file", "authentication-failed", "malformed-file"
TRUNCATED, WRONG_SIZE, WRONG_HASH = "truncated-file", "wrong-size", "wrong-hash"
REFUSED = "malformed-reference"

# Files that are sealed.


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


# Sealed files that open or do not.


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

    `order` puts sealed chunks into other places. `prefix`, `header` and `key` are what the file begins with and what
    the reference has, whatever was used to seal it. `edit` changes the file. The reference has the size (or `size`, or
    `more` bytes more) and the hash of the file as it is then, or of `hashed`.
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
        open_case("one byte", "opened", "A-1 A-2 A-25", "A file as a sealer makes it.", Chunk(1, TAG_FINAL)),
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
        open_case("the header alone", WRONG_SIZE, "A-21", "The reference says how many bytes come.", order=(), size=46),
        open_case(
            "no bytes at all",
            WRONG_SIZE,
            "A-21",
            "The reference says how many bytes come.",
            edit=lambda _: b"",
            size=46,
        ),
        open_case(
            "one byte less than the smallest file",
            WRONG_SIZE,
            "A-21",
            "The reference says how many bytes come.",
            Chunk(0, TAG_FINAL),
            edit=lambda data: data[:-1],
            size=46,
        ),
    ]


def chunk_cases() -> list[Vector]:
    sealed_tag, ciphertext, tag = 29, 30, -1
    second = 29 + SEALED_CHUNK_SIZE
    another, _ = pushed((Chunk(), LAST), header=seed("another attachment header")[:24])
    return [
        open_case(
            "another key", FAILED, "A-23", "The last chunk does not open.", LAST, key=seed("another attachment key")
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
            "A chunk that more bytes follow does not open.",
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
            "A chunk that more bytes follow does not open.",
            Chunk(),
            Chunk(),
            LAST,
            order=(1, 0, 2),
        ),
        open_case(
            "a chunk missing at the beginning",
            FAILED,
            "A-23",
            "A chunk opens in its own place only.",
            Chunk(),
            LAST,
            order=(1,),
        ),
        open_case(
            "a chunk missing in the middle",
            FAILED,
            "A-23",
            "A chunk opens in its own place only.",
            Chunk(),
            Chunk(),
            LAST,
            order=(0, 2),
        ),
        open_case(
            "a chunk twice",
            FAILED,
            "A-18",
            "A chunk that more bytes follow does not open.",
            Chunk(),
            LAST,
            order=(0, 0, 1),
        ),
        open_case(
            "a chunk of another file under the same key",
            FAILED,
            "A-18",
            "A chunk that more bytes follow does not open.",
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
            "A chunk that more bytes follow does not open.",
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
    """Whole files, sealed as they should be, that are not what the reference says."""
    another, _ = pushed((LAST,), header=seed("another attachment header")[:24])
    prefix = PREFIX + seed("another attachment header")[:24]
    meant, _ = pushed((LAST,))
    return [
        open_case(
            "one byte less than the reference says",
            WRONG_SIZE,
            "A-21",
            "The reference says how many bytes come.",
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
            "The reference says how many bytes come.",
            Chunk(),
            LAST,
            order=(0,),
            more=117,
        ),
        open_case(
            "another file under the same key",
            WRONG_HASH,
            "A-26",
            "Whoever has the key can seal another file; the hash is signed.",
            edit=lambda _: prefix + another[0],
            hashed=PREFIX + HEADER + meant[0],
        ),
        open_case(
            "a hash with one bit changed",
            WRONG_HASH,
            "A-26",
            "Whoever has the key can seal another file; the hash is signed.",
            LAST,
            hashed=b"another file",
        ),
        open_case(
            "the hash of the empty string",
            WRONG_HASH,
            "A-26",
            "Whoever has the key can seal another file; the hash is signed.",
            Chunk(),
            LAST,
            hashed=b"",
        ),
        open_case(
            "a fault in the first chunk, and one byte more than the reference says: the first is reported",
            FAILED,
            "A-18 A-20",
            "Two faults; the one that the bytes reach first decides the code.",
            Chunk(),
            LAST,
            edit=flip(30),
            more=-1,
        ),
        open_case(
            "a fault in the last chunk, and one byte more than the reference says: the size is reported",
            WRONG_SIZE,
            "A-20 A-23",
            "Two faults; the one that the bytes reach first decides the code.",
            LAST,
            edit=flip(30),
            more=-1,
        ),
        open_case(
            "a fault in the last chunk, and a wrong hash: the chunk is reported",
            FAILED,
            "A-23 A-26",
            "Two faults; the one that the bytes reach first decides the code.",
            LAST,
            edit=flip(30),
            hashed=b"",
        ),
    ]


def open_cases() -> list[Vector]:
    return [*opened_cases(), *beginning_cases(), *chunk_cases(), *rule_cases(), *agreement_cases()]


# References.

GOOD = {
    "url": "https://files.example.com/7f3a",
    "key": attachments.to_base64url(KEY),
    "size": 1234,
    "sha256": attachments.to_base64url(seed("attachment hash")),
    "type": "public.jpeg",
    "name": "photo.jpg",
}
# 43 characters stand for 258 bits; the last two must be zero.
UNUSED_BITS = GOOD["key"][:-1] + chr(ord(GOOD["key"][-1]) + 1)


def reference_case(name: str, expected: str, rules: str, text: str) -> Vector:
    comment = "Everything that a reference has to have."
    if expected != "accepted":
        comment = "A reference with one fault. It drops itself, and nothing else of the notification."
    lines: list[Header] = []
    try:
        reference = attachments.read_reference(json.loads(text))
    except Refused as error:
        assert error.args == (expected,), (name, error.args)
    else:
        assert expected == "accepted", name
        lines = [
            ("url", reference.url),
            ("key", reference.file.key.hex()),
            ("size", reference.file.size),
            ("sha256", reference.file.sha256.hex()),
            ("type", reference.type),
            ("name", reference.name),
        ]
    return vector("references", name, expected, rules, comment, lines, text.encode())


# The rule of each member.
RULES = {"url": "A-5", "type": "A-6", "name": "A-7", "size": "A-8", "sha256": "A-9", "key": "A-10"}


def with_member(name: str, expected: str, member: str, value: object) -> Vector:
    return reference_case(name, expected, RULES[member], json.dumps(GOOD | {member: value}, ensure_ascii=False))


def accepted_references() -> list[Vector]:
    good, every = "accepted", " ".join(RULES.values())
    return [
        reference_case("a reference", good, f"A-32 {every}", json.dumps(GOOD)),
        reference_case(
            "white space, another order, escapes",
            good,
            "A-32",
            json.dumps(dict(reversed(GOOD.items())), indent=1).replace("photo", "\\u0070hoto"),
        ),
        reference_case(
            "a member that is not known", good, "A-32", json.dumps(GOOD | {"thumbnail": {"a": [1]}, "later": None})
        ),
        with_member("a url of a host alone", good, "url", "https://a"),
        with_member(
            "a url with port, path and query", good, "url", "https://files.example.com:8443/a/b-c_d~e.f?x=1&y=%2F/@:;,"
        ),
        with_member("a url with a query and no path", good, "url", "https://files.example.com?x"),
        with_member("a url with an address as host", good, "url", "https://[2001:db8::1]/a"),
        with_member("the smallest size", good, "size", attachments.SMALLEST_SIZE),
        with_member("the largest size", good, "size", attachments.LARGEST_SIZE),
        with_member("a type of two short labels", good, "type", "a.b"),
        with_member("a type with capitals, digits and hyphens", good, "type", "com.Example.type-2"),
        with_member("a type of 255 characters", good, "type", "public." + "x" * 248),
        with_member("a name of one character", good, "name", "a"),
        with_member("a name of 255 bytes", good, "name", "한" * 85),
        with_member("a name with spaces, dots and a backslash", good, "name", "... my photo\\1.jpg "),
        with_member("a name that is not ASCII", good, "name", "사진 🚲.jpg"),
    ]


def refused_references() -> list[Vector]:
    members = [
        reference_case(
            f"no {member}",
            REFUSED,
            f"A-32 {RULES[member]}",
            json.dumps({name: value for name, value in GOOD.items() if name != member}),
        )
        for member in GOOD
    ]
    nulls = [
        reference_case(f"{member} is null", REFUSED, f"A-32 {RULES[member]}", json.dumps(GOOD | {member: None}))
        for member in GOOD
    ]
    kinds = [with_member(f"{member} is a number", REFUSED, member, 7) for member in GOOD if member != "size"]
    faults = [
        ("a url without encryption", "url", "http://files.example.com/a"),
        ("a url of another scheme", "url", "file:///etc/passwd"),
        ("a url with the scheme in capitals", "url", "HTTPS://files.example.com/a"),
        ("a url without a scheme", "url", "//files.example.com/a"),
        ("a url with white space before it", "url", " https://files.example.com/a"),
        ("an empty url", "url", ""),
        ("a url without a host", "url", "https:///a"),
        ("a url with a port and no host", "url", "https://:443/a"),
        ("a url with a user name", "url", "https://user@files.example.com/a"),
        ("a url with a password", "url", "https://user:word@files.example.com/a"),
        ("a url with a fragment", "url", "https://files.example.com/a#b"),
        ("a url with a space", "url", "https://files.example.com/a b"),
        ("a url with a newline at the end", "url", "https://files.example.com/a\n"),
        ("a url with a NUL", "url", "https://files.example.com/a\x00"),
        ("a url with a backslash", "url", "https://files.example.com\\@evil.example/a"),
        ("a url with a character outside ASCII", "url", "https://files.example.com/사진"),
        ("a url with a host outside ASCII", "url", "https://fïles.example.com/a"),
        ("a url with a percent sign alone", "url", "https://files.example.com/100%"),
        ("a url with one hexadecimal digit after a percent sign", "url", "https://files.example.com/%2"),
        ("a url with other characters after a percent sign", "url", "https://files.example.com/%2g"),
        ("a url with brackets in its path", "url", "https://files.example.com/a[1]"),
        ("a key of 31 bytes", "key", attachments.to_base64url(KEY[:31])),
        ("a key of 33 bytes", "key", attachments.to_base64url(KEY + b"\x00")),
        ("a key with padding", "key", GOOD["key"] + "="),
        ("a key whose unused bits are not zero", "key", UNUSED_BITS),
        ("a key with a character of the other base64", "key", "+" + GOOD["key"][1:]),
        ("an empty key", "key", ""),
        ("a key in hexadecimal digits", "key", KEY.hex()),
        ("a hash of 31 bytes", "sha256", GOOD["sha256"][:42]),
        ("a hash in hexadecimal digits", "sha256", seed("attachment hash").hex()),
        ("a size below that of the empty file", "size", attachments.SMALLEST_SIZE - 1),
        ("a size of zero", "size", 0),
        ("a negative size", "size", -1234),
        ("a size with a fraction", "size", 1234.0),
        ("a size that is a string", "size", "1234"),
        ("a size that is true", "size", True),
        ("an empty type", "type", ""),
        ("a type of 256 characters", "type", "public." + "x" * 249),
        ("a media type", "type", "image/jpeg"),
        ("a file name extension as type", "type", "jpg"),
        ("a type with an empty label", "type", "public..jpeg"),
        ("a type that begins with a dot", "type", ".jpeg"),
        ("a type that ends with a dot", "type", "public.jpeg."),
        ("a type with a low line", "type", "public.my_type"),
        ("a type with a character outside ASCII", "type", "public.jpég"),
        ("an empty name", "name", ""),
        ("a name of 256 bytes", "name", "한" * 85 + "a"),
        ("a name of one dot", "name", "."),
        ("a name of two dots", "name", ".."),
        ("a name with a slash", "name", "../photo.jpg"),
        ("a name with a slash at the end", "name", "photo/"),
        ("a name with a NUL", "name", "photo.jpg\x00.txt"),
        ("a name with a newline", "name", "photo\n.jpg"),
        ("a name with DEL", "name", "photo\x7f.jpg"),
        ("a name with a control character above ASCII", "name", "photo\x85.jpg"),
    ]
    large = json.dumps(GOOD).replace("1234", str(attachments.LARGEST_SIZE + 1))
    return [
        *members,
        *nulls,
        *kinds,
        *(with_member(name, REFUSED, member, value) for name, member, value in faults),
        reference_case("a size above 2^53 - 1", REFUSED, "A-8", large),
        reference_case("a size beyond 64 bits", REFUSED, "A-8", json.dumps(GOOD).replace("1234", "1" + "0" * 30)),
        reference_case("a size with an exponent", REFUSED, "A-8", json.dumps(GOOD).replace("1234", "1234e0")),
        reference_case("a reference that is an array", REFUSED, "A-32", json.dumps([GOOD])),
        reference_case("a reference that is its url", REFUSED, "A-32", json.dumps(GOOD["url"])),
        reference_case("a reference that is null", REFUSED, "A-32", "null"),
    ]


def reference_cases() -> list[Vector]:
    return [*accepted_references(), *refused_references()]


# Lists.


def list_case(
    name: str, rules: str, reserved: str, accepted: list[str], dropped: list[str], full_body: str | None = None
) -> Vector:
    payload = '{"aps":{"alert":{"title":"Hello"}}' + (f',"pushcrypt":{reserved}' if reserved else "") + "}"
    references, body, codes = attachments.read_reserved(json.loads(payload))
    assert ([reference.name for reference in references], codes) == (accepted, dropped), name
    assert (body and body.url) == full_body, name
    lines: list[Header] = [
        *(("attachment", reference) for reference in accepted),
        ("full-body", full_body),
        *(("dropped", code) for code in dropped),
    ]
    comment = "What becomes of the member pushcrypt of a payload. The text is shown in any case."
    return vector("attachment-lists", name, "opened", rules, comment, lines, payload.encode())


def list_cases() -> list[Vector]:
    def named(*names: str) -> str:
        return json.dumps({"attachments": [GOOD | {"name": name} for name in names]})

    def mixed(*elements: object) -> str:
        return json.dumps(
            {"attachments": [GOOD | {"name": item} if isinstance(item, str) else item for item in elements]}
        )

    nine = [f"{number}.jpg" for number in range(1, 10)]
    insecure = GOOD | {"url": "http://files.example.com/a"}
    return [
        list_case("no reserved member", "A-14 A-31", "", [], []),
        list_case("a reserved member that is null", "A-14 A-31", "null", [], []),
        list_case("a reserved member without attachments", "A-14 A-31", "{}", [], []),
        list_case("a reserved member with what a later version may put there", "A-14", '{"later":[1]}', [], []),
        list_case("attachments that are null", "A-14", '{"attachments":null}', [], []),
        list_case("an empty list", "A-14", '{"attachments":[]}', [], []),
        list_case("one attachment", "A-12", named("1.jpg"), ["1.jpg"], []),
        list_case("eight attachments, in their order", "A-11 A-12", named(*reversed(nine[:8])), nine[7::-1], []),
        list_case(
            "nine attachments: the first eight are taken", "A-11 A-12", named(*nine), nine[:8], ["too-many-attachments"]
        ),
        list_case("two attachments of one name", "A-12", named("1.jpg", "1.jpg"), ["1.jpg", "1.jpg"], []),
        list_case(
            "a bad attachment between two good ones",
            "A-13",
            mixed("1.jpg", insecure, "3.jpg"),
            ["1.jpg", "3.jpg"],
            [REFUSED],
        ),
        list_case("nothing but bad ones", "A-13", mixed(insecure, None, 1, [], {}), [], [REFUSED] * 5),
        list_case(
            "a bad one among the first eight makes no room for the ninth",
            "A-12 A-13",
            mixed(insecure, *nine[1:]),
            nine[1:8],
            [REFUSED, "too-many-attachments"],
        ),
        list_case("attachments that are an object", "A-14", json.dumps({"attachments": GOOD}), [], [REFUSED]),
        list_case("attachments that are a string", "A-14", '{"attachments":"1.jpg"}', [], [REFUSED]),
        list_case("a reserved member that is a list", "A-14", json.dumps([GOOD]), [], [REFUSED]),
        list_case("a reserved member that is a string", "A-14", '"x"', [], [REFUSED]),
        *(list_case(*case) for case in full_bodies()),
    ]


def full_bodies() -> list[tuple[str, str, str, list[str], list[str], str | None]]:
    text = GOOD | {"type": "public.plain-text", "name": "body"}
    url = str(GOOD["url"])

    def reserved(value: object, **members: object) -> str:
        return json.dumps({"body": value} | members)

    return [
        ("a full body", "A-28", reserved(text), [], [], url),
        ("the smallest full body", "A-28", reserved(text | {"size": attachments.SMALLEST_SIZE + 1}), [], [], url),
        ("the largest full body", "A-28", reserved(text | {"size": 65_582}), [], [], url),
        ("a full body that is too large", "A-28", reserved(text | {"size": 65_583}), [], [REFUSED], None),
        ("a full body of another type", "A-28", reserved(text | {"type": "public.html"}), [], [REFUSED], None),
        (
            "a full body that is fetched without encryption",
            "A-5 A-28",
            reserved(text | {"url": "http://a/b"}),
            [],
            [REFUSED],
            None,
        ),
        ("a full body that is no reference", "A-28", reserved("text"), [], [REFUSED], None),
        ("a full body that is null", "A-31", reserved(None), [], [], None),
        (
            "a full body is none of the eight attachments",
            "A-12 A-31",
            reserved(text, attachments=[GOOD | {"name": f"{number}.jpg"} for number in range(1, 9)]),
            [f"{number}.jpg" for number in range(1, 9)],
            [],
            url,
        ),
        (
            "a bad full body leaves the attachments",
            "A-13 A-31",
            reserved(1, attachments=[GOOD | {"name": "1.jpg"}]),
            ["1.jpg"],
            [REFUSED],
            None,
        ),
        (
            "a full body beside attachments that are no array",
            "A-14 A-31",
            reserved(text, attachments=7),
            [],
            [REFUSED],
            url,
        ),
    ]
