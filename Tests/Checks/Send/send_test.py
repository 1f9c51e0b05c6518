#!/usr/bin/python3
"""Sends through `pushcrypt send` to the mock, and compares answers with what arrived: HTTP/2, TLS, processes, signals,
files. Tests/SendTests has the rules of delivery, in virtual time.

Usage: send_test.py PUSHCRYPT [PART …]      pushcrypt-send lies beside it
Prints `vectors: NAME: COUNT` for each part, and what differs.
"""
import collections, concurrent.futures, contextlib, glob, json, os, pty, re, shutil, signal, socket, subprocess, sys, tempfile
import threading, time, tty

from mock import Fault
from serve import KEY, TEAM, serve

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(sys.argv[1])
SEND = f"{PROGRAM}-send"
TOPIC, OTHER = "com.example.app", "com.example.other"
COUNT, DEVICES = int(os.environ.get("MESSAGES", 10_000)), 500
# The ends of a run some of whose lines may be accepted later, or were refused for good, and of one with a wrong set-up.
LATER, REFUSED, MISUSE = 1, 65, 64
BUSY, WRONG = Fault("answer", 500, "InternalServerError"), Fault("answer", 403, "InvalidProviderToken")
problems = []


def expect(condition, *what):
    if not condition:
        problems.append(f"line {sys._getframe(1).f_lineno}: {' '.join(map(str, what))}")


def wait(condition, seconds=20):
    deadline = time.time() + seconds
    while not condition() and time.time() < deadline:
        time.sleep(0.05)


def token(number):
    return f"{number + 1:064x}"  # a token of zeros is no device


def line(number, **members):
    payload = {"aps": {"alert": {"title": "Message"}, "mutable-content": 1}, "ENCRYPTED_DATA": "x" * 600}
    return {"to": f"phone{number}", "id": f"message-{number}", "topic": TOPIC, "push_type": "alert", "priority": 10,
            "expiration": int(time.time()) + 3600, "collapse_id": f"collapse-{number}", "payload": payload,
            "token": token(number % DEVICES), "user": {"kept": number}} | members


def text_of(lines):
    return "".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in lines).encode()


def apns(folder, fault=(), **more):
    """The mock; `fault` may be one for all requests."""
    mock = serve(folder, (TOPIC, OTHER), faults=(lambda *_: fault) if isinstance(fault, Fault) else fault, **more)
    mock.folder = folder
    return mock


def completed(mock, options, login=True, **given):
    """The options, with those that are needed besides."""
    given |= {"host": f"localhost:{mock.port}", "ca-file": f"{mock.folder}/authority.pem"}
    if login and not {"--key", "--certificate"} & {*options}:
        given |= {"key": f"{mock.folder}/AuthKey_{KEY}.p8", "team": TEAM}
    return [*options, *(f"--{name}={value}" for name, value in given.items() if f"--{name}" not in options)]


def command(mock, *options):
    return [SEND, *completed(mock, options)]


def run(words, lines=(), code=0, **more):
    """Runs a program; returns its answers and its messages."""
    done = subprocess.run(words, input=text_of(lines), capture_output=True, timeout=120, **more)
    said = done.stderr.decode()
    if code is not None and done.returncode != code:
        problems.append(f"exit {done.returncode} instead of {code}: {words}: {said}")
    return [json.loads(answer) for answer in done.stdout.splitlines()], said


def send(mock, lines, *options, code=0, **more):
    return run(command(mock, *options), lines, code, **more)


def through(proxy):
    """The environment of a program behind a proxy."""
    return os.environ | {"https_proxy": proxy}


def write(file, text):
    """Writes until the reader has gone."""
    with contextlib.suppress(BrokenPipeError), file:
        file.write(text)


def codes_of(answers):
    return [answer["error"]["code"] if "error" in answer else answer["status"] for answer in answers]


