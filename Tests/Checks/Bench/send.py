#!/usr/bin/python3
"""Measures `pushcrypt send` against nghttpd over TLS, beside h2load with the same bodies.

Usage: send.py PUSHCRYPT [COUNT]      pushcrypt-send lies beside it; COUNT messages (50,000) in each run
Each client has one core, and the server the other. All take turns, three times, and the medians count. `cpu` is the client's own.
"""
import json, os, socket, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, COUNT = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
TOKEN, TOPIC, TEAM, KEY = "1f" * 32, "com.example.app", "TEAM123456", "ABC123DEFG"
PAYLOAD = {"aps": {"alert": {"title": "Table for two", "body": "See you at 8 on the terrace, they keep the table for us until a quarter "
                   "past"}, "sound": "default", "thread-id": "chat-c41"}, "chat": "c41", "message": "7182"}
LIMITS = {"h2load": 0.4, "seal": 1.2, "memory": 28}


def run(command, source=None, core=None, code=0):
    """Returns seconds, and seconds of CPU time."""
    command = command if core is None else ["taskset", "-c", str(core), *command]
    start = time.perf_counter()
    with open(source or os.devnull) as file:
        program = subprocess.Popen(command, stdin=file, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != code:
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


def prepare(folder):
    subprocess.run([f"{HERE}/../Senders/certificates.sh"], cwd=folder, check=True)
    os.rename("token.p8", f"AuthKey_{KEY}.p8")
    os.symlink(f"AuthKey_{KEY}.p8", "token.p8")
    os.chmod(f"AuthKey_{KEY}.p8", 0o600)
    for words in (["--store", "provider", "init"], ["--store", "provider", "key", "new", "provider", "--topic", TOPIC],
                  ["key", "new", "device", "-o", "phone.key"]):
        key = subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout.strip()
    with open("messages", "w") as file:
        for number in range(COUNT):
            file.write(json.dumps({"to": key, "id": f"order-{number}", "token": TOKEN, "payload": PAYLOAD}) + "\n")
    with open("lines", "wb") as file:
        subprocess.run([PROGRAM, "--store", "provider", "seal", "--batch", "--emit", "request", "--topic", TOPIC, "messages"],
                       check=True, stdout=file)
    with open("lines") as file, open("body", "w") as body:
        body.write(json.dumps(json.loads(file.readline())["payload"], separators=(",", ":")))
    os.makedirs("root/3/device")
    open(f"root/3/device/{TOKEN}", "w").close()


def serve(streams):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(["taskset", "-c", "1", "nghttpd", "-m", str(streams), "-d", "root", str(port), "service.key", "service.pem"],
                              stdout=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except ConnectionRefusedError:
            time.sleep(0.05)


def clients(port):
    way = ["--key", f"AuthKey_{KEY}.p8", "--team", TEAM, "--host", f"localhost:{port}", "--ca-file", "authority.pem", "--connections", "1"]
    headers = [f"apns-topic: {TOPIC}", "apns-push-type: alert", "apns-priority: 10", f"apns-expiration: {int(time.time()) + 86400}",
               "apns-collapse-id: order-17", "authorization: bearer " + "x" * 200]
    h2load = ["h2load", "-n", str(COUNT), "-c1", "-m100", "-d", "body"]
    for header in headers:
        h2load += ["-H", header]
    rows = {
        "h2load": lambda: run([*h2load, f"https://localhost:{port}/3/device/{TOKEN}"], core=0),
        "send": lambda: run([f"{PROGRAM}-send", *way, "lines"], core=0),
    }
    seal = [PROGRAM, "--store", "provider", "seal", "--batch", "--emit", "request", "--topic", TOPIC, "--jobs", "1", "messages"]
    pipe = " ".join(seal) + f" | {PROGRAM}-send " + " ".join(way)
    rows["seal"] = lambda: run(seal)
    rows["seal | send"] = lambda: run(["bash", "-o", "pipefail", "-c", pipe])
    return rows, way


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare(folder)
        server, port = serve(100)
        try:
            rows, way = clients(port)
            times = {name: [] for name in rows}
            for _ in range(3):
                for name, measure in rows.items():
                    times[name].append(measure())
        finally:
            server.kill()
            server.wait()
        server, port = serve(1000)
        try:
            _, way = clients(port)
            most = memory([f"{PROGRAM}-send", *way, "lines"])
        finally:
            server.kill()
            server.wait()
    wall = {name: statistics.median(one[0] for one in values) / COUNT * 1e6 for name, values in times.items()}
    cpu = {name: statistics.median(one[1] for one in values) / COUNT * 1e6 for name, values in times.items()}
    print(f"{COUNT} messages, median of three")
    for name in rows:
        print(f"{name:14}{wall[name]:9.1f} µs a message{cpu[name]:9.1f} µs of CPU time")
    results = [("send / h2load, in messages a second", wall["h2load"] / wall["send"], LIMITS["h2load"], "least"),
               ("(seal | send) / seal, in time", wall["seal | send"] / wall["seal"], LIMITS["seal"], "most"),
               ("memory with 1,000 streams, MB", most, LIMITS["memory"], "most")]
    missed = False
    for name, value, limit, kind in results:
        holds = value >= limit if kind == "least" else value <= limit
        missed |= not holds
        print(f"{name:40}{value:8.2f}   at {kind} {limit}   {'met' if holds else 'NOT MET'}")
    sys.exit(missed)


if __name__ == "__main__":
    main()
