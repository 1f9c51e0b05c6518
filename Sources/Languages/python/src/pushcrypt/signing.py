"""Who signs, and hedged randomness: `Docs/FormatNotes.md`, Randomness."""

from __future__ import annotations

import hmac
from typing import Protocol

from ._errors import Code, PushcryptError
from .keys import SenderKey, SenderPublicKey

__all__ = ["Signer"]


class Signer(Protocol):
    """A signing key that is not in this process: in a key service or a hardware module.

    It signs the bytes themselves, with pure Ed25519. Each signature is checked before an envelope is returned. What it
    signs reveals nothing of the notification but the device's key and the app. Raise your own error if it cannot sign.
    """

    @property
    def public_key(self) -> SenderPublicKey:
        """The public half, which must not change."""

    def sign(self, message: bytes) -> bytes:
        """A signature of 64 bytes over at most 512 bytes."""


def checked_signature(signer: SenderKey | Signer, public_key: SenderPublicKey, message: bytes) -> bytes:
    signature = signer.sign(message)
    if not isinstance(signer, SenderKey) and not (len(signature) == 64 and public_key.verifies(signature, message)):
        raise PushcryptError(
            Code.WRONG_SIGNATURE, "the signer returned no signature by its key; it has to sign the bytes, with pure Ed25519"
        )
    return signature


class Hedge:
    """HMACs under the hedge key: random values that a cloned machine repeats only for the same message."""

    def __init__(self, signer: SenderKey | Signer) -> None:
        if isinstance(signer, SenderKey):
            seed = signer.hedge_seed()
        else:
            seed = checked_signature(signer, signer.public_key, b"pushcrypt/1 hedge seed\0")
        self._key = hmac.digest(seed, b"pushcrypt/1 hedge\0", "sha256")

    def digest(self, data: bytes) -> bytes:
        return hmac.digest(self._key, data, "sha256")

    def __repr__(self) -> str:
        return "<Hedge>"
