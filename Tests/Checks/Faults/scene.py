"""A provider's store and a phone's, and the messages that one seals for the other."""
import base64, collections, contextlib, json, os, pathlib, shutil, subprocess, tempfile

import bytes_on_disk, program
from program import Failure

APP = "com.example.app"
PHONE = "phone1"

# A message in transit: its text, the generation of the key that it is sealed to, and the push as received.
Message = collections.namedtuple("Message", "text generation push")


@contextlib.contextmanager
def scratch(part):
    """A folder in memory: these tests are not about the speed of a disk."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix=f"pushcrypt-faults-{part}-", dir=parent) as folder:
        yield pathlib.Path(folder)


class Scene:
    """The stores P and D below one folder. A passphrase, if there is one, is for both."""

    def __init__(self, root, passphrase=None):
        self.root = pathlib.Path(root)
        self.passphrase = passphrase
        # How many seconds the clock of the commands is late.
        self.late = 0

    @property
    def provider(self):
        return self.root / "P"

    @property
    def phone(self):
        return self.root / "D"

    @property
    def stores(self):
        return self.provider, self.phone

    def copy(self, root):
        """A copy of the stores in another folder, to damage."""
        shutil.copytree(self.root, root)
        return Scene(root, self.passphrase)

    # MARK: Commands

    def arguments(self, store, *arguments):
        secret = ["--passphrase-file", self.passphrase] if self.passphrase else []
        return [*(["--store", store] if store else []), *arguments, *secret]

    def environment(self):
        if self.late:
            return program.late(self.late)
        return program.CHEAP if self.passphrase else {}

    def run(self, store, *arguments, input=b"", before=(), environment=None):
        environment = self.environment() | (environment or {})
        return program.run(self.arguments(store, *arguments), input, before, environment)

    def must(self, store, *arguments, input=b""):
        return program.must(self.arguments(store, *arguments), input, self.environment())

    # MARK: Messages

    def seal(self, texts, generation, to=PHONE):
        """Seals one message for each text."""
        lines = b"".join(json.dumps(request(to, text)).encode() + b"\n" for text in texts)
        answers = self.must(self.provider, "seal", "--batch", input=lines).splitlines()
        return [
            Message(text, generation, json.loads(answer)["payload"])
            for text, answer in zip(texts, answers, strict=True)]

    def open(self, messages, request):
        """The text shown for each message, under a notification request of that name."""
        lines = b"".join(received(message.push, request) for message in messages)
        done = self.run(self.phone, "open", "--batch", "--duplicates", "suppress", input=lines)
        answers = [json.loads(line) for line in done.output.splitlines()]
        if len(answers) != len(messages):
            raise Failure(f"open --batch answered {len(answers)} of {len(messages)}: {done.messages.decode()}")
        return [shown(answer) for answer in answers]

    @contextlib.contextmanager
    def somebody_beside(self, store, environment=None):
        """Another process that keeps the store open meanwhile, so that no log is emptied at the end. Its id."""
        if store == self.provider:
            arguments, line = ["seal", "--batch"], json.dumps(request(PHONE, "beside")).encode() + b"\n"
        else:
            arguments, line = ["open", "--batch"], received({"aps": {"alert": "in the clear"}}, "beside")
        other = subprocess.Popen(
            [program.PUSHCRYPT, *map(str, self.arguments(store, *arguments))], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=program.ENVIRONMENT | (environment or {}))
        try:
            other.stdin.write(line)
            other.stdin.flush()
            if not other.stdout.readline():
                raise Failure("the process beside did not come up")
            yield other.pid
        finally:
            other.stdin.close()
            other.stdout.read()
            other.stdout.close()
            other.wait()


def request(to, text):
    return {"to": to, "topic": APP, "payload": {"aps": {"alert": text, "sound": "default"}}}


def received(push, request):
    return json.dumps({"payload": push, "request-id": request}).encode() + b"\n"


def shown(answer):
    """The text that the user is shown, or the outcome in brackets."""
    if "error" in answer:
        return f"({answer['error']['code']})"
    notification = answer["notification"]
    return notification["body"] if notification["outcome"] == "opened" else f"({notification['outcome']})"


# MARK: What a store goes through

class Life(Scene):
    """A scene under construction. It also records every secret that it had, in every form."""

    def __init__(self, root, passphrase=None):
        super().__init__(root, passphrase)
        # The bytes that must be in no file after the key is destroyed, by side and generation.
        self.needles = collections.defaultdict(set)
        # The secrets in the clear, which are never in a store.
        self.secrets = set()
        self.recovery_key = None
        self.imported_record = None
        self.messages = []

    def note(self):
        """Records the sealed forms now in the stores, and the secrets of the active keys."""
        for side, store in ("device", self.phone), ("sender", self.provider):
            found = bytes_on_disk.contents(store)
            if found is None:
                continue
            for key in found.keys:
                self.needles["device", key.generation] |= bytes_on_disk.pieces(key.sealed)
            generation = found.senders.get("default")
            if side == "sender" and generation:
                self.needles["sender", generation] |= {
                    piece for sealed in found.sealed for piece in bytes_on_disk.pieces(sealed)}
            active = next((key.generation for key in found.keys if key.state == bytes_on_disk.ACTIVE), None)
            generation = active if side == "device" else generation
            if generation:
                secret = bytes_on_disk.forms(self.must(store, "export", side, "--secret"))
                self.needles[side, generation] |= secret
                self.secrets |= secret
        return self

    def begin(self):
        """A provider with a signing key, and a phone with a device key, that know each other."""
        self.root.mkdir(exist_ok=True)
        self.must(self.provider, "init")
        self.must(self.provider, "keygen", "sender", "--topic", APP)
        self.make_recovery_key()
        self.must(self.provider, "recover", "keys", self.recovery_key)
        self.must(self.phone, "init")
        self.must(self.phone, "keygen", "device", "--topic", APP)
        self.trust()
        self.register()
        return self.note()

    def trust(self):
        """The phone trusts the sender's key, and its recovery key with it."""
        announced = self.must(self.provider, "export", "sender", "--json")
        self.must(self.phone, "sender", "trust", "provider", input=announced)

    def imported(self, names):
        """Lines of another store's export: devices with one key, which is not the phone's, or it could not register."""
        if self.imported_record is None:
            file = self.root / "imported.key"
            self.imported_record = json.loads(program.must(["keygen", "device", "--json", "--output", file]))
        return b"".join(
            json.dumps({**self.imported_record, "device": name, "updated": 1}).encode() + b"\n" for name in names)

    # MARK: Recovery

    @property
    def recovery_file(self):
        return self.root / "recovery.key"

    def make_recovery_key(self):
        self.recovery_key = program.must(["keygen", "recovery", "--output", self.recovery_file]).strip().decode()
        self.secrets |= bytes_on_disk.forms(self.recovery_file.read_bytes())

    def prepared(self):
        """The sealed form of the new key that a recovery has prepared."""
        return {piece for sealed in bytes_on_disk.contents(self.provider).prepared for piece in bytes_on_disk.pieces(sealed)}

    def sign_recovery(self, request):
        """The serial of a request, and its signed statement, as on the machine that has the recovery key."""
        signed = program.must(["recover", "sign", "--recovery-key-file", self.recovery_file], request)
        claim = json.loads(request)["request"]
        return int.from_bytes(base64.urlsafe_b64decode(claim + "=" * (-len(claim) % 4))[49:53], "big"), signed

    def recover(self):
        serial, signed = self.sign_recovery(self.must(self.provider, "rotate", "sender", "--recover", "prepare"))
        self.must(self.provider, "rotate", "sender", "--recover", "finish", input=signed)
        self.note()
        return serial

    def register(self):
        self.must(self.provider, "device", "add", PHONE, input=self.must(self.phone, "export", "device", "--json"))

    def send(self, generation, count=2):
        """Some messages in transit, to the key that the provider has."""
        first = len(self.messages)
        self.messages += self.seal([f"message {first + number}" for number in range(count)], generation)
        return self

    def rotate(self):
        self.must(self.phone, "rotate", "device")
        return self.note()

    def confirm(self, grace="31d"):
        self.register()
        self.must(self.phone, "rotate", "device", "--confirm", "--grace", grace)
        return self.note()
