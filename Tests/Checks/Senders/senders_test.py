"""Sends the output of `pushcrypt seal` through real clients to a push service with APNs' rules, and opens what arrived.
"""
import asyncio, collections, json, os, subprocess, sys, time
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from clients import TEAM, Aioapns, Answer, Httpx, compact, provider_token, read, send_all, widest
from endpoint import Endpoint
from rules import Device, Rules
from scene import APP, PHONES, Failure, Provider, count, expect, main, phone_of, token

FOLDER, PROGRAM = sys.argv[1:]
KEY, STRANGER = ("KEY1234567", "token.p8"), ("KEY1234567", "stranger.p8")
ROUNDS = 120  # messages of each way to send
# The tokens of the last phones are no longer valid: all but one since just after they registered.
GONE, GONE_BEFORE = PHONES[-5:-1], PHONES[-1]
TITLES = ["New message", "새 메시지가 도착했습니다", "Nachricht von Zoë", "رسالة جديدة", "🎁 선물 👨‍👩‍👧‍👦", 'quoted "title" \\ and / more', "新しいメッセージ"]


def notification(number):
    """Typical payloads of providers."""
    payload = {"aps": {"alert": {"title": f"Order {number}", "body": TITLES[number % len(TITLES)] * (1 + number % 20)}}, "order": number}
    if number % 2:
        payload["aps"] |= {"sound": "default", "badge": number, "thread-id": "orders"}
    if number % 3 == 0:
        payload |= {"price": 12.5, "large": 2**53 - 1, "nested": {"list": [1, None, True, "\t\n\u2028"]}}
    return payload


def line(number, way):
    """A line for `seal --batch --emit request`, with what the sender needs passed through."""
    kind = ("alert", "alert", "alert", "voip", "background")[number % 5]
    payload = notification(number)
    if kind == "background":
        payload = {"aps": {"content-available": 1}, "order": number, "text": payload["aps"]["alert"]["body"]}
    return {
        "to": phone_of(number), "id": f"{way}-{number}", "collapse_id": f"order {number}", "push_type": kind, "ttl": "1h",
        "placeholder": TITLES[number % len(TITLES)], "payload": payload, "token": token(PHONES.index(phone_of(number)))}


def seal(provider, lines, *options):
    done = subprocess.run(
        provider.sealer("--emit", "request", "--json", *options), input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        capture_output=True)
    return [json.loads(text) for text in done.stdout.splitlines()]


def fill(provider, name):
    """The message with exactly as many bytes, in the widest form, as APNs accepts; one more is refused."""
    def attempt(body, title):
        message = line(0, name) | {"placeholder": title}
        message["payload"] = {"aps": {"alert": {"title": "Order 0", "body": "x" * body}}}
        return message, seal(provider, [message])[0]

    title = "🎁 " + "선물" * 20
    low, high = 1, 4096
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if "error" in attempt(middle, title)[1] else (middle, high)
    title += "!" * (4096 - attempt(low, title)[1]["widest_bytes"])
    message, sealed = attempt(low, title)
    expect(f"{name}: size", sealed["widest_bytes"], 4096)
    expect(f"{name}: one byte more", attempt(low, title + "!")[1]["error"]["code"], "push-too-large")
    return message, sealed


def open_arrived(provider, arrived, originals):
    """Opens the exact bytes that arrived, each on its phone, and compares them with the provider's message."""
    pushes = collections.defaultdict(list)
    for request in arrived:
        pushes[phone_of(int(request.path.rsplit("/", 1)[1], 16))].append(request.body)
    opened = 0
    for phone, bodies in pushes.items():
        done = subprocess.run(
            [PROGRAM, "--store", provider.store_of(phone), "open", "--batch"],
            input=b"".join(b'{"payload":' + body + b"}\n" for body in bodies), capture_output=True)
        answers = [json.loads(text) for text in done.stdout.splitlines()]
        expect(f"answers of {phone}", len(answers), len(bodies))
        for answer in answers:
            if "error" in answer:
                raise Failure(f"{phone}: {answer['error']}")
            originals.remove(json.dumps(answer["notification"]["payload"], sort_keys=True))
            opened += 1
    expect("messages that did not arrive", len(originals), 0)
    return opened


class Originals(collections.Counter):
    """Sealed messages not opened yet."""

    def remove(self, text):
        if not self[text]:
            raise Failure(f"opened, but never sealed: {text[:200]}")
        self[text] -= 1
        if not self[text]:
            del self[text]


