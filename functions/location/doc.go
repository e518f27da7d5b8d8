// Package location is the family of the location agent: what the place of the
// work means for its price. The work itself is done by shared/estimate/locality;
// this package decides what to do with the findings of a critic, and judges.
package location
