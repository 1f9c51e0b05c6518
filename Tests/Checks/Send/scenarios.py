#!/usr/bin/python3
"""Faults that persist, or come together, in real time: `pushcrypt-send` against the mock. Each scenario has a name and a seed.

Usage: scenarios.py PUSHCRYPT-SEND [NAME …]      SEED=… changes what is random; JOBS=… (4) run at a time
Prints `scenario: NAME: passed` or `FAILED`, and what differs. Most run in virtual time too: Tests/SendTests/ScenarioTests.swift.
"""
import collections, concurrent.futures, contextlib, json, os, random, signal, socket, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from cryptography.hazmat.primitives import serialization  # noqa: E402

from mock import Fault, Mock, QuickRules  # noqa: E402
from rules import Device  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
TOPIC, TEAM, KEY = "com.example.app", "TEAM123456", "ABC123DEFG"
SEED = int(os.environ.get("SEED", "1"))
DEVICES = 6000
RECOVERY = 15  # seconds after the end of an outage
CONNECTS = 6  # a minute while nothing succeeds
SCENARIOS = {}
problems = []


def scenario(severity):
    def add(function):
        SCENARIOS[f"{severity}-{function.__name__.replace('_', '-')}"] = function
        return function
    return add


def expect(condition, *what):
    if not condition:
        problems.append(" ".join(map(str, what))[:400])
    return condition


def token(number):
    return f"{number + 1:064x}"


def number_of(request):
    return int(request.path[10:], 16) - 1


def line(number, device=None, **members):
    payload = {"aps": {"alert": {"title": "Message"}, "mutable-content": 1}, "ENCRYPTED_DATA": "x" * 200}
    return {"id": f"m{number}", "topic": TOPIC, "expiration": int(time.time()) + 3600, "payload": payload,
            "token": token(number if device is None else device)} | members


class Scene:
    """Credentials, and the random numbers of a scenario."""

    def __init__(self, folder, name):
        self.folder, self.random = folder, random.Random(f"{SEED} {name}")
        subprocess.run([f"{HERE}/../Senders/certificates.sh"], cwd=folder, check=True)
        os.rename(f"{folder}/token.p8", f"{folder}/AuthKey_{KEY}.p8")
        os.chmod(f"{folder}/AuthKey_{KEY}.p8", 0o600)

    def mock(self, fault=None, certificate="service.pem", port=0, **more):
        with open(f"{self.folder}/AuthKey_{KEY}.p8", "rb") as file:
            public = serialization.load_pem_private_key(file.read(), None).public_key()
        devices = {token(n): Device({TOPIC}) for n in range(DEVICES)}
        rules = QuickRules(devices, {KEY: (TEAM, public, {TOPIC})})
        return Mock(rules, f"{self.folder}/{certificate}", f"{self.folder}/service.key", fault=fault, port=port, **more)

    def command(self, port, *options):
        return [PROGRAM, "--key", f"{self.folder}/AuthKey_{KEY}.p8", "--team", TEAM, "--host", f"localhost:{port}",
                "--ca-file", f"{self.folder}/authority.pem", *options]

    def send(self, port, lines, *options, **more):
        return Run(self.command(port, *options), lines, **more)