async def send_everything(provider, port, endpoint):
    """Every kind of message in every way, and messages of the largest size that APNs accepts. Returns the originals."""
    ways = {
        "aioapns with a token": lambda: Aioapns(FOLDER, port, key=KEY, topic=APP),
        "aioapns with a certificate": lambda: Aioapns(FOLDER, port, certificate=APP),
        "httpx with a token, compact": lambda: Httpx(FOLDER, port, compact, key=KEY),
        "httpx with a token, wide": lambda: Httpx(FOLDER, port, widest, key=KEY),
        "httpx with a certificate, wide": lambda: Httpx(FOLDER, port, widest, certificate=APP),
    }
    originals = Originals()
    full, sealed_full = fill(provider, "full")
    for way, connect in ways.items():
        client = connect()
        lines = [line(number, way) for number in range(ROUNDS) if phone_of(number) not in (*GONE, GONE_BEFORE)]
        sealed = seal(provider, lines)
        expect(f"{way}: lines that were refused", [one for one in sealed if "error" in one], [])
        # A retry replaces its first copy, and the service learns no name.
        again = seal(provider, lines)
        for one, other, original in zip(sealed, again, lines, strict=True):
            expect("the collapse id of a retry", other["collapse_id"], one["collapse_id"])
            if original["collapse_id"] in json.dumps(one) or one["payload"] == other["payload"]:
                raise Failure(f"{way}: {one}")
        before = len(endpoint.arrived)
        answers = await send_all(client, [*sealed, sealed_full])
        expect(f"{way}: answers", collections.Counter(map(repr, answers)), {repr(Answer(200)): len(sealed) + 1})
        originals.update(json.dumps(one["payload"], sort_keys=True) for one in [*lines, full])
        ends = {one["collapse_id"]: one["expiration"] for one in [*sealed, sealed_full]}
        for request in endpoint.arrived[before:]:
            headers = dict(request.headers)
            late = int(headers["apns-expiration"]) - ends[headers["apns-collapse-id"]]
            expect(f"{way}: the expiration is {late} seconds off", abs(late) <= 60, True)
        sizes = [len(request.body) for request in endpoint.arrived[before:]]
        count(f"{way}: sent, the largest with {max(sizes)} bytes", len(sizes), "senders")
        await client.close()
    return originals


async def be_refused(provider, port):
    """Each rule once: the change of a valid request, and the answer."""
    good = seal(provider, [line(0, "refused")])[0]
    voip = seal(provider, [line(3, "refused")])[0]
    plain = {"payload": {"aps": {"alert": {"title": "Order", "body": "x" * 5000}}}}
    now = int(time.time())
    private = read(FOLDER, "token.p8")
    other = token(len(PHONES))

    def bearer(*arguments, **options):
        return {"authorization": "bearer " + provider_token(*arguments, **options)}

    cases = [
        (400, "BadDeviceToken", good | {"token": other}, {}),
        (400, "BadDeviceToken", good | {"token": "no-hex"}, {}),
        (400, "MissingDeviceToken", good | {"token": ""}, {}),
        (400, "DeviceTokenNotForTopic", good | {"token": "aa" * 32}, {}),
        (413, "PayloadTooLarge", good | plain, {}),
        (413, "PayloadTooLarge", voip | {"payload": {"aps": {}, "a": "x" * 5200}}, {}),
        (400, "no-aps", good | {"payload": {"a": 1}}, {}),
        (400, "MissingTopic", good, {"apns-topic": None}),
        (400, "BadTopic", good, {"apns-topic": "com.example app"}),
        (400, "TopicDisallowed", good, {"apns-topic": "com.example.unknown"}),
        (400, "InvalidPushType", good, {"apns-push-type": "banner"}),
        (400, "BadPriority", good, {"apns-priority": "7"}),
        (400, "BadPriority", good, {"apns-push-type": "background"}),
        (400, "BadExpirationDate", good, {"apns-expiration": "tomorrow"}),
        (400, "BadCollapseId", good, {"apns-collapse-id": "c" * 65}),
        (200, None, good, {"apns-collapse-id": "c" * 64}),
        (400, "BadMessageId", good, {"apns-id": "17"}),
        (403, "MissingProviderToken", good, {"authorization": None}),
        (403, "InvalidProviderToken", good, {"authorization": "bearer nonsense"}),
        (403, "InvalidProviderToken", good, bearer(read(FOLDER, "stranger.p8"), KEY[0])),
        (403, "InvalidProviderToken", good, bearer(private, "KEY0000000")),
        (403, "InvalidProviderToken", good, bearer(private, KEY[0], team="TEAM000000")),
        (403, "ExpiredProviderToken", good, bearer(private, KEY[0], issued_at=now - 3700)),
        (429, "TooManyProviderTokenUpdates", good, bearer(private, KEY[0], issued_at=now - 600)),
        (200, None, good, bearer(private, KEY[0], issued_at=now - 1500)),
    ]
    client = Httpx(FOLDER, port, compact, key=KEY)
    expect("a good request", await client.send(good), Answer(200))
    for status, reason, request, changes in cases:
        headers = {name: value for name, value in {**client.headers(request), **changes}.items() if value is not None}
        answer = await client.post(f"/3/device/{request['token']}", headers, client.encode(request))
        expect(f"{reason}: {changes}", answer, Answer(status, reason))
    headers, path = client.headers(good), f"/3/device/{good['token']}"
    twice = [*headers.items(), ("apns-topic", APP)]
    malformed = [
        (404, "BadPath", "/3/devices", headers, compact(good)),
        (405, "MethodNotAllowed", path, headers, b"", "GET"),
        (400, "PayloadEmpty", path, headers, b""),
        (400, "not-json", path, headers, b"{'aps': {}}"),
        (400, "DuplicateHeaders", path, twice, compact(good)),
    ]
    for status, reason, *request in malformed:
        expect(reason, await client.post(*request), Answer(status, reason))
    await client.close()

    others = [
        ("PayloadTooLarge", Aioapns(FOLDER, port, key=KEY, topic=APP), good | plain),
        ("BadDeviceToken", Aioapns(FOLDER, port, key=KEY, topic=APP), good | {"token": other}),
        ("BadCollapseId", Aioapns(FOLDER, port, key=KEY, topic=APP), good | {"collapse_id": "c" * 65}),
        ("InvalidProviderToken", Aioapns(FOLDER, port, key=STRANGER, topic=APP), good),
        ("TopicDisallowed", Aioapns(FOLDER, port, certificate="com.example.other"), good),
        ("TopicDisallowed", Httpx(FOLDER, port, compact, certificate="com.example.other"), good),
        ("MissingProviderToken", Httpx(FOLDER, port, compact), good),
    ]
    for reason, client, request in others:
        expect(f"{type(client).__name__}: {reason}", (await client.send(request)).reason, reason)
        await client.close()
    count("refused as APNs refuses", sum(status != 200 for status, *_ in cases) + len(malformed) + len(others), "senders")


