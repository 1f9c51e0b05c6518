"""X-Wing (draft-connolly-cfrg-xwing-kem): ML-KEM-768 and X25519, HPKE's KEM 0x647A."""

import hashlib

from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey

from . import hpke, mlkem

KEM_ID = 0x647A
LABEL = rb"\.//^" + b"\\"
SEED_LABEL = b"pushcrypt/1 xwing seed\x00"
PUBLIC_SIZE, ENC_SIZE = 1216, 1120
MLKEM_PUBLIC_SIZE, MLKEM_ENC_SIZE = 1184, 1088


class Seed(bytes):
    """A device's secret key of suite 0x02, where one of suite 0x01 could stand."""


def expand(seed: bytes) -> tuple[MLKEM768PrivateKey, bytes]:
    """ML-KEM's key and X25519's scalar."""
    expanded = hashlib.shake_256(seed).digest(96)
    return MLKEM768PrivateKey.from_seed_bytes(expanded[:64]), expanded[64:]


def public_key(seed: bytes) -> bytes:
    lattice, scalar = expand(seed)
    return lattice.public_key().public_bytes_raw() + hpke.public_key(scalar)


def combine(lattice_secret: bytes, dh: bytes, enc: bytes, public: bytes) -> bytes:
    return hashlib.sha3_256(
        lattice_secret + dh + enc[MLKEM_ENC_SIZE:] + public[MLKEM_PUBLIC_SIZE:] + LABEL
    ).digest()


def encapsulate(randomness: bytes, public: bytes) -> tuple[bytes, bytes]:
    """The shared secret and enc, for ML-KEM's m and X25519's scalar."""
    lattice_secret, share = mlkem.encapsulate(public[:MLKEM_PUBLIC_SIZE], randomness[:32])
    enc = share + hpke.public_key(randomness[32:])
    dh = hpke.diffie_hellman(randomness[32:], public[MLKEM_PUBLIC_SIZE:])
    return combine(lattice_secret, dh, enc, public), enc


def decapsulate(enc: bytes, seed: bytes) -> bytes:
    """Raises OpenError for the all-zero Diffie-Hellman result, which O-4.2's values give."""
    lattice, scalar = expand(seed)
    dh = hpke.diffie_hellman(scalar, enc[MLKEM_ENC_SIZE:])
    return combine(lattice.decapsulate(enc[:MLKEM_ENC_SIZE]), dh, enc, public_key(seed))


def randomness(ikm: bytes) -> bytes:
    """The 64 hedged bytes: HKDF-Expand-SHA256."""
    return hpke.expand(ikm, SEED_LABEL, 64)
