package conversation

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestFlat: what is written by hand is what encoding/json writes, whichever fields are there; one that is new is noticed.
func TestFlat(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	byHand := 0
	for range 3000 {
		var messages []Message
		var citations []Citation
		var retrieval *Retrieval
		var metrics Metrics
		var receipt Receipt
		for _, into := range []any{&messages, &citations, &retrieval, &metrics, &receipt} {
			anything(r, reflect.ValueOf(into).Elem())
		}
		if r.IntN(2) == 0 {
			for i := range messages {
				messages[i].Calls, messages[i].Result, messages[i].Audio = nil, nil, nil
			}
		}
		for _, value := range []any{messages, citations, retrieval, metrics} {
			if got, known := flatJSON(value); known {
				byHand++
				same(t, value, got)
			}
			got, err := jsonText(value)
			if err != nil || !json.Valid(got) {
				t.Fatalf("%+v: %s, %v", value, got, err)
			}
		}
		got, err := receipt.canonical()
		if err != nil {
			t.Fatal(err)
		}
		same(t, receipt, got)
	}
	if byHand < 3000*3 {
		t.Errorf("%d of 12000 were written by hand", byHand)
	}
}

// same compares with encoding/json.
func same(t *testing.T, value any, got []byte) {
	t.Helper()
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.TrimSuffix(want.String(), "\n") {
		t.Fatalf("%T:\n%s\nwant\n%s", value, got, want.String())
	}
}

// anything fills a value, and leaves about a third of its parts empty.
func anything(r *rand.Rand, v reflect.Value) {
	if r.IntN(3) == 0 {
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(2e9), []int64{0, 7e6, 7e3}[r.IntN(3)])))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{"a":1}`))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				anything(r, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			anything(r, v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		anything(r, v.Elem())
	case reflect.String:
		v.SetString([]string{"a", "é\"<b>&\u2028", strings.Repeat("long \\", r.IntN(99))}[r.IntN(3)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat([]float64{0.8125, -1e-9, 3e22, 7}[r.IntN(4)])
	default:
		v.SetInt(r.Int64N(1e6) - 5e5)
	}
}
