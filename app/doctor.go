package app

import (
	"context"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/rerank"
)

// CheckMasterKey unwraps the installation's own data key with the configured master keys; found is
// false when nothing has been sealed in this database yet.
// Errors: seal.ErrUnknownKey, seal.ErrOpen, of a key that cannot be read or asked, or of the database.
func CheckMasterKey(ctx context.Context, config Config, deps seal.Deps) (found bool, err error) {
	if deps.Masters, err = config.masters(); err != nil {
		return false, err
	}
	keyring, err := seal.New(deps)
	if err != nil {
		return false, err
	}
	wrapped, err := keyring.Wrapped(ctx)
	if err != nil || len(wrapped) == 0 {
		return false, err
	}
	return true, keyring.Check(ctx)
}

// DefaultEmbedder is the embedder of the configuration, and what it is in words for people.
func DefaultEmbedder(config Config) (embedding.Embedder, string, error) {
	guard, err := publicnet.New(publicnet.Options{CAFile: config.EgressCAFile})
	if err != nil {
		return nil, "", err
	}
	return newEmbedder(config, guard)
}

// DefaultReranker is the reranking server of the configuration; nil: there is none.
func DefaultReranker(config Config) (rerank.Reranker, error) {
	guard, err := publicnet.New(publicnet.Options{CAFile: config.EgressCAFile})
	if err != nil {
		return nil, err
	}
	return newReranker(config, guard)
}

// EmbeddingModels are the models that can be asked with this configuration, the one for all first.
func EmbeddingModels(config Config) ([]string, error) {
	guard, err := publicnet.New(publicnet.Options{CAFile: config.EgressCAFile})
	if err != nil {
		return nil, err
	}
	current, _, err := newEmbedder(config, guard)
	if err != nil {
		return nil, err
	}
	previous, err := previousEmbedders(config, guard)
	if err != nil {
		return nil, err
	}
	names := []string{current.Model().Name}
	for _, one := range previous {
		names = append(names, one.Model().Name)
	}
	return names, nil
}
