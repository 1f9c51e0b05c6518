"""A server for the attachment tests: prints its port, and serves until its input ends.

    python3 attachment-server.py FOLDER [CERTIFICATE KEY]

    /file/NAME       a file of the folder
    /redirect/N/P    N redirects, then path P
    /to?URL          a redirect to URL
    /other/HOST/P    a redirect to path P of this server under another name
    /endless         bytes without end or length
    /liar/NAME       a file, announced as twice as long as it is
    /slow/NAME       the first half of a file, and no more
    /status/N        an answer with this status, and a body
    /echo            of a POST: its type and body, with status 429
    /log             the paths so far
"""

import http.server
import pathlib
import ssl
import sys
import threading

FOLDER = pathlib.Path(sys.argv[1])
asked = []
over = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        asked.append(self.path)
        self.close_connection = True
        kind, _, rest = self.path.lstrip("/").partition("/")
        if self.path.startswith("/to?"):
            self.redirect(self.path.partition("?")[2])
        elif kind == "other":
            self.redirect(f"http://{rest.partition('/')[0]}:{server.server_address[1]}/{rest.partition('/')[2]}")
        elif kind == "redirect":
            number, _, path = rest.partition("/")
            self.redirect(f"/redirect/{int(number) - 1}/{path}" if int(number) > 1 else f"/{path}")
        elif kind == "file":
            self.answer(200, (FOLDER / rest).read_bytes())
        elif kind == "liar":
            body = (FOLDER / rest).read_bytes()
            self.answer(200, body, length=2 * len(body))
        elif kind == "slow":
            body = (FOLDER / rest).read_bytes()
            self.answer(200, body[: len(body) // 2], length=len(body))
            over.wait()
        elif kind == "endless":
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            # At full speed, a client would write gigabytes before it can stop.
            while not over.wait(0.005):
                self.wfile.write(b"\0" * 65536)
        elif kind == "status":
            self.answer(int(rest), b"no")
        elif kind == "log":
            self.answer(200, "\n".join(asked).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/echo":
            asked.append(self.path)
            self.answer(429, b"%s %s" % (self.headers["Content-Type"].encode(), body), retry="7")
        else:
            self.do_GET()

    def redirect(self, url):
        self.send_response(302)
        self.send_header("Location", url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, status, body, length=None, retry=None):
        self.send_response(status)
        if retry:
            self.send_header("Retry-After", retry)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def handle(self):
        # Clients disconnect early; this is part of the test.
        try:
            super().handle()
        except OSError:
            pass

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
over.set()
