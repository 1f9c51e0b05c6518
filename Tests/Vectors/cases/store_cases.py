"""Stores: rows that are rightly made, and rows that were changed, moved or made by somebody else."""

from reference import store
from reference.envelope import TIME_LIMIT
from reference.store import Refused, StoreKeys, derive

from .material import CHAIN, GENERATIONS, PHONE, PROVIDER, SECOND_PROVIDER, SENT_AT, TABLET, TOPIC, seed
from .store_forge import (
    MEMORY,
    PASSES,
    PASSPHRASE,
    SALT,
    STORE_ID,
    STORE_KEY,
    Edit,
    Store,
    add_header,
    add_sender_key,
    flip,
    good,
    passphrase_store,
    phone_key,
    pin,
    put,
    register,
    superseded_store,
    tablet_key,
)
from .vector import Header, Vector, vector

CORRUPT, WRONG = "corrupt-store", "wrong-passphrase"


def store_case(
    name: str,
    expected: str,
    rules: str,
    comment: str,
    made: Store,
    *,
    fails_at: str | None = None,
    edit: Edit | None = None,
    store_key: bytes | None = STORE_KEY,
    passphrase: str | None = None,
) -> Vector:
    """`edit` changes the store after its tags were made."""
    made.tag_all()
    if edit:
        edit(made)
    sql = made.sql()
    header: list[Header] = [
        ("store-key", store_key.hex() if store_key else None),
        ("passphrase", passphrase),
        ("fails-at", fails_at),
    ]
    try:
        header += store.open_store(sql, store_key, passphrase)
    except Refused as error:
        assert error.args == (expected, fails_at), (name, error.args)
    else:
        assert expected == "opened", name
    return vector("stores", name, expected, rules, comment, header, sql.encode())


def opened_cases() -> list[Vector]:
    comment = "A store as the library makes it."
    end = SENT_AT + 31 * 86_400_000

    def with_keys(*states: int) -> Store:
        made = Store()
        add_header(made)
        phone_key(made, state=states[0], retires=end if states[0] == 3 else None)
        if len(states) > 1:
            tablet_key(made, generation=2, state=states[1])
        return made

    empty = Store()
    add_header(empty)
    first, second = Store(version=1), Store(version=2)
    for made in (first, second):
        add_header(made)
        phone_key(made)
        register(made)
    register(second, "phone2", suites=bytes([1, 2]), app_version="2.0")
    rotated = Store()
    add_header(rotated)
    pin(rotated, 1, "provider", GENERATIONS[0].public, state=2, verifies_until=end, statement=CHAIN[0].data)
    pin(rotated, 2, "provider", GENERATIONS[1].public)
    pin(rotated, 3, "other", SECOND_PROVIDER.public, topic=TOPIC)
    rows = Store()
    add_header(rows)
    register(rows, "a", suites=bytes([1, 2, 9]))
    register(rows, "b", app_version="2.3.1")
    register(rows, "c", user="anna")
    register(rows, "d", topic=TOPIC, pinned_sender=PROVIDER.public, generation=TIME_LIMIT - 1)
    locked = StoreKeys(derive(PASSPHRASE, SALT, PASSES, MEMORY), STORE_ID)
    return [
        store_case("a row in every table", "opened", "T-6 T-8", comment, good()),
        store_case("an empty store", "opened", "T-1 T-5", comment, empty),
        store_case("a pending key beside the active one", "opened", "T-8", comment, with_keys(2, 1)),
        store_case("a retiring key beside the active one", "opened", "T-8", comment, with_keys(3, 2)),
        store_case("a pending key alone", "opened", "T-8", comment, with_keys(1)),
        store_case("a sender that was superseded", "opened", "T-7", comment, rotated),
        store_case("devices with every column that was added", "opened", "T-6", comment, rows),
        store_case(
            "a store of version 1",
            "opened",
            "T-1 T-6",
            "It is brought up to the present version; its tags stay.",
            first,
        ),
        store_case(
            "a store of version 2",
            "opened",
            "T-1 T-6",
            "It is brought up to the present version; its tags stay.",
            second,
        ),
        store_case(
            "a store with a passphrase",
            "opened",
            "T-3 T-4",
            comment,
            passphrase_store(locked),
            store_key=None,
            passphrase=PASSPHRASE,
        ),
        store_case(
            "a store with a passphrase does not look at a store key",
            "opened",
            "T-4",
            comment,
            passphrase_store(locked),
            passphrase=PASSPHRASE,
        ),
    ]


