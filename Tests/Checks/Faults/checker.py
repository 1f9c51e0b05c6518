"""The requirements for two stores after any fault."""
import dataclasses, json, re

import bytes_on_disk, scene
from bytes_on_disk import ACTIVE, PENDING, SETTLED
from program import Failure


# The advice of `doctor` for an intact store.
DUE = "is pending: register it", "the store has no key", "no provider is trusted", "has retired: destroy it", "lies in this store"
# Its advice after a power cut, for which no message waits.
DAMAGED_GUARD = "the next message recreates it"
# A replay guard whose creation was interrupted; creating the next one removes them. A journal whose content was lost is nothing
# to roll back; the next write removes it.
GUARD_BEGUN = {"extension.db.new", "extension.db.new-journal", "extension.db-journal"}

KEY_FILE = "phone.key"


@dataclasses.dataclass(frozen=True)
class Facts:
    """The expected state of the stores. Generations are those of the default names, 0 for no key."""
    provider: bool = False
    phone: bool = False
    # As `Contents` has them.
    signs: tuple = ()
    pins: frozenset = frozenset()
    trust: frozenset = frozenset()
    oldest: int = 0
    newest: int = 0
    active: int = 0
    devices: frozenset = frozenset()
    # In transit, and inside the grace.
    messages: tuple = ()
    # Already shown, under the request `first`.
    shown: tuple = ()
    # Bytes that must be in no file.
    gone: frozenset = frozenset()
    # Whether the secret key was written to a file outside the stores.
    key_file: bool = False
    # Secrets, which are never in a store in the clear.
    secrets: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Bounds:
    """The acknowledged state and the state of the command in progress: the stores have one of them, or a step between.
    """
    low: Facts
    high: Facts


def check(stores, bounds, repeat=None, replay_is_kept=True):
    """Checks everything. Uses the stores, so they are useless afterwards.

    `repeat` is the user's next command, without any manual step before it. Without `replay_is_kept` a shown message may
    count as new again.
    """
    low, high = bounds.low, bounds.high
    settled = SETTLED if replay_is_kept else SETTLED | GUARD_BEGUN
    is_logged_out = look(stores, bounds)
    if replay_is_kept:
        expect("shown before, under another request", stores.open(low.shown, "second"), ["(suppressed)"] * len(low.shown))
    open_each_once(stores, () if is_logged_out else low.messages)
    if repeat is not None:
        repeat(stores)
        low = high
    for store, there in (stores.provider, low.provider), (stores.phone, low.phone):
        if there:
            doctor(stores, store, DUE if replay_is_kept else (*DUE, DAMAGED_GUARD))
            expect(f"files in {store.name}", {entry.name for entry in store.iterdir()} - settled, set())
    go_on(stores, low)
    for store in stores.stores:
        destroyed(store, low.gone)


def finds(words, trial):
    """Runs a trial with a planted fault, which must be found: a check that cannot fail shows nothing."""
    try:
        trial()
    except Failure as failure:
        if words in str(failure):
            return
        raise Failure(f"a planted fault gave another finding: {failure}") from failure
    raise Failure(f"a planted fault was not found: {words}")


def expect(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: {found}, and not {expected}")


def destroyed(store, needles):
    if store.exists() and (found := bytes_on_disk.found_in(store, needles)):
        raise Failure(f"what was destroyed lies in {store.name}: {', '.join(found)}")


# MARK: As the files lie

def look(stores, bounds):
    """Reads the stores as they are, before any command repairs anything. Returns whether the keys were purged."""
    low, high = bounds.low, bounds.high
    for store in stores.stores:
        if store.exists() and (found := bytes_on_disk.found_in(store, low.secrets)):
            raise Failure(f"a secret lies in the clear in {store.name}: {', '.join(found)}")
        destroyed(store, low.gone)
    try:
        provider, phone = map(bytes_on_disk.contents, stores.stores)
    except Exception as error:
        raise Failure(f"the database does not read: {error}") from error
    within("the provider's store", provider is not None, low.provider, high.provider)
    within("the phone's store", phone is not None, low.phone, high.phone)
    if provider is not None:
        within("the provider key's rotations, place and request", provider.signs, low.signs, high.signs)
        if provider.devices not in (low.devices, high.devices):
            raise Failure(f"{len(provider.devices)} devices, and neither {len(low.devices)} nor {len(high.devices)}")
    if phone is not None:
        one_active(phone)
        own = [key for key in phone.keys if key.name == "default"]
        within("the oldest generation", min((key.generation for key in own), default=0), low.oldest, high.oldest)
        within("the newest generation", max((key.generation for key in own), default=0), low.newest, high.newest)
        active = max((key.generation for key in own if key.state == ACTIVE), default=0)
        within("the active generation", active, low.active, high.active)
        within("the pins", phone.pins, low.pins, high.pins)
        within("what the phone has learnt", phone.trust, low.trust, high.trust)
    whole_key_file(stores.root / KEY_FILE, bounds)
    return phone is not None and not phone.keys


def whole_key_file(file, bounds):
    within("the key file", file.exists(), bounds.low.key_file, bounds.high.key_file)
    if file.exists():
        expect("the mode of the key file", oct(file.stat().st_mode & 0o777), "0o600")
        if not re.fullmatch(rb"PCRX?-SECRET-1[0-9A-Z]{58}\n", file.read_bytes()):
            raise Failure(f"the key file is not whole: it has {file.stat().st_size} bytes")


def one_active(phone):
    """Each name has exactly one active key; only the newest may be pending."""
    for name in {key.name for key in phone.keys}:
        keys = sorted((key for key in phone.keys if key.name == name), key=lambda key: key.generation)
        if [key.state for key in keys].count(ACTIVE) != 1:
            raise Failure(f"'{name}' has the states {[key.state for key in keys]}, and not one active key")
        if any(key.state == PENDING for key in keys[:-1]):
            raise Failure(f"'{name}' has a pending key that is not the newest")


def within(what, found, low, high):
    if found not in (low, high):
        raise Failure(f"{what}: {found}, acknowledged {low}, begun {high}")


# MARK: As the commands find it

def open_each_once(stores, messages):
    """Every message opens under one request, again under the same, and under no other."""
    if not messages:
        return
    expect("opened", stores.open(messages, "first"), [message.text for message in messages])
    expect("opened under another request", stores.open(messages, "second"), ["(suppressed)"] * len(messages))


def doctor(stores, store, advice=DUE):
    """The store is intact."""
    done = stores.run(store, "doctor", "--json")
    found = [json.loads(line) for line in done.output.splitlines()]
    bad = [finding for finding in found if finding["level"] != "ok" and not any(due in finding["text"] for due in advice)]
    if done.exit != 0 or bad or not found:
        raise Failure(f"doctor on {store.name} ended with {done.exit}: {bad} {done.messages.decode()}")


def go_on(stores, facts):
    """Creates what is missing, and sends a new message from the provider to the phone."""
    if not facts.provider:
        stores.must(stores.provider, "init")
    if not facts.signs:
        stores.must(stores.provider, "key", "new", "provider", "--topic", scene.APP)
    if not facts.phone:
        stores.must(stores.phone, "init")
    if not facts.newest:
        stores.must(stores.phone, "key", "new", "device", "--topic", scene.APP)
    if not facts.pins:
        stores.must(stores.phone, "provider", "pin", input=stores.must(stores.provider, "key", "show", "--json"))
    record = stores.must(stores.phone, "key", "show", "--json")
    # After a log-out the generations begin again.
    stores.must(stores.provider, "device", "add", scene.PHONE, "--replace", input=record)
    open_each_once(stores, stores.seal(["it goes on"], 0))
