#!/usr/bin/python3
"""`pushcrypt send --relay`, and the library's phone, against this project's relay; some of it through a proxy that misbehaves.

    command_test.py PUSHCRYPT [TEST …]      pushcrypt-send lies beside it
"""
import concurrent.futures, contextlib, http.client, json, os, shutil, socket, ssl, subprocess, sys, tempfile, threading, time, types

import h2.config, h2.connection, h2.events

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from answer_tests import *  # noqa: E402, F403
from serve_tests import *  # noqa: E402, F403
from client import Client, decode  # noqa: E402
from phone import Phone, Servers  # noqa: E402
from world import TOPIC, BehindNginx, BehindOldNginx, Place  # noqa: E402
from send_test import pipe, proxy as connect_proxy  # noqa: E402


class Proxy:
    """Stands where the relay's origin says. It hands requests of HTTP/2 on unless `fault` answers them itself, and HTTP/1.1 as it is."""

    def __init__(self, relay, credentials=None):
        self.relay, self.fault, self.requests, self.tls = relay, lambda request: None, [], None
        if credentials:
            self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self.tls.load_cert_chain(os.path.join(credentials, "service.pem"), os.path.join(credentials, "service.key"))
            self.tls.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, client):
        with client, contextlib.suppress(OSError):
            connection = self.tls.wrap_socket(client, server_side=True) if self.tls else client
            data = connection.recv(65536)
            (self.serve_http2 if data.startswith(b"PRI") else self.pass_on)(connection, data)

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


def test_many_messages_go_in_requests_of_45(world):
    answers = world.send(world.lines(100), "--in-order")
    assert [answer["id"] for answer in answers] == [f"m{n}" for n in range(100)]
    sizes = sorted(len(json.loads(request.body)["messages"]) for request in world.proxy.requests)
    # A grant has 60 a minute.
    assert max(sizes) <= 45 and len(world.place.mock.taken) >= 60, sizes


def test_a_revoked_grant_is_refused_and_forgotten(world):
    record = json.loads(world.run("key", "show", "--json", store="phone")) | {"grant": world.grant}
    world.run("device", "add", "phone1", input=json.dumps(record))
    assert world.client.revoke(world.grant).status == 200
    lines = world.run("seal", "--to", "phone1", "--emit", "relay", input='{"aps":{"alert":"x"}}')
    [answer] = world.send(lines, code=65)
    assert (answer["status"], answer["reason"], answer["grant"]) == (410, "grant-revoked", world.grant), answer
    world.run("device", "remove", "--from-apns-410", input=json.dumps(answer))
    device = json.loads(world.run("device", "show", "phone1", "--json"))
    assert "grant" not in device and device["device"] == "phone1", device
    [answer] = world.send(world.run("seal", "--to", "phone1", "--emit", "relay", input='{"aps":{"alert":"x"}}'), code=65)
    assert answer["error"]["code"] == "malformed-line" and "no grant" in answer["error"]["message"], answer


def test_what_may_have_arrived_is_sent_again_as_it_is(world):
    def fault(request):
        if len(world.proxy.requests) > 1:
            return None
        assert world.proxy.ask(request)[0] == 200
        return None, {}, b""

    world.proxy.fault = fault
    [answer] = world.send(world.lines())
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


def test_another_origin_is_noticed(world):
    text = world.origin.replace("127.0.0.1", "localhost")
    answer = json.loads(world.run("send", "--relay", text, "--retry-for", "2s", input=world.lines(), code=1))
    assert (answer["error"]["code"], answer["status"], answer["reason"]) == ("login-refused", 401, "bad-signature"), answer


def test_a_relay_over_tls_is_who_it_says(world):
    place = world.place
    relay = place.relay(shutil.which("node"))
    proxy = Proxy(relay, place.apns)
    relay.configure(origin=f"https://localhost:{proxy.port}")
    with relay:
        own = World(place, relay, proxy, f"https://localhost:{proxy.port}")
        out = own.run("send", "--relay", own.origin, "--retry-for", "2s", input=own.lines(), code=1)
        assert json.loads(out)["error"]["code"] == "unreachable" and not proxy.requests, out
        authority = os.path.join(place.apns, "authority.pem")
        [answer] = own.send(own.lines(), "--ca-file", authority)
        assert answer["status"] == 200, answer
        with connect_proxy() as (url, asked):
            [answer] = own.send(own.lines(), "--ca-file", authority, "--proxy", url)
        assert answer["status"] == 200 and set(asked) == {f"localhost:{proxy.port}"}, (answer, asked)


def test_http1_and_http2_at_one_port(world):
    place = world.place
    relay = place.relay(shutil.which("node"))
    relay.configure(origin=f"http://127.0.0.1:{relay.port}")
    with relay, concurrent.futures.ThreadPoolExecutor(1) as pool:
        own = World(place, relay, world.proxy, f"http://127.0.0.1:{relay.port}")
        sending = pool.submit(own.send, own.lines(60))
        asked = 0
        while not sending.done() or not asked:
            assert own.client.send("GET", "/v1/relay").status == 200
            asked += 1
        assert [answer["status"] for answer in sending.result()] == [200] * 60 and len(place.mock.taken) == 60


def test_a_relay_behind_nginx(world):
    place = world.place
    relay = place.relay(shutil.which("node"), BehindNginx)
    relay.configure(origin=f"https://localhost:{relay.outer}")
    with relay:
        own = World(place, relay, world.proxy, f"https://localhost:{relay.outer}")
        answers = own.send(own.lines(60), "--ca-file", relay.authority)
        assert [answer["status"] for answer in answers] == [200] * 60 and len(place.mock.taken) == 60, answers


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


