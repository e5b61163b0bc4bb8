// Package route is the shape of one row of the generated REST route table, and what the facade and
// the interceptors both know of requests.
//
// It is a leaf that both may import: gen/ to fill the table, server/rest to serve it. A row is data
// that people read in reviews; the meaning of each column is given at [Route].
package route
