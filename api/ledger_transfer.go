package api

import (
	"context"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/internal/ledger"
)

type messageImport struct {
	ClusterKey

	c echo.Context
}

// Resolve implements [huma.Resolver]; it keeps the request.
func (m *messageImport) Resolve(ctx huma.Context) []error {
	m.c = humaecho.Unwrap(ctx)
	return nil
}

type messageImportOutput struct{ Body ledger.Imported }

func (s *Server) ledgerTransferRoutes() {
	lines := &huma.MediaType{}
	register(s, huma.Operation{
		OperationID: "export-messages", Method: http.MethodGet, Path: clusterVerb("export"), Tags: []string{teamsGroup},
		Summary:     "Export messages",
		Description: "One JSON object per line, in the order of appending.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The messages.", Content: map[string]*huma.MediaType{linesType: lines},
		}},
	}, s.exportMessages)
	register(s, huma.Operation{
		OperationID: "import-messages", Method: http.MethodPost, Path: clusterVerb("import"), Tags: []string{teamsGroup},
		Summary: "Import messages", DefaultStatus: http.StatusOK,
		Description: "Imports exported messages, or Zeroshot files. Ids are preserved, and times as long as they " +
			"are later than the cluster's newest message. An invalid line fails alone. Repeating an import " +
			"changes nothing.",
		RequestBody: &huma.RequestBody{
			Required: true, Description: "One JSON object per line.",
			Content: map[string]*huma.MediaType{linesType: lines},
		},
	}, s.importMessages)
	lines.Schema = s.schemaOf(reflect.TypeFor[ledger.Message]())
}

func (s *Server) exportMessages(_ context.Context, in *MessageRange) (*huma.StreamResponse, error) {
	q, err := in.query()
	if err != nil {
		return nil, err
	}
	return s.streamed(linesType, "messages.ndjson", func(ctx context.Context, w io.Writer) error {
		return s.engine.Ledger().Export(ctx, q, w)
	}), nil
}

func (s *Server) importMessages(ctx context.Context, in *messageImport) (*messageImportOutput, error) {
	var out messageImportOutput
	err := s.importLines(in.c, func(body io.Reader) (err error) {
		out.Body, err = s.engine.Ledger().Import(ctx, in.Namespace, in.Cluster, body)
		return err
	})
	return &out, err
}
