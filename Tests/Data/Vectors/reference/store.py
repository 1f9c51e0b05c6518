"""The database of a key store: how its rows are authenticated and its secrets sealed.

The rules are in `README.md`.
"""

import base64
import hashlib
import hmac
import sqlite3
from dataclasses import dataclass
from typing import Any

from nacl import bindings as sodium
from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id

from . import hpke, keys, trust
from .keys import Kind, text_form

APPLICATION_ID = 0x50434B53
CONTEXT = b"pcstore1"
SEALING, AUTHENTICATION, TOTALS = 1, 2, 3
ROW_LABEL = b"pushcrypt/1 store row\x00"
KEY_SIZE = 32
STORE_ID_SIZE = SALT_SIZE = 16
NONCE_SIZE = 24
TOTAL_SIZE = 40
PASSES, MEMORY = range(1, 9), range(8 << 10, (512 << 20) + 1)
DEVICE_STATES = {1: "pending", 2: "active", 3: "retiring"}
ORIGINS = (1, 2)

VERSION = 8
SCHEMA = """\
CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1), store_id BLOB NOT NULL, salt BLOB, passes INTEGER, memory INTEGER,
    created INTEGER NOT NULL, key_check BLOB NOT NULL, tag BLOB NOT NULL);
CREATE TABLE settings (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE totals (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL, tag BLOB NOT NULL);
CREATE TABLE device_keys (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, topic TEXT, public_key BLOB NOT NULL,
    key_id INTEGER NOT NULL UNIQUE, generation INTEGER NOT NULL, state INTEGER NOT NULL,
    created INTEGER NOT NULL, retires INTEGER, sealed BLOB NOT NULL, tag BLOB NOT NULL,
    UNIQUE (name, generation));
CREATE TABLE pins (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, topic TEXT, public_key BLOB NOT NULL, origin INTEGER NOT NULL,
    created INTEGER NOT NULL, tag BLOB NOT NULL, UNIQUE (name, public_key));
CREATE TABLE learned (
    id INTEGER PRIMARY KEY, public_key BLOB NOT NULL, topic TEXT NOT NULL, certificate BLOB,
    floor INTEGER NOT NULL, tag BLOB NOT NULL, UNIQUE (public_key, topic));
CREATE TABLE provider_keys (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, topic TEXT, public_key BLOB NOT NULL,
    key_id INTEGER NOT NULL UNIQUE, generation INTEGER NOT NULL, created INTEGER NOT NULL, sealed BLOB,
    certificate BLOB, certified INTEGER, signing_sealed BLOB, proven BLOB, tag BLOB NOT NULL);
CREATE TABLE past_epochs (
    id INTEGER PRIMARY KEY, provider INTEGER NOT NULL, certificate BLOB, replaced INTEGER NOT NULL,
    tag BLOB NOT NULL);
CREATE TABLE certificate_requests (
    provider INTEGER PRIMARY KEY, request BLOB NOT NULL, sealed BLOB NOT NULL, tag BLOB NOT NULL);
CREATE TABLE devices (
    id TEXT PRIMARY KEY NOT NULL, public_key BLOB NOT NULL, topic TEXT, generation INTEGER NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL, provider BLOB, epoch INTEGER, suites BLOB,
    app_version TEXT, user TEXT, token BLOB, environment INTEGER, withdrawal BLOB, relay_grant TEXT,
    key_id INTEGER NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX devices_of_users ON devices (user) WHERE user IS NOT NULL;
CREATE INDEX devices_by_key ON devices (key_id);
CREATE TABLE removed_devices (
    id TEXT PRIMARY KEY NOT NULL, removed INTEGER NOT NULL, reason TEXT, user TEXT, generation INTEGER,
    suite INTEGER, key_id INTEGER, tag BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE answer_secrets (
    id INTEGER PRIMARY KEY, provider INTEGER NOT NULL, created INTEGER NOT NULL, replaced INTEGER,
    sealed BLOB NOT NULL, tag BLOB NOT NULL);
CREATE TABLE replaced_keys (
    id INTEGER PRIMARY KEY, device TEXT NOT NULL, public_key BLOB NOT NULL, key_id INTEGER NOT NULL,
    replaced INTEGER NOT NULL, tag BLOB NOT NULL);
CREATE INDEX replaced_keys_by_id ON replaced_keys (key_id);
CREATE INDEX replaced_keys_of_devices ON replaced_keys (device);
CREATE TABLE answers (
    id BLOB PRIMARY KEY NOT NULL, digest BLOB NOT NULL, opened INTEGER NOT NULL, ends INTEGER NOT NULL,
    tag BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX answers_by_end ON answers (ends);
CREATE TABLE push_key (
    id INTEGER PRIMARY KEY CHECK (id = 1), public_key BLOB NOT NULL, created INTEGER NOT NULL,
    sealed BLOB NOT NULL, tag BLOB NOT NULL);
CREATE TABLE pairings (
    id INTEGER PRIMARY KEY, pairing BLOB NOT NULL UNIQUE, url TEXT NOT NULL, topic TEXT NOT NULL,
    provider BLOB NOT NULL, user TEXT, replaces TEXT, created INTEGER NOT NULL, sealed BLOB NOT NULL,
    claimed INTEGER, device TEXT, device_key BLOB, reply BLOB, tag BLOB NOT NULL);
"""

