"""Files that a package seals and `pushcrypt attach open` opens."""
import base64
import hashlib
import json
import os
import random

from drivers import Failure
from world import FOLDER, pushcrypt

CHUNK = 65_536
# The worked example's.
PROVIDER_SECRET = "PCS-SECRET-1E5QLJK9AQ39DDTLF8ZW3VHSKTL59Q07DGAS5GFPKGVKT4F9YVNNQLKFTVZ"
SIZES = (0, 1, 15, 16, 17, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1)
RANDOM_SIZES = 10


def run(driver, seed):
    """The number of files."""
    some = random.Random(f"files {driver.language} {seed}")
    sizes = [*SIZES, *(some.randrange(3 * CHUNK) for _ in range(RANDOM_SIZES))]
    for size in sizes:
        check(driver, some.randbytes(size))
    return len(sizes)


def check(driver, plain):
    answer = driver.ask([f"sealfile {PROVIDER_SECRET} {plain.hex() or '-'}"])[0]
    if answer[0] != "sealed":
        raise Failure(f"{driver.language}: a file of {len(plain)} bytes to seal: {answer}")
    key, sealed = bytes.fromhex(answer[1]), bytes.fromhex(answer[2])
    sha256 = hashlib.sha256(sealed).digest()
    reference = {"size": len(sealed), "type": "public.data", "name": "a", "key": text(key), "sha256": text(sha256)}
    paths = {part: os.path.join(FOLDER, f"{driver.language}-{part}") for part in ("sealed", "reference", "opened")}
    with open(paths["sealed"], "wb") as file:
        file.write(sealed)
    with open(os.open(paths["reference"], os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        json.dump(reference, file)
    pushcrypt("attach", "open", paths["sealed"], "--reference", paths["reference"], "-o", paths["opened"])
    with open(paths["opened"], "rb") as file:
        if file.read() != plain:
            raise Failure(f"{driver.language}: pushcrypt opens another file of {len(plain)} bytes than was sealed, key {key.hex()}")
    os.remove(paths["opened"])


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