def measured(arguments, text):
    """Returns the number of a program's answers, its CPU time in seconds, and the most memory that it had, in MB."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
        source.write(text)
        source.seek(0)
        program = subprocess.Popen(arguments, stdin=source, stdout=out)
        most, pid = 0, 0
        while not pid:
            # Not from `wait4`, which counts the memory of this process before the program's start.
            with open(f"/proc/{program.pid}/status") as file:
                most = max([most, *(int(row.split()[1]) for row in file if row.startswith("VmHWM"))])
            time.sleep(0.02)
            pid, _, used = os.wait4(program.pid, os.WNOHANG)
        out.seek(0)
        return len(out.readlines()), used.ru_utime + used.ru_stime, most / 1024


def part_plain(folder):
    """Nothing goes wrong: each message of both environments is taken once with its headers, and answered in order."""
    names = ("topic", "push_type", "priority", "expiration", "collapse_id")
    headers = ["apns-" + name.replace("_", "-") for name in names]
    with apns(folder, streams=100) as mock:
        lines = [line(n, environment="development" if n % 3 else "production") for n in range(1000)]
        answers, _ = send(mock, lines, "--in-order")
        found = [(a["id"], a["status"], len(a["apns_id"]), a["user"], a["token"]) for a in answers]
        expect(found == [(one["id"], 200, 36, one["user"], one["token"]) for one in lines], "answers differ")
        wanted = [["/3/device/" + one["token"], json.dumps(one["payload"], separators=(",", ":")).encode(),
                   *(str(one[name]) for name in names)] for one in lines]
        taken = [[request.path, request.body, *map(dict(request.headers).get, headers)] for request in mock.taken]
        expect(sorted(taken) == sorted(wanted), "requests differ")
        expect(mock.connections <= 8, mock.connections, "connections")
    return len(lines)


def part_faults(folder):
    """Every fault, and kills: every message is answered once, and none is lost or twice without need."""
    gone = [token(7), token(8)]
    kinds = "goaway refuse reset 429 500 503 silence stuck lost unread late slow expired".split()
    faults = [f"{kinds[index % 13]}@{number}" for index, number in enumerate(range(300, COUNT, 650))]
    with apns(folder, faults, gone=gone, streams=50) as mock:
        rest, answers, codes = {f"message-{n}": line(n) for n in range(COUNT)}, {}, []
        while rest:
            program = subprocess.Popen(
                command(mock, "--timeout", "2s", "--connections", "2"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            writer = threading.Thread(target=write, args=(program.stdin, text_of(rest.values())))
            writer.start()
            for text in program.stdout:
                if text.endswith(b"\n"):  # or it was killed while it wrote
                    answer = json.loads(text)
                    answers[answer["id"]] = answer
                    expect(rest.pop(answer["id"], None), answer["id"], "is answered twice")
                    if len(answers) % 2700 == 0:
                        program.kill()
            writer.join()
            codes.append(program.wait())
            expect(codes[-1] in (-signal.SIGKILL, REFUSED, 0), codes)
        taken = collections.Counter(dict(request.headers)["apns-collapse-id"] for request in mock.taken)
        for number in range(COUNT):
            answer = answers[f"message-{number}"]
            if answer["token"] in gone:
                found = answer["error"]["code"], answer["status"], answer["timestamp"], answer["retry"]
                expect(found == ("unregistered", 410, mock.rules.devices[answer["token"]].gone_since, False), answer)
            else:
                expect(answer.get("status") == 200 and taken[f"collapse-{number}"], answer, "or it is lost")
        expect(len(mock.faults) == 13 and sum(mock.faults.values()) == len(faults), "faults:", mock.faults)
        # Requests that were under way when a connection broke or the process ended, or a request got no answer.
        twice = taken.total() - len(taken)
        expect(0 < twice <= COUNT / 10, twice, "copies")
        expect(mock.most_open <= 5, mock.most_open, "connections at a time")
        print(f"figure: send messages={COUNT} kills={codes.count(-signal.SIGKILL)} faults={len(faults)} copies={twice} "
              f"connections={mock.connections}", flush=True)
    return COUNT


def part_waiting(folder):
    """Answers that wait for the first cost no time, and input waits outside, with long lines too."""
    cases = (  # fault, options, bytes added to a line, lines, CPU time, MB
        (lambda number, _: Fault("late", seconds=4) if number == 2 else None, ["--in-order"], 0, 50, 1.5, 50),
        (Fault("late", seconds=2), [], 500_000, 100, 60, 50),
        ((), [], 30_000, 1000, 60, 40),
    )
    for fault, options, size, count, longest, largest in cases:
        with apns(folder, fault) as mock:
            text = text_of(line(n, user="x" * size) for n in range(count))
            answers, seconds, megabytes = measured(command(mock, *options), text)
            found = f"{answers} answers, {seconds} s, {megabytes} MB"
            expect(answers == count and seconds < longest and megabytes < largest, found)
    return 1150


def part_codes(folder):
    """The codes of messages that are not accepted."""
    limited = Fault("answer", 429, "TooManyRequests", (("retry-after", "40"),))
    clear = line(0, payload={"aps": {"alert": "clear"}}, unencrypted=True)

    def first(kind, rest=None):
        return lambda number, _: Fault(kind) if number == 1 else rest

    cases = (  # fault, lines, options, exit, codes, status, whether it may be sent again, pushes that were taken
        (limited, [line(0, expiration=int(time.time()) + 8)], [], REFUSED, {"too-late"}, 429, False, 0),
        (BUSY, [line(0)], ["--retry-for", "3s"], LATER, {"apns-busy"}, 500, True, 0),
        # It may have arrived at first, whatever APNs says later.
        (first("lost", BUSY), [line(0)], ["--retry-for", "5s"], LATER, {"no-answer"}, None, True, 1),
        # An unencrypted message may ring twice.
        (first("lost"), [clear], [], REFUSED, {"no-answer"}, None, False, 1),
        (first("lost"), [clear], ["--repeat-unencrypted"], 0, {200}, 200, None, 2),
        (WRONG, [line(n) for n in range(60)], ["--retry-for", "5s"], LATER, {"login-refused", "on-hold"}, 403, True, 0),
    )
    for fault, lines, options, code, codes, status, retry, taken in cases:
        with apns(folder, fault) as mock:
            answers, said = send(mock, lines, *options, code=code)
            last = max(answers, key=lambda answer: answer.get("status", 0))  # One on hold may never have been sent.
            found = {*codes_of(answers)}, last.get("status"), last.get("retry"), len(mock.taken)
            expect(found == (codes, status, retry, taken) and len(answers) == len(lines), found, codes, said)
            # The outage is told once, and costs few requests.
            expect(fault is not WRONG or said.count("was revoked") == 1 and mock.seen < 40, mock.seen, said)
    return 65


def part_lines(folder):
    """One wrong line stops no other, and is answered in its place."""
    passed = '{"error":{"code":"no-key","message":"m"},"line":1,"to":null,"token":"0a"}\n'
    lines = [line(1), line(2, token="zz"), passed, "{\n", line(3, payload={"aps": {"alert": "clear"}}),
             line(4, expiration=int(time.time()) - 1), line(5, topic="com.example.third"), line(6)]
    with apns(folder) as mock:
        answers, _ = send(mock, lines, "--in-order", code=LATER)
        wanted = [200, "malformed-line", "no-key", "unexpected-end", "not-sealed", "too-late", "wrong-address", 200]
        expect(codes_of(answers) == wanted and answers[2] == json.loads(passed), answers)
    return len(lines)


def part_stopping(folder):
    """A run that ends early: each line that was read is answered."""
    text = text_of(line(n, payload={"aps": {}, "ENCRYPTED_DATA": "x"}) for n in range(45)) + b'{"to":'
    late = Fault("late", seconds=1)
    for streams, options in ((5, ["--connections", "1"]), (100, [])):
        with apns(folder, late, streams=streams) as mock:
            ours, theirs = os.pipe()
            os.write(theirs, text)
            program = subprocess.Popen(command(mock, *options), stdin=ours, stdout=subprocess.PIPE)
            wait(lambda: mock.taken)
            program.send_signal(signal.SIGTERM)
            answers = [json.loads(answer) for answer in program.communicate(timeout=20)[0].splitlines()]
            os.close(theirs)
            with open(ours, "rb") as file:
                expect(file.read() == b"", "some of the input is not read")
            rest = [a for a in answers if a.get("error", {}).get("code") == "not-sent" and a["retry"]]
            accepted = sum(a.get("status") == 200 for a in answers)
            expect(accepted == len(mock.taken) and accepted + len(rest) == len(answers) == 46, accepted, len(rest))
            # The beginning of a line.
            expect(program.returncode == LATER and [a for a in rest if a["line"] == 46 and "id" not in a], rest[-1:])
    with apns(folder, late) as mock:
        # An input that breaks.
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        os.write(theirs, text[:text.index(b"\n") + 1] + b'{"to":')
        program = subprocess.Popen(command(mock), stdin=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait(lambda: mock.seen)
        os.close(theirs)
        out, said = program.communicate(timeout=30)
        os.close(ours)
        found = program.returncode, *codes_of(map(json.loads, out.splitlines()))
        expect(found == (1, 200) and b"cannot read" in said, found, said)
    with apns(folder) as mock:
        # A reader that leaves is a failure: nobody has the answers.
        lines, closes = [line(n) for n in range(3000)], 'set -o pipefail; "$@" | head -n 1 >/dev/null'
        _, said = run(["bash", "-c", closes, "-", *command(mock)], lines, code=1)
        expect("the reader of the answers has gone" in said, said)
        # One that stays, and reads nothing, holds up no end.
        program = subprocess.Popen(
            command(mock, "--timeout", "1s"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        writer = threading.Thread(target=write, args=(program.stdin, text_of(lines)))
        writer.start()
        time.sleep(3)
        program.send_signal(signal.SIGTERM)
        expect(program.wait(20) == 1, program.returncode)
        writer.join()
    return 6136


def part_time(folder):
    """A clock that is three hours wrong, and a process that was stopped for longer than it retries, lose no message."""
    lines = [line(n) for n in range(5)]
    for shift, side in (("+3h", "ahead of"), ("-3h", "behind")):
        with apns(folder, ahead=0) as mock:
            _, said = run(["faketime", "-f", shift, *command(mock, "--retry-for", "20s")], lines)
            expect(len(mock.taken) == 5 and side in said, shift, len(mock.taken), said)
    is_stopped = threading.Event()
    with apns(folder, lambda *_: None if is_stopped.is_set() else BUSY) as mock:
        program = subprocess.Popen(command(mock, "--retry-for", "8s"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        write(program.stdin, text_of(lines))
        wait(lambda: mock.seen >= 5)
        program.send_signal(signal.SIGSTOP)
        is_stopped.set()
        time.sleep(12)
        program.send_signal(signal.SIGCONT)
        out = program.stdout.read()
        expect(program.wait(30) == 0 and len(mock.taken) == 5, "after a pause", out)
    return 15


def part_certificate(folder):
    """A certificate, as PEM and as PKCS #12; files that are none with its key are refused before anything is read."""
    phrase = ["--certificate-passphrase-file", f"{folder}/phrase"]
    cases = (
        ("com.example.app.pem", [], [200], ""), ("app.p12", phrase, [200], ""), ("locked.pem", phrase, [200], ""),
        ("com.example.other.pem", [], ["wrong-address"], ""), ("app.p12", [], [], "no private key"),
        ("locked.pem", [], [], "no private key"), ("keyless.pem", [], [], "no private key"),
        ("foreign.pem", [], [], "no certificate for"), ("com.example.app.key", [], [], "no certificate for"),
        ("cut.p12", [], [], "no private key"), ("late.pem", [], [], "has expired"))
    with apns(folder, ahead=0) as mock:
        for name, options, codes, word in cases:
            code = 0 if codes == [200] else REFUSED if codes else MISUSE
            answers, said = send(mock, [line(1)], "--certificate", f"{folder}/{name}", *options, code=code)
            expect(codes_of(answers) == codes and word in said and "crashed" not in said, name, answers, said)
        tokens = [value for request in mock.taken for name, value in request.headers if name == "authorization"]
        expect(len(mock.taken) == 3 and not tokens, len(mock.taken), tokens)
    return len(cases)


