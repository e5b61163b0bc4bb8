package quickjson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/quickjson"
)

// plainJSON is what encoding/json writes without its escapes for HTML.
func plainJSON(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// FuzzAppendString compares a string with that of encoding/json, wherever in it something is to be escaped.
func FuzzAppendString(f *testing.F) {
	for _, text := range []string{"", "short", "Hello, \"you\" \\ <b>&", "\n\t\r\b\f\x00\x1f\x7f", "é漢\U0001f600\u2028\u2029\ufffd", "\xff\xc3(\xed\xa0\x80"} {
		for before := range 9 {
			f.Add(strings.Repeat("a", before) + text + " and what follows it")
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := plainJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := quickjson.AppendString([]byte("x"), text); string(got) != "x"+want {
			t.Errorf("%q: %s, want %s", text, got[1:], want)
		}
	})
}

// FuzzWriter compares an object with that of encoding/json.
func FuzzWriter(f *testing.F) {
	for _, x := range []float64{0, 1, -0.5, 0.8125, 1e-6, 9.999e-7, 1e-9, -1.5e-10, 1e20, 1e21, -3e21, 5e-324, math.MaxFloat64, math.NaN(), math.Inf(-1), math.Copysign(0, -1)} {
		f.Add("name", 12, true, x, 2)
	}
	f.Add("", -1, false, 1.0, 0)
	f.Fuzz(func(t *testing.T, text string, n int, is bool, x float64, times int) {
		type object struct {
			Text   string    `json:"text"`
			Int    int       `json:"int"`
			Bool   bool      `json:"bool"`
			Number float64   `json:"number"`
			List   []float64 `json:"list"`
		}
		o := object{text, n, is, x, nil}
		if times > 0 {
			o.List = make([]float64, times%5)
		}
		var w quickjson.Writer
		w.Text(`{"text":`, o.Text)
		w.Int(`,"int":`, o.Int)
		w.Bool(`,"bool":`, o.Bool)
		w.Number(`,"number":`, o.Number)
		quickjson.Each(&w, `,"list":`, o.List, func(x *float64) { w.Number("", *x) })
		w.Put("}")
		want, err := plainJSON(o)
		if w.Odd || err != nil {
			if !w.Odd || err == nil {
				t.Errorf("odd is %v where encoding/json says %v", w.Odd, err)
			}
			return
		}
		if string(w.Out) != want {
			t.Errorf("%s, want %s", w.Out, want)
		}
	})
}

// TestAppendStringByte has each byte at each place among eight.
func TestAppendStringByte(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 16 {
			text := strings.Repeat("~", at) + string([]byte{byte(c)}) + strings.Repeat(" ", 15-at)
			var back string
			if err := json.Unmarshal(quickjson.AppendString(nil, text), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") {
				t.Fatalf("%#x at %d: %q, %v", c, at, back, err)
			}
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	text := strings.Repeat("The walking map of the Heron Marshes is printed on waterproof cotton.\n", 100)
	out := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		out = quickjson.AppendString(out[:0], text)
	}
}
