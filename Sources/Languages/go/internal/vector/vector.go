// Package vector is for the driver of the test vectors alone.
package vector

// SealedLife is sealed, in seconds, instead of a rounded time to live, unless it is 0.
var SealedLife uint64
