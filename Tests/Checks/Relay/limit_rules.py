"""Limits; slow and silent clients."""
import concurrent.futures, json, os, re, time

from hyperframe.frame import DataFrame, PingFrame

from client import PushKey, SECRETS, envelope
from http2 import PREFACE, beginning, headers_frame
from suite import Closing, Fault, accepted, refused, rule, same, slow


@rule
def a_push_key_has_60_pushes_a_minute_for_a_token_whatever_its_grants(world):
    client, token, key, grant = world.phone()
    renewed, data = client.grant(token, key), envelope()
    first = client.push(key, *[{"grant": grant, "data": data}] * 45).json["answers"]
    second = client.push(key, *[{"grant": renewed, "data": data}] * 20).json["answers"]
    same([one["status"] for one in first + second], [200] * 60 + [429] * 5)
    refused(second[-1], 429, "grant-limit")
    same(1 <= second[-1]["retry_after"] <= 86_400, True)
    # Another server of the same phone is not slowed, and neither is another phone of the same server.
    other = PushKey()
    accepted(client.one(other, {"grant": client.grant(token, other), "data": data}))
    accepted(client.one(key, {"grant": client.grant(os.urandom(32).hex(), key), "data": data}))


@rule
def a_token_has_300_pushes_a_minute(world):
    client, token, _, _ = world.phone()
    keys, data, statuses = [PushKey() for _ in range(6)], envelope(), []
    for key in keys:
        grant = client.grant(token, key)
        for count in (45, 10):
            statuses += [one["status"] for one in client.push(key, *[{"grant": grant, "data": data}] * count).json["answers"]]
    same((statuses.count(200), statuses.count(429)), (300, 30))


@rule
def a_token_has_three_background_pushes_an_hour_of_a_server(world):
    client, token, key, grant = world.phone(("alert", "background"))
    answers = client.push(key, *[{"grant": grant, "data": envelope(), "kind": "background"}] * 4).json["answers"]
    same([one["status"] for one in answers], [200, 200, 200, 429])
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


@rule
def an_address_gets_60_grants_a_minute(world):
    if not world.client.is_local:
        return "own addresses"
    grant = world.phone()[3]
    ending = {"grant": grant, "secret": SECRETS[grant], "all": True}
    for path, value in (("/v1/grants", lambda client: client.phone(os.urandom(32).hex(), push_key=PushKey().text, kinds=["alert"])), ("/v1/revoke", lambda _: ending)):
        client = world.client.fresh()
        answers = [client.post(path, value(client)) for _ in range(62)]
        same([one.status for one in answers], [200] * 60 + [429] * 2, path)
        same((answers[-1].code, 1 <= int(answers[-1].headers["Retry-After"]) <= 60), ("too-many-requests", True))
        same(client.fresh().post(path, value(client)).status, 200)


@rule
def an_address_gets_600_requests_a_minute_good_or_bad(world):
    if not world.client.is_local:
        return "own addresses"
    client, body = world.client.fresh(), b"{}"
    with Closing(client.connection()) as connection:
        statuses = [client.send("POST", "/v1/push", body, {"Pushcrypt-Key": PushKey().text}, connection).status for _ in range(610)]
        same((statuses.count(401), statuses.count(429), statuses[-1]), (600, 10, 429))
        # Before the body is read or the path is known.
        same(client.send("GET", "/v1/other", None, None, connection).status, 429)
    same(client.fresh().send("GET", "/v1/relay").status, 200)


@slow
def a_flood_of_grants_from_one_address_stops_nobody(world):
    if not world.client.is_local:
        return "own addresses"
    flood, statuses, until = world.client.fresh(), [], time.monotonic() + 6
    client, token, key, grant = world.phone()

    def ask():
        with Closing(flood.connection()) as connection:
            # However slow the machine is, more than a minute's limit.
            while time.monotonic() < until or len(statuses) < 80:
                body = json.dumps(flood.phone(os.urandom(32).hex(), push_key=key.text, kinds=["alert"])).encode()
                statuses.append(flood.send("POST", "/v1/grants", body, {"Content-Type": "application/json"}, connection).status)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        while time.monotonic() < until:
            accepted(client.one(key, {"grant": grant, "data": envelope()}))
            client.fresh().grant(token, key)
            time.sleep(0.2)
        for one in asking:
            one.result()
    same((statuses.count(200), statuses.count(429)), (60, len(statuses) - 60), "of the flood")
    print(f"figure: relay-flood grants_a_minute={len(statuses) * 10} answered_429={statuses.count(429)}", flush=True)


