// Package takeoff turns the clarified scope into a bill of quantities: each
// line matched to a catalogue item, its quantity converted to the unit of the
// item, checked against the drawing, and carried with national prices and hours.
//
//	line ─▶ match ─────▶ convert ─────▶ check ─────▶ line of the Scope
//	        words, unit   unit or rule   CAD          code, quantity, verdict
//
// # Matching
//
// The words of the line are compared with every name of every item. The
// section code of the line, then its division, are evidence beside the words,
// never instead of them: an item is not chosen for being first in its section.
// A long word one slip away from a known one is taken for that.
// An item whose unit the quantity cannot be brought to is not chosen. What
// matches nothing gets the default of its division, GEN-{div}-001, with a low
// confidence.
//
// # Lumps and allowances
//
// A quantity of 100 or more in allowance or ls is an amount of dollars that
// covers material and labor. A smaller one counts lumps: of an item sold by the
// piece, that many pieces; of measured work, the typical quantity of the kind of
// project at its size (catalog.AssemblyLines), and a person is asked to verify.
//
// # Verdicts
//
//	validated           the drawing shows the same quantity, within a tolerance
//	estimated           stated, and the drawing says nothing about it
//	discrepancy         the drawing shows another quantity; the stated one is kept
//	needs_verification  no unit, no quantity, a lump, a default, or flagged as unsure
//
// Divisions that are not included, and lines the exclusions of the brief name,
// stay visible and are not priced (domain rule R8). Prices here are national and
// before productivity, tax and markup: pricing makes the cost.
package takeoff
