"""Check calls of models by the types of the vendors' own clients.

usage: check.py FILE

FILE has a call on each line, as `go test ./api -run TestVendorCalls -vendor-calls FILE`
writes it: {"vendor": ..., "system": ..., "messages": [...], "tools": [...]}. Before any of
them, calls that are broken on purpose are checked: one that passes is a fault of this file.
"""

import json
import sys
from collections.abc import Iterator

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.genai import types as gemini
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

OPENAI = TypeAdapter(CompletionCreateParamsNonStreaming)
ANTHROPIC = TypeAdapter(MessageCreateParamsNonStreaming)
INVENTED = {"x_invented", "xInvented"}  # kinds of parts that the test made up


def consume(value):
    """Read all of a value: pydantic checks what is iterable only then."""
    if isinstance(value, dict):
        return {key: consume(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, Iterator)) or type(value).__name__ == "ValidatorIterator":
        return [consume(one) for one in value]
    return value


def without_invented(value):
    """Return a value without parts of kinds that no vendor has."""
    if isinstance(value, dict):
        return {key: without_invented(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_invented(one) for one in value if not (isinstance(one, dict) and one.get("type") in INVENTED)]
    return value


def check(call):
    """Raise if a vendor's client would not have the call."""
    call = without_invented(call)
    system, messages, tools = call.get("system"), call["messages"], call.get("tools") or []
    if call["vendor"] == "openai":
        consume(OPENAI.validate_python({"model": "m", "messages": messages, "tools": tools}))
    elif call["vendor"] == "anthropic":
        request = {"model": "m", "max_tokens": 1, "messages": messages, "tools": tools}
        if system is not None:
            request["system"] = system
        consume(ANTHROPIC.validate_python(request))
    else:
        for content in messages:
            gemini.Content.model_validate(content)
        gemini.GenerateContentConfig.model_validate({"system_instruction": system, "tools": tools})


def user(content):
    return {"messages": [{"role": "user", "content": content}]}


BROKEN = [
    {"vendor": "openai", **user([{"type": "tool_result", "tool_use_id": "1"}])},
    {"vendor": "openai", "messages": [{"role": "assistant", "tool_calls": [{"id": "1", "type": "custom"}]}]},
    {"vendor": "openai", "messages": [{"role": "tool", "content": "no id"}]},
    {"vendor": "anthropic", **user([{"type": "document"}])},
    {"vendor": "anthropic", **user([{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "search_result"}]}])},
    {"vendor": "anthropic", **user("hi"), "system": [{"type": "image"}]},
    {"vendor": "gemini", "messages": [{"role": "user", "parts": [{"functionCall": {"name": 7}}]}]},
    {"vendor": "gemini", "messages": [{"role": "user", "content": "hi"}]},
]


def refused(call):
    try:
        check(call)
    except Exception:  # whatever a client's types raise
        return True
    return False


def main(path):
    passed = [call for call in BROKEN if not refused(call)]
    if passed:
        sys.exit(f"calls that are broken pass: {json.dumps(passed)}")
    counts, faults = {}, 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            call = json.loads(line)
            counts[call["vendor"]] = counts.get(call["vendor"], 0) + 1
            try:
                check(call)
            except Exception as error:
                faults += 1
                if faults <= 5:
                    print(f"line {number}, {call['vendor']}: {str(error)[:2000]}\n{line[:2000]}", file=sys.stderr)
    print(f"{len(BROKEN)} broken calls refused; of {counts} calls {faults} have faults")
    if faults or len(counts) < 3:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
