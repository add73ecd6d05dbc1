package ragctx

import (
	"context"
	"errors"
	"fmt"
)

// Sentinel errors for requests that cannot be done as sent. Match them with [errors.Is].
var (
	ErrInvalid  = errors.New("invalid input")
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	// ErrPrecondition says that the caller's condition on the current state does not hold.
	ErrPrecondition = errors.New("precondition failed")
	ErrTooLarge     = errors.New("too large")
	ErrDenied       = errors.New("not allowed")
	// ErrUnauthenticated says that an API key is missing or invalid. ErrQuota says that a namespace
	// is at its storage limit. ErrLimited asks the caller to retry later.
	ErrUnauthenticated = errors.New("not authenticated")
	ErrQuota           = errors.New("quota exceeded")
	ErrLimited         = errors.New("too many requests")
)

// Sentinel errors for requests that the server cannot do now.
var (
	ErrUnavailable = errors.New("unavailable")
	ErrNoSpace     = errors.New("no space left on device")
	ErrClosed      = errors.New("closed")
	ErrProvider    = errors.New("required context provider failed")
	ErrStage       = errors.New("required stage failed")
)

// Code is the stable, machine-readable name of an error's kind.
type Code string

// errorCodes maps errors to codes and HTTP statuses, for every API. The first match wins.
var errorCodes = []struct {
	err    error
	code   Code
	status int
}{
	{ErrInvalid, "invalid", 422},
	{ErrNotFound, "not_found", 404},
	{ErrConflict, "conflict", 409},
	{ErrPrecondition, "precondition_failed", 412},
	{ErrTooLarge, "too_large", 413},
	{ErrDenied, "denied", 403},
	{ErrUnauthenticated, "unauthenticated", 401},
	{ErrQuota, "quota_exceeded", 403},
	{ErrLimited, "rate_limited", 429},
	{ErrNoSpace, "no_space", 507},
	{ErrProvider, "provider_failed", 502},
	{ErrStage, "stage_failed", 502},
	{ErrClosed, "unavailable", 503},
	{ErrUnavailable, "unavailable", 503},
	{context.DeadlineExceeded, "timeout", 504},
	{context.Canceled, "canceled", 499},
}

// CodeOf returns the code and HTTP status of err. An error that matches no sentinel is "internal"
// and 500.
func CodeOf(err error) (Code, int) {
	for _, e := range errorCodes {
		if errors.Is(err, e.err) {
			return e.code, e.status
		}
	}
	return "internal", 500
}

// FieldError is an error about one field of the input. Its text is safe to show to the caller.
type FieldError struct {
	Field   string // dotted path as the caller wrote it
	Problem string // the fault, the limit and the remedy
	Kind    error  // a sentinel
}

// Error implements error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// Unwrap returns the sentinel.
func (e *FieldError) Unwrap() error { return e.Kind }

// Invalid returns an [ErrInvalid] about a field.
func Invalid(field, format string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...), Kind: ErrInvalid}
}

// TooLarge returns an [ErrTooLarge] about a field.
func TooLarge(field, format string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...), Kind: ErrTooLarge}
}

// The kinds of [RepairError].
const (
	// RepairWrites says that writes have stopped. RepairDatabase says that the database is damaged.
	RepairWrites   = "writes_stopped"
	RepairDatabase = "database_damaged"
)

// RepairError is an [ErrUnavailable] that lasts until an operator repairs the store. Retrying does
// not help. Problem is safe to show to callers.
type RepairError struct {
	Kind    string
	Problem string // the fault and the remedy
	Cause   error  // for the log
}

// Error implements error.
func (e *RepairError) Error() string { return fmt.Sprintf("%s: %v", e.Problem, e.Cause) }

// Unwrap returns [ErrUnavailable].
func (e *RepairError) Unwrap() error { return ErrUnavailable }
