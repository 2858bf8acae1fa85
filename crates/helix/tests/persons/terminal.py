"""Runs a program at a real terminal: waits for texts, types answers. Says what was seen, with and without escape
sequences, the screen at each step, and how it ended, as JSON.

Usage: terminal.py STEPS.json PROGRAM [ARGUMENT...]; the file has {"rows": N, "columns": N, "steps": [...]}, or the steps
alone for 24 by 80, and a step is {"expect": TEXT, "type": TEXT}, with "pause": SECONDS before it is typed: the text is looked for in
what came since the last step, or on the other screen of a program that has one. <TERM> as what is typed is a signal, and <FILE PATH>
makes a file: others see by it that the text was there.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

LIMIT = 120.0
# So long nothing comes before a screen counts as drawn.
SETTLED = 0.4
ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b[=>()].?")


class Screen:
    """What a terminal shows of a program that places its cursor, writes and clears."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.other = None
        self.clear()
        self.row = self.column = 0

    def clear(self):
        self.cells = [[" "] * self.columns for _ in range(self.rows)]

    def feed(self, text):
        at = 0
        while at < len(text):
            escape = ESCAPE.match(text, at)
            if escape:
                self.control(escape.group(1) or "", escape.group(2))
                at = escape.end()
                continue
            letter = text[at]
            at += 1
            if letter == "\r":
                self.column = 0
            elif letter == "\n":
                self.down()
            elif letter == "\b":
                self.column = max(0, self.column - 1)
            elif letter >= " ":
                if self.column >= self.columns:
                    self.column = 0
                    self.down()
                self.cells[self.row][self.column] = letter
                self.column += 1

    def down(self):
        if self.row + 1 < self.rows:
            self.row += 1
        else:
            self.cells = self.cells[1:] + [[" "] * self.columns]

    def control(self, numbers, what):
        if what in ("h", "l") and numbers == "?1049":
            if what == "h":
                self.other = (self.cells, self.row, self.column)
                self.clear()
            elif self.other:
                self.cells, self.row, self.column = self.other
                self.other = None
            return
        values = [int(number) for number in numbers.strip("?").split(";") if number]
        if what in ("H", "f"):
            self.row = min(self.rows, values[0] if values else 1) - 1
            self.column = min(self.columns, values[1] if len(values) > 1 else 1) - 1
        elif what == "J":
            self.clear()
        elif what == "K":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells).rstrip()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        play = json.load(file)
    if isinstance(play, list):
        play = {"rows": 24, "columns": 80, "steps": play}
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", play["rows"], play["columns"], 0, 0))
        os.execvp(sys.argv[2], sys.argv[2:])
    screen, frames = Screen(play["rows"], play["columns"]), []
    seen, shown, mark, deadline = b"", 0, 0, time.monotonic() + LIMIT

    def more(wait=None):
        nonlocal seen, shown
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([terminal], [], [], left if wait is None else wait)
        if not ready:
            if wait is not None:
                return False
            os.kill(child, signal.SIGKILL)
            raise SystemExit(f"nothing more came; seen so far:\n{seen.decode(errors='replace')}")
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # The terminal is closed when its last process has gone.
            piece = b""
        seen += piece
        # Letters and escape sequences may come in two pieces.
        text = seen[shown:].decode(errors="ignore")
        cut = text.rfind("\x1b")
        if cut >= 0 and not ESCAPE.match(text, cut):
            text = text[:cut]
        screen.feed(text)
        shown += len(text.encode())
        return bool(piece)

    for step in play["steps"]:
        wanted = step["expect"]
        while (wanted not in screen.text()) if screen.other else (seen.find(wanted.encode(), mark) < 0):
            if not more():
                said = seen.decode(errors="replace")
                raise SystemExit(f"{wanted!r} never came:\n{said}\nthe screen:\n{screen.text()}")
        mark = len(seen) if screen.other else seen.find(wanted.encode(), mark) + len(wanted.encode())
        until = time.monotonic() + 3 * SETTLED
        while step.get("frame") and time.monotonic() < until and more(SETTLED):
            pass
        frames.append(screen.text())
        time.sleep(step.get("pause", 0.0))
        if step["type"] == "<TERM>":
            os.kill(child, signal.SIGTERM)
        elif step["type"].startswith("<FILE "):
            open(step["type"][6:-1], "x", encoding="utf-8").close()
        else:
            os.write(terminal, step["type"].encode())
    while more():
        pass
    _, status = os.waitpid(child, 0)
    raw = seen.decode(errors="replace")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", raw)
    ended = {"code": os.waitstatus_to_exitcode(status), "seen": plain, "raw": raw, "frames": frames}
    print(json.dumps({**ended, "screen": screen.text(), "modes": modes(raw)}))


def modes(raw):
    """The modes that were left as the program had set them: another screen, no cursor, marked pastes."""
    last = {}
    for mode, state in re.findall(r"\x1b\[\?(1049|25|2004)([hl])", raw):
        last[mode] = state
    return last


main()
