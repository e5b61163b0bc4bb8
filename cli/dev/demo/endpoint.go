package demo

import (
	"encoding/json"
	"net/http"
)

// orderSchema is the input_schema of order_status.
const orderSchema = `{
  "type": "object",
  "properties": {"order_id": {"type": "string", "description": "Number of the order, such as A-1001.", "pattern": "^[A-Z]-[0-9]{4}$"}},
  "required": ["order_id"],
  "additionalProperties": false
}`

// order is the answer about one order.
type order struct {
	OrderID string `json:"order_id"`
	Status  string `json:"status"`
	Carrier string `json:"carrier,omitempty"`
	Arrives string `json:"arrives,omitempty"`
}

var orders = map[string]order{
	"A-1001": {"A-1001", "shipped", "Northwind Express", "tomorrow before noon"},
	"A-1002": {"A-1002", "being packed", "", "in three days"},
	"A-1003": {"A-1003", "delivered", "Northwind Express", ""},
}

// Endpoint answers the tool: GET /orders/{order_id} returns JSON.
func Endpoint() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{order_id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		found, ok := orders[r.PathValue("order_id")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			// the caller is gone
			_ = json.NewEncoder(w).Encode(map[string]string{"error": "There is no such order; A-1001, A-1002 and A-1003 exist."})
			return
		}
		_ = json.NewEncoder(w).Encode(found) // the caller is gone
	})
	return mux
}
