"""A user of the `openai` package: reads one order a line from stdin (JSON) and prints one report a line (JSON).

Orders: {"say": TEXT} streams an answer, {"ask": TEXT} gets one in one piece, {"listen": TEXT} streams and reports the lines as
they came over the wire, {"get": PATH} reads a page of the API, {"system": TEXT} sets the system prompt. What was said and answered stays in the conversation.
{"respond": TEXT} streams an answer in the responses form, after the last response or the one of {"follow": ID}.
Must not know Helix: address and key come from OPENAI_BASE_URL and OPENAI_API_KEY, as the package reads them.
"""

import json
import sys

import openai

client = openai.OpenAI(timeout=120)
messages = []


def said(error):
    """What a program can read off an error of the package."""
    return {
        "kind": type(error).__name__,
        "message": error.message,
        "code": error.code,
        "type": error.type,
        "status": getattr(error, "status_code", None),
    }


def figures(usage):
    return usage.model_dump() if usage else None


def stream():
    """One streamed answer, chunk by chunk."""
    report = {"text": "", "reasoning": "", "pieces": 0, "finish": None, "usage": None, "error": None}
    try:
        chunks = client.chat.completions.create(
            model="helix", messages=messages, stream=True, stream_options={"include_usage": True}
        )
        for chunk in chunks:
            report["usage"] = figures(chunk.usage) or report["usage"]
            for choice in chunk.choices:
                report["finish"] = choice.finish_reason or report["finish"]
                report["reasoning"] += getattr(choice.delta, "reasoning_content", None) or ""
                if choice.delta.content:
                    report["text"] += choice.delta.content
                    report["pieces"] += 1
    except openai.APIError as error:
        report["error"] = said(error)
    return report


def whole():
    """One answer in one piece."""
    try:
        answer = client.chat.completions.create(model="helix", messages=messages)
    except openai.APIError as error:
        return {"text": "", "error": said(error)}
    choice = answer.choices[0]
    return {
        "text": choice.message.content,
        "finish": choice.finish_reason,
        "usage": figures(answer.usage),
        "error": None,
    }


def wire():
    """The lines of one streamed answer."""
    request = client.chat.completions.with_streaming_response.create(model="helix", messages=messages, stream=True)
    with request as response:
        return {"status": response.status_code, "lines": [line for line in response.iter_lines() if line]}


previous = None


def respond(text):
    """One streamed response, which follows the last one."""
    global previous
    report = {"text": "", "id": None, "previous": None, "error": None}
    try:
        stream = client.responses.create(
            model="helix", input=text, stream=True, previous_response_id=previous or openai.NOT_GIVEN
        )
        for event in stream:
            if event.type == "response.output_text.delta":
                report["text"] += event.delta
            if event.type == "response.completed":
                previous = event.response.id
                report["id"], report["previous"] = previous, event.response.previous_response_id
    except openai.APIError as error:
        report["error"] = said(error)
    return report


def page(path):
    """A page of the server beside `/v1`."""
    return client.with_options(base_url=str(client.base_url).removesuffix("v1/")).get(path, cast_to=object)


for line in sys.stdin:
    order = json.loads(line)
    if "get" in order:
        report = page(order["get"])
    elif "respond" in order:
        report = respond(order["respond"])
    elif "follow" in order:
        previous, report = order["follow"], {}
    elif "system" in order:
        messages[:] = [one for one in messages if one["role"] != "system"]
        messages.insert(0, {"role": "system", "content": order["system"]})
        report = {}
    else:
        (kind, text), = order.items()
        messages.append({"role": "user", "content": text})
        report = {"say": stream, "ask": whole, "listen": wire}[kind]()
        if report.get("text"):
            messages.append({"role": "assistant", "content": report["text"]})
    print(json.dumps(report), flush=True)
