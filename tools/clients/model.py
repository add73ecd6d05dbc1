"""A model server for the tests of the clients: it has OpenAI's chat completions and Anthropic's messages.

The model is small: it answers with the line of its prompt that has most words of the question. If it may use tools, it first
calls each of them with the question. So an answer shows that the line was in the prompt or in a tool's result.

    model.py    serves on a free port and prints its URL
"""

import json
import re
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMON = {"the", "a", "an", "is", "are", "do", "does", "i", "to", "of", "for", "in", "on", "who", "what", "when", "where", "how", "which"}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - COMMON


def texts(part: Any) -> Iterator[str]:
    """Yield the texts of a message in either protocol."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for inner in part:
            yield from texts(inner)
    elif isinstance(part, dict):
        for key in ("content", "text"):
            yield from texts(part.get(key))


def is_result(message: dict[str, Any]) -> bool:
    """Report whether a message is a tool's result."""
    content = message.get("content")
    return message["role"] == "tool" or isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)


def arguments(schema: dict[str, Any], question: str) -> dict[str, Any]:
    """Return the question for each text that a tool requires, or for its first text."""
    fields = {name: field for name, field in schema.get("properties", {}).items() if field.get("type") == "string"}
    wanted = [name for name in schema.get("required", []) if name in fields] or list(fields)[:1]
    return {name: question for name in wanted}


def think(request: dict[str, Any]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Return the text of the answer, or the tools to call and their arguments."""
    messages = request["messages"]
    asked = max(n for n, message in enumerate(messages) if message["role"] == "user" and not is_result(message))
    question = "\n".join(texts(messages[asked])).strip().splitlines()[-1]
    results = sum(is_result(message) for message in messages[asked:])
    tools = [tool.get("function", tool) for tool in request.get("tools") or []]
    if tools and not results:
        return "", [(t["name"], arguments(t.get("parameters") or t.get("input_schema") or {}, question)) for t in tools]
    prompt = "\n".join(text for part in (request.get("system"), *messages) for text in texts(part)).replace("\\n", "\n")
    lines = [line.strip() for line in prompt.splitlines() if line.strip() and "?" not in line]
    best = max(lines, key=lambda line: len(words(line) & words(question)), default="")
    return (best if words(best) & words(question) else "I do not know."), []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, calls = think(request)
        answer = anthropic(text, calls) if self.path.endswith("/messages") else openai(text, calls)
        if request.get("stream"):
            body = b"".join(b"data: " + json.dumps(part).encode() + b"\n\n" for part in chunks(answer)) + b"data: [DONE]\n\n"
            self.reply("text/event-stream", body)
        else:
            self.reply("application/json", json.dumps(answer).encode())

    def reply(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def openai(text: str, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (name, given) in enumerate(calls)
        ]
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }


def chunks(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a chat completion as the parts of a stream."""
    choice = answer["choices"][0]
    delta = {**choice["message"], "tool_calls": [{"index": n, **c} for n, c in enumerate(choice["message"].get("tool_calls", []))]}
    base = {**answer, "object": "chat.completion.chunk"}
    return [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
    ]


def anthropic(text: str, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": given} for n, (name, given) in enumerate(calls)]
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "test", "content": content or [{"type": "text", "text": text}],
        "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 9},
    }


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