# The columns of a table under its tag.
COLUMNS = {
    "totals": ("id", "sealed"),
    "store": ("id", "store_id", "salt", "passes", "memory", "created", "key_check"),
    "settings": ("name", "value"),
    "device_keys": ("id", "name", "topic", "public_key", "key_id", "generation", "state", "created", "retires", "sealed"),
    "pins": ("id", "name", "topic", "public_key", "origin", "created"),
    "learned": ("id", "public_key", "topic", "certificate", "floor"),
    "provider_keys": (
        "id",
        "name",
        "topic",
        "public_key",
        "key_id",
        "generation",
        "created",
        "sealed",
        "certificate",
        "certified",
        "signing_sealed",
        "proven",
    ),
    "past_epochs": ("id", "provider", "certificate", "replaced"),
    "devices": (
        "id",
        "public_key",
        "topic",
        "generation",
        "created",
        "updated",
        "provider",
        "epoch",
        "suites",
        "app_version",
        "user",
        "token",
        "environment",
        "withdrawal",
        "relay_grant",
        "key_id",
    ),
}

# The tables that have a total, in the order of the totals.
COUNTED = (
    "device_keys",
    "pins",
    "learned",
    "provider_keys",
    "past_epochs",
    "certificate_requests",
    "devices",
    "removed_devices",
    "answer_secrets",
    "replaced_keys",
    "answers",
)

Value = int | str | bytes | None


class Refused(Exception):
    """The arguments are the error code, and the table in which the fault lies, or `open`."""


def encoded(value: Value) -> bytes:
    if value is None:
        return b"\x00"
    if isinstance(value, int):
        return b"\x01" + (value % 2**64).to_bytes(8, "big")
    kind, data = (b"\x02", value.encode()) if isinstance(value, str) else (b"\x03", value)
    return kind + len(data).to_bytes(8, "big") + data


@dataclass(frozen=True)
class StoreKeys:
    store_key: bytes
    store_id: bytes

    def subkey(self, number: int) -> bytes:
        """libsodium's key derivation: BLAKE2b with the number as salt and the context as personalization."""
        return hashlib.blake2b(
            digest_size=KEY_SIZE, key=self.store_key, salt=number.to_bytes(8, "little"), person=CONTEXT
        ).digest()

    def label(self, table: str) -> bytes:
        return self.store_id + bytes([len(table)]) + table.encode()

    def tag(self, table: str, values: list[Value]) -> bytes:
        """Over a row's values."""
        message = ROW_LABEL + self.label(table) + b"".join(map(encoded, values))
        return hashlib.blake2b(message, digest_size=KEY_SIZE, key=self.subkey(AUTHENTICATION)).digest()

    def total(self, table: str, rows: list[tuple[Value, bytes]]) -> bytes:
        """The number of rows, and the sum of what each adds for its key and tag."""
        key = self.subkey(TOTALS)
        sum_ = 0
        for name, tag in rows:
            message = self.label(table) + encoded(name) + tag
            sum_ += int.from_bytes(hashlib.blake2b(message, digest_size=KEY_SIZE, key=key).digest(), "big")
        return len(rows).to_bytes(8, "big") + (sum_ % 2**256).to_bytes(32, "big")

    @property
    def check(self) -> bytes:
        return self.tag("key check", [])

    def place(self, table: str, row: int, generation: int, state: int) -> bytes:
        return self.label(table) + row.to_bytes(8, "big") + generation.to_bytes(8, "big") + bytes([state])

    def seal(self, secret: bytes, place: bytes, nonce: bytes) -> bytes:
        return nonce + sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(secret, place, nonce, self.subkey(SEALING))

    def open(self, sealed: bytes, place: bytes) -> bytes | None:
        try:
            return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
                sealed[NONCE_SIZE:], place, sealed[:NONCE_SIZE], self.subkey(SEALING)
            )
        except (CryptoError, ValueError):
            return None


