package usage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"parlance.dev/parlance/platform/jsonvalue"
)

// Prices are the prices of models, as the operator configured them. The zero value and nil have
// none.
type Prices struct {
	currency string
	models   map[string]price
}

// price is for a million tokens.
type price struct{ input, output *big.Rat }

// priceDecimals bounds the decimals of a cost: a token of the cheapest models costs about 1e-8.
const priceDecimals = 10

var (
	decimalNumber = regexp.MustCompile(`^\d{1,9}(\.\d{1,9})?$`)
	currencyCode  = regexp.MustCompile(`^[A-Z]{3}$`)
)

// ParsePrices reads PARLANCE_MODEL_PRICES_FILE:
//
//	{"currency": "USD", "models": {
//	    "openai/gpt-4.1-mini": {"input_per_million": "0.40", "output_per_million": "1.60"}}}
//
// A key is provider/model, or provider alone for all its other models.
func ParsePrices(content []byte) (*Prices, error) {
	var file struct {
		Currency string `json:"currency"`
		Models   map[string]struct {
			Input  json.Number `json:"input_per_million"`
			Output json.Number `json:"output_per_million"`
		} `json:"models"`
	}
	if err := jsonvalue.DecodeStrict(content, &file); err != nil {
		return nil, fmt.Errorf("it must be a JSON object of currency and models: %w", err)
	}
	if !currencyCode.MatchString(file.Currency) {
		return nil, errors.New(`currency must be a code of three letters such as "USD"`)
	}
	prices := &Prices{currency: file.Currency, models: map[string]price{}}
	for name, one := range file.Models {
		if !decimalNumber.MatchString(one.Input.String()) || !decimalNumber.MatchString(one.Output.String()) {
			return nil, fmt.Errorf(`models, %q: input_per_million and output_per_million must be decimal numbers such as "0.40"`, name)
		}
		input, _ := new(big.Rat).SetString(one.Input.String())
		output, _ := new(big.Rat).SetString(one.Output.String())
		prices.models[name] = price{input: input, output: output}
	}
	return prices, nil
}

// free reports whether a call costs nothing, so that its tokens need not be known.
func (p price) free() bool { return p.input.Sign() == 0 && p.output.Sign() == 0 }

// Currency is the ISO 4217 code of the prices; empty without prices.
func (p *Prices) Currency() string {
	if p == nil {
		return ""
	}
	return p.currency
}

// find returns the price of provider/model.
func (p *Prices) find(name string) (price, bool) {
	if one, ok := p.models[name]; ok {
		return one, true
	}
	provider, _, _ := strings.Cut(name, "/")
	one, ok := p.models[provider]
	return one, ok
}

// of returns what tokens cost.
func (p price) of(input, output int) *big.Rat {
	sum := new(big.Rat).Mul(p.input, big.NewRat(int64(input), 1_000_000))
	return sum.Add(sum, new(big.Rat).Mul(p.output, big.NewRat(int64(output), 1_000_000)))
}

// decimal writes an amount without zeros at its end.
func decimal(amount *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(amount.FloatString(priceDecimals), "0"), ".")
}

// Cost returns what tokens of provider/model cost; empty when there is no price.
func (p *Prices) Cost(name string, input, output int) string {
	if p == nil {
		return ""
	}
	one, ok := p.find(name)
	if !ok {
		return ""
	}
	return decimal(one.of(input, output))
}

// Call is a call of a model.
type Call struct {
	// Model is provider/model.
	Model         string
	Input, Output int
}

// Sum returns what calls cost together; empty when a price is missing, or when the tokens of a call
// that costs something are not known.
func (p *Prices) Sum(calls []Call) string {
	if p == nil || len(calls) == 0 {
		return ""
	}
	sum := new(big.Rat)
	for _, call := range calls {
		one, ok := p.find(call.Model)
		if !ok || call.Input == 0 && call.Output == 0 && !one.free() {
			return ""
		}
		sum.Add(sum, one.of(call.Input, call.Output))
	}
	return decimal(sum)
}
