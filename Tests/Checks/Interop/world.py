"""Phones and providers of the product, for which the packages seal, and its command."""
import base64
import hashlib
import json
import os
import subprocess
import time

from drivers import BUILT, ROOT, Failure

PUSHCRYPT = os.path.join(ROOT, ".build/release/pushcrypt")
FOLDER = os.path.join(BUILT, "world")
TOPICS = ("com.example.app", "com.example.Other-App", "a")
# How often each provider rotated its key: each app has one that did not, and one that did.
ROTATIONS = (0, 0, 0, 1, 2, 4)
DEVICES = 6
PUSH_TYPES = ("alert", "background", "voip")


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
            self.devices, self.providers = json.load(file)

    def open(self, index, lines):
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


def make():
    """The keys of phones and providers."""
    os.makedirs(FOLDER)
    devices = []
    for index in range(DEVICES):
        public = pushcrypt("key", "new", "device", "-o", os.path.join(FOLDER, f"device{index}.key")).strip()
        devices.append({"public": public, "topic": TOPICS[index % len(TOPICS)]})
    providers = [make_provider(index, rotations) for index, rotations in enumerate(ROTATIONS)]
    with open(os.path.join(FOLDER, "world.json"), "w") as file:
        json.dump([devices, providers], file)


def make_provider(index, rotations):
    """A provider whose key was rotated so often, with the key that signs and its certificate."""
    store, key = os.path.join(FOLDER, f"provider{index}"), os.path.join(FOLDER, f"signing{index}.key")
    pushcrypt("--store", store, "init")
    public = pushcrypt("--store", store, "key", "new", "provider", "--topic", TOPICS[index % len(TOPICS)]).strip()
    for _ in range(rotations):
        pushcrypt("--store", store, "key", "rotate")
    pushcrypt("--store", store, "key", "export", "--secret", "-o", key)
    with open(key) as file:
        lines = file.read().split()
    if len(lines) == 1:
        return {"public": public, "secret": lines[0], "epoch": 0, "news": ""}
    epoch = int.from_bytes(base64.urlsafe_b64decode(lines[1] + "==")[1:5], "big")
    return {"public": public, "secret": ",".join(lines), "epoch": epoch, "news": f'"certificate":"{lines[1]}",'}


def message_id(name):
    """The id of a message that its caller named."""
    return hashlib.sha256(b"pushcrypt/1 caller id\0" + name.encode()).hexdigest()[:32]
