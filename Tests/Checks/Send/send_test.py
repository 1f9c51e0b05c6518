#!/usr/bin/python3
"""Sends through `pushcrypt send` to the mock, which misbehaves, and compares answers with what arrived.

Usage: send_test.py PUSHCRYPT-SEND
Prints `vectors: NAME: COUNT` for each part, and what differs.
"""
import collections, concurrent.futures, contextlib, fcntl, json, os, pty, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time, tty

from cryptography.hazmat.primitives import serialization

from mock import Fault, Mock, QuickRules
from rules import Device

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(sys.argv[1])
TOPIC, TEAM, KEY = "com.example.app", "TEAM123456", "ABC123DEFG"
DEVICES = 500
GONE = 1_700_000_000_000
# How a run ends whose lines were refused for good.
FAILED = 65
PIPE = 1 << 20
problems = []


def expect(condition, *what):
    if not condition:
        problems.append(" ".join(map(str, what)))
    return condition


def token(number):
    return f"{number + 1:064x}"  # a token of zeros is no device


def rules(folder, gone=(), kid=KEY):
    with open(f"{folder}/token.p8", "rb") as file:
        public = serialization.load_pem_private_key(file.read(), None).public_key()
    devices = {token(n): Device({TOPIC}, GONE if n in gone else None) for n in range(DEVICES)}
    return QuickRules(devices, {kid: (TEAM, public, {TOPIC})})


def line(number, device=None, **members):
    payload = {"aps": {"alert": {"title": "Message"}, "mutable-content": 1}, "ENCRYPTED_DATA": "x" * 600}
    return {"to": f"phone{number}", "id": f"message-{number}", "topic": TOPIC, "push_type": "alert", "priority": 10,
            "expiration": int(time.time()) + 3600, "collapse_id": f"collapse-{number}", "payload": payload,
            "token": token(number % DEVICES if device is None else device), "user": {"kept": number}} | members


def command(folder, mock, *options, login=True, authority="authority.pem"):
    login = ["--key", f"{folder}/AuthKey_{KEY}.p8", "--team", TEAM] if login else []
    return [PROGRAM, *login, "--host", f"localhost:{mock.port}", "--ca-file", f"{folder}/{authority}", *options]


def filled(text):
    """The end of a pipe to read from, with the text in it."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
    os.write(writer, text)
    os.close(writer)
    return reader


def send(folder, mock, lines, *options, login=True, code=None, seconds=60):
    """Runs the program; returns its answers and what it says."""
    text = "".join(json.dumps(one) + "\n" if isinstance(one, dict) else one for one in lines).encode()
    source = {"input": text}
    if len(text) <= PIPE:
        # All of it is there from the start: a run that ends early answers what it has read.
        source = {"stdin": filled(text)}
    done = subprocess.run(command(folder, mock, *options, login=login), capture_output=True, timeout=seconds, **source)
    if "stdin" in source:
        os.close(source["stdin"])
    if code is not None:
        place = sys._getframe(1).f_lineno
        expect(done.returncode == code, f"line {place}: exit", done.returncode, "instead of", code, done.stderr.decode())
    return [json.loads(answer) for answer in done.stdout.splitlines()], done.stderr.decode()


def measured(arguments, text):
    """Runs a program; returns its answers, its CPU time in seconds, and the most memory that it had, in MB."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out:
        source.write(text.encode())
        source.seek(0)
        program = subprocess.Popen(arguments, stdin=source, stdout=out)
        most, pid, deadline = 0, 0, time.time() + 180
        while not pid:
            if time.time() > deadline:
                program.kill()
            # Not from `wait4`, which counts the memory of this process before the program's start.
            with open(f"/proc/{program.pid}/status") as file:
                most = max([most, *(int(text.split()[1]) for text in file if text.startswith("VmHWM"))])
            time.sleep(0.02)
            pid, status, used = os.wait4(program.pid, os.WNOHANG)
        program.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return [json.loads(answer) for answer in out], used.ru_utime + used.ru_stime, most / 1024


def identities(mock):
    return [dict(request.headers)["apns-collapse-id"] for request in mock.taken]


def part_plain(folder):
    """Nothing goes wrong: every message is taken once, on one connection, with the headers of its line."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", streams=100) as mock:
        lines = [line(n) for n in range(1000)]
        answers, _ = send(folder, mock, lines, "--in-order", code=0)
        expect([a.get("id") for a in answers] == [one["id"] for one in lines], "answers out of order")
        expect(all(a["status"] == 200 and len(a["apns_id"]) == 36 for a in answers), "an answer is not 200")
        expect(all(a["user"] == one["user"] and a["token"] == one["token"] for a, one in zip(answers, lines)), "members lost")
        expect(len(mock.taken) == 1000 and len(set(identities(mock))) == 1000, "taken", len(mock.taken))
        expect(1 <= mock.connections <= 4, mock.connections, "connections")
        by_id = {dict(r.headers)["apns-collapse-id"]: r for r in mock.taken}
        for one in lines:
            request = by_id.get(one["collapse_id"])
            if not expect(request, one["id"], "is missing"):
                break
            headers = dict(request.headers)
            wanted = (one["topic"], one["push_type"], str(one["priority"]), str(one["expiration"]))
            expect(wanted == tuple(headers[f"apns-{name}"] for name in ("topic", "push-type", "priority", "expiration")), headers)
            expect(request.path == "/3/device/" + one["token"], request.path)
            expect(json.loads(request.body) == one["payload"] and b" :" not in request.body, "payload differs")
    return 1000


def part_faults(folder):
    """Every fault, several times: every message is answered once, and none is lost or twice without need."""
    count, gone = 10_000, {7, 8}
    kinds = [
        Fault("goaway"), Fault("refuse"), Fault("reset"), Fault("answer", 429, "TooManyRequests", (("retry-after", "1"),)),
        Fault("answer", 500, "InternalServerError"), Fault("answer", 503, "ServiceUnavailable"), Fault("silence"),
        Fault("stuck"), Fault("lost"), Fault("unread"), Fault("late"), Fault("slow"), Fault("expired"),
    ]
    plan = {300 + 700 * index: kind for index, kind in enumerate(kinds)} | {9600: Fault("goaway"), 9700: Fault("unread")}
    with Mock(rules(folder, gone), f"{folder}/service.pem", f"{folder}/service.key", streams=50,
              fault=lambda number, request: plan.get(number)) as mock:
        lines = [line(n) for n in range(count)]
        answers, _ = send(folder, mock, lines, "--timeout", "2s", "--connections", "2", code=FAILED, seconds=120)
        expect(len(answers) == count, len(answers), "answers")
        by_id = {}
        for answer in answers:
            expect(answer["id"] not in by_id, answer["id"], "is answered twice")
            by_id[answer["id"]] = answer
        taken = {}
        for name in identities(mock):
            taken[name] = taken.get(name, 0) + 1
        for number in range(count):
            answer = by_id.get(f"message-{number}", {})
            if number % DEVICES in gone:
                expect(
                    answer.get("error", {}).get("code") == "unregistered" and answer["status"] == 410
                    and answer["timestamp"] == GONE and answer["retry"] is False, answer)
            else:
                expect(answer.get("status") == 200, number, answer)
                expect(f"collapse-{number}" in taken, number, "is lost")
        expect(len(mock.faults) == 13 and sum(mock.faults.values()) == 15, "faults that happened:", mock.faults)
        # What may be sent twice: requests that were under way when a connection broke or a request got no answer.
        twice = sum(times - 1 for times in taken.values())
        expect(0 < twice <= count / 10, twice, "copies")
        expect(mock.most_open <= 3, mock.most_open, "connections at a time")
    return count


def part_waiting(folder):
    """Answers that wait for the first cost no time, and input waits outside for long lines."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda number, _: Fault("late", seconds=4) if number == 2 else None) as mock:
        text = "".join(json.dumps(line(n)) + "\n" for n in range(50))
        answers, seconds, _ = measured(command(folder, mock, "--in-order"), text)
        expect(len(answers) == 50 and seconds < 1.5, seconds, "seconds of CPU time while it waits")
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda *_: Fault("late", seconds=2)) as mock:
        text = "".join(json.dumps(line(n, user="x" * 500_000)) + "\n" for n in range(100))
        answers, _, megabytes = measured(command(folder, mock), text)
        expect(len(answers) == 100 and megabytes < 50, megabytes, "MB for", len(answers))
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key") as mock:
        # Nor is more read than there is room for, or waited for although lines are there.
        text = "".join(json.dumps(line(n, user="x" * 30_000)) + "\n" for n in range(1000))
        answers, _, megabytes = measured(command(folder, mock), text)
        expect(len(answers) == 1000 and megabytes < 40, megabytes, "MB for", len(answers))
    return 1150


