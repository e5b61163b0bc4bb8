package elevenlabs_test

import (
	"testing"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/elevenlabs"
	"parlance.dev/parlance/provider/speech/speechtest"
	fake "parlance.dev/parlance/test/fake/elevenlabs"
)

// TestConnectsAhead: the next sentence of a voice finds a connection, and one that was closed
// meanwhile is replaced.
func TestConnectsAhead(t *testing.T) {
	t.Parallel()
	server := fake.New(t, speechtest.Key)
	server.Else = func() speechtest.Spoken { return speechtest.Spoken{Pieces: [][]byte{make([]byte, 8)}} }
	y := synthesizer(t, elevenlabs.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key})
	speak := func(voice string) {
		t.Helper()
		if err := y.Speak(t.Context(), speech.Speech{Text: "Hello.", Voice: voice}, func(speech.Piece) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	connected := func(what string, want int) {
		t.Helper()
		for range want {
			<-server.Connected
		}
		if n := len(server.Connected); n != 0 {
			t.Errorf("%s: %d connections too many", what, n)
		}
	}
	speak("nora")
	connected("the first sentence, and one ahead", 2)
	elevenlabs.AwaitSpare(y)
	const more = 6
	for range more { // more than may wait
		speak("nora")
		connected("the next sentence takes that one", 1)
		elevenlabs.AwaitSpare(y)
	}
	speak("emil")
	connected("another voice", 2)
	elevenlabs.AwaitSpare(y)
	server.DropWaiting()
	speak("nora")
	connected("a connection that was closed meanwhile", 2)
	y.Close()
	speak("emil") // without connections ahead
	if n := len(server.Requests()); n != more+4 {
		t.Errorf("%d sentences were spoken", n)
	}
	select {
	case <-server.Connected: // that of the sentence
	default:
		t.Error("a closed synthesizer took a connection")
	}
	connected("a closed synthesizer", 0)
}
