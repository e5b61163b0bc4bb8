package app

import (
	"context"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/workspaces"
)

// DefaultModel returns the model for agents that name none, and its description. It needs no
// database, so `parlance models test` can try a configuration.
func DefaultModel(ctx context.Context, config Config) (model.Provider, string, error) {
	guard, err := config.operatorGuard()
	if err != nil {
		return nil, "", err
	}
	chosen, err := newModels(config, guard)
	if err != nil {
		return nil, "", err
	}
	provider, err := chosen.Choose(ctx, workspaces.Ref{}, agents.Model{})
	return provider, chosen.Describe(), err
}
