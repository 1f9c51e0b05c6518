"""The senders: real clients of Apple's push service, which send the output of `seal --emit request`, converted as in
Docs/Provider.md."""
import asyncio, dataclasses, json, os, re, ssl, time
import aioapns, httpx, jwt
from aioapns.connection import APNsTLSClientProtocol

TEAM = "TEAM123456"
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Docs/Provider.md")


def example(name, function):
    """A function of the document's examples."""
    with open(DOCUMENT) as file:
        text = re.search(rf"^<!-- example: {name} -->\n```python\n(.*?)^```$", file.read(), re.M | re.S)[1]
    made = {}
    exec(compile(text, DOCUMENT, "exec"), globals(), made)
    return made[function]


notification, request = example("aioapns", "notification"), example("httpx", "request")


@dataclasses.dataclass
class Answer:
    status: int
    reason: str = None
    timestamp: int = None


def trust(folder):
    context = ssl.create_default_context(cafile=os.path.join(folder, "authority.pem"))
    context.set_alpn_protocols(["h2"])
    return context


def read(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


class Local(APNsTLSClientProtocol):
    """The client's own protocol, with another address. APNs repeats `apns-id`, by which the client finds the request;
    local servers answer in the order of the requests."""
    APNS_SERVER = "localhost"

    def on_response_received(self, headers):
        oldest = next((name for name in self.requests if name not in self.request_statuses), "")
        super().on_response_received({**headers, b"apns-id": oldest.encode()})


class Aioapns:
    """Re-encodes the payload: with spaces after the separators, in UTF-8."""

    def __init__(self, folder, port, key=None, certificate=None, topic=None):
        options = {"ssl_context": trust(folder), "max_connections": 2, "err_func": self.ignore}
        if key:
            options |= {"key": read(folder, key[1]), "key_id": key[0], "team_id": TEAM, "topic": topic}
        else:
            options |= {"client_cert": os.path.join(folder, certificate + ".pem")}
        self.client = aioapns.APNs(**options)
        self.client.pool.protocol_class = type("Local", (Local,), {"APNS_PORT": port})

    async def ignore(self, request, result):
        pass

    async def send(self, line):
        result = await self.client.send_notification(notification(line))
        return Answer(int(result.status), result.description, result.timestamp)

    async def close(self):
        self.client.pool.close()
        while self.client.pool.connections:
            await asyncio.sleep(0.01)


class Httpx:
    """Writes the payload with the given `encode`."""

    def __init__(self, folder, port, encode, key=None, certificate=None):
        context = trust(folder)
        if certificate:
            context.load_cert_chain(os.path.join(folder, certificate + ".pem"))
        self.encode, self.common = encode, {}
        if key:
            claims = {"iss": TEAM, "iat": int(time.time())}
            token = jwt.encode(claims, read(folder, key[1]), algorithm="ES256", headers={"kid": key[0]})
            self.common["authorization"] = "bearer " + token
        self.client = httpx.AsyncClient(
            http1=False, http2=True, verify=context, base_url=f"https://localhost:{port}", timeout=30)

    async def send(self, line):
        path, headers, _ = request(line)
        response = await self.client.post(path, headers={**self.common, **headers}, content=self.encode(line))
        said = response.json() if response.content else {}
        return Answer(response.status_code, said.get("reason"), said.get("timestamp"))

    async def close(self):
        await self.client.aclose()


def compact(line):
    return json.dumps(line["payload"], ensure_ascii=False, separators=(",", ":")).encode()


def widest(line):
    """Python's default: spaces after the separators, and every character beyond ASCII as one or two \\uXXXX."""
    return request(line)[2]
