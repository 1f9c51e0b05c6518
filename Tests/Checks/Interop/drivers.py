"""The drivers of the packages as processes: each question is a line, and so is each answer. README.md describes the language."""
import os
import subprocess
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
BUILT = os.path.join(ROOT, ".build/interop")
COMMANDS = {
    "python": [os.path.join(ROOT, ".build/languages/python/environment/bin/python"), "-B", "Tests/Checks/Interop/python/driver.py"],
    "javascript": ["node", os.path.join(ROOT, ".build/languages/javascript/driver.mjs")],
    "go": [os.path.join(ROOT, ".build/languages/go/driver")],
    "java": ["java", "-cp", os.path.join(ROOT, ".build/languages/java/pushcrypt.jar:") + os.path.join(ROOT, ".build/languages/java/driver"),
             "-XX:+UseSerialGC", "-Xmx512m", "Driver"],
}

# Seconds that a driver may take for an answer.
PATIENCE = 120


class Failure(Exception):
    """A violated requirement. The text describes it and how to repeat the question."""


def options(values):
    """Names and values, lists of bytes or texts, as words `name=hex`."""
    texts = [(name, value.encode() if isinstance(value, str) else value) for name, all_ in values.items() for value in all_]
    return "".join(f" {name}={value.hex()}" for name, value in texts)


class Driver:
    def __init__(self, language):
        self.language = language
        self.process = subprocess.Popen(
            COMMANDS[language], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1 << 20
        )
        self.since = None
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """Ends a driver that hangs, so that the waiting caller continues."""
        while self.process.poll() is None:
            since = self.since
            if since is not None and time.monotonic() - since > PATIENCE:
                self.process.kill()
            time.sleep(1)

    def ask(self, questions):
        """The words of each answer, in order. Questions are written while answers are read."""
        writer = threading.Thread(target=self.write, args=(questions,))
        writer.start()
        answers = []
        for question in questions:
            self.since = time.monotonic()
            line = self.process.stdout.readline()
            if not line:
                raise Failure(f"{self.language}: ended with {self.process.wait()} instead of an answer to: {question[:2000]}")
            answers.append(line.split())
        self.since = None
        writer.join()
        return answers

    def write(self, questions):
        try:
            for question in questions:
                self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise Failure(f"{self.language}: ended with {self.process.returncode}")
