package api

import (
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
)

// checkPath validates the values of a path that may be one of a few words.
func checkPath(value func(name string) string, op *huma.Operation) []Fault {
	var c checker
	for _, p := range op.Parameters {
		if p.In == "path" && len(p.Schema.Enum) > 0 {
			c.path = []byte("path." + p.Name)
			c.param(p.Schema, value(p.Name))
		}
	}
	return c.faults
}

// checkQuery validates a query string against the parameters of op. An empty value counts as
// absent.
func checkQuery(query url.Values, op *huma.Operation) []Fault {
	if len(query) == 0 {
		return nil
	}
	var c checker
	var names []string
	known := make(map[string]*huma.Param)
	for _, p := range op.Parameters {
		if p.In == "query" {
			known[p.Name] = p
			names = append(names, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		c.path = []byte("query." + ragctx.Clip(name))
		p, values := known[name], query[name]
		now := movedParameters[op.OperationID][name]
		switch {
		case p == nil && now != "":
			c.fault("is now %s; see /openapi.json", now)
		case p == nil:
			c.fault("is not a parameter here%s", suggest(name, names))
		case p.Schema.Type == huma.TypeArray:
			for _, v := range values {
				c.param(p.Schema.Items, v)
			}
		case len(values) > 1:
			c.fault("is sent %d times; send it once", len(values))
		default:
			c.param(p.Schema, values[0])
		}
	}
	return c.faults
}

// param checks a value of a parameter.
func (c *checker) param(s *huma.Schema, value string) {
	if value == "" {
		return
	}
	if f, ok := errors.AsType[*ragctx.FieldError](ragctx.ValidText("", value)); ok {
		c.fault("%s", f.Problem)
		return
	}
	switch s.Type {
	case huma.TypeInteger:
		if strings.Trim(strings.TrimPrefix(value, "-"), "0123456789") != "" || value == "-" {
			c.fault("is %q; send a whole number", ragctx.Clip(value))
			return
		}
		c.checkNumber(s, value)
	case huma.TypeNumber:
		if f, err := strconv.ParseFloat(value, 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			c.fault("is %q; send a number", ragctx.Clip(value))
			return
		}
		c.checkNumber(s, value)
	case huma.TypeBoolean:
		if _, err := strconv.ParseBool(value); err != nil {
			c.fault("is %q; send true or false", ragctx.Clip(value))
		}
	default:
		c.checkText(s, value)
	}
}