def test_the_setting_names_the_relay(world):
    world.run("config", "relay", world.origin)
    [answer] = [json.loads(line) for line in world.run("send", input=world.lines()).splitlines()]
    assert answer["status"] == 200, answer


# The phone: the library's own half, as RelayPhone


class Home:
    """Two self-hosted servers and a phone of the library."""

    def __init__(self, world):
        self.world, self.servers = world, Servers(lambda store, words, body: self.command(store, words.split(), body))
        for store in ("home", "garden"):
            for words in (["init"], ["key", "new", "provider", "--topic", TOPIC], ["key", "new", "push"]):
                assert self.command(store, words)[0] == 0
        self.folder = os.path.join(world.folder, "phone-app")
        self.phone = Phone(self.folder, world.origin, world.token, self.servers)

    def command(self, store, words, body=""):
        path = os.path.join(self.world.folder, store)
        done = subprocess.run([PROGRAM, "--store", path, *words], input=body, capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout

    def pair(self, store):
        code = self.command(store, ["device", "pair", "new", "--url", f"{self.servers.address}/{store}/pair"])[1].strip()
        return self.phone.tell(pair=code, **{"as": store})

    def grant(self, store):
        [device] = [json.loads(line) for line in self.command(store, ["device", "list", "--json"])[1].splitlines()]
        return json.loads(self.command(store, ["device", "show", device["device"], "--json"])[1])["grant"]

    def push(self, store, text):
        """What the phone shows; or the relay's answer, if APNs got nothing."""
        payload = json.dumps({"aps": {"alert": {"title": store, "body": text}}})
        lines = self.command(store, ["seal", "--to-all", "--emit", "relay"], payload)[1]
        before = len(self.world.place.mock.taken)
        answer = json.loads(self.command(store, ["send", "--relay", self.world.origin], lines)[1])
        taken = self.world.place.mock.taken[before:]
        return self.phone.tell(push=taken[0].body.decode()) if taken else answer


def ended(world, grant):
    """Whether the relay has ended this grant by itself."""
    with open(os.path.join(world.relay.folder, "ended"), encoding="utf-8") as file:
        return f"g{decode(grant)[5:21].hex()} " in file.read()


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_phone_pairs_and_shows_what_both_servers_send(world):
    home = Home(world)
    for store in ("home", "garden"):
        paired = home.pair(store)
        assert (paired["host"], paired["status"]) == ("127.0.0.1", "registered"), paired
        assert home.push(store, "Hello") == {"title": store, "subtitle": store, "body": "Hello"}
    # The token went to the relay alone.
    assert not any(world.token in body for _, _, body in home.servers.posts)
    assert world.token not in json.dumps(home.phone.state())
    # The pairing, a hello and the record with the grant for each code, and nothing since.
    posts = [(store, next(iter(json.loads(body)))) for store, _, body in home.servers.posts]
    assert posts == [(store, what) for store in ("home", "garden") for what in ("pairing", "hello", "record")], posts
    assert home.phone.tell(update=["home", "garden"]) == {"home": "nothing", "garden": "nothing"}
    home.phone.end()


def test_a_code_pairs_with_one_phone(world):
    home = Home(world)
    code = home.command("home", ["device", "pair", "new", "--url", f"{home.servers.address}/home/pair"])[1].strip()
    assert home.phone.tell(pair=code)["status"] == "registered"
    other = Phone(os.path.join(world.folder, "other"), world.origin, os.urandom(32).hex(), home.servers)
    assert "pairing-used" in other.tell(pair=code)["outcome"]
    assert "unknown-pairing" in other.tell(pair=code.replace("/home/", "/garden/"))["outcome"]
    for phone in (home.phone, other):
        phone.end()


def test_a_phone_renews_its_grant_and_leaves(world):
    home = Home(world)
    for store in ("home", "garden"):
        assert home.pair(store)["status"] == "registered"
    first = home.grant("home")
    # A launch, 8 days later: the phone's own state says how old the grant is.
    home.phone.end()
    home.phone.state(change=lambda state: [
        grant.update(issued=grant["issued"] - 8 * 86_400_000)
        for account in state["accounts"] for grant in account["registration"]["grants"]])
    home.phone.launch()
    assert home.phone.tell(update=["home", "garden"])["home"] == "register(grant-changed); acknowledged"
    second = home.grant("home")
    assert first != second and home.push("home", "Again")["body"] == "Again"
    assert home.phone.tell(log_out="home") == {}
    wait_until(lambda: home.command("home", ["device", "list"])[1] == "")
    # What the server has kept, and what it had before, has ended, and the other server's has not.
    for grant in (first, second):
        wait_until(lambda: ended(world, grant))
    assert home.push("garden", "Still")["body"] == "Still"
    home.phone.end()


def test_a_new_installation_ends_what_it_finds(world):
    home = Home(world)
    assert home.pair("home")["status"] == "registered"
    old = home.grant("home")
    home.phone.end()
    shutil.rmtree(home.folder)
    again = Phone(home.folder, world.origin, world.token, home.servers)
    home.phone = again
    assert home.pair("garden")["status"] == "registered"
    assert home.push("garden", "New")["body"] == "New" and not ended(world, old)
    assert home.push("home", "Old")["reason"] == "grant-revoked"
    again.end()


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
        print(f"send --relay and phone: {len(names) - len(failed)} of {len(names)} tests passed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
