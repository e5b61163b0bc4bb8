//go:build onnxruntime && cgo

package endmodel

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The tests of this file share onnxruntime, which is loaded once in a process: they do not run in
// parallel.

// library is the shared library that .ci/endmodel has fetched.
func library(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PARLANCE_ONNXRUNTIME")
	if path == "" {
		t.Fatal("PARLANCE_ONNXRUNTIME has to name onnxruntime's shared library; .ci/endmodel fetches one")
	}
	return path
}

// TestSmallNetwork has onnxruntime run a network that judges by the mean of its input, from several
// goroutines at once.
func TestSmallNetwork(t *testing.T) {
	network := smallNetwork(inputName, 80, 800)
	m, err := Open(Params{Path: write(t, network.bytes()), Library: library(t), Now: stopped})
	if err != nil {
		t.Fatal(err)
	}
	utterances := [][]int16{nil, reference(), tone(sampleRate, 440, 0.5), tone(12*sampleRate, 1000, 0.1)}
	var answers []<-chan float32
	for _, audio := range utterances {
		answers = append(answers, m.Ask(audio, ""))
	}
	for i, audio := range utterances {
		want, _ := loudness(featuresOf(audio))
		if got := <-answers[i]; math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("utterance %d: got %g, want %g", i, got, want)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestSharedSession has two judges run the session at once.
func TestSharedSession(t *testing.T) {
	loaded, err := openNetwork(Params{Path: write(t, smallNetwork(inputName, 80, 800).bytes()), Library: library(t)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := start(Params{Now: stopped}, loaded, 2)
	if err != nil {
		t.Fatal(err)
	}
	var answers []<-chan float32
	for i := range 2 * queuedPerWorker {
		answers = append(answers, m.Ask(tone(4000*(i+1), 440, 0.5), ""))
	}
	for i, answer := range answers {
		want, _ := loudness(featuresOf(tone(4000*(i+1), 440, 0.5)))
		if got := <-answer; math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("utterance %d: got %g, want %g", i, got, want)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnusableFiles: each says what is wrong.
func TestUnusableFiles(t *testing.T) {
	twoOutputs := smallNetwork(inputName, 80, 800)
	twoOutputs.outputs = append(twoOutputs.outputs, value("mean", -1, 1))
	noProbability := smallNetwork(inputName, 80, 800)
	noProbability.outputs = [][]byte{value("mean", -1, 1)}
	wide := smallNetwork(inputName, 80, 800)
	wide.outputs = [][]byte{value("means", -1, 80)}
	shared, network := library(t), write(t, smallNetwork(inputName, 80, 800).bytes())
	for name, row := range map[string]struct{ path, library, says string }{
		"no file":         {filepath.Join(t.TempDir(), "none.onnx"), shared, "there is no file "},
		"no network":      {write(t, []byte("not a network")), shared, "cannot read it"},
		"other input":     {write(t, smallNetwork("input", 80, 800).bytes()), shared, "only Smart Turn v3"},
		"other shape":     {write(t, smallNetwork(inputName, 80, 3000).bytes()), shared, "not input_features with floats of [N, 80, 800]"},
		"two outputs":     {write(t, twoOutputs.bytes()), shared, "not one probability"},
		"many numbers":    {write(t, wide.bytes()), shared, "not one probability"},
		"no probability":  {write(t, noProbability.bytes()), shared, "judges silence as -1.5"},
		"no library":      {network, filepath.Join(t.TempDir(), "none.so"), "load onnxruntime"},
		"another library": {network, "libc.so.6", "load onnxruntime"},
	} {
		m, err := Open(Params{Path: row.path, Library: row.library})
		if err == nil {
			t.Errorf("%s was accepted", name)
			_ = m.Close() // or the next row finds onnxruntime loaded
			continue
		}
		if !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, which does not say %q", name, err, row.says)
		}
	}
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "network.onnx")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// graph is a network in the format of ONNX: messages of protocol buffers. The numbers of the fields
// are those of onnx.proto.
type graph struct {
	nodes, inputs, outputs [][]byte
}

// smallNetwork is the sigmoid of the mean of its input, and has the shapes of Smart Turn v3.
func smallNetwork(input string, bands, frames int64) graph {
	return graph{
		inputs: [][]byte{value(input, -1, bands, frames)},
		nodes: [][]byte{
			node("ReduceMean", input, "means", numbers("axes", 2), number("keepdims", 0)),
			node("ReduceMean", "means", "mean", numbers("axes", 1), number("keepdims", 1)),
			node("Sigmoid", "mean", "logits"),
		},
		outputs: [][]byte{value("logits", -1, 1)},
	}
}

func (g graph) bytes() []byte {
	var body []byte
	for _, one := range g.nodes {
		body = message(body, 1, one)
	}
	body = text(body, 2, "small")
	for _, one := range g.inputs {
		body = message(body, 11, one)
	}
	for _, one := range g.outputs {
		body = message(body, 12, one)
	}
	model := integer(nil, 1, 8) // the version of the format
	model = message(model, 7, body)
	return message(model, 8, integer(nil, 2, 13)) // the version of the operators
}

func node(operator, input, output string, attributes ...[]byte) []byte {
	b := text(text(text(nil, 1, input), 2, output), 4, operator)
	for _, attribute := range attributes {
		b = message(b, 5, attribute)
	}
	return b
}

func number(name string, x int64) []byte { return integer(integer(text(nil, 1, name), 3, x), 20, 2) }

func numbers(name string, x int64) []byte { return integer(integer(text(nil, 1, name), 8, x), 20, 7) }

// value describes a tensor of floats. The dimension −1 is open.
func value(name string, dimensions ...int64) []byte {
	var shape []byte
	for _, dimension := range dimensions {
		if dimension < 0 {
			shape = message(shape, 1, text(nil, 2, "N"))
		} else {
			shape = message(shape, 1, integer(nil, 1, dimension))
		}
	}
	tensor := message(integer(nil, 1, 1), 2, shape)
	return message(text(nil, 1, name), 2, message(nil, 1, tensor))
}

func integer(b []byte, field protowire.Number, x int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(x))
}

func text(b []byte, field protowire.Number, s string) []byte { return message(b, field, []byte(s)) }

func message(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}
