#!/usr/bin/env python3
"""Two sealers, an opener, rotations, restarts by SIGTERM at random bytes of the input, and clocks that jump: every line is
answered once, and every message shown once at most, and once exactly if it was opened while it was fresh.

Usage: delivery.py [LINES [SEED]]
"""
import collections, json, os, random, shutil, signal, subprocess, sys, threading, time

import program, scene
from program import Failure

# Lines between two openings.
ROUND = 1000
DAY = 86400
FARTHEST = 400 * DAY
# A message is shown for 30 days, on a phone whose clock is at most a day behind. So close to these ends either may happen.
LIFE, AHEAD, MARGIN = 30 * DAY, DAY, 3600
# With this share of the stops the rest of the line comes late.
LATE = 0.3


def clock(seconds):
    """The variables of a process whose clock is so far ahead; none for the real clock."""
    if seconds == 0:
        return {}
    library = next((path for path in FAKETIME if os.path.exists(path)), None)
    if library is None:
        sys.exit("delivery: libfaketime is missing: apt-get install faketime")
    return {"LD_PRELOAD": library, "FAKETIME": f"{seconds:+d}s", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}


FAKETIME = [f"/usr/lib/{kind}/faketime/libfaketimeMT.so.1" for kind in (f"{os.uname().machine}-linux-gnu", "faketime")]


def is_fresh(age, before_guard):
    """Whether a message of this age in seconds is due to be shown; None close to the ends, and for one that was sealed by a
    clock so far behind that the phone had no guard yet: it counts as shown, unless a clock ahead made that guard."""
    if min(abs(age - LIFE), abs(age + AHEAD)) < MARGIN:
        return None
    if before_guard and -AHEAD < age < LIFE:
        return None
    return -AHEAD < age < LIFE


