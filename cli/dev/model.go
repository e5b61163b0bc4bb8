package dev

import (
	"context"
	"fmt"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/model/discover"
)

// chooseModel uses a model server on this machine when none is configured. With --model none it
// ignores the configured one.
func (d *dev) chooseModel(ctx context.Context) error {
	if d.options.model == "none" {
		d.config.Model, d.config.AnthropicAPIKey, d.config.Azure = app.Provider{}, "", app.Azure{}
		return nil
	}
	if d.config.Model.BaseURL != "" || d.config.Model.APIKey.IsSet() || d.config.AnthropicAPIKey.IsSet() || d.config.Azure.APIKey.IsSet() {
		return nil
	}
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: loopback})
	if err != nil {
		return err
	}
	client := guard.Client(publicnet.ClientOptions{Timeout: 2 * discover.Timeout})
	defer client.CloseIdleConnections()
	found, err := discover.Local(ctx, client)
	if err != nil || len(found) == 0 {
		return err
	}
	d.config.Model.BaseURL = found[0].BaseURL
	if d.config.Model.Name == "" {
		d.config.Model.Name = found[0].Model
	}
	d.noticed = fmt.Sprintf("%s is running on this machine; --model none refuses it", found[0].Product)
	return nil
}
