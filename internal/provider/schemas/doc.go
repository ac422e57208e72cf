// Package schemas has the arguments and attributes that several resources share, with how they are read.
package schemas
