#!/usr/bin/env python3
"""A signer (Docs/SignerProtocol.md) whose Ed25519 key stays in a key service.

    key_signer.py SOCKET vault --address https://vault:8200 --key push-signing --token-file TOKEN [--ca-file FILE]
    key_signer.py SOCKET pkcs11 --module /usr/lib/softhsm/libsofthsm2.so --token push --key signing --pin-file PIN

then `pushcrypt seal --signer unix:SOCKET --provider pcs1… --certificate FILE`. It signs messages, and nothing else. Vault: a transit key of type ed25519; the token needs `read` on
transit/keys/KEY and `update` on transit/sign/KEY, and its file is read again when Vault refuses it. PKCS#11: needs PyKCS11, and a token
with CKM_EDDSA; a session that ends is opened again. The socket gets mode 0660: its folder decides who may sign.

With --certificates the key is the provider's, and it signs certificates and nothing else, for `pushcrypt key rotate --provider-signer`:
run that one on another socket, which machines that seal do not reach.
"""
import argparse, base64, collections, http.client, json, os, queue, socket, socketserver, ssl, stat, struct, sys, threading, urllib.parse

LONGEST, TOGETHER = 4096, 64
# The requests of a client that are not answered yet, and the seconds that one of its answers may take to be read.
UNANSWERED, DEADLINE = 256, 10
MESSAGE, HEDGE, CERTIFICATE = b"pushcrypt/1 signature\0", b"pushcrypt/1 hedge seed\0", b"pushcrypt/1 certificate\0"


def is_message(body, public):
    """Whether the bytes are a message that this key signs, or the label of the hedge seed. (Docs/SignerProtocol.md)"""
    return body == HEDGE or body.startswith(MESSAGE) and body[123:155] == public and has_topic(body, 159, 193)


def is_certificate(body, public):
    """Whether the bytes are a certificate of this provider key."""
    return body.startswith(CERTIFICATE) and body[24:56] == public and has_topic(body, 56, 115)


def has_topic(body, place, rest):
    """Whether the bundle id and its length are at this place, and everything else has this many bytes."""
    count = int.from_bytes(body[place : place + 2], "big")
    return 1 <= count <= 255 and len(body) == rest + count


class Refused(Exception):
    """The service refuses to sign; its text goes to the operator, and has no secrets."""


class Vault:
    """The transit engine of Vault, one connection for each thread; it signs several messages at once."""

    def __init__(self, options):
        self.url, self.options, self.local = urllib.parse.urlsplit(options.address), options, threading.local()
        if self.url.scheme != "https" and self.url.hostname not in ("127.0.0.1", "localhost"):
            sys.exit("key_signer: error: --address must begin with https://")
        self.context = ssl.create_default_context(cafile=options.ca_file) if self.url.scheme == "https" else None
        self.name = urllib.parse.quote(options.key, safe="")
        key = self.request("GET", f"keys/{self.name}")
        if key["type"] != "ed25519":
            raise Refused(f"the key is of type {key['type']}, and ed25519 is needed")
        # The same for all messages, even if someone rotates it in Vault: phones trust this one.
        self.version = options.key_version or key["latest_version"]
        self.public = base64.b64decode(key["keys"][str(self.version)]["public_key"], validate=True)

    def token(self):
        try:
            with open(self.options.token_file) as file:
                token = file.read().strip()
        except (OSError, ValueError) as error:
            raise Refused(f"the token file cannot be read: {type(error).__name__}") from None
        if not (token.isascii() and token.isprintable()):  # An error of http.client would quote it.
            raise Refused("the token file has more than a token")
        return token

    def connection(self):
        if not getattr(self.local, "connection", None):
            kind = http.client.HTTPSConnection if self.context else http.client.HTTPConnection
            self.local.connection = kind(self.url.hostname, self.url.port or 8200, timeout=5,
                                         **({"context": self.context} if self.context else {}))
        return self.local.connection

    def request(self, method, path, body=None):
        """Tries twice: the connection may have been closed meanwhile, and the token replaced. A signature may be made twice."""
        for attempt in 1, 2:
            try:
                connection = self.connection()
                connection.request(method, f"/v1/{self.options.mount}/{path}", body and json.dumps(body), {"X-Vault-Token": self.token()})
                answer = connection.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.local.connection = None
                if attempt == 2:
                    raise Refused(f"Vault does not answer: {type(error).__name__}") from None
                continue
            if answer.status == 200:
                return json.loads(content)["data"]
            if answer.status != 403 or attempt == 2:
                raise Refused(f"Vault answers {answer.status}")

    def sign(self, messages):
        batch = [{"input": base64.b64encode(message).decode()} for message in messages]
        data = self.request("POST", f"sign/{self.name}", {"batch_input": batch, "key_version": self.version})
        results = data["batch_results"]
        if len(results) != len(messages):
            raise Refused("Vault answers another number of messages")
        return [self.signature(result) for result in results]

    def signature(self, result):
        words = result.get("signature", "").split(":")
        if words[:2] != ["vault", f"v{self.version}"] or len(words) != 3:
            return Refused(f"Vault does not sign: {result.get('error', 'no reason')}"[:200])
        return base64.b64decode(words[2], validate=True)


