"""Keys that are not in this process."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Protocol

from ._errors import Code, PushcryptError
from ._format import KEY_LENGTH
from ._keys import ProviderKey, check_verifying_key, verifies
from ._types import check_type


class Signer(Protocol):
    """A key in a key service or a hardware module: of `Sealer`, and of `CertificateRequest.certify`.

    It signs the bytes themselves, with pure Ed25519. Each signature is checked before it is used. What it signs reveals
    nothing of a notification but the device's key and the app. Raise your own error if it cannot sign; it reaches who
    called.
    """

    @property
    def public_key(self) -> bytes:
        """The public half, 32 bytes, which must not change."""

    def sign(self, message: bytes) -> bytes:
        """A signature of 64 bytes over at most 512 bytes."""


class AsyncSigner(Protocol):
    """The same for asyncio: of `AsyncSealer`."""

    @property
    def public_key(self) -> bytes:
        """The public half, 32 bytes, which must not change."""

    def sign(self, message: bytes) -> Awaitable[bytes]:
        """A signature of 64 bytes over at most 512 bytes."""


def check_signer(signer: object, is_async: bool) -> None:
    """Refuses what is no signer of this kind, a class among them."""
    kind = "AsyncSigner" if is_async else "Signer"
    sign, public_key = getattr(signer, "sign", None), getattr(signer, "public_key", None)
    if isinstance(signer, type) or not callable(sign) or not isinstance(public_key, bytes):
        raise TypeError(f"the key is no {kind}: it has no public_key of bytes and sign(message); {type(signer).__name__} was given")
    if inspect.iscoroutinefunction(sign) and not is_async:
        raise TypeError("sign of this signer is asynchronous; use an AsyncSealer")
    if len(public_key) != KEY_LENGTH:
        raise PushcryptError(Code.MALFORMED_KEY, f"the signer's public key has {len(public_key)} bytes, not {KEY_LENGTH}")
    check_verifying_key(public_key)


def checked(signature: object, public_key: bytes, message: bytes) -> bytes:
    """A signature from elsewhere, once it verifies."""
    check_type(signature, bytes, "what the signer returns")
    assert isinstance(signature, bytes)
    if not verifies(public_key, signature, message):
        raise PushcryptError(Code.WRONG_SIGNATURE)
    return signature


def signature_of(key: ProviderKey | Signer, message: bytes) -> bytes:
    """A signature by a provider key, wherever it is."""
    return key.sign(message) if isinstance(key, ProviderKey) else checked(key.sign(message), bytes(key.public_key), message)