class Run:
    """A process: what it answers, and what it says, each with its time since the start."""

    def __init__(self, command, lines, pause=0, reads=True):
        self.start = time.monotonic()
        self.answers, self.said, self.sent = [], [], {}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.threads = [threading.Thread(target=one, daemon=True) for one in (
            lambda: self.write(lines, pause), *([self.read] if reads else []), self.listen)]
        for thread in self.threads:
            thread.start()

    def now(self):
        return time.monotonic() - self.start

    def write(self, lines, pause):
        with contextlib.suppress(OSError):
            for one in lines:
                self.sent[one.get("id")] = self.now()
                self.process.stdin.write((json.dumps(one) + "\n").encode())
                if pause:
                    self.process.stdin.flush()
                    time.sleep(pause)
            self.process.stdin.close()

    def read(self):
        for text in self.process.stdout:
            self.answers.append((self.now(), json.loads(text)))

    def listen(self):
        for text in self.process.stderr:
            self.said.append((self.now(), text.decode().rstrip()))

    def until(self, condition, seconds):
        while not condition() and self.now() < seconds:
            time.sleep(0.05)
        return condition()

    def wait(self, seconds):
        """Waits until it ends, at most until `seconds` after its start; returns its exit code."""
        try:
            self.process.wait(max(0.1, seconds - self.now()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            expect(False, f"still runs after {seconds} s, with {len(self.answers)} answers")
        for thread in self.threads[1:]:
            thread.join(5)
        return self.process.returncode

    def accepted(self):
        return [answer["id"] for _, answer in list(self.answers) if answer.get("status") == 200]

    def codes(self):
        return dict(collections.Counter(
            answer["error"]["code"] if "error" in answer else str(answer["status"]) for _, answer in list(self.answers)))

    def text(self):
        return "\n".join(text for _, text in list(self.said))


def most_in_a_minute(times):
    return max((sum(first <= one < first + 60 for one in times) for first in times), default=0)


def recovers(run, count, end, seconds=RECOVERY, code=0):
    """All messages are accepted within some seconds of the end of an outage, `end` seconds after the start."""
    got = run.wait(end + seconds)
    expect(len(run.accepted()) == count, f"{len(run.accepted())} of {count} accepted:", run.codes())
    expect(code is None or got == code, "exit", got, run.text()[-300:])


BUSY = Fault("answer", 503, "ServiceUnavailable")
LIMITED = Fault("answer", 429, "TooManyRequests")


@scenario("H1")
def busy_then_close(scene):
    """APNs answers 503, and closes."""
    over = 40
    with scene.mock(lambda *_: Fault("answer", 503, "ServiceUnavailable", closes=True) if run.now() < over else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(500)])
        recovers(run, 500, over)
        during = [one for one in mock.connected if one < run.start + over]
        expect(most_in_a_minute(during) <= CONNECTS, len(during), "connects in", over, "s")
        expect(run.said and run.said[0][0] < 10, "silent:", run.said[:1])


@scenario("H1")
def closes_at_once(scene):
    """APNs accepts connections and closes them."""
    over = 30
    with scene.mock(lambda *_: Fault("unread") if run.now() < over else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(100)])
        recovers(run, 100, over)
        during = [one for one in mock.connected if one < run.start + over]
        expect(most_in_a_minute(during) <= CONNECTS, len(during), "connects in", over, "s")


@scenario("H2")
def busy_for_one_device(scene):
    """One device among a thousand is answered 503 for ever."""
    bad = scene.random.randrange(1000)
    lines = [line(n, device=bad if n % 10 == 3 else 1000 + n) for n in range(1000)]
    with scene.mock(lambda _, request: BUSY if number_of(request) == bad else None) as mock:
        run = scene.send(mock.port, lines, "--retry-for", "30s", pause=0.02)
        run.wait(60)
        late = [at - run.sent[answer["id"]] for at, answer in run.answers if answer.get("status") == 200]
        expect(len(late) == 900, len(late), "of 900 others accepted:", run.codes())
        expect(max(late, default=99) < 2, f"one of the others waited {max(late, default=99):.1f} s")


@scenario("H2")
def one_long_retry_after(scene):
    """One answer says `retry-after: 60`."""
    slow = Fault("answer", 503, "ServiceUnavailable", (("retry-after", "60"),))
    with scene.mock(lambda number, _: slow if number == 50 else None, streams=10) as mock:
        run = scene.send(mock.port, [line(n) for n in range(300)], "--retry-for", "30s", "--connections", "1")
        run.until(lambda: len(run.accepted()) >= 299, 8)
        expect(len(run.accepted()) >= 299, len(run.accepted()), "of 299 others accepted after 8 s")
        run.process.kill()


@scenario("H2")
def everything_busy(scene):
    """Every answer is 503 for half a minute: a probe now and then, and then everything again."""
    over = 30
    with scene.mock(lambda *_: BUSY if run.now() < over else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(2000)])
        run.until(lambda: run.now() > over, over + 1)
        seen = mock.seen
        recovers(run, 2000, over)
        expect(seen < 150, seen, "requests while everything is answered 503")
        expect("503" in run.text(), "says nothing of 503")


@scenario("H3")
def login_refused_for_three_seconds(scene):
    refused = Fault("answer", 403, "InvalidProviderToken")
    with scene.mock(lambda *_: refused if run.now() < 3 else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(300)])
        recovers(run, 300, 3)
        expect("InvalidProviderToken" in run.text(), "says nothing of the login")


