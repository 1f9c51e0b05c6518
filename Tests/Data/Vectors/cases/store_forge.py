"""Databases of key stores, built row by row. Tags are made when a store is written, and may be changed afterwards."""

from collections.abc import Callable
from dataclasses import dataclass, field

from reference import store
from reference.store import SCHEMA, VERSION, StoreKeys, Value
from reference.trust import Certificate

from .material import CHAIN, PHONE, PROVIDER, SENT_AT, SIGNING, TABLET, TOPIC, Pair, seed

STORE_KEY, STORE_ID = seed("store key"), seed("store id")[:16]
SALT, PASSPHRASE = seed("store salt")[:16], "correct horse"
PASSES, MEMORY = 1, 8 << 10

Row = dict[str, Value]
Edit = Callable[["Store"], None]


@dataclass
class Store:
    """The rows of one store, by table. Tags are made when it is written, and may be changed afterwards."""

    keys: StoreKeys = field(default_factory=lambda: StoreKeys(STORE_KEY, STORE_ID))
    rows: dict[str, list[Row]] = field(default_factory=dict)
    application_id: int = store.APPLICATION_ID
    version: int = VERSION
    more_sql: str = ""

    def add(self, table: str, **values: Value) -> Row:
        columns = store.COLUMNS[table]
        row: Row = {column: values.get(column) for column in columns}
        self.rows.setdefault(table, []).append(row)
        return row

    def tag_all(self) -> None:
        for table, rows in self.rows.items():
            for row in rows:
                row["tag"] = self.keys.tag(table, [row[column] for column in store.COLUMNS[table]])
        self.add_totals()

    def add_totals(self) -> None:
        def total(table: str) -> bytes:
            rows = [(row[store.COLUMNS[table][0]], row["tag"]) for row in self.rows.get(table, [])]
            return self.keys.total(table, rows)  # type: ignore[arg-type]

        plain = b"".join(map(total, store.COUNTED))
        place = self.keys.place("totals", 1, 0, 0)
        row = self.add("totals", id=1, sealed=self.keys.seal(plain, place, seed(f"store totals {plain.hex()}")[:24]))
        row["tag"] = self.keys.tag("totals", [1, row["sealed"]])

    def sql(self) -> str:
        lines = [f"PRAGMA application_id = {self.application_id};\n", f"PRAGMA user_version = {self.version};\n"]
        lines.append(SCHEMA)
        for table, rows in self.rows.items():
            for row in rows:
                values = {name: value for name, value in row.items() if value is not None}
                names, literals = ", ".join(values), ", ".join(map(literal, values.values()))
                lines.append(f"INSERT INTO {table} ({names}) VALUES\n    ({literals});\n")
        return "".join([*lines, self.more_sql])


def literal(value: Value) -> str:
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)


def add_header(
    store_: Store, *, salt: bytes | None = None, passes: int | None = None, memory: int | None = None
) -> None:
    store_.add(
        "store",
        id=1,
        store_id=store_.keys.store_id,
        salt=salt,
        passes=passes,
        memory=memory,
        created=SENT_AT,
        key_check=store_.keys.check,
    )


def add_device_key(
    store_: Store,
    number: int,
    name: str,
    secret: bytes,
    public: bytes,
    key_id: bytes,
    generation: int = 1,
    state: int = 2,
    retires: int | None = None,
    sealed_at: tuple[str, int, int, int] | None = None,
    sealed_secret: bytes | None = None,
) -> None:
    place = store_.keys.place(*(sealed_at or ("device_keys", number, generation, state)))
    nonce = seed(f"store nonce {number} {generation} {state} {sealed_at} {(sealed_secret or secret).hex()}")[:24]
    store_.add(
        "device_keys",
        id=number,
        name=name,
        topic=TOPIC,
        public_key=public,
        key_id=int.from_bytes(key_id, "big"),
        generation=generation,
        state=state,
        created=SENT_AT,
        retires=retires,
        sealed=store_.keys.seal(sealed_secret or secret, place, nonce),
    )


