"""A client of the relay protocol, written from Docs/Relay.md alone: what a phone and a server send."""
import base64, hashlib, http.client, json, os, ssl, time, urllib.parse

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)
# What ends each grant that came from a relay: only its phone has it.
SECRETS = {}


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def lp(data):
    return len(data).to_bytes(2, "big") + data


def envelope():
    """What has the form of an envelope; a relay cannot open any."""
    return encode(b"\1" + os.urandom(308))


class PushKey:
    def __init__(self):
        self.private = Ed25519PrivateKey.generate()
        self.public = self.private.public_key().public_bytes(*RAW)
        self.text = encode(self.public)

    def headers(self, origin, body, path="/v1/push"):
        at = time.time_ns() // 1_000_000
        place = b"pushcrypt/1 relay request\0" + lp(origin.encode()) + lp(path.encode())
        signature = self.private.sign(place + self.public + at.to_bytes(8, "big") + hashlib.sha256(body).digest())
        return {"Pushcrypt-Key": self.text, "Pushcrypt-Time": str(at), "Pushcrypt-Signature": encode(signature)}


def apns_collapse_id(key, name):
    return encode(hashlib.sha256(b"pushcrypt/1 relay collapse\0" + key.public + name.encode()).digest())


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Client:
    """Speaks to a relay at `url` that calls itself `origin`, from an address of its own, so that limits do not meet."""

    count = int.from_bytes(os.urandom(2), "big") * 200

    def __init__(self, url, origin, topic, authority=None):
        self.url, self.origin, self.topic = urllib.parse.urlsplit(url), origin, topic
        self.context = ssl.create_default_context(cafile=authority) if authority else None
        Client.count += 1
        # Each in a /24 of its own, and few of a /16 one after the other.
        self.source = f"127.{Client.count % 254 + 1}.{Client.count // 254 % 254 + 1}.1"

    def connection(self):
        more = {"timeout": 40, "source_address": (self.source, 0)}
        if self.context:
            return http.client.HTTPSConnection(self.url.hostname, self.url.port, context=self.context, **more)
        return http.client.HTTPConnection(self.url.hostname, self.url.port, **more)

    def send(self, method, path, body=None, headers=None, connection=None):
        own = connection or self.connection()
        try:
            own.request(method, path, body, headers or {})
            answer = own.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            if not connection:
                own.close()

    def post(self, path, value, headers=None):
        return self.send("POST", path, value if isinstance(value, bytes) else json.dumps(value).encode(), headers)

    def phone(self, token, key):
        place = {"environment": "production", "topic": self.topic}
        return place | {"token": token, "push_key": key.text, "kinds": ["alert"]}

    def grant(self, token, key):
        answer = self.post("/v1/grants", self.phone(token, key))
        assert answer.status == 200, answer
        SECRETS[answer.json["grant"]] = answer.json["secret"]
        return answer.json["grant"]

    def revoke(self, grant):
        return self.post("/v1/revoke", {"grant": grant, "secret": SECRETS[grant]})

    def push(self, key, *messages):
        body = json.dumps({"messages": messages}).encode()
        return self.post("/v1/push", body, key.headers(self.origin, body))