def part_input(folder):
    """An input that breaks: what was read is sent and answered, then the error is told."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", fault=lambda *_: Fault("late", seconds=1)) as mock:
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        os.write(theirs, "".join(json.dumps(line(n, payload={"aps": {}, "ENCRYPTED_DATA": "x"})) + "\n" for n in range(5)).encode() + b'{"to":')
        program = subprocess.Popen(command(folder, mock), stdin=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.time() + 20
        while mock.seen < 1 and time.time() < deadline:
            time.sleep(0.05)
        os.close(theirs)
        out, said = program.communicate(timeout=30)
        os.close(ours)
        answers = [json.loads(answer) for answer in out.splitlines()]
        expect(len(answers) == 5 and all(a.get("status") == 200 for a in answers), answers)
        expect(program.returncode == 1 and b"cannot read" in said, program.returncode, said)
    return 5


def part_certificate(folder):
    """A certificate, as PEM and as PKCS #12, and one for another topic."""
    subprocess.run(
        ["openssl", "pkcs12", "-export", "-in", "com.example.app.pem", "-inkey", "com.example.app.key", "-out", "app.p12",
         "-passout", "pass:secret words", "-iter", "2058"], cwd=folder, check=True, capture_output=True)
    with open(f"{folder}/app.p12", "rb") as file:
        expect(file.read()[-1:] == b"\n", "the archive does not end with the byte of a newline")
    with open(f"{folder}/passphrase", "w") as file:
        file.write("secret words\n")
    for name in ("com.example.app.pem", "com.example.other.pem", "app.p12", "passphrase"):
        os.chmod(f"{folder}/{name}", 0o600)
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", f"{folder}/authority.pem", ahead=0) as mock:
        lines = [line(n) for n in range(5)]
        answers, _ = send(folder, mock, lines, "--certificate", f"{folder}/com.example.app.pem", login=False, code=0)
        expect(len(mock.taken) == 5, answers)
        expect(all("authorization" not in dict(r.headers) for r in mock.taken), "a token beside the certificate")
        send(folder, mock, lines, "--certificate", f"{folder}/app.p12", "--certificate-passphrase-file", f"{folder}/passphrase",
             login=False, code=0)
        expect(len(mock.taken) == 10, "PKCS #12 is not used")
        answers, _ = send(folder, mock, lines[:1], "--certificate", f"{folder}/com.example.other.pem", login=False, code=FAILED)
        expect(answers[0]["error"]["code"] == "wrong-address" and answers[0]["reason"] == "TopicDisallowed", answers)
        # Files that are no certificate with its key are refused before anything is read.
        scripts = {
            "locked.pem": "(openssl x509 -in com.example.app.pem; openssl pkcs8 -topk8 -in com.example.app.key -passout pass:words)",
            "keyless.pem": "openssl x509 -in com.example.app.pem",
            "foreign.pem": "(openssl x509 -in com.example.app.pem; cat com.example.other.key)",
            "bare.pem": "cat com.example.app.key",
            "cut.p12": "head -c 500 app.p12",
            "old.pem": "(openssl req -new -key com.example.app.key -subj /UID=com.example.app | openssl x509 -req -CA authority.pem "
                       "-CAkey authority.key -CAcreateserial -days -1; cat com.example.app.key)",
        }
        words = ["no private key", "no private key", "no certificate for", "no certificate for", "no private key", "has expired"]
        for (name, script), word in zip(scripts.items(), words):
            subprocess.run(["bash", "-c", f"{script} > {name} && chmod 600 {name}"], cwd=folder, check=True, capture_output=True)
            answers, said = send(folder, mock, lines[:1], "--certificate", f"{folder}/{name}", login=False, code=64)
            expect(word in said and not answers and "crashed" not in said, name, said)
        _, said = send(folder, mock, lines[:1], "--certificate", f"{folder}/app.p12", login=False, code=64)
        expect("no private key" in said and len(mock.taken) == 10, said)
        subprocess.run("printf words > words && chmod 600 words", cwd=folder, shell=True, check=True)
        send(folder, mock, lines, "--certificate", f"{folder}/locked.pem", "--certificate-passphrase-file", f"{folder}/words", login=False, code=0)
        expect(len(mock.taken) == 15, "an encrypted key is not used")
    return 24


def part_tls(folder):
    """Whom it does not talk to: a wrong name, an unknown authority, an expired certificate, a peer without HTTP/2."""
    subprocess.run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout self.key -subj /CN=localhost "
                   "-addext subjectAltName=DNS:localhost -days 1 -out self.pem && "
                   "openssl req -new -key service.key -subj /CN=localhost -out old.csr && "
                   "openssl x509 -req -in old.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days -1 -out old.pem "
                   "-extfile <(echo subjectAltName=DNS:localhost) && "
                   "openssl req -new -key service.key -subj /CN=other -out other.csr && "
                   "openssl x509 -req -in other.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 -out other.pem "
                   "-extfile <(echo subjectAltName=DNS:other.example)", shell=True, executable="/bin/bash", cwd=folder, check=True,
                   capture_output=True)
    cases = [("self.pem", "self.key", ("h2",)), ("old.pem", "service.key", ("h2",)), ("other.pem", "service.key", ("h2",)),
             ("service.pem", "service.key", ("http/1.1",))]
    for certificate, key, protocols in cases:
        with Mock(rules(folder), f"{folder}/{certificate}", f"{folder}/{key}", protocols=protocols) as mock:
            answers, said = send(folder, mock, [line(1)], "--retry-for", "2s", code=1)
            expect([a["error"]["code"] for a in answers] == ["unreachable"] and not mock.taken, certificate, answers, said)
            expect("no connection to localhost" in said, said)
    return len(cases)


