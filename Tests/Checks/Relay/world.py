"""Relays of this project for tests: on Node, and behind nginx; each with a local APNs."""
import json, os, re, shutil, socket, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Send")]
from client import Client  # noqa: E402
from serve import KEY, TEAM, serve  # noqa: E402

TOPIC, ORIGIN = "com.example.app", "https://relay.example.com"
SERVE = os.path.join(ROOT, "Sources/Relay/serve.mjs")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as own:
        return own.getsockname()[1]


def wait_for(port, process, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


class Relay:
    """A process. `folder` has its files; `start` returns whether it listens."""

    def __init__(self, node, folder, **configuration):
        self.node, self.folder = node, folder
        self.configuration, self.port, self.process = configuration, free_port(), None
        self.log = os.path.join(os.path.dirname(folder), os.path.basename(folder) + ".log")

    def make(self, mock, apns):
        made = self.run("init", self.folder, ORIGIN, TOPIC, TEAM, os.path.join(apns, f"AuthKey_{KEY}.p8"))
        if made.returncode:
            raise AssertionError(made.stderr)
        shutil.copy(os.path.join(apns, "authority.pem"), self.folder)
        address = f"https://localhost:{mock.port}"
        self.configure(listen=f"127.0.0.1:{self.port}", trusted_proxies=0, kinds=["alert", "background"], apns_authority="authority.pem",
                       apns={"production": address, "development": address}, **self.configuration)
        return self

    def run(self, *arguments):
        return subprocess.run([self.node, SERVE, *arguments], capture_output=True, text=True, timeout=30)

    def configure(self, **members):
        path = os.path.join(self.folder, "relay.json")
        with open(path) as file:
            known = json.load(file)
        with open(path, "w") as file:
            json.dump({name: value for name, value in (known | members).items() if value is not None}, file)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.node, SERVE, self.folder], stdout=log, stderr=log)
        return wait_for(self.port, self.process)

    def stop(self, kill=False):
        """The exit code."""
        if self.process:
            (self.process.kill if kill else self.process.terminate)()
            return self.process.wait(40)

    def restart(self, kill=False):
        self.stop(kill)
        return self.start()

    def logged(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def client(self):
        return Client(f"http://127.0.0.1:{self.port}", ORIGIN, TOPIC)

    def __enter__(self):
        assert self.start(), self.logged()[-2000:]
        return self

    def __exit__(self, *_):
        self.stop()


NGINX = """
daemon off; {user} pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{
{server}
    }}
}}
"""


class BehindNginx(Relay):
    """A relay whose proxy is nginx with the lines of Docs/SelfHosted.md."""

    word = "http2"

    def make(self, mock, apns):
        super().make(mock, apns)
        with open(os.path.join(ROOT, "Docs/SelfHosted.md"), encoding="utf-8") as file:
            lines = re.search(r"```nginx\n(.*?)```", file.read(), re.DOTALL)[1]
        self.outer, self.authority = free_port(), os.path.join(apns, "authority.pem")
        for name, file in (("", "service.pem"), ("_key", "service.key")):
            lines = re.sub(f"ssl_certificate{name} .*;", f"ssl_certificate{name} {os.path.join(apns, file)};", lines)
        assert "listen 443 ssl http2;" in lines
        lines = re.sub("listen .*;|server_name .*;", "", lines).replace("127.0.0.1:8787", f"127.0.0.1:{self.port}")
        lines = re.sub(r"^\s*server \{|^\}", "", lines, flags=re.MULTILINE)
        self.nginx_file = os.path.join(self.folder, "nginx.conf")
        server = f"listen 127.0.0.1:{self.outer} ssl {self.word};\n{lines}"
        with open(self.nginx_file, "w") as file:
            file.write(NGINX.format(folder=self.folder, user="user root;" if os.geteuid() == 0 else "", server=server))
        self.configure(trusted_proxies=1)
        return self

    def start(self):
        nginx = next(path for path in ("/usr/sbin/nginx", shutil.which("nginx")) if path and os.path.exists(path))
        self.nginx = subprocess.Popen([nginx, "-c", self.nginx_file, "-e", os.path.join(self.folder, "nginx.log")])
        return super().start() and wait_for(self.outer, self.nginx)

    def stop(self, kill=False):
        self.nginx.terminate()
        self.nginx.wait()
        return super().stop(kill)

    def client(self):
        return Client(f"https://localhost:{self.outer}", ORIGIN, TOPIC, self.authority)


class BehindOldNginx(BehindNginx):
    """Its nginx offers only HTTP/1.1."""

    word = ""


class Place:
    """A folder with a local APNs, for relays."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="relay-")
        self.count = 0

    def __enter__(self):
        self.apns = os.path.join(self.folder, "apns")
        self.mock = serve(self.apns, [TOPIC]).__enter__()
        self.mock.taken = []
        return self

    def __exit__(self, *_):
        self.mock.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    def relay(self, node, kind=Relay, **configuration):
        self.count += 1
        return kind(node, os.path.join(self.folder, f"relay{self.count}"), **configuration).make(self.mock, self.apns)
