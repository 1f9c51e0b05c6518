"""A stand-in for Apple's push service: HTTP/2 over TLS, with APNs' rules, which keeps the bytes that arrive."""
import asyncio, contextvars, dataclasses, json, logging, ssl, threading, uuid
import hypercorn.asyncio.run
from hypercorn.asyncio import serve
from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config
from rules import Connection, Refusal

# Clients end their connections while hypercorn still has frames for them; its messages about that are not findings.
logging.getLogger("asyncio").setLevel(logging.CRITICAL)

connection = contextvars.ContextVar("connection")


@dataclasses.dataclass
class Request:
    method: str
    path: str
    headers: list
    body: bytes


class Server(TCPServer):
    """ASGI does not identify the client, so the connection is stored where the application finds it."""

    async def run(self):
        tls = self.writer.get_extra_info("ssl_object")
        subject = dict(entry[0] for entry in (tls.getpeercert() or {}).get("subject", ()))
        connection.set(Connection(certificate_topic=subject.get("userId")))
        await super().run()


hypercorn.asyncio.run.TCPServer = Server


class Endpoint:
    """Runs in a separate thread; `arrived` has every accepted request, in order."""

    def __init__(self, rules, certificate, key, authority):
        self.rules, self.arrived, self.protocols = rules, [], set()
        self.config = Config()
        self.config.bind = ["127.0.0.1:0"]
        self.config.certfile, self.config.keyfile, self.config.ca_certs = certificate, key, authority
        self.config.verify_mode = ssl.CERT_OPTIONAL
        self.config.alpn_protocols = ["h2"]
        self.config.h2_max_concurrent_streams = 500
        self.config.loglevel = "ERROR"
        self.config.accesslog = None
        self.loop = asyncio.new_event_loop()
        self.stopping = asyncio.Event()
        sockets = self.config.create_sockets()
        self.port = sockets.secure_sockets[0].getsockname()[1]
        self.config.create_sockets = lambda: sockets
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(serve(self.app, self.config, shutdown_trigger=self.stopping.wait))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join(10)  # After a failure a client's connection may still be open, for which it would wait.

    async def app(self, scope, receive, send):
        if scope["type"] != "http":
            return
        self.protocols.add(scope["http_version"])
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        headers = [(name.decode().lower(), value.decode()) for name, value in scope["headers"]]
        request = Request(scope["method"], scope["path"], headers, body)
        name = dict(headers).get("apns-id") or str(uuid.uuid4())
        status, answer = 200, b""
        try:
            self.rules.check(request, connection.get())
            self.arrived.append(request)
        except Refusal as refusal:
            said = {"reason": refusal.reason}
            if refusal.timestamp is not None:
                said["timestamp"] = refusal.timestamp
            status, answer = refusal.status, json.dumps(said).encode()
        await send({"type": "http.response.start", "status": status, "headers": [(b"apns-id", name.encode())]})
        await send({"type": "http.response.body", "body": answer})
