#!/usr/bin/python3
"""A local APNs for the tests of providers: README.md.

    serve.py FOLDER                runs until Control-C; the first line of output is its address
    serve.py FOLDER -- COMMAND     runs COMMAND with the address in APNS_HOST, and ends with its exit code

FOLDER gets the credentials and `accepted`, a line for each message that APNs would have delivered.
"""
import argparse, json, os, random, re, signal, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
try:
    from cryptography.hazmat.primitives import serialization

    from mock import Fault, Mock
    from rules import Device, Rules
except ModuleNotFoundError as error:
    sys.exit(f"apns-mock: error: {sys.executable} has no module {error.name}: on Debian, apt install python3-h2 "
             "python3-jwt python3-cryptography, and use /usr/bin/python3")

KEY, TEAM = "ABC123DEFG", "TEAM123456"
KINDS = ("goaway", "refuse", "reset", "silence", "stuck", "lost", "unread", "late", "slow", "expired")
REASONS = {400: "BadDeviceToken", 403: "InvalidProviderToken", 410: "Unregistered", 413: "PayloadTooLarge",
           429: "TooManyRequests", 500: "InternalServerError", 503: "ServiceUnavailable"}
CREDENTIAL_LIFE = 86_400  # seconds; the certificates are valid for two days


class Misuse(Exception):
    """An argument is wrong."""


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise Misuse(f"{os.path.basename(command[0])}: {done.stderr.strip() or f'exit {done.returncode}'}")


def make_credentials(folder, topics):
    """Writes certificates and keys to the folder, unless it has them since less than a day."""
    os.makedirs(folder, exist_ok=True)
    names = [f"AuthKey_{KEY}.p8", "authority.pem", "service.pem", "service.key", *(f"{topic}.pem" for topic in topics)]
    paths = [os.path.join(folder, name) for name in names]
    if all(os.path.exists(path) and os.path.getmtime(path) > time.time() - CREDENTIAL_LIFE for path in paths):
        return
    run(os.path.join(HERE, "certificates.sh"), *topics, cwd=folder)
    os.replace(os.path.join(folder, "token.p8"), paths[0])
    for path in (paths[0], *paths[4:]):
        os.chmod(path, 0o600)


class Devices(dict):
    """Device tokens: those given, or any in hexadecimal but zeros, which `doctor --send` asks for."""

    def __init__(self, tokens, gone, topics):
        topics = {name for topic in topics for name in (topic, topic + ".voip")}
        super().__init__({token: Device(topics) for token in tokens})
        self.topics = None if tokens else topics
        self.update({token: Device(topics, int(time.time() * 1000)) for token in gone})

    def get(self, token):
        if token not in self and self.topics and re.fullmatch(r"([0-9a-f]{2}){1,100}", token) and token.strip("0"):
            return Device(self.topics)
        return super().get(token)


def fault(text):
    """Parses `goaway@100`, `429@2%` or `400=BadTopic@7`: what happens, and at which request or how often."""
    found = re.fullmatch(r"([a-z]+|[45]\d\d)(?:=(\w+))?@(?:(\d+)|(\d+(?:\.\d+)?)%)", text)
    if not found:
        raise Misuse(f"{text!r} is not a fault: such as goaway@100, 429@2% or 400=BadTopic@7")
    kind, reason, number, share = found.groups()
    if kind.isdigit():
        headers = (("retry-after", "1"),) if kind in ("429", "503") else ()
        made = Fault("answer", int(kind), reason or REASONS.get(int(kind), "Unknown"), headers)
    elif kind in KINDS:
        made = Fault(kind, reason=reason or "")
    else:
        raise Misuse(f"there is no fault called {kind!r}: use {', '.join(KINDS)} or a status")
    return made, number and int(number), share and float(share) / 100


def plan(faults, seed):
    """The fault of a request, by its number or at random."""
    given, chance = [fault(text) for text in faults], random.Random(seed)

    def chosen(number, _):
        return next((one for one, at, share in given if at == number or (share and chance.random() < share)), None)

    return chosen


