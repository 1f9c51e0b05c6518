"""Whose messages a key signs, and hedged randomness: `Docs/Format.md`, Randomness."""

from __future__ import annotations

import hmac

from ._certificates import Certificate, Credential
from ._format import LABEL_HEDGE
from ._keys import ProviderKey, ProviderPublicKey
from ._types import check_type

AnyKey = ProviderKey | Credential


class Identity:
    """Whose messages a key signs: at epoch 0 its own, from then on those of the provider key that certified it."""

    def __init__(self, key: AnyKey, topic: str) -> None:
        check_type(key, (ProviderKey, Credential), "the key")
        # The prefix is what the body of each message begins with.
        self.certificate: Certificate | None = None
        self.epoch, self.prefix = 0, b""
        if isinstance(key, Credential):
            key.certificate.check(key.provider, topic)
            self.certificate, self.epoch, self.prefix = key.certificate, key.certificate.epoch, key.certificate.data
        self.key = key.key if isinstance(key, Credential) else key
        self.signing_key = self.key.public_bytes()
        self.provider: ProviderPublicKey = key.provider if isinstance(key, Credential) else key.public_key


class Hedge:
    """HMACs under the hedge key: random values that a cloned machine repeats only for the same message."""

    def __init__(self, seed: bytes) -> None:
        self._key = hmac.digest(seed, LABEL_HEDGE, "sha256")

    @classmethod
    def of(cls, key: AnyKey) -> Hedge:
        check_type(key, (ProviderKey, Credential), "the key")
        return cls((key.key if isinstance(key, Credential) else key).hedge_seed())

    def digest(self, data: bytes) -> bytes:
        return hmac.digest(self._key, data, "sha256")

    def __repr__(self) -> str:
        return "<Hedge>"


class Hedged:
    """What has a hedge key: a sealer."""

    _hedge: Hedge


def hedge_of(key: AnyKey | Hedged) -> Hedge:
    return key._hedge if isinstance(key, Hedged) else Hedge.of(key)
