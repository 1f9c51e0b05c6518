#!/usr/bin/python3
"""Many messages of several servers through one relay that ends every 450, to an APNs that misbehaves: `make nightly
PART=relay`.

    load.py [MESSAGES]      by default 10,000

A server sends a message again, with the same data and collapse id, until it is answered for good. At the end APNs must have got each message that was
answered 200, no phone may ring twice (by the envelope, as the phone's guard does), each message is answered once, and what was revoked on the way must
be refused to the last.
"""
import json, os, random, shutil, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from client import PushKey, apns_collapse_id, envelope  # noqa: E402
from relay_test import Fault, newer_node  # noqa: E402
from world import Place  # noqa: E402

SERVERS, PHONES, BATCH = 4, 50, 45
KILLS_EVERY = 450
FAULTS = [("refuse", 0.002), ("lost", 0.0005), ("goaway", 0.0005), ("reset", 0.001), ("late", 0.002)]
FINAL = {200, 400, 403, 410}


class Rung(list):
    """What the phones show: an envelope once."""

    def __init__(self):
        self.lock, self.counts, self.copies, self.different = threading.Lock(), {}, 0, 0

    def append(self, request):
        name, data = dict(request.headers)["apns-collapse-id"], hash(json.loads(request.body)["ENCRYPTED_DATA"])
        with self.lock:
            # The guard knows a copy by what is sealed: it must be the same.
            self.copies += name in self.counts
            self.different += self.counts.setdefault(name, data) != data


def fault(seed):
    chance = random.Random(seed)

    def chosen(number, request):
        value = chance.random()
        for kind, share in FAULTS:
            if value < share:
                return Fault(kind)
            value -= share
        return None

    return chosen


def patiently(call, until, attempts=400):
    """Repeats what a dead or busy relay did not answer."""
    for _ in range(attempts):
        try:
            answer = call()
            if until(answer):
                return answer
        except (OSError, ValueError, __import__("http.client").client.HTTPException):
            pass
        time.sleep(0.1)
    raise AssertionError("the relay did not answer")


class Server(threading.Thread):
    def __init__(self, number, client, count):
        super().__init__()
        self.number, self.client, self.left, self.key = number, client, count, PushKey()
        self.answers, self.retries, self.requests, self.failure, self.revoked = {}, 0, 0, None, {}

    def run(self):
        try:
            self.work()
        except Exception as error:
            self.failure = error

    def work(self):
        tokens = [os.urandom(32).hex() for _ in range(PHONES)]
        grants = [patiently(lambda token=token: self.client.grant(token, self.key), bool) for token in tokens]
        chance, made, waiting = random.Random(self.number), 0, []
        revoke_at = self.left // 2
        while made < self.left or waiting:
            if made >= revoke_at and not self.revoked:
                # One phone leaves in the middle; its grant has ended from this answer on.
                patiently(lambda: self.client.revoke(grants[0]), lambda answer: answer.status == 200)
                self.revoked = {"grant": grants[0]}
            while len(waiting) < BATCH and made < self.left:
                waiting.append({"grant": grants[chance.randrange(1, PHONES)], "data": envelope(), "collapse_id": f"{self.number}-{made}"})
                made += 1
            batch, self.requests = waiting[:BATCH], self.requests + 1
            answer = patiently(lambda: self.client.push(self.key, *batch), lambda answer: answer.status == 200)
            waiting = waiting[BATCH:]
            for message, one in zip(batch, answer.json["answers"], strict=True):
                if one["status"] in FINAL:
                    assert message["collapse_id"] not in self.answers, "it was answered twice"
                    self.answers[message["collapse_id"]] = one["status"]
                else:
                    self.retries += 1
                    waiting.append(message)
            if self.revoked and self.requests % 20 == 0:
                one = patiently(lambda: self.client.push(self.key, self.revoked | {"data": envelope(), "collapse_id": "revoked"}), lambda answer: answer.status == 200)
                assert one.json["answers"][0]["code"] == "grant-revoked", one


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    node, high = newer_node() or shutil.which("node"), 10**12
    with Place() as place:
        limits = {name: high for name in ("requests_a_minute", "grants_a_minute", "pushes_a_minute", "pushes_a_day")}
        relay = place.relay(node, limits=limits)
        assert relay.start()
        place.mock.taken, start = Rung(), time.monotonic()
        place.mock.fault = fault(1)
        servers = [Server(number, relay.client(), count // SERVERS) for number in range(SERVERS)]
        for server in servers:
            server.start()
        kills, following, chance = 0, KILLS_EVERY, random.Random(2)
        while any(server.is_alive() for server in servers):
            time.sleep(0.02)
            if (answered := sum(len(server.answers) for server in servers)) >= following:
                assert relay.restart(kill=chance.random() < 0.8), relay.logged()[-500:]
                kills, following = kills + 1, answered + KILLS_EVERY * (0.5 + chance.random())
        seconds = time.monotonic() - start
        relay.stop()
        rung = place.mock.taken
    failures = [f"server {server.number}: {type(server.failure).__name__}: {server.failure}" for server in servers if server.failure]
    answers = {name: status for server in servers for name, status in server.answers.items()}
    known = {apns_collapse_id(server.key, name): name for server in servers for name in [*server.answers, "revoked"]}
    arrived = {known[name] for name in rung.counts}
    lost = [name for name, status in answers.items() if status == 200 and name not in arrived]
    failures += [f"{len(lost)} messages were answered 200 and lost: {lost[:3]}"] if lost else []
    failures += [f"{len(answers)} of {count // SERVERS * SERVERS} messages are answered"] if len(answers) != count // SERVERS * SERVERS else []
    failures += ["a message was refused"] if set(answers.values()) != {200} else []
    failures += [f"{rung.different} messages rang twice"] if rung.different else []
    failures += ["a revoked grant was used"] if "revoked" in arrived else []
    if failures:
        sys.exit("\n".join(f"load: error: {one}" for one in failures))
    print(f"figure: relay-load messages={len(answers)} kills={kills} retries={sum(server.retries for server in servers)} copies={rung.copies} lost=0 "
          f"faults={sum(place.mock.faults.values())} seconds={seconds:.0f}")


if __name__ == "__main__":
    main()
