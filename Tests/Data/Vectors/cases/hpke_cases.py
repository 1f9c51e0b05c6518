"""hpke.json: RFC 9180 base mode with every value in between, and the shares that must be refused.

The names of the fields are those of the vectors of RFC 9180, so that one reader takes both files.
"""

from reference import curve25519, hpke

from . import witness
from .material import Case, seed

# (name, info, then aad and plaintext of each sequence number)
CONTEXTS: list[tuple[str, bytes, list[tuple[bytes, bytes]]]] = [
    ("no info, no associated data, no plaintext", b"", [(b"", b"")]),
    ("no info", b"", [(b"aad", b"plaintext")]),
    ("no associated data", b"info", [(b"", b"plaintext")]),
    ("no plaintext", b"info", [(b"aad", b"")]),
    ("one byte", b"i", [(b"a", b"p")]),
    ("one byte less than a Poly1305 block", b"info", [(b"a" * 15, b"p" * 15)]),
    ("a Poly1305 block", b"info", [(b"a" * 16, b"p" * 16)]),
    ("one byte more than a Poly1305 block", b"info", [(b"a" * 17, b"p" * 17)]),
    ("one byte less than a ChaCha20 block", b"info", [(b"", b"p" * 63)]),
    ("a ChaCha20 block", b"info", [(b"", b"p" * 64)]),
    ("one byte more than a ChaCha20 block", b"info", [(b"", b"p" * 65)]),
    ("zero bytes everywhere", bytes(32), [(bytes(32), bytes(32))]),
    ("info longer than a SHA-256 block", bytes(range(256)), [(b"", b"plaintext")]),
    (
        "the sizes of the smallest envelope",
        b"pushcrypt/1 envelope\x00" + bytes(5) + b"\x00\x0fcom.example.app",
        [(b"", bytes(256))],
    ),
    ("the size of the largest envelope", b"", [(b"", bytes(3584))]),
    ("three messages in one context", b"info", [(b"Count-%d" % number, b"message %d" % number) for number in range(3)]),
]


def vector(name: str, info: bytes, messages: list[tuple[bytes, bytes]]) -> Case:
    ikm_e, ikm_r = seed(f"hpke {name} ikmE"), seed(f"hpke {name} ikmR")
    secret_e, secret_r = hpke.derive_secret_key(ikm_e), hpke.derive_secret_key(ikm_r)
    public_r = hpke.public_key(secret_r)
    shared_secret, enc = hpke.encapsulate(secret_e, public_r)
    context = hpke.key_schedule(shared_secret, info)

    their_secret, their_enc = witness.SUITE.kem.encap(
        witness.SUITE.kem.deserialize_public_key(public_r), eks=witness.SUITE.kem.derive_key_pair(ikm_e)
    )
    assert (shared_secret, enc) == (their_secret, their_enc)
    their_context = witness.SUITE.create_recipient_context(
        enc, witness.SUITE.kem.deserialize_private_key(secret_r), info
    )

    encryptions = []
    for sequence, (aad, plaintext) in enumerate(messages):
        ciphertext = context.seal(aad, plaintext, sequence)
        assert context.open(aad, ciphertext, sequence) == plaintext
        assert their_context.open(ciphertext, aad) == plaintext
        encryptions.append(
            {
                "aad": aad.hex(),
                "ct": ciphertext.hex(),
                "nonce": context.nonce(sequence).hex(),
                "pt": plaintext.hex(),
            }
        )
    exported = context.export(b"context", 32)
    assert exported == their_context.export(b"context", 32)
    return {
        "name": name,
        "mode": 0,
        "kem_id": hpke.KEM_ID,
        "kdf_id": hpke.KDF_ID,
        "aead_id": hpke.AEAD_ID,
        "info": info.hex(),
        "ikmR": ikm_r.hex(),
        "ikmE": ikm_e.hex(),
        "skRm": secret_r.hex(),
        "skEm": secret_e.hex(),
        "pkRm": public_r.hex(),
        "pkEm": enc.hex(),
        "enc": enc.hex(),
        "shared_secret": shared_secret.hex(),
        "key_schedule_context": context.key_schedule_context.hex(),
        "secret": context.secret.hex(),
        "key": context.key.hex(),
        "base_nonce": context.base_nonce.hex(),
        "exporter_secret": context.exporter_secret.hex(),
        "encryptions": encryptions,
        "exports": [{"exporter_context": b"context".hex(), "L": 32, "exported_value": exported.hex()}],
    }


def zero_result_points() -> list[tuple[str, bytes]]:
    """Every string of 32 bytes for which X25519 gives zero: seven values, each with bit 255 clear and set."""
    small = curve25519.small_order_u()
    names = {
        0: "u = 0",
        1: "u = 1",
        curve25519.P - 1: "u = p - 1",
        curve25519.P: "u = p",
        curve25519.P + 1: "u = p + 1",
    }
    points = []
    for u in [*small, curve25519.P, curve25519.P + 1]:
        name = names.get(u, f"u of order 8, {u % 1000:03d} at its end")
        points.append((name, u.to_bytes(32, "little")))
        points.append((f"{name}, bit 255 set", (u | curve25519.SIGN).to_bytes(32, "little")))
    return points


def refused_share(name: str, enc: bytes) -> Case:
    """An envelope that anyone can create without a key: the ciphertext is correct for a Diffie-Hellman result of zero.

    An implementation that does not check the result opens it.
    """
    secret_r = hpke.derive_secret_key(seed(f"hpke refused {name} ikmR"))
    info = b"info"
    shared_secret = hpke.extract_and_expand(bytes(32), enc, hpke.public_key(secret_r))
    ciphertext = hpke.key_schedule(shared_secret, info).seal(b"", b"forged without a key")
    assert witness.opens(enc, secret_r, info, b"", ciphertext) is None
    return {
        "name": name,
        "skRm": secret_r.hex(),
        "pkRm": hpke.public_key(secret_r).hex(),
        "enc": enc.hex(),
        "info": info.hex(),
        "aad": "",
        "ct": ciphertext.hex(),
    }


def refused_recipient(name: str, public: bytes) -> Case:
    ikm_e = seed(f"hpke refused recipient {name} ikmE")
    try:
        hpke.encapsulate(hpke.derive_secret_key(ikm_e), public)
    except hpke.OpenError:
        return {"name": name, "ikmE": ikm_e.hex(), "pkRm": public.hex()}
    raise AssertionError(f"{name} was encapsulated to")


def document() -> dict[str, list[Case]]:
    points = zero_result_points()
    return {
        "vectors": [vector(*context) for context in CONTEXTS],
        "refusedShares": [refused_share(*point) for point in points],
        "refusedRecipients": [refused_recipient(*point) for point in points],
    }
