package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Prefixes go before the texts of a call; some models are trained with them and find less without.
type Prefixes struct{ Query, Document string }

// Instructions that several makers ask for.
const (
	sentenceQuery = "Represent this sentence for searching relevant passages: "
	instructQuery = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

// known are the prefixes that models' makers ask for, by a part of the name; the first match
// counts. Source: the models' cards at huggingface.co.
var known = []struct {
	part string
	Prefixes
}{
	{"e5-large-instruct", Prefixes{Query: instructQuery}},
	{"e5-mistral", Prefixes{Query: instructQuery}},
	{"e5-", Prefixes{Query: "query: ", Document: "passage: "}},
	{"nomic-embed-text", Prefixes{Query: "search_query: ", Document: "search_document: "}},
	{"embeddinggemma", Prefixes{Query: "task: search result | query: ", Document: "title: none | text: "}},
	{"qwen3-embedding", Prefixes{Query: instructQuery}},
	{"bge-m3", Prefixes{}},
	{"bge-small-en", Prefixes{Query: sentenceQuery}},
	{"bge-base-en", Prefixes{Query: sentenceQuery}},
	{"bge-large-en", Prefixes{Query: sentenceQuery}},
	{"mxbai-embed-large", Prefixes{Query: sentenceQuery}},
	{"arctic-embed-l-v2", Prefixes{Query: "query: "}},
	{"arctic-embed-m-v2", Prefixes{Query: "query: "}},
	{"arctic-embed", Prefixes{Query: sentenceQuery}},
}

// KnownPrefixes are those that the model's makers ask for; none for models we do not know.
func KnownPrefixes(model string) Prefixes {
	name := strings.ToLower(model)
	for _, one := range known {
		if strings.Contains(name, one.part) {
			return one.Prefixes
		}
	}
	return Prefixes{}
}

// storedName is the model's name with all that makes its vectors other ones: vectors are compared
// by it. The prefix of questions is no part of them.
func storedName(model string, dimensions int, document string) string {
	if dimensions > 0 {
		model = fmt.Sprintf("%s@%d", model, dimensions)
	}
	if document != "" {
		sum := sha256.Sum256([]byte(document))
		model += "+" + hex.EncodeToString(sum[:3])
	}
	return model
}
