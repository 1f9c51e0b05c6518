#!/usr/bin/python3
"""Measures `pushcrypt send` with payloads near APNs' limit of 4,096 bytes, beside h2load with the same bodies.

Usage: send.py PUSHCRYPT      pushcrypt-send lies beside it

Each client has one core, and the server the other. They take turns, three times, and the medians count. CPU time is the client's own. Far
away, and among refusals, virtual time measures: Tests/SendTests/GoodputTests.swift.
"""
import json, os, socket, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../Send")
from serve import KEY, TEAM, make_credentials  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
TOKEN, TOPIC = "1f" * 32, "com.example.app"
PAYLOAD = {"aps": {"alert": {"title": "Table for two", "body": "See you at 8 on the terrace. " * 87}, "sound": "default"}}
COUNT = 20_000
SEAL = [PROGRAM, "--store", "provider", "seal", "--batch", "--emit", "request", "--topic", TOPIC, "--jobs", "1"]
LOGIN = ["--key", f"AuthKey_{KEY}.p8", "--team", TEAM, "--provider-token-file", "token", "--ca-file", "authority.pem"]
WIDE = ["-w", "20", "-W", "24"]  # nghttpd's windows, as powers of two


def run(command, core=None):
    """Returns seconds, and seconds of CPU time."""
    command = command if core is None else ["taskset", "-c", str(core), *command]
    start = time.perf_counter()
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        sys.exit(f"error: bench: {command[:4]}: exit {program.returncode}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def memory(command):
    """The most memory of a program, in MB. Not from `wait4`, which counts that of this process before the program's start."""
    most = 0
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while program.poll() is None:
        with open(f"/proc/{program.pid}/status") as file:
            most = max([most, *(int(text.split()[1]) for text in file if text.startswith("VmHWM"))])
        time.sleep(0.02)
    return most / 1024


def prepare():
    """Writes the credentials, `messages` to seal, `lines` to send, and the `body` of one."""
    make_credentials(".", [TOPIC])
    for words in (["--store", "provider", "init"], ["--store", "provider", "key", "new", "provider", "--topic", TOPIC],
                  ["key", "new", "device", "-o", "phone.key"]):
        key = subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout.strip()
    with open("messages", "w") as file:
        for number in range(COUNT):
            file.write(json.dumps({"to": key, "id": f"order-{number}", "token": TOKEN, "payload": PAYLOAD}) + "\n")
    with open("lines", "wb") as file:
        subprocess.run([*SEAL, "messages"], check=True, stdout=file)
    with open("lines") as file, open("body", "w") as body:
        body.write(json.dumps(json.loads(file.readline())["payload"], separators=(",", ":")))
    os.makedirs("root/3/device")
    open(f"root/3/device/{TOKEN}", "w").close()


class Server:
    """nghttpd, for a `with` statement."""

    def __init__(self, streams, *options):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.command = ["taskset", "-c", "1", "nghttpd", "-m", str(streams), *options, "-d", "root", str(self.port), "service.key",
                        "service.pem"]

    def __enter__(self):
        self.program = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self.port
            except ConnectionRefusedError:
                time.sleep(0.05)

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()


def h2load(port, count, connections):
    headers = [f"apns-topic: {TOPIC}", "apns-push-type: alert", "apns-priority: 10", f"apns-expiration: {int(time.time()) + 86400}",
               "apns-collapse-id: " + "x" * 43, "authorization: bearer " + "x" * 200]
    command = ["h2load", "-n", str(count), "-c", str(connections), "-m100", "-d", "body"]
    for header in headers:
        command += ["-H", header]
    return run([*command, f"https://localhost:{port}/3/device/{TOKEN}"], core=0)


def send(port, connections):
    return [f"{PROGRAM}-send", *LOGIN, "--host", f"localhost:{port}", "--connections", str(connections)]


def turns(rows, count, rounds=3):
    """Runs all in turn, prints a row for each, and returns the medians of seconds, by name."""
    times = {name: [] for name in rows}
    for _ in range(rounds):
        for name, measure in rows.items():
            times[name].append(measure())
    medians = {}
    for name, values in times.items():
        medians[name], cpu = (statistics.median(column) for column in zip(*values))
        each, used = medians[name] / count * 1e6, cpu / count * 1e6
        print(f"{name:20}{1e6 / each:9.0f} messages/s{each:9.1f} µs a message{used:9.1f} µs of CPU time", flush=True)
    return medians


def loopback():
    with Server(100, *WIDE) as port:
        pipe = " ".join(SEAL) + " messages | " + " ".join(send(port, 1))
        seconds = turns({
            "h2load": lambda: h2load(port, COUNT, 1),
            "send": lambda: run([*send(port, 1), "lines"], core=0),
            "seal": lambda: run([*SEAL, "messages"]),
            "seal | send": lambda: run(["bash", "-o", "pipefail", "-c", pipe]),
        }, COUNT)
        figure("send / h2load, loopback", seconds["h2load"] / seconds["send"], least=0.4)
        figure("(seal | send) / seal, in time", seconds["seal | send"] / seconds["seal"], most=1.2)
    with Server(1000, *WIDE) as port:
        most = statistics.median(memory([*send(port, 1), "lines"]) for _ in range(3))
        figure("memory with 1,000 streams, MB", most, most=28)


missed = False


def figure(name, value, least=None, most=None):
    global missed
    holds = value >= least if most is None else value <= most
    missed |= not holds
    limit = f"at least {least:g}" if most is None else f"at most {most:g}"
    print(f"figure: {name:40}{value:8.2f}   {limit:16}{'met' if holds else 'NOT MET'}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        loopback()
    sys.exit(missed)


if __name__ == "__main__":
    main()
