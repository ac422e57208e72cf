// Package ballast makes the garbage collector run less often. It imports nothing, so Go initializes it before packages
// with imports. Their initialization alone would make the collector run twice.
package ballast

// size is the size of an allocation that is never touched, in bytes. It takes no physical memory, but the garbage
// collector counts it as live heap. The collector runs when the heap has doubled: without the ballast it would run many
// times in one plan, at some ten MiB of live values each time, for up to half of the plan's time. The peak memory grows
// by the size of the ballast.
//
// The collector's settings are worse. A higher GOGC saves as much time, but doubles the memory of a large fleet, since
// it grows with the heap. With a memory limit in place of GOGC, the collector runs all the time once the heap is near
// the limit.
const size = 64 << 20

// Memory is the ballast. Go does not clear it, since it comes from memory that the process has not used yet.
var Memory = make([]byte, size)
