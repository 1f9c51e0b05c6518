#!/usr/bin/env python3
"""Plants the faults that the other parts look for, and verifies that each is found: a check that cannot fail shows
nothing.

Usage: planted.py
"""
import contextlib, shutil, sqlite3, sys

import bytes_on_disk, cases, checker, disk_model, io_errors, power_loss, program, scene
from points import Seen
from story import Story

PART = "fault_checker"


@contextlib.contextmanager
def database(store, name=bytes_on_disk.DATABASE):
    """The database, edited without the store key."""
    with contextlib.closing(sqlite3.connect(store / name)) as connection:
        yield connection
        connection.commit()
    if name == bytes_on_disk.DATABASE:
        bytes_on_disk.leave_out_checksums(store / name)


def edit(side, statement, *values):
    def plant(stores, life):
        with database(stores.root / side) as connection:
            if connection.execute(statement, values).rowcount == 0:
                raise program.Failure("there is nothing to edit")
    return plant


# MARK: What is planted

def purge_without_overwriting(stores, life):
    """SQLite without secure_delete: the row is deleted, but its bytes remain."""
    with database(stores.phone) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("DELETE FROM device_keys WHERE generation = 1")


def certificate_in_a_transaction_of_its_own(stores, life):
    """The new certificate is there, but not that it replaced another."""
    stores.must(stores.provider, "key", "rotate")
    edit("P", "DELETE FROM past_epochs WHERE id = (SELECT max(id) FROM past_epochs)")(stores, life)


def secret_in_a_file(stores, life):
    (stores.phone / "extension.db-journal").write_bytes(b"..." + sorted(life.secrets)[0] + b"...")


def older_copy(stores, life):
    """The rotation was acknowledged, but the store is an older copy."""
    stores.must(stores.phone, "key", "rotate")
    shutil.copyfile(life.phone / bytes_on_disk.DATABASE, stores.phone / bytes_on_disk.DATABASE)


def half_a_file(stores, life):
    file = stores.phone / bytes_on_disk.DATABASE
    file.write_bytes(file.read_bytes()[: 5 * 4096])


def forgotten_message(stores, life):
    with database(stores.phone, "extension.db") as connection:
        connection.execute("DELETE FROM seen")


def changed_seal(stores, life):
    edit("D", "UPDATE device_keys SET sealed = CAST(substr(sealed, 1, 71) || x'00' AS BLOB) WHERE state = 2")(stores, life)


def left_over(stores, life):
    (stores.phone / "keystore.db.new").touch()


def nothing(stores, life):
    pass


# The change of the stores, the command of the scene, whether that command counts as acknowledged, and the expected
# finding.
EDITS = (
    ("nothing", nothing, "rotate-device", False, None),
    ("no active key", edit("D", "DELETE FROM device_keys WHERE state = 2"), "rotate-device", False,
     "not one active key"),
    ("two active keys", edit("D", "UPDATE device_keys SET state = 2"), "rotate-device", False,
     "not one active key"),
    ("a retiring key is lost", edit("D", "DELETE FROM device_keys WHERE generation = 1"), "rotate-device", False,
     "the oldest generation"),
    ("a device is lost", edit("P", "DELETE FROM devices"), "device-import", False, "0 devices"),
    ("an acknowledged rotation is lost", nothing, "rotate-device", True, "the newest generation"),
    ("an older copy", older_copy, "rotate-device", True, "the newest generation"),
    ("a rotation in two transactions", certificate_in_a_transaction_of_its_own, "rotate-signer", True, "rotations"),
    ("a purge that does not overwrite", purge_without_overwriting, "rotate-purge", True, "what was destroyed lies in D"),
    ("a secret in the clear", secret_in_a_file, "rotate-device", False, "in the clear"),
    ("half of the database", half_a_file, "rotate-device", False, "does not read"),
    ("a sealed secret is changed", changed_seal, "rotate-device", False, "opened: "),
    ("a shown message is forgotten", forgotten_message, "open", False, "shown before, under another request"),
    ("a pin is lost", edit("D", "DELETE FROM pins"), "rotate-device", False, "the pins"),
    ("a request is lost", edit("P", "DELETE FROM certificate_requests"), "rotate-install", False, "request"),
    ("a provider key is back", edit("P", "UPDATE provider_keys SET sealed = signing_sealed"), "rotate-request", False, "place"),
    ("a floor falls", edit("D", "UPDATE learned SET floor = 0"), "open-certificate", True, "what the phone has learnt"),
    ("a file is left", left_over, "rotate-device", False, "files in D"),
)


def found(name, plant, command, is_acknowledged, words, folder):
    """The checker's finding for a plant; None if it must find nothing."""
    case = cases.make(command, folder / "life")
    stores = case.life.copy(folder / "planted")
    plant(stores, case.life)
    try:
        checker.check(stores, case.bounds(is_acknowledged), case.repeat)
    except program.Failure as failure:
        return str(failure)
    return None


# MARK: A store that does not wait

def without_waiting(folder):
    """The story of a store that never waits for the disk; the finding for the first power cut that it does not survive.
    """
    story = Story.tell(Story(folder))
    calls = [call for call in disk_model.calls(story.log.read_bytes()) if call.kind != "sync"]
    trial = power_loss.trial(story, calls, list(power_loss.begun(story, calls)), Seen())
    for cut in range(len(calls)):
        for mode in "dropped", "names", "torn":
            try:
                trial(f"{cut} {mode}", folder / "trial")
            except program.Failure as failure:
                return str(failure)
            finally:
                shutil.rmtree(folder / "trial", ignore_errors=True)
    return None


# MARK: A command that does not say what is wrong

SAYINGS = (
    (program.Run(-6, b"", b"Fatal error"), "ended with -6"),
    (program.Run(1, b"", b""), "said: nothing"),
    (program.Run(1, b"", b"pushcrypt: error: corrupt-store: keystore.db is damaged"), "corrupt-store"),
    (program.Run(1, b"", b"pushcrypt: error: input-output: cannot use keystore.db: No such file or directory"),
     "another one"),
)


def main():
    plants = 0
    with scene.scratch(PART) as folder:
        case = cases.make("rotate-device", folder / "said")
        trials = [(name, words, lambda entry=entry, number=number: found(*entry, made(folder / str(number))))
                  for number, entry in enumerate(EDITS) for name, words in [(entry[0], entry[4])]]
        trials.append(("a store that does not wait", "", lambda: without_waiting(made(folder / "unsafe"))))
        trials += [(f"it says {run}", words, lambda run=run: saying(case, run)) for run, words in SAYINGS]
        for name, words, trial in trials:
            said = trial()
            print(f"{name}: {said}")
            if (said is None) != (words is None) or words is not None and words not in said:
                sys.exit(f"planted.py: {name}: not found as it must be: {said}")
            plants += words is not None
    print(f"figure: fault-checker planted={plants} found={plants} failed=0")


def made(folder):
    folder.mkdir()
    return folder


def saying(case, run):
    try:
        io_errors.said(case, run)
    except program.Failure as failure:
        return str(failure)
    return None


if __name__ == "__main__":
    main()
