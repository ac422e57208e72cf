// Package schemas contains the arguments and attributes that several resources share, and the functions that read them.
package schemas
