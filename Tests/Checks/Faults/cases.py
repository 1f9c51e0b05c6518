"""The commands that change a store, each with what the stores are before it and after it."""
import contextlib, dataclasses, functools, json, pathlib, re, shutil, subprocess
from dataclasses import replace

import bytes_on_disk, program
from checker import KEY_FILE, Bounds, Facts
from program import Failure
from scene import APP, PHONE, Life

IMPORTED = 200


@dataclasses.dataclass(frozen=True)
class Case:
    """One command on a scene. `life` is copied for each fault and never changed."""
    name: str
    life: Life
    arguments: tuple
    before: Facts
    after: Facts
    # The store, by its name below the scene, or none; and the command's input.
    store: str | None = "D"
    input: bytes = b""
    # The output of the command when it is done, on standard output or standard error.
    says: bytes = b""
    # The exit code of a second run.
    again: tuple = (0,)
    # Repeating the rotation of a sender key rotates once more.
    adds: int = 0
    # It may fail after it made its change, because later steps such as emptying the log are part of it.
    may_be_done: bool = False
    # Another process has the store open meanwhile.
    is_shared: bool = False

    def run(self, stores, before=(), environment=None):
        beside = stores.somebody_beside(self.place(stores)) if self.is_shared else contextlib.nullcontext()
        with beside:
            return stores.run(
                self.place(stores), *self.words(stores), input=self.input, before=before, environment=environment)

    def place(self, stores):
        return stores.root / self.store if self.store else None

    def words(self, stores):
        return [str(argument).replace("{root}", str(stores.root)) for argument in self.arguments]

    def is_acknowledged(self, run):
        said = bool(self.says) and self.says in run.output + run.messages and b'"outcome":"fallback"' not in run.output
        # A message is shown even if what it changes cannot be stored.
        return (run.exit == 0 or said) and b"warning: the key store was not updated" not in run.messages

    def bounds(self, is_acknowledged):
        return Bounds(self.after if is_acknowledged else self.before, self.after)

    def repeat(self, stores):
        """The user's next step after a command that did not end well."""
        done = stores.run(self.place(stores), *self.words(stores), input=self.input)
        if done.exit not in self.again:
            raise Failure(f"repeated, it ended with {done.exit}: {done.messages.decode()}")


# MARK: Scenes

def facts(life, **changes):
    """The current facts of a scene."""
    provider, phone = map(bytes_on_disk.contents, life.stores)
    found = Facts(
        provider=provider is not None, phone=phone is not None, messages=tuple(life.messages),
        secrets=frozenset(life.secrets))
    if provider is not None:
        found = replace(
            found, sender=provider.senders.get("default", 0), announced=provider.announcements,
            recovery=provider.recovery, devices=provider.devices)
    if phone is not None and phone.keys:
        states = {key.generation: key.state for key in phone.keys}
        found = replace(
            found, oldest=min(states), newest=max(states),
            active=max(generation for generation, state in states.items() if state == bytes_on_disk.ACTIVE))
    if phone is not None:
        found = replace(found, trusted=phone.pins > 0, trust=phone.trust)
    return replace(found, **changes)


def grown(root, generations=2):
    """Two stores whose phone has rotated its key, with messages to each generation; one was already shown."""
    life = Life(root).begin().send(1)
    for generation in range(2, generations + 1):
        life.rotate().confirm()
        life.send(generation)
    return life


def crashed(life, store, syscall, *arguments):
    """The scene after a command was killed at the first call of this kind, leaving its log or its journal."""
    done = life.run(life.root / store, *arguments, before=program.strace(
        "-o/dev/null", f"-etrace={syscall}", f"-einject={syscall}:signal=KILL:when=1"))
    if done.exit != -9:
        raise Failure(f"{program.said(arguments)} was not killed: it ended with {done.exit}")
    return life


# MARK: The cases

def init(root):
    root.mkdir()
    return init_of(Life(root))


def init_with_passphrase(root):
    passphrase = root.parent / "passphrase"
    passphrase.write_text("correct horse battery staple\n")
    passphrase.chmod(0o600)
    root.mkdir()
    return replace(init_of(Life(root, passphrase)), name="init-passphrase")


def init_of(life):
    return Case(
        "init", life, ("init",), Facts(), Facts(provider=True), store="P", says=b"made the key store", again=(0, 64),
        may_be_done=True)


