#!/usr/bin/env python3
"""Eight processes rotate, seal, open and purge on one provider's store and one phone's, and every message is followed.

Usage: soak.py [SECONDS]
"""
import base64, collections, heapq, json, os, random, sys, threading, time

import checker, program, scene
from scene import PHONE, Life

PART = "soak"
# How long a replaced key opens, how long a message is in transit at most, and how late it may be opened, in seconds.
GRACE, DELAY, LIMIT = 30, 12, 25
# The most messages waiting to be opened; on a slow machine the sealers pause.
WAITING = 600
BATCH = 20


class Soak:
    def __init__(self, life, seconds, seed):
        self.life = life
        self.end = time.monotonic() + seconds
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        # Printed even if zero: commands told to retry, and messages opened after their time in transit.
        self.counts = collections.Counter(busy=0)
        self.failures = []
        # Messages in transit: when each is due, its text, the request; and the pushes by text with the time of sealing.
        self.waiting = []
        self.pushes = {}
        self.shown = collections.Counter()
        # An undelivered push, by the id of the key that it is sealed to.
        self.unopened = {}
        self.purged = []
        # Opened only after the grace of their keys, because the machine was busy with something else.
        self.late = set()

    # MARK: Commands

    def command(self, name, store, *arguments, input=b""):
        """Runs a command until the store is not busy; no other failure is expected."""
        while True:
            done = self.life.run(store, *arguments, input=input)
            if done.exit == 0:
                self.count(name)
                return done.output
            if b"store-busy" not in done.messages:
                raise program.Failure(f"{name} ended with {done.exit}: {done.messages.decode()}")
            self.count("busy")

    def count(self, name, number=1):
        with self.lock:
            self.counts[name] += number

    def work(self, name, body, pause):
        """Repeats a body until the time is over."""
        chance = random.Random(f"{name} {self.random.random()}")
        try:
            while time.monotonic() < self.end and not self.failures:
                body(chance)
                time.sleep(chance.uniform(0, 2 * pause))
        except Exception as error:
            self.failures.append(f"{name}: {error}")

    # MARK: The provider

    def seal(self, chance):
        if len(self.waiting) > WAITING:
            return
        start = time.monotonic()
        with self.lock:
            first = self.counts["sealed"]
            self.counts["sealed"] += BATCH
        texts = [f"message {first + number}" for number in range(BATCH)]
        lines = b"".join(json.dumps(scene.request(PHONE, text)).encode() + b"\n" for text in texts)
        answers = self.command("seal-runs", self.life.provider, "seal", "--batch", input=lines).splitlines()
        with self.lock:
            for text, answer in zip(texts, answers, strict=True):
                push = json.loads(answer)["payload"]
                self.unopened.setdefault(key_id(push), push)
                if self.unopened[key_id(push)] is push:
                    # It is held back, to be opened after its key is destroyed.
                    continue
                self.pushes[text] = push, start
                for request in "first", "second":
                    heapq.heappush(self.waiting, (start + chance.uniform(0, DELAY), text, request))

    def rotate_sender(self, chance):
        """The next rotation waits until the phone has followed the previous one."""
        own = json.loads(self.command("exports", self.life.provider, "export", "sender", "--json"))["public_key"]
        pinned = json.loads(self.command("exports", self.life.phone, "export", "device", "--json"))["sender"]
        if own == pinned:
            self.command("sender-rotations", self.life.provider, "rotate", "sender", "--force")

    # MARK: The phone

    def rotate_device(self, chance):
        record = self.command("device-rotations", self.life.phone, "rotate", "device", "--json")
        confirm = "confirmations", self.life.phone, "rotate", "device", "--confirm", "--grace", f"{GRACE}s"
        add = "registrations", self.life.provider, "device", "add", PHONE
        # Half of the time a message may be the one that confirms the key, which then has the grace of 31 days.
        if chance.random() < 0.5:
            self.command(*confirm)
            self.command(*add, input=record)
        else:
            self.command(*add, input=record)
            time.sleep(chance.uniform(0, 1))
            self.command(*confirm)

    def purge(self, chance):
        output = self.command("purges", self.life.phone, "rotate", "device", "--purge", "--json")
        with self.lock:
            self.purged += json.loads(output)["purged"]

    def open(self, chance):
        now = time.monotonic()
        due = []
        with self.lock:
            while self.waiting and self.waiting[0][0] <= now and len(due) < BATCH:
                due.append(heapq.heappop(self.waiting)[1:])
        if due:
            self.deliver(due)

    def deliver(self, due):
        answers = self.answers(due)
        now = time.monotonic()
        with self.lock:
            for (text, request), answer in zip(due, answers, strict=True):
                if answer == text:
                    self.shown[text] += 1
                elif answer == "(suppressed)":
                    self.counts["suppressed"] += 1
                elif now - self.pushes[text][1] > LIMIT:
                    self.late.add(text)
                else:
                    self.failures.append(f"{text}, {now - self.pushes[text][1]:.1f} seconds old: {answer}")

    def answers(self, due):
        lines = b"".join(scene.received(self.pushes[text][0], request) for text, request in due)
        done = self.life.run(self.life.phone, "open", "--batch", "--duplicates", "suppress", input=lines)
        self.count("open-runs")
        # A guard that is busy lets a message be shown twice rather than not at all, and says so.
        if b"replay guard" in done.messages:
            raise program.Failure(f"the guard was not written: {done.messages.decode()}")
        answers = [scene.shown(json.loads(line)) for line in done.output.splitlines()]
        if len(answers) != len(due):
            raise program.Failure(f"open --batch ended with {done.exit}: {done.messages.decode()}")
        return answers

    # MARK: All of it

    def run(self):
        jobs = [
            ("seal", self.seal, 0.1), ("seal", self.seal, 0.1), ("open", self.open, 0.02), ("open", self.open, 0.02),
            ("open", self.open, 0.02), ("rotate device", self.rotate_device, 0.5),
            ("rotate sender", self.rotate_sender, 1), ("purge", self.purge, 1),
        ]
        threads = [threading.Thread(target=self.work, args=job) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while self.waiting and not self.failures:
            self.deliver([heapq.heappop(self.waiting)[1:] for _ in range(min(BATCH, len(self.waiting)))])
        return len(jobs)

    def judge(self):
        """Every message was shown once, and what is sealed to a destroyed key is refused."""
        if self.failures:
            raise program.Failure("\n".join(self.failures[:10]))
        self.lost = [text for text in self.pushes if self.shown[text] == 0 and text not in self.late]
        self.twice = [text for text in self.pushes if self.shown[text] > 1]
        if self.lost or self.twice:
            raise program.Failure(f"lost: {self.lost[:5]}, shown twice: {self.twice[:5]}")
        # A failure because this machine was too slow proves nothing, so only a few are allowed.
        if len(self.late) > len(self.pushes) // 50:
            raise program.Failure(f"{len(self.late)} of {len(self.pushes)} messages were opened after the grace: too slow a machine")
        refused = 0
        for key in self.purged:
            if key in self.unopened:
                done = self.life.run(self.life.phone, "open", "--json", input=json.dumps(self.unopened[key]).encode())
                code = json.loads(done.output).get("code")
                checker.expect(f"a message to the destroyed key {key}", code, "unknown-recipient-key")
                refused += 1
        if not self.purged or not refused:
            raise program.Failure("no key was destroyed, so nothing was seen of it")
        for store in self.life.stores:
            checker.doctor(self.life, store)
        return refused


def key_id(push):
    """The key that a push is sealed to, as `rotate device --purge` names it."""
    return base64.urlsafe_b64decode(push["ENCRYPTED_DATA"][:8])[1:5].hex()


def main(arguments):
    seconds = int(arguments[0]) if arguments else 600
    seed = int(os.environ.get("SEED", "1"))
    print(f"SEED={seed}", flush=True)
    with scene.scratch(PART) as folder:
        soak = Soak(Life(folder / "soak").begin(), seconds, seed)
        processes = soak.run()
        refused = soak.judge()
        counts = " ".join(f"{name}={number}" for name, number in sorted(soak.counts.items()))
        print(f"figure: soak seconds={seconds} processes={processes} followed={len(soak.pushes)} {counts} "
              f"destroyed-keys={len(soak.purged)} refused-after-purge={refused} late={len(soak.late)} "
              f"lost={len(soak.lost)} twice={len(soak.twice)}")


if __name__ == "__main__":
    main(sys.argv[1:])
