"""A store's files as they are, read without the product: by Python's own SQLite, and byte by byte."""
import contextlib, dataclasses, os, pathlib, shutil, sqlite3, sys, tempfile

sys.path.append(f"{os.path.dirname(os.path.abspath(__file__))}/../Secrets")
import forms as secret_forms

DATABASE = "keystore.db"
# The files allowed in a store's folder after every command has ended normally.
SETTLED = {DATABASE, "store.key", "extension.db"}
PENDING, ACTIVE = "pending", "active"


@dataclasses.dataclass(frozen=True)
class Key:
    name: str
    generation: int
    state: str
    retires: int | None


@dataclasses.dataclass(frozen=True)
class Contents:
    """The contents of a store's database, with log and journal applied."""
    keys: tuple
    # Of the provider key `default`: how often its signing key was replaced, whether its secret is elsewhere, and whether a request
    # waits; empty if there is none.
    signs: tuple
    devices: frozenset
    # The accounts with the provider keys that they trust.
    pins: frozenset
    # What was learnt: each provider key with its certificate and its floor.
    trust: frozenset
    # The sealed forms of all device keys together, and of all the provider's.
    state: bytes
    provider: bytes


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
            return _read(database, store)


def _read(database, store):
    def rows(columns, table):
        return database.execute(f"SELECT {columns} FROM {table}").fetchall()

    states, sealed = {}, {}
    for name, revision, form in rows("name, revision, sealed", "states"):
        states[name], _ = secret_forms.stored_state(name, form, (store / "store.key").read_bytes(), revision)
        sealed[name] = form
    state = states.get("device", {})
    accounts, learned = state.get("accounts", []), state.get("learned", [])
    keys = tuple(
        Key(account["name"], key["generation"], key["state"], key.get("retires"))
        for account in accounts for key in account.get("keys", []))
    signs = ()
    for key in states.get("provider", {}).get("keys", []):
        if key["name"] == "default":
            signs = len(key.get("past", [])), key.get("offline", False), "request" in key
    return Contents(
        keys=keys, signs=signs, devices=frozenset(identifier for identifier, in rows("id", "devices WHERE removed IS NULL")),
        pins=frozenset((account["name"], pin["key"]) for account in accounts for pin in account.get("pins", [])),
        trust=frozenset((known["provider"], known.get("certificate"), known["floor"]) for known in learned),
        state=sealed.get("device", b""), provider=sealed.get("provider", b""))


# MARK: Secrets

def pieces(sealed):
    """The nonce, the ciphertext and the tag of a sealed secret; a part is as bad as the whole."""
    return {sealed[:24], sealed[-16:]} | {sealed[place:place + 32] for place in range(24, len(sealed) - 48, 32)}


def forms(text):
    """A secret key in every form that could be in a file: its text, in either case, and its bytes."""
    # A signing key's file has its certificate and its provider's key in further lines.
    text = text.split(b"\n")[0]
    return {text.upper(), text.lower(), secret_forms.key_of_text(text.decode())}


def found_in(store, needles):
    """The files of a store that contain one of these byte strings."""
    found = []
    for file in sorted(pathlib.Path(store).iterdir()):
        data = file.read_bytes()
        if any(needle in data for needle in needles):
            found.append(file.name)
    return found