def part_tls(folder):
    """Servers that it does not talk to: an unknown authority, an expired certificate, another name, no HTTP/2."""
    for name, protocols in (("self", ["h2"]), ("old", ["h2"]), ("other", ["h2"]), ("service", ["http/1.1"])):
        with apns(folder, service=name, protocols=protocols) as mock:
            answers, said = send(mock, [line(1)], "--retry-for", "2s", code=LATER)
            expect(codes_of(answers) == ["unreachable"] and "no connection to localhost" in said, name, answers, said)
    # `--ca-file` replaces the system's authorities, whose folder only this process sees changed.
    mounted = ["unshare", "-rm", "sh", "-c", f'mount --bind {folder}/system /etc/ssl/certs && exec "$@"', "-"]
    if subprocess.run([*mounted, "true"], capture_output=True).returncode:
        print("SKIPPED: the system's authorities beside --ca-file: a separate mount is not permitted")
        return 4
    with apns(folder) as mock:
        for name, code in (("authority.pem", 0), ("another.pem", LATER)):
            run([*mounted, *command(mock, "--retry-for", "3s", "--ca-file", f"{folder}/{name}")], [line(1)], code)
        expect(len(mock.taken) == 1, "the system's authorities are trusted beside --ca-file")
    return 6


def pipe(source, target):
    """Copies what comes until it ends."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def proxy(refusal=None):
    """An HTTP proxy for CONNECT; yields its URL and the list of the hosts that it was asked for."""
    asked = []

    def answer(client):
        with client, contextlib.suppress(OSError):
            text = b""
            while b"\r\n\r\n" not in text:
                text += client.recv(4096)
            host = text.split()[1].decode()
            asked.append(host)
            if refusal:
                return client.sendall(f"HTTP/1.1 {refusal}\r\ncontent-length: 0\r\n\r\n".encode())
            with socket.create_connection(("127.0.0.1", int(host.rsplit(":", 1)[1]))) as server:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                other = threading.Thread(target=pipe, args=(server, client), daemon=True)
                other.start()
                pipe(client, server)
                other.join()

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        listener.shutdown(socket.SHUT_RDWR)


def part_network(folder):
    """Proxies, IPv6 only, a name that does not exist."""
    with apns(folder) as mock:
        with proxy() as (url, asked):
            send(mock, [line(1)], env=through(url))
            expect(asked == [f"localhost:{mock.port}"], asked)
        with proxy("403 Forbidden") as (forbidden, _), proxy("407 Proxy Authentication Required") as (locked, _):
            for variables, options, word in (
                    (through(forbidden), [], "403"), (through(locked), [], "407"),
                    (through("http://127.0.0.1:1"), [], ""), (os.environ, ["--host", "no-such-name.invalid"], "resolve host")):
                answers, said = send(mock, [line(2)], *options, "--retry-for", "1s", code=LATER, env=variables)
                expect(codes_of(answers) == ["unreachable"] and word in said, word, answers, said)
        # The password of a proxy is in no text, whatever is wrong with its URL.
        for url in (
                "http://user:s3c/r3t@127.0.0.1:1", "http://user:s3c@r3t@127.0.0.1:1", "http://user:s3c r3t@127.0.0.1:1",
                "http://user:s3cr3t@[::1", "http://user:s3cr3t@127.0.0.1:port", "ftp://user:s3cr3t@127.0.0.1:1",
                "other://user:s3cr3t@127.0.0.1:1", "user:s3cr3t@no-such-name.invalid"):
            answers, said = send(mock, [line(2)], "--retry-for", "1s", "--log", "json", code=None, env=through(url))
            text = f"{answers} {said} {doctor(mock, code=1, proxy=url)}"
            expect("s3c" not in text and "r3t" not in text and "percent-encode" in said, url, text)
        # A proxy inside TLS would be shown the certificate for APNs.
        for variables in ({"https_proxy": "HTTPS://localhost:1"}, {"ALL_PROXY": "https://localhost:1"}):
            answers, said = send(mock, [line(2)], code=MISUSE, env=os.environ | variables)
            expect("begins with https://" in said and not answers, variables, said)
        expect(len(mock.taken) == 1, len(mock.taken))
    with apns(folder, address="::1") as mock:
        send(mock, [line(1)])
        expect(len(mock.taken) == 1, "IPv6")
    return 16


def doctor(mock, *options, login=True, code=0, proxy=""):
    words = [PROGRAM, "doctor", "--send", "--json", *completed(mock, options, login, topic=TOPIC, timeout="3s")]
    return run(words, code=code, env=through(proxy) | {"HOME": mock.folder})


def part_doctor(folder):
    """`doctor --send` names each thing that is wrong."""
    def check(mock, words, *options, level="problem", **more):
        findings, said = doctor(mock, *options, code=1 if level == "problem" else 0, **more)
        levels = [finding["level"] for finding in findings]
        named = [finding for finding in findings if finding["level"] == level and words in finding["text"]]
        expect(named and (level != "problem" or levels.count(level) == 1), words, findings, said)
        return said

    def key(name, team=TEAM):
        return ["--key", f"{folder}/{name}", "--team", team]

    with apns(folder, ahead=0) as mock, proxy("407 Proxy Authentication Required") as (url, _):
        findings, said = doctor(mock)
        expect([finding["level"] for finding in findings] == ["ok"] * 5, findings, said)
        check(mock, "ends in", "--certificate", f"{folder}/{TOPIC}.pem", level="warning")
        expect("can read" in check(mock, "can read", *key("AuthKey_OPEN123456.p8"), "--key-id", KEY, level="warning"))
        check(mock, "must know who sends", login=False)
        for words, *options in (
                ("curve P-256", *key("AuthKey_P384123456.p8")),
                ("id is not known", *key("notes.p8")),
                ("cannot read", *key("AuthKey_MISSING123.p8")),
                ("ten letters", *key("notes.p8", "team")),
                ("do not belong together", *key("stranger.p8"), "--key-id", KEY),
                ("do not belong together", *key("notes.p8", "TEAM999999"), "--key-id", KEY),
                ("not for this topic", "--topic", "com.example.third"),
                ("has expired", "--certificate", f"{folder}/late.pem"),
                ("not for this topic", "--certificate", f"{folder}/{OTHER}.pem"),
                ("resolve host", "--host", "no-such-name.invalid"),
                ("connect", "--host", "localhost:1"),
                # The system's authorities do not sign the local certificate.
                ("certificate", "--ca-file", "/etc/ssl/certs/ca-certificates.crt"),
                ("alternative certificate subject name", "--host", f"127.0.0.1:{mock.port}")):
            check(mock, words, *options)
        check(mock, "407", proxy=url)
    for words, level, more in (
            ("s behind", "problem", {"ahead": 3600}), ("s ahead", "problem", {"ahead": -3600}),
            ("s behind", "warning", {"ahead": 60}), ("refuses the stream", "problem", {"fault": Fault("refuse")}),
            ("HTTP/2", "problem", {"protocols": ("http/1.1",)}), ("503", "warning", {"fault": ["503@1"]})):
        with apns(folder, **more) as mock:
            check(mock, words, level=level)
    return 24


def part_settings(folder):
    """Without --key, the store's settings say who sends."""
    def own(*words, lines=(), code=0):
        return str(run([PROGRAM, "--store", f"{folder}/store", *words], lines, code, env=os.environ | {"HOME": folder}))

    own("init")
    with apns(folder, ahead=0) as mock:
        way = ["--host", f"localhost:{mock.port}", "--ca-file", f"{folder}/authority.pem"]
        expect("must know who sends" in own("send", *way, lines=[line(1)], code=MISUSE), "sent without a key")
        for name, value, code in (
                ("team", "team", MISUSE), ("environment", "test", MISUSE), ("key-id", "abc123defg", MISUSE),
                ("team", TEAM, 0), ("key-file", f"{folder}/AuthKey_{KEY}.p8", 0), ("environment", "development", 0),
                ("topic", TOPIC, 0)):
            own("config", name, value, code=code)
        own("send", *way, lines=[line(1)])
        expect(len(mock.taken) == 1 and "accepts the topic" in own("doctor", "--send", "--json", *way), len(mock.taken))
        own("config", "key-id", "OTHER12345")
        expect("InvalidProviderToken" in own("doctor", "--send", "--json", *way, code=1), "the key id is not used")
    # Without a store at the default place there is nothing to ask for.
    _, said = run([PROGRAM, "send"], code=MISUSE, env={"HOME": f"{folder}/nothing"})
    expect("must know who sends" in said, said)
    return 12


