"""A simulated phone with the library's accounts and extension, RelayPhone, and the web in front of the stores of self-hosted servers."""
import base64, contextlib, http.server, json, os, sqlite3, subprocess, sys, threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(f"{HERE}/../Secrets")
import forms

PROGRAM = os.path.realpath(os.path.join(HERE, "../../../.build/debug/RelayPhone"))


class Servers:
    """POST /STORE/pair, /STORE/register and /STORE/end: what the command answers, as Docs/SelfHostedServer.md says. `run` runs it for a store."""

    def __init__(self, run):
        servers = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                _, store, what = self.path.split("/")
                code, answer = servers.serve(store, what, body)
                self.send_response({0: 200, 65: 404}.get(code, 503))
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer.encode())

        self.run, self.posts, self.is_down = run, [], False
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, store, what, body):
        self.posts.append((store, what, body))
        if self.is_down:
            return 1, ""
        if what == "register":
            record = json.loads(body)["record"]
            device = json.loads(base64.urlsafe_b64decode(record + "=" * (-len(record) % 4)))["device"]
            return self.run(store, f"device add {device} - --reply", body)
        return self.run(store, "device accept", body)


class Phone:
    """RelayPhone of the debug build, with its files in `folder`. `token` are hexadecimal digits."""

    def __init__(self, folder, origin, token, servers):
        self.command = [PROGRAM, origin, token, servers.address]
        places = {"PUSHCRYPT_KEYCHAIN": "keychain", "PUSHCRYPT_APP_GROUPS": "groups", "XDG_DATA_HOME": "app"}
        self.environment = os.environ | {name: os.path.join(folder, place) for name, place in places.items()}
        self.store = os.path.join(folder, "keychain/com.example.app")
        self.launch()

    def launch(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, **asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def state(self, change=None):
        """What the phone has stored, without the secrets of its keys. `change` may change it, while no phone runs."""
        with open(f"{self.store}/store.key", "rb") as file:
            key = file.read()
        with contextlib.closing(sqlite3.connect(f"{self.store}/keystore.db")) as database, database:
            revision, sealed = database.execute("SELECT revision, sealed FROM states WHERE name = 'device'").fetchone()
            state, secrets = forms.stored_state("device", sealed, key, revision)
            if change:
                change(state)
                form = b"\1" + len(secrets).to_bytes(4, "big") + b"".join(bytes([len(secret)]) + secret for secret in secrets)
                sealed = forms.sealed(form + json.dumps(state).encode(), revision + b"device", key)
                database.execute("UPDATE states SET sealed = ? WHERE name = 'device'", [sealed])
        return state

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
