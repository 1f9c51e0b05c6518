"""HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.

Secrets are not wiped. `cryptography` computes on keys and compares tags in constant time; the Python around it branches
on no secret.
"""

from __future__ import annotations

import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from ._errors import Code, PushcryptError
from ._format import (
    HPKE_BASE_NONCE, HPKE_DKP_PRK, HPKE_EAE_PRK, HPKE_INFO_HASH, HPKE_KEY, HPKE_PSK_ID_HASH, HPKE_SECRET, HPKE_SHARED_SECRET,
    HPKE_SK,
)


def setup_base_s(recipient: bytes, info: bytes, ikm_e: bytes) -> tuple[bytes, ChaCha20Poly1305, bytes]:
    """Returns enc, and the sealer's cipher and nonce for the recipient's public key."""
    ephemeral = derive_key_pair(ikm_e)
    enc = ephemeral.public_key().public_bytes_raw()
    return enc, *key_schedule(extract_and_expand(dh(ephemeral, recipient), enc + recipient), info)


def derive_key_pair(ikm: bytes) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(expand(extract(b"", HPKE_DKP_PRK, ikm), HPKE_SK, b""))


def dh(secret: X25519PrivateKey, public: bytes) -> bytes:
    """X25519. Refuses an all-zero result, as `cryptography` does too [O-4.2]."""
    try:
        result = secret.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise PushcryptError(Code.AUTHENTICATION_FAILED) from None
    if not any(result):
        raise PushcryptError(Code.AUTHENTICATION_FAILED)
    return result


def extract_and_expand(dh: bytes, kem_context: bytes) -> bytes:
    return expand(extract(b"", HPKE_EAE_PRK, dh), HPKE_SHARED_SECRET, kem_context)


def key_schedule(shared_secret: bytes, info: bytes) -> tuple[ChaCha20Poly1305, bytes]:
    """Cipher and nonce of sequence number 0, for one message."""
    context = PSK_ID_HASH + extract(b"", HPKE_INFO_HASH, info)
    secret = extract(shared_secret, HPKE_SECRET, b"")
    return ChaCha20Poly1305(expand(secret, HPKE_KEY, context)), expand(secret, HPKE_BASE_NONCE, context)[:12]


def extract(salt: bytes, label: bytes, ikm: bytes) -> bytes:
    """`LabeledExtract`. For HMAC an empty salt and 32 zero bytes are the same key."""
    return hmac.digest(salt, label + ikm, "sha256")


def expand(prk: bytes, label: bytes, info: bytes) -> bytes:
    """`LabeledExpand` to at most 32 bytes, so only the first block of HKDF-Expand is needed. The caller cuts it to its length."""
    return hmac.digest(prk, label + info + b"\x01", "sha256")


# The mode, 0 for base, and the hash of the empty psk_id, with which every key schedule's context begins.
PSK_ID_HASH = b"\x00" + extract(b"", HPKE_PSK_ID_HASH, b"")