def part_operators(folder):
    """A log, a provider token that processes share, and files that cannot be written."""
    with apns(folder, streams=100) as mock:
        _, said = send(mock, [line(n) for n in range(3000)], "--log", "json")
        events = [json.loads(text) for text in said.splitlines()]
        accepted = [event for event in events if event["event"] == "accepted"]
        one = accepted[0] if len(accepted) == 3000 else {}
        expect({"time", "id", "fingerprint"} <= set(one) and not any(token(n) in said for n in range(DEVICES)), one)
        _, said = send(mock, [line(1)], "--metrics", f"{folder}/missing/metrics")
        expect("missing" in said, said)
        del mock.taken[:]
        for number in range(3):
            send(mock, [line(number)], "--provider-token-file", f"{folder}/provider-token")
            time.sleep(1.1)  # a token says its second
        tokens = {dict(request.headers)["authorization"] for request in mock.taken}
        mode = os.stat(f"{folder}/provider-token").st_mode & 0o777
        expect(len(tokens) == 1 and mode == 0o600, len(tokens), "provider tokens,", oct(mode))
        # The output is a file on a disk that fills up: its last line is whole.
        os.mkdir(f"{folder}/disk")
        script = """mount -t tmpfs -o size=64k tmpfs "$0" && "$@" >"$0/answers"; code=$?
            tail -c 1 "$0/answers" | od -An -tx1; wc -c <"$0/answers"; exit $code"""
        words = ["unshare", "-rm", "bash", "-c", script, f"{folder}/disk", *command(mock)]
        lines = [line(n, user="x" * (50 + n % 37)) for n in range(2000)]
        done = subprocess.run(words, capture_output=True, input=text_of(lines), timeout=60)
        words = done.stdout.decode().split()
        if not words and b"unshare" in done.stderr:
            print("SKIPPED: send: a separate mount is not permitted")
        else:
            expect(done.returncode == 1 and words[:1] == ["0a"] and int(words[1]) > 30_000, words, done.stderr[-200:])
    return 5004