class PKCS11:
    """A key in a token, one session for each thread."""

    def __init__(self, options):
        import PyKCS11

        self.api, self.options, self.local, self.lock = PyKCS11, options, threading.local(), threading.Lock()
        self.library, self.wrong = PyKCS11.PyKCS11Lib(), None
        self.library.load(options.module)
        session, _ = self.session()
        point = bytes(session.getAttributeValue(self.object(session, PyKCS11.CKO_PUBLIC_KEY), [PyKCS11.CKA_EC_POINT])[0])
        if len(point) not in (32, 34):
            raise Refused("the token's key is not an Ed25519 key")
        self.public = point[-32:]  # Some tokens put it into an octet string.

    def object(self, session, kind):
        found = session.findObjects([(self.api.CKA_CLASS, kind), (self.api.CKA_LABEL, self.options.key)])
        if len(found) != 1:
            raise Refused(f"the token has {len(found)} keys of this name")
        return found[0]

    def session(self):
        if not getattr(self.local, "session", None):
            slots = [slot for slot in self.library.getSlotList(tokenPresent=True)
                     if self.library.getTokenInfo(slot).label.strip("\0 ") == self.options.token]
            if len(slots) != 1:
                raise Refused(f"there are {len(slots)} tokens of this name")
            session = self.library.openSession(slots[0], self.api.CKF_SERIAL_SESSION)
            try:
                self.log_in(session)
                self.local.session = session, self.object(session, self.api.CKO_PRIVATE_KEY)
            except BaseException:
                self.close(session)
                raise
        return self.local.session

    def log_in(self, session):
        try:
            with open(self.options.pin_file) as file:
                pin = file.read().strip()
        except (OSError, ValueError) as error:
            raise Refused(f"the PIN file cannot be read: {type(error).__name__}") from None
        with self.lock:
            if pin == self.wrong:  # A token is locked after a few wrong PINs.
                raise Refused("the token has refused this PIN, which is not tried again")
            try:
                session.login(pin)
            except self.api.PyKCS11Error as error:
                if error.value == self.api.CKR_PIN_INCORRECT:
                    self.wrong = pin
                if error.value != self.api.CKR_USER_ALREADY_LOGGED_IN:  # Another thread's login counts for all.
                    raise Refused(f"the token does not log in: {error.value:#x}") from None

    def close(self, session):
        try:
            session.closeSession()
        except self.api.PyKCS11Error:
            pass  # It has ended, or the token is away.

    def sign(self, messages):
        return [self.signature(message) for message in messages]

    def signature(self, message):
        for attempt in 1, 2:
            try:
                session, key = self.session()
                return bytes(session.sign(key, message, self.api.Mechanism(self.api.CKM_EDDSA, None)))
            except (self.api.PyKCS11Error, Refused) as error:
                # The session has ended, or the token was away.
                session, _ = getattr(self.local, "session", None) or (None, None)
                self.local.session = None
                if session:
                    self.close(session)
                if attempt == 2:
                    return error if isinstance(error, Refused) else Refused(f"the token does not sign: {error.value:#x}")


