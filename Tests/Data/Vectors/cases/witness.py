"""The second opinion: every HPKE ciphertext in the vectors is also made, and opened, by pyhpke; every secret stream is
also written, and read, by libsodium."""

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


def push_all(key: bytes, header: bytes, chunks: list[tuple[bytes, int, bytes]]) -> bytes:
    """The sealed chunks of a stream: plain bytes, tag and associated data of each go in.

    libsodium draws the header of a stream that it writes. Both ends begin in the same state, so reading begins here.
    """
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, header, key)
    return b"".join(
        sodium.crypto_secretstream_xchacha20poly1305_push(state, plain, data, tag) for plain, tag, data in chunks
    )


def pull_all(key: bytes, sealed: bytes, data: bytes, chunk_size: int) -> list[bytes]:
    """The plain chunks of a stream, its header included, that has none but good ones."""
    header_size = sodium.crypto_secretstream_xchacha20poly1305_HEADERBYTES
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, sealed[:header_size], key)
    return [
        sodium.crypto_secretstream_xchacha20poly1305_pull(state, sealed[start : start + chunk_size], data)[0]
        for start in range(header_size, len(sealed), chunk_size)
    ]
