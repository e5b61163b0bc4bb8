package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of ONNX's messages (onnx.proto, version 7 of the format).
const (
	modelGraph      = 7
	graphNode       = 1
	nodeAttribute   = 5
	attributeName   = 1
	attributeTensor = 5
	attributeGraph  = 6
	tensorDataType  = 2
	tensorName      = 8
	tensorRawData   = 9
	dataTypeFloat   = 1
)

var errNotONNX = errors.New("this is no ONNX file")

// field is one field of a protobuf message: a number, or bytes.
type field struct {
	number protowire.Number
	value  uint64
	bytes  []byte
}

func fieldsOf(message []byte) ([]field, error) {
	var fields []field
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, errNotONNX
		}
		message = message[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return nil, errNotONNX
		}
		message = message[n:]
		fields = append(fields, f)
	}
	return fields, nil
}

// path returns the bytes of all fields that the numbers lead to, one level of messages a number.
func path(message []byte, numbers ...protowire.Number) ([][]byte, error) {
	level := [][]byte{message}
	for _, number := range numbers {
		var next [][]byte
		for _, message := range level {
			fields, err := fieldsOf(message)
			if err != nil {
				return nil, err
			}
			for _, f := range fields {
				if f.number == number {
					next = append(next, f.bytes)
				}
			}
		}
		level = next
	}
	return level, nil
}

// tensors returns the named tensors of float32 of the 16 kHz network. The model is one If node,
// whose then_branch is that network; its weights are Constant nodes.
func tensors(model []byte) (map[string][]float32, error) {
	attributes, err := path(model, modelGraph, graphNode, nodeAttribute)
	if err != nil {
		return nil, err
	}
	named := map[string][]float32{}
	for _, attribute := range attributes {
		names, err := path(attribute, attributeName)
		if err != nil {
			return nil, err
		}
		if len(names) != 1 || string(names[0]) != "then_branch" {
			continue
		}
		constants, err := path(attribute, attributeGraph, graphNode, nodeAttribute, attributeTensor)
		if err != nil {
			return nil, err
		}
		for _, constant := range constants {
			if err := addTensor(named, constant); err != nil {
				return nil, err
			}
		}
	}
	return named, nil
}

func addTensor(named map[string][]float32, message []byte) error {
	fields, err := fieldsOf(message)
	if err != nil {
		return err
	}
	var name string
	var raw []byte
	var kind uint64
	for _, f := range fields {
		if f.number == tensorDataType {
			kind = f.value
		}
		if f.number == tensorName {
			name = string(f.bytes)
		}
		if f.number == tensorRawData {
			raw = f.bytes
		}
	}
	if kind != dataTypeFloat || name == "" || strings.HasPrefix(name, "/") {
		return nil
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("tensor %s has %d bytes", name, len(raw))
	}
	numbers := make([]float32, len(raw)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	named[name] = numbers
	return nil
}
