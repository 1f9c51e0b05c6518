"""Sends what `pushcrypt seal` makes through real clients to a local APNs, as Docs/Provider.md says, and opens the bytes that arrived.

    senders_test.py PUSHCRYPT      with the Python environment of setup.sh senders
"""
import asyncio, collections, json, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f"{HERE}/../Pipelines", f"{HERE}/../Send"]
from clients import Aioapns, Answer, Httpx, compact, send_all, widest
from scene import APP, PHONES, Provider, count, expect, main, number_of, phone_of, token
from serve import KEY, serve

WORK, PROGRAM = tempfile.TemporaryDirectory(), os.path.abspath(sys.argv[1])
FOLDER = WORK.name
LOGIN = (KEY, f"AuthKey_{KEY}.p8")
ROUNDS = 120  # messages of each way to send
# The tokens of the last phones are no longer valid: all but one since just after they registered.
GONE, GONE_BEFORE = PHONES[-5:-1], PHONES[-1]
TITLES = ["New message", "새 메시지가 도착했습니다", "Nachricht von Zoë", "رسالة جديدة", "🎁 선물 👨‍👩‍👧‍👦", 'quoted "title" \\ and / more', "新しいメッセージ"]
WAYS = {
    "aioapns with a token": lambda port: Aioapns(FOLDER, port, key=LOGIN, topic=APP),
    "aioapns with a certificate": lambda port: Aioapns(FOLDER, port, certificate=APP),
    "httpx with a token, compact": lambda port: Httpx(FOLDER, port, compact, key=LOGIN),
    "httpx with a certificate, wide": lambda port: Httpx(FOLDER, port, widest, certificate=APP),
}


def line(number, way):
    """A line for `seal --batch --emit request`, as providers have them, with what the sender needs passed through."""
    kind = ("alert", "alert", "alert", "voip", "background")[number % 5]
    text = TITLES[number % len(TITLES)]
    payload = {"aps": {"alert": {"title": f"Order {number}", "body": text * (1 + number % 20)}, "badge": number}, "order": number}
    if number % 3 == 0:
        payload |= {"price": 12.5, "large": 2**53 - 1, "nested": {"list": [1, None, True, "\t\n\u2028"]}}
    if kind == "background":
        payload = {"aps": {"content-available": 1}, "order": number, "text": text}
    return {
        "to": phone_of(number), "id": f"{way}-{number}", "collapse_id": f"order {number}", "push_type": kind, "ttl": "1h", "placeholder": text,
        "payload": payload, "token": token(PHONES.index(phone_of(number)))}


def seal(provider, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = subprocess.run(provider.sealer("--emit", "request", "--json"), input=text, capture_output=True)
    return [json.loads(text) for text in done.stdout.splitlines()]


def full(provider):
    """The message with exactly as many bytes, in the widest form, as APNs accepts."""
    def attempt(body, title):
        message = line(0, "full") | {"placeholder": title}
        message["payload"] = {"aps": {"alert": {"title": "Order 0", "body": "x" * body}}}
        return message, seal(provider, [message])[0]

    title = "🎁 " + "선물" * 20
    low, high = 1, 4096
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if "error" in attempt(middle, title)[1] else (middle, high)
    title += "!" * (4096 - attempt(low, title)[1]["widest_bytes"])
    message, sealed = attempt(low, title)
    expect("the largest message", sealed["widest_bytes"], 4096)
    return message, sealed


def check_opened(provider, arrived, originals):
    """Opens the exact bytes that arrived, each on its phone, and compares them with the provider's messages."""
    pushes, opened = collections.defaultdict(list), collections.Counter()
    for request in arrived:
        phone = phone_of(number_of(request.path.rsplit("/", 1)[1]))
        pushes[phone, dict(request.headers)["apns-push-type"]].append(b'{"payload":' + request.body + b"}\n")
    for (phone, push_type), lines in pushes.items():
        command = [PROGRAM, "--store", provider.store_of(phone), "open", "--batch", "--push-type", push_type]
        done = subprocess.run(command, input=b"".join(lines), capture_output=True)
        answers = [json.loads(text) for text in done.stdout.splitlines()]
        expect(f"errors of {phone}", [answer["error"] for answer in answers if "error" in answer], [])
        opened.update(json.dumps(answer["notification"]["payload"], sort_keys=True) for answer in answers)
    expect("messages that opened", {*(opened - originals).elements()}, {*(originals - opened).elements()})
    count("opened from the bytes that arrived", opened.total(), "senders")


async def send_everything(provider, mock):
    """Every kind of message in every way, and the largest. Returns the originals."""
    originals, (largest, sealed_largest) = collections.Counter(), full(provider)
    for way, connect in WAYS.items():
        client, before = connect(mock.port), len(mock.taken)
        lines = [line(number, way) for number in range(ROUNDS) if phone_of(number) not in (*GONE, GONE_BEFORE)]
        sealed = [*seal(provider, lines), sealed_largest]
        answers = await send_all(client, sealed)
        expect(f"{way}: answers", collections.Counter(map(repr, answers)), {repr(Answer(200)): len(lines) + 1})
        originals.update(json.dumps(one["payload"], sort_keys=True) for one in [*lines, largest])
        ends = {one["collapse_id"]: one["expiration"] for one in sealed}
        for headers in (dict(request.headers) for request in mock.taken[before:]):
            late = int(headers["apns-expiration"]) - ends[headers["apns-collapse-id"]]
            expect(f"{way}: the expiration is {late} seconds off", abs(late) <= 60, True)
        count(f"{way}: sent, the largest with {max(len(request.body) for request in mock.taken[before:])} bytes", len(sealed), "senders")
        await client.close()
    return originals


async def remove_gone(provider, mock):
    """A device answered with 410 is removed from the store, unless it has registered since."""
    now = int(time.time() * 1000)
    for phone in (*GONE, GONE_BEFORE):
        device = mock.rules.devices.get(token(PHONES.index(phone)))
        device.gone_since = now + 1000 if phone in GONE else now - 86_400_000
        mock.rules.devices[token(PHONES.index(phone))] = device
    sealed = seal(provider, [line(number, "gone") for number, phone in enumerate(PHONES) if phone in (*GONE, GONE_BEFORE, PHONES[0])])
    client = Aioapns(FOLDER, mock.port, key=LOGIN, topic=APP)
    with open(os.path.join(FOLDER, "answers.ndjson"), "w") as file:
        for one, answer in zip(sealed, await send_all(client, sealed), strict=True):
            print(json.dumps({"to": one["to"], "status": answer.status, "reason": answer.reason, "timestamp": answer.timestamp}), file=file)
        # An answer other than 410 removes nothing.
        print(json.dumps({"to": PHONES[1], "status": 400, "reason": "BadDeviceToken"}), file=file)
    await client.close()
    provider.run("--store", provider.store, "device", "remove", "--from-apns-410", file.name)
    codes = {one["to"]: one.get("error", {}).get("code") for one in seal(provider, [line(0, "x") | {"to": phone} for phone in PHONES])}
    expect("phones with an error", {phone: code for phone, code in codes.items() if code}, dict.fromkeys(GONE, "removed-device"))
    count("removed after 410", len(GONE), "senders")


def test():
    provider = Provider(FOLDER, PROGRAM)
    with serve(FOLDER, [APP]) as mock:
        mock.taken = []  # and not in a file
        originals = asyncio.run(send_everything(provider, mock))
        arrived = list(mock.taken)
        asyncio.run(remove_gone(provider, mock))
    check_opened(provider, arrived, originals)


main(test)
