// Package filter keeps "pushcrypt seal --batch" as a child process, which seals 10,000 messages a second on a core.
//
//	sealing, err := filter.Start(filter.Config{Command: []string{"pushcrypt", "--store", "P", "seal", "--batch"}})
//	answer, err := sealing.Seal(ctx, filter.Message{To: "phone1", Payload: payload, ID: "table-17"})
//
// Nothing is lost: a message is answered, or its caller gets an error. If the child dies, another gets what was not answered, after a pause;
// give each message an id, so that a phone shows it once whatever happens. If five children in a row answer nothing, or cannot be started,
// all that waits gets an error, and the next message has another child started, 5 seconds later. Only a child that ends with 64, which the
// command never accepts, ends the filter.
package filter

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sort"
	"sync"
	"time"

	"example.com/pushcrypt"
)

const (
	// Ends in a row without an answer, while something waited, after which that gets an error.
	mostEnds = 5
	// The pause before the next child: twice as long after each such end.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	lastWords    = time.Second
	misuse       = 64
	// UsualWindow is the most messages under way, unless a Config says otherwise.
	UsualWindow = 1000
)

// Ended is the code of the filter's own errors, which "pushcrypt explain" does not know: the command does not answer, or the filter is closed.
const Ended pushcrypt.Code = "filter-ended"

// ErrClosed is the error of a message after Close.
var ErrClosed error = &pushcrypt.Error{Code: Ended, Text: "the filter is closed"}

// A Config of a filter.
type Config struct {
	// Command is "pushcrypt … seal --batch …" without input and output files.
	Command []string
	// Window is the most messages under way; then Seal waits. By default UsualWindow.
	Window int
	// Log gets the child's messages, line by line; nil for none.
	Log func(text string)
}

// A Filter may be used by any number of goroutines.
type Filter struct {
	config Config
	slots  chan struct{}
	done   chan struct{}

	mutex   sync.Mutex
	changed *sync.Cond
	number  uint64
	// waiting is what has no answer; unwritten are those of it that the present child has not got, in order.
	waiting   map[uint64]*waiting
	unwritten []uint64
	child     *exec.Cmd
	isClosing bool
	// isOver says that no child is started any more; failures, how often all that waited got an error, the last of which is err.
	isOver   bool
	ends     int
	failures int
	err      error
	closing  chan struct{}
}

type waiting struct {
	line   []byte
	result chan result
}

type result struct {
	answer *Answer
	err    error
}

// Start starts a filter. Close ends it.
func Start(config Config) (*Filter, error) {
	isBatch := false
	for _, argument := range config.Command {
		isBatch = isBatch || argument == "--batch"
	}
	if !isBatch {
		return nil, &pushcrypt.Error{Code: pushcrypt.InvalidRequest, Text: "the filter's command has no --batch"}
	}
	if config.Window <= 0 {
		config.Window = UsualWindow
	}
	if config.Log == nil {
		config.Log = func(string) {}
	}
	filter := &Filter{
		config: config, slots: make(chan struct{}, config.Window), done: make(chan struct{}), waiting: map[uint64]*waiting{},
		closing: make(chan struct{}),
	}
	filter.changed = sync.NewCond(&filter.mutex)
	go filter.run()
	return filter, nil
}

// Seal seals one message and waits for its answer. A refused message is an answer with an Error; the other error is the filter's or the
// context's, and then the message may have been sealed or not.
func (filter *Filter) Seal(ctx context.Context, message Message) (*Answer, error) {
	wait, err := filter.Submit(ctx, message)
	if err != nil {
		return nil, err
	}
	return wait(ctx)
}

