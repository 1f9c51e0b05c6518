#!/usr/bin/python3
"""`pushcrypt send --relay`, `answer fetch` and `device accept --serve` with this project's relay, partly through a
misbehaving proxy.

    command_test.py PUSHCRYPT [TEST …]      pushcrypt-send lies beside it
"""
import contextlib, http.client, json, os, shutil, socket, subprocess, sys, tempfile, threading, time, types

import h2.config, h2.connection, h2.events

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from answer_tests import *  # noqa: E402, F403
from serve_tests import *  # noqa: E402, F403
from client import Client  # noqa: E402
from world import TOPIC, BehindNginx, BehindOldNginx, Place  # noqa: E402
from send_test import pipe, proxy as connect_proxy  # noqa: E402


class Proxy:
    """Stands where the relay's origin says. It hands requests of HTTP/2 on unless `fault` answers them itself, and HTTP/1.1 as it is."""

    def __init__(self, relay):
        self.relay, self.fault, self.requests = relay, lambda request: None, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, client):
        with client, contextlib.suppress(OSError):
            data = client.recv(65536)
            (self.serve_http2 if data.startswith(b"PRI") else self.pass_on)(client, data)

    def pass_on(self, client, data):
        with socket.create_connection(("127.0.0.1", self.relay.port)) as server:
            server.sendall(data)
            other = threading.Thread(target=pipe, args=(server, client), daemon=True)
            other.start()
            pipe(client, server)
            other.join()

    def serve_http2(self, connection, data):
        own = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        own.initiate_connection()
        requests = {}
        while data:
            for event in own.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    fields = dict(event.headers)
                    headers = {name: value for name, value in fields.items() if not name.startswith(":")}
                    request = types.SimpleNamespace(method=fields[":method"], path=fields[":path"], headers=headers, body=b"")
                    requests[event.stream_id] = request
                elif isinstance(event, h2.events.DataReceived):
                    own.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                    requests[event.stream_id].body += event.data
                elif isinstance(event, h2.events.StreamEnded):
                    status, headers, body = self.answer(requests.pop(event.stream_id))
                    if status is None:
                        return
                    unfit = ("connection", "keep-alive", "transfer-encoding", "date")
                    fields = [(name.lower(), value) for name, value in headers.items() if name.lower() not in unfit]
                    own.send_headers(event.stream_id, [(":status", str(status)), *fields])
                    own.send_data(event.stream_id, body, end_stream=True)
            connection.sendall(own.data_to_send())
            data = connection.recv(65536)

    def answer(self, request):
        """Status, headers and body; without a status, the connection breaks."""
        if request.path in ("/v1/push", "/v1/answers/take"):
            self.requests.append(request)
            if answer := self.fault(request):
                return answer
        return self.ask(request)

    def ask(self, request):
        own = http.client.HTTPConnection("127.0.0.1", self.relay.port, timeout=40)
        own.request(request.method, request.path, request.body, request.headers)
        answer = own.getresponse()
        return answer.status, dict(answer.headers), answer.read()


class World:
    """A server's store, a phone's key, and a relay behind a proxy."""

    def __init__(self, place, relay, proxy, origin):
        self.place, self.relay, self.proxy, self.origin = place, relay, proxy, origin
        self.client, self.token = Client(f"http://127.0.0.1:{relay.port}", origin, TOPIC), os.urandom(32).hex()
        place.mock.taken, proxy.requests, proxy.fault = [], [], lambda request: None
        self.folder = tempfile.mkdtemp(dir=place.folder)
        self.run("init")
        self.run("key", "new", "provider", "--topic", TOPIC)
        self.key = types.SimpleNamespace(text=self.run("key", "new", "push").strip())
        self.phone = self.run("key", "new", "device", "--topic", TOPIC, store="phone", init=True).strip()
        self.grant = self.client.grant(self.token, self.key)

    def run(self, *words, input="", store="server", code=0, init=False):
        path = os.path.join(self.folder, store)
        if init:
            self.run("init", store=store)
        done = subprocess.run([PROGRAM, "--store", path, *words], input=input, capture_output=True, text=True, timeout=100)
        self.messages = done.stderr
        assert done.returncode == code, (words, done.returncode, done.stdout[-500:], done.stderr[-500:])
        return done.stdout

    def lines(self, count=1, grant=None):
        messages = "".join(json.dumps({"to": self.phone, "id": f"m{n}", "grant": grant or self.grant, "payload": {"aps": {"alert": f"{n}"}}}) + "\n" for n in range(count))
        return self.run("seal", "--batch", "--emit", "relay", input=messages)

    def send(self, lines, *options, code=0):
        out = self.run("send", "--relay", self.origin, *options, input=lines, code=code)
        return [json.loads(line) for line in out.splitlines()]


