package ragctx

import (
	"context"
	"errors"
	"fmt"
)

// Sentinels that errors of this module match by [errors.Is]: what the caller
// sent cannot be done as it stands.
var (
	ErrInvalid  = errors.New("invalid input")
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	// ErrPrecondition says that something is not as the caller said that it has to be.
	ErrPrecondition = errors.New("not as the condition wants it")
	ErrTooLarge     = errors.New("too large")
	ErrDenied       = errors.New("not allowed")
	// ErrUnauthenticated says that an API key is missing or not a good one, ErrQuota
	// that a namespace holds as much as it may, ErrLimited that the caller should ask
	// again later.
	ErrUnauthenticated = errors.New("not authenticated")
	ErrQuota           = errors.New("quota exceeded")
	ErrLimited         = errors.New("too many requests")
)

// Sentinels, continued: the server cannot do it now.
var (
	ErrUnavailable = errors.New("unavailable")
	ErrNoSpace     = errors.New("no space left on device")
	ErrClosed      = errors.New("closed")
	ErrProvider    = errors.New("required context provider failed")
	ErrStage       = errors.New("required stage failed")
)

// Code is the stable, machine-readable name of an error's kind.
type Code string

// errorCodes is the one table from errors to codes and HTTP statuses; every
// door uses it. The first match wins.
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

// CodeOf returns the code and HTTP status of err: "internal" and 500 for an
// error that matches no sentinel.
func CodeOf(err error) (Code, int) {
	for _, e := range errorCodes {
		if errors.Is(err, e.err) {
			return e.code, e.status
		}
	}
	return "internal", 500
}

// FieldError is an error about one field of the input. Its text is meant for
// the person who sent it.
type FieldError struct {
	Field   string // dotted path as the caller wrote it
	Problem string // what is wrong, the limit, and what to do
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
	// RepairWrites says that nothing more is written, RepairDatabase that the database is damaged.
	RepairWrites   = "writes_stopped"
	RepairDatabase = "database_damaged"
)

// RepairError is an [ErrUnavailable] that lasts until an operator does something about it:
// trying again is of no use. Its Problem is meant for callers.
type RepairError struct {
	Kind    string
	Problem string // what is wrong, and the remedy
	Cause   error  // for the log
}

// Error implements error.
func (e *RepairError) Error() string { return fmt.Sprintf("%s: %v", e.Problem, e.Cause) }

// Unwrap returns [ErrUnavailable].
func (e *RepairError) Unwrap() error { return ErrUnavailable }
