"""Stores that open, and what is refused before any row is read."""

from reference import store
from reference.envelope import TIME_LIMIT
from reference.store import Refused, StoreKeys, derive

from .material import CHAIN, PROVIDER, SECOND_PROVIDER, SENT_AT, SIGNING, TOPIC, certify, seed
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
    add_provider_key,
    flip,
    good,
    learn,
    passphrase_store,
    phone_key,
    pin,
    put,
    register,
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
    trusted = Store()
    add_header(trusted)
    pin(trusted, 1)
    pin(trusted, 2, key=SECOND_PROVIDER.public, origin=2)
    pin(trusted, 3, "work", SECOND_PROVIDER.public, topic=TOPIC)
    learn(trusted, 1, floor=CHAIN[1].epoch - 1)
    learn(trusted, 2, SECOND_PROVIDER.public, certify(CHAIN[0].epoch, SIGNING[0], provider=SECOND_PROVIDER))

    def with_provider_key(**options: object) -> Store:
        made = Store()
        add_header(made)
        add_provider_key(made, **options)  # type: ignore[arg-type]
        return made

    signs = {"certificate": CHAIN[3], "signing": SIGNING[3]}
    rows = Store()
    add_header(rows)
    register(rows, "a", suites=bytes([1, 2, 9]))
    register(rows, "b", app_version="2.3.1")
    register(rows, "c", user="anna")
    register(rows, "d", topic=TOPIC, provider=PROVIDER.public, epoch=CHAIN[1].epoch, generation=TIME_LIMIT - 1)
    register(rows, "e", token=seed("token"), environment=2, withdrawal=seed("withdrawal")[:16], relay_grant="Gr-4_nt")
    locked = StoreKeys(derive(PASSPHRASE, SALT, PASSES, MEMORY), STORE_ID)
    return [
        store_case("a row in every table", "opened", "V-6 V-8", comment, good()),
        store_case("an empty store", "opened", "V-1 V-5", comment, empty),
        store_case("a pending key beside the active one", "opened", "V-8", comment, with_keys(2, 1)),
        store_case("a retiring key beside the active one", "opened", "V-8", comment, with_keys(3, 2)),
        store_case("a pending key alone", "opened", "V-8", comment, with_keys(1)),
        store_case("pins of two accounts, and what is kept of two provider keys", "opened", "V-7", comment, trusted),
        store_case("a provider key of epoch 0", "opened", "V-8 V-9", comment, with_provider_key()),
        store_case("a provider key with a certificate", "opened", "V-8 V-9", comment, with_provider_key(**signs)),
        store_case("a provider key that is elsewhere", "opened", "V-8 V-9", comment, with_provider_key(is_offline=True, **signs)),
        store_case("a provider key with a certificate that it never issued", "opened", "V-7", comment, with_provider_key(proven=certify(CHAIN[3].epoch + 1, SIGNING[4]).data, **signs)),
        store_case("devices with every column", "opened", "V-6", comment, rows),
        store_case(
            "a store with a passphrase",
            "opened",
            "V-3 V-4",
            comment,
            passphrase_store(locked),
            store_key=None,
            passphrase=PASSPHRASE,
        ),
        store_case(
            "a store with a passphrase does not look at a store key",
            "opened",
            "V-4",
            comment,
            passphrase_store(locked),
            passphrase=PASSPHRASE,
        ),
    ]