def part_keys(folder):
    """Keys however they are written; and files that are no APNs key, each with what it is instead."""
    good = f"AuthKey_{KEY}.p8"
    cases = (  # name, script that writes it, text
        ("traditional", f"openssl ec -in {good}", None),
        ("text", f"echo notes; cat {good}", None),
        ("mark", f"printf '\\xef\\xbb\\xbf'; cat {good}", None),
        ("crlf", f"sed 's/$/\\r/' {good}", None),
        ("spaces", f"sed 's/^/  /' {good}", None),
        ("no-end", f"printf %s \"$(cat {good})\"", None),
        ("escaped", f"awk '{{printf \"%s\\\\n\", $0}}' {good}", None),
        ("quoted", "printf '\"%s\"' \"$(cat escaped.p8)\"", None),
        ("one-line", f"tr '\\n' ' ' < {good}", None),
        ("bare", f"grep -v -- ----- {good}", None),
        ("bare-line", "tr -d '\\n' < bare.p8", None),
        ("unpadded", "grep -v -- ----- traditional.p8 | tr -d '\\n='", None),
        ("base64", f"base64 {good}", None),
        ("base64-line", f"base64 -w 0 {good}", None),
        ("base64-mark", "base64 mark.p8", None),
        ("base64-sec1", "base64 traditional.p8", None),
        ("curve", "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384", "another curve"),
        ("rsa", "openssl genpkey -algorithm RSA", "another kind"),
        ("rsa1", "openssl rsa -traditional -in rsa.p8", "another kind"),
        ("ed25519", "openssl genpkey -algorithm ED25519", "another kind"),
        ("encrypted", f"openssl pkcs8 -topk8 -in {good} -passout pass:words", "is encrypted"),
        ("old", f"openssl ec -aes128 -in {good} -passout pass:words", "is encrypted"),
        ("public", f"openssl pkey -in {good} -pubout", "a public key"),
        ("certificate", "cat service.pem", "a certificate"),
        ("two", f"cat {good} {good}", "more than one"),
        ("cut", f"head -c 200 {good}", "is cut"),
        ("cut-bare", "head -c 100 bare.p8", "is cut"),
        ("changed", f"sed '2s/^M/N/' {good}", "is cut"),
        ("words", "echo AuthKey", "is cut"),
        ("begin", "echo -----BEGIN", "is cut"),
        ("empty", ":", "empty"),
    )
    for name, script, text in cases:
        path = f"{folder}/{name}.p8"
        script = f"({script}) > {path} && chmod 600 {path}"
        subprocess.run(["bash", "-c", script], cwd=folder, check=True, capture_output=True)
        code = 0 if text is None else REFUSED if name == "empty" else MISUSE
        _, said = run([SEND, "--key", path, "--key-id", KEY, "--team", TEAM, "--dry-run"], code=code)
        expect((text or "") in said and "KEY-----" not in said, name, said)
    for mode, warnings in ((0o600, 0), (0o440, 0), (0o644, 1)):
        os.chmod(f"{folder}/{good}", mode)
        _, said = run([SEND, "--key", f"{folder}/{good}", "--team", TEAM, "--dry-run"])
        expect(said.count("warning: every user") == warnings, oct(mode), said)
    return len(cases) + 3


