// Package assignments is the data source kalypso_assignments, which shows each placement with its reasons.
package assignments
