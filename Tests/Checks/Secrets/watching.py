"""The search in a running process: traced through single commands, and waiting in the middle of a batch."""

import json, os, resource, shutil, signal, sqlite3, subprocess, threading, time

import forms, memory, scenes, tracing

# Calls that occur while a key is being moved into guarded memory: brk, mmap, munmap, mprotect, madvise, mlock, munlock;
# and getrandom, when libsodium starts. None of them blocks.
ON_THE_WAY = {
    "x86_64": {12, 9, 11, 10, 28, 149, 150, 318},
    "aarch64": {214, 222, 215, 226, 233, 228, 229, 278},
}[os.uname().machine]
# The calls that end a process.
ENDS = {231, 94}
NOBODY = 65534


class Fault(Exception):
    """A secret is where none may be."""


def check(found, allowed: tuple[str, ...], where: str, text: tuple[str, ...] = ()) -> None:
    """`allowed` names secrets whose forms in `text` may be in ordinary memory."""
    for name, mapping, address in found:
        if mapping.is_guarded:
            continue
        if any(form in name for form in text) and any(name.startswith(secret) for secret in allowed):
            continue
        raise Fault(f"{where}: {name} in {mapping.kind} at {address:#x}")


def check_surroundings(process: int, needles, where: str) -> None:
    """Arguments and environment, and that no core is written."""
    for name in ("cmdline", "environ"):
        with open(f"/proc/{process}/{name}", "rb") as file:
            content = file.read()
        for secret, needle in needles:
            if needle in content:
                raise Fault(f"{where}: {secret} in /proc/PID/{name}")