def part_start(folder):
    """`pushcrypt send` starts the program beside it or in PATH, or says that there is none."""
    copy = shutil.copy(PROGRAM, f"{folder}/pushcrypt")
    os.mkdir(f"{folder}/bin")
    os.symlink(SEND, f"{folder}/bin/pushcrypt-send")
    for program, path, code in ((PROGRAM, folder, 0), (copy, f"{folder}/bin", 0), (copy, folder, MISUSE)):
        answers, said = run([program, "send", "--dry-run"], [line(1)], code, env={"PATH": path})
        expect(len(answers) == (code == 0) and ("is not installed" in said) == (code != 0), answers, said)
    linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
    expect(not any(name in linked for name in ("libcurl", "nghttp2", "libssl", "libcrypto")), linked)
    return 3


def worker(folder, lines, program, until=None):
    """Runs a worker of Sources/Pipelines with a queue of `lines`, until it ends or SIGTERM ends it, as `until` is true.

    Returns its exit code, the number of answers, the codes of refused lines, how many lines are done, its messages."""
    stub = tempfile.mkdtemp(dir=folder)
    with open(f"{stub}/input", "wb") as file:
        file.write(text_of(lines))
    queues = "redis --url redis://stub --name worker --from sealed --to answers --refused unsent --".split()
    program = ["/usr/bin/python3", "-B", f"{HERE}/../../../Sources/Pipelines/queue_worker.py", *queues, *program]
    process = subprocess.Popen(["timeout", "-k1", "40", *program], stderr=subprocess.PIPE,
                               env=os.environ | {"STUB": stub, "PYTHONPATH": f"{HERE}/stubs"})
    if until:
        wait(lambda: process.poll() is not None or until())
        process.terminate()
    said = process.communicate()[1].decode()
    log = []
    with contextlib.suppress(FileNotFoundError), open(f"{stub}/log") as file:
        log = [json.loads(entry) for entry in file]
    answered = sum(entry[:2] == ["write", "answers"] for entry in log)
    unsent = [json.loads(entry[2]["answer"])["error"]["code"] for entry in log if entry[:2] == ["write", "unsent"]]
    return process.returncode, answered, unsent, sum(entry[0] == "done" for entry in log), said