def keygen_sender(root):
    life = Life(root)
    root.mkdir()
    life.must(life.provider, "init")
    before = Facts(provider=True)
    return Case(
        "keygen-sender", life, ("keygen", "sender", "--topic", APP), before, replace(before, sender=1), store="P",
        says=b"pcs1", again=(0, 64))


def keygen_device(root):
    life = Life(root)
    root.mkdir()
    life.must(life.phone, "init")
    before = Facts(phone=True)
    return Case(
        "keygen-device", life, ("keygen", "device", "--topic", APP), before, replace(before, oldest=1, newest=1, active=1),
        says=b"pcr1", again=(0, 64))


def keygen_imported(root):
    case = keygen_device(root)
    file = root.parent / f"{root.name}.key"
    program.must(["keygen", "device", "--output", file])
    secrets = frozenset(bytes_on_disk.forms(file.read_bytes()))
    return replace(
        case, name="keygen-import", arguments=(*case.arguments, "--import", file),
        before=replace(case.before, secrets=secrets), after=replace(case.after, secrets=secrets))


def key_file(root):
    """A key without a store: a file that is complete or absent."""
    root.mkdir()
    return Case(
        "key-file", Life(root), ("keygen", "device", "--output", f"{{root}}/{KEY_FILE}"), Facts(), Facts(key_file=True),
        store=None, says=b"pcr1", again=(0, 64))


def device_import(root):
    life = grown(root)
    devices = [f"imported{number}" for number in range(IMPORTED)]
    lines = life.imported(devices)
    before = facts(life)
    return Case(
        "device-import", life, ("device", "import", "--from-export", "--json"), before,
        replace(before, devices=before.devices | frozenset(devices)), store="P", input=lines, says=b'"added"')


def rotate_device(root):
    life = grown(root)
    before = facts(life)
    return Case("rotate-device", life, ("rotate", "device"), before, replace(before, newest=3), says=b"pcr1")


def confirming(name, life, says):
    """The phone has made its third key, and the provider has it."""
    life.register()
    life.send(3)
    before = facts(life)
    return Case(name, life, ("rotate", "device", "--confirm", "--json"), before, replace(before, active=3), says=says)


def rotate_confirm(root):
    return confirming("rotate-confirm", grown(root).rotate(), b"pcr1")


def rotate_sender(root):
    life = grown(root)
    before = facts(life)
    return Case(
        "rotate-sender", life, ("rotate", "sender"), before,
        replace(before, sender=2, announced=1, gone=frozenset(life.needles["sender", 1])), store="P",
        says=b"is destroyed", adds=1)


def recover_keys(root):
    """A second recovery key is announced beside the first."""
    life = grown(root)
    second = life.must(None, "keygen", "recovery", "--output", life.root / "second.key").strip().decode()
    before = facts(life)
    keys = life.recovery_key, second
    return Case("recover-keys", life, ("recover", "keys", *keys), before, replace(before, recovery=(2, 0, False)), store="P")


def recover_prepare(root):
    life = grown(root)
    before = facts(life)
    return Case(
        "recover-prepare", life, ("rotate", "sender", "--recover", "prepare"), before,
        replace(before, recovery=(1, 0, True)), store="P", says=b'"request"')


def recover_finish(root):
    """After a rotation, whose statement ends with the old key."""
    life = grown(root)
    life.must(life.provider, "rotate", "sender")
    life.note()
    serial, signed = life.sign_recovery(life.must(life.provider, "rotate", "sender", "--recover", "prepare"))
    before = facts(life)
    gone = life.needles["sender", 2] | life.prepared()
    return Case(
        "recover-finish", life, ("rotate", "sender", "--recover", "finish"), before,
        replace(before, sender=3, announced=0, recovery=(1, serial, False), gone=frozenset(gone)), store="P",
        input=signed, says=b"pcs1", again=(0, 65))


