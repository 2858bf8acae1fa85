"""A tool server over standard input and output, with two tools."""
import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), None
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        answer = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "tracker", "version": "1"}}
    elif method == "tools/list":
        tool = {"description": "Changes a ticket", "inputSchema": {"type": "object"}}
        answer = {"tools": [{"name": "close", **tool}, {"name": "delete", **tool}]}
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": "closed by token " + os.environ.get("TRACKER_TOKEN", "none")}]}
    elif "id" in message:
        answer = {}
    if answer is not None and "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
