// Package query compiles structured queries and aggregations and runs them on
// documents: filters, effective order, cursors, offset, limit and projection,
// with the rules and error messages of the service.
package query
