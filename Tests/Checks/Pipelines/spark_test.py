"""The Spark job of the page seals a folder of events, and some of its sealers are killed; every phone shows every message once."""
import contextlib, glob, json, os, random, re, signal, subprocess, sys, threading, time
from scene import BROKEN, Phones, Provider, event, expect, figure, kill, main

EVENTS, KILLS, FILES = int(os.environ.get("EVENTS", 100_000)), int(os.environ.get("KILLS", 5)), 20
FOLDER, PROGRAM, PAGE = sys.argv[1:]
IMPORTS = """import shlex
from pyspark import StorageLevel
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("seal").getOrCreate()
"""


def write_events(provider, folder):
    """Writes the events to several files, with keys in the lines: the machines of a cluster have no store."""
    os.mkdir(folder)
    broken = [line.replace(b"phone1", provider.keys["phone1"].encode()) for line, _ in BROKEN if line]
    for number in range(FILES):
        with open(os.path.join(folder, f"events{number:02}"), "wb") as file:
            for one in range(number * EVENTS // FILES, (number + 1) * EVENTS // FILES):
                file.write(event(one, provider.keys) + b"\n")
            if number < len(broken):
                file.write(broken[number] + b"\n")
    return len(broken)


def write_job(places):
    """The page's lines, with places of this machine."""
    with open(PAGE) as file:
        lines = re.search("<!-- example: spark -->\n```python\n(.*?)```", file.read(), re.DOTALL)[1]
    for name, place in places.items():
        expect(f"{name} in the page", lines.count(name), 1)
        lines = lines.replace(name, place)
    job = os.path.join(FOLDER, "job.py")
    with open(job, "w") as file:
        file.write(IMPORTS + lines)
    return job


def sealers():
    """The sealers that the job started; the shells around them have another name."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path, "rb") as file:
            if file.read().split(b"\0")[0] == PROGRAM.encode():
                yield int(path.split("/")[2])


def kill_some(job, killed):
    """Kills sealers at random moments while the job runs."""
    while job.poll() is None and len(killed) < KILLS:
        time.sleep(random.uniform(0, 0.5))
        for sealer in list(sealers())[:1]:
            if sealer not in killed:
                kill(sealer)
                killed.append(sealer)


def lines(folder):
    for path in sorted(glob.glob(os.path.join(folder, "part-*"))):
        with open(path, "rb") as file:
            yield from file.read().splitlines()


def test():
    provider = Provider(FOLDER, PROGRAM)
    given, made, key = (os.path.join(FOLDER, name) for name in ("events", "made", "signing.key"))
    broken = write_events(provider, given)
    provider.run("--store", provider.store, "key", "export", "--secret", "--output", key)

    job_file = write_job({
        "/usr/bin/pushcrypt": PROGRAM, "/run/secrets/signing.key": key, '"events"': repr(given), '"sealed"': repr(os.path.join(made, "sealed")),
        '"refused"': repr(os.path.join(made, "refused"))})
    # Local mode with four attempts per task, as on a cluster.
    submit = [os.path.join(os.path.dirname(sys.executable), "spark-submit"), "--master", "local[2,4]",
        "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1", job_file]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": FOLDER, "PYSPARK_PYTHON": sys.executable}
    with open(os.path.join(FOLDER, "spark.log"), "wb") as log:
        job = subprocess.Popen(submit, env=environment, stdout=subprocess.PIPE, stderr=log, cwd=FOLDER, text=True, start_new_session=True)
    start = time.monotonic()
    try:
        killed = []
        killer = threading.Thread(target=kill_some, args=(job, killed))
        killer.start()
        job.communicate(timeout=600)
        rate = round(EVENTS / (time.monotonic() - start))
        killer.join()
    finally:
        # With everything that it started.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
    expect("the exit code of the job", job.returncode, 0)
    expect("sealers killed", len(killed), KILLS)

    phones = Phones(provider)
    for text in lines(os.path.join(made, "sealed")):
        phones.deliver(text)
    copies = phones.check(EVENTS)
    expect("lines", copies, EVENTS)
    refused = {json.loads(text)["error"]["code"] for text in lines(os.path.join(made, "refused"))}
    expect("codes of what is broken", refused, {code for _, code in BROKEN})

    figure("spark", messages=EVENTS, kills=KILLS, a_second=rate, refused=broken)


main(test)
