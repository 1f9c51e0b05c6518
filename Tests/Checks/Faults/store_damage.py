#!/usr/bin/env python3
"""Flips one bit of a store of 3,000 devices, again and again: no command that succeeds gives a wrong answer or leaves out a device, and no
device that is there is called unknown.

Usage: store_damage.py [FLIPS [SEED]]
"""
import base64, collections, json, random, sys

import program, scene
from program import Failure

sys.path.append(str(program.CHECKOUT / "Tests/Data/Vectors"))
from reference import keys

DEVICES, USERS, REMOVED = 3000, 1000, 60
PAYLOAD = {"aps": {"alert": "Hello"}}
# What a command may say of a device that it does not seal to.
DAMAGE = {"corrupt-store", "wrong-passphrase", "newer-version", "older-version"}
NEWLINE = b"\n"
MISSING = {"unknown-device", "no-device", "removed-device"}


class Truth:
    """What the store holds."""

    def __init__(self, stores, coin):
        stores.must(stores.provider, "init")
        stores.must(stores.provider, "key", "new", "provider", "--topic", scene.APP)
        self.users = collections.defaultdict(set)
        lines = []
        for number in range(DEVICES + REMOVED):
            key = keys.text_form(keys.Kind.DEVICE_PUBLIC, coin.randbytes(31) + b"\x01")
            device, user = f"{coin.getrandbits(64):016x}", f"user{number % USERS}"
            lines.append(json.dumps({"device": device, "user": user, "record": key}).encode() + b"\n")
        stores.must(stores.provider, "device", "import", input=b"".join(lines))
        self.removed = {json.loads(line)["device"] for line in coin.sample(lines, REMOVED)}
        for device in sorted(self.removed):
            stores.must(stores.provider, "device", "remove", device)
        self.list = stores.must(stores.provider, "device", "list", "--json")
        # The key ids by device.
        self.devices = {}
        for line in map(json.loads, self.list.splitlines()):
            self.devices[line["device"]] = line["key_id"]
            self.users[line["user"]].add(line["device"])
        if len(self.devices) != DEVICES:
            raise Failure(f"{len(self.devices)} devices were registered")
        self.unknown = {f"{coin.getrandbits(64):016x}" for _ in range(REMOVED)}


class Trial:
    """One damaged store."""

    def __init__(self, stores, truth, what):
        self.stores, self.truth, self.what = stores, truth, what
        self.faults = []
        self.is_noticed = False

    def run(self, *arguments, input=b""):
        done = self.stores.run(self.stores.provider, *arguments, input=input)
        if done.exit < 0 or done.exit > 65:
            self.fault(f"{arguments[0]} ended with {done.exit}: {done.messages.decode(errors='replace')[-200:]}")
        return done

    def fault(self, text):
        self.faults.append(f"{self.what}: {text}")

    def seal(self, arguments, input, wanted):
        """Compares the answers with those wanted: for each device whether it is one to seal to."""
        done = self.run("seal", *arguments, input=input)
        self.is_noticed |= b"corrupt-store" in done.output + done.messages
        sealed = set()
        for line in done.output.splitlines():
            answer = json.loads(line)
            device, code = answer.get("to"), answer.get("error", {}).get("code")
            if code is None:
                data = base64.urlsafe_b64decode(answer["payload"]["ENCRYPTED_DATA"] + "===")
                if self.truth.devices.get(device) != data[1:5].hex():
                    self.fault(f"seal gives {device} a key that is not its own")
                sealed.add(device)
            elif code in MISSING:
                users = self.truth.users.get(answer.get("to_user"), ())
                if device in self.truth.devices or users or device is None and not users and "to_user" not in answer:
                    self.fault(f"{code} for {device or answer.get('to_user')}")
            elif code not in DAMAGE:
                self.fault(f"{code} for {device}")
        if arguments == ["--batch"] and b"to_user" not in input and done.output.count(b"\n") != input.count(b"\n") and done.output:
            self.fault(f"{input.count(NEWLINE)} lines have {done.output.count(NEWLINE)} answers")
        if done.exit == 0 and sealed != wanted:
            self.fault(f"{arguments[0]} ends with 0 and leaves out {len(wanted - sealed)} of {len(wanted)}")

    def all(self, coin):
        truth = self.truth
        asked = set(coin.sample(sorted(truth.devices), DEVICES // 3))
        for group, others in (asked, set()), (asked, truth.unknown | truth.removed):
            lines = [json.dumps({"to": device, "payload": PAYLOAD}).encode() + b"\n" for device in sorted(group | others)]
            self.seal(["--batch"], b"".join(lines), group)
        lines = [json.dumps({"to_user": user, "payload": PAYLOAD}).encode() + b"\n" for user in sorted(truth.users)]
        self.seal(["--batch"], b"".join(lines), set(truth.devices))
        self.seal(["--to-all"], json.dumps(PAYLOAD).encode(), set(truth.devices))
        done = self.run("device", "list", "--json")
        if done.exit == 0 and done.output != truth.list:
            self.fault("device list ends with 0 and lists something else")
        if not set(done.output.splitlines()) <= set(truth.list.splitlines()):
            self.fault("device list lists what is not there")


def main():
    flips, seed = [int(word) for word in (sys.argv[1:] + ["1000", "1"][len(sys.argv) - 1 :])][:2]
    coin = random.Random(seed)
    with scene.scratch("store-damage") as folder:
        stores = scene.Scene(folder / "sound")
        stores.root.mkdir()
        truth = Truth(stores, coin)
        sound = (stores.provider / "keystore.db").read_bytes()
        intact = Trial(stores, truth, "the sound store")
        intact.seal(["--to-all"], json.dumps(PAYLOAD).encode(), set(truth.devices))
        if intact.faults or intact.is_noticed:
            raise Failure(f"the sound store does not pass: {intact.faults}")
        damaged = stores.copy(folder / "damaged")
        faults, noticed = [], 0
        for number in range(flips):
            bit = coin.randrange(len(sound) * 8)
            data = bytearray(sound)
            data[bit // 8] ^= 1 << bit % 8
            (damaged.provider / "keystore.db").write_bytes(data)
            for name in "keystore.db-wal", "keystore.db-shm":
                (damaged.provider / name).unlink(missing_ok=True)
            trial = Trial(damaged, truth, f"page {bit // 8 // 4096 + 1}, byte {bit // 8 % 4096}, bit {bit % 8}")
            trial.all(coin)
            noticed += trial.is_noticed
            faults += trial.faults
            for fault in trial.faults[:2]:
                print(f"store-damage: {fault}", flush=True)
    print(f"store-damage: {flips} flips in {len(sound) // 4096} pages: {noticed} noticed, {len(faults)} wrong answers")
    # Many flips are in places that nothing reads.
    if noticed < flips // 4:
        raise Failure("too few of the flips were noticed to have damaged anything")
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"store-damage: error: {failure}")
