"""Files, references and full bodies."""

from __future__ import annotations

import hashlib
import io
import os
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from pushcrypt import ProviderKey, PushcryptError, Reference, SealedFile, Sealer, seal_file, seal_full_body
from vectors import label

PROVIDER = ProviderKey(bytes([1]) * 32)
SEALER = Sealer(PROVIDER, topic="a")
GOOD: dict[str, Any] = {"url": "https://a", "key": bytes(32), "size": 22, "sha256": bytes(32), "type": "public.png", "name": "a"}


def opened(file: SealedFile | Reference, sealed: bytes) -> bytes:
    """By [A-1] to [A-4], as a phone reads it."""
    assert (len(sealed), hashlib.sha256(sealed).digest(), sealed[:5].hex()) == (file.size, file.sha256, "5043413210")
    chunks = [sealed[start : start + 65_552] for start in range(5, len(sealed), 65_552)]
    nonces = [number.to_bytes(11, "big") + bytes([number == len(chunks) - 1]) for number in range(len(chunks))]
    return b"".join(ChaCha20Poly1305(file.key).decrypt(nonce, chunk, sealed[:5]) for nonce, chunk in zip(nonces, chunks))


@pytest.mark.parametrize("key", [PROVIDER, SEALER], ids=["key", "sealer"])
@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_a_file(size: int, key: Any) -> None:
    plain, sealed = os.urandom(size), io.BytesIO()
    file = seal_file(io.BytesIO(plain), sealed, key)
    reference = file.reference(url="https://a", type="public.jpeg", name="a")
    assert opened(reference, sealed.getvalue()) == opened(file, sealed.getvalue()) == plain
    assert seal_file(io.BytesIO(plain), io.BytesIO(), key).key != file.key


class Changing(io.BytesIO):
    """A file that is another one when it is read again."""

    def seek(self, *place: int) -> int:
        self.getbuffer()[-1] ^= 1
        return super().seek(*place)


class Dribbling(io.RawIOBase):
    """A raw file, which gives less than is asked."""

    def __init__(self, data: bytes) -> None:
        self.file = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(min(len(buffer), 999))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, *place: int) -> int:
        return self.file.seek(*place)

    def tell(self) -> int:
        return self.file.tell()


def test_files_that_change(refused: Any) -> None:
    error = refused("changed-file", seal_file, Changing(b"abc"), io.BytesIO(), PROVIDER)
    assert error.retryable
    sealed, plain = io.BytesIO(), os.urandom(150_000)
    file = seal_file(Dribbling(plain), sealed, PROVIDER)  # type: ignore[arg-type]
    assert opened(file, sealed.getvalue()) == plain


@pytest.mark.parametrize("arguments", [
    ("path", io.BytesIO(), PROVIDER), (b"plain", io.BytesIO(), PROVIDER), (io.BytesIO(), "path", PROVIDER), (io.StringIO(), io.BytesIO(), PROVIDER),
    (io.BytesIO(), io.StringIO(), PROVIDER), (io.BytesIO(), io.BytesIO(), PROVIDER.secret_text()), (io.BytesIO(), io.BytesIO(), None), (None, None, None),
], ids=lambda arguments: "")
def test_files_of_another_type(arguments: Any) -> None:
    with pytest.raises(TypeError):
        seal_file(*arguments)


def test_full_bodies(refused: Any) -> None:
    body = seal_full_body("Long…", url="https://b", key=SEALER)
    assert opened(body.reference, body.sealed).decode() == "Long…"
    for code, text in (("body-too-long", "a" * 65_537), ("body-too-long", "a" * 10_000_000), ("malformed-file", ""), ("malformed-file", "\ud800")):
        refused(code, seal_full_body, text, url="https://b", key=PROVIDER)
    refused("malformed-reference", seal_full_body, "a", url="http://b", key=PROVIDER)
    for text, key in ((b"a", PROVIDER), (7, PROVIDER), ("a", "PCS-SECRET-1")):
        with pytest.raises(TypeError):
            seal_full_body(text, url="https://b", key=key)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [
    {"url": b"https://a"}, {"url": 7}, {"key": "a" * 32}, {"size": "22"}, {"size": True}, {"size": 22.0}, {"sha256": None}, {"type": b"a.b"}, {"name": 7},
], ids=label)
def test_references_of_another_type(change: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Reference(**GOOD | change)


@pytest.mark.parametrize("change", [
    {"url": "http://a"}, {"url": "https://" + "a" * 10_000_000}, {"key": bytes(31)}, {"size": 20}, {"size": 10**5000}, {"sha256": b""}, {"type": "png"},
    {"type": "a." * 5_000_000}, {"name": ""}, {"name": "a/b"}, {"name": "a" * 10_000_000}, {"name": "\ud800"},
], ids=label)
def test_references_that_are_refused(change: dict[str, Any], refused: Any) -> None:
    refused("malformed-reference", Reference, **GOOD | change)


def test_references_are_json_both_ways() -> None:
    reference = Reference(**GOOD)
    assert Reference.from_json(reference.to_json()) == Reference.from_json(reference.to_json().encode()) == reference
    with pytest.raises(TypeError):
        Reference.from_json(1_500_000_000)  # type: ignore[arg-type]


def test_keys_of_files_are_not_printed() -> None:
    key = bytes(range(32))
    assert repr(key) not in f"{SealedFile(key, 22, bytes(32))!r} {Reference(**GOOD | {'key': key})!r}"
    with pytest.raises(PushcryptError):
        SealedFile(key, 22, bytes(32)).reference(url="https://a", type="a.b", name="")
