"""Providers and phones of the product, and the random messages that its command seals for them."""
import base64
import hashlib
import json
import os
import random
import subprocess
import time

import messages
from drivers import BUILT, ROOT, Failure

PUSHCRYPT = os.path.join(ROOT, ".build/release/pushcrypt")
FOLDER = os.path.join(BUILT, "world")
TOPICS = ("com.example.app", "com.example.Other-App", "a")
# How often each provider rotated its key: each app has one that did not, and one that did.
ROTATIONS = (0, 0, 0, 1, 2, 4)
DEVICES = 6
PUSH_TYPES = ("alert", "background", "voip")
# The number of messages sealed, and opened, at a time.
CHUNK = 10_000
# One in so many messages is repeated with a changed byte.
CORRUPTED = 10


def pushcrypt(*arguments, stdin="", codes=(0,)):
    """The output of the command, as bytes: Python would treat U+2028 and others as line ends."""
    done = subprocess.run([PUSHCRYPT, *arguments], input=stdin.encode(), capture_output=True)
    if done.returncode not in codes:
        raise Failure(f"pushcrypt {' '.join(arguments)}: exit {done.returncode}: {done.stderr.decode()[:2000]}")
    return done.stdout.decode()


def now():
    return time.time_ns() // 1_000_000


class World:
    """Created once by `make`, and read by the process of each language."""

    def __init__(self):
        with open(os.path.join(FOLDER, "world.json")) as file:
            members = json.load(file)
        self.seed, self.count, self.time = members["seed"], members["count"], members["time"]
        self.devices, self.providers = members["devices"], members["providers"]

    def chunks(self):
        for start in range(0, self.count, CHUNK):
            with open(os.path.join(FOLDER, f"{start}.json")) as file:
                yield start, json.load(file)

    def ring(self, index):
        """The keys of the phone that a message is for: three, of which one opens."""
        return ",".join(self.devices[(index + step) % DEVICES]["secret"] for step in range(3))

    def trusts(self, index):
        """The possible trust of a phone in a provider, as pins and what is known: its key, alone, or beside the app's other, or with its certificate."""
        own, app = self.providers[index], [provider["public"] for provider in self.providers[index % len(TOPICS) :: len(TOPICS)]]
        return [f"{own['public']} -", f"{','.join(app)} -", f"{own['public']} {own['learned']}"]

    def open_with_pushcrypt(self, index, lines):
        """The answers to lines for one device, each with its push type, by the number in each."""
        device, answers = self.devices[index], {}
        pins = [word for provider in self.providers[index % len(TOPICS) :: len(TOPICS)] for word in ("--provider", provider["public"])]
        key = os.path.join(FOLDER, f"device{index}.key")
        for push_type in PUSH_TYPES:
            own = "".join(line for of, line in lines if of == push_type)
            text = pushcrypt(
                "open", "--batch", "--push-type", push_type, "--topic", device["topic"], "--device-key-file", key, *pins, stdin=own, codes=(0, 65)
            ) if own else ""
            answers |= {int(line[line.rindex(',"n":') + 5 : -1]): line for line in text.split("\n")[:-1]}
        if len(answers) != len(lines):
            raise Failure(f"{len(answers)} answers to {len(lines)} lines of pushcrypt open")
        return answers


def line_to_open(push, number):
    return f'{{"payload":{push},"n":{number}}}\n'


def code_of(answer):
    """The code of an answer that is an error."""
    return json.loads(answer).get("error", {}).get("code")


def make(seed, count):
    """Keys, stores, and the messages in files of `CHUNK`."""
    os.makedirs(FOLDER)
    devices = []
    for index in range(DEVICES):
        key = os.path.join(FOLDER, f"device{index}.key")
        public = pushcrypt("key", "new", "device", "-o", key).strip()
        devices.append({"public": public, "secret": open(key).read().strip(), "topic": TOPICS[index % len(TOPICS)]})
    providers = [make_provider(index, rotations) for index, rotations in enumerate(ROTATIONS)]
    members = {"seed": seed, "count": count, "time": now(), "devices": devices, "providers": providers}
    with open(os.path.join(FOLDER, "world.json"), "w") as file:
        json.dump(members, file)
    world = World()
    payloads = messages.Payloads(f"payloads {seed}")
    for start in range(0, count, CHUNK):
        records = make_chunk(world, payloads, start, min(CHUNK, count - start))
        with open(os.path.join(FOLDER, f"{start}.json"), "w") as file:
            json.dump(records, file)
    return world


