import type { Problem } from "./schema.js";

/** The base of all errors. */
export class RagctxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The client was used wrongly: an option or an id. Nothing was sent. */
export class UsageError extends RagctxError {}

/** The server could not be reached, or the connection broke. */
export class ConnectionFailed extends RagctxError {}

/** The call took longer than the client's `timeout`, retries included. */
export class DeadlineExceeded extends RagctxError {}

/** `Ragctx.local` could not start the program. */
export class StartFailed extends RagctxError {}

/** A mistake in one field of a request. */
export interface Fault {
  /** path of the field, such as `max_tokens` or `messages[0].role`; empty for the request as a whole */
  field: string;
  /** part of the request that has the field: `body`, `query`, `path` or `header` */
  place: string;
  /** the mistake, the limit and the remedy, such as `is 0; use 1 to 1000` */
  message: string;
  /** the limit and the remedy, such as `use 1 to 1000`; empty if the message has none */
  remedy: string;
}

/** The server refused a request. The subclasses are the codes of docs/rest.md#errors. */
export class ApiError extends RagctxError {
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly faults: Fault[];
  /** path of the first wrong field; empty if no field is wrong */
  readonly field: string;
  /** the limit and the remedy of the first wrong field; empty if there is none */
  readonly remedy: string;

  constructor(
    readonly status: number,
    /** the whole answer, in the form of RFC 9457 */
    readonly problem: Partial<Problem>,
    /** seconds after which the server expects the request again, if it says so */
    readonly retryAfter?: number,
  ) {
    const faults = (problem.errors ?? []).map(fault);
    const text = faults.map((f) => `${f.field} ${f.message}`.trim()).join("; ");
    const detail = problem.detail ?? "";
    super(`${status} ${detail}` + (text && !detail.includes(text) ? `: ${text}` : ""));
    this.code = problem.code ?? "";
    this.detail = detail;
    this.requestId = problem.request_id ?? "";
    this.faults = faults;
    this.field = faults[0]?.field ?? "";
    this.remedy = faults[0]?.remedy ?? "";
  }
}

/** 400 or 422: a value is wrong, or the request cannot be read. */
export class InvalidRequest extends ApiError {}
/** 401: the server requires an API key. */
export class Unauthenticated extends ApiError {}
/** 403: the key does not allow this operation or this namespace. */
export class Denied extends ApiError {}
/** 403: a quota is exhausted. */
export class QuotaExceeded extends ApiError {}
/** 404: no such resource or route. */
export class NotFound extends ApiError {}
/** 409: the id is taken, or the state of the resource does not allow the request. */
export class Conflict extends ApiError {}
/** 412: another version is current now. */
export class PreconditionFailed extends ApiError {}
/** 413: the body or the text is over the limit. */
export class TooLarge extends ApiError {}
/** 415: the type of the body is not supported. */
export class UnsupportedMediaType extends ApiError {}
/** 429: too many requests. */
export class RateLimited extends ApiError {}
/** 507: the disk is full. */
export class NoSpace extends ApiError {}
/** Another 5xx: a fault of the server, of a provider, or of a stage. */
export class ServerError extends ApiError {}

const classes: Record<string, typeof ApiError> = {
  invalid: InvalidRequest,
  unauthenticated: Unauthenticated,
  denied: Denied,
  quota_exceeded: QuotaExceeded,
  not_found: NotFound,
  conflict: Conflict,
  precondition_failed: PreconditionFailed,
  too_large: TooLarge,
  unsupported_media_type: UnsupportedMediaType,
  rate_limited: RateLimited,
  no_space: NoSpace,
};

/** Return the error of a refused request. A proxy's answer need not be a problem of ragctx. */
export function refusal(status: number, headers: Headers, body: string): ApiError {
  let problem: Partial<Problem>;
  try {
    problem = JSON.parse(body) as Partial<Problem>;
  } catch {
    problem = { detail: body.slice(0, 1000) };
  }
  const general = status >= 500 ? ServerError : status === 400 || status === 422 ? InvalidRequest : ApiError;
  const wait = Number(headers.get("Retry-After") ?? NaN);
  return new (classes[problem.code ?? ""] ?? general)(status, problem, Number.isNaN(wait) ? undefined : wait);
}

function fault({ location, message }: { location: string; message: string }): Fault {
  const dot = location.indexOf(".");
  const semicolon = message.indexOf("; ");
  return {
    place: dot < 0 ? location : location.slice(0, dot),
    field: dot < 0 ? "" : location.slice(dot + 1),
    message,
    remedy: semicolon < 0 ? "" : message.slice(semicolon + 2),
  };
}
