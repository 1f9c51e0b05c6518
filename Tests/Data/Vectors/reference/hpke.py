"""HPKE base mode (RFC 9180), DHKEM(X25519, HKDF-SHA256) / HKDF-SHA256 / ChaCha20-Poly1305; `xwing` has the other KEM.

Every step of the key schedule is a function of its own, because the vectors show the values in between and because
some ciphertexts have to be forged from a chosen Diffie-Hellman result.
"""

import hmac
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

KEM_ID, KDF_ID, AEAD_ID = 0x0020, 0x0001, 0x0003
KEM_SUITE = b"KEM" + KEM_ID.to_bytes(2, "big")


def suite_id(kem: int) -> bytes:
    return b"HPKE" + b"".join(number.to_bytes(2, "big") for number in (kem, KDF_ID, AEAD_ID))


HPKE_SUITE = suite_id(KEM_ID)
MODE_BASE = b"\x00"


class OpenError(Exception):
    """The share was refused or the tag did not match; the two are not distinguished."""


@dataclass(frozen=True)
class Context:
    key_schedule_context: bytes
    secret: bytes
    key: bytes
    base_nonce: bytes
    exporter_secret: bytes
    suite: bytes = HPKE_SUITE

    def nonce(self, sequence: int = 0) -> bytes:
        return (int.from_bytes(self.base_nonce, "big") ^ sequence).to_bytes(12, "big")

    def seal(self, aad: bytes, plaintext: bytes, sequence: int = 0) -> bytes:
        return ChaCha20Poly1305(self.key).encrypt(self.nonce(sequence), plaintext, aad)

    def open(self, aad: bytes, ciphertext: bytes, sequence: int = 0) -> bytes:
        try:
            return ChaCha20Poly1305(self.key).decrypt(self.nonce(sequence), ciphertext, aad)
        except InvalidTag as error:
            raise OpenError from error

    def export(self, exporter_context: bytes, length: int) -> bytes:
        return labeled_expand(self.suite, self.exporter_secret, b"sec", exporter_context, length)


def labeled_extract(suite: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + ikm, "sha256")


def labeled_expand(suite: bytes, prk: bytes, label: bytes, info: bytes, length: int) -> bytes:
    return expand(prk, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, length)


def expand(prk: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand (RFC 5869)."""
    output, block = b"", b""
    for counter in range(1, -(-length // 32) + 1):
        block = hmac.digest(prk, block + info + bytes([counter]), "sha256")
        output += block
    return output[:length]


def public_key(secret: bytes) -> bytes:
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def derive_secret_key(ikm: bytes) -> bytes:
    """DeriveKeyPair (7.1.3) for X25519: the scalar is not clamped here, X25519 clamps when it uses it."""
    prk = labeled_extract(KEM_SUITE, b"", b"dkp_prk", ikm)
    return labeled_expand(KEM_SUITE, prk, b"sk", b"", 32)


def diffie_hellman(secret: bytes, public: bytes) -> bytes:
    """Raises OpenError for the all-zero result, as `cryptography` (through OpenSSL) refuses it."""
    try:
        return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError as error:
        raise OpenError from error


def extract_and_expand(dh: bytes, enc: bytes, recipient_public: bytes) -> bytes:
    prk = labeled_extract(KEM_SUITE, b"", b"eae_prk", dh)
    return labeled_expand(KEM_SUITE, prk, b"shared_secret", enc + recipient_public, 32)


def encapsulate(ephemeral_secret: bytes, recipient_public: bytes) -> tuple[bytes, bytes]:
    """The shared secret and enc."""
    enc = public_key(ephemeral_secret)
    return extract_and_expand(diffie_hellman(ephemeral_secret, recipient_public), enc, recipient_public), enc


def decapsulate(enc: bytes, recipient_secret: bytes) -> bytes:
    return extract_and_expand(diffie_hellman(recipient_secret, enc), enc, public_key(recipient_secret))


def key_schedule(shared_secret: bytes, info: bytes, suite: bytes = HPKE_SUITE) -> Context:
    psk_id_hash = labeled_extract(suite, b"", b"psk_id_hash", b"")
    info_hash = labeled_extract(suite, b"", b"info_hash", info)
    schedule = MODE_BASE + psk_id_hash + info_hash
    secret = labeled_extract(suite, shared_secret, b"secret", b"")
    return Context(
        key_schedule_context=schedule,
        secret=secret,
        key=labeled_expand(suite, secret, b"key", schedule, 32),
        base_nonce=labeled_expand(suite, secret, b"base_nonce", schedule, 12),
        exporter_secret=labeled_expand(suite, secret, b"exp", schedule, 32),
        suite=suite,
    )
