#!/usr/bin/python3
"""Shows a publisher's relay with a local APNs, two self-hosted servers, and a phone that pairs with both, answers
through the relay, leaves one, and survives a replaced relay key.

Usage: demo.py PUSHCRYPT      pushcrypt-send lies beside it; RelayPhone is of the debug build
"""
import json, os, shutil, subprocess, sys, tempfile, time

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
if not shutil.which("node"):
    sys.exit("demo: the relay runs on Node 20 or later (Debian: nodejs); docs: Docs/SelfHosted.md")
sys.path.insert(0, HERE)
try:
    from phone import Phone, Servers  # noqa: E402
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


def tell(phone, **asked):
    """Shows what the phone is told, and what it answers."""
    answer = phone.tell(**asked)
    print(short(f"phone: {' '.join(asked)}: {json.dumps(answer)}"), flush=True)
    return answer


def prepare(server):
    run(f"pushcrypt --store {server} init; pushcrypt --store {server} key new provider --topic {TOPIC}; pushcrypt --store {server} key new push", shows=False)
    title, body = SERVERS[server].split("|")
    with open(f"{server}.json", "w", encoding="utf-8") as file:
        json.dump({"aps": {"alert": {"title": title, "body": body}, "sound": "default"}}, file)


def push(server, origin, *options):
    words = " ".join(("--emit relay", *options))
    run(f"pushcrypt --store {server} seal --to-all {words} {server}.json |\n    pushcrypt --store {server} send --relay {origin} | tee {server}.answers | cut -c 1-125")
    with open(f"{server}.answers", encoding="utf-8") as file:
        return json.load(file)


def story(place, relay, origin):
    place.mock.taken = []
    for server in SERVERS:
        prepare(server)
    servers = Servers(lambda store, words, body: (0, run(f"pushcrypt --store {store} {words}", input=body, shows=False)))
    phone = Phone(os.path.abspath("phone"), origin, TOKEN, servers)
    say("1. The publisher's relay runs, in front of a local APNs. Two users run servers, each with a provider key and a push key:")
    run("pushcrypt --store home key list | cut -c 1-60")
    say("2. Each server shows a code. The phone scans it, posts a sealed request, gets a grant of the relay, and posts again with it:")
    for number, server in enumerate(SERVERS, 1):
        made = run(f"pushcrypt --store {server} device pair new --url {servers.address}/{server}/pair")
        assert tell(phone, pair=made.strip(), **{"as": server})["status"] == "registered"
        # The pairing, a hello and the record with the grant, and never the token.
        posts = [(store, next(iter(json.loads(body)))) for store, _, body in servers.posts[3 * number - 3 :]]
        assert posts == [(server, what) for what in ("pairing", "hello", "record")], posts
        assert TOKEN not in str(servers.posts)
    say("3. Now both can push:")
    for server in SERVERS:
        assert push(server, origin, "--answerable")["status"] == 200
    say("4. What APNs got: the publisher's words, and nothing to read:")
    pushes = [request.body.decode() for request in place.mock.taken]
    for body in pushes:
        print(short(body))
    assert len(pushes) == 2
    say("5. The user answers one. The phone cannot reach the server, and leaves the answer with the relay; the server takes it:")
    assert tell(phone, push=pushes[1]) == {"title": "Garden", "subtitle": "garden", "body": "It is dry"}
    servers.is_down = True
    assert tell(phone, push=pushes[0], answer="OK")["delivery"] == "leftWithRelay"
    servers.is_down = False
    run(f"pushcrypt --store garden answer fetch --relay {origin}")
    assert '"action":"OK"' in run(f"pushcrypt --store home answer fetch --relay {origin}")
    say("6. The phone leaves the garden. The garden kept its grant, but the relay does not:")
    shutil.copytree("garden", "kept")
    tell(phone, log_out="garden")
    for _ in range(200):
        run(f"pushcrypt --store kept seal --to-all --emit relay garden.json | pushcrypt --store kept send --relay {origin} > gone || true", shows=False)
        with open("gone", encoding="utf-8") as file:
            answer = json.load(file)
        if answer.get("reason") == "grant-revoked" and not run("pushcrypt --store garden device list", shows=False):
            break
        time.sleep(0.05)
    else:
        sys.exit("the phone has not left")
    print(short(json.dumps({name: answer[name] for name in ("status", "reason")})))
    say("7. The publisher replaces the relay key. A week later the phone has renewed its grant, and then the old key may go:")
    assert relay.run("key", os.path.join(relay.folder, "new.key")).returncode == 0
    relay.configure(relay_keys=["new.key", "relay.key"])
    assert relay.restart() and push("home", origin)["status"] == 200
    # Its launch, 8 days later: the phone's own state says how old the grant is.
    phone.end()
    phone.state(change=lambda state: [
        grant.update(issued=grant["issued"] - 8 * 86_400_000) for account in state["accounts"] for grant in account["registration"]["grants"]])
    phone.launch()
    tell(phone, update=["home"])
    relay.configure(relay_keys=["new.key"])
    assert relay.restart() and push("home", origin)["status"] == 200
    phone.end()
    say("8. The relay's log: fingerprints of push keys, and counts:")
    log = relay.logged()
    for line in log.splitlines()[-2:]:
        print(short(line))
    [home] = phone.state()["accounts"]
    grants = [grant["grant"] for grant in home["registration"]["grants"]]
    assert TOKEN not in log + json.dumps(home) and not any(grant in log for grant in grants)


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