def make_provider(index, rotations):
    """A store whose key was rotated so often, with the key that signs and its certificate."""
    store, key = os.path.join(FOLDER, f"provider{index}"), os.path.join(FOLDER, f"signing{index}.key")
    public = make_provider_store(store, TOPICS[index % len(TOPICS)])
    for _ in range(rotations):
        pushcrypt("--store", store, "key", "rotate")
    pushcrypt("--store", store, "key", "export", "--secret", "-o", key)
    with open(key) as file:
        lines = file.read().split()
    if len(lines) == 1:
        return {"store": store, "public": public, "secret": lines[0], "epoch": 0, "learned": "-", "news": ""}
    certificate = base64.urlsafe_b64decode(lines[1] + "==")
    epoch, floor = (int.from_bytes(certificate[start : start + 4], "big") for start in (1, 5))
    news = f'"certificate":"{lines[1]}",'
    return {"store": store, "public": public, "secret": ",".join(lines), "epoch": epoch, "news": news, "learned": f"{public}:{lines[1]}:{floor}"}


def make_provider_store(store, topic):
    """The public key of a new provider."""
    pushcrypt("--store", store, "init")
    return pushcrypt("--store", store, "key", "new", "provider", "--topic", topic).strip()


def make_chunk(world, payloads, start, count):
    some = random.Random(f"chunk {world.seed} {start}")
    records, lines = [], [[] for _ in ROTATIONS]
    for number in range(start, start + count):
        provider = some.choice((0, 1, 2) * 3 + (3, 4, 5))
        device = some.randrange(provider % len(TOPICS), DEVICES, len(TOPICS))
        message = payloads.message(ROTATIONS[provider] > 0)
        records.append({"device": device, "provider": provider, "trust": some.randrange(3), **message})
        lines[provider].append(line_to_seal(world.devices[device], message, number))
    for provider, own in zip(world.providers, lines):
        for line in pushcrypt("--store", provider["store"], "seal", "--batch", stdin="".join(own), codes=(0, 65)).split("\n")[:-1]:
            if line.startswith('{"error":'):
                raise Failure(f"pushcrypt does not seal: {line[:500]}")
            place = line.rindex(',"n":')
            record = records[int(line[place + 5 : -1]) - start]
            record["push"] = line[line.index('"payload":') + 10 : place]
    corrupt(world, records, some)
    return records


def line_to_seal(device, message, number):
    # A line of a batch ends at a line feed, so it must not contain one.
    payload = message["spaced"].replace("\n", " ")
    name = f'"id":"{message["id"]}",' if message["id"] else ""
    placeholder = json.dumps({"title": message["title"], "sound": message["sound"]})
    return (
        f'{{"to":"{device["public"]}","topic":"{device["topic"]}",{name}"ttl":{message["ttl"]},"push_type":"{message["push-type"]}",'
        f'"placeholder":{placeholder},"payload":{payload},"n":{number}}}\n'
    )


def corrupt(world, records, some):
    """Changes a byte of some envelopes, and gets the code from the command."""
    lines = [[] for _ in range(DEVICES)]
    for number, record in enumerate(records):
        if number % CORRUPTED == 0:
            record["corrupted"] = corrupted_push(record["push"], some)
            lines[record["device"]].append((record["push-type"], line_to_open(record["corrupted"], number)))
    for device in range(DEVICES):
        for number, answer in world.open_with_pushcrypt(device, lines[device]).items():
            records[number]["code"] = code_of(answer)
            if records[number]["code"] is None:
                raise Failure(f"pushcrypt opens a corrupted envelope: {records[number]['corrupted']}")


def corrupted_push(push, some):
    start = push.index('"ENCRYPTED_DATA":"') + 18
    end = push.index('"', start)
    return push[:start] + messages.corrupted(push[start:end], some) + push[end:]


def message_id(name):
    """The id of a message that its caller named."""
    return hashlib.sha256(b"pushcrypt/1 caller id\0" + name.encode()).hexdigest()[:32]
