package elevenlabs

import (
	"strings"
	"unicode"

	"parlance.dev/parlance/provider/speech"
)

// alignment says when each character is spoken, in milliseconds from the beginning of the audio
// that comes with it.
type alignment struct {
	Chars       []string `json:"chars"`
	StartsMS    []int    `json:"charStartTimesMs"`
	DurationsMS []int    `json:"charDurationsMs"`
}

// wordBuilder makes words of the characters of several messages.
type wordBuilder struct {
	text           strings.Builder
	startMS, endMS int
}

// add returns the words that end in a. beforeMS is how much audio came before it. An alignment
// whose lists differ in length, or a nil one, is left out.
func (b *wordBuilder) add(a *alignment, beforeMS int) []speech.Word {
	if a == nil || len(a.Chars) != len(a.StartsMS) || len(a.Chars) != len(a.DurationsMS) {
		return nil
	}
	var words []speech.Word
	for i, char := range a.Chars {
		if strings.TrimFunc(char, unicode.IsSpace) == "" {
			words = append(words, b.end()...)
			continue
		}
		if b.text.Len() == 0 {
			b.startMS = beforeMS + a.StartsMS[i]
		}
		b.text.WriteString(char)
		b.endMS = max(b.startMS, beforeMS+a.StartsMS[i]+a.DurationsMS[i])
	}
	return words
}

// end returns the word that has begun, if one has.
func (b *wordBuilder) end() []speech.Word {
	if b.text.Len() == 0 {
		return nil
	}
	word := speech.Word{Text: b.text.String(), StartMS: b.startMS, EndMS: b.endMS}
	b.text.Reset()
	return []speech.Word{word}
}
