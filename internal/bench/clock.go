package bench

import (
	"syscall"
	"time"
	"unsafe"
)

// reading is one look at the clocks, in seconds.
type reading struct{ wall, thread, process float64 }

var epoch = time.Now()

func look() reading {
	const process, thread = 2, 3 // CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID
	wall := time.Since(epoch).Seconds()
	return reading{wall, cpuClock(thread, wall), cpuClock(process, wall)}
}

// cpuClock is a clock of processor time, or instead where the system has none.
func cpuClock(clock uintptr, instead float64) float64 {
	var t syscall.Timespec
	if _, _, no := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); no != 0 {
		return instead
	}
	return float64(t.Sec) + 1e-9*float64(t.Nsec)
}

// taken is the time of work between two readings, and on how many processors it
// ran. Of one thread it is processor time, so that what else the machine runs
// counts less; a library that works in threads of its own, though it is to use
// one, is charged for them, but no more than the time on the wall. Of several
// threads it is the time on the wall.
func taken(from, to reading, threads int) (seconds, processors float64) {
	wall, thread, process := to.wall-from.wall, to.thread-from.thread, to.process-from.process
	processors = process / wall
	if threads > 1 {
		return wall, processors
	}
	return max(thread, min(wall, process)), processors
}
