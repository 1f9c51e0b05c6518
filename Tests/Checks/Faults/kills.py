#!/usr/bin/env python3
"""Kills running commands at random moments of their lives, ten thousand of them, and goes on with the same two stores.

Usage: kills.py [KILLS]
"""
import collections, json, multiprocessing, os, pathlib, random, signal, subprocess, sys, time

import bytes_on_disk, checker, program, scene
from bytes_on_disk import ACTIVE
from program import Failure
from scene import PHONE, Life, Message

PART = "kills"
WORKERS = 2
# The number of kills after which everything is checked, not only what the last one can have touched.
FULL = 100
# The number of messages in transit.
UNDER_WAY = 40
BATCH = 12
OTHER = "other"


class LongLife(Life):
    """Two stores that are kept through all kills, and their expected state."""

    def __init__(self, root, seed):
        super().__init__(root)
        self.random = random.Random(seed)
        # The generation that the provider seals to.
        self.registered = 0
        self.begin()
        self.life_time = {}
        self.kills = 0
        self.counts = collections.Counter()
        # Of the phone's key and the provider's key: acknowledged, or seen since.
        self.newest, self.active, self.sender = 1, 1, 1
        # The serial of the last recovery, and the generation of the sender's key that it brought.
        self.recovered, self.first_sender = 0, 1
        # Generations that may have ended.
        self.ended = set()
        self.devices = {PHONE}
        self.number = 0
        self.gone = set()
        self.other_secret = None

    # MARK: Killing

    def killed(self, name, store, *arguments, input=b""):
        """Runs a command and kills it at a random moment. Returns its output so far, and whether it ended before."""
        if name not in self.life_time:
            # The first run of each is undisturbed and measures its duration.
            start = time.monotonic()
            output = self.must(store, *arguments, input=input)
            self.life_time[name] = time.monotonic() - start
            return output, True
        incoming = self.root / "input"
        incoming.write_bytes(input)
        with incoming.open("rb") as source:
            process = subprocess.Popen(
                [program.PUSHCRYPT, *map(str, self.arguments(store, *arguments))], stdin=source, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, env=program.ENVIRONMENT)
            time.sleep(self.random.uniform(0, self.life_time[name]))
            process.kill()
            output, messages = process.communicate()
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            self.counts[name] += 1
            return output, False
        if process.returncode != 0:
            raise Failure(f"{name} ended with {process.returncode}: {messages.decode()}")
        # It ended earlier than before, so kill it earlier.
        self.life_time[name] *= 0.98
        return output, True

    # MARK: What is done

    def rotate(self):
        output, _ = self.killed("rotate device", self.phone, "rotate", "device")
        if output.endswith(b"\n"):
            self.newest = self.active + 1

    def confirm(self):
        self.register()
        ends = self.random.random() < 0.3
        if ends:
            self.ended.add(self.active)
        output, is_done = self.killed(
            "confirm", self.phone, "rotate", "device", "--confirm", "--json", "--grace", "0s" if ends else "31d")
        if output.endswith(b"\n") or is_done:
            self.active = self.newest

    def purge(self):
        _, is_done = self.killed("purge", self.phone, "rotate", "device", "--purge", "--json")
        if is_done:
            self.gone |= {needle for generation in self.ended for needle in self.needles["device", generation]}

    def rotate_sender(self):
        # The phone follows first and reports it: a message carries at most four statements.
        self.open_all([self.sealed_now()])
        self.register()
        output, is_done = self.killed("rotate sender", self.provider, "rotate", "sender", "--force")
        if output.endswith(b"\n") or is_done:
            self.sender += 1

    def recover(self):
        """The sender's key is replaced after a theft, and the phone follows."""
        output, is_done = self.killed("recover prepare", self.provider, "rotate", "sender", "--recover", "prepare")
        if not is_done and not output.endswith(b"\n"):
            output = self.must(self.provider, "rotate", "sender", "--recover", "prepare")
        _, signed = self.sign_recovery(output)
        sealed = self.prepared()
        output, is_done = self.killed(
            "recover finish", self.provider, "rotate", "sender", "--recover", "finish", input=signed)
        if not is_done:
            # As a user does who has not seen it end.
            done = self.run(self.provider, "rotate", "sender", "--recover", "finish", input=signed)
            if done.exit not in (0, 65):
                raise Failure(f"repeated, it ended with {done.exit}: {done.messages.decode()}")
        if is_done:
            self.gone |= sealed
        # What the stolen key has signed opens no more once the phone has followed.
        self.messages.clear()
        message = self.sealed_now()
        self.killed("open recovery", self.phone, "open", "--batch", input=scene.received(message.push, "first"))
        self.messages.append(message)

    def announce_recovery(self):
        self.killed("recover keys", self.provider, "recover", "keys", self.recovery_key)

    def seal_batch(self):
        first = self.number
        self.number += BATCH
        texts = [f"message {first + number}" for number in range(BATCH)]
        lines = b"".join(json.dumps(scene.request(PHONE, text)).encode() + b"\n" for text in texts)
        output, _ = self.killed("seal", self.provider, "seal", "--batch", input=lines)
        # Whole lines are sent, in the order of the input.
        for text, answer in zip(texts, output.split(b"\n")[:-1]):
            self.messages.append(Message(text, self.registered, json.loads(answer)["payload"]))
        del self.messages[:-UNDER_WAY]

    def open_batch(self):
        messages = self.random.sample(self.under_way(), min(BATCH, len(self.under_way())))
        lines = b"".join(scene.received(message.push, "first") for message in messages)
        output, _ = self.killed("open", self.phone, "open", "--batch", "--duplicates", "suppress", input=lines)
        for message, answer in zip(messages, output.split(b"\n")[:-1]):
            checker.expect("opened by a run that was killed", scene.shown(json.loads(answer)), message.text)

    def import_devices(self):
        names = {f"imported {self.number} {index}" for index in range(BATCH)}
        self.number += 1
        output, is_done = self.killed(
            "device import", self.provider, "device", "import", "--from-export", "--json",
            input=self.imported(sorted(names)))
        found = bytes_on_disk.contents(self.provider).devices
        allowed = [self.devices | names] if output.endswith(b"\n") or is_done else [self.devices, self.devices | names]
        if found not in allowed:
            raise Failure(f"{len(found)} devices are there, and not {' or '.join(str(len(devices)) for devices in allowed)}")
        self.devices = found

    def log_in_or_out(self):
        """A second account of the phone is added and removed; its secret is known, because it is imported."""
        names = {key.name for key in bytes_on_disk.contents(self.phone).keys}
        if OTHER not in names:
            file = self.root / "other.key"
            program.must(["keygen", "device", "--output", file, "--force"])
            self.other_secret = bytes_on_disk.forms(file.read_bytes())
            self.secrets |= self.other_secret
            self.killed("keygen", self.phone, "keygen", "device", "--name", OTHER, "--import", file)
            return
        sealed = {
            piece for key in bytes_on_disk.contents(self.phone).keys if key.name == OTHER
            for piece in bytes_on_disk.pieces(key.sealed)}
        _, is_done = self.killed(
            "log-out", self.phone, "rotate", "device", "--purge", "--everything", "--name", OTHER, "--json")
        if not is_done:
            # As a user does who has not seen it end.
            self.must(self.phone, "rotate", "device", "--purge", "--everything", "--name", OTHER)
        self.gone |= sealed | self.other_secret

    STEPS = (rotate, confirm, purge, rotate_sender, recover, announce_recovery, seal_batch, seal_batch, open_batch,
             open_batch, import_devices, log_in_or_out)

    # MARK: What must hold

    def step(self):
        step = self.random.choice(self.STEPS)
        newest, active, sender = self.newest, self.active, self.sender
        step(self)
        try:
            self.look(newest, active, sender)
            sample = self.random.sample(self.under_way(), min(3, len(self.under_way())))
            self.open_all(sample)
        except Failure as failure:
            raise Failure(f"after {self.kills} kills, {step.__name__}: {failure}") from None

    def look(self, newest, active, sender):
        """Nothing acknowledged is lost; a command in progress may have taken effect, and counts from now on."""
        phone, provider = bytes_on_disk.contents(self.phone), bytes_on_disk.contents(self.provider)
        checker.one_active(phone)
        keys = {key.generation: key for key in phone.keys if key.name == "default"}
        found = next(generation for generation, key in keys.items() if key.state == ACTIVE)
        between("the newest generation", max(keys), self.newest, active + 1)
        between("the active generation", found, self.active, newest)
        between("the sender key's generation", provider.senders["default"], self.sender, sender + 1)
        if provider.devices != self.devices:
            raise Failure(f"{len(provider.devices)} devices, and not {len(self.devices)}")
        announced, serial, _ = provider.recovery
        if serial < self.recovered:
            raise Failure(f"the recovery {self.recovered} is lost, {serial} is the last")
        if serial > self.recovered:
            self.recovered, self.first_sender = serial, provider.senders["default"]
        checker.expect("recovery keys", announced, 1)
        checker.expect("statements", provider.announcements, provider.senders["default"] - self.first_sender)
        missing = set(range(1, max(keys) + 1)) - set(keys) - self.ended
        if missing:
            raise Failure(f"the keys of the generations {sorted(missing)} are lost")
        if found == active:
            # The confirmation that would end it has not happened.
            self.ended.discard(active)
        self.newest, self.active, self.sender = max(keys), found, provider.senders["default"]
        for key in keys.values():
            self.needles["device", key.generation] |= bytes_on_disk.pieces(key.sealed)

    def look_at_everything(self):
        self.open_all(self.under_way())
        self.open_all([self.sealed_now()])
        self.must(self.phone, "rotate", "device", "--purge")
        for store in self.stores:
            checker.doctor(self, store)
            files = {entry.name for entry in store.iterdir()}
            checker.expect(f"files in {store.name}", files - bytes_on_disk.SETTLED, set())
            checker.destroyed(store, self.gone | self.secrets)

    # MARK: Messages

    def register(self):
        super().register()
        self.registered = max(key.generation for key in bytes_on_disk.contents(self.phone).keys if key.name == "default")

    def under_way(self):
        return [message for message in self.messages if message.generation not in self.ended]

    def sealed_now(self):
        """A message to the newest key."""
        self.register()
        self.number += 1
        return self.seal([f"message {self.number} now"], self.registered)[0]

    def open_all(self, messages):
        checker.open_each_once(self, messages)
        if self.newest == self.active:
            return
        # A message may have confirmed the key that it was sealed to.
        phone = bytes_on_disk.contents(self.phone)
        self.active = next(key.generation for key in phone.keys if key.name == "default" and key.state == ACTIVE)


