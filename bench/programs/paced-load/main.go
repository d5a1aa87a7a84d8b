// Sends requests at a constant rate, evenly spaced, whatever the responses do: the task is in the file that the argument
// names, and the result is printed as JSON. A request's time runs from the instant it was due, so what it waited for a
// free connection counts. One thread with epoll and a timerfd: the timers of runtimes tick in milliseconds.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

// What is asked for.
type task struct {
	Port        int
	Connections int
	Target      string
	Header      string
	Values      []string
	PerSecond   int
	Seconds     int
}

// What happened. Times are in microseconds.
type result struct {
	// Requests that were due, and 2xx responses to them until a second after the last one was.
	Due, Answered int
	// Of those responses, the ones that came before the last request was due.
	AnsweredInTime int
	P50, P99       float64
	// How long after it was due a request was written though a connection was free: the generator's own delay.
	LateP50, LateP99 float64
	// Other responses and broken connections, by kind.
	Failures map[string]int
}

// How long responses may take after the last request was due.
const patience = time.Second

func main() {
	// No collection during the run: it allocates next to nothing.
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	text, err := os.ReadFile(os.Args[1])
	must(err)
	var asked task
	must(json.Unmarshal(text, &asked))
	must(json.NewEncoder(os.Stdout).Encode(newLoad(asked).run()))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type load struct {
	task
	result
	requests [][]byte
	poll     *poller
	byFd     map[int32]*connection
	// Taken from the front, so that each connection has its turn.
	free []*connection
	// When the requests were due that wait for a connection.
	waiting []time.Duration
	busy    int
	sent    int
	start   time.Time
	times   []time.Duration
	late    []time.Duration
}

func newLoad(asked task) *load {
	total := asked.PerSecond * asked.Seconds
	l := &load{task: asked, poll: newPoller(), byFd: map[int32]*connection{}}
	l.Due = total
	l.Failures = map[string]int{}
	l.times = make([]time.Duration, 0, total)
	l.late = make([]time.Duration, 0, total)
	for _, value := range asked.Values {
		head := "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s: %s\r\n\r\n"
		l.requests = append(l.requests, fmt.Appendf(nil, head, asked.Target, asked.Port, asked.Header, value))
	}
	for range asked.Connections {
		l.open()
	}
	return l
}

func (l *load) run() result {
	l.start = time.Now()
	interval := time.Second / time.Duration(l.PerSecond)
	end := interval * time.Duration(l.Due)
	for next := 0; ; {
		now := time.Since(l.start)
		for ; next < l.Due && interval*time.Duration(next) <= now; next++ {
			due := interval * time.Duration(next)
			if len(l.free) == 0 {
				l.waiting = append(l.waiting, due)
				continue
			}
			l.late = append(l.late, now-due)
			l.send(due)
		}
		if now >= end+patience || (now >= end && l.busy == 0) {
			break
		}
		wake := interval * time.Duration(next)
		if next == l.Due {
			wake = end + patience
			if now < end {
				wake = end
			}
		}
		for _, fd := range l.poll.wait(l.start.Add(wake)) {
			if connection := l.byFd[fd]; connection != nil {
				l.receive(connection, end)
			}
		}
	}
	l.P50, l.P99 = percentile(l.times, 0.5), percentile(l.times, 0.99)
	l.LateP50, l.LateP99 = percentile(l.late, 0.5), percentile(l.late, 0.99)
	return l.result
}

func (l *load) open() {
	connection, err := connect(l.Port)
	must(err)
	l.byFd[int32(connection.fd)] = connection
	l.poll.add(connection.fd)
	l.free = append(l.free, connection)
}

func (l *load) send(due time.Duration) {
	connection := l.free[0]
	l.free = l.free[1:]
	connection.due, connection.busy = due, true
	l.busy++
	request := l.requests[l.sent%len(l.requests)]
	l.sent++
	if written, _ := write(connection.fd, request); written != len(request) {
		l.fail(connection, "not written")
	}
}

func (l *load) receive(connection *connection, end time.Duration) {
	status, err := connection.read()
	if err != nil {
		l.fail(connection, err.Error())
		return
	}
	if status == 0 {
		return
	}
	connection.busy = false
	l.busy--
	l.free = append(l.free, connection)
	now := time.Since(l.start)
	if status/100 == 2 {
		l.Answered++
		l.times = append(l.times, now-connection.due)
		if now <= end {
			l.AnsweredInTime++
		}
	} else {
		l.Failures[fmt.Sprint(status)]++
	}
	if len(l.waiting) > 0 && now < end {
		due := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.send(due)
	}
}

// Replaces a connection. One that was closed while idle has done nothing wrong.
func (l *load) fail(broken *connection, kind string) {
	if broken.busy {
		l.busy--
		l.Failures[kind]++
	} else {
		l.free = slices.DeleteFunc(l.free, func(each *connection) bool { return each == broken })
	}
	delete(l.byFd, int32(broken.fd))
	syscall.Close(broken.fd)
	l.open()
}

func percentile(times []time.Duration, share float64) float64 {
	if len(times) == 0 {
		return math.MaxInt32
	}
	slices.Sort(times)
	return float64(times[int(share*float64(len(times)-1))].Nanoseconds()) / 1000
}
