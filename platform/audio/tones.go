package audio

import (
	"math"
	"strings"
	"time"
)

// Keys are the keys of a telephone that AppendKeyTones knows; KeyPause among them is a pause.
const Keys = "0123456789*#ABCD"

// KeyPause stands for a pause of keyPause between keys.
const KeyPause = 'w'

const (
	keyTone  = 100 * time.Millisecond
	keyGap   = 100 * time.Millisecond
	keyPause = 500 * time.Millisecond
	// toneAmplitude is that of each of the two tones: -9 dBFS, so that both together do not clip.
	toneAmplitude = 0.35 * math.MaxInt16
	// toneFade is the beginning and the end of a tone, in which it fades in and out: a click has all
	// frequencies.
	toneFade = 2 * time.Millisecond
)

// The frequencies of a key's two tones, by its row and column. Source: ITU-T Q.23.
var (
	keyRows    = [4]float64{697, 770, 852, 941}
	keyColumns = [4]float64{1209, 1336, 1477, 1633}
	keypad     = "123A456B789C*0#D"
)

// KeyTones returns the two frequencies of a key in Hz, or false for what is no key.
func KeyTones(key rune) (low, high float64, ok bool) {
	at := strings.IndexRune(keypad, key)
	if at < 0 {
		return 0, 0, false
	}
	return keyRows[at/4], keyColumns[at%4], true
}

// AreKeys reports whether a text has nothing but keys and pauses, and at least one.
func AreKeys(text string) bool {
	return text != "" && strings.Trim(text, Keys+string(KeyPause)) == ""
}

// AppendKeyTones appends the sound of pressed keys to dst: 100 ms of each key's tones and 100 ms of
// silence, and 500 ms of silence for a KeyPause. Other characters are left out.
func AppendKeyTones(dst []int16, keys string, rateHz int) []int16 {
	for _, key := range keys {
		if key == KeyPause {
			dst = append(dst, make([]int16, Samples(keyPause, rateHz))...)
			continue
		}
		if low, high, ok := KeyTones(key); ok {
			dst = appendTones(dst, low, high, rateHz)
			dst = append(dst, make([]int16, Samples(keyGap, rateHz))...)
		}
	}
	return dst
}

func appendTones(dst []int16, low, high float64, rateHz int) []int16 {
	length, fade := Samples(keyTone, rateHz), float64(Samples(toneFade, rateHz))
	for i := range length {
		angle := 2 * math.Pi * float64(i) / float64(rateHz)
		volume := toneAmplitude * min(1, float64(i)/fade, float64(length-i)/fade)
		dst = append(dst, int16(volume*(math.Sin(low*angle)+math.Sin(high*angle))))
	}
	return dst
}
