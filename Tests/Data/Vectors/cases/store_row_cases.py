"""Stores whose rows were changed, moved or made by somebody else."""

from reference import store
from reference.store import StoreKeys

from .material import CHAIN, PHONE, PROVIDER, SECOND_PROVIDER, SENT_AT, SIGNING, STRANGER, TABLET, TOPIC, seed
from .store_cases import CORRUPT, store_case
from .store_forge import (
    STORE_KEY,
    Edit,
    Store,
    add_header,
    add_provider_key,
    flip,
    good,
    learn,
    phone_key,
    pin,
    put,
    register,
    tablet_key,
)
from .vector import Vector


def row_cases() -> list[Vector]:
    """Rows that were changed without the store key."""
    comment = "An adversary who can write the database but lacks the store key can only delete rows."

    def changed(name: str, table: str, edit: Edit, made: Store | None = None, rules: str = "V-6") -> Vector:
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
        register(made, "phone2", public_key=TABLET.public, key_id=int.from_bytes(TABLET.key_id, "big"))
        return made

    other_store = StoreKeys(STORE_KEY, seed("another store id")[:16])

    def from_other_store(made: Store) -> None:
        """A row of another store under the same key."""
        row = made.rows["devices"][0]
        row["tag"] = other_store.tag("devices", [row[column] for column in store.COLUMNS["devices"]])

    def floored() -> Store:
        made = good()
        made.rows["learned"][0]["floor"] = CHAIN[1].epoch
        return made

    def proved() -> Store:
        made = good()
        made.rows["provider_keys"][0]["proven"] = CHAIN[3].data
        return made

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
        changed("another key in the place of the pinned one", "pins", put("pins", 0, "public_key", STRANGER.public)),
        changed("a pin of another account", "pins", put("pins", 0, "name", "work")),
        changed("a pin of a reply made one of the app", "pins", put("pins", 0, "origin", 2)),
        changed("a pin of every app bound to one", "pins", put("pins", 0, "topic", TOPIC)),
        changed("an older certificate in the place of the one kept", "learned", put("learned", 0, "certificate", CHAIN[0].data)),
        changed("a floor that was lowered", "learned", put("learned", 0, "floor", 0), floored()),
        changed("what is kept of a provider key moved to another", "learned", put("learned", 0, "public_key", STRANGER.public)),
        changed("a provider key with a changed tag", "provider_keys", flip("provider_keys", 0, "tag")),
        changed("a provider key with a changed name", "provider_keys", put("provider_keys", 0, "name", "other")),
        changed("an older certificate of a provider key", "provider_keys", put("provider_keys", 0, "certificate", CHAIN[0].data)),
        changed("a provider key without what a record proved", "provider_keys", put("provider_keys", 0, "proven", None), proved()),
        changed("another key in the place of a device's", "devices", put("devices", 0, "public_key", TABLET.public)),
        changed(
            "the keys of two devices exchanged", "devices", exchanged("devices", "public_key", "tag"), two_devices()
        ),
        changed("a device of another user", "devices", put("devices", 0, "user", "mallory")),
        changed("a suite added to a device", "devices", put("devices", 0, "suites", bytes([1, 2]))),
        changed("a row of another store under the same key", "devices", from_other_store, rules="V-6"),
        changed("a tag of the same values in another table", "settings", copied),
        changed("a changed setting", "settings", put("settings", 1, "value", "Attacker")),
        changed("a text in the place of a blob", "devices", put("devices", 0, "public_key", "x" * 32), rules="V-6 V-7"),
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

    def provider(**options: object) -> Edit:
        return lambda made: add_provider_key(made, **({"certificate": CHAIN[1], "signing": SIGNING[1]} | options))  # type: ignore[arg-type]

    def state(number: int) -> Edit:
        return lambda made: phone_key(made, state=number)

    return [
        wrong(
            "a secret that was sealed for another row",
            "device_keys",
            "V-8",
            lambda made: phone_key(made, sealed_at=("device_keys", 2, 1, 2)),
        ),
        wrong(
            "a secret that was sealed for another generation",
            "device_keys",
            "V-8",
            lambda made: phone_key(made, sealed_at=("device_keys", 1, 2, 2)),
        ),
        wrong(
            "a secret that was sealed for another state",
            "device_keys",
            "V-8",
            lambda made: phone_key(made, sealed_at=("device_keys", 1, 1, 1)),
        ),
        wrong(
            "a secret that was sealed for another table",
            "device_keys",
            "V-8",
            lambda made: phone_key(made, sealed_at=("provider_keys", 1, 1, 2)),
        ),
        wrong("a provider's seed that was sealed for another table", "provider_keys", "V-8", provider(sealed_at=("device_keys", 1, 1, 0))),
        wrong("a provider's seed that was sealed as a signing key", "provider_keys", "V-8", provider(sealed_at=("provider_keys", 1, 1, 1))),
        wrong("a signing key that was sealed for another epoch", "provider_keys", "V-8", provider(signing_at=("provider_keys", 1, CHAIN[0].epoch, 1))),
        wrong("a signing key that was sealed as a provider's seed", "provider_keys", "V-8", provider(signing_at=("provider_keys", 1, CHAIN[1].epoch, 0))),
        wrong("the signing key of another certificate", "provider_keys", "V-9", provider(signing=SIGNING[0])),
        wrong("the seed of another provider key", "provider_keys", "V-9", provider(public_key=SECOND_PROVIDER.public, key_id=int.from_bytes(SECOND_PROVIDER.provider_id, "big"))),
        wrong("a provider key without a seed and without a certificate", "provider_keys", "V-7", provider(certificate=None, sealed=None)),
        wrong("a certificate without its signing key", "provider_keys", "V-7", provider(signing_sealed=None)),
        wrong("a certificate without its time", "provider_keys", "V-7", provider(certified=None)),
        wrong("a certificate without an app", "provider_keys", "V-7", provider(topic=None)),
        wrong(
            "a secret of another public key",
            "device_keys",
            "V-9",
            lambda made: phone_key(made, sealed_secret=TABLET.secret),
        ),
        wrong(
            "a secret of 31 bytes", "device_keys", "V-9", lambda made: phone_key(made, sealed_secret=PHONE.secret[:31])
        ),
        wrong("a key id of another key", "device_keys", "V-7", wrong_id),
        wrong("a key id of another provider key", "provider_keys", "V-7", provider(key_id=7)),
        wrong("a certificate of a provider key that was cut", "provider_keys", "V-7", provider(proven=CHAIN[1].data[:120])),
        wrong("a device key of state 0", "device_keys", "V-7", state(0)),
        wrong("a device key of state 4", "device_keys", "V-7", state(4)),
        wrong("a pin of origin 3", "pins", "V-7", lambda made: pin(made, origin=3)),
        wrong("a pin of 31 bytes", "pins", "V-7", lambda made: pin(made, key=PROVIDER.public[:31])),
        wrong("a certificate that was cut", "learned", "V-7", lambda made: learn(made, certificate=CHAIN[1].data[:120])),
        wrong("a floor of 2^32", "learned", "V-7", lambda made: learn(made, floor=2**32)),
        wrong(
            "a device whose key has 33 bytes",
            "devices",
            "V-7",
            lambda made: register(made, public_key=PHONE.public + b"\x00"),
        ),
    ]
