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
        "the message was changed, or not sealed by a pinned provider for this app and device; compare topic and keys on both ends",
    )


def setup_base_s(recipient: bytes, info: bytes, ikm_e: bytes) -> tuple[bytes, Context]:
    """Returns enc and the sealer's context for the recipient's public key."""
    ephemeral = derive_key_pair(ikm_e)
    enc = ephemeral.public_key().public_bytes_raw()
    return enc, key_schedule(extract_and_expand(dh(ephemeral, recipient), enc + recipient), info)


def derive_key_pair(ikm: bytes) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(expand(extract(b"", DKP_PRK, ikm), SK, b""))


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
    return expand(extract(b"", EAE_PRK, dh), SHARED_SECRET, kem_context)


def key_schedule(shared_secret: bytes, info: bytes) -> Context:
    context = PSK_ID_HASH + extract(b"", INFO_HASH, info)
    secret = extract(shared_secret, SECRET, b"")
    return Context(expand(secret, KEY, context), expand(secret, BASE_NONCE, context)[:12])


def extract(salt: bytes, label: bytes, ikm: bytes) -> bytes:
    """`LabeledExtract`. For HMAC an empty salt and 32 zero bytes are the same key."""
    return hmac.digest(salt, label + ikm, "sha256")


def expand(prk: bytes, label: bytes, info: bytes) -> bytes:
    """`LabeledExpand` to at most 32 bytes, so only the first block of HKDF-Expand is needed. The caller cuts it to its length."""
    return hmac.digest(prk, label + info + b"\x01", "sha256")


# The labels as they are hashed: the length of what is expanded, the version, the suite and the name.
DKP_PRK, EAE_PRK = (b"HPKE-v1" + KEM_SUITE + name for name in (b"dkp_prk", b"eae_prk"))
SK, SHARED_SECRET = (b"\x00\x20HPKE-v1" + KEM_SUITE + name for name in (b"sk", b"shared_secret"))
INFO_HASH, SECRET = (b"HPKE-v1" + HPKE_SUITE + name for name in (b"info_hash", b"secret"))
KEY, BASE_NONCE = b"\x00\x20HPKE-v1" + HPKE_SUITE + b"key", b"\x00\x0cHPKE-v1" + HPKE_SUITE + b"base_nonce"
# The mode, 0 for base, and the hash of the empty psk_id, with which every key schedule's context begins.
PSK_ID_HASH = b"\x00" + extract(b"", b"HPKE-v1" + HPKE_SUITE + b"psk_id_hash", b"")
