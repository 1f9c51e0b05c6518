"""ML-KEM-768's encapsulation with given randomness (FIPS 203, sections 4 to 6): libraries encapsulate only at random.

Keys and decapsulation are `cryptography`'s, so each checks the other.
"""

import hashlib
from functools import cache

N, Q, K = 256, 3329, 3
ETA, DU, DV = 2, 10, 4
# A coefficient needs 12 bits.
VECTOR_SIZE = 384 * K

Polynomial = list[int]


def reversed_bits(number: int) -> int:
    return int(f"{number:07b}"[::-1], 2)


@cache
def zetas() -> tuple[int, ...]:
    return tuple(pow(17, reversed_bits(index), Q) for index in range(128))


def transform(polynomial: Polynomial) -> Polynomial:
    """NTT, algorithm 9."""
    f, index, length = list(polynomial), 1, 128
    while length >= 2:
        for start in range(0, N, 2 * length):
            zeta, index = zetas()[index], index + 1
            for j in range(start, start + length):
                t = zeta * f[j + length] % Q
                f[j], f[j + length] = (f[j] + t) % Q, (f[j] - t) % Q
        length //= 2
    return f


def transform_back(polynomial: Polynomial) -> Polynomial:
    """NTT⁻¹, algorithm 10."""
    f, index, length = list(polynomial), 127, 2
    while length <= 128:
        for start in range(0, N, 2 * length):
            zeta, index = zetas()[index], index - 1
            for j in range(start, start + length):
                t = f[j]
                f[j], f[j + length] = (t + f[j + length]) % Q, zeta * (f[j + length] - t) % Q
        length *= 2
    return [coefficient * 3303 % Q for coefficient in f]


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """MultiplyNTTs, algorithms 11 and 12."""
    product = []
    for i in range(128):
        a0, a1, b0, b1 = a[2 * i], a[2 * i + 1], b[2 * i], b[2 * i + 1]
        gamma = pow(17, 2 * reversed_bits(i) + 1, Q)
        product += [(a0 * b0 + a1 * b1 * gamma) % Q, (a0 * b1 + a1 * b0) % Q]
    return product


def add(*polynomials: Polynomial) -> Polynomial:
    return [sum(coefficients) % Q for coefficients in zip(*polynomials, strict=True)]


def bits(data: bytes) -> list[int]:
    return [byte >> bit & 1 for byte in data for bit in range(8)]


def decode(data: bytes, width: int) -> Polynomial:
    """ByteDecode, algorithm 6."""
    stream = bits(data)
    return [sum(stream[i * width + bit] << bit for bit in range(width)) for i in range(N)]


def encode(polynomial: Polynomial, width: int) -> bytes:
    """ByteEncode, algorithm 5."""
    stream = [coefficient >> bit & 1 for coefficient in polynomial for bit in range(width)]
    return bytes(sum(stream[i + bit] << bit for bit in range(8)) for i in range(0, len(stream), 8))


def compress(polynomial: Polynomial, width: int) -> Polynomial:
    return [((coefficient << width) * 2 + Q) // (2 * Q) % (1 << width) for coefficient in polynomial]


def decompress(polynomial: Polynomial, width: int) -> Polynomial:
    return [(coefficient * Q * 2 + (1 << width)) // (2 << width) for coefficient in polynomial]


def uniform(seed: bytes) -> Polynomial:
    """SampleNTT, algorithm 7. 3,000 bytes are more than it needs."""
    stream, output = hashlib.shake_128(seed).digest(3000), []
    for i in range(0, len(stream), 3):
        first, second, third = stream[i : i + 3]
        for candidate in (first + 256 * (second % 16), second // 16 + 16 * third):
            if candidate < Q and len(output) < N:
                output.append(candidate)
    assert len(output) == N
    return output


def noise(seed: bytes, number: int) -> Polynomial:
    """SamplePolyCBD of PRF, algorithm 8."""
    stream = bits(hashlib.shake_256(seed + bytes([number])).digest(64 * ETA))
    return [(sum(stream[4 * i : 4 * i + 2]) - sum(stream[4 * i + 2 : 4 * i + 4])) % Q for i in range(N)]


def encrypt(public: bytes, message: bytes, randomness: bytes) -> bytes:
    """K-PKE.Encrypt, algorithm 14."""
    t = [decode(public[384 * i : 384 * (i + 1)], 12) for i in range(K)]
    rho = public[VECTOR_SIZE:]
    y = [transform(noise(randomness, i)) for i in range(K)]
    u = [
        add(
            transform_back(add(*(multiply(uniform(rho + bytes([i, j])), y[j]) for j in range(K)))),
            noise(randomness, K + i),
        )
        for i in range(K)
    ]
    v = add(
        transform_back(add(*(multiply(t[i], y[i]) for i in range(K)))),
        noise(randomness, 2 * K),
        decompress(decode(message, 1), 1),
    )
    return b"".join(encode(compress(one, DU), DU) for one in u) + encode(compress(v, DV), DV)


def is_acceptable(public: bytes) -> bool:
    """Section 7.2: the length, and every coefficient below q."""
    return len(public) == VECTOR_SIZE + 32 and all(
        coefficient < Q for i in range(K) for coefficient in decode(public[384 * i : 384 * (i + 1)], 12)
    )


def encapsulate(public: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Encaps_internal, algorithm 17: the shared secret and the ciphertext."""
    output = hashlib.sha3_512(message + hashlib.sha3_256(public).digest()).digest()
    return output[:32], encrypt(public, message, output[32:])
