package main

import (
	"syscall"
	"time"
	"unsafe"
)

// Waits for sockets and for an instant, to the microsecond. Its system calls are raw ones: there is one thread, and Go's
// scheduler has nothing to hand it to.
type poller struct {
	epoll, timer int
	events       [256]syscall.EpollEvent
	ready        []int32
}

// From linux/time.h and linux/timerfd.h.
const (
	clockMonotonic = 1
	timerSpec      = 32
)

func newPoller() *poller {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	must(err)
	timer, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK, 0)
	if errno != 0 {
		must(errno)
	}
	p := &poller{epoll: epoll, timer: int(timer)}
	p.add(p.timer)
	return p
}

func (p *poller) add(fd int) {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}
	must(syscall.EpollCtl(p.epoll, syscall.EPOLL_CTL_ADD, fd, &event))
}

// Returns the sockets that can be read, none at the instant.
func (p *poller) wait(until time.Time) []int32 {
	p.arm(max(time.Until(until), 1))
	p.ready = p.ready[:0]
	at := uintptr(unsafe.Pointer(&p.events[0]))
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(p.epoll), at, uintptr(len(p.events)), ^uintptr(0), 0, 0)
	if errno == syscall.EINTR {
		return nil
	}
	if errno != 0 {
		must(errno)
	}
	for _, event := range p.events[:n] {
		if event.Fd != int32(p.timer) {
			p.ready = append(p.ready, event.Fd)
		}
	}
	return p.ready
}

// Sets the timer, which also forgets that it has expired.
func (p *poller) arm(after time.Duration) {
	// An interval of zero, so once; then seconds and nanoseconds.
	spec := [timerSpec / 8]int64{0, 0, int64(after / time.Second), int64(after % time.Second)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(p.timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	if errno != 0 {
		must(errno)
	}
}

func read(fd int, into []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)))
	return int(n), errno
}

func write(fd int, bytes []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&bytes[0])), uintptr(len(bytes)))
	return int(n), errno
}
