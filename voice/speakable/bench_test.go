package speakable_test

import (
	"testing"

	"parlance.dev/parlance/voice/speakable"
)

// benchmarkAnswer is of ordinary length, with much to put into words.
const benchmarkAnswer = "Of course! Your order **4711234** was sent on 2026-11-27 at 14:30, e.g. by courier, and costs $49.99/month. " +
	"You can follow it at https://www.example.com/orders, or write to ada@example.com.\n\n" +
	"1. Open the app\n2. Tap `Orders`\n3. Choose the one from Nov. 27\n\n" +
	"It takes 5–7 days, and Dr. Smith will call you at +1 (415) 555-2671. Is there anything else that I can do for you today?"

// BenchmarkCutter speaks an answer of ten pieces that comes in deltas of four characters.
func BenchmarkCutter(b *testing.B) {
	parts := deltas(benchmarkAnswer, 4)
	b.ReportAllocs()
	for b.Loop() {
		c := speakable.NewCutter(speakable.Settings{Language: "en"})
		for _, part := range parts {
			c.Write(part)
		}
		c.Flush()
	}
}

// BenchmarkSpeak speaks a sentence.
func BenchmarkSpeak(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		speakable.Speak("Dr. Smith will call you on 2026-11-27 at 14:30, or write to ada@example.com.", "en")
	}
}
