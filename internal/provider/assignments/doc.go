// Package assignments is the data source kalypso_assignments: what is placed where, and why.
package assignments
