"""Rules that need the files and the process of this project's relay on Node."""
import concurrent.futures, contextlib, json, os, re, socket, struct, subprocess, time, urllib.request

from client import PushKey, decode, envelope, key_header, seal_grant
from http2 import HTTP2, PREFACE, beginning, headers_frame
from suite import Fault, accepted, refused, same
from world import ORIGIN, TOPIC, free_port

rules, slow_rules = [], []


def rule(function):
    rules.append(function)
    return function


def slow(function):
    slow_rules.append(function)
    return function


def push(relay, key, grant):
    return relay.client().one(key, {"grant": grant, "data": envelope()})


def granted(relay):
    token, key = os.urandom(32).hex(), PushKey()
    return token, key, relay.client().grant(token, key)


def store(relay):
    return os.path.join(relay.folder, "ended")


@rule
def restarts_keep_revocations(place, node):
    with place.relay(node) as relay:
        for kill in (False, True):
            (token, key, one), (other_token, other, _) = granted(relay), granted(relay)
            all_of_it = [relay.client().grant(other_token, other) for _ in range(2)]
            kept = relay.client().grant(token, key)
            same((relay.client().revoke(one).status, relay.client().revoke(all_of_it[1], all=True).status), (200, 200))
            same(relay.restart(kill), True)
            for grant, own in [(one, key), *((grant, other) for grant in all_of_it)]:
                refused(push(relay, own, grant), 410, "grant-revoked")
            accepted(push(relay, key, kept))


@slow
def a_second_relay_waits_for_the_first_to_end(place, node):
    with place.relay(node) as one:
        token, key, grant = granted(one)
        before, other = one.process, place.relay(node)
        other.configure(store=store(one), relay_keys=[os.path.join(one.folder, "relay.key")])
        same((other.start(), other.process.returncode, "another relay uses" in other.logged()), (False, 64, True))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            starting = pool.submit(other.start)
            time.sleep(1)
            same(one.client().revoke(grant).status, 200)
            same(one.stop(), 0)
            same(starting.result(), True)
        refused(push(other, key, grant), 410, "grant-revoked")
        other.stop()
        same(before.returncode, 0)


@rule
def a_lost_or_damaged_store_does_not_start(place, node):
    relay = place.relay(node)
    with open(store(relay)) as file:
        header = file.read()
    row = "g%s 9000000000000\n" % ("0a" * 16)
    for text, starts in ((header, True), (header + row, True), (header + row + row[:20], True), (header + row[:20] + row + row, True), ("", False), (header[:-3], False),
                         ("\0" * 100, False), (header + row[5:] + row, False), (header + "\0" * 50 + "\n", False), (None, False)):
        os.path.exists(store(relay)) and os.remove(store(relay))
        if text is not None:
            with open(store(relay), "w") as file:
                file.write(text)
        same(relay.start(), starts, text)
        same((relay.stop(), starts), (0 if starts else relay.process.returncode, starts), text)
        same(relay.process.returncode != 0, not starts, text)


@rule
def a_cut_last_line_loses_nothing_that_was_answered(place, node):
    relay = place.relay(node)
    with open(store(relay), "a") as file:
        file.write("g0a0a")
    with relay:
        for _ in range(2):
            token, key, grant = granted(relay)
            same(relay.client().revoke(grant).status, 200)
            refused(push(relay, key, grant), 410, "grant-revoked")
            same(relay.restart(kill=True), True)
            refused(push(relay, key, grant), 410, "grant-revoked")


@rule
def a_full_store_refuses_until_there_is_room(place, node):
    relay = place.relay(node)
    # A line fits, and half of the next.
    room = os.path.getsize(store(relay)) + 70
    same(relay.start(["prlimit", f"--fsize={room}:unlimited", "sh", "-c", 'exec "$@" 2>/dev/null', "-"]), True)
    with contextlib.ExitStack() as stack:
        stack.callback(relay.stop, kill=True)
        token, key, grant = granted(relay)
        other = relay.client().grant(token, key)
        first = relay.client().grant(token, key)
        same(relay.client().revoke(first).status, 200)
        answer = relay.client().revoke(grant)
        same((answer.status, answer.code, int(answer.headers["Retry-After"]) > 0), (503, "relay-unavailable", True))
        same(relay.client().revoke(other, all=True).status, 503)
        # What could not be revoked is not issued. What was granted still works.
        answer = relay.client().post("/v1/grants", relay.client().phone(token, push_key=key.text, kinds=["alert"]))
        same((answer.status, answer.code), (503, "relay-unavailable"))
        accepted(push(relay, key, other))
        refused(push(relay, key, first), 410, "grant-revoked")
        subprocess.run(["prlimit", f"--pid={relay.process.pid}", "--fsize=unlimited:unlimited"], check=True)
        last = relay.client().grant(token, key)
        same(relay.client().revoke(grant).status, 200)
        same(relay.restart(), True)
        for ended in (grant, first):
            refused(push(relay, key, ended), 410, "grant-revoked")
        accepted(push(relay, key, last))


