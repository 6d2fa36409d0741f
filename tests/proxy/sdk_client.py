"""One client on whichever generation of the SDK runs it; prints what it saw as JSON.

python sdk_client.py MODE TARGET     MODE: auto, legacy, a version, or -; with -plain it only echoes
"""

import json
import logging
import sys
import warnings
from importlib.metadata import version
from typing import Any

import anyio

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
NEW = int(version("mcp").partition(".")[0]) >= 2
MODE, TARGET = sys.argv[1], json.loads(sys.argv[2])


async def new() -> dict[str, Any]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    server = TARGET if isinstance(TARGET, str) else StdioServerParameters(command=TARGET[0], args=TARGET[1:])
    async with Client(server, mode=MODE.removesuffix("-plain")) as client:
        listed = await client.list_tools()
        if MODE.endswith("-plain"):
            echoed = await client.call_tool("echo", {"a": 1.5})
            return {"echoed": echoed.content[0].text}
        blob = await client.call_tool("blob", {"n": 7})
        structured = await client.call_tool("structured", {})
        submitted = await client.call_tool("submit_csv", {"csv": "a\n1\n"})
        return {
            "version": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.name for tool in listed.tools],
            "length": len(blob.content[0].text),
            "structured": structured.structured_content,
            "submitted": submitted.content[0].text,
        }


async def old() -> dict[str, Any]:
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    server = StdioServerParameters(command=TARGET[0], args=TARGET[1:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        opened = await client.initialize()
        listed = await client.list_tools()
        blob = await client.call_tool("blob", {"n": 7})
        structured = await client.call_tool("structured", {})
        submitted = await client.call_tool("submit_csv", {"csv": "a\n1\n"})
        return {
            "version": opened.protocolVersion,
            "instructions": opened.instructions,
            "tools": [tool.name for tool in listed.tools],
            "length": len(blob.content[0].text),
            "structured": structured.structuredContent,
            "submitted": submitted.content[0].text,
        }


print(json.dumps(anyio.run(new if NEW else old)))
