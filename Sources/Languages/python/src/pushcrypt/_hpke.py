"""HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.

Secrets are not wiped. `cryptography` computes on keys and compares tags in constant time; the Python around it branches
on no secret.
"""

from __future__ import annotations

import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ._errors import Code, PushcryptError

KEM_SUITE = b"KEM\x00\x20"
HPKE_SUITE = b"HPKE\x00\x20\x00\x01\x00\x03"


class Context:
    """An encryption context at sequence number 0, for one message."""

    __slots__ = ("aead", "nonce")

    def __init__(self, key: bytes, base_nonce: bytes) -> None:
        self.aead, self.nonce = ChaCha20Poly1305(key), base_nonce

    def seal(self, aad: bytes, pt: bytes) -> bytes:
        return self.aead.encrypt(self.nonce, pt, aad)

    def open(self, aad: bytes, ct: bytes) -> bytes:
        """Decrypts. Returns no plaintext if the tag is wrong [O-4.3]."""
        try:
            return self.aead.decrypt(self.nonce, ct, aad)
        except InvalidTag:
            raise not_authentic() from None


def not_authentic() -> PushcryptError:
    """The one code and text of steps 4 and 5 [O-5.6]."""
    return PushcryptError(
        Code.AUTHENTICATION_FAILED,
        "the message was changed, or not sealed by a trusted sender for this app and device; compare topic and keys on both ends",
    )


def setup_base_s(recipient: bytes, info: bytes, ikm_e: bytes) -> tuple[bytes, Context]:
    """Returns enc and the sender's context for the recipient's public key."""
    ephemeral = derive_key_pair(ikm_e)
    enc = ephemeral.public_key().public_bytes_raw()
    return enc, key_schedule(extract_and_expand(dh(ephemeral, recipient), enc + recipient), info)


def derive_key_pair(ikm: bytes) -> X25519PrivateKey:
    dkp_prk = labeled_extract(KEM_SUITE, b"", b"dkp_prk", ikm)
    return X25519PrivateKey.from_private_bytes(labeled_expand(KEM_SUITE, dkp_prk, b"sk", b"", 32))


def setup_base_r(enc: bytes, secret: X25519PrivateKey, public: bytes, info: bytes) -> Context:
    """The recipient's context. The KEM context is enc as received [O-4.1]."""
    return key_schedule(extract_and_expand(dh(secret, enc), enc + public), info)


def dh(secret: X25519PrivateKey, public: bytes) -> bytes:
    """X25519. Refuses an all-zero result, as `cryptography` does too [O-4.2]."""
    try:
        result = secret.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise not_authentic() from None
    if not any(result):
        raise not_authentic()
    return result


def extract_and_expand(dh: bytes, kem_context: bytes) -> bytes:
    eae_prk = labeled_extract(KEM_SUITE, b"", b"eae_prk", dh)
    return labeled_expand(KEM_SUITE, eae_prk, b"shared_secret", kem_context, 32)


def key_schedule(shared_secret: bytes, info: bytes) -> Context:
    context = PSK_ID_HASH + labeled_extract(HPKE_SUITE, b"", b"info_hash", info)
    secret = labeled_extract(HPKE_SUITE, shared_secret, b"secret", b"")
    key = labeled_expand(HPKE_SUITE, secret, b"key", context, 32)
    return Context(key, labeled_expand(HPKE_SUITE, secret, b"base_nonce", context, 12))


def labeled_extract(suite: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    """For HMAC an empty salt and 32 zero bytes are the same key."""
    return hmac.digest(salt, b"HPKE-v1" + suite + label + ikm, "sha256")


def labeled_expand(suite: bytes, prk: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """At most 32 bytes, so only the first block of HKDF-Expand is needed."""
    info = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(prk, info + b"\x01", "sha256")[:length]


# The mode, 0 for base, and the hash of the empty psk_id, with which every key schedule's context begins.
PSK_ID_HASH = b"\x00" + labeled_extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
