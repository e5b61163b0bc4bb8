package deepgram_test

import (
	"net/http"
	"testing"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/deepgram"
	"parlance.dev/parlance/provider/speech/speechtest"
	fake "parlance.dev/parlance/test/fake/deepgram"
)

// BenchmarkFrame: one frame of 20 ms through a stream, with the fake's share. A frame that comes in
// time costs more than these, of which several are sent at once.
func BenchmarkFrame(b *testing.B) {
	server := fake.New(b, speechtest.Key)
	tr, err := deepgram.New(deepgram.Config{BaseURL: server.BaseURL, APIKey: speechtest.Key, Client: &http.Client{}})
	if err != nil {
		b.Fatal(err)
	}
	frame := speechtest.Tone(speech.HearingRate / 50)
	const framesPerUtterance = 500 // 10 s
	var stream speech.Stream
	finish := func() {
		if _, err := stream.Finish(b.Context()); err != nil {
			b.Fatal(err)
		}
		stream = nil
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if stream == nil {
			if stream, err = tr.Open(b.Context(), speech.StreamOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		if err := stream.Write(frame); err != nil {
			b.Fatal(err)
		}
		if i%framesPerUtterance == framesPerUtterance-1 {
			finish()
		}
	}
	if stream != nil {
		finish()
	}
}
