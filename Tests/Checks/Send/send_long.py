#!/usr/bin/python3
"""Sends many messages through a local APNs that misbehaves, with senders that are killed and started again.

Usage: send_long.py PUSHCRYPT COUNT      pushcrypt-send lies beside it
Every message is shown and rung for exactly once, none is lost, and none arrives after its expiration. Prints `figure:` lines.
"""
import base64, itertools, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

from cryptography.hazmat.primitives import serialization

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Pipelines"))
from mock import Fault, Mock, QuickRules  # noqa: E402
from rules import Device  # noqa: E402
from scene import APP, Failure, Phones, Provider, expect, main, number_of, phone_of, token  # noqa: E402

PROGRAM, COUNT = os.path.abspath(sys.argv[1]), int(sys.argv[2])
TEAM = "TEAM123456"
SENDERS, CONNECTIONS = 16, 32  # most of a sender's time is the pauses that APNs asks for
STREAMS = 10  # of a connection, so that there are many: each lives for some dozens of requests only
KEYS = [f"SENDER{number:04}" for number in range(SENDERS)]
PART = 20_000  # lines of one run of a sender
SHARE = 0.02  # of the requests have each of the faults
SHORT = 50  # every message whose number this divides lives for seconds only, from when it is first given to a sender
TOLERANCE = 1.5  # seconds on the way
BUSY = (("retry-after", "1"),)
FAULTS = [
    Fault("goaway"), Fault("refuse"), Fault("reset"), Fault("answer", 429, "TooManyRequests", BUSY),
    Fault("answer", 500, "InternalServerError"), Fault("answer", 503, "ServiceUnavailable"), Fault("silence"), Fault("stuck"),
    Fault("lost"), Fault("unread"), Fault("late"), Fault("slow"),
]


class Arrivals:
    """What APNs takes goes to the phones at once; `Mock` appends it."""

    def __init__(self, phones):
        self.phones, self.late = phones, 0

    def append(self, request):
        number = number_of(request.path[10:])
        if request.arrived > int(dict(request.headers)["apns-expiration"]) + TOLERANCE:
            self.late += 1
        self.phones.deliver(json.dumps({
            "event": number, "to": phone_of(number), "token": token(number), "payload": json.loads(request.body)}))


class Devices:
    """Each message has its own device token."""

    def get(self, name):
        return Device({APP}, None) if number_of(name) < COUNT else None