def derive(passphrase: str, salt: bytes, passes: int, memory: int) -> bytes:
    return argon2id.kdf(KEY_SIZE, passphrase.encode(), salt, passes, memory)


# Reading.


def open_store(sql: str, store_key: bytes | None, passphrase: str | None) -> list[tuple[str, str]]:
    """The contents of the store, as header lines. Raises Refused for the first fault."""
    with sqlite3.connect(":memory:") as database:
        database.executescript(sql)
        store = unlock(database, store_key, passphrase)
        return [
            *device_keys(database, store),
            *pins(database, store),
            *learned(database, store),
            *provider_keys(database, store),
            *devices(database, store),
            *settings(database, store),
        ]


def unlock(database: sqlite3.Connection, store_key: bytes | None, passphrase: str | None) -> StoreKeys:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID or version < 1:
        raise Refused("corrupt-store", "open")
    if version > VERSION:
        raise Refused("newer-version", "open")
    if version < VERSION:
        raise Refused("older-version", "open")
    plain = ("CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX ")
    objects = database.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    if not all(sql.startswith(plain) for (sql,) in objects):
        raise Refused("corrupt-store", "open")
    columns = ", ".join(COLUMNS["store"])
    header = database.execute(f"SELECT {columns}, tag FROM store WHERE id = 1").fetchone()
    if header is None:
        raise Refused("corrupt-store", "open")
    *values, tag = header
    _, store_id, salt, passes, memory, _, key_check = values
    if len(store_id) != STORE_ID_SIZE:
        raise Refused("corrupt-store", "open")
    if salt is not None:
        if len(salt) != SALT_SIZE or passes not in PASSES or memory not in MEMORY:
            raise Refused("corrupt-store", "open")
        if passphrase is None:
            raise Refused("passphrase-needed", "open")
        store_key = derive(passphrase, salt, passes, memory)
    elif passphrase is not None:
        raise Refused("wrong-passphrase", "open")
    elif store_key is None:
        raise Refused("store-key-missing", "open")
    elif len(store_key) != KEY_SIZE:
        raise Refused("corrupt-store", "open")
    store = StoreKeys(store_key, store_id)
    if not hmac.compare_digest(store.check, key_check):
        raise Refused("wrong-passphrase", "open")
    if not hmac.compare_digest(store.tag("store", values), tag):
        raise Refused("corrupt-store", "open")
    return store


def rows(database: sqlite3.Connection, store: StoreKeys, table: str) -> list[list[Any]]:
    """Every row, its tag checked."""
    columns = ", ".join(COLUMNS[table])
    found = []
    for *values, tag in database.execute(f"SELECT {columns}, tag FROM {table} ORDER BY 1"):
        place = "devices" if table == "totals" else table
        require(isinstance(tag, bytes) and hmac.compare_digest(store.tag(table, values), tag), place)
        found.append(values)
    return found


def require(condition: bool, table: str) -> None:
    if not condition:
        raise Refused("corrupt-store", table)


def device_keys(database: sqlite3.Connection, store: StoreKeys) -> list[tuple[str, str]]:
    table, lines = "device_keys", []
    for number, name, _, public, key_id, generation, state, _, _, sealed in rows(database, store, table):
        require(isinstance(public, bytes) and len(public) == KEY_SIZE and state in DEVICE_STATES, table)
        assert isinstance(public, bytes) and isinstance(sealed, bytes)
        require(key_id == int.from_bytes(keys.device_key_id(public), "big"), table)
        secret = store.open(sealed, store.place(table, number, generation, state))
        require(secret is not None and len(secret) == KEY_SIZE and hpke.public_key(secret) == public, table)
        assert secret
        text = text_form(Kind.DEVICE_SECRET, secret)
        lines.append(("device-key", f"{DEVICE_STATES[state]} {generation} {text} {name}"))
    return lines


