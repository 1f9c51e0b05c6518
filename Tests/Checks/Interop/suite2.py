"""`make nightly PART=post-quantum`: messages of suite 0x02 in both directions, COUNT each way, between pushcrypt and the reference of the vectors.

The reference shares no code with the product: decapsulation, encapsulation and keys are those of `cryptography`, which has ML-KEM
from another library, and the rest is the vectors'. One in ten messages is repeated with a changed character.

    suite2.py PROGRAM       COUNT (2,000) and SEED in the environment
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "Tests/Data/Vectors"))

try:
    from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PublicKey
except ImportError:
    sys.exit(print("SKIPPED: messages of suite 2 in both directions need ML-KEM in Python: run make setup PART=interop"))

import messages
from reference import hpke, keys, xwing
from reference.envelope import (
    BODY_OFFSET, XWING_BUCKETS, Message, content, header, hpke_suite, info, inner_plaintext, message_id_of_name, smallest_bucket, to_text,
)
from reference.keys import Kind
from reference.opening import Receiver, Refused, open_push
from reference.trust import Trust, TrustedSender

TOPIC, DEVICES, CHUNK, CORRUPTED = "com.example.app", 3, 5_000, 10
# The room of a statement, and the largest bucket, of a push and of a call.
STATEMENT, LARGEST, LARGEST_CALL = 182, 1728, 2496


class Failure(Exception):
    """A violated requirement."""


def require(holds, what, *found):
    if not holds:
        raise Failure(f"{what}: {' '.join(str(one)[:500] for one in found)}")


class World:
    """Devices, two providers, of which the second has rotated its key, and the phones' trust in the first key of each."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.devices, self.providers, senders = [], [], []
        for index in range(DEVICES):
            file = os.path.join(folder, f"device{index}.key")
            public = self.run("keygen", "device", "--post-quantum", "-o", file).strip()
            secret = keys.import_text(Kind.DEVICE_SECRET, open(file).read())
            require(keys.import_text(Kind.DEVICE_PUBLIC, public) == xwing.public_key(secret), "the public key of", file)
            self.devices.append((public, secret, file))
        for index in range(2):
            store, file = (os.path.join(folder, f"provider{index}{end}") for end in ("", ".key"))
            self.run("--store", store, "init")
            first = public = self.run("--store", store, "keygen", "sender").strip()
            if index:
                public = self.run("--store", store, "rotate", "sender").strip()
            self.run("--store", store, "export", "sender", "--secret", "-o", file)
            first, public = (keys.import_text(Kind.SENDER_PUBLIC, one) for one in (first, public))
            self.providers.append((store, public, keys.import_text(Kind.SENDER_SECRET, open(file).read())))
            senders.append(first)
        self.senders = [keys.text_form(Kind.SENDER_PUBLIC, key) for key in (*senders, self.providers[1][1])]
        trust = Trust(tuple(TrustedSender(f"p{index}", key) for index, key in enumerate(senders)))
        self.receiver = Receiver(TOPIC, tuple(secret for _, secret, _ in self.devices), trust)

    def run(self, *arguments, stdin=""):
        done = subprocess.run([self.program, *arguments], input=stdin.encode(), capture_output=True)
        require(done.returncode in (0, 1), f"pushcrypt {arguments}: exit {done.returncode}", done.stderr.decode())
        return done.stdout.decode()

    def opened(self, device, pushes):
        """The answers of the product to pushes for one device, in their order."""
        trusted = [word for sender in self.senders for word in ("--sender", sender)]
        lines = "".join(f'{{"payload":{push},"n":{number}}}\n' for number, push in enumerate(pushes))
        text = self.run("open", "--batch", "--topic", TOPIC, "--device-key-file", self.devices[device][2], *trusted, stdin=lines)
        answers = sorted((int(line[line.rindex(',"n":') + 5 : -1]), line) for line in text.split("\n")[:-1])
        require([number for number, _ in answers] == list(range(len(pushes))), "the numbers of answers", len(answers), len(pushes))
        return [line for _, line in answers]

    def codes(self, device, pushes):
        return [json.loads(line).get("error", {}).get("code") for line in self.opened(device, pushes)]

    def code(self, push):
        try:
            open_push(push.encode(), self.receiver, time.time_ns() // 1_000_000)
        except Refused as refused:
            return str(refused)
        return None


def corrupted(push, some):
    start = push.index('"ENCRYPTED_DATA":"') + 18
    end = push.index('"', start)
    return push[:start] + messages.corrupted(push[start:end], some) + push[end:]


def random_messages(seed):
    """Messages that fit suite 2, each with the number of its provider."""
    payloads = messages.Payloads(f"suite 2 {seed}", XWING_BUCKETS, LARGEST)
    while True:
        provider = payloads.some.choice((0, 0, 0, 1))
        message = payloads.message(provider)
        largest = LARGEST_CALL if message["push-type"] == "voip" else LARGEST
        if BODY_OFFSET + provider * STATEMENT + len(message["compact"].encode()) <= largest:
            yield provider, message


def seal_and_open(world, made, some):
    """The reference opens what the product seals."""
    lines = [[], []]
    for number, (provider, message) in enumerate(made):
        to, payload = world.devices[number % DEVICES][0], message["spaced"].replace("\n", " ")
        name = f'"id":"{message["id"]}",' if message["id"] else ""
        placeholder = json.dumps({"title": message["title"], "sound": message["sound"]})
        lines[provider].append(
            f'{{"to":"{to}","topic":"{TOPIC}",{name}"ttl":{message["ttl"]},"push-type":"{message["push-type"]}",'
            f'"placeholder":{placeholder},"payload":{payload},"n":{number}}}\n'
        )
    buckets, changed = set(), [[] for _ in range(DEVICES)]
    for (store, public, _), own in zip(world.providers, lines):
        answers = world.run("--store", store, "seal", "--batch", stdin="".join(own)).split("\n")[:-1]
        require(len(answers) == len(own), "the number of sealed messages", len(answers))
        for line in answers:
            require('"payload":' in line, "pushcrypt does not seal", line)
            place = line.rindex(',"n":')
            number, push = int(line[place + 5 : -1]), line[line.index('"payload":') + 10 : place]
            message = made[number][1]
            opened = open_push(push.encode(), world.receiver, time.time_ns() // 1_000_000)
            require(opened.payload == message["compact"].encode(), "another payload", push)
            require((opened.sender, opened.recipient) == (public, xwing.public_key(world.devices[number % DEVICES][1])), "keys of", push)
            named = not message["id"] or opened.message.message_id == message_id_of_name(messages.name_of(message["id"]))
            require(named and not opened.told and opened.message.ttl == messages.sealed_life(
                message, opened.message.sent_at), "what is said of", push)
            buckets.add(len(json.loads(push)["ENCRYPTED_DATA"]))
            if number % CORRUPTED == 0:
                changed[number % DEVICES].append(corrupted(push, some))
    for device, pushes in enumerate(changed):
        compare(world, device, pushes)
    return buckets


def compare(world, device, pushes):
    """Both refuse, with the same code. The product has one key, the reference three, so the device's alone counts."""
    alone = Receiver(TOPIC, (world.devices[device][1],), world.receiver.trust)
    world.receiver, all_of_them = alone, world.receiver
    for push, code in zip(pushes, world.codes(device, pushes)):
        require(code is not None and code == world.code(push), f"{code} of pushcrypt", world.code(push), push)
    world.receiver = all_of_them


def encapsulate(public):
    secret, share = MLKEM768PublicKey.from_public_bytes(public[: xwing.MLKEM_PUBLIC_SIZE]).encapsulate()
    scalar = os.urandom(32)
    enc = share + hpke.public_key(scalar)
    return xwing.combine(secret, hpke.diffie_hellman(scalar, public[xwing.MLKEM_PUBLIC_SIZE :]), enc, public), enc


def seal_by_reference(message, recipient, seed):
    shared_secret, enc = encapsulate(recipient)
    inner = inner_plaintext(enc, recipient, seed, TOPIC, content(message, smallest_bucket(len(message.body), 2)))
    context = hpke.key_schedule(shared_secret, info(header(recipient), TOPIC), hpke_suite(2))
    return to_text(header(recipient) + enc + context.seal(b"", inner))


def open_what_the_reference_seals(world, made, some):
    pushes, expected = [[] for _ in range(DEVICES)], [[] for _ in range(DEVICES)]
    for number, (provider, message) in enumerate(made):
        device, sent_at = number % DEVICES, time.time_ns() // 1_000_000 - some.randrange(3_600_000)
        sealed = Message(message["compact"].encode(), some.randbytes(16), sent_at, message["ttl"])
        _, public, seed = world.providers[provider]
        text = seal_by_reference(sealed, xwing.public_key(world.devices[device][1]), seed)
        pushes[device].append(f'{{"aps":{{"alert":"(Encrypted)","mutable-content":1}},"ENCRYPTED_DATA":"{text}"}}')
        expected[device].append(
            f'"sender":"{keys.text_form(Kind.SENDER_PUBLIC, public)}","sent_at":{sent_at},"expires_at":{sent_at + 1000 * sealed.ttl},',
        )
        expected[device].append(f',"payload":{message["shown"]},"message_id":"{sealed.message_id.hex()}"')
    for device, own in enumerate(pushes):
        for number, line in enumerate(world.opened(device, own)):
            parts = expected[device][2 * number : 2 * number + 2]
            require(all(part in line for part in parts), "pushcrypt opens another message", line, *parts)
        compare(world, device, [corrupted(push, some) for push in own[::CORRUPTED]])


def main(program):
    count, seed = int(os.environ.get("COUNT", 2_000)), os.environ.get("SEED") or str(random.randrange(10**6))
    some, source, buckets, start = random.Random(f"both {seed}"), random_messages(seed), set(), time.monotonic()
    print(f"suite 2: {count} messages each way, seed {seed}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        world = World(program, folder)
        for first in range(0, count, CHUNK):
            made = [next(source) for _ in range(min(CHUNK, count - first))]
            buckets |= seal_and_open(world, made, some)
            open_what_the_reference_seals(world, made, some)
    if count >= 1_000:
        require(len(buckets) == len(XWING_BUCKETS), "the lengths of envelopes", sorted(buckets))
    print(f"figure: suite-2-both-ways sealed={count} opened={count} corrupted={2 * -(-count // CORRUPTED)} seconds={time.monotonic() - start:.0f}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failure as failure:
        sys.exit(f"suite 2: error: {failure}")
