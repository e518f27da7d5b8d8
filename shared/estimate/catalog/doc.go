// Package catalog holds the cost facts TrueCost computes with: work items with
// prices and hours, wages, location indexes, taxes, permits, markups, risks,
// schedule logic. The tables under data/ are embedded; data/SOURCES.md says
// where each figure comes from, under which licence, and how far to trust it.
//
// Beside the facts it knows other names of items (NamesOf), the names of trades on
// the wire (TradeName) and a last resort for each division (DefaultItem).
//
// It looks things up and converts units. It decides nothing about an estimate:
// matching a scope line to an item is takeoff's business, pricing it pricing's.
//
// Every table is decoded once, at its first use, so that a function that needs
// one table does not pay for the others at its cold start.
package catalog