@scenario("H3")
def login_refused_later(scene):
    """A key that is revoked in the middle, and good again after ten seconds."""
    refused = Fault("answer", 403, "InvalidProviderToken")
    with scene.mock(lambda number, _: refused if number > 100 and run.now() < 10 else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(400)])
        recovers(run, 400, 10)


@scenario("H3")
def clock_wrong_for_three_seconds(scene):
    """The clock is two hours behind APNs', which therefore refuses the provider token."""
    expired = Fault("answer", 403, "ExpiredProviderToken")

    def fault(*_):
        mock.ahead = 7200 if run.now() < 3 else 0
        return expired if run.now() < 3 else None

    with scene.mock(fault, ahead=7200) as mock:
        run = scene.send(mock.port, [line(n, expiration=int(time.time()) + 4 * 3600) for n in range(300)])
        recovers(run, 300, 3)
        expect("clock" in run.text(), "does not name the clock:", run.text()[:200])


@scenario("H3")
def twenty_bad_tokens(scene):
    """The first twenty device tokens are bad: anyone who can register can do that."""
    with scene.mock(streams=10) as mock:
        bad = [line(n, device=DEVICES + n) for n in range(20)]
        run = scene.send(mock.port, bad + [line(20 + n) for n in range(300)])
        recovers(run, 300, 3, code=None)
        expect(run.process.returncode not in (64, 0) and run.codes().get("wrong-address") == 20, run.process.returncode, run.codes())


@scenario("H3")
def wrong_certificate_for_three_seconds(scene):
    """The first connection is to a server with another name."""
    subprocess.run("openssl req -new -key service.key -subj /CN=other | openssl x509 -req -CA authority.pem -CAkey authority.key "
                   "-CAcreateserial -days 2 -out other.pem -extfile <(echo subjectAltName=DNS:other.example)",
                   shell=True, executable="/bin/bash", cwd=scene.folder, check=True, capture_output=True)
    with scene.mock(certificate="other.pem") as mock:
        threading.Timer(3, lambda: mock.tls.load_cert_chain(f"{scene.folder}/service.pem", f"{scene.folder}/service.key")).start()
        run = scene.send(mock.port, [line(n) for n in range(50)])
        recovers(run, 50, 3)


@scenario("M1")
def limited_at_the_head(scene):
    """2,000 messages are answered 429 for ever, and 500 behind them are good."""
    with scene.mock(lambda _, request: LIMITED if number_of(request) < 2000 else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(2500)], "--retry-for", "1m")
        run.until(lambda: len(run.accepted()) == 500, 15)
        expect(len(run.accepted()) == 500, len(run.accepted()), "of 500 others accepted after 15 s")
        run.process.kill()


@scenario("M2")
def clock_ahead(scene):
    """The clock is three hours ahead: it is said, and all goes on by APNs' time."""
    # Started by `faketime`: its library alone would change the place of the environment, by which Swift finds the arguments.
    wrapped = ["faketime", "-m", "-f", "+3h", "env", "DONT_FAKE_MONOTONIC=1"]
    with scene.mock(ahead=0) as mock:
        run = Run(wrapped + scene.command(mock.port), [line(n) for n in range(300)])
        recovers(run, 300, 0)
        expect("clock" in run.text(), "does not name the clock")