@rule
def one_server_does_not_occupy_the_relay(world):
    if not world.client.is_local:
        return "own addresses"
    client, token, key, grant = world.phone()
    other, own, own_key, own_grant = world.phone()
    # Those that the relay lets through; what comes after them is answered at once.
    world.apns.plans[token] = [Fault("late", seconds=9) for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        waiting = [pool.submit(client.push, key, {"grant": grant, "data": envelope()}) for _ in range(12)]
        time.sleep(0.5)
        start = time.monotonic()
        accepted(other.one(own_key, {"grant": own_grant, "data": envelope()}))
        same(time.monotonic() - start < 7, True, "another server waited")
        answers = [one.result() for one in waiting]
    same(sorted(one.status for one in answers), [200] * 8 + [429] * 4)
    accepted(client.one(key, {"grant": grant, "data": envelope()}))


def is_ended(world, sent, dribble=b"", seconds=35):
    """Whether the relay ends such a connection."""
    with world.client.fresh().socket() as connection:
        connection.sendall(sent)
        connection.settimeout(1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if dribble:
                    connection.sendall(dribble)
                if connection.recv(4096) == b"":
                    return True
            except TimeoutError:
                pass
            except OSError:
                return True
    return False


@slow
def silent_and_slow_clients_are_ended(world):
    if not world.cuts or world.client.context:
        return "an own server"
    post = b"POST /v1/push HTTP/1.1\r\nHost: a\r\n"
    cases = [(b"", b""), (b"POST /v1/push HT", b""), (post, b"X: y\r\n"), (post + b"Content-Length: 500000\r\n\r\n", b" "), (post + b"Content-Length: 9\r\n\r\n{", b""),
             (post + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), (b"GET /v1/relay HTTP/1.1\r\nHost: a\r\n\r\n", b"")]
    ended_within(world, 35, cases)


def ended_within(world, seconds, cases):
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        ended = list(pool.map(lambda case: is_ended(world, *case, seconds), cases))
    same(ended, [True] * len(cases))


@slow
def silent_and_slow_clients_of_http2_are_ended(world):
    if not world.cuts or world.client.context:
        return "an own server"
    ping, post = PingFrame(0, b"12345678").serialize(), headers_frame(1, "POST", "/v1/push", "END_HEADERS")
    get = headers_frame(1, "GET", "/v1/relay", "END_HEADERS", "END_STREAM")
    cases = [(b"PR", b""), (PREFACE[:18], b""), (PREFACE, b""), (beginning(), ping), (beginning(get), ping)]
    cases.append((beginning(headers_frame(1, "POST", "/v1/push")), b""))
    ended_within(world, 20, cases)
    # A body that lasts, and an answer that nobody reads.
    cases = [(beginning(post), DataFrame(1, b" ").serialize()), (beginning(get, window=0), b""), (beginning(post) + b"\xff" * 3000, b"")]
    ended_within(world, 45, cases)


@rule
def requests_in_two_meanings_are_refused(world):
    client = world.client.fresh()
    # Granted if it is sent in one meaning.
    body = json.dumps(client.phone(os.urandom(32).hex(), push_key=PushKey().text, kinds=["alert"])).encode()
    length = b"Content-Length: %d\r\n" % len(body)

    def status(headers):
        with client.socket(timeout=10) as connection:
            connection.sendall(b"POST /v1/grants HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers + b"\r\n" + body)
            return int(re.match(rb"HTTP/1.1 (\d\d\d)", connection.recv(100))[1])

    same(status(length), 200)
    for headers in (length + b"Content-Length: 14\r\n", length + b"Transfer-Encoding: chunked\r\n", b"Content-Length: x\r\n", length + b"A" * 20_000 + b": b\r\n"):
        same(400 <= status(headers) < 500, True, headers[:60])
