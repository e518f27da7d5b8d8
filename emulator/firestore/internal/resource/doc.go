// Package resource reads and orders Firestore resource names:
//
//	projects/P/databases/D/documents                      the root of a database
//	projects/P/databases/D/documents/C/ID                 a document
//	projects/P/databases/D/documents/C/ID/C2              a collection below it
//
// Names stay strings, as they travel; the functions here check and compare them.
package resource
