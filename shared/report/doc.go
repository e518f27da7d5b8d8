// Package report turns the stored document of an estimate into what people
// read: a PDF for the client, a PDF for the contractor, and JSON and CSV for
// other programs. It is pure: no clock, no network, and the same document gives
// the same bytes. The date of a report is the date of its estimate.
//
// Every figure comes from the document; what is not in it is "not available".
// There is one total (domain rule R5), and each version shows it. The client's
// version holds no internal figure (domain rule R21): its amounts are shares of
// the total, and sentences that speak of markups, wages or simulation are left
// out.
//
// The fonts are Roboto, under the licence beside them. They hold Latin, Greek
// and Cyrillic; a letter of another script is printed as a question mark.
package report