def part_authorities(folder):
    """`--ca-file` replaces the system's authorities; those of its folder are not trusted beside it."""
    os.mkdir(f"{folder}/system")
    subprocess.run("cp authority.pem system/$(openssl x509 -hash -noout -in authority.pem).0; openssl req -x509 -newkey ec -pkeyopt "
                   "ec_paramgen_curve:P-256 -nodes -keyout other.key -subj /CN=other -days 1 -out another.pem",
                   shell=True, cwd=folder, check=True, capture_output=True)
    # As the system's folder: only this process sees it.
    mounted = ["unshare", "-rm", "sh", "-c", f'mount --bind {folder}/system /etc/ssl/certs && exec "$@"', "-"]
    if subprocess.run([*mounted, "true"], capture_output=True).returncode:
        print("SKIPPED: the system's authorities beside --ca-file: a separate mount is not permitted")
        return 1
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key") as mock:
        for name, taken in (("authority.pem", 1), ("another.pem", 1)):
            done = subprocess.run([*mounted, *command(folder, mock, "--retry-for", "3s", authority=name)],
                                  input=json.dumps(line(1)).encode(), capture_output=True, timeout=60)
            expect(len(mock.taken) == taken and (done.returncode == 0) == (name == "authority.pem"), name, done)
    return 2


def write_secret(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text + "\n")


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

    def serve(client):
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
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        listener.shutdown(socket.SHUT_RDWR)


def part_network(folder):
    """Proxies, IPv6 only, a name that does not exist."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key") as mock:
        with proxy() as (url, asked):
            answers, said = send(folder, mock, [line(1)], "--proxy", url, code=0)
            expect(asked == [f"localhost:{mock.port}"] and len(mock.taken) == 1, asked, said)
        for refusal in ("403 Forbidden", "407 Proxy Authentication Required"):
            with proxy(refusal) as (url, asked):
                answers, said = send(folder, mock, [line(2)], "--proxy", url, "--retry-for", "1s", code=1)
                expect(answers[0]["error"]["code"] == "unreachable" and refusal[:3] in said and asked, refusal, answers, said)
        answers, said = send(folder, mock, [line(2)], "--proxy", "http://127.0.0.1:1", "--retry-for", "1s", code=1)
        expect(answers[0]["error"]["code"] == "unreachable" and len(mock.taken) == 1, answers, said)
        elsewhere = [PROGRAM, "--key", f"{folder}/AuthKey_{KEY}.p8", "--team", TEAM, "--retry-for", "1s", "--host"]
        done = subprocess.run([*elsewhere, "no-such-name.invalid"], input=json.dumps(line(3)).encode(), capture_output=True, timeout=60)
        expect(done.returncode == 1 and b"resolve host" in done.stderr and b'"unreachable"' in done.stdout, done)
        # The password of a proxy is in no text, whatever is wrong with its URL.
        for url in ("http://user:s3c/r3t@127.0.0.1:1", "http://user:s3c@r3t@127.0.0.1:1", "http://user:s3c r3t@127.0.0.1:1",
                    "http://user:s3cr3t@[::1", "http://user:s3cr3t@127.0.0.1:port", "ftp://user:s3cr3t@127.0.0.1:1",
                    "other://user:s3cr3t@127.0.0.1:1", "user:s3cr3t@no-such-name.invalid"):
            write_secret(f"{folder}/proxy", url)
            answers, said = send(folder, mock, [line(2)], "--proxy-file", f"{folder}/proxy", "--retry-for", "1s", "--log", "json")
            findings = doctor(folder, mock, "--proxy-file", f"{folder}/proxy")
            text = f"{answers} {said} {findings}"
            expect("s3c" not in text and "r3t" not in text and len(answers) <= 1 and findings[0] == 1, url, text)
            expect("percent-encode" in said, url, said)
        # In an argument every user of the machine would see it.
        answers, said = send(folder, mock, [line(2)], "--proxy", "http://user:s3cr3t@127.0.0.1:1", code=64)
        expect("--proxy-file" in said and "s3cr3t" not in said and not answers, said)
        # To a proxy inside TLS libcurl would show the certificate for APNs.
        for options, variables in ((["--proxy", "https://localhost:1"], {}), ([], {"https_proxy": "HTTPS://localhost:1"}),
                                   ([], {"ALL_PROXY": "https://localhost:1"})):
            done = subprocess.run(command(folder, mock, *options), input=json.dumps(line(1)).encode(), capture_output=True,
                                  timeout=60, env=os.environ | variables)
            expect(done.returncode == 64 and b"begins with https://" in done.stderr and not done.stdout, options, variables, done)
        expect(len(mock.taken) == 1, len(mock.taken))
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", address="::1") as mock:
        answers, said = send(folder, mock, [line(1)], code=0)
        expect(len(mock.taken) == 1, "IPv6", said)
    return 17


def doctor(folder, mock, *options, host=None, login=True):
    pushcrypt = os.path.join(os.path.dirname(PROGRAM), "pushcrypt")
    key = ["--key", f"{folder}/AuthKey_{KEY}.p8", "--team", TEAM] if login else []
    way = ["--host", host or f"localhost:{mock.port}"]
    for name, value in (("--ca-file", f"{folder}/authority.pem"), ("--topic", TOPIC)):
        way += [] if name in options else [name, value]
    done = subprocess.run(
        [pushcrypt, "doctor", "--send", *key, *way, "--timeout", "3s", "--json", *options], capture_output=True, timeout=60,
        env=os.environ | {"HOME": folder})
    return done.returncode, [json.loads(text) for text in done.stdout.splitlines()], done.stderr.decode()


def part_doctor(folder):
    """`doctor --send` names each thing that is wrong."""
    service = f"{folder}/service.pem", f"{folder}/service.key"
    count = 0

    def wrong(words, outcome, level="problem"):
        nonlocal count
        count += 1
        code, findings, said = outcome
        named = [finding for finding in findings if finding["level"] == level and words in finding["text"]]
        expect(named and code == (1 if level == "problem" else 0), words, code, findings, said)
        expect(level != "problem" or sum(finding["level"] == "problem" for finding in findings) == 1, words, findings)

    subprocess.run(["bash", "-c", f"mkdir doctor; cp AuthKey_{KEY}.p8 doctor/AuthKey_OPEN123456.p8; chmod 644 doctor/*;"
                    "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out doctor/AuthKey_P384123456.p8;"
                    "cp stranger.p8 doctor/AuthKey_STRANGER12.p8;"
                    f"cp AuthKey_{KEY}.p8 doctor/notes.p8; chmod 600 doctor/AuthKey_[PS]* doctor/notes.p8;"
                    "(openssl req -new -key com.example.app.key -subj /UID=com.example.app | openssl x509 -req -CA authority.pem "
                    "-CAkey authority.key -CAcreateserial -days -1; cat com.example.app.key) > doctor/old.pem;"
                    "cp com.example.app.pem doctor/app.pem; cp com.example.other.pem doctor/other.pem; chmod 600 doctor/*.pem"],
                   cwd=folder, check=True, capture_output=True)

    def key(name, team=TEAM, *more):
        return ["--key", f"{folder}/doctor/{name}", "--team", team, *more]

    with Mock(rules(folder), *service, f"{folder}/authority.pem", ahead=0) as mock:
        code, findings, said = doctor(folder, mock)
        expect(code == 0 and len(findings) == 5 and all(finding["level"] == "ok" for finding in findings), findings, said)
        code, findings, said = doctor(folder, mock, "--certificate", f"{folder}/doctor/app.pem", login=False)
        expect(code == 0 and findings[0]["level"] == "warning" and "ends in" in findings[0]["text"], findings, said)
        _, findings, said = doctor(folder, mock, *key("AuthKey_OPEN123456.p8"), login=False)
        expect("can read" in said and any("can read" in finding["text"] and finding["level"] == "warning" for finding in findings), findings)
        wrong("must know who sends", doctor(folder, mock, login=False))
        wrong("curve P-256", doctor(folder, mock, *key("AuthKey_P384123456.p8"), login=False))
        wrong("id is not known", doctor(folder, mock, *key("notes.p8"), login=False))
        wrong("cannot read", doctor(folder, mock, *key("AuthKey_MISSING123.p8"), login=False))
        wrong("ten letters", doctor(folder, mock, *key("notes.p8", "team"), login=False))
        wrong("do not belong together", doctor(folder, mock, *key("AuthKey_STRANGER12.p8"), login=False))
        wrong("do not belong together", doctor(folder, mock, *key("notes.p8", "TEAM999999", "--key-id", KEY), login=False))
        wrong("not for this topic", doctor(folder, mock, "--topic", "com.example.other"))
        wrong("has expired", doctor(folder, mock, "--certificate", f"{folder}/doctor/old.pem", login=False))
        wrong("not for this topic", doctor(folder, mock, "--certificate", f"{folder}/doctor/other.pem", login=False))
        wrong("resolve host", doctor(folder, mock, host="no-such-name.invalid"))
        wrong("connect", doctor(folder, mock, host="localhost:1"))
        wrong("407", doctor_through_proxy(folder, mock))
        # The system's authorities do not sign the local certificate.
        wrong("certificate", doctor(folder, mock, "--ca-file", "/etc/ssl/certs/ca-certificates.crt"))
        wrong("alternative certificate subject name", doctor(folder, mock, host=f"127.0.0.1:{mock.port}"))
    for ahead, words, level in ((3600, "3600 s behind", "problem"), (-3600, "s ahead", "problem"), (60, "s behind", "warning")):
        with Mock(rules(folder), *service, ahead=ahead) as mock:
            wrong(words[-6:], doctor(folder, mock), level)
    with Mock(rules(folder), *service, fault=lambda *_: Fault("refuse")) as mock:
        wrong("refuses the stream", doctor(folder, mock))
    with Mock(rules(folder), *service, protocols=("http/1.1",)) as mock:
        wrong("HTTP/2", doctor(folder, mock))
    with Mock(rules(folder), *service, fault=lambda *_: Fault("answer", 503, "ServiceUnavailable")) as mock:
        wrong("503", doctor(folder, mock), "warning")
    return count + 2


def doctor_through_proxy(folder, mock):
    with proxy("407 Proxy Authentication Required") as (url, _):
        return doctor(folder, mock, "--proxy", url)


def part_settings(folder):
    """Without --key, the store's settings say who sends."""
    pushcrypt = os.path.join(os.path.dirname(PROGRAM), "pushcrypt")

    def run(*words, text=b""):
        return subprocess.run([pushcrypt, "--store", f"{folder}/store", *words], input=text, capture_output=True, timeout=60,
                              env=os.environ | {"HOME": folder})

    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", ahead=0) as mock:
        way = ["--host", f"localhost:{mock.port}", "--ca-file", f"{folder}/authority.pem"]
        expect(run("init").returncode == 0, "no store")
        expect(b"must know who sends" in run("send", *way, text=json.dumps(line(1)).encode()).stderr, "sent without a key")
        for name, value in (("team", TEAM), ("key-file", f"{folder}/AuthKey_{KEY}.p8"), ("environment", "development"), ("topic", TOPIC)):
            done = run("config", name, value)
            expect(done.returncode == 0, name, done.stderr)
        for name, value in (("team", "team"), ("environment", "test"), ("key-id", "abc123defg")):
            expect(run("config", name, value).returncode == 64, name, "is set to", value)
        done = run("send", *way, text=json.dumps(line(1)).encode())
        expect(done.returncode == 0 and len(mock.taken) == 1, done)
        done = run("doctor", "--send", *way)
        expect(done.returncode == 0 and b"accepts the topic" in done.stdout, done)
        expect(run("config", "key-id", "OTHER12345").returncode == 0, "key-id")
        expect(b"InvalidProviderToken" in run("doctor", "--send", *way).stdout, "the key id is not used")
    # Without a store at the default place there is nothing to ask for.
    done = subprocess.run([pushcrypt, "send"], input=b"", capture_output=True, env={"HOME": f"{folder}/nothing"})
    expect(done.returncode == 64 and b"must know who sends" in done.stderr, done)
    return 12


