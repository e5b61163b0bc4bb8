package speech_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

// TestSlowListener: the clock of a synthesizer stands still while a piece is taken.
func TestSlowListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, watch := speech.Timeouts{FirstAudio: time.Second, BetweenAudio: time.Second}.WatchAudio(t.Context())
		defer watch.Stop()
		for range 3 {
			time.Sleep(900 * time.Millisecond) // the service
			if err := watch.Emit(speech.Piece{}, func(speech.Piece) error {
				time.Sleep(time.Minute) // the listener
				return nil
			}); err != nil || ctx.Err() != nil {
				t.Fatal(err, ctx.Err())
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		err := speech.Party{Name: "one"}.Failed(ctx, true, ctx.Err())
		if f := fault.From(err); f.Message != "one fell silent in the middle of a sentence." {
			t.Errorf("error %v", err)
		}
		enough := errors.New("enough")
		if err := watch.Emit(speech.Piece{}, func(speech.Piece) error { return enough }); !errors.Is(err, enough) {
			t.Errorf("error %v", err)
		}
	})
}
