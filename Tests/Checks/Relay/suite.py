"""What the rules share: the relay and its APNs as the rules see them, and how rules are run."""
import concurrent.futures, json, os, sys, threading, traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Send")]
from client import PushKey, seal_grant  # noqa: E402
from mock import Fault  # noqa: E402

HOUR = 3_600_000
UNAVAILABLE = (503, "relay-unavailable", "relay", "no")
rules = []


def rule(function):
    rules.append(function)
    return function


def slow(function):
    """It takes longer than a second."""
    function.slow = True
    return rule(function)


def alone(function):
    """It breaks the relay's connection to APNs, which other rules use."""
    function.alone = True
    return rule(function)


class Apns:
    """The local APNs: what it got for a token, and what it is to do with the next requests for one."""

    def __init__(self, mock):
        self.mock, self.plans, self.seen = mock, {}, {}
        mock.fault = self.fault

    def fault(self, number, request):
        token = request.path.rsplit("/", 1)[-1]
        self.seen[token] = self.seen.get(token, 0) + 1
        plan = self.plans.get(token, [])
        return plan.pop(0) if plan else None

    def taken(self, token):
        return [request for request in list(self.mock.taken) if request.path == f"/3/device/{token}"]


class World:
    """A relay and its APNs. Of a relay of this project also its relay key."""

    def __init__(self, client, apns, relay_key=None, cuts=True):
        self.client, self.apns, self.relay_key, self.cuts = client, apns, relay_key, cuts

    def phone(self, kinds=("alert",)):
        """A client from an address of its own, a token, a push key and a grant."""
        client, token, key = self.client.fresh(), os.urandom(32).hex(), PushKey()
        return client, token, key, client.grant(token, key, kinds)

    def sealed(self, token, key, origin=None, topic=None, relay_key=None, **more):
        """A grant that the relay did not make, but could have."""
        return seal_grant(relay_key or self.relay_key, origin or self.client.origin, token, self.client.environment, topic or self.client.topic, key.public, **more)


def same(found, wanted, what=""):
    assert found == wanted, f"{what}: {found!r}, and not {wanted!r}"


def refused(answer, status, code, sent="no"):
    same((answer["status"], answer.get("code"), answer["from"], answer["sent"]), (status, code, "relay", sent))


def accepted(answer):
    same((answer["status"], answer["from"]), (200, "apns"), answer)


def misread(body):
    """A good body, and what must not be taken for it."""
    text = json.dumps(body).encode()
    first = next(iter(body))
    yield from (b"", text[:-1], text + text, b"[]", b"null", text + b"x", b"\xef\xbb\xbf" + text, text.replace(b"{", b"{\"\xff\":1,", 1))
    yield b"[" * 60_000
    yield json.dumps(body | {"unknown": 1}).encode()
    yield b'{"__proto__":{},' + text[1:]
    yield text[:-1] + b',"%s":%s}' % (first.encode(), json.dumps(body[first]).encode())


def unsigned(answer):
    same((answer.status, answer.code), (401, "bad-signature"))


class Closing:
    def __init__(self, connection):
        self.connection = connection

    def __enter__(self):
        return self.connection

    def __exit__(self, *_):
        self.connection.close()


def run(world, with_slow=True, names=()):
    """Runs the rules eight at a time; returns what is wrong, and what could not be tried."""
    chosen = [one for one in rules if (with_slow or not hasattr(one, "slow")) and (not names or one.__name__ in names)]
    chosen.sort(key=lambda one: not hasattr(one, "slow"))
    skipped, failures, lock = [], [], threading.Lock()

    def attempt(one):
        try:
            lacking = one(world)
            with lock:
                skipped.extend([f"{one.__name__} ({lacking})"] if lacking else [])
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            place = next((frame.lineno for frame in reversed(frames) if frame.name == one.__name__), 0)
            with lock:
                failures.append(f"{one.__name__}, line {place}: {type(error).__name__}: {str(error)[:500]}")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(attempt, [one for one in chosen if not hasattr(one, "alone")]))
    for one in chosen:
        if hasattr(one, "alone"):
            attempt(one)
    return len(chosen), failures, skipped


def report(name, count, failures, skipped):
    for one in failures:
        print(f"{name}: FAILED: {one}", flush=True)
    print(f"{name}: {count - len(failures) - len(skipped)} rules hold, {len(failures)} do not" + (f", {len(skipped)} not tried: {', '.join(skipped)}" if skipped else ""),
          flush=True)
    return not failures
