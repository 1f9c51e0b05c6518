"""A client of the relay protocol, Docs/Relay.md, written from that page alone: what a phone and a server send. With `cryptography`."""
import base64, hashlib, hmac, http.client, json, os, socket, ssl, struct, time, urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

LIFE = 180 * 86_400_000
RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def milliseconds():
    return time.time_ns() // 1_000_000


def lp(data, size=2):
    return len(data).to_bytes(size, "big") + data


def envelope(bucket=256, suite=1, extra=0):
    """What has the form of an envelope; a relay cannot open any."""
    return encode(bytes([suite]) + os.urandom((1141 if suite == 2 else 53) + bucket - 1 + extra))


# Grants of this project's form.


def key_header(relay_key):
    return b"\x01" + hmac.digest(relay_key, b"pushcrypt/1 relay key id\0", "sha256")[:4]


def grant_plaintext(token, environment, topic, bound, kinds, issued, expires):
    bits = sum({"alert": 1, "background": 2}[kind] for kind in kinds)
    text = bytes([1 if environment == "production" else 2, bits]) + struct.pack(">QQ", issued, expires) + bound
    return (text + lp(topic.encode(), 1) + lp(bytes.fromhex(token), 1)).ljust(407, b"\0")


# What ends each grant that was made here or came from a relay: only its phone has it.
SECRETS = {}


def seal_plaintext(relay_key, origin, plaintext, random=None):
    header = key_header(relay_key)
    grant_id = hmac.digest(relay_key, b"pushcrypt/1 grant id\0" + (random or os.urandom(16)) + plaintext, "sha256")[:16]
    key = HKDF(hashes.SHA256(), 32, grant_id, b"pushcrypt/1 grant\0").derive(relay_key)
    grant = encode(header + grant_id + AESGCM(key).encrypt(bytes(12), plaintext, header + grant_id + origin.encode()))
    SECRETS[grant] = encode(hmac.digest(relay_key, b"pushcrypt/1 grant secret\0" + grant_id, "sha256")[:16])
    return grant


def seal_grant(relay_key, origin, token, environment, topic, bound, kinds=("alert",), issued=None, expires=None):
    issued = milliseconds() if issued is None else issued
    expires = issued + LIFE if expires is None else expires
    return seal_plaintext(relay_key, origin, grant_plaintext(token, environment, topic, bound, kinds, issued, expires))


class PushKey:
    def __init__(self, seed=None):
        self.private = Ed25519PrivateKey.from_private_bytes(seed or os.urandom(32))
        self.public = self.private.public_key().public_bytes(*RAW)
        self.text = encode(self.public)

    def headers(self, origin, body, path="/v1/push", at=None):
        at = milliseconds() if at is None else at
        signed = b"pushcrypt/1 relay request\0" + lp(origin.encode()) + lp(path.encode()) + self.public + at.to_bytes(8, "big")
        signature = self.private.sign(signed + hashlib.sha256(body).digest())
        return {"Pushcrypt-Key": self.text, "Pushcrypt-Time": str(at), "Pushcrypt-Signature": encode(signature)}


def apns_collapse_id(key, name):
    return encode(hashlib.sha256(b"pushcrypt/1 relay collapse\0" + key.public + name.encode()).digest())


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        try:
            self.json = json.loads(body)
        except ValueError:
            self.json = {}  # A proxy's page.

    @property
    def code(self):
        return self.json.get("code")

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Client:
    """Speaks to a relay at `url` that calls itself `origin`. On this machine each client has an address of its own, so that limits do not meet."""

    count = int.from_bytes(os.urandom(2), "big") * 200

    def __init__(self, url, origin, topic, environment="production", authority=None):
        self.url, self.origin, self.topic, self.environment = urllib.parse.urlsplit(url), origin, topic, environment
        self.authority, self.context = authority, ssl.create_default_context(cafile=authority) if self.url.scheme == "https" else None
        self.is_local = self.url.hostname in ("127.0.0.1", "localhost")
        self.source = self.new_source()

    def new_source(self):
        if not self.is_local:
            return None
        Client.count += 1
        # Each in a /24 of its own, and few of a /16 one after the other.
        return f"127.{Client.count % 254 + 1}.{Client.count // 254 % 254 + 1}.1"

    def fresh(self):
        """The same relay, from another address."""
        return type(self)(self.url.geturl(), self.origin, self.topic, self.environment, self.authority) if self.is_local else self

    def socket(self, timeout=40, protocol=None):
        """A connection, with TLS if the relay has it."""
        port, source = self.url.port or (443 if self.context else 80), (self.source, 0) if self.source else None
        own = socket.create_connection((self.url.hostname, port), timeout, source)
        if not self.context:
            return own
        context = ssl.create_default_context(cafile=self.authority)
        if protocol:
            context.set_alpn_protocols([protocol])
        return context.wrap_socket(own, server_hostname=self.url.hostname)

    def connection(self, timeout=40):
        source = (self.source, 0) if self.source else None
        if self.context:
            return http.client.HTTPSConnection(self.url.hostname, self.url.port, timeout=timeout, source_address=source, context=self.context)
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=timeout, source_address=source)

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
        """As a polite client: it waits if it is told to, unless it has an address of its own."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        answer = self.send("POST", path, body, headers)
        while answer.status == 429 and not self.is_local:
            time.sleep(int(answer.headers["Retry-After"]))
            answer = self.send("POST", path, body, headers)
        return answer

    def phone(self, token, **more):
        return {"token": token, "environment": self.environment, "topic": self.topic} | more

    def grant(self, token, key, kinds=("alert",)):
        answer = self.post("/v1/grants", self.phone(token, push_key=key.text, kinds=list(kinds)))
        assert answer.status == 200, answer
        SECRETS[answer.json["grant"]] = answer.json["secret"]
        return answer.json["grant"]

    def revoke(self, grant, /, **more):
        """Ends a grant or, with `all=True`, all of its token."""
        return self.post("/v1/revoke", {"grant": grant, "secret": SECRETS.get(grant, "A" * 22)} | more)

    def push(self, key, *messages, body=None, origin=None, headers=None, **signing):
        body = json.dumps({"messages": messages}).encode() if body is None else body
        return self.post("/v1/push", body, key.headers(origin or self.origin, body, **signing) | (headers or {}))

    def one(self, key, message, **more):
        """The answer for one message."""
        answer = self.push(key, message, **more)
        assert answer.status == 200 and len(answer.json["answers"]) == 1, answer
        return answer.json["answers"][0]