@rule
def a_store_that_is_removed_or_replaced_takes_no_revocations(place, node):
    with place.relay(node) as relay:
        token, key, grant = granted(relay)
        same(relay.client().revoke(grant).status, 200)
        with open(store(relay)) as file:
            text = file.read()
        os.remove(store(relay))
        for _ in range(2):
            same(relay.client().revoke(grant, all=True).status, 503)
            same(relay.client().post("/v1/grants", relay.client().phone(token, push_key=key.text, kinds=["alert"])).status, 503)
            refused(push(relay, key, grant), 410, "grant-revoked")
            with open(store(relay), "w") as file:
                file.write(text)
        same(relay.restart(), True)
        same(relay.client().revoke(grant, all=True).status, 200)


@rule
def secrets_as_kubernetes_mounts_them_are_read_and_a_warning_says_who_can_read_them(place, node):
    relay = place.relay(node)
    for name in os.listdir(relay.folder):
        same(os.stat(os.path.join(relay.folder, name)).st_mode & 0o077 == 0 or name == "authority.pem", True, name)
    secrets = ["relay.key", next(name for name in os.listdir(relay.folder) if name.endswith(".p8"))]
    # A link to a file of a folder that is replaced as a whole.
    os.mkdir(os.path.join(relay.folder, "..1"))
    os.symlink("..1", os.path.join(relay.folder, "..data"))
    for name in secrets:
        os.rename(os.path.join(relay.folder, name), os.path.join(relay.folder, "..1", name))
        os.symlink(os.path.join("..data", name), os.path.join(relay.folder, name))
    same((relay.start(), relay.stop()), (True, 0))
    for mode, warnings in ((0o400, 0), (0o440, 0), (0o640, 0), (0o644, 2)):
        for name in secrets:
            os.chmod(os.path.join(relay.folder, name), mode)
        before = len(relay.logged())
        same((relay.start(), relay.stop()), (True, 0), oct(mode))
        same(relay.logged()[before:].count("can read"), warnings, oct(mode))


