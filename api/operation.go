package api

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/internal/ledger"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
)

func (s *Server) config() huma.Config {
	c := huma.DefaultConfig("ragctx", s.opts.Version)
	c.Info.Description = "The context engine that an agent calls before and after every model call. Ids in paths " +
		"are percent-encoded UTF-8; a slash in an id may be sent as it is. Null is the same as leaving an " +
		"optional field out."
	c.Servers = []*huma.Server{{URL: "/", Description: "the server of this document"}, {URL: "http://127.0.0.1:7700", Description: "the " +
		"default address of ragctx serve"}}
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", "" // s serves the document itself; huma's page would load external scripts
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.SecuritySchemes = securitySchemes()
	c.Formats = map[string]huma.Format{jsonType: jsonFormat, "json": jsonFormat}
	c.CreateHooks = nil // no $schema links in answers
	c.Tags = groups
	c.Transformers = []huma.Transformer{s.transform}
	return c
}

// schemaName returns the schema name of a type, with a prefix for packages whose type names collide
// with others.
func schemaName(t reflect.Type, hint string) string {
	of := t
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return schemaPrefixes[of.PkgPath()] + huma.DefaultSchemaNamer(t, hint)
}

// schemaPrefixes maps packages to the prefix of their schema names.
var schemaPrefixes = map[string]string{
	reflect.TypeFor[ledger.Message]().PkgPath():           "Ledger",
	reflect.TypeFor[compact.Record]().PkgPath():           "Compaction",
	reflect.TypeFor[stage.Note]().PkgPath():               "Pipeline",
	reflect.TypeFor[compat.Route]().PkgPath() + "/openai": "OpenAI",
	reflect.TypeFor[compat.Route]().PkgPath() + "/rerank": "Rerank",
}

// Tags of the OpenAPI document. Each operation has one.
const (
	coreGroup           = "core"
	conversationsGroup  = "conversations"
	teamsGroup          = "teams"
	administrationGroup = "administration"
)

var groups = []*huma.Tag{
	{Name: coreGroup, Description: "Contexts and searches; the documents, memories and procedures that they read."},
	{Name: conversationsGroup, Description: "Stored conversations, their views for models, and compaction."},
	{Name: teamsGroup, Description: "Messages between the agents of a cluster, and the context of an agent."},
	{Name: administrationGroup, Description: "Namespaces, keys, the audit log, jobs, indexes, providers and the server's state."},
	{Name: compat.Group, Description: "Routes of other APIs: OpenAI's embeddings and vector stores, reranking, and mem0's."},
}

// routes registers all routes and builds the OpenAPI document.
func (s *Server) routes() {
	s.documentRoutes()
	s.bulkRoutes()
	s.jobRoutes()
	s.contextRoutes()
	s.turnRoutes()
	s.memoryRoutes()
	s.curationRoutes()
	s.transferRoutes()
	s.procedureRoutes()
	s.sessionRoutes()
	s.ledgerRoutes()
	s.packRoutes()
	s.assembleRoutes()
	s.compatRoutes()
	s.eraseRoutes()
	s.reembedRoutes()
	s.embedderRoutes()
	s.embeddingRoutes()
	s.rankingRoutes()
	s.providerRoutes()
	s.systemRoutes()
	s.eventRoutes()
	s.metricsRoutes()
	s.adminRoutes()
	s.keyRoutes()
	s.namespaceRoutes()
	s.auditRoutes()
	doc := s.api.OpenAPI()
	for _, path := range slices.Collect(maps.Keys(doc.Paths)) {
		if public := published(path); public != path {
			doc.Paths[public] = doc.Paths[path]
			delete(doc.Paths, path)
		}
	}
	for _, unused := range []string{"ErrorModel", "ErrorDetail"} {
		delete(doc.Components.Schemas.Map(), unused)
	}
	readFieldDocs().describe(doc)
	exemplify(doc)
	s.spec = sync.OnceValue(func() []byte { // rarely requested
		b, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			panic(err) // a programming error that any test run finds
		}
		return b
	})
	s.mountMCP()
	s.mountConsole()
	s.echo.GET("/openapi.json", func(c echo.Context) error {
		var err error
		s.conditional(c, nil, func() { err = c.Blob(http.StatusOK, "application/openapi+json", s.spec()) })
		return err
	})
	s.patterns = make(map[string]string)
	for _, r := range s.echo.Routes() {
		s.patterns[r.Path] = documented(r.Path)
	}
}

// register adds an operation whose errors come from the engine. also lists further statuses of the
// same answer.
func register[I, O any](s *Server, op huma.Operation, h func(context.Context, *I) (*O, error), also ...int) {
	op = s.mount(compat.Handle(op, h))
	for _, status := range also {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status), Content: op.Responses[strconv.Itoa(op.DefaultStatus)].Content,
		}
	}
}

// mount adds a route and returns its operation as documented.
func (s *Server) mount(r compat.Route) huma.Operation {
	op := r.Operation
	schemas := s.api.OpenAPI().Components.Schemas
	problem := schemas.Schema(reflect.TypeFor[Problem](), true, "")
	op.SkipValidateBody, op.MaxBodyBytes, op.BodyReadTimeout = true, -1, -1 // admit does all of that
	if op.Responses == nil {
		op.Responses = make(map[string]*huma.Response)
	}
	op.Responses["default"] = &huma.Response{
		Description: "An error.",
		Content:     map[string]*huma.MediaType{problemType: {Schema: problem}},
	}
	describeRole(&op)
	if body, has := r.Input.FieldByName("Body"); has && hasNamespace(body.Type) {
		describeNamespace(&op)
	}
	if isWrite(&op) {
		describeKey(&op)
	}
	if _, has := taggedFields[op.OperationID]; has {
		describeTag(&op)
	}
	s.forwarder.note(op.OperationID, op.Method, op.Path)
	r.Mount(s.api, op, func(ctx context.Context, answer any, err error) error {
		if err != nil {
			op, _ := ctx.Value(operationKey).(*huma.Operation)
			return s.problemOf(ctx, op, err)
		}
		noteMade(ctx, answer)
		return nil
	})
	return op
}

// Scoped are the parameters of routes with the namespace in the query string. It is exported
// because huma ignores unexported embedded types.
type Scoped struct {
	Namespace string `query:"namespace" maxLength:"512" doc:"namespace; default is \"default\"" example:"default"`
}