def part_workers(folder):
    """The worker of queues: each message is done once, or stays in the queue."""
    # A line for a user would have an answer for each device.
    store = [PROGRAM, "--store", f"{folder}/sealing"]
    run([*store, "init"])
    subprocess.run([*store, "key", "new", "provider", "--topic", TOPIC], check=True, capture_output=True)
    line_for_user = {"to_user": "alice", "payload": {"aps": {"alert": "Hello"}}}
    *found, said = worker(folder, [line_for_user], [*store, "seal", "--batch"], until=lambda: glob.glob(f"{folder}/*/log"))
    expect(found == [0, 0, ["malformed-line"], 1], "seals for a user", found, said)
    # A queue that goes away: the worker ends, whatever its child does.
    *found, said = worker(folder, [{"broken": True}], ["sleep", "100"])
    expect(found == [1, 0, [], 0], "waits for a dead queue", found, said)
    # A sender that says it stops, and goes on: its worker ends, and its service starts another. A refused line is done.
    over = """read; echo '{"error":{"code":"on-hold"}}'; read; echo '{"error":{"code":"not-sent"}}'; cat >/dev/null"""
    *found, said = worker(folder, [line(n) for n in range(9)], ["bash", "-c", over])
    expect(found == [1, 0, ["on-hold"], 1], "goes on", found, said)
    # SIGTERM while the key is refused, or APNs delays everything: it ends soon, and what was not accepted stays.
    for fault in (WRONG, BUSY):
        with apns(folder, lambda number, _: fault if number > 5 else None) as mock:
            sender = [PROGRAM, "send", *command(mock, "--in-order", "--retry-for", "60s")[1:]]
            *found, said = worker(folder, [line(n) for n in range(60)], sender, until=lambda: mock.seen > 15)
            expect(found == [0, 5, [], 5] and "Exception" not in said, found, said)
    return 131


