"""A provider whose devices and pushes are in PostgreSQL, to copy into your service: README.md.

    provider.py URL COMMAND…     sends what is due through COMMAND, such as `pushcrypt send --retry-for 30s …`, until it ends or the database does
"""
import dataclasses, json, os, pathlib, subprocess, sys, threading, traceback

import psycopg
from pushcrypt import Credential, DeviceRecord, PushcryptError, Reply, Sealer, StoredDevice, accept

WINDOW, LEASE, POLL = 2000, "60 seconds", 15


class Devices:
    """The table, in the transaction of a connection."""

    def __init__(self, connection):
        self.connection = connection

    def select(self, where, *values):
        return [StoredDevice.from_json(text) for text, in self.connection.execute(f"SELECT stored::text FROM devices WHERE {where}", values)]

    def find(self, device):
        return next(iter(self.select("device = %s", device)), None)

    def holders(self, public_key, token):
        return self.select("public_key = %s OR token = %s", str(public_key), token)

    def store(self, one):
        self.connection.execute("SELECT store_device(%s, %s)", (one.device, one.to_json()))
        if one.is_removed:
            self.connection.execute("DELETE FROM pushes WHERE device = %s", (one.device,))


def sealer(connection, keys, topic):
    """What seals now. `keys` is the folder of the files EPOCH.key."""
    [(epoch,)] = connection.execute("SELECT max(epoch) FROM certificates")
    return Sealer(Credential.parse((pathlib.Path(keys) / f"{epoch}.key").read_text()), topic=topic)


def register(connection, own, data, device, user):
    """Answers a record that the session of this device and user sent."""
    try:
        record = dataclasses.replace(DeviceRecord.from_json(data), device=device)
        with connection.transaction():
            connection.execute("SELECT lock_devices(%s)", ([device, str(record.public_key), record.token or ""],))
            accepted = accept(record, Devices(connection), user, topic=own.topic, provider=own.provider, certificate=own.certificate)
            for one in accepted.changes:
                Devices(connection).store(one)
        reply = accepted.reply
    except PushcryptError as error:
        reply = Reply.refusal(error, certificate=own.certificate)
    return reply.to_json()


def seal(connection, own, user, payload, message_id, collapse_name=None, **options):
    """Seals a message for a user's devices, in your transaction or its own. Returns how many pushes are new; `None` if the key was replaced: do it again."""
    pushes = []
    for device in Devices(connection).select("owner = %s AND NOT is_removed AND token IS NOT NULL", user):
        push = own.seal(payload, device, message_id=message_id, **options)
        request = own.request(push, collapse_name=collapse_name)
        members = {name: getattr(request, name) for name in ("topic", "push_type", "priority", "expiration", "collapse_id")}
        line = json.dumps(members)[:-1] + ', "payload": ' + request.payload.decode() + "}"
        pushes.append((device.device, push.message_id, user, line, push.expires_at.timestamp()))
    columns = [list(column) for column in zip(*pushes)] or [[]] * 5
    [(added,)] = connection.execute("SELECT add_pushes(%s, %s, %s, %s, %s, %s)", (own.certificate.epoch, *columns))
    return added


def outcome(line):
    """An answer of `pushcrypt send`, as settle_pushes reads it."""
    answer = json.loads(line)
    error, is_gone = answer.get("error"), answer.get("status") == 410 and "timestamp" in answer
    reason = (answer.get("reason") or error["code"]) if error else "sent"
    retry = bool(error) and (is_gone or error["code"] == "not-sent" or bool(answer.get("retry")))
    return {"number": answer["number"], "epoch": answer["epoch"], "token": answer.get("token"), "reason": reason, "retry": retry,
            "since": answer["timestamp"] if is_gone else None}


def send(url, command):
    """What it has taken is leased for a minute: when it ends, however it does, another process takes that."""
    child, room = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE), threading.Semaphore(WINDOW)

    def settle():
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                for line in child.stdout:
                    connection.execute("SELECT settle_pushes(%s)", (json.dumps([outcome(line)]),))
                    room.release()
        except Exception:
            traceback.print_exc()
        child.kill()
        os._exit(1)

    threading.Thread(target=settle, daemon=True).start()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("LISTEN pushcrypt")
        while True:
            lines = connection.execute("SELECT line FROM take_pushes(%s, %s::interval)", (100, LEASE)).fetchall()
            for line, in lines:
                room.acquire()
                child.stdin.write(line.encode() + b"\n")
            child.stdin.flush()
            if not lines:
                next(connection.notifies(timeout=POLL, stop_after=1), None)


if __name__ == "__main__":
    try:
        send(sys.argv[1], sys.argv[2:])
    except (psycopg.Error, OSError) as error:
        sys.exit(f"provider: error: {error}")
