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
        found = replace(found, signs=provider.signs, devices=provider.devices)
    if phone is not None and phone.keys:
        states = {key.generation: key.state for key in phone.keys}
        found = replace(
            found, oldest=min(states), newest=max(states),
            active=max(generation for generation, state in states.items() if state == bytes_on_disk.ACTIVE))
    if phone is not None:
        found = replace(found, pins=phone.pins, trust=phone.trust)
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


def new_provider(root):
    life = Life(root)
    root.mkdir()
    life.must(life.provider, "init")
    before = Facts(provider=True)
    return Case(
        "new-provider", life, ("key", "new", "provider", "--topic", APP), before, replace(before, signs=(0, False, False)),
        store="P", says=b"pcs1", again=(0, 64))


class Offline(Case):
    """The provider key is in its file before the store does without it."""

    def repeat(self, stores):
        file = stores.root / "provider.key"
        signs = bytes_on_disk.contents(stores.provider).signs
        if signs and signs[1]:
            if not file.exists() or not re.fullmatch(rb"PCS-SECRET-1[0-9A-Z]{58}\n?", file.read_bytes()):
                raise Failure("the provider key is nowhere")
        else:
            file.unlink(missing_ok=True)
        super().repeat(stores)


def new_offline(root):
    case = new_provider(root)
    return Offline(
        "new-offline", case.life, (*case.arguments, "--offline", "-o", "{root}/provider.key"), case.before,
        replace(case.before, signs=(0, True, False)), store="P", says=b"pcs1", again=(0, 64, 65))


def key_offline(root):
    life = grown(root)
    before = facts(life)
    past, _, requested = before.signs
    return Offline(
        "key-offline", life, ("key", "offline", "default", "-o", "{root}/provider.key"), before,
        replace(before, signs=(past, True, requested), gone=frozenset(life.needles["provider", 0])), store="P",
        says=b"still have the secret", again=(0, 64, 65), may_be_done=True)


def new_device(root):
    life = Life(root)
    root.mkdir()
    life.must(life.phone, "init")
    before = Facts(phone=True)
    return Case(
        "new-device", life, ("key", "new", "device", "--topic", APP), before, replace(before, oldest=1, newest=1, active=1),
        says=b"pcr1", again=(0, 64))


def key_import(root):
    case = new_device(root)
    file = root.parent / f"{root.name}.key"
    program.must(["key", "new", "device", "--output", file])
    secrets = frozenset(bytes_on_disk.forms(file.read_bytes()))
    return replace(
        case, name="key-import", arguments=("key", "import", "--topic", APP, file),
        before=replace(case.before, secrets=secrets), after=replace(case.after, secrets=secrets))


def key_file(root):
    """A key without a store: a file that is complete or absent."""
    root.mkdir()
    return Case(
        "key-file", Life(root), ("key", "new", "device", "--output", f"{{root}}/{KEY_FILE}"), Facts(), Facts(key_file=True),
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
    return Case("rotate-device", life, ("key", "rotate"), before, replace(before, newest=3), says=b"pcr1")


def confirming(name, life, says):
    """The phone has made its third key, and the provider has it."""
    life.register()
    life.send(3)
    before = facts(life)
    return Case(name, life, ("key", "rotate", "--confirm", "--json"), before, replace(before, active=3), says=says)


def rotate_confirm(root):
    return confirming("rotate-confirm", grown(root).rotate(), b"pcr1")


def rotate_signer(root):
    life = grown(root)
    before = facts(life)
    return Case(
        "rotate-signer", life, ("key", "rotate"), before,
        replace(before, signs=(2, False, False), gone=frozenset(life.needles["signer", 1])), store="P", says=b"epoch")


def rotate_request(root):
    life = grown(root).take_offline()
    before = facts(life)
    return Case(
        "rotate-request", life, ("key", "rotate", "--request", "-o", "{root}/request.json", "--force"), before,
        replace(before, signs=(1, True, True)), store="P", says=b"signing key")


def rotate_install(root):
    """The old signing key goes, and the sealed form of the new one that waited."""
    life = grown(root).take_offline()
    life.certified()
    before = facts(life)
    return Case(
        "rotate-install", life, ("key", "rotate", "--install", "{root}/answer.json"), before,
        replace(before, signs=(2, True, False), gone=frozenset(life.needles["signer", 1])), store="P", says=b"epoch")


def open_certificate(root):
    """The phone learns from a message that all earlier signing keys have ended."""
    life = grown(root)
    life.must(life.provider, "key", "rotate", "--stolen", "--anyway")
    life.note()
    life.messages.clear()
    life.send(2, count=1)
    before = facts(life)
    after = life.copy(root.parent / f"{root.name}-after")
    if after.open(life.messages, "first") != [life.messages[0].text]:
        raise Failure("the message after the theft does not open")
    trust = bytes_on_disk.contents(after.phone).trust
    if trust == before.trust:
        raise Failure("the phone has learnt nothing")
    return Case(
        "open-certificate", life, ("open", "--json", "--request-id", "first"), before, replace(before, trust=trust),
        input=json.dumps(life.messages[-1].push).encode(), says=b'"outcome"')


def rotate_purge(root):
    """Of three generations the first has ended more than a day ago."""
    life = Life(root).begin().rotate()
    life.late = 90_000
    life.confirm(grace="0s")
    life.late = 0
    life.send(2).rotate().confirm()
    life.send(3)
    before = facts(life)
    return Case(
        "rotate-purge", life, ("key", "rotate", "--purge", "--json"), before,
        replace(before, oldest=2, gone=frozenset(life.needles["device", 1])), says=b"purged", may_be_done=True)


def log_out(root):
    life = grown(root)
    before = facts(life)
    gone = frozenset().union(*(life.needles["device", generation] for generation in (1, 2)))
    return Case(
        "log-out", life, ("key", "remove", "default", "--yes", "--json"), before,
        replace(before, oldest=0, newest=0, active=0, pins=frozenset(), messages=(), gone=gone), says=b"removed",
        again=(0, 64, 65), may_be_done=True)


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
        "confirm-after-crash", case.life, ("key", "rotate", "--confirm", "--json"), case.after, after, says=b"pcr1")


