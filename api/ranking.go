package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// RankingKey are the parameters of the ranking routes.
type RankingKey struct {
	Scoped
	Kind string `path:"kind" enum:"documents,memories" doc:"kind of items"`
}

func (k RankingKey) kind() store.Kind {
	if k.Kind == store.KindMemories.String() {
		return store.KindMemories
	}
	return store.KindDocuments
}

type rankingInput struct {
	RankingKey
	Body index.Ranking
}

type rankingOutput struct{ Body index.Ranking }

func (s *Server) rankingRoutes() {
	tags := []string{administrationGroup}
	register(s, huma.Operation{
		OperationID: "get-ranking", Method: http.MethodGet, Path: "/v1/rankings/{kind}", Tags: tags,
		Summary: "Get the ranking of a namespace",
		Description: "Returns the deviations from the server's ranking of documents or memories; an empty object " +
			"if there are none.",
	}, func(ctx context.Context, in *RankingKey) (*rankingOutput, error) {
		r, err := s.engine.Indexes().Ranking(ctx, in.Namespace, in.kind())
		return &rankingOutput{r}, err
	})
	register(s, huma.Operation{
		OperationID: "put-ranking", Method: http.MethodPut, Path: "/v1/rankings/{kind}", Tags: tags,
		Summary: "Change the ranking of a namespace",
		Description: "Takes effect with the next query and rebuilds nothing. An absent field or 0 means the " +
			"server's default, a negative weight means none; an empty object restores all defaults.",
	}, func(ctx context.Context, in *rankingInput) (*rankingOutput, error) {
		err := s.engine.Indexes().SetRanking(ctx, in.Namespace, in.kind(), in.Body)
		return &rankingOutput{in.Body}, err
	})
}
