"""The secret stream of sealed files: `Docs/FormatAttachments.md`, The stream.

libsodium's `crypto_secretstream_xchacha20poly1305`, from the ChaCha20 and Poly1305 of `cryptography`.
"""

from __future__ import annotations

import hmac
import struct

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.poly1305 import Poly1305

MESSAGE, FINAL = 0x00, 0x03
REKEYS = 0x02
HEADER = 24
OVERHEAD = 17
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def hchacha20(key: bytes, input: bytes) -> bytes:
    """HChaCha20 of draft-irtf-cfrg-xchacha: a block of ChaCha20 without the addition at its end, of which it is taken
    off again."""
    block = struct.unpack("<16I", blocks(key, input, 64))
    nonce = struct.unpack("<4I", input)
    words = [(block[index] - CONSTANTS[index]) & 0xFFFFFFFF for index in range(4)]
    words += [(block[12 + index] - nonce[index]) & 0xFFFFFFFF for index in range(4)]
    return struct.pack("<8I", *words)


def blocks(key: bytes, counter_and_nonce: bytes, length: int) -> bytes:
    """The key stream of ChaCha20 from a block on."""
    return Cipher(ChaCha20(key, counter_and_nonce), mode=None).encryptor().update(bytes(length))


class Stream:
    """One end of a stream, under a key and a header that were never used together before."""

    def __init__(self, key: bytes, header: bytes) -> None:
        self.key, self.inonce, self.counter = hchacha20(key, header[:16]), header[16:], 1

    def push(self, plain: bytes, ad: bytes, tag: int) -> bytes:
        """Seals a chunk."""
        nonce = self.nonce()
        first = bytes([tag]) + bytes(63)
        sealed = Cipher(ChaCha20(self.key, b"\x01\0\0\0" + nonce), mode=None).encryptor().update(first + plain)
        block, c = sealed[:64], sealed[64:]
        mac = self.mac(nonce, ad, block, c)
        self.advance(tag, mac)
        return block[:1] + c + mac

    def pull(self, chunk: bytes, ad: bytes) -> tuple[bytes, int] | None:
        """Opens a chunk; returns its bytes and its tag, or `None` if it is not authentic."""
        nonce, c = self.nonce(), chunk[1:-16]
        stream = blocks(self.key, b"\x01\0\0\0" + nonce, 64)
        tag = chunk[0] ^ stream[0]
        mac = self.mac(nonce, ad, chunk[:1] + stream[1:], c)
        if not hmac.compare_digest(mac, chunk[-16:]):
            return None
        plain = Cipher(ChaCha20(self.key, b"\x02\0\0\0" + nonce), mode=None).encryptor().update(c)
        self.advance(tag, mac)
        return plain, tag

    def nonce(self) -> bytes:
        return struct.pack("<I", self.counter) + self.inonce

    def mac(self, nonce: bytes, ad: bytes, block: bytes, c: bytes) -> bytes:
        mac = Poly1305(blocks(self.key, bytes(4) + nonce, 32))
        mac.update(ad + bytes(-len(ad) % 16))
        mac.update(block)
        mac.update(c)
        # As many zeros as |c| mod 16, not what c lacks of a block.
        mac.update(bytes(len(c) % 16) + struct.pack("<QQ", len(ad), 64 + len(c)))
        return mac.finalize()

    def advance(self, tag: int, mac: bytes) -> None:
        self.inonce = xor(self.inonce, mac[:8])
        self.counter = (self.counter + 1) & 0xFFFFFFFF
        if tag & REKEYS or self.counter == 0:
            stream = blocks(self.key, bytes(4) + self.nonce(), 40)
            self.key, self.inonce, self.counter = xor(self.key, stream[:32]), xor(self.inonce, stream[32:]), 1


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(a, b))