class Sealer:
    """One pipe of lines, read by one process after the other."""

    def __init__(self, stores, name, coin):
        self.stores, self.name, self.coin = stores, name, coin
        self.answers = stores.root / f"{name}.out"
        self.stops = 0

    def seal(self, lines, seconds):
        """Answers the lines, with processes that are stopped at random bytes. Returns the answers."""
        text = b"".join(lines)
        reader, writer = os.pipe()
        self.answers.write_bytes(b"")
        stops = sorted(self.coin.randrange(len(text) + 1) for _ in range(self.coin.randrange(4)))
        done = 0
        for stop in stops:
            # Two may be in one line.
            stop = max(stop, done)
            process = self.start(reader, seconds)
            self.feed(writer, text[done:stop])
            time.sleep(self.coin.random() * 0.05)
            process.send_signal(signal.SIGTERM)
            # The rest of the line, so that the process can end.
            end = text.find(b"\n", stop)
            rest = len(text) if end < 0 else end + 1
            if stop == 0 or text[stop - 1 : stop] == b"\n":
                rest = stop
            if self.coin.random() < LATE:
                time.sleep(0.2)
            self.feed(writer, text[stop:rest])
            done = rest
            self.wait(process, (0, -signal.SIGTERM))
            self.stops += 1
        process = self.start(reader, seconds)
        self.feed(writer, text[done:])
        os.close(writer)
        self.wait(process, (0,))
        os.close(reader)
        return self.answers.read_bytes().splitlines()

    @staticmethod
    def feed(writer, text):
        while text:
            text = text[os.write(writer, text) :]

    def start(self, reader, seconds):
        with open(self.answers, "ab") as output:
            return subprocess.Popen(
                [program.PUSHCRYPT, "--store", self.stores.provider, "seal", "--batch", "--jobs", "2", "--clock-is-right"],
                stdin=reader, stdout=output, stderr=subprocess.PIPE, env=program.ENVIRONMENT | clock(seconds))

    def wait(self, process, codes):
        try:
            _, messages = process.communicate(timeout=program.LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure(f"{self.name} does not end") from None
        if process.returncode not in codes or b"crashed" in messages:
            refused = [answer for answer in self.answers.read_bytes().splitlines() if b'"error"' in answer][:2]
            raise Failure(f"{self.name} ended with {process.returncode}: {messages.decode()}{refused}")


class Delivery:
    def __init__(self, folder, seed):
        self.coin = random.Random(seed)
        self.start = time.time()
        self.stores = scene.Scene(folder / "stores")
        self.stores.root.mkdir()
        for store in self.stores.stores:
            self.stores.must(store, "init")
        self.stores.must(self.stores.provider, "key", "new", "provider", "--topic", scene.APP)
        self.stores.must(self.stores.phone, "key", "new", "device", "--topic", scene.APP)
        provider = self.stores.must(self.stores.provider, "key", "show", "--json")
        self.stores.must(self.stores.phone, "provider", "pin", input=provider)
        self.register()
        self.sealers = [Sealer(self.stores, name, random.Random(self.coin.random())) for name in ("one", "two")]
        self.counts = collections.Counter()
        self.shown = set()
        # A message of each round.
        self.kept = []

    def register(self):
        record = self.stores.must(self.stores.phone, "key", "show", "--json")
        self.stores.must(self.stores.provider, "device", "add", scene.PHONE, "-", input=record)

    def run(self, lines):
        number = 0
        while number < lines:
            count = min(ROUND, lines - number)
            self.round(range(number, number + count))
            number += count
            if number % (ROUND * 10) == 0:
                print(f"{number} lines, {dict(self.counts)}", flush=True)
        # Everything once more, at the real time.
        self.open(self.kept, 0)

    def round(self, numbers):
        middle = len(numbers) // 2
        # Sealers jump, or the opener: if both are ahead by as much, nothing shows it.
        jumps = self.coin.choice(["none", "none", "sealer", "opener"])
        # Half of the jumps are so short that some messages stay fresh.
        farthest = self.coin.choice([2 * LIFE, FARTHEST])
        far = self.coin.randrange(-farthest, farthest + 1)
        seconds = far if jumps == "sealer" else 0
        answers = {}
        problems = []

        def work(sealer, part):
            try:
                lines = [json.dumps(scene.request(scene.PHONE, str(n)) | {"n": n}).encode() + b"\n" for n in part]
                answers[sealer.name] = (part, sealer.seal(lines, seconds))
            except Exception as problem:
                problems.append(problem)

        threads = [
            threading.Thread(target=work, args=(sealer, part))
            for sealer, part in zip(self.sealers, (numbers[:middle], numbers[middle:]), strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]
        sealed = []
        for part, found in answers.values():
            found = [json.loads(answer) for answer in found]
            if [answer.get("n") for answer in found] != list(part):
                raise Failure(f"lines {part} were answered as {[answer.get('n') for answer in found][:20]} …")
            if any("error" in answer for answer in found):
                raise Failure(f"a line was refused: {next(a for a in found if 'error' in a)}")
            sealed += [(answer["n"], answer["payload"], time.time() + seconds) for answer in found]
        self.counts["answered"] += len(sealed)
        self.coin.shuffle(sealed)
        if jumps == "opener":
            self.open(sealed, far)
        self.open(sealed, 0)
        self.counts["jumps"] += jumps != "none"
        # Copies under other requests.
        self.open(self.coin.sample(sealed, min(20, len(sealed))), 0)
        self.kept += self.coin.sample(sealed, 1)
        self.rotate()

    def open(self, messages, seconds):
        lines = b"".join(scene.received(push, f"{self.counts['openings']}-{n}") for n, push, _ in messages)
        now = time.time() + seconds
        self.counts["openings"] += 1
        done = self.stores.run(
            self.stores.phone, "open", "--batch", "--duplicates", "suppress", input=lines, environment=clock(seconds))
        answers = [json.loads(line) for line in done.output.splitlines()]
        if len(answers) != len(messages) or done.exit not in (0, 65):
            raise Failure(f"open --batch answered {len(answers)} of {len(messages)}, {done.exit}: {done.messages.decode()}")
        for (number, _, sealed), answer in zip(messages, answers, strict=True):
            text, fresh = scene.shown(answer), is_fresh(now - sealed, sealed < self.start)
            if fresh and number not in self.shown:
                self.counts["due"] += 1
                self.counts["due-under-jumps"] += abs(now - sealed) > DAY / 2
            if text == str(number):
                if number in self.shown:
                    raise Failure(f"message {number} was shown twice")
                if fresh is False:
                    raise Failure(f"message {number} was shown at an age of {now - sealed:.0f} s")
                self.shown.add(number)
                self.counts["shown"] += 1
            elif fresh and number not in self.shown:
                raise Failure(f"message {number} was fresh, at an age of {now - sealed:.0f} s, and gave {text}")

    def rotate(self):
        """Changes keys at the real time, and tries to at another."""
        if self.coin.random() < 0.3:
            far = self.coin.choice([-1, 1]) * self.coin.randrange(30 * DAY, FARTHEST)
            done = self.stores.run(self.stores.provider, "key", "rotate", environment=clock(far))
            if done.exit != 64:
                raise Failure(f"a rotation at {far:+d} s ended with {done.exit}: {done.messages.decode()}")
            self.counts["refused-rotations"] += 1
        if self.coin.random() < 0.2:
            self.stores.must(self.stores.provider, "key", "rotate")
            self.counts["rotations"] += 1
        if self.coin.random() < 0.2:
            record = self.stores.must(self.stores.phone, "key", "rotate", "--json")
            self.stores.must(self.stores.provider, "device", "add", scene.PHONE, "-", input=record)
            self.stores.must(self.stores.phone, "key", "rotate", "--confirm")
            self.counts["rotations"] += 1


def main(arguments):
    lines = int(arguments[0]) if arguments else 1_000_000
    seed = arguments[1] if len(arguments) > 1 else str(random.randrange(2**32))
    print(f"seed {seed}", flush=True)
    start = time.monotonic()
    with scene.scratch("delivery") as folder:
        delivery = Delivery(folder, seed)
        try:
            delivery.run(lines)
        except Failure as failure:
            sys.exit(f"FAILED: {failure}\n    again: Tests/Checks/Faults/delivery.py {lines} {seed}")
    stops = sum(sealer.stops for sealer in delivery.sealers)
    counts = " ".join(f"{name}={count}" for name, count in delivery.counts.items())
    print(
        f"figure: delivery lines={lines} stops={stops} {counts} seconds={time.monotonic() - start:.0f} seed={seed} failed=0")


if __name__ == "__main__":
    main(sys.argv[1:])
