#!/usr/bin/python3
"""Shows a publisher's relay with a local APNs, two self-hosted servers, and a phone that pairs with both and leaves one.

Usage: demo.py PUSHCRYPT      pushcrypt-send lies beside it
"""
import json, os, shutil, subprocess, sys, tempfile

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
for needed, package in (("node", "Node 20 or later (Debian: nodejs)"),):
    if not shutil.which(needed):
        sys.exit(f"demo: the relay runs on {package}, which is not installed; docs: Docs/SelfHosted.md")
sys.path[:0] = [HERE, os.path.join(ROOT, "Tests/Data/Vectors")]
try:
    from client import Client, decode, encode  # noqa: E402
    from reference import pairing  # noqa: E402
    from world import TOPIC, Place  # noqa: E402
except ImportError as error:
    sys.exit(f"demo: the local APNs needs python3-h2, python3-jwt and python3-cryptography ({error}): make setup PART=interop")

TOKEN = os.urandom(32).hex()
SERVERS = {"home": "Front door|Somebody rings", "garden": "Garden|It is dry"}


def say(text):
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def short(text, most=170):
    return text if len(text) <= most else f"{text[:most - 50]} … {text[-40:]}"


def run(words, code=0, input=None, shows=True):
    """Shows a command and what it writes; returns its output."""
    if shows:
        print(f"\033[36m$ {words}\033[0m" if sys.stdout.isatty() else f"$ {words}", flush=True)
    done = subprocess.run(["bash", "-c", f'set -o pipefail; pushcrypt() {{ "{PROGRAM}" "$@"; }}; {words}'], capture_output=True, text=True, input=input)
    if shows:
        for line in (done.stdout + done.stderr).splitlines():
            print(short(line), flush=True)
    if done.returncode != code:
        sys.exit(f"the demonstration expected exit {code} here, not {done.returncode}: {done.stderr}")
    return done.stdout


class Phone:
    """An app on a phone with an account for each server: it scans codes, and has one store of keys."""

    def __init__(self, relay):
        self.relay, self.grants = relay, {}
        run("pushcrypt --store phone init", shows=False)

    def record(self, account):
        return json.loads(run(f"pushcrypt --store phone key show {account} --json", shows=False)) | {"device": f"{account}-phone"}

    def pair(self, account, code, accept):
        """Scans a code, posts the sealed request, and pins the provider key of the reply, which must be the code's."""
        run(f"pushcrypt --store phone key new device --name {account} --topic {TOPIC}", shows=False)
        head, url = code.split("&", 1)
        data = decode(head.removeprefix("pushcrypt:1?"))
        self.secret, where = data[1:17], b"".join(len(text).to_bytes(2, "big") + text.encode() for text in (url, TOPIC)) + data[17:]

        def ask(record):
            request = pairing.seal_request(self.secret, os.urandom(16), where, json.dumps(record).encode())
            return json.loads(pairing.open_reply(self.secret, where, request, decode(accept(encode(request), "grant" not in record).strip())))

        reply = ask(self.record(account))
        run(f"pushcrypt --store phone provider pin - --account {account}", input=reply["provider"], shows=False)
        # The relay knows the phone's token, and the server never does.
        self.grants[account] = self.relay.grant(TOKEN, type("Key", (), {"text": reply["push_key"]}))
        ask(self.record(account) | {"grant": self.grants[account]})

    def leave(self, account):
        assert self.relay.revoke(TOKEN, self.grants[account]).status == 200


def prepare(server):
    run(f"pushcrypt --store {server} init; pushcrypt --store {server} key new provider --topic {TOPIC}; pushcrypt --store {server} key new push", shows=False)
    title, body = SERVERS[server].split("|")
    with open(f"{server}.json", "w", encoding="utf-8") as file:
        json.dump({"aps": {"alert": {"title": title, "body": body}, "sound": "default"}}, file)


def push(server, origin, *options):
    words = " ".join(("--emit relay", *options))
    run(f"pushcrypt --store {server} seal --to {server}-phone {words} {server}.json |\n    pushcrypt --store {server} send --relay {origin} | tee {server}.answers | cut -c 1-125")
    with open(f"{server}.answers", encoding="utf-8") as file:
        return json.load(file)


def story(place, relay, origin):
    place.mock.taken = []
    for server in SERVERS:
        prepare(server)
    phone = Phone(Client(origin, origin, TOPIC))
    say("1. The publisher's relay runs, in front of a local APNs. Two users run servers, each with a provider key and a push key:")
    run("pushcrypt --store home key list | cut -c 1-60")
    say("2. Each server shows a code; the phone scans it, and posts a sealed request, which the server answers:")
    for server in SERVERS:
        made = run(f"pushcrypt --store {server} device pair new --url https://{server}.example.net/pair")
        phone.pair(server, made.strip(), lambda request, shows, server=server: run(f"pushcrypt --store {server} device pair accept", input=request + "\n", shows=shows))
    say("3. The phone got a grant of the relay for each push key, and has put it into its records. Now both can push:")
    for server in SERVERS:
        assert push(server, origin, "--answerable")["status"] == 200
    say("4. What APNs got: the publisher's words, and nothing to read:")
    for number, request in enumerate(place.mock.taken):
        print(short(request.body.decode()))
        with open(f"push{number}.json", "wb") as file:
            file.write(request.body)
    assert len(place.mock.taken) == 2
    say("5. What the phone shows:")
    for number in range(2):
        run(f"pushcrypt --store phone open --no-guard push{number}.json")
    say("6. The user answers one. The app may send the answer over any channel: only that server opens it.")
    answered = run("pushcrypt --store phone open --no-guard --answer OK push0.json | tee answer | cut -c 1-60; pushcrypt --store home answer open answer")
    assert '"action":"OK"' in answered
    run("pushcrypt --store garden answer open answer", 65)
    say("7. The phone leaves the garden, and revokes its grant at the relay. That server's pushes have ended; the other's go on:")
    phone.leave("garden")
    run(f"pushcrypt --store garden seal --to garden-phone --emit relay garden.json |\n    pushcrypt --store garden send --relay {origin} > gone; cut -c 1-100 gone", 0)
    with open("gone", encoding="utf-8") as file:
        assert json.load(file)["reason"] == "grant-revoked"
    run("pushcrypt --store garden device remove --from-apns-410 gone")
    assert push("home", origin)["status"] == 200
    say("8. The relay's log: fingerprints of push keys, and counts:")
    log = relay.logged()
    for line in log.splitlines()[-2:]:
        print(short(line))
    assert not any(secret in log for secret in [TOKEN, *phone.grants.values()])


def main():
    with Place() as place, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        relay = place.relay(shutil.which("node"))
        origin = f"http://127.0.0.1:{relay.port}"
        relay.configure(origin=origin)
        with relay:
            story(place, relay, origin)
        os.chdir("/")


if __name__ == "__main__":
    main()