async def remove_gone(provider, port):
    """A device answered with 410 is removed from the store, unless it has registered since."""
    lines = [line(number, "gone") for number, phone in enumerate(PHONES) if phone in (*GONE, GONE_BEFORE, PHONES[0])]
    client = Aioapns(FOLDER, port, key=KEY, topic=APP)
    with open(os.path.join(FOLDER, "answers.ndjson"), "w") as file:
        sealed = seal(provider, lines)
        for one, answer in zip(sealed, await send_all(client, sealed), strict=True):
            record = {"to": one["to"], "status": answer.status, "reason": answer.reason, "timestamp": answer.timestamp}
            print(json.dumps(record), file=file)
        # An answer other than 410 removes nothing.
        print(json.dumps({"to": PHONES[1], "status": 400, "reason": "BadDeviceToken"}), file=file)
    await client.close()
    provider.run("--store", provider.store, "device", "remove", "--from-apns-410", file.name)
    codes = {one["to"]: one.get("error", {}).get("code") for one in seal(provider, [line(0, "x") | {"to": phone} for phone in PHONES])}
    expect("phones that are gone", {phone for phone, code in codes.items() if code == "removed-device"}, set(GONE))
    expect("phones that are not", [code for phone, code in codes.items() if phone not in GONE and code], [])
    count("removed after 410", len(GONE), "senders")


def test():
    provider = Provider(FOLDER, PROGRAM)
    now = int(time.time() * 1000)
    devices = {token(number): Device({APP, APP + ".voip"}) for number in range(len(PHONES))}
    for phone in GONE:
        devices[token(PHONES.index(phone))].gone_since = now + 1000
    devices[token(PHONES.index(GONE_BEFORE))].gone_since = now - 86_400_000
    devices["aa" * 32] = Device({"com.example.other"})
    public = load_pem_private_key(read(FOLDER, "token.p8").encode(), None).public_key()
    rules = Rules(devices, {KEY[0]: (TEAM, public, {APP})})
    with Endpoint(rules, *(os.path.join(FOLDER, name) for name in ("service.pem", "service.key", "authority.pem"))) as endpoint:
        originals = asyncio.run(send_everything(provider, endpoint.port, endpoint))
        arrived = list(endpoint.arrived)
        asyncio.run(be_refused(provider, endpoint.port))
        asyncio.run(remove_gone(provider, endpoint.port))
        expect("protocols", endpoint.protocols, {"2"})
    count("opened from the bytes that arrived", open_arrived(provider, arrived, originals), "senders")


main(test)
