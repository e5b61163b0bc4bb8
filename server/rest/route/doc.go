// Package route is the shape of one row of the generated REST route table.
//
// It is a leaf: gen/ imports it to fill the table and server/rest to serve it. A row is data
// that people read in reviews; the meaning of each column is given at [Route].
package route
