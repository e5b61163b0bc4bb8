package app

import (
	"cmp"
	"context"
	"fmt"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	openaiembedding "parlance.dev/parlance/provider/embedding/openai"
	"parlance.dev/parlance/provider/embedding/words"
)

// noPrefix is the setting for no prefix, where the model's default is another.
const noPrefix = "none"

// Embedding is an embeddings server.
type Embedding struct {
	Provider
	// Prefixes are the settings: empty is the default of the model, and noPrefix is none.
	Prefixes openaiembedding.Prefixes
	// Dimensions is 0 for the model's own.
	Dimensions int
	// Floor is the lowest similarity of passages that are used; 0 is none.
	Floor float64
}

// prefixes returns the prefixes that are sent.
func (e Embedding) prefixes() openaiembedding.Prefixes {
	known := openaiembedding.KnownPrefixes(e.Name)
	chosen := openaiembedding.Prefixes{Query: cmp.Or(e.Prefixes.Query, known.Query), Document: cmp.Or(e.Prefixes.Document, known.Document)}
	if chosen.Query == noPrefix {
		chosen.Query = ""
	}
	if chosen.Document == noPrefix {
		chosen.Document = ""
	}
	return chosen
}

// builtIn are the embedders that need no server. The first is for new installations.
func builtIn() []embedding.Embedder {
	return []embedding.Embedder{words.New(), hashing.New(), hashing.First()}
}

// newEmbedder returns the configured embedder, or the built-in one, and its description.
func newEmbedder(config Config, guard *publicnet.Guard) (embedding.Embedder, string, error) {
	if config.Embedding.BaseURL == "" {
		local := builtIn()[0]
		return local, local.Model().Name + ", built in: it matches words, and meanings of English ones", nil
	}
	embedder, err := openEmbedder(config.Embedding, guard)
	if err != nil {
		return nil, "", err
	}
	return embedder, embedder.Model().Name + " at " + config.Embedding.BaseURL, nil
}

func openEmbedder(e Embedding, guard *publicnet.Guard) (*openaiembedding.Embedder, error) {
	client, err := guard.OperatorClient([]string{e.BaseURL}, publicnet.ClientOptions{})
	if err != nil {
		return nil, fmt.Errorf("embedding server: %w", err)
	}
	embedder, err := openaiembedding.New(openaiembedding.Deps{
		BaseURL: e.BaseURL, APIKey: e.APIKey.Reveal(), Model: e.Name, Prefixes: e.prefixes(), Dimensions: e.Dimensions,
		DefaultFloor: e.Floor, Client: client,
	})
	if err != nil {
		return nil, fmt.Errorf("embedding server: %w", err)
	}
	return embedder, nil
}

// previousEmbedders embed questions until the sources are embedded again: the built-in ones, the
// former server, and both servers as version 0.1.0 named their models.
func previousEmbedders(config Config, guard *publicnet.Guard) ([]embedding.Embedder, error) {
	previous := builtIn()
	for _, one := range []Embedding{config.Embedding, config.EmbeddingPrevious} {
		if one.BaseURL == "" {
			continue
		}
		bare := one
		bare.Prefixes = openaiembedding.Prefixes{Query: noPrefix, Document: noPrefix}
		for _, variant := range []Embedding{one, bare} {
			embedder, err := openEmbedder(variant, guard)
			if err != nil {
				return nil, err
			}
			previous = append(previous, embedder)
		}
	}
	return previous, nil
}

// openEmbedders makes the embedders of this process.
func (a *App) openEmbedders(ctx context.Context, guard *publicnet.Guard) (current embedding.Embedder,
	previous []embedding.Embedder, err error,
) {
	if current, a.Embeds, err = newEmbedder(a.Config, guard); err != nil {
		return nil, nil, err
	}
	if previous, err = previousEmbedders(a.Config, guard); err != nil {
		return nil, nil, err
	}
	all := append([]embedding.Embedder{current}, previous...)
	for _, one := range all {
		outside, ok := one.(*openaiembedding.Embedder)
		if !ok {
			continue
		}
		dimension, err := knowledge.EmbeddingDimension(ctx, a.db, outside.Model().Name)
		if err != nil {
			a.log.WarnContext(ctx, "the dimension of stored vectors is not known", telemetry.KeyError, err)
			break
		}
		outside.Expect(dimension)
	}
	all = embedding.Observe(a.metrics.Registry, a.now, all...)
	return all[0], all[1:], nil
}