def part_demo(folder):
    """The demonstration: a phone rings once for two copies, and an answer of `send` removes the device that is gone."""
    done = subprocess.run([f"{HERE}/demo.py", PROGRAM], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0 and "1 removed, 0 kept" in done.stdout, done)
    return 2


def part_document(folder):
    """The commands and the test of README.md, as they stand."""
    place = f"{folder}/document"
    os.makedirs(place)
    os.symlink(os.path.realpath(f"{HERE}/../../../Tests"), f"{place}/Tests")
    with open(f"{HERE}/README.md") as file:
        blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", file.read(), re.M | re.S)
    with open(f"{place}/provider_test.py", "w") as file:
        file.write(next(text for kind, text in blocks if kind == "python"))
    scripts = [text for kind, text in blocks if kind == "sh"] + [
        "! Tests/Checks/Send/serve.py apns --fault never@1 -- true", "/usr/bin/python3 -m unittest -q provider_test.py"]
    path = f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}"
    outputs = []
    for script in scripts:
        outputs.append(run(["bash", "-euc", script], cwd=place, env=os.environ | {"PATH": path}))
    expect(outputs[1][1].endswith("apns-mock: 2 requests, 2 accepted, 2 connections; lost 1\n"), outputs[1])
    opened = [answer["notification"] for answer in outputs[2][0]]
    expect([(one["body"], one.get("interruption_level")) for one in opened] ==
           [("Your table is ready", None), ("Your table is ready", "passive")], opened)
    expect("there is no fault called 'never'" in outputs[3][1], outputs[3])
    return len(scripts)


def main():
    signal.alarm(600 + COUNT // 50)  # Then something hangs.
    with tempfile.TemporaryDirectory() as top:
        credentials = f"{top}/credentials"
        # Yesterday's: they are valid for two days, and some parts have a clock that is hours wrong.
        make = "import serve, sys; serve.make_credentials(sys.argv[1], sys.argv[2:])"
        python = ["faketime", "-f", "-1d", sys.executable, "-Bc", make]
        subprocess.run([*python, credentials, TOPIC, OTHER], cwd=HERE, check=True)
        subprocess.run(f"{HERE}/files.sh", cwd=credentials, check=True, stderr=subprocess.DEVNULL)
        names = sys.argv[2:] or sorted(name[5:] for name in globals() if name.startswith("part_"))
        parts = [globals()[f"part_{name}"] for name in sorted(names, key=lambda name: name != "faults")]

        def one(part):
            # Parts run at once, and make files of the same names.
            return part(shutil.copytree(credentials, f"{top}/{part.__name__}"))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for part, count in zip(parts, pool.map(one, parts)):
                print(f"vectors: messages sent to APNs, {part.__name__[5:]}: {count}", flush=True)
    for problem in problems[:20]:
        print("send: error:", problem[:1000], file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
