"""A store's files as they are, read without the product: by Python's own SQLite, and byte by byte."""
import contextlib, dataclasses, pathlib, shutil, sqlite3, tempfile

DATABASE = "keystore.db"
# The files allowed in a store's folder after every command has ended normally.
SETTLED = {DATABASE, "store.key", "store.key.old", "replay.db"}
PENDING, ACTIVE, RETIRING = 1, 2, 3


@dataclasses.dataclass(frozen=True)
class Key:
    name: str
    generation: int
    state: int
    retires: int | None
    sealed: bytes


@dataclasses.dataclass(frozen=True)
class Contents:
    """The contents of a store's database, with log and journal applied."""
    keys: tuple
    # Generation by name.
    senders: dict
    announcements: int
    devices: frozenset
    pins: int
    # What the device trusts: each sender key with its state and its serial of the last recovery.
    trust: frozenset
    # The recovery keys that phones are told of, the serial of the last recovery, and whether one is prepared.
    recovery: tuple
    # The sealed forms of all secrets, and of the new key of a recovery that is prepared.
    sealed: frozenset
    prepared: frozenset


def contents(store):
    """Reads a copy of the database, so that the store itself is not recovered; None if there is no store."""
    store = pathlib.Path(store)
    if not (store / DATABASE).exists():
        return None
    with tempfile.TemporaryDirectory(dir=store.parent) as copy:
        for suffix in "", "-wal", "-journal":
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(store / (DATABASE + suffix), f"{copy}/{DATABASE}{suffix}")
        with contextlib.closing(sqlite3.connect(f"{copy}/{DATABASE}")) as database:
            found = database.execute("PRAGMA integrity_check").fetchall()
            if found != [("ok",)]:
                raise ValueError(f"integrity_check: {found}")
            return _read(database)


def _read(database):
    def rows(columns, table):
        return database.execute(f"SELECT {columns} FROM {table}").fetchall()

    keys = tuple(Key(*row) for row in rows("name, generation, state, retires, sealed", "device_keys"))
    senders = rows("name, generation, sealed", "sender_keys")
    serials = dict(rows("name, serial", "sender_recoveries"))
    recovery = rows("announced, statement, request, sealed", "recoveries")
    announced, statement, request, prepared = recovery[0] if recovery else (0, None, None, None)
    return Contents(
        keys=keys, senders={name: generation for name, generation, _ in senders},
        announcements=rows("count(*)", "announcements")[0][0],
        devices=frozenset(identifier for identifier, in rows("id", "devices")),
        pins=rows("count(*)", "trusted_senders WHERE state = 1")[0][0],
        trust=frozenset(
            (key, state, serials.get(name, 0)) for name, key, state in rows("name, public_key, state", "trusted_senders")),
        recovery=(announced, int.from_bytes((statement or bytes(53))[49:53], "big"), request is not None),
        sealed=frozenset([key.sealed for key in keys] + [sealed for _, _, sealed in senders]),
        prepared=frozenset([prepared] if prepared else []))


# MARK: Secrets

def pieces(sealed):
    """The nonce, the ciphertext and the tag of a sealed secret; a part is as bad as the whole."""
    return {sealed[:24], sealed[24:56], sealed[56:]}


def public(text):
    """The bytes of a public key."""
    return _bytes(text.strip())


def forms(text):
    """A secret key in every form that could be in a file: its text, in either case, and its bytes."""
    text = text.strip()
    return {text.upper(), text.lower(), _bytes(text)}


def _bytes(text):
    letters = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    # Five bits each, after the last 1, without the six of the checksum.
    number = 0
    digits = text.lower().rsplit(b"1", 1)[1][:-6]
    for digit in digits:
        number = number << 5 | letters.index(digit)
    return (number >> len(digits) * 5 % 8).to_bytes(len(digits) * 5 // 8, "big")


def found_in(store, needles):
    """The files of a store that contain one of these byte strings."""
    found = []
    for file in sorted(pathlib.Path(store).iterdir()):
        data = file.read_bytes()
        if any(needle in data for needle in needles):
            found.append(file.name)
    return found