class Sender(threading.Thread):
    """A queue with its lines, and the process that sends them; it is killed again and again, and started with the rest."""

    def __init__(self, file, places, command, started):
        super().__init__(daemon=True)
        self.file, self.rest, self.command, self.started = file, places, command, started
        self.ends = {}
        self.answers, self.kills, self.codes, self.error = 0, 0, {}, None

    def run(self):
        try:
            while self.rest:
                self.run_once()
        except Exception as error:  # noqa: BLE001 — told by the main thread
            self.error = error

    def run_once(self):
        self.started()
        with tempfile.TemporaryFile() as source:
            for number in list(itertools.islice(self.rest, PART)):
                source.write(self.line(number))
            source.seek(0)
            program = subprocess.Popen(self.command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        killer = threading.Timer(random.uniform(0.5, 10), program.kill)
        killer.start()
        for text in program.stdout:
            if not text.endswith(b"\n"):
                break  # killed while it wrote
            self.take(json.loads(text))
        killer.cancel()
        program.wait()
        self.kills += program.returncode == -signal.SIGKILL

    def line(self, number):
        place, length = self.rest[number]
        text = os.pread(self.file.fileno(), length, place)
        if number % SHORT:
            return text
        end = self.ends.setdefault(number, int(time.time()) + random.randint(1, 6))
        return json.dumps(json.loads(text) | {"expiration": end}).encode() + b"\n"

    def take(self, answer):
        self.answers += 1
        code = answer["error"]["code"] if "error" in answer else str(answer["status"])
        self.codes[code] = self.codes.get(code, 0) + 1
        if not answer.get("retry", False):
            self.rest.pop(answer["event"], None)


def seal(provider, file):
    """Writes the lines for `send`."""
    with tempfile.TemporaryFile() as source:
        for number in range(COUNT):
            source.write(
                f'{{"to":"{phone_of(number)}","id":"order-{number}","collapse_id":"order-{number}","ttl":"20h","event":{number},'
                f'"token":"{token(number)}","payload":{{"aps":{{"alert":{{"title":"Order {number}","body":"It is on its way, and '
                f'will be at your door between two and four."}},"sound":"default"}},"order":{number}}}}}\n'.encode())
        source.seek(0)
        expect("exit of seal", subprocess.run(provider.sealer("--emit", "request"), stdin=source, stdout=file).returncode, 0)


def key_of(request):
    """The id of the key that signed a request's token."""
    head = dict(request.headers)["authorization"].split()[1].split(".")[0]
    return json.loads(base64.urlsafe_b64decode(head + "=="))["kid"]


def certificates(folder):
    subprocess.run([f"{HERE}/../Senders/certificates.sh"], cwd=folder, check=True)
    for key in KEYS:
        shutil.copy(f"{folder}/token.p8", f"{folder}/AuthKey_{key}.p8")
        os.chmod(f"{folder}/AuthKey_{key}.p8", 0o600)
    with open(f"{folder}/token.p8", "rb") as file:
        return serialization.load_pem_private_key(file.read(), None).public_key()


def test():
    with tempfile.TemporaryDirectory() as folder:
        public = certificates(folder)
        provider = Provider(folder, PROGRAM)
        phones = Phones(provider)
        rules = QuickRules(Devices(), {key: (TEAM, public, {APP}) for key in KEYS})
        fresh = set()  # keys of senders that have just started: their first token is called expired

        def fault(number, request):
            key = key_of(request) if fresh else None
            if key in fresh:
                fresh.remove(key)
                return Fault("expired")
            kind = random.random() / SHARE
            return FAULTS[int(kind)] if kind < len(FAULTS) else None

        queues = [{} for _ in range(SENDERS)]
        file = open(f"{folder}/lines", "w+b")
        seal(provider, file)
        file.seek(0)
        place = 0
        for number, text in enumerate(file):
            queues[number % SENDERS][number] = (place, len(text))
            place += len(text)
        expect("lines", sum(map(len, queues)), COUNT)
        start = time.monotonic()
        with Mock(rules, f"{folder}/service.pem", f"{folder}/service.key", fault=fault, streams=STREAMS) as mock:
            mock.taken = Arrivals(phones)
            command = [f"{PROGRAM}-send", "--team", TEAM, "--host", f"localhost:{mock.port}",
                       "--ca-file", f"{folder}/authority.pem", "--timeout", "2s", "--connections", str(CONNECTIONS), "--key"]
            senders = [
                Sender(file, queue, [*command, f"{folder}/AuthKey_{key}.p8"], lambda key=key: fresh.add(key))
                for queue, key in zip(queues, KEYS)]
            for sender in senders:
                sender.start()
            for sender in senders:
                while sender.is_alive():
                    sender.join(1)
                if sender.error:
                    raise sender.error
            seconds = time.monotonic() - start
            check(mock, phones, senders)
            codes = {}
            for sender in senders:
                for code, count in sender.codes.items():
                    codes[code] = codes.get(code, 0) + count
            print(f"figure: send-long messages={COUNT} requests={mock.seen} copies={sum(phones.copies.values()) - len(phones.copies)} "
                  f"kills={sum(sender.kills for sender in senders)} connections={mock.connections} "
                  f"at-a-time={mock.most_open} seconds={seconds:.0f}")
            print(f"figure: send-long-answers {' '.join(f'{code}={count}' for code, count in sorted(codes.items()))}")
            print(f"figure: send-long-faults {' '.join(f'{name.replace(chr(32), chr(45))}={count}' for name, count in sorted(mock.faults.items()))}")


def check(mock, phones, senders):
    missing = [number for number in range(COUNT) if number % SHORT and number not in phones.copies]
    expect("messages that are lost", missing, [])
    expect("messages that came after their expiration", mock.taken.late, 0)
    expect("queues that are not empty", [len(sender.rest) for sender in senders if sender.rest], [])
    phones.check(len(phones.copies))
    wrong = {code for sender in senders for code in sender.codes} - {"200", "too-late", "no-answer"}
    expect("answers of other kinds", wrong, set())
    if mock.most_open > SENDERS * (CONNECTIONS + 2):
        raise Failure(f"{mock.most_open} connections at a time")


if __name__ == "__main__":
    main(test)