@rule
def what_is_no_key_of_apples_does_not_start(place, node):
    relay = place.relay(node)
    p8 = os.path.join(relay.folder, next(name for name in os.listdir(relay.folder) if name.endswith(".p8")))
    with open(p8, "rb") as file:
        good = file.read()
    curve = subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], capture_output=True, check=True).stdout
    public = subprocess.run(["openssl", "ec", "-pubout"], input=good, capture_output=True, check=True).stdout
    for text in (b"", b"c2VjcmV0LXdvcmQ=", good[:100], curve, public, b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXdvcmQ=\n-----END PRIVATE KEY-----"):
        with open(p8, "wb") as file:
            file.write(text)
        same((relay.start(), relay.stop()), (False, 64), text)
    same(("secret" in relay.logged(), "c2Vj" in relay.logged(), relay.logged().count("no key of Apple's")), (False, False, 6))
    with open(p8, "wb") as file:
        file.write(good)
    same((relay.start(), relay.stop()), (True, 0))


@rule
def metrics_are_told_on_this_machine_and_health_to_all(place, node):
    port = free_port()
    with place.relay(node, listen_metrics=f"127.0.0.1:{port}") as relay:
        token, key, grant = granted(relay)
        accepted(push(relay, key, grant))
        same((relay.client().send("GET", "/health").status, relay.client().send("GET", "/metrics").status), (200, 404))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        same('pushcrypt_relay_answers_total{status="200",reason=""} 1' in lines, True, lines)
        same([line for line in lines if line.startswith(("pushcrypt_relay_rows ", "pushcrypt_relay_queue "))], ["pushcrypt_relay_rows 0", "pushcrypt_relay_queue 0"])
        same(relay.logged().count("/health"), 0)


@rule
def init_replaces_nothing(place, node):
    relay = place.relay(node)
    p8 = next(name for name in os.listdir(relay.folder) if name.endswith(".p8"))
    before = open(os.path.join(relay.folder, "relay.key")).read()
    made = relay.run("init", relay.folder, ORIGIN, TOPIC, "TEAM123456", os.path.join(relay.folder, p8))
    same((made.returncode != 0, open(os.path.join(relay.folder, "relay.key")).read()), (True, before))
    same(relay.run("key", os.path.join(relay.folder, "relay.key")).returncode != 0, True)
    for wrong in ((ORIGIN + "/", TOPIC), ("HTTPS://A", TOPIC), ("relay", TOPIC), (ORIGIN, "a b")):
        same(relay.run("init", relay.folder + "x", *wrong, "TEAM123456", os.path.join(relay.folder, p8)).returncode, 64, wrong)


@rule
def a_wrong_configuration_does_not_start(place, node):
    relay = place.relay(node)
    with open(os.path.join(relay.folder, "relay.json")) as file:
        good = json.load(file)
    app = good["apps"][TOPIC]

    def starts(**members):
        with open(os.path.join(relay.folder, "relay.json"), "w") as file:
            json.dump(good | members, file)
        started = relay.start()
        relay.stop()
        return started

    def of_app(**members):
        return starts(apps={TOPIC: app | members})

    # {"aps":{"mutable-content":1,"alert":{"title":"…"},"sound":"default","content-available":1},"ENCRYPTED_DATA":""}
    longest = 270 - len('{"aps":{"mutable-content":1,"alert":{"title":""},"sound":"default","content-available":1},"ENCRYPTED_DATA":""}')
    same((of_app(alert={"title": "a" * longest}), of_app(alert={"title": "a" * (longest + 1)}), of_app(alert={"title": "é" * (longest // 2 + 1)})), (True, False, False))
    same((of_app(alert={"title": "a" * longest}, sounds=["default", "longer.caf"]), of_app(alert={"title": "a" * (longest - 3)}, sounds=["longer.caf"])), (False, True))
    same((of_app(alert={}), of_app(alert={"title": ""}), of_app(alert={"loc-key": "NEW"}), of_app(alert={"word": "a", "title": "a"})), (False, False, True, False))
    same((of_app(team="short"), of_app(unknown=1), of_app(sounds="default")), (False,) * 3)
    same((starts(origin=ORIGIN + "/"), starts(origin="https://A.example"), starts(apps={}), starts(kinds=["voip"]), starts(kinds=[])), (False,) * 5)
    same((starts(unknown=1), starts(listen="8787"), starts(relay_keys=[]), starts(relay_keys=["other.key"]), starts(limits={"a": 1}), starts(limits={"pushes_a_day": 0})), (False,) * 6)
    same((starts(data_format={"member": "d", "limit": 4000}), starts(data_format={"member": "aps", "limit": 1}), starts(data_format="other")), (False,) * 3)
    same(starts(), True)


@rule
def another_format_is_passed_as_it_is(place, node):
    with place.relay(node, data_format={"member": "e", "limit": 100}) as relay:
        token, key, grant = granted(relay)
        same(relay.client().send("GET", "/v1/relay").json["data_format"], "opaque")
        accepted(relay.client().one(key, {"grant": grant, "data": "Salted__/+=" + "a" * 89}))
        body = next(json.loads(request.body) for request in place.mock.taken if request.path.endswith(token))
        same((body["e"][:11], "ENCRYPTED_DATA" in body), ("Salted__/+=", False))
        for wrong in ("", "a" * 101, 'a"b', "a\\b", "a b", "é", "a\n"):
            refused(relay.client().one(key, {"grant": grant, "data": wrong}), 400, "malformed-envelope")


@rule
def the_relay_offers_kinds(place, node):
    with place.relay(node) as relay:
        relay.stop()
        relay.configure(kinds=["alert"])
        same(relay.start(), True)
        client, token, key = relay.client(), os.urandom(32).hex(), PushKey()
        for kinds in (["background"], ["alert", "background"]):
            same(client.post("/v1/grants", client.phone(token, push_key=key.text, kinds=kinds)).code, "malformed-request")
        grant = seal_grant(relay.relay_key, ORIGIN, token, "production", TOPIC, key.public, ("alert", "background"))
        refused(client.one(key, {"grant": grant, "data": envelope(), "kind": "background"}), 400, "kind-not-granted")
        accepted(push(relay, key, grant))
        same(client.send("GET", "/v1/relay").json["kinds"], ["alert"])


@rule
def an_address_is_not_what_a_client_says(place, node):
    with place.relay(node, limits={"requests_a_minute": 3}) as relay:
        def statuses(client, *forwarded):
            return [client.send("GET", "/v1/relay", None, {"X-Forwarded-For": one}).status for one in forwarded]

        same(statuses(relay.client(), "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"), [200, 200, 200, 429])
        relay.configure(trusted_proxies=1)
        relay.restart()
        client = relay.client()
        same(statuses(client, "192.0.2.1, 192.0.2.9", "192.0.2.2, 192.0.2.9", "192.0.2.9", "192.0.2.3,192.0.2.9", "192.0.2.8"), [200, 200, 200, 429, 200])


@rule
def the_newest_relay_key_seals_and_each_opens_until_it_is_removed(place, node):
    with place.relay(node) as relay:
        token, key, old = granted(relay)
        old_key = relay.relay_key
        same(relay.run("key", os.path.join(relay.folder, "new.key")).returncode, 0)
        relay.configure(relay_keys=["new.key", "relay.key"])
        same(relay.restart(), True)
        new = relay.client().grant(token, key)
        same((decode(old)[:5] == key_header(old_key), decode(new)[:5] == key_header(old_key)), (True, False))
        accepted(push(relay, key, old))
        accepted(push(relay, key, new))
        # By a grant of the older key, those of the newer too.
        same(relay.client().revoke(old, all=True).status, 200)
        for grant in (old, new):
            refused(push(relay, key, grant), 410, "grant-revoked")
        newest = relay.client().grant(token, key)
        relay.configure(relay_keys=["new.key"])
        same(relay.restart(), True)
        refused(push(relay, key, old), 410, "grant-unknown-key")
        refused(push(relay, key, new), 410, "grant-revoked")
        accepted(push(relay, key, newest))


@rule
def logs_have_no_secret(place, node):
    with place.relay(node) as relay:
        token, key, grant = granted(relay)
        data = envelope()
        accepted(relay.client().one(key, {"grant": grant, "data": data, "collapse_id": "collapse-name"}))
        relay.client().one(key, {"grant": grant[:-1], "data": data})
        relay.client().push(PushKey(), {"grant": grant, "data": data})
        relay.client().push(key, body=b'{"' + token.encode() + b'"')
        relay.client().send("GET", f"/v1/{token}?{grant}")
        relay.client().revoke(grant)
        relay.stop()
        text = relay.logged()
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        for secret in (token, grant, data, key.text, grant[60:100], data[60:100], token[:12], "collapse-name"):
            same(secret in text, False, "a secret is logged")
        pushed = [line for line in lines if line.get("path") == "/v1/push"]
        same(all(re.fullmatch("[0-9a-f]{8}", line["key"]) for line in pushed) and pushed[0]["answers"] == {"200": 1}, True, pushed)


@rule
def it_ends_after_the_last_answer(place, node):
    relay = place.relay(node)
    relay.start()
    token, key, grant = granted(relay)
    place.mock.fault = lambda number, request: Fault("late", seconds=2) if request.path.endswith(token) else None
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(push, relay, key, grant)
            time.sleep(0.7)
            start = time.monotonic()
            same(relay.stop(), 0)
            accepted(waiting.result())
            same(time.monotonic() - start < 15, True)
    finally:
        place.mock.fault = lambda number, request: None


@slow
def what_apns_does_not_answer_ends_with_it_within_8_seconds(place, node):
    relay = place.relay(node)
    relay.start()
    token, key, grant = granted(relay)
    place.mock.fault = lambda number, request: Fault("silence") if request.path.endswith(token) else None
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(push, relay, key, grant)
        time.sleep(0.7)
        start = time.monotonic()
        same((relay.stop(), time.monotonic() - start < 8), (0, True))
        refused(waiting.result(), 504, "no-answer", "unknown")


@rule
def what_is_open_at_the_end_is_answered_over_http2(place, node):
    relay = place.relay(node)
    relay.start()
    token, key, grant = granted(relay)
    place.mock.fault = lambda number, request: Fault("late", seconds=2) if request.path.endswith(token) else None
    # One of these connections is silent, one idle, and the last has a request. None of their clients ends them.
    with relay.client().socket(), HTTP2(relay.client()) as idle, HTTP2(relay.client()) as busy:
        same(idle.answer(idle.ask("GET", "/v1/relay")).status, 200)
        stream = busy.push(key, {"grant": grant, "data": envelope()})
        time.sleep(0.7)
        start = time.monotonic()
        same(relay.stop(), 0)
        accepted(busy.answer(stream).json["answers"][0])
        while busy.receive():
            pass
        same((busy.goes_away, 1 < time.monotonic() - start < 8), (True, True))


@slow
def nonsense_over_http2_stops_nobody(place, node):
    junk = [b"PR", b"PRI", b"PRI / HTTP/1.1\r\n\r\n", PREFACE[:18], PREFACE + b"A" * 3000, beginning() + os.urandom(3000)]
    requests = [headers_frame(number, "GET", "/v1/relay", "END_HEADERS", "END_STREAM") for number in range(1, 2000, 2)]
    unread = [headers_frame(number, "POST", "/v1/push", "END_HEADERS") for number in range(1, 2000, 2)]
    with place.relay(node) as relay:
        def files():
            return len(os.listdir(f"/proc/{relay.process.pid}/fd"))

        same(relay.client().send("GET", "/v1/relay").status, 200)
        before = files()
        for sent in (b"", b"PR", PREFACE, beginning()):
            with relay.client().socket() as connection:
                connection.sendall(sent)
                time.sleep(0.05)
                # It breaks off.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for sent in [*junk * 5, beginning(*requests), beginning(*unread)]:
            with relay.client().socket() as connection:
                connection.sendall(sent)
                connection.settimeout(0.1)
                try:
                    while connection.recv(65536):
                        pass
                except OSError:
                    pass
        same(relay.client().send("GET", "/v1/relay").status, 200)
        # Node notices some only after the time for idle connections.
        end = time.monotonic() + 20
        while files() > before and time.monotonic() < end:
            time.sleep(0.1)
        same((files() <= before, relay.process.poll()), (True, None), "connections remain")


@rule
def a_connection_of_http2_has_8_requests_and_counts_as_8(place, node):
    with place.relay(node) as relay:
        client = relay.client()
        with HTTP2(client) as connection:
            same(connection.answer(connection.ask("GET", "/v1/relay")).status, 200)
            same(connection.h2.remote_settings.max_concurrent_streams, 8)
            # ENHANCE_YOUR_CALM
            same(connection.answer(connection.ask("GET", "/v1/relay", headers={"a": "b" * 10_000})), 11)
            same(connection.answer(connection.ask("GET", "/v1/relay")).status, 200)
        held, ended = [HTTP2(client) for _ in range(11)], 0
        for one in held:
            one.socket.settimeout(0.5)
            try:
                while one.receive():
                    pass
                ended += 1
            except TimeoutError:
                pass
            except OSError:
                ended += 1
        same(ended, 3)
        for one in held:
            one.socket.close()
        time.sleep(0.3)
        same(client.send("GET", "/v1/relay").status, 200)


@slow
def an_apns_that_cannot_be_reached_is_tried_for_20_seconds(place, node):
    relay = place.relay(node)
    relay.configure(apns={"production": "https://localhost:1", "development": "https://localhost:1"})
    with relay:
        token, key, grant = granted(relay)
        start = time.monotonic()
        refused(push(relay, key, grant), 503, "relay-unavailable")
        same(15 < time.monotonic() - start < 25, True)


@slow
def one_address_has_few_connections(place, node):
    with place.relay(node) as relay:
        source = relay.client().source
        held = [socket.create_connection(("127.0.0.1", relay.port), source_address=(source, 0)) for _ in range(70)]
        time.sleep(0.3)
        ended = 0
        for one in held:
            one.setblocking(False)
            try:
                ended += one.recv(1) == b""
            except BlockingIOError:
                pass
            except OSError:
                ended += 1
        same(ended, 6)
        same(relay.client().send("GET", "/v1/relay").status, 200)
        for one in held:
            one.close()


def run(place, node, with_slow=True, names=()):
    failures, chosen = [], [one for one in rules + (slow_rules if with_slow else []) if not names or one.__name__ in names]
    for one in chosen:
        try:
            one(place, node)
        except Exception as error:
            failures.append(f"{one.__name__}: {type(error).__name__}: {str(error)[:500]}")
        finally:
            place.mock.fault = lambda number, request: None
    return len(chosen), failures, []
