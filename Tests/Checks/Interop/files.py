"""Sealed files, both ways: the product's `attach seal` and `attach open` against the receivers."""
import base64
import hashlib
import json
import os
import random

from drivers import Failure
from world import FOLDER, make_provider_store, pushcrypt

CHUNK = 65_536
# The worked example's.
PROVIDER_SECRET = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ"
SIZES = (0, 1, 15, 16, 17, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1)
RANDOM_SIZES = 10


def path(name):
    return os.path.join(FOLDER, name)


def make(seed):
    """Files that the product has sealed, for all languages."""
    some = random.Random(f"files {seed}")
    store = path("files-store")
    make_provider_store(store, "a")
    for number, size in enumerate([*SIZES, *(some.randrange(3 * CHUNK) for _ in range(RANDOM_SIZES))]):
        with open(path(f"plain{number}"), "wb") as file:
            file.write(some.randbytes(size))
        pushcrypt(
            "--store", store, "attach", "seal", path(f"plain{number}"), "-o", path(f"sealed{number}"), "--type", "public.data",
            "--reference", path(f"reference{number}"),
        )


def run(driver, seed):
    """The number of files that each opened."""
    some, count = random.Random(f"files {driver.language} {seed}"), len(SIZES) + RANDOM_SIZES
    for number in range(count):
        with open(path(f"plain{number}"), "rb") as file:
            plain = file.read()
        open_with_receiver(driver, number, plain, some)
        open_with_pushcrypt(driver, number, plain)
    return count


def open_with_receiver(driver, number, plain, some):
    with open(path(f"reference{number}")) as file:
        reference = json.load(file)
    with open(path(f"sealed{number}"), "rb") as file:
        sealed = file.read()
    own = {"url": "https://files.example.com/a", **reference}
    members = driver.ask([f"reference {json.dumps(own).encode().hex()}"])[0]
    if members[0] != "ok":
        raise Failure(f"{driver.language}: the reference of pushcrypt: {members}: {reference}")
    key, sha256, size = members[4:7]
    pieces, start = [], 0
    while start < len(sealed):
        end = start + some.choice((1, 5, 5000, CHUNK, CHUNK + 16, some.randrange(1, 2 * CHUNK)))
        pieces, start = [*pieces, sealed[start:end].hex()], end
    answer = driver.ask([f"file {key} {size} {sha256} {','.join(pieces)}"])[0]
    if answer != ["opened", str(len(plain)), hashlib.sha256(plain).hexdigest()]:
        raise Failure(f"{driver.language}: a file of {len(plain)} bytes of pushcrypt: {answer}: key {key}")


def open_with_pushcrypt(driver, number, plain):
    answer = driver.ask([f"sealfile {PROVIDER_SECRET} {plain.hex() or '-'}"])[0]
    if answer[0] != "sealed":
        raise Failure(f"{driver.language}: a file of {len(plain)} bytes to seal: {answer}")
    key, sealed = bytes.fromhex(answer[1]), bytes.fromhex(answer[2])
    sha256 = hashlib.sha256(sealed).digest()
    reference = {"size": len(sealed), "type": "public.data", "name": "a", "key": text(key), "sha256": text(sha256)}
    names = {part: path(f"{driver.language}-{part}{number}") for part in ("sealed", "reference", "opened")}
    with open(names["sealed"], "wb") as file:
        file.write(sealed)
    with open(os.open(names["reference"], os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        json.dump(reference, file)
    pushcrypt("attach", "open", names["sealed"], "--reference", names["reference"], "-o", names["opened"])
    with open(names["opened"], "rb") as file:
        if file.read() != plain:
            raise Failure(f"{driver.language}: pushcrypt opens another file of {len(plain)} bytes than was sealed, key {key.hex()}")


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