def kind_cases() -> list[Vector]:
    """What is refused before any key is looked at, and keys that do not fit."""
    kind, derivation = (
        "Not a key store, or not of this version.",
        "The limits prevent a hostile file from exhausting the machine.",
    )
    right, other = (
        "The store key is verified before anything else.",
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
        return refused(name, CORRUPT, "V-3", derivation, made, store_key=None, passphrase=PASSPHRASE)

    foreign = StoreKeys(STORE_KEY, STORE_ID[:15])
    no_header = good(header=False)
    return [
        refused("another program's database", CORRUPT, "V-1", kind, changed(application_id=0)),
        refused("a newer version", "newer-version", "V-1", kind, changed(version=store.VERSION + 1)),
        refused("an older version", "older-version", "V-1", kind, changed(version=store.VERSION - 1)),
        refused("the first version", "older-version", "V-1", kind, changed(version=1)),
        refused("a version far ahead", "newer-version", "V-1", kind, changed(version=2**31 - 1)),
        refused(
            "a store with a trigger",
            CORRUPT,
            "V-2",
            "No store has one; it would run when the library writes.",
            changed(more_sql="CREATE TRIGGER t AFTER INSERT ON devices BEGIN DELETE FROM device_keys; END;\n"),
        ),
        refused(
            "a store with a view",
            CORRUPT,
            "V-2",
            "No store has one; it would replace a table.",
            changed(more_sql="CREATE VIEW v AS SELECT * FROM devices;\n"),
        ),
        refused("a store without its header", CORRUPT, "V-3", "The header states how the store key is protected.", no_header),
        refused("a store id of 15 bytes", CORRUPT, "V-3", "The header states how the store key is protected.", good(keys=foreign)),
        cost("a salt of 15 bytes", salt=SALT[:15]),
        cost("no passes of the key derivation", passes=None),
        cost("0 passes of the key derivation", passes=0),
        cost("9 passes of the key derivation", passes=9),
        cost("2^62 passes of the key derivation", passes=2**62),
        cost("no memory for the key derivation", memory=None),
        cost("a byte less than 8 KiB for the key derivation", memory=(8 << 10) - 1),
        cost("a byte more than 512 MiB for the key derivation", memory=(512 << 20) + 1),
        cost("a negative memory for the key derivation", memory=-1),
        refused(
            "no store key for a store without a passphrase", "store-key-missing", "V-4", right, good(), store_key=None
        ),
        refused("a store key of 31 bytes", CORRUPT, "V-4", right, good(), store_key=STORE_KEY[:31]),
        refused("a store key of 33 bytes", CORRUPT, "V-4", right, good(), store_key=STORE_KEY + b"\x00"),
        refused("the key of another store", WRONG, "V-5", right, good(keys=other)),
        refused("no passphrase for a store with one", "passphrase-needed", "V-4", right, passphrase_store(locked)),
        refused(
            "a wrong passphrase",
            WRONG,
            "V-5",
            right,
            passphrase_store(locked),
            store_key=None,
            passphrase=PASSPHRASE + " ",
        ),
        refused(
            "a passphrase for a store without one",
            WRONG,
            "V-4",
            "A caller that expects a passphrase must not get another store instead.",
            good(),
            passphrase=PASSPHRASE,
        ),
        refused("a changed key check", WRONG, "V-5", right, good(), edit=flip("store", 0, "key_check")),
        refused("a changed tag of the header", CORRUPT, "V-6", right, good(), edit=flip("store", 0, "tag")),
        refused("a changed time in the header", CORRUPT, "V-6", right, good(), edit=put("store", 0, "created", 7)),
    ]


def total_cases() -> list[Vector]:
    """Rows that are authentic, and not all that there were."""
    comment = "Every row is authentic; the total of the table shows what is missing."

    def two() -> Store:
        made = good()
        register(made, "phone2")
        return made

    def lose(table: str, row: int) -> Edit:
        return lambda made: made.rows[table].__delitem__(row)

    def older(made: Store) -> None:
        values = made.rows["devices"][1] | {"generation": 7}
        values["tag"] = made.keys.tag("devices", [values[column] for column in store.COLUMNS["devices"]])
        made.rows["devices"][1] = values

    def case(name: str, edit: Edit) -> Vector:
        return store_case(name, CORRUPT, "V-10", comment, two(), fails_at="devices", edit=edit)

    return [
        case("a device that is missing", lose("devices", 1)),
        case("another state of a device", older),
        case("a store without totals", lose("totals", 0)),
        case("changed totals", flip("totals", 0, "sealed")),
    ]


def store_cases() -> list[Vector]:
    return [*opened_cases(), *kind_cases(), *total_cases()]
