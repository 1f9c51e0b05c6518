"""A stand-in for Apple's push service: HTTP/2 over TLS with APNs' rules, which misbehaves on demand.

With Debian's python3-h2 and python3-jwt; the rules are in rules.py.
"""
import asyncio, dataclasses, email.utils, json, socket, ssl, threading, time, uuid

import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions, h2.settings
from hyperframe.frame import GoAwayFrame

from rules import Connection, Refusal


@dataclasses.dataclass
class Request:
    method: str
    path: str
    headers: list
    body: bytes
    connection: int
    arrived: float


@dataclasses.dataclass
class Fault:
    """The fate of one request: a kind of README.md, or `answer`, with the status, reason and headers."""
    kind: str
    status: int = 0
    reason: str = ""
    headers: tuple = ()
    seconds: float = 0.3


class Mock:
    """Listens on `port` of this machine, or a free one, in a thread; use it as a context manager.

    `fault` is called with the number of the request, from 1, and the request; it returns a `Fault` or None. `taken` has
    every request that APNs would have delivered, `seen` the number of all.
    """

    def __init__(self, rules, certificate, key, authority, fault, streams, protocols=("h2",), port=0,
                 address="127.0.0.1", ahead=None):
        self.ahead = ahead  # of the clock, in seconds; None for no `date`
        self.rules, self.fault, self.streams = rules, fault, streams
        self.taken, self.seen, self.connections, self.open, self.most_open = [], 0, 0, 0, 0
        self.faults = {}
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority)
        self.tls.load_cert_chain(certificate, key)
        self.tls.verify_mode = ssl.CERT_OPTIONAL
        self.tls.set_alpn_protocols(list(protocols))
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.create_server((address, port), family=family, backlog=100)
        self.port = self.socket.getsockname()[1]
        self.ready, self.over = threading.Event(), asyncio.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()), daemon=True)

    async def run(self):
        self.loop = asyncio.get_running_loop()
        self.loop.set_exception_handler(lambda *_: None)
        server = await asyncio.start_server(
            lambda reader, writer: Client(self, reader, writer).run(), sock=self.socket, ssl=self.tls)
        self.ready.set()
        await self.over.wait()
        server.close()

    def __enter__(self):
        self.thread.start()
        self.ready.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.over.set)
        self.thread.join()


class Client:
    """One connection."""

    def __init__(self, mock, reader, writer):
        self.mock, self.reader, self.writer = mock, reader, writer
        mock.connections += 1
        self.number = mock.connections
        certificate = writer.get_extra_info("ssl_object").getpeercert() or {}
        self.state = Connection(dict(entry[0] for entry in certificate.get("subject", ())).get("userId"))
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values={
            h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: mock.streams,
            h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 65535,
        })
        self.requests = {}
        self.last = None  # of GOAWAY
        self.is_dead = self.pauses = False

    async def run(self):
        self.mock.open += 1
        self.mock.most_open = max(self.mock.most_open, self.mock.open)
        try:
            self.h2.initiate_connection()
            self.h2.increment_flow_control_window(1 << 24)
            self.flush()
            while not self.is_dead:
                data = await self.reader.read(65536)
                if not data:
                    break
                for event in self.h2.receive_data(data):
                    await self.take(event)
                self.flush()
                while self.pauses and not self.writer.is_closing():
                    await asyncio.sleep(0.05)
        except (ConnectionError, h2.exceptions.ProtocolError, ssl.SSLError, asyncio.IncompleteReadError):
            pass
        finally:
            self.mock.open -= 1
            self.writer.close()

    def flush(self):
        data = self.h2.data_to_send()
        if data and not self.writer.is_closing():
            self.writer.write(data)

    async def take(self, event):
        stream = getattr(event, "stream_id", 0) or 0
        if isinstance(event, h2.events.RequestReceived):
            self.requests[stream] = (event.headers, bytearray())
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
            if stream in self.requests:
                self.requests[stream][1].extend(event.data)
        elif isinstance(event, h2.events.StreamReset):
            self.requests.pop(stream, None)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.is_dead = True
        elif isinstance(event, h2.events.StreamEnded) and stream in self.requests:
            headers, body = self.requests.pop(stream)
            if self.last is None or stream <= self.last:
                await self.handle(stream, headers, bytes(body))

    async def handle(self, stream, headers, body):
        pseudo = {name: value for name, value in headers if name.startswith(":")}
        plain = [(name, value) for name, value in headers if not name.startswith(":")]
        request = Request(pseudo[":method"], pseudo[":path"], plain, body, self.number, time.time())
        mock = self.mock
        mock.seen += 1
        fault = mock.fault(mock.seen, request) or Fault("")
        if fault.kind:
            name = fault.kind + (f" {fault.status}" if fault.status else "")
            mock.faults[name] = mock.faults.get(name, 0) + 1
        if fault.kind in ("refuse", "reset"):
            codes = h2.errors.ErrorCodes
            code = codes.REFUSED_STREAM if fault.kind == "refuse" else codes.INTERNAL_ERROR
            return self.h2.reset_stream(stream, code)
        if fault.kind == "unread":
            return self.abort()
        if fault.kind == "answer":
            return self.answer(stream, fault.status, fault.reason, headers=fault.headers)
        if fault.kind == "expired":
            mock.rules.lenient = True
            return self.answer(stream, 403, "ExpiredProviderToken")
        try:
            mock.rules.check(request, self.state)
        except Refusal as refusal:
            return self.answer(stream, refusal.status, refusal.reason, refusal.timestamp)
        mock.taken.append(request)
        if fault.kind == "lost":
            return self.abort()
        if fault.kind == "silence":
            return
        if fault.kind == "stuck":
            self.pauses = True
            return
        if fault.kind in ("late", "slow"):
            self.pauses = fault.kind == "slow"
            asyncio.get_running_loop().call_later(fault.seconds, self.answer_late, stream)
            return
        self.answer(stream, 200)
        if fault.kind == "goaway":
            self.flush()
            self.last = stream
            reason = json.dumps({"reason": fault.reason or "Shutdown"}).encode()
            self.writer.write(GoAwayFrame(0, stream, additional_data=reason).serialize())

    def answer_late(self, stream):
        self.pauses = False
        self.answer(stream, 200)
        self.flush()

    def abort(self):
        self.flush()
        self.is_dead = True
        self.writer.transport.abort()

    def answer(self, stream, status, reason=None, timestamp=None, headers=()):
        fields = [(":status", str(status)), ("apns-id", str(uuid.uuid4())), *headers]
        if self.mock.ahead is not None:
            fields.append(("date", email.utils.formatdate(time.time() + self.mock.ahead, usegmt=True)))
        try:
            if status == 200:
                return self.h2.send_headers(stream, fields, end_stream=True)
            said = {"reason": reason} | ({"timestamp": timestamp} if timestamp is not None else {})
            self.h2.send_headers(stream, fields)
            self.h2.send_data(stream, json.dumps(said).encode(), end_stream=True)
        except h2.exceptions.ProtocolError:
            pass  # The client has ended the stream.
