#!/usr/bin/env python3
"""Damages replay guards and stores: bits, pages, pages from two moments, a log of another moment, an end that is missing. No command
hangs, crashes or gives a wrong answer.

Usage: damage.py [COUNT [SEED]], or damage.py KIND SEED:NUMBER to repeat one trial
"""
import json, os, pathlib, random, shutil, subprocess, sys

import program, scene
from points import Trials
from program import Failure

PART = "damage"
# No command takes longer.
LIMIT = 5
PAGE = 4096
DEVICES = 300
# More than a guard keeps.
MESSAGES = 4200
CODES = (0, 1, 64, 65)


class Moments:
    """A provider's store and a phone's at two moments, with what a list says of each."""

    def __init__(self, folder):
        root = folder / "life"
        root.mkdir()
        life = scene.Scene(root)
        for store in life.stores:
            life.must(store, "init")
        life.must(life.provider, "keygen", "sender", "--topic", scene.APP)
        life.must(life.phone, "keygen", "device", "--topic", scene.APP)
        life.must(life.phone, "sender", "trust", "p", "-", input=life.must(life.provider, "export", "sender"))
        record = life.must(life.phone, "export", "device", "--json")
        life.must(life.provider, "device", "add", scene.PHONE, "-", input=record)
        self.add(life, range(DEVICES))
        self.early = self.seal(life, MESSAGES)
        self.open(life, self.early)
        self.first = self.keep(life, folder / "first")
        for number in range(0, DEVICES, 7):
            life.must(life.provider, "device", "remove", f"d{number}")
        self.add(life, range(DEVICES, DEVICES + 60))
        life.must(life.provider, "config", "set", "title", "Bank")
        self.open(life, self.seal(life, 300))
        self.second = self.keep(life, folder / "second")
        self.fresh = self.seal(life, 1)

    def add(self, life, numbers):
        lines = b""
        for number in numbers:
            key = program.must(["keygen", "device", "-o", life.root / f"k{number}"]).decode().strip()
            lines += json.dumps({"device": f"d{number}", "record": key}).encode() + b"\n"
        life.must(life.provider, "device", "import", "-", input=lines)

    @staticmethod
    def seal(life, count):
        lines = b"".join(json.dumps(scene.request(scene.PHONE, f"text {n}")).encode() + b"\n" for n in range(count))
        return [json.loads(line)["payload"] for line in life.must(life.provider, "seal", "--batch", input=lines).splitlines()]

    @staticmethod
    def open(life, pushes):
        lines = b"".join(scene.received(push, f"r{n}") for n, push in enumerate(pushes))
        life.must(life.phone, "open", "--batch", input=lines)

    @staticmethod
    def keep(life, folder):
        shutil.copytree(life.root, folder)
        kept = scene.Scene(folder)
        kept.devices = set(life.must(life.provider, "device", "list").splitlines())
        return kept


def pages(data):
    return [data[start : start + PAGE] for start in range(0, len(data), PAGE)]


def bits(coin, first, second):
    data = bytearray(coin.choice([first, second]))
    for _ in range(coin.randrange(1, 5)):
        data[coin.randrange(len(data))] ^= 1 << coin.randrange(8)
    return bytes(data)


def page(coin, first, second):
    """A page is lost, filled, or in the place of another."""
    found = pages(coin.choice([first, second]))
    place = coin.randrange(len(found))
    found[place] = coin.choice([bytes(PAGE), b"\xff" * PAGE, coin.choice(found), coin.randbytes(PAGE)])
    return b"".join(found)


def swap(coin, first, second):
    found = pages(coin.choice([first, second]))
    one, other = coin.randrange(1, len(found)), coin.randrange(1, len(found))
    found[one], found[other] = found[other], found[one]
    return b"".join(found)


def mix(coin, first, second):
    """Each page is of one of two moments."""
    old, new = pages(first), pages(second)
    share = coin.random()
    return b"".join(
        (old[n] if n < len(old) and (n >= len(new) or coin.random() < share) else new[n])
        for n in range(max(len(old), len(new))))


