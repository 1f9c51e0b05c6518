"""A child that answers as `pushcrypt seal --batch` does, or does not.

    fake_seal.py --batch [stop=N] [die=N] [late=SECONDS] [garbage=N] [once=FILE]

After N answers it stops (SIGSTOP), dies, or prints what is no answer. With `once` it does so only if the file is there, and removes it.
"""

import json
import os
import signal
import sys
import time

options = dict(word.split("=", 1) for word in sys.argv[2:])
once = options.get("once")
behaves = once is not None and not os.path.exists(once)
count = 0
for line in sys.stdin:
    message = json.loads(line)
    for name, act in (
        ("stop", lambda: os.kill(os.getpid(), signal.SIGSTOP)), ("die", lambda: os._exit(3)),
        ("garbage", lambda: print("Segmentation fault", flush=True)),
    ):
        if not behaves and options.get(name) == str(count):
            if once is not None:
                os.unlink(once)
                behaves = True
            act()
    time.sleep(float(options.get("late", 0)))
    message["payload"] = {"was": message["payload"]}
    # Any order of members, and any white space, is an answer.
    print(json.dumps(message), flush=True)
    count += 1
