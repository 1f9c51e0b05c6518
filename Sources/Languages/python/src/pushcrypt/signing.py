"""Who signs, and hedged randomness: `Docs/FormatNotes.md`, Randomness."""

from __future__ import annotations

import hmac
from typing import Protocol, Union

from ._errors import Code, PushcryptError
from ._types import check_type
from .certificates import Certificate, Credential
from .keys import ProviderKey, ProviderPublicKey, SigningKey, verifies

__all__ = ["Signer"]


class Signer(Protocol):
    """A key that is not in this process: in a key service or a hardware module.

    It signs the bytes themselves, with pure Ed25519. Each signature is checked before an envelope is returned. What it
    signs reveals nothing of the notification but the device's key and the app. Raise your own error if it cannot sign.
    """

    @property
    def public_key(self) -> bytes:
        """The public half, 32 bytes, which must not change."""

    def sign(self, message: bytes) -> bytes:
        """A signature of 64 bytes over at most 512 bytes."""


AnyKey = Union[ProviderKey, Credential, Signer]


def check_key(key: AnyKey) -> None:
    if isinstance(key, SigningKey):
        raise TypeError("a SigningKey signs by its certificate; give a Credential")
    if not isinstance(key, (ProviderKey, Credential)) and not hasattr(key, "sign"):
        raise TypeError(f"the key is a ProviderKey, a Credential or a Signer, not {type(key).__name__}")


def public_bytes(key: AnyKey) -> bytes:
    if isinstance(key, Credential):
        return key.key.public_bytes()
    return key.public_bytes() if isinstance(key, ProviderKey) else bytes(key.public_key)


def checked_signature(key: AnyKey, message: bytes) -> bytes:
    if isinstance(key, Credential):
        return key.key.sign(message)
    signature = key.sign(message)
    if not isinstance(key, ProviderKey) and not (len(signature) == 64 and verifies(public_bytes(key), signature, message)):
        raise PushcryptError(
            Code.WRONG_SIGNATURE, "the signer returned no signature by its key; it has to sign the bytes, with pure Ed25519"
        )
    return signature


class Identity:
    """Whose messages a key signs: at epoch 0 its own, from then on those of the provider key that certified it."""

    def __init__(self, key: AnyKey, topic: str, provider: ProviderPublicKey | None, certificate: Certificate | None) -> None:
        if isinstance(key, Credential) and provider is None and certificate is None:
            provider, certificate = key.provider, key.certificate
        check_type(provider, (ProviderPublicKey, type(None)), "provider")
        check_type(certificate, (Certificate, type(None)), "certificate")
        self.signing_key = public_bytes(key)
        self.provider = provider or ProviderPublicKey(self.signing_key)
        self.certificate, self.epoch = certificate, 0
        if (provider is None) != (certificate is None):
            raise TypeError("provider and certificate belong together")
        if certificate is not None:
            self.epoch = certificate.epoch
            certificate.check(self.provider, topic)
            if certificate.signing_key != self.signing_key:
                raise PushcryptError(Code.WRONG_CERTIFICATE, "the certificate is that of another signing key")

    @property
    def prefix(self) -> bytes:
        """What the body of each message begins with."""
        return b"" if self.certificate is None else self.certificate.data


class Hedge:
    """HMACs under the hedge key: random values that a cloned machine repeats only for the same message."""

    def __init__(self, key: AnyKey) -> None:
        held = key.key if isinstance(key, Credential) else key
        if isinstance(held, (ProviderKey, SigningKey)):
            seed = held.hedge_seed()
        else:
            seed = checked_signature(held, b"pushcrypt/1 hedge seed\0")
        self._key = hmac.digest(seed, b"pushcrypt/1 hedge\0", "sha256")

    def digest(self, data: bytes) -> bytes:
        return hmac.digest(self._key, data, "sha256")

    def __repr__(self) -> str:
        return "<Hedge>"
