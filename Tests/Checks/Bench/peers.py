"""Measures the cost of one message in other tools, and prints a table. Called by peers.sh.

usage: peers.py PUSHCRYPT WORK

Each row is the best of five rounds. All rows take turns, so that a busy moment affects all of them. A package's row has a second number: how
many times the bare calls of its platform it takes (Languages), which may be 1.3.
"""
import base64, os, statistics, subprocess, sys, time

import http_ece
import nacl.public
import pywebpush
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

pushcrypt, work = sys.argv[1:]
payload = (
    b'{"aps":{"alert":{"title":"Table for two","body":"See you at 8 on the terrace, they keep the table for us until a '
    b'quarter past"},"sound":"default","thread-id":"chat-c41"},"chat":"c41","message":"7182"}'
)
topic = "com.example.app"


def run(*arguments, **options):
    return subprocess.run([pushcrypt, *arguments], check=True, capture_output=True, **options).stdout


phone = run("keygen", "device", "--output", f"{work}/phone.key").strip().decode()
run("keygen", "sender", "--output", f"{work}/sender.key")
recipient = ec.generate_private_key(ec.SECP256R1())
receiver_point = recipient.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
secret = os.urandom(16)
box = nacl.public.SealedBox(nacl.public.PrivateKey.generate().public_key)
age_key = subprocess.run(["age-keygen", "-o", f"{work}/age.key"], check=True, capture_output=True, text=True).stderr
age_recipient = age_key.split()[-1]


def batch(count):
    lines = (b'{"to":"%s","payload":%s}\n' % (phone.encode(), payload)) * count
    start = time.perf_counter()
    sealed = run(
        "seal", "--batch", "--jobs", "1", "--sender-key-file", f"{work}/sender.key", "--topic", topic, input=lines)
    seconds = time.perf_counter() - start
    assert sealed.count(b"\n") == count
    return seconds, len(sealed.split(b"\n")[0].split(b'"ENCRYPTED_DATA":"')[1].split(b'"')[0])


def web_push(count):
    start = time.perf_counter()
    for _ in range(count):
        sealed = http_ece.encrypt(
            payload, salt=os.urandom(16), private_key=ec.generate_private_key(ec.SECP256R1()),
            dh=receiver_point, auth_secret=secret, version="aes128gcm")
    return time.perf_counter() - start, (len(sealed) * 4 + 2) // 3


web_pusher = pywebpush.WebPusher({"endpoint": "https://a", "keys": {
    "p256dh": base64.urlsafe_b64encode(receiver_point).decode(), "auth": base64.urlsafe_b64encode(secret).decode()}})


def py_web_push(count):
    start = time.perf_counter()
    for _ in range(count):
        sealed = web_pusher.encode(payload)["body"]
    return time.perf_counter() - start, (len(sealed) * 4 + 2) // 3


class Package:
    """A process with a package, which seals so many messages and makes the bare calls of so many, in turns."""

    def __init__(self, *command):
        with open(f"{work}/sender.key") as file:
            secret_text = file.read().strip()
        devices = [run("keygen", "device", "--output", f"{work}/phone.key", "--force").strip().decode() for _ in range(100)]
        self.process = subprocess.Popen(
            [*command, secret_text, topic, payload.decode(), *devices], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.ratios = []
        self.seal(5_000)

    def seal(self, count):
        print(count, file=self.process.stdin)
        sealing, calls, length = map(float, self.process.stdout.readline().split())
        self.ratios.append(sealing / calls)
        return sealing * count, round(length) - CLEAR


def sealed_box(count):
    start = time.perf_counter()
    for _ in range(count):
        sealed = box.encrypt(payload)
    return time.perf_counter() - start, (len(sealed) * 4 + 2) // 3


def age(count):
    start = time.perf_counter()
    for _ in range(count):
        sealed = subprocess.run(
            ["age", "-r", age_recipient], input=payload, stdout=subprocess.PIPE, check=True).stdout
    return time.perf_counter() - start, (len(sealed) * 4 + 2) // 3


def one_shot(count):
    start = time.perf_counter()
    for _ in range(count):
        sealed = subprocess.run(
            [pushcrypt, "seal", "--sender-key-file", f"{work}/sender.key", "--to", phone, "--topic", topic],
            input=payload, stdout=subprocess.PIPE, check=True).stdout
    return time.perf_counter() - start, len(sealed.split(b'"ENCRYPTED_DATA":"')[1].split(b'"')[0])


# The characters around the envelope.
CLEAR = len('{"aps":{"mutable-content":1,"alert":{"title":"New message","body":"(Encrypted)"},"sound":"default"},"ENCRYPTED_DATA":""}')
languages = ".build/languages"
bench = "Tests/Checks/Bench/Languages"
packages = {
    "Python": Package(f"{languages}/python/environment/bin/python", "-B", f"{bench}/bench.py"),
    "Node": Package("node", f"{bench}/bench.mjs", os.path.abspath(f"{languages}/javascript/node_modules/pushcrypt/index.mjs")),
    "Go": Package(f"{languages}/go/bench"),
    "Java": Package("java", "-XX:+UseSerialGC", "-cp", f"{languages}/java/pushcrypt.jar:{languages}/java/bench", "Bench"),
}
own = [(f"pushcrypt for {name}", package.seal, 2_000, "as above") for name, package in packages.items()]
rows = [
    ("pushcrypt seal --batch, one job", batch, 10_000, "sender, device, app, time; shown once"),
    *own,
    ("http-ece (Web Push, RFC 8291)", web_push, 2_000, "who knows the subscription's secret; no sender"),
    ("pywebpush", py_web_push, 2_000, "as above"),
    ("PyNaCl SealedBox", sealed_box, 5_000, "nobody"),
    ("pushcrypt seal, a process each", one_shot, 100, "as seal --batch"),
    ("age -r, a process each", age, 100, "nobody"),
]
best = {}
for _ in range(5):
    for name, measure, count, _ in rows:
        seconds, characters = measure(count)
        best[name] = min(best.get(name, (float("inf"), 0)), (seconds / count * 1e6, characters))

print(f"{'200 bytes':34}{'a message':>14}{'as text':>12}  authenticates")
for name, _, _, authenticates in rows:
    microseconds, characters = best[name]
    print(f"{name:34}{microseconds:11.1f} µs{characters:7} char  {authenticates}")
print()
for name, package in packages.items():
    ratio = statistics.median(package.ratios)
    print(f"pushcrypt for {name:20}{ratio:11.2f} times its bare calls" + (", over 1.3" if ratio > 1.3 else ""))
