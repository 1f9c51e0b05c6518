"""`pushcrypt answer fetch`: command_test.py runs these."""
import json, os, subprocess, sys, time

from client import SECRETS


class Answering:
    """A message that the phone answers, and the answer that it leaves with the relay."""

    def __init__(self, world):
        self.world = world
        world.run("device", "add", "phone1", "--user", "alice", input=json.dumps(json.loads(world.run("key", "show", "--json", store="phone")) | {"grant": world.grant}))
        world.run("provider", "pin", input=world.run("key", "show"), store="phone")

    def sealed(self, name, action="OK"):
        line = self.world.run("seal", "--to", "phone1", "--id", name, "--answerable", input='{"aps":{"alert":"x","category":"C"}}')
        return self.world.run("open", "--answer", action, input=line, store="phone").strip()

    def leave(self, text):
        answer = self.world.client.post("/v1/answers", {"grant": self.world.grant, "secret": SECRETS[self.world.grant], "answer": text})
        assert answer.status == 200, answer

    def fetch(self, *options, code=0):
        return [json.loads(line) for line in self.world.run("answer", "fetch", "--relay", self.world.origin, *options, code=code).splitlines()]


def test_answers_come_back_through_the_relay(world):
    phone = Answering(world)
    assert phone.fetch() == []
    for name in ("a", "b"):
        phone.leave(phone.sealed(name))
    found = phone.fetch("--within", "10m")
    assert [(one["device"], one["user"], one["action"]) for one in found] == [("phone1", "alice", "OK")] * 2 and "repeated" not in found[0], found
    assert phone.fetch() == []
    # The setting names the relay, too.
    world.run("config", "relay", world.origin)
    phone.leave(phone.sealed("c", "NO"))
    assert json.loads(world.run("answer", "fetch"))["action"] == "NO"
    # What does not open is acknowledged: it never will.
    phone.leave("A" * 300)
    assert phone.fetch(code=65) == [] and "does not open" in world.messages
    assert phone.fetch() == []


def test_an_answer_is_written_before_it_is_acknowledged(world):
    phone = Answering(world)
    phone.leave(phone.sealed("a"))

    def fault(request):
        return (None, {}, b"") if json.loads(request.body)["done"] else None

    world.proxy.fault = fault
    [first] = phone.fetch(code=1)
    assert "repeated" not in first, first
    world.proxy.fault = lambda request: None
    [again] = phone.fetch()
    assert again == first | {"repeated": True}, again
    assert phone.fetch() == []
    # Nor is one that could not be written.
    phone.leave(phone.sealed("b"))
    with open("/dev/full", "w") as full:
        words = [os.path.abspath(sys.argv[1]), "--store", os.path.join(world.folder, "server"), "answer", "fetch", "--relay", world.origin]
        assert subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=60).returncode == 1
    [late] = phone.fetch()
    assert late["repeated"], late


def test_answers_are_followed_through_a_restart_of_the_relay_and_a_wrong_clock(world):
    phone, now = Answering(world), time.time_ns() // 1_000_000
    words = [os.path.abspath(sys.argv[1]), "--store", os.path.join(world.folder, "server"), "answer", "fetch", "--follow", "--json", "--relay", world.origin]
    ahead = json.dumps({"code": "clock", "now": now + 3_000_000}).encode()
    world.proxy.fault = lambda request: (401, {}, ahead) if len(world.proxy.requests) == 1 else None
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
        while len(world.proxy.requests) < 2 and following.poll() is None:
            time.sleep(0.05)
        assert int(world.proxy.requests[1].headers["pushcrypt-time"]) > now + 2_000_000
        world.proxy.fault = lambda request: None
        phone.leave(phone.sealed("a"))
        assert json.loads(following.stdout.readline())["action"] == "OK"
        assert world.relay.restart()
        phone.leave(phone.sealed("b", "NO"))
        assert json.loads(following.stdout.readline())["action"] == "NO"
        following.terminate()