def open_recovery(root):
    """The phone accepts a recovery, and revokes what it trusted."""
    life = grown(root)
    old = life.must(life.provider, "export", "sender")
    serial = life.recover()
    life.messages.clear()
    life.send(2, count=1)
    before = facts(life)
    trusted, = before.trust
    new = bytes_on_disk.public(life.must(life.provider, "export", "sender"))
    after = frozenset({(bytes_on_disk.public(old), 2, serial), (new, 1, serial)})
    if trusted != (bytes_on_disk.public(old), 1, 0):
        raise Failure("the phone does not trust the key before the recovery")
    return Case(
        "open-recovery", life, ("open", "--json", "--request-id", "first"), before, replace(before, trust=after),
        input=json.dumps(life.messages[-1].push).encode(), says=b'"outcome"')


def rotate_purge(root):
    """Of three generations the first has ended."""
    life = Life(root).begin().rotate().confirm(grace="0s")
    life.send(2).rotate().confirm()
    life.send(3)
    before = facts(life)
    return Case(
        "rotate-purge", life, ("rotate", "device", "--purge", "--json"), before,
        replace(before, oldest=2, gone=frozenset(life.needles["device", 1])), says=b"purged", may_be_done=True)


def log_out(root):
    life = grown(root)
    before = facts(life)
    gone = frozenset().union(*(life.needles["device", generation] for generation in (1, 2)))
    return Case(
        "log-out", life, ("rotate", "device", "--purge", "--everything", "--json"), before,
        replace(before, oldest=0, newest=0, active=0, messages=(), gone=gone), says=b"purged", may_be_done=True)


def open_message(root):
    """A message is shown for the first time, and the replay guard records it; another is already recorded."""
    life = grown(root)
    message, shown = life.messages[-1], life.messages[0]
    life.open([shown], "first")
    before = facts(life, shown=(shown,))
    return Case(
        "open", life, ("open", "--json", "--request-id", "first"), before, before,
        input=json.dumps(message.push).encode(), says=b'"outcome"')


def open_with_pending_key(root):
    """The first message to a pending key makes it active."""
    life = grown(root).rotate()
    life.register()
    life.send(3)
    before = facts(life)
    return Case(
        "open-pending", life, ("open", "--json", "--request-id", "first"), before, replace(before, active=3),
        input=json.dumps(life.messages[-1].push).encode(), says=b'"outcome"')


def shared(make, root):
    case = make(root)
    return replace(case, name=f"{case.name}-shared", is_shared=True)


def confirm_after_crash(root):
    """The previous rotation was killed after it was on the disk, before it was acknowledged: the log must be applied.
    """
    case = rotate_device(root)
    crashed(case.life, "D", "write", *case.arguments)
    after = replace(case.after, active=3)
    return Case(
        "confirm-after-crash", case.life, ("rotate", "device", "--confirm", "--json"), case.after, after, says=b"pcr1")


def open_after_crash(root):
    """The previous opening was killed before the guard's journal was deleted: it must be rolled back."""
    case = open_message(root)
    life = case.life
    crashed_input = json.dumps(life.messages[1].push).encode()
    done = life.run(life.phone, "open", "--request-id", "first", input=crashed_input, before=program.strace(
        "-o/dev/null", "-etrace=unlink", "-P", life.phone / "replay.db-journal", "-einject=unlink:signal=KILL:when=1"))
    if done.exit != -9 or not (life.phone / "replay.db-journal").exists():
        raise Failure("there is no journal to play back")
    return replace(case, name="open-after-crash")


BACKUP = "--key", "{root}/store.key.backup", "{root}/keystore.backup"


class Backup(Case):
    """There is a backup with its key, or neither, and at most the backup if it was killed between both. If the key has still its
    first name, `restore` refuses it, and says what to do."""

    def repeat(self, stores):
        backup, key = stores.root / "keystore.backup", stores.root / "store.key.backup"
        if key.exists() and not backup.exists():
            raise Failure("there is a key without its backup")
        if backup.exists():
            key = key if key.exists() else stores.provider / "store.key"
            if key.stat().st_nlink > 1:
                refused = stores.run(stores.root / "R", "restore", backup, "--key", key).messages.decode()
                advice = re.search(r"; run: (cp -p .* && mv .*)", refused)
                if not advice:
                    raise Failure(f"a key with two names: {refused}")
                subprocess.run(advice[1], shell=True, check=True)
            stores.must(stores.root / "R", "restore", backup, "--key", key)
            stores.must(stores.root / "R", "doctor")
            shutil.rmtree(stores.root / "R")
        super().repeat(stores)