class Accepted(list):
    """The accepted requests, each also as a line of a file, with the members of `pushcrypt seal --emit request`."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")

    def append(self, request):
        super().append(request)
        headers = dict(request.headers)
        line = {name: headers["apns-" + name.replace("_", "-")] for name in ("topic", "push_type", "collapse_id", "id")
                if "apns-" + name.replace("_", "-") in headers}
        line |= {name: int(headers["apns-" + name]) for name in ("priority", "expiration") if "apns-" + name in headers}
        if "id" in line:
            line["apns_id"] = line.pop("id")
        # The system's name for the request of a push: `pushcrypt open --batch` reads it.
        if "collapse_id" in line:
            line["request_id"] = line["collapse_id"]
        line |= {"token": request.path.rsplit("/", 1)[1], "bytes": len(request.body), "connection": request.connection,
                 "arrived": int(request.arrived * 1000), "payload": json.loads(request.body)}
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")), file=self.file, flush=True)


def serve(folder, topics=("com.example.app",), devices=(), gone=(), faults=(), port=0, streams=1000, seed=1,
          service="service", **more):
    """Returns a `Mock` for a `with` statement: `port`, `taken`, `seen`, `connections` and `faults` say what happened.

    `faults` may also be a function, `service` the name of another certificate, and `more` what else `Mock` takes."""
    make_credentials(folder, topics)

    def path(name):
        return os.path.join(folder, name)

    with open(path(f"AuthKey_{KEY}.p8"), "rb") as file:
        public = serialization.load_pem_private_key(file.read(), None).public_key()
    rules = Rules(Devices(devices, gone, topics), {KEY: (TEAM, public, set(topics))})
    mock = Mock(rules, path(f"{service}.pem"), path(f"{service}.key"), path("authority.pem"),
                faults if callable(faults) else plan(faults, seed), streams, port=port, **more)
    mock.taken = Accepted(path("accepted"))
    return mock


def summary(mock):
    faults = ", ".join(f"{name} {count}" for name, count in sorted(mock.faults.items()))
    return f"apns-mock: {mock.seen} requests, {len(mock.taken)} accepted, {mock.connections} connections" + (
        f"; {faults}" if faults else "")


def wait(command, address):
    """Runs the command, or waits for a signal; returns the exit code."""
    if command:
        return subprocess.run(command, env={**os.environ, "APNS_HOST": address}).returncode
    print(address, flush=True)
    signal.sigwait(ENDS)
    return 0


ENDS = {signal.SIGINT, signal.SIGTERM}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = lambda message: parser.exit(64, f"apns-mock: error: {message}; --help lists the options\n")
    parser.set_defaults(devices=[], gone=[], faults=[])
    add = parser.add_argument
    add("folder", metavar="FOLDER")
    add("--topic", dest="topics", action="append", metavar="TOPIC", help="repeatable; default com.example.app")
    add("--device", dest="devices", action="append", metavar="HEX", help="a valid token; repeatable; default any")
    add("--gone", action="append", metavar="HEX", help="a device token that is answered with 410; repeatable")
    add("--fault", dest="faults", action="append", metavar="WHAT@WHEN",
        help=f"goaway@100: at request 100; 429@2%%: at random; repeatable. WHAT: {', '.join(KINDS)}, or a status, "
             "perhaps with a reason, 400=BadTopic")
    add("--seed", type=int, default=1, help="of what is random; default %(default)s")
    add("--streams", type=int, default=1000, help="at a time on a connection; default %(default)s")
    add("--port", type=int, default=0, help="default a free one")
    arguments, command = sys.argv[1:], []
    if "--" in arguments:
        split = arguments.index("--")
        arguments, command = arguments[:split], arguments[split + 1:]
    options = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    if not command:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # Before there are threads, which would be ended by it.
    try:
        with serve(**options) as mock:
            code = wait(command, f"localhost:{mock.port}")
    except (Misuse, OSError) as error:
        print(f"apns-mock: error: {error}", file=sys.stderr)
        return 64
    print(summary(mock), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