def part_refusals(folder):
    """A wrong key pauses the login; one wrong line pauses nothing."""
    with Mock(rules(folder, kid="OTHER12345"), f"{folder}/service.pem", f"{folder}/service.key") as mock:
        answers, said = send(folder, mock, [line(n) for n in range(100)], "--retry-for", "5s", code=1)
        codes = collections.Counter(a["error"]["code"] for a in answers)
        expect(set(codes) == {"login-refused", "on-hold"} and sum(codes.values()) == 100 and all(a["retry"] for a in answers), codes)
        expect("InvalidProviderToken" in said and mock.seen <= 40, said, mock.seen)
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", streams=1) as mock:
        # False device tokens: many messages for few of them go on; twenty of them pause the topic, unless another message was accepted.
        false = [line(n, device=DEVICES + n % 19) for n in range(60)]
        answers, said = send(folder, mock, [*false, line(1)], "--connections", "1", code=FAILED)
        expect([a.get("status") for a in answers] == [400] * 60 + [200] and "warning" not in said, said)
        false = [line(n, device=DEVICES + n) for n in range(60)]
        answers, said = send(folder, mock, false, "--connections", "1", "--retry-for", "5s", code=1)
        codes = collections.Counter(a["error"]["code"] for a in answers)
        expect(20 <= codes["wrong-address"] <= 24 and codes["on-hold"] == 60 - codes["wrong-address"], codes, said)
        other = [one | {"topic": "com.example.other"} for one in false]
        answers, said = send(folder, mock, [line(1), *other, line(2)], "--connections", "1", "--retry-for", "5s", code=1)
        statuses = collections.Counter(a.get("status") for a in answers)
        expect(statuses[200] == 2 and 20 <= statuses[400] <= 24 and len(answers) == 62, statuses)
        expect("com.example.other" in said, said)
    # A key that is revoked on the way: the rest waits, and comes again.
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", streams=5,
              fault=lambda number, _: Fault("answer", 403, "InvalidProviderToken") if number > 100 else None) as mock:
        answers, said = send(folder, mock, [line(n) for n in range(400)], "--connections", "1", "--retry-for", "5s", code=1)
        expect(sum(a.get("status") == 200 for a in answers) == 100 and len(answers) == 400, len(answers))
        expect(all(a["retry"] for a in answers if a.get("status") != 200) and mock.seen < 140, mock.seen)
        expect("InvalidProviderToken" in said and "was revoked" in said, said)
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key") as mock:
        seal_refused = '{"error":{"code":"no-key","message":"m"},"line":1,"to":null,"token":"0a"}\n'
        lines = [line(1), line(2, token="zz"), seal_refused, line(3, topic="a\r\nb: c"), line(4, payload=[]), "{\n", line(5)]
        lines += [line(6, payload={"aps": {"alert": "clear"}}), line(7, payload={"aps": {"alert": "meant"}}, unencrypted=True)]
        lines += [line(6, expiration=int(time.time()) - 1), line(7, topic="com.example.other")]
        answers, _ = send(folder, mock, lines, "--in-order", code=1)
        expect(answers[2] == json.loads(seal_refused), answers[2])
        codes = [a["error"]["code"] if "error" in a else a["status"] for a in answers]
        wanted = [200, "malformed-line", "no-key", "malformed-line", "malformed-line", "unexpected-end", 200]
        wanted += ["not-sealed", 200, "too-late", "wrong-address"]
        expect(codes == wanted, codes)
        # An error keeps the line without its payload: with it, the line can be sent again.
        again = answers[1] | {"payload": line(2)["payload"], "token": token(2)}
        answers, _ = send(folder, mock, [again], code=0)
        expect(answers[0]["id"] == "message-2" and "error" not in answers[0], answers)
        answers, _ = send(folder, mock, ["{}\n" + json.dumps(line(9))], "--dry-run", code=FAILED)
        expect(answers[1]["dry_run"] is True and len(mock.taken) == 4, answers)
    return 510