def backup(root):
    life = grown(root)
    before = facts(life)
    return Backup(
        "backup", life, ("backup", "{root}/keystore.backup", "--key-output", "{root}/store.key.backup"), before, before,
        store="P", says=b"was checked", again=(0, 64))


def backed_up(root):
    life = grown(root)
    life.must(life.provider, "backup", root / "keystore.backup", "--key-output", root / "store.key.backup")
    after = facts(life)
    shutil.rmtree(life.provider)
    return life, after


def restore(root):
    """On another machine."""
    life, after = backed_up(root)
    before = facts(life)
    return Case(
        "restore", life, ("restore", *BACKUP), before, after, store="P", says=b"is the backup's", again=(0,),
        may_be_done=True)


def restore_over(root):
    """Over another store, whose key is kept."""
    life, after = backed_up(root)
    life.must(life.provider, "init")
    before = facts(life)
    return Case(
        "restore-over", life, ("restore", *BACKUP, "--replace"), before, after, store="P", says=b"is the backup's",
        may_be_done=True)


# MARK: Suite 2

def changing_over(root):
    """A phone with two generations of suite 1 has made one of suite 2."""
    life = grown(root)
    life.must(life.phone, "rotate", "device", "--post-quantum")
    return life.note()


def made_of_suite_2(make, root):
    case = make(root)
    arguments = (*case.arguments, "--post-quantum")
    return replace(case, name=f"{case.name}-suite-2", arguments=arguments, says=b"pcrx1")


def change_over_register(root):
    """The provider accepts the new key; it seals to it or to the one before it, and the phone opens either."""
    life = changing_over(root)
    record = life.must(life.phone, "export", "device", "--json")
    before = facts(life)
    return Case(
        "change-over-register", life, ("device", "add", PHONE, "--reply"), before, before, store="P", input=record,
        says=b'"acknowledged"')


def change_over_confirm(root):
    return confirming("change-over-confirm", changing_over(root), b"pcrx1")


def change_over_open(root):
    """The first message to the new key makes it active."""
    case = change_over_confirm(root)
    return replace(
        case, name="change-over-open", arguments=("open", "--json", "--request-id", "first"),
        input=json.dumps(case.life.messages[-1].push).encode(), says=b'"outcome"')


def log_out_suite_2(root):
    """Keys of both suites, the last of them active, are destroyed."""
    life = changing_over(root).confirm()
    before = facts(life)
    gone = frozenset().union(*(life.needles["device", generation] for generation in (1, 2, 3)))
    return Case(
        "log-out-suite-2", life, ("rotate", "device", "--purge", "--everything", "--json"), before,
        replace(before, oldest=0, newest=0, active=0, messages=(), gone=gone), says=b"purged", may_be_done=True)


# They need a command with X-Wing.
SUITE_2 = {
    "keygen-device-suite-2": functools.partial(made_of_suite_2, keygen_device),
    "key-file-suite-2": functools.partial(made_of_suite_2, key_file),
    "change-over": functools.partial(made_of_suite_2, rotate_device),
    "change-over-register": change_over_register, "change-over-confirm": change_over_confirm,
    "change-over-open": change_over_open, "log-out-suite-2": log_out_suite_2,
}

ALL = {
    "init": init, "init-passphrase": init_with_passphrase, "keygen-sender": keygen_sender,
    "keygen-device": keygen_device, "keygen-import": keygen_imported, "key-file": key_file, "device-import": device_import,
    "rotate-device": rotate_device, "rotate-confirm": rotate_confirm, "rotate-sender": rotate_sender,
    "recover-keys": recover_keys, "recover-prepare": recover_prepare, "recover-finish": recover_finish,
    "open-recovery": open_recovery, "rotate-purge": rotate_purge, "log-out": log_out, "open": open_message, "open-pending": open_with_pending_key,
    "rotate-device-shared": functools.partial(shared, rotate_device),
    "rotate-sender-shared": functools.partial(shared, rotate_sender),
    "rotate-purge-shared": functools.partial(shared, rotate_purge),
    "backup": backup, "restore": restore, "restore-over": restore_over,
    "confirm-after-crash": confirm_after_crash, "open-after-crash": open_after_crash,
}


def make(name, root):
    return (ALL | SUITE_2)[name](pathlib.Path(root))
