"""Stores whose rows were changed, moved or made by somebody else."""

from reference import store
from reference.store import StoreKeys

from .material import CHAIN, GENERATIONS, PHONE, PROVIDER, SENT_AT, TABLET, TOPIC, seed
from .store_cases import CORRUPT, store_case
from .store_forge import (
    STORE_KEY,
    Edit,
    Store,
    add_header,
    add_sender_key,
    flip,
    good,
    phone_key,
    pin,
    put,
    register,
    superseded_store,
    tablet_key,
)
from .vector import Vector


def row_cases() -> list[Vector]:
    """Rows that were changed without the store key."""
    comment = "An adversary who can write the database but lacks the store key can only delete rows."

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
        row["tag"] = other_store.tag("devices", [row[column] for column in store.COLUMNS["devices"]])

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
