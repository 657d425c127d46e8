package bench

import (
	"fmt"
	goruntime "runtime"
	"syscall"
	"time"
	"unsafe"
)

// contender is one side of a row. Its runs do the same over memory of their own:
// several where the operands are to be cold.
type contender struct {
	Name, Note string
	runs       []func() bool

	next  int       // which run comes next
	n     int       // runs a round
	times []float64 // seconds a run, one a round
}

// race takes the contenders in turn, rounds times, each as often as fills about
// slice.
func race(cs []*contender, rounds int, slice time.Duration, threads int) error {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	now := wall
	if threads == 1 {
		now = threadTime
	}
	for _, c := range cs {
		least := slice.Seconds()
		for range 2 { // the first touches what it uses
			t, err := c.seconds(now, 1)
			if err != nil {
				return err
			}
			least = min(least, t)
		}
		c.n = int(min(max(slice.Seconds()/max(least, 1e-9), 1), 1e7))
	}
	for range rounds {
		for _, c := range cs {
			t, err := c.seconds(now, c.n)
			if err != nil {
				return err
			}
			c.times = append(c.times, t/float64(c.n))
		}
	}
	return nil
}

func (c *contender) seconds(now func() float64, n int) (float64, error) {
	start := now()
	for range n {
		if !c.runs[c.next]() {
			return 0, fmt.Errorf("%s failed while running", c.Name)
		}
		if c.next++; c.next == len(c.runs) {
			c.next = 0
		}
	}
	return now() - start, nil
}

var epoch = time.Now()

func wall() float64 { return time.Since(epoch).Seconds() }

// threadTime is the processor time of this thread: what else the machine runs
// counts less than on the wall.
func threadTime() float64 {
	const clockThreadCPU = 3
	var t syscall.Timespec
	if _, _, no := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&t)), 0); no != 0 {
		return wall()
	}
	return float64(t.Sec) + 1e-9*float64(t.Nsec)
}
