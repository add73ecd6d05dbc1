"""Checks of our own, and how bodies of lines are sent.

Null is the same as leaving an optional field out, and an empty parameter or header the same as
none (docs/rest.md), which the schemas do not say. A request that is wrong in nothing else need
not be refused. Nor need one that has the Idempotency-Key of another: it is answered as that was. What does not fit into the head of a request is refused by net/http itself, without
a problem as a body.
"""

import json

import known  # noqa: F401  its hooks
import schemathesis
from schemathesis.specs.openapi import checks

HEAD_TOO_LARGE = 431
LINES = "application/x-ndjson"
EMPTY = (None, "", [], {})


def has_null(value):
    if isinstance(value, dict):
        return any(has_null(v) for v in value.values())
    if isinstance(value, list):
        return any(has_null(v) for v in value)
    return value is None


def lenient(case):
    if case.media_type == LINES:  # a wrong line fails alone
        return True
    return has_null(case.body) or any(v in EMPTY for part in (case.query, case.headers) for v in dict(part or {}).values())


@schemathesis.check
def wrong_data_is_refused(ctx, response, case):
    if not lenient(case) and "idempotency-replayed" not in response.headers:
        return checks.negative_data_rejection(ctx, response, case)


@schemathesis.check
def content_type_is_documented(ctx, response, case):
    if response.status_code != HEAD_TOO_LARGE:
        return checks.content_type_conformance(ctx, response, case)


@schemathesis.serializer(LINES)
def lines(ctx, value):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    return (json.dumps(value) + "\n").encode()
