"""The second opinion: every HPKE ciphertext in the vectors is also made, and opened, by pyhpke; every chunk of a file is
also sealed by libsodium."""

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from nacl import bindings as sodium
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, PyHPKEError

from reference import hpke

SUITE = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.CHACHA20_POLY1305)
assert (SUITE.kem.id.value, SUITE.kdf.id.value, SUITE.aead.id.value) == (hpke.KEM_ID, hpke.KDF_ID, hpke.AEAD_ID)


def seal(ikm_e: bytes, recipient: bytes, info: bytes, aad: bytes, plaintext: bytes) -> tuple[bytes, bytes]:
    """enc and ciphertext, on which both implementations agree."""
    shared_secret, enc = hpke.encapsulate(hpke.derive_secret_key(ikm_e), recipient)
    ciphertext = hpke.key_schedule(shared_secret, info).seal(aad, plaintext)
    their_enc, context = SUITE.create_sender_context(
        SUITE.kem.deserialize_public_key(recipient), info, eks=SUITE.kem.derive_key_pair(ikm_e)
    )
    assert (enc, ciphertext) == (their_enc, context.seal(plaintext, aad))
    return enc, ciphertext


def opens(enc: bytes, secret: bytes, info: bytes, aad: bytes, ciphertext: bytes) -> bytes | None:
    """The plaintext, or None, on which both implementations agree."""
    try:
        ours = hpke.key_schedule(hpke.decapsulate(enc, secret), info).open(aad, ciphertext)
    except hpke.OpenError:
        ours = None
    try:
        context = SUITE.create_recipient_context(enc, SUITE.kem.deserialize_private_key(secret), info)
        theirs = context.open(ciphertext, aad)
    except (PyHPKEError, ValueError):
        theirs = None
    assert ours == theirs
    return ours


def seal_chunk(key: bytes, nonce: bytes, plain: bytes, data: bytes) -> bytes:
    """A chunk of a file, on which both implementations agree."""
    sealed = ChaCha20Poly1305(key).encrypt(nonce, plain, data)
    assert sealed == sodium.crypto_aead_chacha20poly1305_ietf_encrypt(plain, data, nonce, key)
    return sealed