// Submit waits for room, and returns a function that waits for the answer, so that one goroutine can have many messages under way.
func (filter *Filter) Submit(ctx context.Context, message Message) (func(context.Context) (*Answer, error), error) {
	line, err := message.encode()
	if err != nil {
		return nil, err
	}
	failures := filter.failed()
	select {
	case filter.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	own, err := filter.add(line, failures)
	if err != nil {
		<-filter.slots
		return nil, err
	}
	return func(ctx context.Context) (*Answer, error) {
		select {
		case result := <-own.result:
			// Another call gets it too.
			own.result <- result
			return result.answer, result.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, nil
}

func (filter *Filter) failed() int {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	return filter.failures
}

// add has a line written, unless what waited for room with it got an error.
func (filter *Filter) add(line []byte, failures int) (*waiting, error) {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	if filter.isOver || filter.failures != failures {
		return nil, filter.err
	}
	if filter.isClosing {
		return nil, ErrClosed
	}
	filter.number++
	own := &waiting{numbered(line, filter.number), make(chan result, 1)}
	filter.waiting[filter.number] = own
	filter.unwritten = append(filter.unwritten, filter.number)
	filter.changed.Broadcast()
	return own, nil
}

// Pid returns the child's process id; 0 while there is no child.
func (filter *Filter) Pid() int {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	if filter.child == nil {
		return 0
	}
	return filter.child.Process.Pid
}

// Close waits until everything submitted is answered, and ends the child. It returns why the last child did not answer, if so.
func (filter *Filter) Close() error {
	filter.mutex.Lock()
	if !filter.isClosing {
		filter.isClosing = true
		close(filter.closing)
	}
	filter.changed.Broadcast()
	filter.mutex.Unlock()
	<-filter.done
	if filter.isOver || filter.ends > 0 {
		return filter.err
	}
	return nil
}

// run runs one child after the other.
func (filter *Filter) run() {
	defer close(filter.done)
	for {
		said, err := filter.runChild()
		if filter.isDone() || !filter.pause(said, err) {
			return
		}
	}
}

func (filter *Filter) isDone() bool {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	return filter.isClosing && len(filter.waiting) == 0
}

// pause counts an end for which something waits, pauses, and waits for a message. It tells whether another child is to be started.
func (filter *Filter) pause(said string, err error) bool {
	if err == nil {
		err = errors.New("it ended")
	}
	var exit *exec.ExitError
	filter.mutex.Lock()
	filter.isOver = errors.As(err, &exit) && exit.ExitCode() == misuse
	if len(filter.waiting) > 0 {
		filter.ends++
	}
	isBusy, pause := len(filter.waiting) > 0, firstPause<<filter.ends
	if filter.isOver || filter.ends >= mostEnds {
		filter.fail(&pushcrypt.Error{Code: Ended, Text: filter.config.Command[0] + " does not answer" + said, Err: err})
		isBusy, pause = false, longestPause
	}
	isOver := filter.isOver
	filter.mutex.Unlock()
	if isOver {
		return false
	}
	filter.config.Log(fmt.Sprintf("%s ended: %v", filter.config.Command[0], err))
	if isBusy {
		time.Sleep(pause)
	} else {
		// Closing needs no other child.
		select {
		case <-filter.closing:
		case <-time.After(pause):
		}
	}
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	for len(filter.waiting) == 0 && !filter.isClosing {
		filter.changed.Wait()
	}
	return len(filter.waiting) > 0
}

// fail gives all that waits an error. The caller holds the lock.
func (filter *Filter) fail(err error) {
	filter.err = err
	filter.failures++
	for number, own := range filter.waiting {
		delete(filter.waiting, number)
		own.result <- result{err: err}
		<-filter.slots
	}
}

// runChild runs a child to its end, and returns its last words and its error.
func (filter *Filter) runChild() (said string, err error) {
	child := exec.Command(filter.config.Command[0], filter.config.Command[1:]...)
	stdin, err := child.StdinPipe()
	if err != nil {
		return "", err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return "", err
	}
	stderr, err := child.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := child.Start(); err != nil {
		return "", err
	}
	filter.begin(child)
	words, listened, written := &words{log: filter.config.Log}, make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = io.Copy(words, stderr)
		close(listened)
	}()
	go func() {
		filter.write(stdin, child)
		close(written)
	}()
	failed := filter.read(stdout)
	if failed != nil {
		_ = child.Process.Kill()
	}
	_, _ = io.Copy(io.Discard, stdout)
	select {
	case <-listened:
	// A process that it started may hold its standard error open.
	case <-time.After(lastWords):
	}
	err = child.Wait()
	filter.mutex.Lock()
	filter.child = nil
	filter.changed.Broadcast()
	filter.mutex.Unlock()
	<-written
	if failed != nil {
		err = failed
	}
	return words.last(), err
}

// begin has a child get everything that no other has answered, in order.
func (filter *Filter) begin(child *exec.Cmd) {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	filter.child = child
	filter.unwritten = filter.unwritten[:0]
	for number := range filter.waiting {
		filter.unwritten = append(filter.unwritten, number)
	}
	sort.Slice(filter.unwritten, func(a, b int) bool { return filter.unwritten[a] < filter.unwritten[b] })
}

// write writes what waits, as long as the child is the present one; a full pipe stops it. That a child no longer reads is the reader's
// matter.
func (filter *Filter) write(stdin io.WriteCloser, child *exec.Cmd) {
	defer stdin.Close()
	for {
		lines := filter.next(child)
		if len(lines) == 0 {
			return
		}
		if _, err := stdin.Write(lines); err != nil {
			return
		}
	}
}

// next waits for lines to write; there are none if the child is over, or the filter closes.
func (filter *Filter) next(child *exec.Cmd) []byte {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	for len(filter.unwritten) == 0 && !filter.isClosing && filter.child == child {
		filter.changed.Wait()
	}
	var lines bytes.Buffer
	for filter.child == child && len(filter.unwritten) > 0 && lines.Len() < 1<<16 {
		lines.Write(filter.waiting[filter.unwritten[0]].line)
		filter.unwritten = filter.unwritten[1:]
	}
	return lines.Bytes()
}

// read hands out answers until the child ends. Half a line at its end is none.
func (filter *Filter) read(stdout io.Reader) error {
	reader := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := readLine(reader)
		if err == bufio.ErrBufferFull {
			return errors.New("an answer has no end; the command has to be pushcrypt seal --batch")
		}
		if err != nil {
			return nil
		}
		number, answer, err := decode(line)
		own := filter.take(number)
		if err != nil || own == nil {
			return errors.New("an answer belongs to no message; the command has to be pushcrypt seal --batch")
		}
		own.result <- result{answer: answer}
		<-filter.slots
	}
}

// take returns what waits for an answer, which has no number 0.
func (filter *Filter) take(number uint64) *waiting {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	own := filter.waiting[number]
	if own != nil {
		filter.ends = 0
		delete(filter.waiting, number)
	}
	return own
}
