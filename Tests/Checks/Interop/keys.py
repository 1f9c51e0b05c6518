"""Keys between pushcrypt and PyNaCl, both ways: `key import` and `key export` in bare bytes, which is how PyNaCl keeps them.

    keys.py PROGRAM

OpenSSL and the package `cryptography` have transcripts of their own, which `make test` runs.
"""
import base64
import os
import subprocess
import sys
import tempfile

from nacl.bindings import crypto_scalarmult
from nacl.public import PrivateKey, PublicKey
from nacl.signing import SigningKey, VerifyKey

ROUNDS = 50
RAW = ("--format", "raw")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        key_file = os.path.join(folder, "key")

        def run(*words, given=None):
            return subprocess.run([program, "key", *words], input=given, check=True, capture_output=True).stdout.strip()

        def taken(role, secret, public):
            """Imports both halves, and exports both as bytes."""
            told = run("import", *RAW, "--kind", role, "-o", key_file, "--force", given=base64.b64encode(secret))
            if run("import", "--public", *RAW, "--kind", role, given=base64.urlsafe_b64encode(public)) != told:
                sys.exit(f"interop: the halves of a {role}'s key of PyNaCl are those of two keys here")
            export = ("export", *RAW, "--kind", role, "--key-file", key_file)
            return [base64.urlsafe_b64decode(run(*export, *more) + b"=") for more in (("--secret",), ())]

        for _ in range(ROUNDS):
            signing = SigningKey.generate()
            # The seed, and libsodium's 64 bytes.
            for secret in (bytes(signing), bytes(signing) + bytes(signing.verify_key)):
                seed, public = taken("provider", secret, bytes(signing.verify_key))
                VerifyKey(public).verify(SigningKey(seed).sign(b"text"))
                if (seed, public) != (bytes(signing), bytes(signing.verify_key)):
                    sys.exit("interop: a signing key of PyNaCl came back as another")
            opening, other = PrivateKey.generate(), PrivateKey.generate()
            scalar, public = taken("device", bytes(opening), bytes(opening.public_key))
            shared = crypto_scalarmult(bytes(other), bytes(PublicKey(public)))
            if shared != crypto_scalarmult(scalar, bytes(other.public_key)) or scalar != bytes(opening):
                sys.exit("interop: an X25519 key of PyNaCl came back as another")
    print(f"interop: {ROUNDS} signing keys and {ROUNDS} X25519 keys of PyNaCl came in, and went out again")


main()