def kind_cases() -> list[Vector]:
    """What is refused before any key is looked at, and keys that do not fit."""
    kind, derivation = (
        "Not a key store, or not of this version.",
        "The ceilings keep a hostile file from taking the machine.",
    )
    right, other = (
        "The store key proves itself before anything is believed.",
        StoreKeys(seed("another store key"), STORE_ID),
    )
    locked = StoreKeys(derive(PASSPHRASE, SALT, PASSES, MEMORY), STORE_ID)

    def refused(name: str, expected: str, rules: str, comment: str, made: Store, **options: object) -> Vector:
        return store_case(name, expected, rules, comment, made, fails_at="open", **options)  # type: ignore[arg-type]

    def changed(**values: object) -> Store:
        made = good()
        for attribute, value in values.items():
            setattr(made, attribute, value)
        return made

    def cost(name: str, **options: int | bytes | None) -> Vector:
        made = passphrase_store(locked, **options)  # type: ignore[arg-type]
        return refused(name, CORRUPT, "T-3", derivation, made, store_key=None, passphrase=PASSPHRASE)

    foreign = StoreKeys(STORE_KEY, STORE_ID[:15])
    no_header = good(header=False)
    return [
        refused("another program's database", CORRUPT, "T-1", kind, changed(application_id=0)),
        refused("a newer version", "newer-version", "T-1", kind, changed(version=4)),
        refused("a version far ahead", "newer-version", "T-1", kind, changed(version=2**31 - 1)),
        refused(
            "a trigger",
            CORRUPT,
            "T-2",
            "No store has one; it would run when the library writes.",
            changed(more_sql="CREATE TRIGGER t AFTER INSERT ON devices BEGIN DELETE FROM device_keys; END;\n"),
        ),
        refused(
            "a view",
            CORRUPT,
            "T-2",
            "No store has one; it would stand in the place of a table.",
            changed(more_sql="CREATE VIEW v AS SELECT * FROM devices;\n"),
        ),
        refused("no header", CORRUPT, "T-3", "The header says how the key is had.", no_header),
        refused("a store id of 15 bytes", CORRUPT, "T-3", "The header says how the key is had.", good(keys=foreign)),
        cost("a salt of 15 bytes", salt=SALT[:15]),
        cost("no passes of the key derivation", passes=None),
        cost("0 passes of the key derivation", passes=0),
        cost("9 passes of the key derivation", passes=9),
        cost("2^62 passes of the key derivation", passes=2**62),
        cost("no memory for the key derivation", memory=None),
        cost("a byte less than 8 KiB for the key derivation", memory=(8 << 10) - 1),
        cost("a byte more than 512 MiB for the key derivation", memory=(512 << 20) + 1),
        cost("a negative memory for the key derivation", memory=-1),
        refused("no store key", "store-key-missing", "T-4", right, good(), store_key=None),
        refused("a store key of 31 bytes", CORRUPT, "T-4", right, good(), store_key=STORE_KEY[:31]),
        refused("a store key of 33 bytes", CORRUPT, "T-4", right, good(), store_key=STORE_KEY + b"\x00"),
        refused("the key of another store", WRONG, "T-5", right, good(keys=other)),
        refused("no passphrase", "passphrase-needed", "T-4", right, passphrase_store(locked)),
        refused(
            "a wrong passphrase",
            WRONG,
            "T-5",
            right,
            passphrase_store(locked),
            store_key=None,
            passphrase=PASSPHRASE + " ",
        ),
        refused(
            "a passphrase for a store without one",
            WRONG,
            "T-4",
            "Whoever expects a passphrase is not given another store in its place.",
            good(),
            passphrase=PASSPHRASE,
        ),
        refused("a changed key check", WRONG, "T-5", right, good(), edit=flip("store", 0, "key_check")),
        refused("a changed tag of the header", CORRUPT, "T-6", right, good(), edit=flip("store", 0, "tag")),
        refused("a changed time in the header", CORRUPT, "T-6", right, good(), edit=put("store", 0, "created", 7)),
    ]


