package main

import (
	"bytes"
	"errors"
	"strconv"
	"syscall"
	"time"
)

// A kept connection, and the request under way on it.
type connection struct {
	fd   int
	due  time.Duration
	busy bool
	// What has come of the response's head; empty once its length is known.
	head   []byte
	status int
	// Bytes of the response's body that are still to come.
	owed int
}

var (
	errClosed    = errors.New("closed")
	errUnasked   = errors.New("unasked bytes")
	errNoLength  = errors.New("no length")
	headEnd      = []byte("\r\n\r\n")
	lengthField  = []byte("\r\ncontent-length:")
	readingSpace = make([]byte, 64<<10)
)

func connect(port int) (*connection, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err = syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	if err = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return nil, err
	}
	return &connection{fd: fd}, syscall.SetNonblock(fd, true)
}

// Reads what has come; returns the status once the response is complete, 0 before.
func (c *connection) read() (int, error) {
	n, errno := read(c.fd, readingSpace)
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return 0, nil
	}
	if errno != 0 || n == 0 {
		return 0, errClosed
	}
	if !c.busy {
		return 0, errUnasked
	}
	came := readingSpace[:n]
	if c.status == 0 {
		if len(c.head) > 0 {
			c.head = append(c.head, came...)
			came = c.head
		}
		end := bytes.Index(came, headEnd)
		if end < 0 {
			c.head = append(c.head[:0], came...)
			return 0, nil
		}
		if err := c.readHead(came[:end]); err != nil {
			return 0, err
		}
		came = came[end+len(headEnd):]
		c.head = c.head[:0]
	}
	c.owed -= len(came)
	if c.owed > 0 {
		return 0, nil
	}
	if c.owed < 0 {
		return 0, errUnasked
	}
	status := c.status
	c.status = 0
	return status, nil
}

func (c *connection) readHead(head []byte) error {
	// "HTTP/1.1 200 OK"
	if len(head) < 12 {
		return errNoLength
	}
	status, _ := strconv.Atoi(string(head[9:12]))
	start := indexFold(head, lengthField)
	if start < 0 {
		return errNoLength
	}
	value, _, _ := bytes.Cut(head[start+len(lengthField):], []byte("\r\n"))
	length, err := strconv.Atoi(string(bytes.TrimSpace(value)))
	c.status, c.owed = status, length
	return err
}

// Where a field begins in a head, whatever the case of its letters; -1 where it doesn't.
func indexFold(head, field []byte) int {
	for from := 0; ; {
		line := bytes.Index(head[from:], field[:2])
		if line < 0 || from+line+len(field) > len(head) {
			return -1
		}
		from += line
		if bytes.EqualFold(head[from:from+len(field)], field) {
			return from
		}
		from += 2
	}
}
