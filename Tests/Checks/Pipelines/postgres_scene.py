"""The database and the phones of the test of the provider in PostgreSQL."""
import collections, contextlib, glob, json, os, shutil, subprocess, sys, threading, time

import psycopg
from pushcrypt import Certificate, DeviceRecord, ProviderPublicKey, PushcryptError
from pushcrypt.testing import DeviceKey, open_push
from scene import APP, Failure

FOLDER, PROGRAM, SERVICE = sys.argv[1:4]
URL, LOG = f"host={FOLDER} dbname=postgres user=provider", os.path.join(FOLDER, "senders.log")
SECRET = "zebra-47-quartz"  # In every payload, so that its traces can be looked for.


class Database:
    """PostgreSQL in a folder, reached by its socket. It refuses to run as root."""

    def __init__(self):
        self.folder = os.path.join(FOLDER, "database")
        self.tools = (sorted(glob.glob("/usr/lib/postgresql/*/bin")) or [os.path.dirname(shutil.which("initdb") or "")])[-1]
        self.whom = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.whom:
            shutil.chown(FOLDER, "postgres")
        self.run("initdb", "-D", self.folder, "-U", "provider", "-A", "trust", "-N")
        with open(os.path.join(self.folder, "postgresql.conf"), "a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{FOLDER}'\nmax_wal_size = 4GB\n")
        self.start()

    def run(self, tool, *arguments):
        done = subprocess.run([*self.whom, os.path.join(self.tools, tool), *arguments], capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise Failure(f"{tool}: {done.stderr[-1000:]}")

    def start(self):
        self.run("pg_ctl", "-D", self.folder, "-w", "-l", os.path.join(FOLDER, "database.log"), "start")

    def stop(self):
        """As a crash: nothing is finished."""
        self.run("pg_ctl", "-D", self.folder, "-w", "-m", "immediate", "stop")


def persistently(work):
    """Does work in a transaction, whatever happens to the database meanwhile."""
    for _ in range(1800):
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(URL, autocommit=True) as connection:
            return work(connection)
        time.sleep(0.1)
    raise Failure("no database for minutes")


def rows(query, *values):
    def ask(connection):
        done = connection.execute(query, values)
        return done.fetchall() if done.description else done.rowcount

    return persistently(ask)


class Phone:
    """`register(data, device, user)` answers a record."""

    def __init__(self, name, user, register, token=None):
        self.name, self.user, self.answer, self.token = name, user, register, token or os.urandom(32).hex()
        self.keys, self.generation, self.provider, self.certificate = [DeviceKey.generate()], 1, None, None
        self.messages, self.copies, self.refused, self.lock = collections.defaultdict(set), 0, collections.Counter(), threading.Lock()

    def ask(self, record, user=None, device=None):
        return json.loads(self.answer(record, device or self.name, user or self.user))

    def record(self, **other):
        members = {
            "public_key": self.keys[-1].public_key, "topic": APP, "generation": self.generation, "provider": self.provider, "token": self.token,
            "environment": "production", "certificate": self.certificate}
        return DeviceRecord(**(members | other)).to_json()

    def register(self):
        """Takes provider and certificate of a reply that confirms the key."""
        reply = self.ask(self.record())
        if reply.get("acknowledged") != str(self.keys[-1].public_key) or "foreign" in reply:
            raise Failure(f"{self.name}: {reply}")
        with self.lock:
            self.provider = ProviderPublicKey.parse(reply["provider"])
            certificate = Certificate.parse(reply["certificate"])
            certificate.check(self.provider, APP)
            self.certificate = max(filter(None, (self.certificate, certificate)), key=lambda one: one.epoch)

    def rotate(self):
        with self.lock:
            self.keys.append(DeviceKey.generate())
            self.generation += 1
        self.register()

    def receive(self, body):
        with self.lock:
            self.copies += 1
            for key in reversed(self.keys):
                try:
                    opened = open_push(body, topic=APP, device=key, provider=self.provider)
                    self.messages[json.loads(opened.payload)["event"]].add(opened.message_id)
                    return
                except PushcryptError as error:
                    code = str(error.code)
                    if code != "unknown-recipient-key":
                        break
            self.refused[code] += 1