def row_cases() -> list[Vector]:
    """Rows that were changed without the store key."""
    comment = "Whoever can write the database but does not have the store key can only delete rows."

    def changed(name: str, table: str, edit: Edit, made: Store | None = None, rules: str = "T-6") -> Vector:
        return store_case(name, CORRUPT, rules, comment, made or good(), fails_at=table, edit=edit)

    def exchanged(table: str, *columns: str) -> Edit:
        def edit(made: Store) -> None:
            first, second = made.rows[table]
            for column in columns:
                first[column], second[column] = second[column], first[column]

        return edit

    def copied(made: Store) -> None:
        """The tag of one table's row over the same values in another."""
        made.rows["settings"][1]["tag"] = made.keys.tag("devices", ["title", "Bank"])

    def two_keys() -> Store:
        made = good()
        tablet_key(made, generation=2, state=1)
        return made

    def two_devices() -> Store:
        made = good()
        register(made, "phone2", public_key=TABLET.public)
        return made

    other_store = StoreKeys(STORE_KEY, seed("another store id")[:16])

    def from_other_store(made: Store) -> None:
        """A row of another store under the same key."""
        row = made.rows["devices"][0]
        row["tag"] = other_store.tag("devices", [row[column] for column in store.COLUMNS["devices"][0]])

    stranger = GENERATIONS[4].public
    return [
        changed("a device key with a changed tag", "device_keys", flip("device_keys", 0, "tag")),
        changed("a device key with a tag that was cut", "device_keys", put("device_keys", 0, "tag", b"")),
        changed("a device key with a changed name", "device_keys", put("device_keys", 0, "name", "other")),
        changed("a device key without its topic", "device_keys", put("device_keys", 0, "topic", None)),
        changed("a pending key made active", "device_keys", put("device_keys", 1, "state", 2), two_keys()),
        changed("a changed end date", "device_keys", put("device_keys", 0, "retires", SENT_AT)),
        changed("a changed generation", "device_keys", put("device_keys", 0, "generation", 9)),
        changed("a changed sealed secret", "device_keys", flip("device_keys", 0, "sealed")),
        changed("a sealed secret that was cut", "device_keys", put("device_keys", 0, "sealed", b"x" * 39)),
        changed("two sealed secrets exchanged", "device_keys", exchanged("device_keys", "sealed"), two_keys()),
        changed(
            "two rows exchanged but for their ids",
            "device_keys",
            exchanged("device_keys", "public_key", "key_id", "generation", "state", "sealed", "tag"),
            two_keys(),
        ),
        changed(
            "another key in the place of the pinned one",
            "trusted_senders",
            put("trusted_senders", 0, "public_key", stranger),
        ),
        changed(
            "a superseded sender made pinned",
            "trusted_senders",
            put("trusted_senders", 0, "state", 1),
            superseded_store(),
        ),
        changed(
            "a longer overlap of a superseded sender",
            "trusted_senders",
            put("trusted_senders", 0, "verifies_until", 2**53),
            superseded_store(),
        ),
        changed("a pin of every app bound to one", "trusted_senders", put("trusted_senders", 0, "topic", TOPIC)),
        changed("a signing key with a changed tag", "sender_keys", flip("sender_keys", 0, "tag")),
        changed("a signing key with a changed name", "sender_keys", put("sender_keys", 0, "name", "other")),
        changed("another key in the place of a device's", "devices", put("devices", 0, "public_key", TABLET.public)),
        changed(
            "the keys of two devices exchanged", "devices", exchanged("devices", "public_key", "tag"), two_devices()
        ),
        changed("a device of another user", "devices", put("devices", 0, "user", "mallory")),
        changed("a suite added to a device", "devices", put("devices", 0, "suites", bytes([1, 2]))),
        changed("a row of another store under the same key", "devices", from_other_store, rules="T-6"),
        changed("a tag of the same values in another table", "settings", copied),
        changed("a changed setting", "settings", put("settings", 1, "value", "Attacker")),
        changed("a text in the place of a blob", "devices", put("devices", 0, "public_key", "x" * 32), rules="T-6 T-7"),
    ]


