// Package model has a resource and a list for each kind of Kalypso object in a fleet.
package model