class Turns:
    """The requests of all clients, a queue for each: who asks for much waits alone."""

    def __init__(self):
        self.changed, self.clients = threading.Condition(), collections.deque()

    def add(self, client, request):
        with self.changed:
            client.waiting.append(request)
            if len(client.waiting) == 1:
                self.clients.append(client)
                self.changed.notify()

    def take(self):
        """Waits for requests, and takes one of each client in turn."""
        taken = []
        with self.changed:
            while not self.clients:
                self.changed.wait()
            while self.clients and len(taken) < TOGETHER:
                client = self.clients.popleft()
                taken.append((client, *client.waiting.popleft()))
                if client.waiting:
                    self.clients.append(client)
        return taken


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads, request_queue_size = True, 256

    def __init__(self, path, service, threads, certifies):
        self.service, self.turns, self.certifies = service, Turns(), certifies
        if os.path.lexists(path):
            if not stat.S_ISSOCK(os.lstat(path).st_mode):
                raise Refused("the socket's path is a file that is not a socket")
            os.unlink(path)
        mask = os.umask(0o117)
        super().__init__(path, Client)
        os.umask(mask)
        for _ in range(threads):
            threading.Thread(target=self.sign, daemon=True).start()

    def sign(self):
        while True:
            requests = self.turns.take()
            try:
                answers = self.service.sign([message for _, _, message in requests])
            except Refused as refused:
                answers = [refused] * len(requests)
            except Exception as error:  # Its text may have more than an operator should see.
                answers = [Refused(f"the service fails: {type(error).__name__}")] * len(requests)
            for (client, number, _), answer in zip(requests, answers):
                client.reply(number, *((1, str(answer).encode()) if isinstance(answer, Refused) else (0, answer)))


class Client(socketserver.StreamRequestHandler):
    """One thread reads a client's requests, and one writes its answers: nobody else waits for it."""

    rbufsize = 1 << 16

    def setup(self):
        super().setup()
        self.waiting, self.answers = collections.deque(), queue.SimpleQueue()
        self.room = threading.Semaphore(UNANSWERED)
        # A write that takes longer fails.
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", DEADLINE, 0))
        self.writer = threading.Thread(target=self.write, daemon=True)
        self.writer.start()

    def handle(self):
        try:
            self.read()
        except ConnectionError:
            pass  # The client has gone.

    def read(self):
        while len(head := self.rfile.read(4)) == 4 and 5 <= (count := int.from_bytes(head, "big")) <= LONGEST:
            frame = self.rfile.read(count)
            if len(frame) < count:
                return
            number, kind, body = frame[:4], frame[4], frame[5:]
            self.room.acquire()
            if kind == 1:
                good = body == b"pushcrypt-signer/1"
                self.reply(number, *((0, self.server.service.public) if good else (1, b"another protocol")))
            elif kind in (2, 3):
                # A client that may only seal must not hand the phones to another key, nor use the key for anything else.
                if (kind == 3) != self.server.certifies:
                    self.reply(number, 1, b"this signer signs only " + (b"certificates" if kind == 2 else b"messages: start one with --certificates"))
                elif not (is_certificate if kind == 3 else is_message)(body, self.server.service.public):
                    self.reply(number, 1, b"these bytes are not what this key signs")
                else:
                    self.server.turns.add(self, (number, body))
            else:
                self.reply(number, 1, b"an unknown request")

    def reply(self, number, status, body):
        self.answers.put(struct.pack(">I", 5 + len(body)) + number + bytes([status]) + body)

    def write(self):
        """Writes the answers in turn; a client that does not read them, or that has gone, is let go."""
        gone = False
        while answer := self.answers.get():
            try:
                if not gone:
                    self.wfile.write(answer)
            except OSError:
                gone = True
                try:
                    self.request.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # It has gone, and will ask again.
            self.room.release()

    def finish(self):
        # The connection is closed once every request has its answer, or nobody reads them.
        for _ in range(UNANSWERED):
            self.room.acquire()
        self.answers.put(b"")
        self.writer.join()
        super().finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("socket")
    services = parser.add_subparsers(dest="service", required=True)
    vault = services.add_parser("vault")
    pkcs11 = services.add_parser("pkcs11")
    for service, names in (vault, ("address", "key", "token-file")), (pkcs11, ("module", "token", "key", "pin-file")):
        for name in names:
            service.add_argument(f"--{name}", required=True)
        service.add_argument("--threads", type=int, default=4)
        service.add_argument("--certificates", action="store_true")
    vault.add_argument("--mount", default="transit")
    vault.add_argument("--key-version", type=int)
    vault.add_argument("--ca-file")
    options = parser.parse_args()
    try:
        service = {"vault": Vault, "pkcs11": PKCS11}[options.service](options)
        with Server(options.socket, service, options.threads, options.certificates) as server:
            server.serve_forever()
    except Refused as refused:
        sys.exit(f"key_signer: error: {refused}")


if __name__ == "__main__":
    main()