def end(coin, first, second):
    data = coin.choice([first, second])
    return data[: coin.choice([coin.randrange(len(data)), coin.randrange(len(data) // PAGE + 1) * PAGE])]


KINDS = {f"{file} {way.__name__}": (file, way) for file in ("keystore", "replay") for way in (bits, page, swap, mix, end)}


def trial(kind, moments):
    file, way = KINDS[kind]
    store = "P" if file == "keystore" else "D"

    def one(seed, folder):
        coin = random.Random(f"{kind} {seed}")
        shutil.copytree(moments.second.root / store, folder)
        path = folder / f"{file}.db"
        first, second = ((kept.root / store / path.name).read_bytes() for kept in (moments.first, moments.second))
        data = way(coin, first, second)
        path.write_bytes(data)
        is_same = data in (first, second)
        counts = {"damaged": int(not is_same), "same": int(is_same), "refused": 0}
        (provider if file == "keystore" else guard)(folder, moments, is_same, counts)
        return counts
    return one


def command(store, *arguments, input=b""):
    try:
        done = subprocess.run(
            [program.PUSHCRYPT, "--store", store, *arguments], input=input, capture_output=True, timeout=LIMIT,
            env=program.ENVIRONMENT)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(arguments)} hangs") from None
    if done.returncode not in CODES or b"crashed" in done.stderr or b"Fatal error" in done.stderr:
        raise Failure(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    # A batch names the error in the line.
    if done.returncode != 0 and not done.stderr and b'{"error"' not in done.stdout and arguments[0] not in ("open", "doctor"):
        raise Failure(f"{' '.join(arguments)} ended with {done.returncode} and said nothing")
    return done


def provider(folder, moments, is_same, counts):
    known = {line.split()[0]: set() for kept in (moments.first, moments.second) for line in kept.devices}
    for kept in (moments.first, moments.second):
        for line in kept.devices:
            known[line.split()[0]].add(line)
    listed = command(folder, "device", "list")
    lines = set(listed.stdout.splitlines())
    for line in lines:
        if line not in known.get(line.split()[0], ()):
            raise Failure(f"a list has {line}")
    # Whole, of one moment, or an error.
    if listed.returncode == 0 and lines not in (moments.first.devices, moments.second.devices):
        raise Failure(f"a list of {len(lines)} devices ends with 0")
    counts["refused"] += listed.returncode != 0
    everybody = command(folder, "seal", "--to-all", input=b'{"aps":{"alert":"x"}}')
    sealed = [json.loads(line) for line in everybody.stdout.splitlines()]
    names = {line["to"].encode() for line in sealed if "error" not in line}
    if everybody.returncode == 0 and names not in [
            {line.split()[0] for line in kept.devices} for kept in (moments.first, moments.second)]:
        raise Failure(f"{len(names)} devices are all, and the end is 0")
    checked = command(folder, "doctor")
    if checked.returncode == 0 and listed.returncode != 0:
        raise Failure("doctor finds nothing")
    if is_same and (checked.returncode != 0 or listed.returncode != 0):
        raise Failure(f"a store without damage is refused: {(checked.stdout + listed.stderr).decode()}")
    command(folder, "device", "remove", "d5")
    command(folder, "rotate", "sender", "--force")


def guard(folder, moments, is_same, counts):
    # A guard that is made anew has forgotten what came in the last ten minutes.
    is_lost = False
    for push, text in ((moments.fresh[0], "text 0"), (moments.early[-1], None), (moments.early[0], None)):
        shown = command(folder, "open", "--json", "--request-id", "another", input=json.dumps(push).encode())
        # Nothing stops a delivery.
        if text is not None and json.loads(shown.stdout).get("body") != text:
            raise Failure(f"a new message gave {shown.stdout.decode()}")
        counts["refused"] += b"damaged" in shown.stderr
        is_lost = is_lost or (text is None and b"damaged" in shown.stderr)
        if is_same and b"damaged" in shown.stderr:
            raise Failure(f"a guard without damage is refused: {shown.stderr.decode()}")
        # Every moment's guard knows the newest of the messages that were opened before both.
        if is_same and push is moments.early[-1] and json.loads(shown.stdout).get("duplicate") is not True:
            raise Failure(f"what was shown before is new: {shown.stdout.decode()}")
    for name in ("third", "fourth", "fifth"):
        again = command(folder, "open", "--json", "--request-id", name, input=json.dumps(moments.fresh[0]).encode())
        # The damage may be found only now.
        if not is_lost and b"damaged" not in again.stderr:
            break
        is_lost = False
    if json.loads(again.stdout).get("duplicate") is not True:
        raise Failure(f"what was just shown is new: {again.stdout.decode()}")
    command(folder, "doctor")


def main(arguments):
    if arguments and arguments[0] in KINDS:
        kinds, trials = [arguments[0]], arguments[1:]
        seed = arguments[1].split(":")[0]
    else:
        count = int(arguments[0]) if arguments else 10_000
        seed = arguments[1] if len(arguments) > 1 else str(random.randrange(2**32))
        kinds = list(KINDS)
        trials = [f"{seed}:{number}" for number in range(-(-count // len(kinds)))]
    print(f"seed {seed}", flush=True)
    with scene.scratch(PART) as folder:
        moments = Moments(folder)
        run = Trials(PART, folder)
        for kind in kinds:
            run.run(f"'{kind}'", trial(kind, moments), trials)
    run.end(kinds=len(kinds), seed=seed)


if __name__ == "__main__":
    main(sys.argv[1:])
