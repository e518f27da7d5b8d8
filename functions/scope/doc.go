// Package scope is the family of the scope agent: the clarified scope as a bill
// of quantities. The work itself is done by shared/estimate/takeoff; this
// package turns the findings of a critic into corrections of lines, and judges.
package scope