def trace(scene: scenes.Scene, command: scenes.Command) -> tuple[int, int]:
    """Stops a command at every system call that may wait. Returns the number of calls, and of guarded secrets."""
    everything, halves = forms.needles(scene.secrets), forms.halves(scene.secrets)
    calls, guarded = 0, set()
    has_begun = False

    def visit(process: int) -> None:
        nonlocal calls, has_begun
        with open(f"/proc/{process}/syscall") as file:
            number = file.read().split()[0]
        if number == "running" or int(number) in ON_THE_WAY:
            return
        # Before it opens a file of the scene, it has no secrets.
        has_begun = has_begun or opens_below(process, scene.directory)
        if not has_begun:
            return
        calls += 1
        is_end = int(number) in ENDS
        where = f"pushcrypt {command.line}: system call {number}, the {calls}th"
        found = memory.snapshot(process).search(everything if is_end or calls % 10 == 1 else halves)
        guarded.update(name.rpartition(" (")[0] for name, mapping, _ in found if mapping.is_guarded)
        check(found, () if is_end else command.text, where, command.forms)
        if calls % 10 == 1:
            check_surroundings(process, everything, where)

    output = os.open(scene.path("output"), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open("/dev/null", os.O_RDONLY)
    try:
        arguments = [scene.program] + scene.arguments(command.line)
        code = tracing.run(arguments, scene.environment, scene.directory, (nothing, output, output), visit)
        said = os.pread(output, 1 << 20, 0)
    finally:
        os.close(output)
        os.close(nothing)
    if code != 0 or calls == 0:
        raise Fault(f"pushcrypt {command.line} ended with {code} after {calls} calls: {said[-500:].decode()}")
    for name, needle in everything:
        if needle in said:
            raise Fault(f"pushcrypt {command.line} wrote {name}")
    return calls, len(guarded)


def opens_below(process: int, directory: str) -> bool:
    """Whether a file of the scene is open, other than the standard streams."""
    for descriptor in os.listdir(f"/proc/{process}/fd"):
        try:
            if int(descriptor) > 2 and os.readlink(f"/proc/{process}/fd/{descriptor}").startswith(directory):
                return True
        except OSError:
            continue
    return False


# MARK: A batch that waits


BATCHES = [
    ("--store P seal --batch --topic com.example.app", "seal", ("P: sealing key", "P: authentication key", "P: signing key")),
    ("seal --batch --signing-key-file provider.key --topic com.example.app", "seal-to", ("provider.key",)),
    ("--store D open --batch", "open", ("D: sealing key", "D: authentication key")),
    ("--store W open --batch --passphrase-file pass", "open", ("W: sealing key", "W: authentication key")),
]


def lines(scene: scenes.Scene, kind: str) -> list[bytes]:
    """Lines that succeed, and some that fail."""
    if kind == "open":
        push = scene.read("push.json")
        broken = push.replace('"ENCRYPTED_DATA":"AW', '"ENCRYPTED_DATA":"Ag')
        other = push[:-8] + ("A" if push[-8] != "A" else "B") + push[-7:]
        return [text.encode() for text in (push, broken, other, "no JSON")] * 20
    message = json.loads(scenes.PAYLOAD)
    line = {"to": scene.read("phone.pub") if kind == "seal-to" else "phone1", "payload": message}
    return [json.dumps(line).encode(), b'{"to":"nobody","payload":{"aps":{}}}', b"no JSON"] * 20


def wait_in_batch(scene: scenes.Scene, line: str, kind: str, expected: tuple[str, ...]) -> int:
    """Checks a batch that has answered everything and waits for more. Returns the number of secrets in guarded memory.
    """
    needles = forms.needles(scene.secrets)
    where = f"pushcrypt {line}"
    process = subprocess.Popen(
        [scene.program] + scene.arguments(line), cwd=scene.directory, env=scene.environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        sent = lines(scene, kind)
        process.stdin.write(b"\n".join(sent) + b"\n")
        process.stdin.flush()
        answers = [process.stdout.readline() for _ in sent]
        if not all(answers):
            raise Fault(f"{where} has not answered every line")
        time.sleep(0.2)
        process.send_signal(signal.SIGSTOP)
        found = memory.snapshot(process.pid).search(needles)
        check(found, (), where)
        check_surroundings(process.pid, needles, where)
        check_limits(process.pid, where)
        process.send_signal(signal.SIGCONT)
    finally:
        rest, errors = process.communicate()
    for name, needle in needles:
        if any(needle in text for text in (*answers, rest, errors)):
            raise Fault(f"{where} wrote {name}")
    guarded = {name.rpartition(" (")[0] for name, mapping, _ in found if mapping.is_guarded}
    for beginning in expected:
        # Finding nothing outside proves nothing unless it is inside.
        if not any(name.startswith(beginning) for name in guarded):
            raise Fault(f"{where}: nothing of {beginning} is in guarded memory either: {sorted(guarded)}")
    return len(guarded)


def wait_for_lock(scene: scenes.Scene) -> int:
    """Traces a rotation that waits for another writer of its store."""
    database = sqlite3.connect(scene.path("D/keystore.db"), isolation_level=None, check_same_thread=False)
    database.execute("BEGIN IMMEDIATE")
    release = threading.Timer(1, lambda: database.execute("ROLLBACK"))
    release.start()
    try:
        return trace(scene, scenes.Command("--store D key rotate default"))[0]
    finally:
        release.join()
        database.close()


# MARK: Cores


def check_limits(process: int, where: str) -> None:
    if resource.prlimit(process, resource.RLIMIT_CORE) != (0, 0):
        raise Fault(f"{where}: a core may be written")


def check_dumpable(scene: scenes.Scene) -> None:
    """As a user other than root with core dumps enabled: the files below /proc of a process that is not dumpable still
    belong to root, and a crash leaves no core."""
    folder = scene.path("crash")
    os.mkdir(folder)
    program = shutil.copy(scene.program, folder)
    os.chmod(program, 0o755)
    for path in (scene.directory, folder):
        os.chmod(path, 0o777)
    line = scene.arguments("seal --batch --signing-key-file fd:KEY --topic com.example.app")
    with open(scene.path("provider.key")) as key:
        line = [word.replace("KEY", str(key.fileno())) for word in line]
        process = start_as_nobody([program, *line], folder, key.fileno())
        ordinary = start_as_nobody(["/bin/cat"], folder)
        try:
            process.stdin.write(lines(scene, "seal-to")[0] + b"\n")
            process.stdin.flush()
            if b"ENCRYPTED_DATA" not in process.stdout.readline():
                raise Fault("a batch of an ordinary user seals nothing")
            if os.stat(f"/proc/{ordinary.pid}/environ").st_uid == 0:
                raise Fault("another process belongs to root too: nothing can be told here")
            if os.stat(f"/proc/{process.pid}/environ").st_uid != 0:
                raise Fault("the process is dumpable")
            os.kill(process.pid, signal.SIGQUIT)
            _, status = os.waitpid(process.pid, 0)
            if not os.WIFSIGNALED(status) or os.WCOREDUMP(status) or os.listdir(folder) != [os.path.basename(program)]:
                raise Fault(f"a crash leaves {os.listdir(folder)}, status {status}")
        finally:
            ordinary.kill()
            ordinary.communicate()
            process.returncode = 0
            process.communicate()


def start_as_nobody(arguments: list[str], folder: str, *descriptors: int) -> subprocess.Popen:
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    return subprocess.Popen(
        arguments, cwd=folder, env={}, pass_fds=descriptors, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, user=NOBODY, group=NOBODY, extra_groups=[],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited))
