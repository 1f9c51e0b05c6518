"""A client of HTTP/2, with Debian's python3-h2: over https it offers only `h2`, over http it begins with HTTP/2."""
import collections, json

import h2.config, h2.connection, h2.events, hpack
from hyperframe.frame import GoAwayFrame, HeadersFrame, SettingsFrame

from client import Answer

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def beginning(*frames, window=65_535):
    """What such a client sends first."""
    settings = SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: window})
    return PREFACE + b"".join(frame.serialize() for frame in (settings, *frames))


def headers_frame(stream, method, path, *flags):
    fields = [(":method", method), (":scheme", "http"), (":authority", "a"), (":path", path)]
    return HeadersFrame(stream, data=hpack.Encoder().encode(fields), flags=flags)


class HTTP2:
    """A connection. Its requests may be open at the same time."""

    def __init__(self, client, timeout=40):
        self.client, self.socket = client, client.socket(timeout, "h2")
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.headers, self.bodies, self.ended = {}, collections.defaultdict(bytes), {}
        self.goes_away = False
        # This library reads nothing more after a GOAWAY.
        self.h2._frame_dispatch_table[GoAwayFrame] = self.went_away
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def went_away(self, _):
        self.goes_away = True
        return [], []

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def ask(self, method, path, body=b"", headers=()):
        """Sends a request; returns its stream."""
        stream = self.h2.get_next_available_stream_id()
        scheme = "https" if self.client.context else "http"
        pseudo = [(":method", method), (":scheme", scheme), (":authority", self.client.url.netloc), (":path", path)]
        fields = [(name.lower(), value) for name, value in dict(headers).items()]
        self.h2.send_headers(stream, pseudo + fields + [("content-length", str(len(body)))], end_stream=not body)
        while body:
            while stream not in self.ended and not (room := min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)):
                assert self.receive(), "the connection has ended"
            if stream in self.ended:
                # The relay reads no more.
                return stream
            part, body = body[:room], body[room:]
            self.h2.send_data(stream, part, end_stream=not body)
            self.flush()
        self.flush()
        return stream

    def receive(self):
        """Takes what comes; returns whether the connection is still there."""
        data = self.socket.recv(65536)
        for event in self.h2.receive_data(data) if data else ():
            stream = getattr(event, "stream_id", None)
            if isinstance(event, h2.events.ResponseReceived):
                self.headers[stream] = dict(event.headers)
            elif isinstance(event, h2.events.DataReceived):
                self.bodies[stream] += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
            elif isinstance(event, h2.events.StreamEnded):
                self.ended[stream] = None
            elif isinstance(event, h2.events.StreamReset):
                self.ended.setdefault(stream, event.error_code)
        if data:
            self.flush()
        return bool(data)

    def answer(self, stream):
        """The answer; or the code with which the stream was ended."""
        while stream not in self.ended:
            assert self.receive(), "the connection has ended"
        if stream not in self.headers:
            return self.ended[stream]
        headers = self.headers[stream]
        return Answer(int(headers[":status"]), headers, self.bodies[stream])

    def post(self, path, value, headers=()):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.answer(self.ask("POST", path, body, headers))

    def push(self, key, *messages):
        """Sends a signed request; returns its stream."""
        body = json.dumps({"messages": messages}).encode()
        return self.ask("POST", "/v1/push", body, key.headers(self.client.origin, body))
