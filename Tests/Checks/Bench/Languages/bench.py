"""The package for Python beside the bare calls of `cryptography` and hashlib that a seal is made of: README.md. Started by peers.py."""
import base64
import hashlib
import hmac
import os
import sys
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from pushcrypt import DevicePublicKey, Sealer, SenderKey

secret, topic, payload, *texts = sys.argv[1:]
payload = payload.encode()
sealer, devices = Sealer(SenderKey.parse(secret), topic=topic), [DevicePublicKey.parse(text) for text in texts]

signing, hedge = Ed25519PrivateKey.generate(), os.urandom(32)
keys = [X25519PrivateKey.generate().public_key().public_bytes_raw() for _ in texts]
inner, content, label, message = bytes(512), bytes(444), bytes(90), bytes(180)
text = b'{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"}},"ENCRYPTED_DATA":"'


def mac(key, data):
    return hmac.digest(key, data, "sha256")


def bare(index):
    device = keys[index % len(keys)]
    first, second = os.urandom(32), os.urandom(32)
    for data in (device, payload, content):
        hashlib.sha256(data).digest()
    mac(hedge, first)
    ephemeral = X25519PrivateKey.from_private_bytes(mac(mac(b"", mac(hedge, second)), label))
    enc = ephemeral.public_key().public_bytes_raw()
    shared = mac(mac(b"", ephemeral.exchange(X25519PublicKey.from_public_bytes(device))), label)
    mac(b"", label)
    schedule = mac(shared, label)
    key, nonce = mac(schedule, label), mac(schedule, label)[:12]
    signing.sign(message)
    return text + base64.urlsafe_b64encode(enc + ChaCha20Poly1305(key).encrypt(nonce, inner, b""))


def seal(index):
    return sealer.seal(payload, devices[index % len(devices)]).payload


# In turns, so that what else runs here disturbs both; the quartile is of calls that nothing interrupted.
for line in sys.stdin:
    seals, calls, length, clock = [], [], 0, time.perf_counter
    for index in range(int(line)):
        start = clock()
        length += len(seal(index))
        middle = clock()
        bare(index)
        calls.append(clock() - middle)
        seals.append(middle - start)
    print(*(sorted(times)[len(times) // 4] for times in (seals, calls)), length / len(seals), flush=True)
