package speakable_test

import (
	"fmt"

	"parlance.dev/parlance/voice/speakable"
)

// An answer is spoken while the model writes it. The listener interrupts in the second piece.
func ExampleCutter() {
	answer := ""
	cutter := speakable.NewCutter(speakable.Settings{Language: "en-US"})
	var pieces []speakable.Piece
	for _, delta := range []string{"Your order **4711", "234** was sent,", " and arrives on 2026-", "11-27. Anything", " else?"} {
		answer += delta
		pieces = append(pieces, cutter.Write(delta)...)
	}
	pieces = append(pieces, cutter.Flush()...)
	for _, piece := range pieces {
		fmt.Println(piece.Text)
	}
	fmt.Println("heard:", answer[:pieces[1].HeardText("and arrives on November")])
	// Output:
	// Your order 4 7 1, 1 2 3 4 was sent,
	// and arrives on November 27, 2026.
	// Anything else?
	// heard: Your order **4711234** was sent, and arrives on
}