def between(what, found, low, high):
    if not low <= found <= max(low, high):
        raise Failure(f"{what}: {found}, acknowledged {low}, begun {high}")


def work(arguments):
    folder, seed, kills = arguments
    life = LongLife(pathlib.Path(folder) / str(seed), seed)
    looked = 0
    try:
        while life.kills < kills:
            life.step()
            if life.kills >= FULL * (looked + 1):
                life.look_at_everything()
                looked += 1
                print(f"seed {seed}: {life.kills} kills", flush=True)
        life.look_at_everything()
    except Failure as failure:
        return None, f"seed {seed}: {failure}"
    return life.counts + collections.Counter({"full-looks": looked + 1, "generations": life.newest}), None


def main(arguments):
    kills = int(arguments[0]) if arguments else 10_000
    seed = int(os.environ.get("SEED", "1"))
    print(f"SEED={seed}", flush=True)
    with scene.scratch(PART) as folder, multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        shares = [(folder, seed * WORKERS + number, -(-kills // WORKERS)) for number in range(WORKERS)]
        counts = collections.Counter()
        for found, problem in pool.imap_unordered(work, shares):
            if problem:
                sys.exit(f"kills.py: {problem}\n    again: SEED={seed} Tests/Checks/Faults/kills.py {kills}")
            counts += found
    looks, generations = counts.pop("full-looks"), counts.pop("generations")
    print(" ".join(f"{name.replace(' ', '-')}={number}" for name, number in sorted(counts.items())))
    print(f"figure: kills kills={counts.total()} commands={len(counts)} full-looks={looks} generations={generations} lost=0")


if __name__ == "__main__":
    main(sys.argv[1:])
