// Package farewell has what an agent says when a conversation ends without a word.
package farewell

import "parlance.dev/parlance/platform/langtag"

// farewells are by base language.
var farewells = map[string]string{
	"en": "Goodbye.", "de": "Auf Wiedersehen.", "fr": "Au revoir.", "es": "Adiós.", "it": "Arrivederci.", "pt": "Adeus.", "nl": "Tot ziens.",
	"pl": "Do widzenia.", "cs": "Na shledanou.", "sv": "Hej då.", "da": "Farvel.", "no": "Ha det bra.", "nb": "Ha det bra.", "fi": "Näkemiin.",
	"tr": "Hoşça kalın.", "ru": "До свидания.", "uk": "До побачення.", "el": "Αντίο.", "ro": "La revedere.", "hu": "Viszontlátásra.",
	"ja": "さようなら。", "ko": "안녕히 계세요.", "zh": "再见。", "ar": "مع السلامة.", "he": "להתראות.", "hi": "अलविदा।",
}

// In is the farewell in the language of a tag; the English one when there is none.
func In(tag string) string {
	if text, known := farewells[langtag.Base(tag)]; known {
		return text
	}
	return farewells["en"]
}
