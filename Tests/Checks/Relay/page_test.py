"""Follows Docs/SelfHostedServer.md: servers in Python and JavaScript, each from a phone's record to the first push that the phone opens, through a
publisher's relay. Called by relay_test.py with a Python that has `cryptography` 40.

    page_test.py ORIGIN ACCEPTED NODE      of a relay whose origin is its address, and the file of what its APNs accepted
"""
import json, os, re, subprocess, sys, tempfile, types, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
sys.path[:0] = [HERE, os.path.join(ROOT, "Sources/Languages/python/src")]
from client import Client  # noqa: E402

from pushcrypt import ProviderKey, ProviderPublicKey  # noqa: E402
from pushcrypt.relay import PushKey  # noqa: E402
from pushcrypt.testing import DeviceKey, open_push  # noqa: E402

ORIGIN, ACCEPTED, NODE = sys.argv[1:]
TOPIC, LINES = "com.example.app", 15
with open(os.path.join(ROOT, "Docs/SelfHostedServer.md"), encoding="utf-8") as file:
    page = file.read().replace("https://push.example.com", ORIGIN)
[python] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
[javascript] = re.findall(r"```js\n(.*?)```", page, re.DOTALL)


class Phone:
    """Registers, fetches its grant, and opens what APNs got for it."""

    def __init__(self):
        self.key, self.token, self.relay = DeviceKey.generate(), os.urandom(32).hex(), Client(ORIGIN, ORIGIN, TOPIC)
        self.grant = None

    def record(self):
        members = {"device": "phone1", "public_key": str(self.key.public_key), "token": self.token, "environment": "production", "topic": TOPIC, "generation": 1}
        return json.dumps(members | ({"grant": self.grant} if self.grant else {}))

    def read(self, reply):
        reply = json.loads(reply)
        assert reply["acknowledged"] == str(self.key.public_key)
        self.pin = ProviderPublicKey.parse(reply["provider"])
        self.grant = self.relay.grant(self.token, types.SimpleNamespace(text=reply["push_key"]))

    def opened(self):
        with open(ACCEPTED, encoding="utf-8") as file:
            [line] = [line for line in map(json.loads, file) if line["token"] == self.token]
        return json.loads(open_push(json.dumps(line["payload"]), topic=TOPIC, device=self.key, provider=self.pin).payload)


class httpx:
    """Posts without following redirects."""

    @staticmethod
    def post(url, content, headers, timeout):
        class NoRedirect(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        with urllib.request.build_opener(NoRedirect).open(urllib.request.Request(url, content, headers), timeout=timeout) as answer:
            return types.SimpleNamespace(json=lambda value=json.load(answer): value)


def lines(text):
    return [line for line in text.splitlines() if line.strip() and not re.match(r'\s*("""|/\*\*|//|#)', line)]


def test_python():
    sys.modules["httpx"] = httpx
    server, phone = {}, Phone()
    exec(compile(python, "SelfHostedServer.md", "exec"), server)
    rows = {}
    devices = types.SimpleNamespace(find=rows.get, holders=lambda key, token: [one for one in rows.values() if one.public_key == key or one.token == token])
    for _ in range(2):
        changes, reply = server["register"](phone.record(), devices, "alice")
        rows.update({one.device: one for one in changes})
        phone.read(reply)
    device = rows["phone1"]
    answer = server["send"](device, {"aps": {"alert": "It is ready"}})
    assert answer["status"] == 200 and phone.opened()["aps"]["alert"] == "It is ready", answer
    assert len(lines(python)) <= LINES, f"{len(lines(python))} lines"


def test_javascript(folder):
    phone = Phone()
    os.makedirs(os.path.join(folder, "node_modules"))
    os.symlink(os.path.join(ROOT, "Sources/Languages/javascript"), os.path.join(folder, "node_modules/pushcrypt"))
    with open(os.path.join(folder, "server.mjs"), "w", encoding="utf-8") as file:
        file.write(javascript)
    with open(os.path.join(folder, "main.mjs"), "w", encoding="utf-8") as file:
        file.write("""import { register, send } from "./server.mjs";
const { device, reply } = await register(process.argv[2], { find: () => null, holders: () => [] }, "alice");
const answer = device.grant ? await send(device, { aps: { alert: "It is ready" } }) : null;
console.log(JSON.stringify({ reply: JSON.stringify(reply), answer }));
""")

    def run():
        done = subprocess.run([NODE, "main.mjs", phone.record()], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    phone.read(run()["reply"])
    answer = run()["answer"]
    assert answer["status"] == 200 and phone.opened()["aps"]["alert"] == "It is ready", answer
    assert len(lines(javascript)) <= LINES, f"{len(lines(javascript))} lines"


with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "provider.key"), "w") as file:
        file.write(ProviderKey.generate().secret_text())
    with open(os.path.join(folder, "push.key"), "wb") as file:
        file.write(PushKey.generate().secret_bytes())
    os.chdir(folder)
    test_python()
    test_javascript(folder)
