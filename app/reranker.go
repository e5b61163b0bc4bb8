package app

import (
	"fmt"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/rerank"
)

// newReranker returns the configured reranker, or nil.
func newReranker(config Config, guard *publicnet.Guard) (rerank.Reranker, error) {
	if config.Rerank.BaseURL == "" {
		return nil, nil //nolint:nilnil // nil is the documented value
	}
	client, err := guard.OperatorClient([]string{config.Rerank.BaseURL}, publicnet.ClientOptions{})
	if err != nil {
		return nil, fmt.Errorf("reranking server: %w", err)
	}
	server, err := rerank.New(rerank.Deps{
		BaseURL: config.Rerank.BaseURL, APIKey: config.Rerank.APIKey.Reveal(), Model: config.Rerank.Name, Client: client,
	})
	if err != nil {
		return nil, fmt.Errorf("reranking server: %w", err)
	}
	return server, nil
}
