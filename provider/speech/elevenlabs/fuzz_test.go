package elevenlabs

import (
	"encoding/json"
	"testing"
)

// FuzzWords: whatever an alignment holds, words have letters and do not end before they begin.
func FuzzWords(f *testing.F) {
	f.Add(`{"chars":["H","i"," ","y"],"charStartTimesMs":[0,10,20,30],"charDurationsMs":[10,10,10,5]}`, 100)
	f.Add(`{"chars":["a"],"charStartTimesMs":[5,6],"charDurationsMs":[]}`, 0)
	f.Add(`{"chars":["","\u00a0","b"],"charStartTimesMs":[-5,0,0],"charDurationsMs":[1,-1,-9]}`, 0)
	f.Fuzz(func(t *testing.T, text string, beforeMS int) {
		var a alignment
		if json.Unmarshal([]byte(text), &a) != nil {
			return
		}
		var b wordBuilder
		for _, w := range append(b.add(&a, beforeMS), b.end()...) {
			if w.Text == "" || w.EndMS < w.StartMS {
				t.Errorf("word %+v", w)
			}
		}
	})
}
