"""Whose messages a key signs, and hedged randomness: `Docs/FormatNotes.md`, Randomness."""

from __future__ import annotations

import hmac
from ._certificates import Certificate, Credential
from ._errors import Code, PushcryptError
from ._format import LABEL_HEDGE, LABEL_HEDGE_SEED
from ._keys import ProviderKey, ProviderPublicKey
from ._signing import AsyncSigner, Signer, check_signer, signature_of
from ._types import check_optional

AnyKey = ProviderKey | Credential | Signer


def check_key(key: AnyKey | AsyncSigner, is_async: bool = False) -> None:
    if not isinstance(key, (ProviderKey, Credential)):
        check_signer(key, is_async)


class Identity:
    """Whose messages a key signs: at epoch 0 its own, from then on those of the provider key that certified it."""

    def __init__(
        self, key: AnyKey | AsyncSigner, topic: str, provider: ProviderPublicKey | None, certificate: Certificate | None
    ) -> None:
        if isinstance(key, Credential) and provider is None and certificate is None:
            provider, certificate = key.provider, key.certificate
        check_optional(provider, ProviderPublicKey, "provider")
        check_optional(certificate, Certificate, "certificate")
        if (provider is None) != (certificate is None):
            raise TypeError("provider and certificate belong together")
        self.signing_key = key.key.public_bytes() if isinstance(key, Credential) else bytes(key.public_key)
        self.provider = provider or ProviderPublicKey(self.signing_key)
        self.certificate, self.epoch, self.prefix = certificate, 0, b""
        if certificate is not None:
            # What the body of each message begins with.
            self.epoch, self.prefix = certificate.epoch, certificate.data
            certificate.check(self.provider, topic)
            if certificate.signing_key != self.signing_key:
                raise PushcryptError(Code.WRONG_CERTIFICATE, "the certificate is that of another signing key")



class Hedge:
    """HMACs under the hedge key: random values that a cloned machine repeats only for the same message."""

    def __init__(self, seed: bytes) -> None:
        self._key = hmac.digest(seed, LABEL_HEDGE, "sha256")

    @classmethod
    def of(cls, key: AnyKey) -> Hedge:
        if isinstance(key, Credential):
            return cls(key.key.hedge_seed())
        return cls(key.hedge_seed() if isinstance(key, ProviderKey) else signature_of(key, LABEL_HEDGE_SEED))

    def digest(self, data: bytes) -> bytes:
        return hmac.digest(self._key, data, "sha256")

    def __repr__(self) -> str:
        return "<Hedge>"


class Hedged:
    """What has a hedge key: a sealer, whose key need not sign again."""

    _hedge: Hedge


def hedge_of(key: AnyKey | Hedged) -> Hedge:
    if isinstance(key, Hedged):
        return key._hedge
    check_key(key)
    return Hedge.of(key)


def sign(key: AnyKey, message: bytes) -> bytes:
    return key.key.sign(message) if isinstance(key, Credential) else signature_of(key, message)
