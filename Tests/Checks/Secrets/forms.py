"""The forms of secrets in memory and in text, derived here independently of the program under test."""

import base64, ctypes, ctypes.util, hashlib, hmac, json, os, sqlite3

ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
STANDARD = "pushcrypt/1"
sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
assert sodium.sodium_init() >= 0


def key_of_text(text: str) -> bytes:
    """The 32 bytes of a key's text, which is well formed, because the program wrote it."""
    bits = "".join(f"{ALPHABET.index(character):05b}" for character in text.lower().rpartition("1")[2][:-6])
    return bytes(int(bits[start : start + 8], 2) for start in range(0, 256, 8))


def text_of_key(prefix: str, key: bytes) -> bytes:
    """The text without its checksum, which is not needed to know a key."""
    bits = "".join(f"{byte:08b}" for byte in key) + "0000"
    groups = [int(bits[start : start + 5], 2) for start in range(0, 260, 5)]
    return (prefix + "".join(ALPHABET[group] for group in groups)).encode()


# MARK: Secrets and what is made of them


def clamped(scalar: bytes) -> bytes:
    return bytes([scalar[0] & 248]) + scalar[1:31] + bytes([scalar[31] & 127 | 64])


def signed_digits(scalar: bytes) -> bytes:
    """The scalar as 64 digits of -8 to 8, as used in a multiplication of the base point."""
    digits = [nibble for byte in scalar for nibble in (byte & 15, byte >> 4)]
    for index in range(63):
        carry = digits[index] + 8 >> 4
        digits[index] -= carry << 4
        digits[index + 1] += carry
    return bytes(digit & 255 for digit in digits)


def of_device(scalar: bytes, name: str) -> dict[str, bytes]:
    return {
        f"{name}: scalar": scalar,
        f"{name}: clamped scalar": clamped(scalar),
        f"{name}: digits of the scalar": signed_digits(clamped(scalar)),
    }


def of_provider(seed: bytes, name: str) -> dict[str, bytes]:
    expanded = hashlib.sha512(seed).digest()
    return {
        f"{name}: seed": seed,
        f"{name}: signing scalar": clamped(expanded[:32]),
        f"{name}: digits of the signing scalar": signed_digits(clamped(expanded[:32])),
        f"{name}: signing prefix": expanded[32:],
        f"{name}: hedge key": hmac.digest(seed, f"{STANDARD} hedge\0".encode(), "sha256"),
    }


def of_store(key: bytes, name: str) -> dict[str, bytes]:
    return {
        f"{name}: store key": key,
        f"{name}: sealing key": store_subkey(key, 1),
        f"{name}: authentication key": store_subkey(key, 2),
    }


def store_subkey(key: bytes, number: int) -> bytes:
    return hashlib.blake2b(
        digest_size=32, key=key, salt=number.to_bytes(16, "little"), person=b"pcstore1".ljust(16, b"\0")
    ).digest()


def of_passphrase(passphrase: bytes, store: str, name: str) -> dict[str, bytes]:
    """The passphrase, and the store's keys."""
    with sqlite3.connect(f"file:{store}/keystore.db?mode=ro", uri=True) as database:
        salt, passes, memory = database.execute("SELECT salt, passes, memory FROM store").fetchone()
    key = ctypes.create_string_buffer(32)
    code = sodium.crypto_pwhash(
        key, ctypes.c_ulonglong(32), passphrase, ctypes.c_ulonglong(len(passphrase)), salt,
        ctypes.c_ulonglong(passes), ctypes.c_size_t(memory), 2)
    assert code == 0
    return {f"{name}: passphrase": passphrase} | of_store(key.raw, name)


# MARK: A store that its test can read


