"""A provider's store and a phone's, and the messages that one seals for the other."""
import collections, contextlib, json, os, pathlib, shutil, subprocess, tempfile

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
    return json.dumps({"payload": push, "request_id": request}).encode() + b"\n"


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
        # The bytes that must be in no file after the key is destroyed: of the device's by generation, of those that sign by the
        # number of rotations before them, and of the provider key.
        self.needles = collections.defaultdict(set)
        # The secrets in the clear, which are never in a store.
        self.secrets = set()
        self.imported_record = None
        self.messages = []

    def note(self, asks=True):
        """Records the sealed forms now in the stores, and the secrets of the active keys if a command may be asked for them."""
        phone, provider = bytes_on_disk.contents(self.phone), bytes_on_disk.contents(self.provider)
        if phone is not None and phone.keys:
            for key in phone.keys:
                self.needles["device", key.generation] |= bytes_on_disk.pieces(phone.state)
            if asks:
                active = next(key.generation for key in phone.keys if key.state == bytes_on_disk.ACTIVE)
                self.secret(self.phone, "device", active)
        if provider is not None and provider.signs:
            past, is_offline, _ = provider.signs
            if not is_offline:
                self.needles["provider", 0] |= bytes_on_disk.pieces(provider.provider)
            self.needles["signer", past] |= bytes_on_disk.pieces(provider.provider)
            if asks:
                self.secret(self.provider, "signer" if past or is_offline else "provider", past)
        return self

    def secret(self, store, side, number):
        secret = bytes_on_disk.forms(self.must(store, "key", "export", "--secret"))
        self.needles[side, number] |= secret
        self.secrets |= secret

    def begin(self):
        """A provider with a signing key, and a phone with a device key, that know each other."""
        self.root.mkdir(exist_ok=True)
        self.must(self.provider, "init")
        self.must(self.provider, "key", "new", "provider", "--topic", APP)
        self.note()
        self.must(self.provider, "key", "rotate")
        self.must(self.phone, "init")
        self.must(self.phone, "key", "new", "device", "--topic", APP)
        self.pin()
        self.register()
        return self.note()

    def pin(self):
        """The phone trusts the provider key, and learns its certificate."""
        self.must(self.phone, "provider", "pin", input=self.must(self.provider, "key", "show", "--json"))

    def imported(self, names):
        """Lines of another store's export: devices with one key, which is not the phone's, or it could not register."""
        if self.imported_record is None:
            file = self.root / "imported.key"
            self.imported_record = json.loads(program.must(["key", "new", "device", "--json", "--output", file]))
        return b"".join(
            json.dumps({**self.imported_record, "device": name, "updated": 1}).encode() + b"\n" for name in names)

    # MARK: The provider key elsewhere

    @property
    def provider_key(self):
        return self.root / "provider.key"

    def take_offline(self):
        self.must(self.provider, "key", "offline", "default", "-o", self.provider_key)
        return self.note()

    def certified(self):
        """Requests a certificate, and signs it as on the machine that has the provider key. The file of the answer."""
        request, answer = self.root / "request.json", self.root / "answer.json"
        self.must(self.provider, "key", "rotate", "--request", "-o", request)
        program.must(["key", "certify", request, "--provider-key-file", self.provider_key, "--yes", "-o", answer])
        self.note()
        return answer

    def register(self):
        self.must(self.provider, "device", "add", PHONE, input=self.must(self.phone, "key", "show", "--json"))

    def send(self, generation, count=2):
        """Some messages in transit, to the key that the provider has."""
        first = len(self.messages)
        self.messages += self.seal([f"message {first + number}" for number in range(count)], generation)
        return self

    def rotate(self):
        self.must(self.phone, "key", "rotate")
        return self.note()

    def confirm(self, grace="31d"):
        self.register()
        self.must(self.phone, "key", "rotate", "--confirm", "--grace", grace)
        return self.note()
