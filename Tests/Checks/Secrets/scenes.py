"""A provider's and a phone's store, and the commands to watch."""

import dataclasses, os, subprocess

import forms

PAYLOAD = b'{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}}}'
PASSPHRASE = b"correct horse battery staple 7731"
TOPIC = "com.example.app"

# The setup before watching. P is a provider, D its phone, W the same phone with a passphrase.
SETUP = """
pushcrypt --store P init
pushcrypt --store D init
pushcrypt key new provider -o provider.key > provider.pub
pushcrypt key new device -o spare.key > spare.pub
pushcrypt --store P key import --topic com.example.app provider.key
pushcrypt --store D key new device --topic com.example.app > phone.pub
pushcrypt --store D key export --secret -o phone.key
pushcrypt --store D provider pin provider.pub
pushcrypt --store P device add phone1 phone.pub
pushcrypt --store P seal --to phone1 today.json > push.json
pushcrypt --store W init --passphrase-file pass
pushcrypt --store W key import --passphrase-file pass --topic com.example.app phone.key
pushcrypt --store W provider pin --passphrase-file pass provider.pub
pushcrypt --store P attach seal today.json --type public.json -o sealed --reference reference
pushcrypt key export --key-file spare.key --format jwk --secret -o spare.jwk
pushcrypt key export --key-file provider.key --format pem --secret -o provider.pem
"""


@dataclasses.dataclass
class Command:
    """One run of the program, and which secrets it takes in or gives out as text, and as which: only those may lie in ordinary
    memory."""

    line: str
    text: tuple[str, ...] = ()
    forms: tuple[str, ...] = ("key text", "passphrase")


# Key formats of other programs, and our own.
FOREIGN = ("base64", "key text")

COMMANDS = [
    Command("--store P seal --to phone1 today.json"),
    Command("seal --signing-key-file provider.key --topic com.example.app --to {phone.pub} today.json", ("provider.key", "P: provider key 1.1")),
    Command("--store D open push.json"),
    Command("--store W open --passphrase-file pass push.json", ("W: passphrase",)),
    Command("--store P attach seal today.json --type public.json -o sealed2 --reference reference2"),
    Command("attach open sealed --reference reference -o opened"),
    Command("--store P device test phone1"),
    Command("--store D doctor"),
    Command("--store D key import --name spare spare.key", ("spare.key",)),
    Command("--store D key export default --secret -o exported.key", ("D: device key 1.1",)),
    Command("--store D key export default --format jwk --secret -o exported.jwk", ("D: device key 1.1",), FOREIGN),
    Command("--store P key export --format pem --secret -o exported.pem", ("P: provider key 1.1", "provider.key"), FOREIGN),
    Command("key import spare.jwk -o imported.key", ("spare.key", "D: device key 2.1"), FOREIGN),
    Command("--store D key import --name other provider.pem", ("P: provider key 1.1", "provider.key"), FOREIGN),
    Command("--store D key rotate default"),
    Command("--store D key rotate default --confirm"),
    Command("--store D key remove spare --yes"),
    Command("--store P key rotate"),
    Command("--store P key export --secret -o signing.key", ("P: signing key 1.",)),
    Command("seal --signing-key-file signing.key --topic com.example.app --to {phone.pub} today.json", ("P: signing key 1.",)),
    Command("--store P key rotate --request -o request.json"),
    Command("key certify request.json --provider-key-file provider.key --yes -o answer.json", ("provider.key", "P: provider key 1.1")),
    Command("--store P key rotate --install answer.json"),
    Command("--store P key offline default -o offline.key", ("P: provider key 1.1", "provider.key")),
]


class Scene:
    """A directory with the stores, and every secret that they had."""

    def __init__(self, program: str, directory: str):
        self.program, self.directory = program, directory
        self.environment = {"HOME": directory, "PATH": f"{os.path.dirname(program)}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.write("today.json", PAYLOAD)
        self.write("pass", PASSPHRASE)
        for line in SETUP.strip().split("\n"):
            self.shell(line)
        self.secrets: dict[str, bytes] = {}
        self.collect()

    def path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def write(self, name: str, content: bytes) -> None:
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)

    def read(self, name: str) -> str:
        with open(self.path(name)) as file:
            return file.read().strip()

    def shell(self, line: str) -> subprocess.CompletedProcess:
        result = subprocess.run(line, shell=True, cwd=self.directory, env=self.environment, capture_output=True)
        assert result.returncode == 0, f"{line}: {result.stderr.decode()}"
        return result

    def arguments(self, line: str) -> list[str]:
        return [self.read(word[1:-1]) if word.startswith("{") else word for word in line.split()]

    def collect(self) -> None:
        """Adds the current secrets: a rotation creates some and destroys others."""
        for store in "PD":
            self.secrets |= forms.in_store(self.path(store), store)
        self.secrets |= forms.of_provider(forms.key_of_text(self.read("provider.key")), "provider.key")
        self.secrets |= forms.of_device(forms.key_of_text(self.read("spare.key")), "spare.key")
        if "W: passphrase" not in self.secrets:
            self.secrets |= forms.of_passphrase(PASSPHRASE, self.path("W"), "W")
