"""The release command under test: run as it is, with the shim between it and the C library, or under strace."""
import collections, os, pathlib, subprocess

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
PUSHCRYPT = os.environ.get("PUSHCRYPT_PROGRAM") or str(CHECKOUT / ".build/release/pushcrypt")
BUILT = CHECKOUT / ".build/faults"

# Longer than any run: a command waits for others for five seconds.
LIMIT = 60

# The exit code (negative for a signal), standard output and standard error.
Run = collections.namedtuple("Run", "exit output messages")

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "SWIFT_BACKTRACE": "enable=no"}


class Failure(Exception):
    """A requirement is violated."""


def run(arguments, input=b"", before=(), environment=None):
    """Runs the command to its end, however it ends."""
    done = subprocess.run(
        [*before, PUSHCRYPT, *map(str, arguments)], input=input, capture_output=True, timeout=LIMIT,
        env=ENVIRONMENT | (environment or {}))
    return Run(done.returncode, done.stdout, done.stderr)


def must(arguments, input=b"", environment=None):
    """Runs the command, which must succeed. Returns its output."""
    done = run(arguments, input, environment=environment)
    if done.exit != 0:
        raise Failure(f"{said(arguments)} ended with {done.exit}: {done.messages.decode()}")
    return done.output


def has_suite_2():
    return b"post-quantum" in must(["--version"])


def said(arguments):
    """A command as a user types it, without this run's folder."""
    return "pushcrypt " + " ".join(str(argument).rsplit("/", 1)[-1] for argument in arguments)


# MARK: The shim

def shim():
    """The library that stands between the command and the C library, built when its source is newer."""
    source, library = HERE / "shim.c", BUILT / "shim.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        BUILT.mkdir(parents=True, exist_ok=True)
        new = BUILT / f"shim.so.{os.getpid()}"
        subprocess.run(
            ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", new, source], check=True)
        new.rename(library)
    return str(library)


def through_shim(root, log=None, data=False, plan=None):
    """The environment of a run whose changes to files below a folder go through the shim."""
    environment = {"LD_PRELOAD": shim(), "FAULTS_ROOT": str(root), "FAULTS_CHEAP": "1"}
    if log is not None:
        environment["FAULTS_LOG"] = str(log)
    if data:
        environment["FAULTS_DATA"] = "1"
    if plan is not None:
        environment["FAULTS_PLAN"] = plan
    return environment


CHEAP = {"LD_PRELOAD": shim(), "FAULTS_CHEAP": "1"}


def late(seconds):
    """The environment of a run whose clock is late."""
    return CHEAP | {"FAULTS_CLOCK": str(seconds)}


# MARK: strace

def strace(*options):
    """The prefix of a traced command."""
    return ("strace", "-f", "-qq", *options, "--")
