"""A stand-in for Vault's transit engine, of what its documentation says: keys/NAME and sign/NAME.

    vault.py FOLDER     writes the port to FOLDER/port; FOLDER/accepted has the token that it accepts, FOLDER/fault what goes wrong next:
                        `sealed` answers 503, `close` closes the connection, `wrong` signs another message, `other` with another version
                        of the key. Each fault happens once.
"""
import base64, http.server, json, os, pathlib, sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FOLDER = pathlib.Path(sys.argv[1])
KEYS = {str(version): Ed25519PrivateKey.from_private_bytes(bytes([version]) * 32) for version in (1, 2)}


def encoded(data):
    return base64.b64encode(data).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fault(self):
        try:
            os.rename(FOLDER / "fault", FOLDER / "happened")
            return (FOLDER / "happened").read_text().strip()
        except FileNotFoundError:
            return ""

    def refused(self):
        if self.headers["X-Vault-Token"] != (FOLDER / "accepted").read_text().strip():
            self.answer(403, {"errors": ["permission denied"]})
            return True

    def do_GET(self):
        if self.refused():
            return
        if self.path != "/v1/transit/keys/push-signing":
            return self.answer(404, {"errors": []})
        keys = {version: {"name": "ed25519", "public_key": encoded(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))}
                for version, key in KEYS.items()}
        self.answer(200, {"data": {"name": "push-signing", "type": "ed25519", "keys": keys, "latest_version": 2}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.refused():
            return
        fault = self.fault()
        if fault == "sealed":
            return self.answer(503, {"errors": ["Vault is sealed"]})
        if fault == "close":
            self.close_connection = True
            return
        assert self.path == "/v1/transit/sign/push-signing"
        version = body["key_version"]
        message = base64.b64decode(body["input"], validate=True)
        signature = KEYS["1" if fault == "other" else str(version)].sign(message + b"!" * (fault == "wrong"))
        self.answer(200, {"data": {"signature": f"vault:v{version}:{encoded(signature)}", "key_version": version}})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        """A client may go before its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, address)


server = Server(("127.0.0.1", 0), Handler)
(FOLDER / "new").write_text(str(server.server_port))
os.rename(FOLDER / "new", FOLDER / "port")
server.serve_forever()
