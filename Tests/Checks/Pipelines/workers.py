"""Workers that are killed, and started again."""
import os, random, signal, subprocess, threading, time
from scene import expect, wait


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


class Workers:
    """Workers that are restarted whenever they end, as by an operator's supervisor."""

    def __init__(self, commands, log):
        self.commands, self.log = commands, open(log, "ab")
        self.running, self.sealers, self.kills, self.stopping = [None] * len(commands), set(), 0, threading.Event()
        self.threads = [threading.Thread(target=self.supervise, args=(index,), daemon=True) for index in range(len(commands))]
        for thread in self.threads:
            thread.start()

    def supervise(self, index):
        while not self.stopping.is_set():
            worker = self.running[index] = subprocess.Popen(self.commands[index], stderr=self.log)
            worker.wait()

    def kill_one(self):
        """Kills a worker, the program that seals for it, or both at once."""
        sealers = []
        while not sealers:
            time.sleep(0.01)
            worker = random.choice(self.running)
            sealers = children(worker.pid) if worker else []
        self.sealers.update(sealers)
        for pid in random.choice(([worker.pid], sealers, [worker.pid, *sealers])):
            kill(pid)
        self.kills += 1

    def kill_at(self, moments, arrived):
        """Kills in a separate thread, a moment after so many events have arrived."""

        def run():
            for moment in moments:
                while arrived() < moment:
                    time.sleep(0.002)
                time.sleep(random.uniform(0, 0.05))
                self.kill_one()

        threading.Thread(target=run, daemon=True).start()

    def stop(self):
        """Ends the workers as an operator does; they finish their work and leave nothing running."""
        wait(lambda: all(children(worker.pid) for worker in self.running), 60, "every worker has started")
        self.stopping.set()
        for worker in self.running:
            self.sealers.update(children(worker.pid))
            worker.send_signal(signal.SIGTERM)
        expect("exit codes of the workers", [worker.wait(60) for worker in self.running], [0] * len(self.running))
        wait(lambda: not any(map(self.seals, self.sealers)), 10, "no sealer outlives its worker")

    def seals(self, pid):
        """Whether a process is a sealer, not another process with a reused number."""
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return b"\0seal\0" in file.read()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def end(self):
        """In any case nothing continues to run."""
        self.stopping.set()
        for worker in self.running:
            for pid in [*children(worker.pid), worker.pid] if worker else []:
                kill(pid)


def moments(events, kills):
    """When to kill: spread over the arrival of the events, but not so late that none would follow."""
    return sorted(random.sample(range(events * 95 // 100), kills))
