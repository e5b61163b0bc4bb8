package dev

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/model/discover"
)

// Values of --model and --embedding.
const (
	auto = "auto"
	none = "none"
	tell = "tell"
)

// lookFunc looks for model servers: discover.Local.
type lookFunc func(context.Context, *http.Client) ([]discover.Found, error)

// chooseModels uses a model server on this machine to answer when none is configured, and one that
// transcribes, and notes models that embed and speak. With --model none, --embedding none and
// --speech none it ignores what is configured.
func (d *dev) chooseModels(ctx context.Context, look lookFunc) error {
	if d.options.model == none {
		d.config.Model, d.config.AnthropicAPIKey, d.config.Azure = app.Provider{}, "", app.Azure{}
	}
	if d.options.embedding == none {
		d.config.Embedding = app.Embedding{}
	}
	if d.options.speech == none {
		d.config.STT, d.config.STTFallback, d.config.TTS, d.config.TTSFallback = app.Speech{}, app.Speech{}, app.Speech{}, app.Speech{}
	}
	wantsModel := d.options.model != none && d.config.Model.BaseURL == "" && !d.config.Model.APIKey.IsSet() &&
		!d.config.AnthropicAPIKey.IsSet() && !d.config.Azure.APIKey.IsSet()
	wantsEmbedder := d.options.embedding != none && d.config.Embedding.BaseURL == ""
	wantsSpeech := d.options.speech != none && !(d.config.STT.IsSet() && d.config.TTS.IsSet())
	if !wantsModel && !wantsEmbedder && !wantsSpeech {
		return nil
	}
	found, err := lookAround(ctx, look)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(found, func(f discover.Found) bool { return len(f.Chat) > 0 }); wantsModel && at >= 0 {
		d.useModel(found[at])
	}
	if at := slices.IndexFunc(found, func(f discover.Found) bool { return len(f.Embedding) > 0 }); wantsEmbedder && at >= 0 {
		d.embedder = newFoundEmbedder(found[at])
	}
	if wantsSpeech {
		d.chooseSpeech(found)
	}
	return nil
}

// lookAround looks for model servers with a client that reaches this machine only.
func lookAround(ctx context.Context, look lookFunc) ([]discover.Found, error) {
	guard, err := publicnet.New(publicnet.Options{AllowCIDRs: loopback})
	if err != nil {
		return nil, err
	}
	client := guard.Client(publicnet.ClientOptions{Timeout: 2 * discover.Timeout})
	defer client.CloseIdleConnections()
	return look(ctx, client)
}

func (d *dev) useModel(found discover.Found) {
	d.config.Model.BaseURL = found.BaseURL
	if d.config.Model.Name == "" {
		d.config.Model.Name = found.Chat[0]
	}
	d.noticed = fmt.Sprintf("%s is running on this machine; --model none refuses it", found.Product)
}
