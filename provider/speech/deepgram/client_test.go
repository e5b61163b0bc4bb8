package deepgram_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/deepgram"
	"parlance.dev/parlance/provider/speech/speechtest"
	fake "parlance.dev/parlance/test/fake/deepgram"
)

// TestGuardedClient: a socket is made through a guard where it allows the host, and nowhere else.
func TestGuardedClient(t *testing.T) {
	t.Parallel()
	open, err := publicnet.New(publicnet.Options{AllowCIDRs: []string{"127.0.0.0/8", "::1/128"}})
	if err != nil {
		t.Fatal(err)
	}
	closed, err := publicnet.New(publicnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := fake.New(t, speechtest.Key, speechtest.Heard{Text: "Hello."})
	hear := func(client *http.Client) (string, error) {
		tr, err := deepgram.New(deepgram.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		heard, err := speech.Transcribe(t.Context(), tr, speech.Utterance{Samples: speechtest.Tone(1000)})
		return heard.Text, err
	}
	if text, err := hear(speech.SocketClient(open.Dialer().DialContext, nil)); err != nil || text != "Hello." {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := hear(speech.SocketClient(closed.Dialer().DialContext, nil)); !errors.Is(err, publicnet.ErrNotPublic) {
		t.Errorf("a host that is not public: %v", err)
	}
	const words = "the client hands over no socket"
	if _, err := hear(open.Client(publicnet.ClientOptions{})); err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("a client that hands over no sockets: %v", err)
	}
}
