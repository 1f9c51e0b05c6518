"""The history of two stores from their creation to a log-out, recorded call by call."""
import json, time

import cases, program
from scene import APP, Life, Message, received

IMPORTED = 20


class Story:
    """Runs the commands one after another through the shim. Nothing is copied: data left unsafe by a step stays unsafe.
    """

    def __init__(self, folder):
        self.life = Life(folder / "story")
        self.life.root.mkdir()
        self.log = folder / "story.log"
        self.environment = program.through_shim(self.life.root, self.log, data=True)
        self.steps = []
        # The time of the last step.
        self.end = None
        self.gone = frozenset()
        self.kept = ()
        # The other processes, whose output is not a step's answer.
        self.others = set()

    def facts(self):
        return cases.facts(self.life, gone=self.gone, messages=self.kept)

    def step(self, name, store, *arguments, input=b"", again=(0,), gone=frozenset(), ends=()):
        """One command, which must succeed; `gone` is destroyed by it, and the messages of the generations `ends` too."""
        before = self.facts()
        done = self.life.run(self.life.root / store, *arguments, input=input, environment=self.environment)
        if done.exit != 0:
            raise program.Failure(f"{name} fails undisturbed: {done.messages.decode()}")
        self.gone |= gone
        self.kept = tuple(message for message in self.kept if message.generation not in ends)
        self.steps.append(cases.Case(name, self.life, arguments, before, self.facts(), store, input, again=again))
        self.end = time.time()
        with self.log.open("a") as log:
            log.write(f"mark {name}\n")
        # A command would change the files unrecorded.
        self.life.note(asks=False)
        return done.output

    def send(self, generation):
        """A message in transit from now on."""
        text = f"message {len(self.life.messages)}"
        line = json.dumps({"to": "phone1", "payload": {"aps": {"alert": text}}}).encode() + b"\n"
        answer = json.loads(self.step(f"seal {text}", "P", "seal", "--batch", input=line))
        self.kept += (Message(text, generation, answer["payload"]),)
        self.life.messages.append(self.kept[-1])

    def record(self):
        """The record of the phone's newest key."""
        return self.step("key show", "D", "key", "show", "--json")

    def make(self):
        self.step("init P", "P", "init", again=(0, 64))
        self.step("new provider", "P", "key", "new", "provider", "--topic", APP, again=(0, 64))
        self.step("init D", "D", "init", again=(0, 64))
        self.step("new device", "D", "key", "new", "device", "--topic", APP, again=(0, 64))
        provider = self.step("show provider", "P", "key", "show", "--json")
        self.step("provider pin", "D", "provider", "pin", input=provider)
        self.step("device add", "P", "device", "add", "phone1", input=self.record())

    def grow(self):
        """Three generations, of which the first ends at once, and the provider's first two signing keys."""
        for generation, grace in (2, "0s"), (3, "31d"):
            self.step(f"rotate device {generation}", "D", "key", "rotate")
            self.step("device add", "P", "device", "add", "phone1", input=self.record())
            # The first ends more than a day ago, so that it can be purged.
            self.life.late = 90_000 if grace == "0s" else 0
            self.step(f"confirm {generation}", "D", "key", "rotate", "--confirm", "--json", "--grace", grace)
            self.life.late = 0
            self.send(generation)
        self.step("first certificate", "P", "key", "rotate")
        self.send(3)
        self.step("rotate signer", "P", "key", "rotate", gone=frozenset(self.life.needles["signer", 1]))
        self.send(3)
        self.step(
            "open", "D", "open", "--batch", input=received(self.kept[-1].push, "first"))
        lines = self.life.imported(f"imported{number}" for number in range(IMPORTED))
        self.step("device import", "P", "device", "import", "--from-export", "--json", input=lines)

    def recover(self):
        """After a theft, with the provider key elsewhere: the phone follows with the first message."""
        self.life.provider_key.unlink(missing_ok=True)
        self.step(
            "key offline", "P", "key", "offline", "default", "-o", self.life.provider_key, "--force", again=(0, 64, 65),
            gone=frozenset(self.life.needles["provider", 0]))
        request = self.step("request", "P", "key", "rotate", "--request", "--stolen")
        answer = self.life.root / "answer.json"
        program.must(
            ["key", "certify", "-", "--provider-key-file", self.life.provider_key, "--yes", "-o", answer, "--force"], request)
        self.step(
            "install", "P", "key", "rotate", "--install", "-", input=answer.read_bytes(), again=(0, 65),
            gone=frozenset(self.life.needles["signer", 2]))
        # What the stolen key has signed opens only until the phone has followed.
        self.kept = ()
        self.send(3)
        self.step("open certificate", "D", "open", "--batch", input=received(self.kept[-1].push, "first"))
        self.step("device add", "P", "device", "add", "phone1", input=self.record())

    def destroy(self):
        self.step("purge", "D", "key", "rotate", "--purge", "--json", gone=frozenset(self.life.needles["device", 1]))
        gone = frozenset().union(*(self.life.needles["device", generation] for generation in (2, 3)))
        self.step("log-out", "D", "key", "remove", "default", "--yes", "--json", again=(0, 64, 65), gone=gone, ends=(2, 3))

    def tell(self):
        self.make()
        self.grow()
        self.recover()
        self.destroy()
        return self

    def tell_beside_others(self):
        """The same, while other processes have both stores open, so that neither log is ever emptied."""
        self.make()
        with (
            self.life.somebody_beside(self.life.provider, self.environment) as one,
            self.life.somebody_beside(self.life.phone, self.environment) as other,
        ):
            self.others = {one, other}
            self.grow()
            self.recover()
            self.destroy()
        return self
