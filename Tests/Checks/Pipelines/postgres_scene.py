"""The database, the processes and the phones of the tests of the service in PostgreSQL."""
import collections, contextlib, glob, http.client, json, os, random, shutil, signal, socket, subprocess, sys, threading, time

import psycopg
from pushcrypt import Certificate, DeviceRecord, ProviderPublicKey, PushcryptError
from pushcrypt.testing import DeviceKey, open_push
from scene import APP, Failure, expect, wait

FOLDER, PROGRAM, SERVICE = sys.argv[1:4]
URL, LOG = f"host={FOLDER} dbname=postgres user=provider", os.path.join(FOLDER, "service.log")
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


class Processes:
    """The service's processes, which a supervisor starts again."""

    def __init__(self, commands):
        self.commands, self.running, self.over = commands, [None] * len(commands), False
        self.threads = [threading.Thread(target=self.supervise, args=(number,), daemon=True) for number in range(len(commands))]
        for thread in self.threads:
            thread.start()

    def supervise(self, number):
        while not self.over:
            with open(LOG, "ab") as log:
                self.running[number] = subprocess.Popen(self.commands[number], stderr=log)
            self.running[number].wait()
            time.sleep(0.1)

    def kill(self, number, is_child=False):
        """Kills a process, or the child that sends for it."""
        def pids():
            with contextlib.suppress(OSError, AttributeError), open(f"/proc/{self.running[number].pid}/task/{self.running[number].pid}/children") as file:
                return [int(pid) for pid in file.read().split()]

        wait(lambda: not is_child or pids(), 60, "a child runs")
        with contextlib.suppress(OSError):
            os.kill(random.choice(pids()) if is_child else self.running[number].pid, signal.SIGKILL)

    def end(self):
        self.over = True
        for process in filter(None, self.running):
            process.kill()
        for thread in self.threads:
            thread.join(10)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def service(*arguments, keys="keys"):
    return [sys.executable, SERVICE, "--database", URL, "--keys", os.path.join(FOLDER, keys), *map(str, arguments)]


def call(*arguments, **others):
    done = subprocess.run(service(*arguments, **others), capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise Failure(f"{arguments[0]}: {done.stderr[-1000:]}")
    return done.stdout.strip()


def fails(what, reason, *arguments, **others):
    try:
        found = call(*arguments, **others)
    except Failure as failure:
        found = str(failure)
    expect(f"{what}: {found}", reason in found, True)


def asked(port, method, path, body=None, headers=None, seconds=120):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def persistently(ports, *request):
    """The answer to a request, whatever happens to the service meanwhile."""
    for _ in range(1800):
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, data = asked(random.choice(ports), *request)
            if status < 500:
                return status, data
        time.sleep(0.1)
    raise Failure("no answer for minutes")


def rows(query, *values):
    """A query of the test, whose database goes away now and then."""
    while True:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(URL, autocommit=True) as connection:
            done = connection.execute(query, values)
            return done.fetchall() if done.description else done.rowcount


class Phone:
    def __init__(self, name, user, ports, token=None):
        self.name, self.user, self.ports, self.token = name, user, ports, token or os.urandom(32).hex()
        self.keys, self.generation, self.provider, self.certificate = [DeviceKey.generate()], 1, None, None
        self.messages, self.copies, self.refused, self.lock = collections.defaultdict(set), 0, collections.Counter(), threading.Lock()

    def ask(self, record, user=None, device=None):
        status, data = persistently(self.ports, "POST", f"/devices/{device or self.name}", record, {"x-user": user or self.user})
        expect("the status of a record", status, 200)
        return json.loads(data)

    def record(self, **other):
        members = {
            "public_key": self.keys[-1].public_key, "topic": APP, "generation": self.generation, "provider": self.provider, "token": self.token,
            "environment": "production", "certificate": self.certificate}
        return DeviceRecord(**(members | other)).to_json()

    def register(self):
        self.believe(self.ask(self.record()))

    def believe(self, reply):
        """Takes provider and certificate of a reply that confirms the key."""
        if reply.get("acknowledged") != str(self.keys[-1].public_key) or "foreign" in reply:
            raise Failure(f"{self.name}: {reply}")
        with self.lock:
            self.provider = ProviderPublicKey.parse(reply["provider"])
            if "certificate" in reply:
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


def event(name, **other):
    return {"id": name, "payload": {"aps": {"alert": {"title": "Table for two", "body": SECRET}}, "event": name}, **other}


def pushed(ports, *events):
    status, data = persistently(ports, "POST", "/events", json.dumps(events))
    expect(f"the status of events ({data[:200]})", status, 200)
    return json.loads(data)


def each(phones, work):
    """Does work for all phones at the same time."""
    failures = []

    def run(phone):
        try:
            work(phone)
        except Exception as failure:
            failures.append(f"{phone.name}: {failure!r}")

    threads = [threading.Thread(target=run, args=(phone,)) for phone in phones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise Failure("; ".join(failures[:3]))