def part_signals(folder):
    """SIGTERM: what is under way ends, the rest is answered or not read."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", streams=5,
              fault=lambda *_: Fault("late", seconds=1)) as mock:
        program = subprocess.Popen(
            command(folder, mock, "--connections", "1"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(20):
            program.stdin.write((json.dumps(line(number)) + "\n").encode())
        program.stdin.flush()
        deadline = time.time() + 20
        while len(mock.taken) < 3 and time.time() < deadline:
            time.sleep(0.05)
        program.send_signal(signal.SIGTERM)
        out, said = program.communicate(timeout=20)
        answers = [json.loads(answer) for answer in out.splitlines()]
        accepted = [a["id"] for a in answers if a.get("status") == 200]
        rest = [a for a in answers if a.get("error", {}).get("code") == "not-sent"]
        expect(len(answers) == 20 and len(accepted) == len(mock.taken) and len(rest) == 20 - len(accepted), len(accepted), len(rest))
        expect(all(a["retry"] for a in rest) and program.returncode == 1, program.returncode, said)
    # What was read from a pipe is answered, also beyond the window, and also the beginning of a line.
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", fault=lambda *_: Fault("late", seconds=1)) as mock:
        for options in ([], ["--rate", "3", "--retry-for", "2s"]):
            ours, theirs = os.pipe()
            text = "".join(json.dumps(line(n)) + "\n" for n in range(45)).encode()
            os.write(theirs, text + b'{"to":')
            before = len(mock.taken)
            program = subprocess.Popen(command(folder, mock, *options), stdin=ours, stdout=subprocess.PIPE)
            deadline = time.time() + 20
            while len(mock.taken) == before and time.time() < deadline:
                time.sleep(0.05)
            program.send_signal(signal.SIGTERM)
            answers = [json.loads(answer) for answer in program.communicate(timeout=20)[0].splitlines()]
            os.close(theirs)
            with open(ours, "rb") as file:
                left = file.read()
            accepted = sum(a.get("status") == 200 for a in answers)
            rest = [a for a in answers if a.get("error", {}).get("code") == "not-sent" and a["retry"]]
            expect(not left and accepted + len(rest) == len(answers) == 46, options, accepted, len(answers), len(left))
            expect(program.returncode == 1 and [a for a in rest if a["line"] == 46 and "id" not in a], program.returncode, rest[-1:])
    # A reader that leaves is a failure: nobody has the answers.
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key") as mock:
        text = "".join(json.dumps(line(n)) + "\n" for n in range(2000)).encode()
        done = subprocess.run(["bash", "-c", 'set -o pipefail; "$@" | head -n 1 >/dev/null', "-", *command(folder, mock)],
                              input=text, capture_output=True, timeout=60)
        expect(done.returncode != 0 and b"the reader of the answers has gone" in done.stderr, done.returncode, done.stderr)
    return 112


def part_operators(folder):
    """What operators rely on: a log with a limit, a provider token that processes share, and faults of disk and reader that stop no message."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", streams=100) as mock:
        _, said = send(folder, mock, [line(n) for n in range(3000)], "--log", "json", code=0)
        events = [json.loads(text) for text in said.splitlines()]
        seconds = collections.Counter(event["time"] // 1000 for event in events if "time" in event)
        expect(max(seconds.values(), default=0) <= 450, max(seconds.values(), default=0), "lines in a second")
        one = next((event for event in events if event["event"] == "accepted"), {})
        expect({"time", "id", "fingerprint"} <= set(one) and not any(token(n) in said for n in range(DEVICES)), one)
        answers, said = send(folder, mock, [line(1)], "--metrics", f"{folder}/missing/metrics", code=0)
        expect("missing" in said, said)
    tokens = set()
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda _, request: tokens.add(dict(request.headers)["authorization"])) as mock:
        for number in range(5):
            send(folder, mock, [line(number)], "--provider-token-file", f"{folder}/provider-token", code=0)
            time.sleep(1.1)  # a token says its second
    expect(len(tokens) == 1 and os.stat(f"{folder}/provider-token").st_mode & 0o777 == 0o600, len(tokens), "provider tokens")
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", streams=100) as mock:
        # Nobody reads the answers, and the process is asked to end.
        with open(f"{folder}/lines", "w") as file:
            file.writelines(json.dumps(line(n)) + "\n" for n in range(3000))
        source = subprocess.Popen(["cat", f"{folder}/lines"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        program = subprocess.Popen(command(folder, mock, "--timeout", "1s"), stdin=source.stdout, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        source.stdout.close()
        time.sleep(3)
        program.send_signal(signal.SIGTERM)
        expect(program.wait(20) == 1, program.returncode)
        # The output is a file on a disk that fills up: its last line is whole.
        disk = f"{folder}/disk"
        os.mkdir(disk)
        script = ('mount -t tmpfs -o size=64k tmpfs "$0" && "$@" >"$0/answers"; code=$?; tail -c 1 "$0/answers" | od -An -tx1; '
                  'wc -c <"$0/answers"; exit $code')
        text = "".join(json.dumps(line(n, user="x" * (50 + n % 37))) + "\n" for n in range(2000)).encode()
        done = subprocess.run(["unshare", "-rm", "bash", "-c", script, disk, *command(folder, mock)], input=text,
                              capture_output=True, timeout=60)
        words = done.stdout.decode().split()
        if words or b"unshare" not in done.stderr:
            expect(done.returncode == 1 and words[:1] == ["0a"] and int(words[1]) > 30_000, words, done.stderr.decode()[-200:])
        else:
            print("SKIPPED: send: a separate mount is not permitted")
    return 8007


def part_keys(folder):
    """Keys however they are written; and files that are no APNs key, each with what it is instead, before anything is read."""
    make = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:{} -out {} 2>/dev/null"
    good = f"AuthKey_{KEY}.p8"
    files = {
        "traditional.p8": f"openssl ec -in {good} -out traditional.p8 2>/dev/null",
        "text.p8": f"(echo notes; cat {good}) > text.p8",
        "mark.p8": f"(printf '\\xef\\xbb\\xbf'; cat {good}) > mark.p8",
        "crlf.p8": f"sed 's/$/\\r/' {good} > crlf.p8",
        "spaces.p8": f"sed 's/^/  /' {good} > spaces.p8",
        "no-end.p8": f"printf %s \"$(cat {good})\" > no-end.p8",
        "escaped.p8": f"awk '{{printf \"%s\\\\n\", $0}}' {good} > escaped.p8",
        "quoted.p8": f"awk 'BEGIN {{printf \"\\\"\"}} {{printf \"%s\\\\n\", $0}} END {{printf \"\\\"\"}}' {good} > quoted.p8",
        "one-line.p8": f"tr '\\n' ' ' < {good} > one-line.p8",
        "bare.p8": f"grep -v -- ----- {good} > bare.p8",
        "bare-line.p8": f"grep -v -- ----- {good} | tr -d '\\n' > bare-line.p8",
        "unpadded.p8": "grep -v -- ----- traditional.p8 | tr -d '\\n=' > unpadded.p8",
        "base64.p8": f"base64 {good} > base64.p8",
        "base64-line.p8": f"base64 -w 0 {good} > base64-line.p8",
        "base64-mark.p8": "base64 mark.p8 > base64-mark.p8",
        "base64-sec1.p8": "base64 traditional.p8 > base64-sec1.p8",
        "curve.p8": make.format("P-384", "curve.p8"),
        "rsa.p8": "openssl genpkey -algorithm RSA -out rsa.p8 2>/dev/null",
        "rsa1.p8": "openssl rsa -traditional -in rsa.p8 -out rsa1.p8 2>/dev/null",
        "ed25519.p8": "openssl genpkey -algorithm ED25519 -out ed25519.p8",
        "encrypted.p8": f"openssl pkcs8 -topk8 -in {good} -out encrypted.p8 -passout pass:words",
        "old.p8": f"openssl ec -aes128 -in {good} -out old.p8 -passout pass:words 2>/dev/null",
        "public.p8": f"openssl pkey -in {good} -pubout -out public.p8",
        "certificate.p8": "cp service.pem certificate.p8",
        "two.p8": f"cat {good} {good} > two.p8",
        "cut.p8": f"head -c 200 {good} > cut.p8",
        "cut-bare.p8": "head -c 100 bare.p8 > cut-bare.p8",
        "changed.p8": f"sed '2s/^M/N/' {good} > changed.p8",
        "words.p8": "echo AuthKey > words.p8",
        "begin.p8": "echo -----BEGIN > begin.p8",
        "empty.p8": ": > empty.p8",
    }
    texts = {"curve": "another curve", "rsa": "another kind", "rsa1": "another kind", "ed25519": "another kind", "encrypted": "is encrypted",
             "old": "is encrypted", "public": "a public key", "certificate": "a certificate", "two": "more than one", "cut": "is cut",
             "cut-bare": "is cut", "changed": "is cut", "words": "is cut", "begin": "is cut", "empty": "empty"}
    for name, script in files.items():
        subprocess.run(["bash", "-c", script], cwd=folder, check=True)
        os.chmod(f"{folder}/{name}", 0o600)
        done = subprocess.run([PROGRAM, "--key", f"{folder}/{name}", "--key-id", KEY, "--team", TEAM, "--dry-run"],
                              input=b"", capture_output=True)
        said, text = done.stderr.decode(), texts.get(name[:-3])
        code = 0 if text is None else 65 if name == "empty.p8" else 64
        expect(done.returncode == code and (text or "") in said and "KEY-----" not in said, name, done.returncode, said)
    for mode, warnings in ((0o600, 0), (0o440, 0), (0o644, 1)):
        os.chmod(f"{folder}/{good}", mode)
        done = subprocess.run([PROGRAM, "--key", f"{folder}/{good}", "--team", TEAM, "--dry-run"], input=b"", capture_output=True)
        expect(done.returncode == 0 and done.stderr.count(b"warning: every user") == warnings, mode, done.stderr)
    os.chmod(f"{folder}/{good}", 0o600)
    return len(files) + 1


def part_start(folder):
    """`pushcrypt send` starts the program beside it, or says that there is none."""
    pushcrypt = os.path.join(os.path.dirname(PROGRAM), "pushcrypt")
    text = json.dumps(line(1)).encode()
    done = subprocess.run([pushcrypt, "send", "--dry-run"], input=text, capture_output=True)
    expect(done.returncode == 0 and b'"dry_run":true' in done.stdout, done)
    shutil.copy(pushcrypt, f"{folder}/pushcrypt")
    done = subprocess.run([f"{folder}/pushcrypt", "send", "--dry-run"], input=text, capture_output=True, env={"PATH": folder})
    expect(done.returncode == 64 and b"is not installed" in done.stderr and not done.stdout, done)
    os.mkdir(f"{folder}/bin")
    os.symlink(PROGRAM, f"{folder}/bin/pushcrypt-send")
    done = subprocess.run([f"{folder}/pushcrypt", "send", "--dry-run"], input=text, capture_output=True,
                          env={"PATH": f"{folder}/bin"})
    expect(done.returncode == 0, done)
    linked = subprocess.run(["ldd", pushcrypt], capture_output=True, text=True).stdout
    expect(not any(name in linked for name in ("libcurl", "nghttp2", "libssl", "libcrypto")), linked)
    return 3


def part_blocked(folder):
    """A connection that allows no stream is replaced."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", streams=0) as mock:
        answers, _ = send(folder, mock, [line(1)], "--timeout", "1s", "--retry-for", "12s", code=1)
        expect("it allows no request" in answers[0]["error"]["message"] and answers[0]["retry"] and mock.connections > 1, answers, mock.connections)
        threading.Timer(1, lambda: setattr(mock, "streams", 10)).start()
        answers, _ = send(folder, mock, [line(2)], "--timeout", "2s", code=0)
        expect(answers[0]["status"] == 200, answers)
    return 2


def part_give_up(folder):
    """What is not encrypted is not repeated unless asked, and the time for retries ends."""
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda number, _: Fault("reset") if number == 1 else Fault("answer", 500, "InternalServerError")) as mock:
        clear = line(1, payload={"aps": {"alert": "clear"}}, unencrypted=True)
        answers, _ = send(folder, mock, [clear], code=FAILED)
        expect(answers[0]["error"]["code"] == "no-answer" and answers[0]["retry"] is False and mock.seen == 1, answers)
        answers, _ = send(folder, mock, [line(2)], "--retry-for", "8s", code=1)
        expect(answers[0]["error"]["code"] == "apns-busy" and answers[0].get("status") == 500, answers)
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda number, _: Fault("lost") if number == 1 else None) as mock:
        send(folder, mock, [clear], "--repeat-unencrypted", code=0)
        expect(len(mock.taken) == 2, len(mock.taken))
    # It may have arrived at first, whatever APNs says later.
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda number, _: Fault("lost") if number == 1 else Fault("answer", 503, "ServiceUnavailable")) as mock:
        answers, _ = send(folder, mock, [line(1)], "--retry-for", "8s", code=1)
        expect(answers[0]["error"]["code"] == "no-answer" and len(mock.taken) == 1 and mock.seen > 1, answers, mock.seen)
    # The answer comes at the expiration, not after the pause that APNs asks for.
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda *_: Fault("answer", 429, "TooManyRequests", (("retry-after", "40"),))) as mock:
        answers, _ = send(folder, mock, [line(1, expiration=int(time.time()) + 8)], code=FAILED, seconds=30)
        expect(answers[0]["error"]["code"] == "too-late" and answers[0].get("status") == 429, answers)
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key") as mock:
        pass
    answers, said = send(folder, mock, [line(3)], "--retry-for", "2s", code=1)
    expect(answers[0]["error"]["code"] == "unreachable" and "no connection" in said, answers, said)
    return 5


def worker(folder, name, mock, lines, program=None, options=(), until=None, wait=30):
    """Runs a worker of Sources/Pipelines with a queue of `lines`, until it ends or `until` is true, and SIGTERM then ends it.

    Returns its exit code, the fields written to each queue, how many lines are done, and what it says."""
    stub = tempfile.mkdtemp(dir=folder)
    with open(f"{stub}/input", "w") as file:
        file.write("".join(json.dumps(one) + "\n" for one in lines))
    with open(f"{stub}/config", "w") as file:
        file.write('{"consumer":{},"producer":{}}')
    source = {"kafka": ["kafka", "--config", f"{stub}/config"], "redis": ["redis", "--url", "redis://stub", "--name", "worker"]}[name]
    program = program or [os.path.join(os.path.dirname(PROGRAM), "pushcrypt"), "send", *command(folder, mock, "--in-order", *options)[1:]]
    process = subprocess.Popen(
        ["/usr/bin/python3", f"{HERE}/../../../Sources/Pipelines/queue_worker.py", *source, "--from", "sealed", "--to", "answers",
         "--refused", "unsent", "--", *program], stderr=subprocess.PIPE,
        env=os.environ | {"STUB": stub, "PYTHONPATH": f"{HERE}/stubs", "PYTHONDONTWRITEBYTECODE": "1"})

    def read():
        queues, done = {"answers": [], "unsent": []}, 0
        with contextlib.suppress(FileNotFoundError), open(f"{stub}/log") as file:
            for entry in map(json.loads, file.read().splitlines()):
                if entry[0] == "write":
                    queues[entry[1]].append(entry[2])
                else:
                    done = max(done, entry[1] + 1)
        return queues, done

    deadline = time.time() + wait
    while until and process.poll() is None and time.time() < deadline and not until(read()[1]):
        time.sleep(0.05)
    if until:
        process.terminate()
    try:
        said = process.communicate(timeout=wait)[1].decode()
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[1].decode() + "it did not end"
    return process.returncode, *read(), said


def part_time(folder):
    """A clock that is three hours wrong, and a process that did not run for longer than it retries, stop no message."""
    text = "".join(json.dumps(line(n)) + "\n" for n in range(5)).encode()
    for shift, side in (("+3h", b"ahead of"), ("-3h", b"behind")):
        with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key", ahead=0) as mock:
            done = subprocess.run(["faketime", "-f", shift, *command(folder, mock, "--retry-for", "20s")], input=text,
                                  capture_output=True, timeout=60)
            expect(done.returncode == 0 and len(mock.taken) == 5 and side in done.stderr, shift, len(mock.taken), done)
    is_stopped = threading.Event()
    with Mock(rules(folder), f"{folder}/service.pem", f"{folder}/service.key",
              fault=lambda *_: None if is_stopped.is_set() else Fault("answer", 500, "InternalServerError")) as mock:
        program = subprocess.Popen(command(folder, mock, "--retry-for", "8s"), stdin=filled(text), stdout=subprocess.PIPE)
        deadline = time.time() + 20
        while mock.seen < 5 and time.time() < deadline:
            time.sleep(0.05)
        program.send_signal(signal.SIGSTOP)
        is_stopped.set()
        time.sleep(12)
        program.send_signal(signal.SIGCONT)
        out, _ = program.communicate(timeout=30)
        expect(program.returncode == 0 and len(mock.taken) == 5, "after a pause", out)
    return 15


def part_workers(folder):
    """The workers of queues: each message is done once, or stays in the queue."""
    service = f"{folder}/service.pem", f"{folder}/service.key"

    def codes(queues):
        return [json.loads(fields["answer"])["error"]["code"] for fields in queues["unsent"]]

    for name in ("kafka", "redis"):
        # A queue that goes away: the worker ends, whatever its child does.
        patient = ["/usr/bin/python3", "-c", "import time; time.sleep(60)"]
        code, _, done, said = worker(folder, name, None, [{"broken": True}], patient, wait=10)
        expect((code, done) == (1, 0) and "did not end" not in said, name, "waits for a dead queue", code, done, said)
        # A sender that says it stops, and goes on: its worker ends, and its service starts another.
        over = "import sys; sys.stdin.readline(); print('{\"error\":{\"code\":\"not-sent\"}}', flush=True); sys.stdin.read()"
        code, queues, done, said = worker(folder, name, None, [line(n) for n in range(9)], ["/usr/bin/python3", "-c", over], wait=10)
        expect((code, done, queues) == (1, 0, {"answers": [], "unsent": []}), name, "goes on", code, done, queues, said)
        # A topic that is paused stops no other: its messages go where refused ones go.
        with Mock(rules(folder), *service, streams=1) as mock:
            other = [line(n, topic="com.example.other") for n in range(1, 31)]
            lines = [line(0), *other, line(31), line(32)]
            code, queues, done, said = worker(
                folder, name, mock, lines, options=["--connections", "1", "--retry-for", "5s"], until=lambda done: done == 33)
            expect((code, done, len(queues["answers"])) == (0, 33, 3), name, code, done, said)
            counted = collections.Counter(codes(queues))
            expect(20 <= counted["wrong-address"] <= 24 and counted["on-hold"] == 30 - counted["wrong-address"], name, counted)
        # A key that is revoked: what was not accepted stays.
        with Mock(rules(folder), *service, streams=1,
                  fault=lambda number, _: Fault("answer", 403, "InvalidProviderToken") if number > 5 else None) as mock:
            code, queues, done, said = worker(
                folder, name, mock, [line(n) for n in range(60)], options=["--connections", "1"], until=lambda done: mock.seen > 15)
            expect((code, done, len(queues["answers"]), queues["unsent"]) == (0, 5, 5, []), name, code, done, said)
        # SIGTERM while APNs delays everything: the worker ends soon, and what was not accepted stays.
        with Mock(rules(folder), *service,
                  fault=lambda number, _: Fault("answer", 500, "InternalServerError") if number > 5 else None) as mock:
            before = time.time()
            code, queues, done, said = worker(
                folder, name, mock, [line(n) for n in range(60)], until=lambda done: mock.seen > 10)
            expect((code, done, len(queues["answers"]), queues["unsent"]) == (0, 5, 5, []), name, code, done, queues, said)
            expect(time.time() - before < 20 and "Exception" not in said, name, time.time() - before, said)
    return 324


def part_fan_out(folder, count=2000):
    """From a store of two apps to every phone: each gets its own push once. Who is gone is removed, who has a new token is not."""
    apps = ["com.example.chat", "com.example.news"]
    place = f"{folder}/place"
    os.mkdir(place)

    def run(script, code=0, **more):
        done = subprocess.run(["bash", "-uc", f"set -o pipefail; {script}"], cwd=place, capture_output=True, text=True, timeout=3600,
                              env=os.environ | {"PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"], "PUSHCRYPT_STORE": "P"}, **more)
        expect(done.returncode == code, script[:200], done.returncode, done.stderr)
        return done.stdout

    run("pushcrypt init")
    keys = []
    for app in apps:
        run(f"pushcrypt key new provider --name {app} --topic {app}")
        keys.append(run(f"pushcrypt --store {app} init; pushcrypt --store {app} key new device --topic {app}").strip())
    # Phones of one app share a key, which only another store's export may say.
    run("pushcrypt device import --from-export", input="".join(
        json.dumps({"device": f"phone{n:06d}", "public_key": keys[n % 2], "topic": apps[n % 2], "updated": 1, "token": token(n)}
                   | ({"environment": "development"} if n % 3 == 0 else {})) + "\n" for n in range(count)))
    with open(f"{folder}/token.p8", "rb") as file:
        public = serialization.load_pem_private_key(file.read(), None).public_key()
    gone = {n for n in range(count) if n % 10 == 7}
    devices = {token(n): Device({apps[n % 2]}, int(time.time() * 1000) if n in gone else None) for n in range(count)}
    with open(f"{place}/today.json", "w") as file:
        file.write('{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}}}')
    rules = QuickRules(devices, {KEY: (TEAM, public, set(apps))})
    with Mock(rules, f"{folder}/service.pem", f"{folder}/service.key") as mock:
        way = f"--key ../AuthKey_{KEY}.p8 --team {TEAM} --host localhost:{mock.port} --ca-file ../authority.pem"
        start = time.time()
        run(f"pushcrypt seal --to-all --emit request today.json | pushcrypt send {way} > answers", code=FAILED)
        took = time.time() - start
        taken = collections.Counter(request.path.rsplit("/", 1)[1] for request in mock.taken)
        expect(taken == {token(n): 1 for n in range(count) if n not in gone}, "pushes", len(taken), sum(taken.values()))
        for app in apps:
            with open(f"{place}/{app}.pushes", "w") as file:
                file.writelines('{"payload":%s}\n' % r.body.decode() for r in mock.taken[:200] if dict(r.headers)["apns-topic"] == app)
        pushes = sum(dict(r.headers)["apns-topic"] == apps[int(r.path.rsplit("/", 1)[1], 16) % 2 ^ 1] for r in mock.taken)
        expect(pushes == count - len(gone), pushes, "pushes have their device's topic")
    for app in apps:
        provider = run(f"pushcrypt key show {app}").strip()
        opened = run(f"pushcrypt --store {app} provider pin {provider} 2>/dev/null || echo {provider} | pushcrypt --store {app} provider pin; "
                     f"pushcrypt --store {app} open --batch {app}.pushes").splitlines()
        expect(opened and all('"outcome":"opened"' in line for line in opened), app, opened[:1])
    renewed = sorted(gone)[::2]
    run("pushcrypt device import --from-export", input="".join(
        json.dumps({"device": f"phone{n:06d}", "public_key": keys[n % 2], "topic": apps[n % 2], "updated": 2, "token": token(count + n)})
        + "\n" for n in renewed))
    counts = json.loads(run("pushcrypt device remove --from-apns-410 answers --json"))
    wanted = {"removed": len(gone) - len(renewed), "kept": len(renewed), "unknown": 0, "ignored": count - len(gone), "refused": 0}
    expect(counts == wanted, counts, wanted)
    left = {line.split()[0] for line in run("pushcrypt device list").splitlines()}
    expect(left == {f"phone{n:06d}" for n in range(count) if n not in gone or n in renewed}, len(left), "are left")
    if count > 2000:
        print(f"send: {count} devices of two apps: {took:.1f} s, {count / took:.0f} a second", flush=True)
    return count


def part_document(folder):
    """The commands and the test of README.md, as they stand."""
    root = os.path.realpath(f"{HERE}/../../..")
    place = f"{folder}/document"
    os.makedirs(place)
    os.symlink(f"{root}/Tests", f"{place}/Tests")
    with open(f"{HERE}/README.md") as file:
        blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", file.read(), re.M | re.S)
    scripts = [text for kind, text in blocks if kind == "sh"]
    with open(f"{place}/provider_test.py", "w") as file:
        file.write(next(text for kind, text in blocks if kind == "python"))
    scripts += [
        "! Tests/Checks/Send/serve.py apns --fault never@1 -- true", "/usr/bin/python3 -m unittest -q provider_test.py"]
    environment = {**os.environ, "PATH": f"{os.path.dirname(PROGRAM)}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    outputs = []
    for script in scripts:
        done = subprocess.run(["bash", "-euc", script], cwd=place, env=environment, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, script, done.stderr)
        outputs.append((done.stdout, done.stderr))
    expect(outputs[1][1].splitlines(True)[-1] == "apns-mock: 2 requests, 2 accepted, 2 connections; lost 1\n", outputs[1])
    opened = [json.loads(text)["notification"] for text in outputs[2][0].splitlines()]
    expect([one["body"] for one in opened] == ["Your table is ready"] * 2, opened)
    expect([one["interruption_level"] for one in opened[1:]] == ["passive"], opened)
    expect("there is no fault called 'never'" in outputs[3][1], outputs[3])
    return len(scripts)


def main():
    with tempfile.TemporaryDirectory() as top:
        folder = f"{top}/credentials"
        os.mkdir(folder)
        subprocess.run(["faketime", "-f", "-1d", f"{HERE}/../Senders/certificates.sh"], cwd=folder, check=True)
        os.rename(f"{folder}/token.p8", f"{folder}/AuthKey_{KEY}.p8")
        os.symlink(f"AuthKey_{KEY}.p8", f"{folder}/token.p8")
        os.chmod(f"{folder}/AuthKey_{KEY}.p8", 0o600)
        parts = [value for name, value in globals().items() if name.startswith("part_")]
        parts.sort(key=lambda part: part is not part_faults)
        wanted = sys.argv[2:]
        parts = [part for part in parts if not wanted or part.__name__[5:] in wanted]

        def run(part):
            # Parts run at once, and make files of the same names.
            own = f"{top}/{part.__name__}"
            shutil.copytree(folder, own, symlinks=True)
            return part(own)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for part, count in zip(parts, pool.map(run, parts)):
                print(f"vectors: messages sent to APNs, {part.__name__[5:]}: {count}", flush=True)
    for problem in problems[:20]:
        print("send: error:", problem[:1000], file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
