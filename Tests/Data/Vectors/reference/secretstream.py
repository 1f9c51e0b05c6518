"""libsodium's secret stream (crypto_secretstream_xchacha20poly1305), written from its documentation.

A chunk is its tag, encrypted, then its bytes, encrypted, then Poly1305 over the associated data, one block of 64 bytes
for the tag, the ciphertext and the lengths. After each chunk the nonce takes in the first half of the authenticator.
"""

import struct

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.poly1305 import Poly1305

KEY_SIZE, HEADER_SIZE = 32, 24
OVERHEAD = 1 + 16
BLOCK_SIZE = 64

TAG_MESSAGE, TAG_PUSH, TAG_REKEY, TAG_FINAL = 0x00, 0x01, 0x02, 0x03


class ChunkRefused(Exception):
    """Not the next chunk of this stream."""


def quarter_round(state: list[int], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, distance in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[x] = (state[x] + state[y]) & 0xFFFFFFFF
        state[z] ^= state[x]
        state[z] = (state[z] << distance | state[z] >> (32 - distance)) & 0xFFFFFFFF


def hchacha20(key: bytes, data: bytes) -> bytes:
    """The key of XChaCha20's inner cipher (draft-irtf-cfrg-xchacha, section 2.2)."""
    state = list(struct.unpack("<16I", b"expand 32-byte k" + key + data))
    columns = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
    diagonals = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
    for _ in range(10):
        for words in (*columns, *diagonals):
            quarter_round(state, *words)
    return struct.pack("<8I", *state[:4], *state[12:])


class Stream:
    """One end of a stream; writing and reading begin in the same state."""

    def __init__(self, key: bytes, header: bytes) -> None:
        assert (len(key), len(header)) == (KEY_SIZE, HEADER_SIZE)
        self.key = hchacha20(key, header[:16])
        self.counter = 1
        self.nonce = header[16:]

    def push(self, plain: bytes, tag: int, data: bytes) -> bytes:
        tag_block = self.cipher(1, bytes([tag]) + bytes(BLOCK_SIZE - 1))
        ciphertext = self.cipher(2, plain)
        authenticator = self.authenticate(tag_block, ciphertext, data)
        self.advance(tag, authenticator)
        return tag_block[:1] + ciphertext + authenticator

    def pull(self, sealed: bytes, data: bytes) -> tuple[bytes, int]:
        """The plain chunk and its tag. Raises ChunkRefused."""
        if len(sealed) < OVERHEAD:
            raise ChunkRefused
        ciphertext, authenticator = sealed[1:-16], sealed[-16:]
        tag_block = bytearray(self.cipher(1, sealed[:1] + bytes(BLOCK_SIZE - 1)))
        tag = tag_block[0]
        tag_block[0] = sealed[0]
        if self.authenticate(bytes(tag_block), ciphertext, data) != authenticator:
            raise ChunkRefused
        plain = self.cipher(2, ciphertext)
        self.advance(tag, authenticator)
        return plain, tag

    def plain_of(self, ciphertext: bytes) -> bytes:
        """The chunk to push next to get this ciphertext."""
        return self.cipher(2, ciphertext)

    def cipher(self, block: int, data: bytes) -> bytes:
        initial = struct.pack("<II", block, self.counter) + self.nonce
        return Cipher(ChaCha20(self.key, initial), mode=None).encryptor().update(data)

    def authenticate(self, tag_block: bytes, ciphertext: bytes, data: bytes) -> bytes:
        poly = Poly1305(self.cipher(0, bytes(32)))
        poly.update(data + bytes(-len(data) % 16))
        poly.update(tag_block)
        # The padding is as in libsodium: as many bytes as the remainder, not as many as are missing.
        poly.update(ciphertext + bytes(len(ciphertext) % 16))
        poly.update(struct.pack("<QQ", len(data), BLOCK_SIZE + len(ciphertext)))
        return poly.finalize()

    def advance(self, tag: int, authenticator: bytes) -> None:
        self.nonce = bytes(a ^ b for a, b in zip(self.nonce, authenticator, strict=False))
        self.counter += 1
        if tag & TAG_REKEY or self.counter == 2**32:
            fresh = self.cipher(0, self.key + self.nonce)
            self.key, self.nonce, self.counter = fresh[:32], fresh[32:], 1