@scenario("M3")
def outage_is_said(scene):
    """No connection for seventy seconds: a line at the beginning, one a minute, one at the end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run = scene.send(port, [line(n) for n in range(100)])
    time.sleep(70)
    with scene.mock(port=port):
        recovers(run, 100, 70)
    times = [round(at) for at, _ in run.said]
    expect(3 <= len(times) <= 6 and times[0] < 5 and any(58 < at < 66 for at in times) and times[-1] >= 70, "lines at", times)
    expect("waiting: 100\n" in run.text() or "waiting: 100;" in run.text(), "no counts:", run.text()[-300:])


@scenario("M3")
def log_is_limited(scene):
    """Events have time, id and fingerprint, no device token, and a limit of lines a second."""
    with scene.mock() as mock:
        run = scene.send(mock.port, [line(n) for n in range(3000)], "--log", "json")
        recovers(run, 3000, 20)
        events = [json.loads(text) for _, text in run.said]
        seconds = collections.Counter(event["time"] // 1000 for event in events)
        expect(max(seconds.values(), default=0) <= 450, max(seconds.values(), default=0), "lines in a second")
        one = next((event for event in events if event["event"] == "accepted"), {})
        expect({"time", "id", "fingerprint"} <= set(one), one)
        expect(not any(token(n) in run.text() for n in range(3000)), "a device token is in the log")


@scenario("M4")
def reader_closes(scene):
    with scene.mock() as mock:
        text = "".join(json.dumps(line(n)) + "\n" for n in range(2000)).encode()
        done = subprocess.run(["bash", "-c", '"$@" | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}', "-", *scene.command(mock.port)],
                              input=text, capture_output=True, timeout=60)
        said = done.stderr.decode()
        expect(done.returncode == 1 and "accepted" in said, done.returncode, said)


@scenario("M5")
def sigterm_with_a_blocked_reader(scene):
    with scene.mock() as mock:
        run = scene.send(mock.port, [line(n) for n in range(3000)], "--timeout", "1s", reads=False)
        time.sleep(3)
        run.process.send_signal(signal.SIGTERM)
        code = run.wait(20)
        expect(code == 1, "exit", code)


@scenario("low")
def sighup_drains(scene):
    with scene.mock(lambda *_: Fault("late", seconds=1), streams=5) as mock:
        run = scene.send(mock.port, [line(n) for n in range(20)], "--connections", "1")
        run.until(lambda: len(mock.taken) >= 3, 10)
        run.process.send_signal(signal.SIGHUP)
        run.wait(20)
        expect(len(run.answers) == 20 and len(run.accepted()) == len(mock.taken), run.process.returncode, run.codes(), len(mock.taken))


@scenario("M6")
def clear_push_without_an_answer(scene):
    """What is not encrypted cannot be silenced by the phone: it is not repeated."""
    with scene.mock(lambda number, _: Fault("lost") if number == 1 else None) as mock:
        clear = line(1, payload={"aps": {"alert": "x"}}, unencrypted=True)
        run = scene.send(mock.port, [clear], "--retry-for", "10s")
        run.wait(30)
        expect(len(mock.taken) == 1 and run.codes() == {"no-answer": 1}, len(mock.taken), "copies;", run.codes())


@scenario("M9")
def token_updates(scene):
    """APNs calls the provider token expired, and every open connection refuses the next one."""
    flag = {}

    def fault(number, request):
        if number >= 100:
            first = flag.setdefault("token", dict(request.headers)["authorization"])
            if dict(request.headers)["authorization"] == first:
                return Fault("answer", 403, "ExpiredProviderToken")

    with scene.mock(fault) as mock:
        run = scene.send(mock.port, [line(n) for n in range(1000)], "--retry-for", "30s")
        recovers(run, 1000, 5)


@scenario("M9")
def token_is_kept(scene):
    """Ten processes one after the other use one provider token."""
    tokens, place = set(), f"{scene.folder}/provider-token"
    with scene.mock(lambda _, request: tokens.add(dict(request.headers)["authorization"])) as mock:
        for n in range(10):
            time.sleep(0.2)
            run = scene.send(mock.port, [line(n)], "--provider-token-file", place)
            run.wait(20)
    expect(len(tokens) == 1 and len(mock.taken) == 10, len(tokens), "tokens;", len(mock.taken), run.text())
    expect(os.path.exists(place) and os.stat(place).st_mode & 0o777 == 0o600, "the file's mode")


@scenario("M10")
def breaks_on_one_percent(scene):
    """The connection breaks on 1 % of the requests."""
    with scene.mock(lambda *_: Fault("lost") if scene.random.random() < 0.01 else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(5000)])
        recovers(run, 5000, 60, seconds=0)
        copies = collections.Counter(map(number_of, mock.taken))
        expect(mock.seen / 5000 <= 1.2, mock.seen / 5000, "requests a message")
        expect(max(copies.values(), default=0) <= 3, max(copies.values(), default=0), "copies of one message")
        print(f"figure: breaks-on-one-percent requests-a-message={mock.seen / 5000:.2f} most-copies={max(copies.values(), default=0)}")


@scenario("M10")
def aborts_and_goaways(scene):
    """One message in six is aborted, another sixth is followed by GOAWAY: 600 messages within two minutes."""
    def fault(*_):
        kind = scene.random.random() * 6
        return Fault("lost") if kind < 1 else Fault("goaway") if kind < 2 else None

    with scene.mock(fault) as mock:
        run = scene.send(mock.port, [line(n) for n in range(600)])
        recovers(run, 600, 120, seconds=0)
        print(f"figure: aborts-and-goaways seconds={run.now():.0f} requests={mock.seen} connections={mock.connections}")


@scenario("M10")
def one_bad_token_among_a_thousand(scene):
    """The others lose at most 5 % of their speed: measured in turns, and with the processor's noise."""
    def seconds(bad):
        with scene.mock(lambda _, request: BUSY if bad and number_of(request) == 7 else None) as mock:
            run = scene.send(mock.port, [line(n) for n in range(3000)], "--retry-for", "6s")
            run.until(lambda: len(run.accepted()) >= 2999, 30)
            took = run.now()
            run.process.kill()
            return took

    pairs = [(seconds(False), seconds(True)) for _ in range(5)]
    ratio = min(bad for _, bad in pairs) / min(good for good, _ in pairs)
    print(f"figure: one-bad-token-among-a-thousand time={ratio:.3f}")
    expect(ratio < 1.15, f"{ratio:.2f} of the time without it")  # 5 % is checked in virtual time.


