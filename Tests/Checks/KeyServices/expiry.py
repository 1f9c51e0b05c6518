"""Sessions that a token ends are opened again: expiry.py MODULE PIN-FILE, for the token `push` with the key `signing`."""
import argparse, pathlib, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "Sources/Pipelines"))
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from key_signer import PKCS11, Refused

options = argparse.Namespace(module=sys.argv[1], token="push", key="signing", pin_file=sys.argv[2])
service = PKCS11(options)
public = Ed25519PublicKey.from_public_bytes(service.public)
for round in range(3):
    for message, signature in zip([b"one", b"two"], service.sign([b"one", b"two"])):
        public.verify(signature, message)
    # As a token does after a time, or when it was reset: every session of the process ends, and the login with it.
    service.library.closeAllSessions(service.library.getSlotList(tokenPresent=True)[0])
options.token = "gone"
refused, = service.sign([b"three"])
assert isinstance(refused, Refused) and str(refused) == "there are 0 tokens of this name", refused
options.token = "push"
public.verify(service.sign([b"four"])[0], b"four")