def in_store(path: str, name: str, store_key: bytes | None = None) -> dict[str, bytes]:
    """Every secret of a store: its own keys, and those in its states."""
    if store_key is None:
        with open(os.path.join(path, "store.key"), "rb") as file:
            store_key = file.read()
    secrets = of_store(store_key, name)
    with sqlite3.connect(f"file:{path}/keystore.db?mode=ro", uri=True) as database:
        for state, revision, sealed in database.execute("SELECT name, revision, sealed FROM states"):
            named, found = stored_state(state, sealed, store_key, revision)
            if state == "device":
                for number, secret in enumerate(found):
                    secrets |= of_device(secret, f"{name}: device key {number}")
            else:
                for kind, secret in zip(provider_secrets(named), found, strict=True):
                    signs = "answer" not in kind and "pairing" not in kind
                    secrets |= of_provider(secret, f"{name}: {kind}") if signs else {f"{name}: {kind}": secret}
    return secrets


def provider_secrets(state: dict) -> list[str]:
    """The names of the secrets of a provider's state, in their order."""
    names = []
    for key in state.get("keys", []):
        names += [] if key.get("offline") else [f"provider key {key['name']}"]
        names += [f"{kind} key {key['name']}" for kind, member in (("signing", "signing"), ("requested", "request")) if member in key]
        names += [f"answer secret {key['name']}.{number}" for number, _ in enumerate(key.get("answers", []))]
    names += ["push key"] if "push_key" in state else []
    return names + [f"pairing {pairing['id']}" for pairing in state.get("pairings", [])]


def stored_state(name: str, sealed: bytes, store_key: bytes, revision: bytes) -> tuple[dict, list[bytes]]:
    """A sealed state of a store: its JSON, and the secrets before it, in the order in which the JSON names them."""
    form = opened_at(revision + name.encode(), sealed, store_key)
    place, secrets = 5, []
    for _ in range(int.from_bytes(form[1:5], "big")):
        end = place + 1 + form[place]
        secrets.append(form[place + 1 : end])
        place = end
    return json.loads(form[place:]), secrets


def opened_at(place: bytes, sealed: bytes, store_key: bytes) -> bytes:
    nonce, ciphertext = sealed[:24], sealed[24:]
    plain = ctypes.create_string_buffer(len(ciphertext) - 16)
    code = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
        plain, None, None, ciphertext, ctypes.c_ulonglong(len(ciphertext)), place, ctypes.c_ulonglong(len(place)), nonce,
        store_subkey(store_key, 1))
    assert code == 0, "a state does not open"
    return plain.raw


def sealed(plain: bytes, data: bytes, store_key: bytes) -> bytes:
    nonce, ciphertext = os.urandom(24), ctypes.create_string_buffer(len(plain) + 16)
    sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        ciphertext, None, plain, ctypes.c_ulonglong(len(plain)), data, ctypes.c_ulonglong(len(data)), None, nonce, store_subkey(store_key, 1))
    return nonce + ciphertext.raw


# MARK: Forms


def halves(secrets: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """Each half of each secret in bytes, and the text of a key."""
    found = []
    for name, secret in secrets.items():
        half = len(secret) // 2
        found += [(f"{name} (first half)", secret[:half]), (f"{name} (second half)", secret[-half:])]
        for kind, prefix in (("scalar", "pcr-secret-1"), ("seed", "pcs-secret-1")):
            if name.endswith(f": {kind}"):
                text = text_of_key(prefix, secret)[12:40]
                found += [(f"{name} (key text)", text.upper()), (f"{name} (key text, lower case)", text)]
    return found


def needles(secrets: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """These, and every other text form of a secret."""
    found = halves(secrets)
    for name, secret in secrets.items():
        beginning = secret[:24]
        found += [
            (f"{name} (hexadecimal)", beginning.hex().encode()),
            (f"{name} (hexadecimal, upper case)", beginning.hex().upper().encode()),
            (f"{name} (base64)", base64.b64encode(beginning)),
            (f"{name} (base64url)", base64.urlsafe_b64encode(beginning)),
            # PKCS #8 has 16 bytes before a key, which shifts the base64 groups.
            (f"{name} (base64 in PEM)", base64.b64encode(secret[2:26])),
        ]
    return found