def tagged_cases() -> list[Vector]:
    """Rows with a right tag that no store writes: only the holder of the store key can make them."""
    comment = "The tag is right; the row is not one that a store writes."

    def store_with(change: Edit) -> Store:
        made = Store()
        add_header(made)
        change(made)
        return made

    def wrong(name: str, table: str, rules: str, change: Edit) -> Vector:
        return store_case(name, CORRUPT, rules, comment, store_with(change), fails_at=table)

    def wrong_id(made: Store) -> None:
        phone_key(made)
        made.rows["device_keys"][0]["key_id"] = 7

    def wrong_sender_id(made: Store) -> None:
        add_sender_key(made)
        made.rows["sender_keys"][0]["key_id"] = 7

    def state(number: int) -> Edit:
        return lambda made: phone_key(made, state=number)

    return [
        wrong(
            "a secret that was sealed for another row",
            "device_keys",
            "T-8",
            lambda made: phone_key(made, sealed_at=("device_keys", 2, 1, 2)),
        ),
        wrong(
            "a secret that was sealed for another generation",
            "device_keys",
            "T-8",
            lambda made: phone_key(made, sealed_at=("device_keys", 1, 2, 2)),
        ),
        wrong(
            "a secret that was sealed for another state",
            "device_keys",
            "T-8",
            lambda made: phone_key(made, sealed_at=("device_keys", 1, 1, 1)),
        ),
        wrong(
            "a secret that was sealed for another table",
            "device_keys",
            "T-8",
            lambda made: phone_key(made, sealed_at=("sender_keys", 1, 1, 2)),
        ),
        wrong(
            "a signing seed that was sealed for another table",
            "sender_keys",
            "T-8",
            lambda made: add_sender_key(made, ("device_keys", 1, 1, 0)),
        ),
        wrong(
            "a secret of another public key",
            "device_keys",
            "T-9",
            lambda made: phone_key(made, sealed_secret=TABLET.secret),
        ),
        wrong(
            "a secret of 31 bytes", "device_keys", "T-9", lambda made: phone_key(made, sealed_secret=PHONE.secret[:31])
        ),
        wrong("a key id of another key", "device_keys", "T-7", wrong_id),
        wrong("a key id of another signing key", "sender_keys", "T-7", wrong_sender_id),
        wrong("a device key of state 0", "device_keys", "T-7", state(0)),
        wrong("a device key of state 4", "device_keys", "T-7", state(4)),
        wrong("a trusted sender of state 3", "trusted_senders", "T-7", lambda made: pin(made, state=3)),
        wrong(
            "a trusted sender of 31 bytes", "trusted_senders", "T-7", lambda made: pin(made, key=PROVIDER.public[:31])
        ),
        wrong(
            "a statement that was cut",
            "trusted_senders",
            "T-7",
            lambda made: pin(made, state=2, statement=CHAIN[0].data[:180]),
        ),
        wrong(
            "a device whose key has 33 bytes",
            "devices",
            "T-7",
            lambda made: register(made, public_key=PHONE.public + b"\x00"),
        ),
    ]


def store_cases() -> list[Vector]:
    return [*opened_cases(), *kind_cases(), *row_cases(), *tagged_cases()]