def open_after_crash(root):
    """The previous opening was killed before the guard's journal was deleted: it must be rolled back."""
    case = open_message(root)
    life = case.life
    crashed_input = json.dumps(life.messages[1].push).encode()
    done = life.run(life.phone, "open", "--request-id", "first", input=crashed_input, before=program.strace(
        "-o/dev/null", "-etrace=unlink", "-P", life.phone / "extension.db-journal", "-einject=unlink:signal=KILL:when=1"))
    if done.exit != -9 or not (life.phone / "extension.db-journal").exists():
        raise Failure("there is no journal to play back")
    return replace(case, name="open-after-crash")


BACKUP = "--store-key", "{root}/store.key.backup", "{root}/keystore.backup"


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
                refused = stores.run(stores.root / "R", "restore", backup, "--store-key", key).messages.decode()
                advice = re.search(r"; run: (cp -p .* && mv .*)", refused)
                if not advice:
                    raise Failure(f"a key with two names: {refused}")
                subprocess.run(advice[1], shell=True, check=True)
            stores.must(stores.root / "R", "restore", backup, "--store-key", key)
            stores.must(stores.root / "R", "doctor")
            shutil.rmtree(stores.root / "R")
        super().repeat(stores)


def backup(root):
    life = grown(root)
    before = facts(life)
    return Backup(
        "backup", life, ("backup", "{root}/keystore.backup", "--store-key-output", "{root}/store.key.backup"), before, before,
        store="P", says=b"checked every row", again=(0, 64))


def backed_up(root):
    life = grown(root)
    life.must(life.provider, "backup", root / "keystore.backup", "--store-key-output", root / "store.key.backup")
    after = facts(life)
    shutil.rmtree(life.provider)
    return life, after


def restore(root):
    """On another machine."""
    life, after = backed_up(root)
    before = facts(life)
    return Case(
        "restore", life, ("restore", *BACKUP), before, after, store="P", says=b"restored the key store", again=(0, 64),
        may_be_done=True)


def restore_over(root):
    """Over a later state of the store, in place."""
    life = grown(root)
    life.must(life.provider, "backup", root / "keystore.backup", "--store-key-output", root / "store.key.backup")
    after = facts(life)
    record = program.must(["key", "new", "device", "--output", root / "another.key"])
    life.must(life.provider, "device", "add", "another", input=record)
    before = facts(life)
    return Case(
        "restore-over", life, ("restore", *BACKUP, "--replace"), before, after, store="P", says=b"restored the key store",
        again=(0,), may_be_done=True)


# MARK: Suite 2

def changing_over(root):
    """A phone with two generations of suite 1 has made one of suite 2."""
    life = grown(root)
    life.must(life.phone, "key", "rotate", "--post-quantum")
    return life.note()


def made_of_suite_2(make, root):
    case = make(root)
    arguments = (*case.arguments, "--post-quantum")
    return replace(case, name=f"{case.name}-suite-2", arguments=arguments, says=b"pcrx1")


def change_over_register(root):
    """The provider accepts the new key; it seals to it or to the one before it, and the phone opens either."""
    life = changing_over(root)
    record = life.must(life.phone, "key", "show", "--json")
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
        "log-out-suite-2", life, ("key", "remove", "default", "--yes", "--json"), before,
        replace(before, oldest=0, newest=0, active=0, pins=frozenset(), messages=(), gone=gone), says=b"removed",
        again=(0, 64, 65), may_be_done=True)


# They need a command with X-Wing.
SUITE_2 = {
    "new-device-suite-2": functools.partial(made_of_suite_2, new_device),
    "key-file-suite-2": functools.partial(made_of_suite_2, key_file),
    "change-over": functools.partial(made_of_suite_2, rotate_device),
    "change-over-register": change_over_register, "change-over-confirm": change_over_confirm,
    "change-over-open": change_over_open, "log-out-suite-2": log_out_suite_2,
}

ALL = {
    "init": init, "init-passphrase": init_with_passphrase, "new-provider": new_provider, "new-offline": new_offline,
    "new-device": new_device, "key-import": key_import, "key-file": key_file, "device-import": device_import,
    "rotate-device": rotate_device, "rotate-confirm": rotate_confirm, "rotate-signer": rotate_signer,
    "key-offline": key_offline, "rotate-request": rotate_request, "rotate-install": rotate_install,
    "open-certificate": open_certificate, "rotate-purge": rotate_purge, "log-out": log_out, "open": open_message,
    "open-pending": open_with_pending_key,
    "rotate-device-shared": functools.partial(shared, rotate_device),
    "rotate-signer-shared": functools.partial(shared, rotate_signer),
    "rotate-purge-shared": functools.partial(shared, rotate_purge),
    "backup": backup, "restore": restore, "restore-over": restore_over,
    "confirm-after-crash": confirm_after_crash, "open-after-crash": open_after_crash,
}


def make(name, root):
    return (ALL | SUITE_2)[name](pathlib.Path(root))