def is_key(public: Any) -> bool:
    return isinstance(public, bytes) and len(public) == KEY_SIZE and keys.is_acceptable_signature_key(public)


def is_certificate(data: Any) -> bool:
    try:
        trust.parse(data)
    except (trust.Refused, TypeError):
        return False
    return True


def pins(database: sqlite3.Connection, store: StoreKeys) -> list[tuple[str, str]]:
    table, lines = "pins", []
    for _, name, _, public, origin, _ in rows(database, store, table):
        require(is_key(public) and origin in ORIGINS, table)
        lines.append(("pin", f"{text_form(Kind.PROVIDER_PUBLIC, public)} {name}"))
    return lines


def learned(database: sqlite3.Connection, store: StoreKeys) -> list[tuple[str, str]]:
    table, lines = "learned", []
    for _, public, _, certificate, floor in rows(database, store, table):
        require(is_key(public) and is_certificate(certificate) and floor in range(2**32), table)
        text = base64.urlsafe_b64encode(certificate).decode().rstrip("=")
        lines.append(("learned", f"{text_form(Kind.PROVIDER_PUBLIC, public)} {text} {floor}"))
    return lines


def secret_text(store: StoreKeys, sealed: bytes | None, place: bytes, public: bytes, kind: Kind) -> str:
    if sealed is None:
        return "-"
    secret = store.open(sealed, place)
    require(secret is not None and len(secret) == KEY_SIZE and keys.signature_public_key(secret) == public, "provider_keys")
    assert secret
    return text_form(kind, secret)


def provider_keys(database: sqlite3.Connection, store: StoreKeys) -> list[tuple[str, str]]:
    table, lines = "provider_keys", []
    for number, name, topic, public, key_id, generation, _, sealed, certificate, certified, signing, proven in rows(
        database, store, table
    ):
        require(is_key(public), table)
        require(key_id == int.from_bytes(keys.provider_key_id(public), "big"), table)
        require((certificate is None) == (certified is None) == (signing is None), table)
        require(all(one is None or is_certificate(one) for one in (certificate, proven)), table)
        require(sealed is not None or signing is not None, table)
        require(signing is None or topic is not None, table)
        place = store.place(table, number, generation, 0)
        secret, one = secret_text(store, sealed, place, public, Kind.PROVIDER_SECRET), None
        if certificate:
            one = trust.parse(certificate)
            place = store.place(table, number, one.epoch, 1)
            text = secret_text(store, signing, place, one.signing_key, Kind.SIGNING_SECRET)
            lines.append(("signing-key", f"{text} {name}"))
        lines.append(("provider-key", f"{generation} {one.epoch if one else 0} {secret} {name}"))
    return lines


def devices(database: sqlite3.Connection, store: StoreKeys) -> list[tuple[str, str]]:
    lines = []
    for name, public, _, generation, *_, key_id in rows(database, store, "devices"):
        require(isinstance(public, bytes) and len(public) == KEY_SIZE, "devices")
        require(key_id == int.from_bytes(keys.device_key_id(public), "big"), "devices")
        lines.append(("device", f"{generation} {text_form(Kind.DEVICE_PUBLIC, public)} {name}"))
    listed = database.execute("SELECT id, tag FROM devices").fetchall()
    totals = rows(database, store, "totals")
    plain = store.open(totals[0][1], store.place("totals", 1, 0, 0)) if totals else None
    start = COUNTED.index("devices") * TOTAL_SIZE
    require(plain is not None, "devices")
    assert plain
    require(plain[start : start + TOTAL_SIZE] == store.total("devices", listed), "devices")
    return lines


def settings(database: sqlite3.Connection, store: StoreKeys) -> list[tuple[str, str]]:
    found = rows(database, store, "settings")
    return [("setting", f"{name} {value}") for name, value in found if "." not in str(name)]