@scenario("low")
def no_answer_for_half_a_minute(scene):
    over = 32
    with scene.mock(lambda *_: Fault("silence") if run.now() < over else None, streams=10) as mock:
        run = scene.send(mock.port, [line(n) for n in range(500)])
        recovers(run, 500, over)


@scenario("low")
def metrics_cannot_be_written(scene):
    with scene.mock() as mock:
        run = scene.send(mock.port, [line(1)], "--metrics", f"{scene.folder}/missing/metrics")
        recovers(run, 1, 5)
        expect("missing" in run.text(), "says nothing")


@scenario("low")
def strange_statuses(scene):
    """302 and 999 are tried again, but not for ever."""
    with scene.mock(lambda number, _: Fault("answer", (302, 999)[number % 2], "Strange") if number < 5 else None) as mock:
        run = scene.send(mock.port, [line(n) for n in range(3)])
        recovers(run, 3, 15)
    with scene.mock(lambda *_: Fault("answer", 302, "Strange")) as mock:
        run = scene.send(mock.port, [line(1)])
        code = run.wait(110)
        expect(code == 1 and run.codes() == {"request-refused": 1} and 3 <= mock.seen <= 10, code, run.codes(), mock.seen)


@scenario("low")
def full_disk(scene):
    """The output is a file on a disk that fills up: its last line is whole."""
    disk = f"{scene.folder}/disk"
    os.mkdir(disk)
    with scene.mock() as mock:
        script = ('mount -t tmpfs -o size=64k tmpfs "$0" && "$@" >"$0/answers"; code=$?; tail -c 1 "$0/answers" | od -An -tx1; '
                  'wc -c <"$0/answers"; exit $code')
        text = "".join(json.dumps(line(n, user="x" * (50 + n % 37))) + "\n" for n in range(2000)).encode()
        done = subprocess.run(["unshare", "-rm", "bash", "-c", script, disk, *scene.command(mock.port)], input=text,
                              capture_output=True, timeout=60)
        words = done.stdout.decode().split()
        if not words and b"unshare" in done.stderr:
            return print("SKIPPED: scenario full-disk: a separate mount is not permitted")
        expect(done.returncode == 1 and words[:1] == ["0a"] and int(words[1]) > 30_000, done.returncode, words, done.stderr.decode()[-200:])


def run_one(name):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        try:
            SCENARIOS[name](Scene(folder, name))
        except Exception as error:  # noqa: BLE001 — a problem of this scenario only
            expect(False, type(error).__name__, error)
        print(f"scenario: {name}: {'FAILED' if problems else 'passed'} after {time.monotonic() - start:.0f} s (seed {SEED})", flush=True)
        for problem in problems:
            print(f"    {problem}", flush=True)
    return bool(problems)


def main():
    names = sys.argv[2:] or list(SCENARIOS)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        sys.exit(f"scenarios: error: {unknown[0]} is none of {', '.join(SCENARIOS)}")
    if len(names) == 1:
        sys.exit(run_one(names[0]))

    def child(name):
        done = subprocess.run([sys.executable, __file__, PROGRAM, name], capture_output=True, text=True)
        print(done.stdout + done.stderr, end="", flush=True)
        return done.returncode != 0

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "4"))) as pool:
        failed = sum(pool.map(child, names))
    print(f"scenarios: {len(names) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
