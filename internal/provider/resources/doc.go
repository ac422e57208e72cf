// Package resources contains the frame of resources, lists and data sources: a family describes one by its schema and
// functions, and the frame converts, calls the functions, and saves the results.
package resources