def test_what_may_have_arrived_is_sent_again_as_it_is(world):
    def fault(request):
        if len(world.proxy.requests) > 1:
            return None
        assert world.proxy.ask(request)[0] == 200
        return None, {}, b""

    world.proxy.fault = fault
    # The setting names the relay, too.
    world.run("config", "relay", world.origin)
    answer = json.loads(world.run("send", input=world.lines()))
    first, second = world.proxy.requests
    assert answer["status"] == 200 and first.body == second.body and first.headers["pushcrypt-signature"] != second.headers["pushcrypt-signature"]
    ids = [dict(request.headers)["apns-collapse-id"] for request in world.place.mock.taken]
    assert len(ids) == 2 and ids[0] == ids[1], ids


def test_no_redirect_is_followed(world):
    found = []
    other = Proxy(world.relay)
    other.fault = lambda request: found.append(request)
    world.proxy.fault = lambda request: (307, {"Location": f"http://127.0.0.1:{other.port}/v1/push"}, b"")
    [answer] = world.send(world.lines(), "--retry-for", "3s", code=1)
    assert answer["error"]["code"] == "apns-busy" and answer["status"] == 307 and not found, answer


def test_a_relay_behind_nginx_is_who_it_says(world):
    place = world.place
    relay = place.relay(shutil.which("node"), BehindNginx)
    relay.configure(origin=f"https://localhost:{relay.outer}")
    with relay:
        own = World(place, relay, world.proxy, f"https://localhost:{relay.outer}")
        [answer] = own.send(own.lines(), "--retry-for", "2s", code=1)
        assert answer["error"]["code"] == "unreachable" and not place.mock.taken, answer
        with connect_proxy() as (url, asked):
            for proxy in ("", url):
                os.environ["https_proxy"] = proxy
                answers = own.send(own.lines(30), "--ca-file", relay.authority)
                assert [answer["status"] for answer in answers] == [200] * 30, answers
        del os.environ["https_proxy"]
        assert set(asked) == {f"localhost:{relay.outer}"} and len(place.mock.taken) == 60, asked


def test_an_nginx_without_http2_is_named_and_tried_again(world):
    place = world.place
    relay = place.relay(shutil.which("node"), BehindOldNginx)
    relay.configure(origin=f"https://localhost:{relay.outer}")
    with relay:
        own, start = World(place, relay, world.proxy, f"https://localhost:{relay.outer}"), time.monotonic()
        [answer] = own.send(own.lines(), "--ca-file", relay.authority, "--retry-for", "6s", code=1)
        error = answer["error"]
        assert error["code"] == "unreachable" and answer["retry"] is True and "listen 443 ssl http2" in error["message"], answer
        assert time.monotonic() - start >= 6 and not place.mock.taken


def main():
    names = sys.argv[2:] or [name for name in globals() if name.startswith("test_")]
    with Place() as place:
        relay = place.relay(shutil.which("node"), limits={"requests_a_minute": 10_000, "grants_a_minute": 10_000, "pushes_a_minute": 80})
        proxy = Proxy(relay)
        origin = f"http://127.0.0.1:{proxy.port}"
        relay.configure(origin=origin)
        failed = []
        with relay:
            for name in names:
                try:
                    globals()[name](World(place, relay, proxy, origin))
                except Exception as error:
                    failed.append(name)
                    print(f"FAILED {name}: {type(error).__name__}: {error}")
        print(f"command and relay: {len(names) - len(failed)} of {len(names)} tests passed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
