"""Runs a program at a real terminal: waits for texts, types answers. Says what was seen, with and without escape
sequences, and how it ended, as JSON.

Usage: terminal.py STEPS.json PROGRAM [ARGUMENT...]; a step is {"expect": TEXT, "type": TEXT}, with "pause": SECONDS before it is typed.
"""

import json
import os
import pty
import re
import select
import signal
import sys
import time

LIMIT = 120.0


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        steps = json.load(file)
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    seen, mark, deadline = b"", 0, time.monotonic() + LIMIT

    def more():
        nonlocal seen
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            raise SystemExit(f"nothing more came; seen so far:\n{seen.decode(errors='replace')}")
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # The terminal is closed when its last process has gone.
            piece = b""
        seen += piece
        return bool(piece)

    for step in steps:
        wanted = step["expect"].encode()
        while seen.find(wanted, mark) < 0:
            if not more():
                raise SystemExit(f"{step['expect']!r} never came:\n{seen.decode(errors='replace')}")
        mark = seen.find(wanted, mark) + len(wanted)
        time.sleep(step.get("pause", 0.0))
        os.write(terminal, step["type"].encode())
    while more():
        pass
    _, status = os.waitpid(child, 0)
    raw = seen.decode(errors="replace")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", raw)
    print(json.dumps({"code": os.waitstatus_to_exitcode(status), "seen": plain, "raw": raw}))


main()
