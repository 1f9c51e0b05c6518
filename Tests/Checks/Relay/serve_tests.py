"""`pushcrypt device accept --serve`, as a web server uses it: command_test.py runs these."""
import base64, contextlib, json, os, shutil, signal, socket, stat, subprocess, sys, time

from phone import Phone, Servers


def ask(path, body, method="POST", length=None):
    """Status and body of a request over SCGI."""
    headers = f"CONTENT_LENGTH\0{len(body) if length is None else length}\0SCGI\x001\0REQUEST_METHOD\0{method}\0"
    with socket.socket(socket.AF_UNIX) as own:
        own.settimeout(30)
        own.connect(path)
        own.sendall(f"{len(headers)}:{headers},".encode() + body)
        answer = b"".join(iter(lambda: own.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


class Serving:
    def __init__(self, world):
        self.path, self.store = os.path.join(world.folder, "accept.sock"), os.path.join(world.folder, "server")
        self.words = [os.path.abspath(sys.argv[1]), "--store", self.store, "device", "accept", "--serve", self.path]

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(600):
            if self.process.poll() is not None or self.is_there():
                break
            time.sleep(0.05)
        return self

    def is_there(self):
        with socket.socket(socket.AF_UNIX) as own:
            return own.connect_ex(self.path) == 0

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


HELLO = json.dumps({"hello": base64.urlsafe_b64encode(bytes(16)).rstrip(b"=").decode()}).encode()


def test_a_web_server_gives_posts_to_a_socket(world):
    with Serving(world) as serving:
        path = serving.path
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
        assert ask(path, b'{"answer":"AQ"}') == (200, b"")
        assert json.loads(serving.process.stdout.readline()) == {"outcome": "answer", "answer": "AQ"}
        status, reply = ask(path, HELLO)
        assert status == 200 and "signature" in json.loads(reply), reply
        assert [ask(path, body)[0] for body in (b"", b"{}", b"x" * 60_000)] == [404] * 3
        assert ask(path, b"", "GET")[0] == 405
        # It is not read: the end of the connection may come before the answer.
        with contextlib.suppress(ConnectionError):
            assert ask(path, b"x" * 66_000)[0] == 413
        assert [ask(path, b"{}", length=length)[0] for length in ("x", "-1", "")] == [400] * 3
        # It goes on after all of that, finishes what is open, and goes.
        assert ask(path, HELLO)[0] == 200
        serving.process.terminate()
        assert serving.process.wait(20) == 0 and not os.path.exists(path)


def test_a_socket_that_a_killed_process_left_is_replaced_and_one_in_use_is_not(world):
    with Serving(world) as first:
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
        assert os.path.exists(first.path)
    with Serving(world) as second:
        other = subprocess.run(second.words, capture_output=True, text=True, timeout=30)
        assert other.returncode == 1 and "in use" in other.stderr, other.stderr
        assert ask(second.path, HELLO)[0] == 200


def test_a_silent_web_server_waits_for_10_seconds_at_most(world):
    with Serving(world) as serving:
        start = time.monotonic()
        assert ask(serving.path, b"", length=5)[0] == 408 and 8 < time.monotonic() - start < 20
        assert ask(serving.path, HELLO)[0] == 200


def test_a_phone_pairs_through_a_socket_and_a_restored_store_is_opened_anew(world):
    with Serving(world) as serving:
        def run(store, words, body):
            status, answer = ask(serving.path, body.encode())
            return {200: 0, 404: 65}.get(status, 1), answer.decode()

        servers = Servers(run)
        phone = Phone(os.path.join(world.folder, "phones"), world.origin, world.token, servers)
        code = world.run("device", "pair", "new", "--url", f"{servers.address}/server/pair").strip()
        said = phone.tell(pair=code, **{"as": "server"})
        assert said["status"] == "registered", said
        line = serving.process.stdout.readline()
        assert json.loads(line)["outcome"] == "added", line
        # As after a restore: other files of the same names.
        shutil.copytree(serving.store, serving.store + ".copy")
        os.rename(serving.store, serving.store + ".old")
        os.rename(serving.store + ".copy", serving.store)
        assert phone.tell(log_out="server") == {}, "log out"
        for _ in range(100):
            if not world.run("device", "list"):
                break
            time.sleep(0.1)
        assert world.run("device", "list") == "", "the device remains"
        phone.end()
