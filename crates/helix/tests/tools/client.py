"""An MCP client of another vendor: the `mcp` package. Reads one order from stdin (JSON) and prints one report (JSON).

{"url": URL, "token": TOKEN, "calls": [[NAME, ARGUMENTS], …]} talks HTTP; {"command": [PROGRAM, …], "cwd": DIR, "env": {}, "calls": …}
starts a server on stdio. Must not know Helix.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def server(order):
    if "url" in order:
        headers = {"Authorization": f"Bearer {order['token']}"}
        http = httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False)
        return streamable_http_client(order["url"], http_client=http)
    program, *arguments = order["command"]
    return StdioServerParameters(command=program, args=arguments, cwd=order["cwd"], env=order["env"])


async def talk(order):
    report = {"results": []}
    async with Client(server(order)) as client:
        tools = (await client.list_tools()).tools
        report["tools"] = {tool.name: tool.model_dump(mode="json", by_alias=True) for tool in tools}
        for name, arguments in order["calls"]:
            result = await client.call_tool(name, arguments)
            report["results"].append(result.model_dump(mode="json", by_alias=True))
    return report


print(json.dumps(asyncio.run(talk(json.load(sys.stdin)))))
