package app

import (
	"context"

	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/rerank"
)

// CheckMasterKey unwraps the installation's own data key with the configured master keys. found is
// false when nothing has been encrypted in this database yet.
// Errors: seal.ErrUnknownKey, seal.ErrOpen, that of a key that cannot be read or called, or of the
// database.
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

// DefaultEmbedder returns the configured embedder and its description.
func DefaultEmbedder(config Config) (embedding.Embedder, string, error) {
	guard, err := config.operatorGuard()
	if err != nil {
		return nil, "", err
	}
	return newEmbedder(config, guard)
}

// DefaultReranker returns the configured reranking server, or nil.
func DefaultReranker(config Config) (rerank.Reranker, error) {
	guard, err := config.operatorGuard()
	if err != nil {
		return nil, err
	}
	return newReranker(config, guard)
}

// EmbeddingModels lists the models that can be called with this configuration, the current one
// first.
func EmbeddingModels(config Config) ([]string, error) {
	guard, err := config.operatorGuard()
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
