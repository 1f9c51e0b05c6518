"""HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.

Secrets are not wiped, and nothing is promised about time: `cryptography` computes on keys and compares tags in constant time, the
Python around it does not.
"""
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from keys import Refused

KEM_SUITE = b"KEM\x00\x20"
HPKE_SUITE = b"HPKE\x00\x20\x00\x01\x00\x03"


class Context:
    """An encryption context at sequence number 0, for one message."""

    def __init__(self, key, base_nonce):
        self.aead, self.nonce = ChaCha20Poly1305(key), base_nonce

    def seal(self, aad, pt):
        return self.aead.encrypt(self.nonce, pt, aad)

    def open(self, aad, ct):
        """Decrypts. Returns no plaintext if the tag is wrong [O-4.3]."""
        try:
            return self.aead.decrypt(self.nonce, ct, aad)
        except InvalidTag:
            raise Refused("authentication-failed") from None


def setup_base_s(recipient, info, ikm_e=None):
    """Returns enc and the sender's context for the recipient's public key. Uses plain randomness, which the format
    allows, unless a vector gives the input of `DeriveKeyPair`."""
    ephemeral = X25519PrivateKey.generate() if ikm_e is None else derive_key_pair(ikm_e)
    enc = ephemeral.public_key().public_bytes_raw()
    return enc, key_schedule(extract_and_expand(dh(ephemeral, recipient), enc + recipient), info)


def derive_key_pair(ikm):
    dkp_prk = labeled_extract(KEM_SUITE, b"", b"dkp_prk", ikm)
    return X25519PrivateKey.from_private_bytes(labeled_expand(KEM_SUITE, dkp_prk, b"sk", b"", 32))


def setup_base_r(enc, secret, info):
    """The recipient's context. The KEM context is enc as received [O-4.1]."""
    kem_context = enc + secret.public_key().public_bytes_raw()
    return key_schedule(extract_and_expand(dh(secret, enc), kem_context), info)


def dh(secret, public):
    """X25519. Refuses an all-zero result, as `cryptography` does too [O-4.2]."""
    try:
        result = secret.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise Refused("authentication-failed") from None
    if not any(result):
        raise Refused("authentication-failed")
    return result


def extract_and_expand(dh, kem_context):
    eae_prk = labeled_extract(KEM_SUITE, b"", b"eae_prk", dh)
    return labeled_expand(KEM_SUITE, eae_prk, b"shared_secret", kem_context, 32)


def key_schedule(shared_secret, info):
    psk_id_hash = labeled_extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
    info_hash = labeled_extract(HPKE_SUITE, b"", b"info_hash", info)
    context = b"\x00" + psk_id_hash + info_hash
    secret = labeled_extract(HPKE_SUITE, shared_secret, b"secret", b"")
    key = labeled_expand(HPKE_SUITE, secret, b"key", context, 32)
    return Context(key, labeled_expand(HPKE_SUITE, secret, b"base_nonce", context, 12))


def labeled_extract(suite, salt, label, ikm):
    """For HMAC an empty salt and 32 zero bytes are the same key."""
    return hmac.digest(salt, b"HPKE-v1" + suite + label + ikm, "sha256")


def labeled_expand(suite, prk, label, info, length):
    """At most 32 bytes, so only the first block of HKDF-Expand is needed."""
    info = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(prk, info + b"\x01", "sha256")[:length]
