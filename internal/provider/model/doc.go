// Package model is a resource and a list of each of the Kalypso objects that make up a fleet.
package model