def add_provider_key(
    store_: Store,
    sealed_at: tuple[str, int, int, int] | None = None,
    certificate: Certificate | None = None,
    signing: Pair | None = None,
    signing_at: tuple[str, int, int, int] | None = None,
    is_offline: bool = False,
    **values: Value,
) -> None:
    """The provider's key, and with a certificate the key that signs messages."""
    place = store_.keys.place(*(sealed_at or ("provider_keys", 1, 1, 0)))
    nonce = seed(f"store nonce provider {sealed_at}")[:24]
    row: Row = {
        "id": 1,
        "name": "provider",
        "topic": TOPIC,
        "public_key": PROVIDER.public,
        "key_id": int.from_bytes(PROVIDER.provider_id, "big"),
        "generation": 1,
        "created": SENT_AT,
        "sealed": None if is_offline else store_.keys.seal(PROVIDER.seed, place, nonce),
    }
    if certificate and signing:
        place = store_.keys.place(*(signing_at or ("provider_keys", 1, certificate.epoch, 1)))
        nonce = seed(f"store nonce signing {signing.seed.hex()} {signing_at}")[:24]
        row |= {"certificate": certificate.data, "certified": SENT_AT}
        row["signing_sealed"] = store_.keys.seal(signing.seed, place, nonce)
    store_.add("provider_keys", **row | values)


def phone_key(store_: Store, **options: object) -> None:
    add_device_key(store_, 1, "default", PHONE.secret, PHONE.public, PHONE.key_id, **options)  # type: ignore[arg-type]


def tablet_key(store_: Store, number: int = 2, **options: object) -> None:
    add_device_key(store_, number, "default", TABLET.secret, TABLET.public, TABLET.key_id, **options)  # type: ignore[arg-type]


def pin(store_: Store, number: int = 1, name: str = "default", key: bytes = PROVIDER.public, **values: Value) -> None:
    row: Row = {"id": number, "name": name, "public_key": key, "origin": 1, "created": SENT_AT}
    store_.add("pins", **row | values)


def learn(store_: Store, number: int = 1, key: bytes = PROVIDER.public, one: Certificate = CHAIN[1], **values: Value) -> None:
    row: Row = {"id": number, "public_key": key, "topic": TOPIC, "certificate": one.data, "floor": one.floor}
    store_.add("learned", **row | values)


def register(store_: Store, name: str = "phone1", **values: Value) -> None:
    row: Row = {"id": name, "public_key": PHONE.public, "generation": 1, "created": SENT_AT, "updated": SENT_AT}
    row["key_id"] = int.from_bytes(PHONE.key_id, "big")
    store_.add("devices", **row | values)


def good(header: bool = True, keys: StoreKeys | None = None) -> Store:
    """A store with a row in every table."""
    made = Store(keys) if keys else Store()
    if header:
        add_header(made)
    phone_key(made)
    pin(made)
    learn(made)
    add_provider_key(made, certificate=CHAIN[1], signing=SIGNING[1])
    register(made)
    made.add("settings", name="default.device", value="default")
    made.add("settings", name="title", value="Bank")
    return made


def passphrase_store(
    keys: StoreKeys, salt: bytes = SALT, passes: int | None = PASSES, memory: int | None = MEMORY
) -> Store:
    made = Store(keys)
    add_header(made, salt=salt, passes=passes, memory=memory)
    phone_key(made)
    return made


def flip(table: str, row: int, column: str) -> Edit:
    def edit(made: Store) -> None:
        value = made.rows[table][row][column]
        assert isinstance(value, bytes)
        made.rows[table][row][column] = bytes([value[0] ^ 1]) + value[1:]

    return edit


def put(table: str, row: int, column: str, value: Value) -> Edit:
    def edit(made: Store) -> None:
        made.rows[table][row][column] = value

    return edit
