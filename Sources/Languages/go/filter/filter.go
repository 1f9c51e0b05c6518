// Package filter keeps "pushcrypt seal --batch" as a child process, which seals 10,000 messages a second on a core.
//
//	sealing, err := filter.Start([]string{"pushcrypt", "--store", "P", "seal", "--batch"}, nil)
//	answer, err := sealing.Seal(ctx, filter.Message{To: "phone1", Payload: payload, ID: "table-17"})
//
// Nothing is lost: a message is answered, or its caller gets an error. If the child dies, or does not answer in time, another gets what was not
// answered, after a pause; give each message an ID, so that a phone shows it once whatever happens. If five children in a row answer nothing,
// all that waits gets an *Error, and the next message has another child started, 5 seconds later. Only a child that ends with 64, which
// the command never accepts, ends the filter.
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
	"example.com/pushcrypt/internal/format"
)

const (
	// The pause before the next child: twice as long after each end for which something waited.
	firstPause   = format.FilterFirstPause * time.Millisecond
	longestPause = format.FilterLongestPause * time.Millisecond
	lastWords    = format.FilterLastWords * time.Millisecond
	usualTimeout = format.FilterAnswerTimeout * time.Millisecond
)

// An Error says that the command does not answer, or that the filter is closed. The messages that wait were sealed or not.
type Error struct {
	Text string
	// Err is why; nil for none.
	Err     error
	isFinal bool
}

// Error returns the text.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Is tells whether target is pushcrypt.FilterEnded.
func (e *Error) Is(target error) bool { return target == pushcrypt.FilterEnded }

// Retryable tells whether the filter goes on, so that the message can be given to it again.
func (e *Error) Retryable() bool { return !e.isFinal }

// ErrClosed is the error of a message after Close.
var ErrClosed error = &Error{Text: "the filter is closed", isFinal: true}

// Options of a filter. The zero value, and nil, is usual.
type Options struct {
	// Window is the most messages under way; then Seal waits. 0 stands for 1,000.
	Window int
	// AnswerTimeout is how long a child may answer nothing while messages wait; then it is killed, and another started. 0 stands for 30 seconds.
	AnswerTimeout time.Duration
	// Log gets the child's messages, line by line; nil for none.
	Log func(text string)
}

// A Filter may be used by any number of goroutines.
type Filter struct {
	command []string
	options Options
	slots   chan struct{}
	closing chan struct{}
	done    chan struct{}

	mutex   sync.Mutex
	changed *sync.Cond
	number  uint64
	// waiting is what has no answer; unwritten are those of it that the present child has not got, in order.
	waiting   map[uint64]*waiting
	unwritten []uint64
	child     *exec.Cmd
	// since is when the child answered last, or got something to answer.
	since     time.Time
	isClosing bool
	// isOver says that no child is started any more; failures, how often all that waited got an error, the last of which is err.
	isOver   bool
	ends     int
	failures int
	err      error
}

type waiting struct {
	line   []byte
	result chan result
}

type result struct {
	answer *Answer
	err    error
}

// Start starts a filter of a command: "pushcrypt … seal --batch …" without input and output files. Close ends it. A program that cannot be
// found is an *Error at once.
func Start(command []string, options *Options) (*Filter, error) {
	isBatch := false
	for _, argument := range command {
		isBatch = isBatch || argument == "--batch"
	}
	if !isBatch {
		return nil, &pushcrypt.Error{Code: pushcrypt.InvalidRequest, Text: "the filter's command has no --batch"}
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, &Error{Text: "the command cannot be started", Err: err, isFinal: true}
	}
	own := Options{}
	if options != nil {
		own = *options
	}
	if own.Window <= 0 {
		own.Window = format.FilterWindow
	}
	if own.AnswerTimeout <= 0 {
		own.AnswerTimeout = usualTimeout
	}
	if own.Log == nil {
		own.Log = func(string) {}
	}
	filter := &Filter{
		command: append([]string(nil), command...), options: own, slots: make(chan struct{}, own.Window), closing: make(chan struct{}),
		done: make(chan struct{}), waiting: map[uint64]*waiting{},
	}
	filter.changed = sync.NewCond(&filter.mutex)
	go filter.run()
	return filter, nil
}

// Seal seals one message and waits for its answer. A refused message is an answer with an Error; the other error is the filter's, the
// context's, or that of a message that cannot be written; after the first two the message may have been sealed or not.
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
	filter.mutex.Lock()
	failures := filter.failures
	filter.mutex.Unlock()
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

// add has a line written, unless what waited for room with it got an error.
func (filter *Filter) add(line []byte, failures int) (*waiting, error) {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	if filter.isClosing {
		return nil, ErrClosed
	}
	if filter.isOver || filter.failures != failures {
		return nil, filter.err
	}
	if len(filter.waiting) == 0 {
		filter.since = time.Now()
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

// Close waits until everything submitted is answered, and ends the child; when the context ends, it kills the child, and what waits gets an
// *Error. It returns why something was not answered since the last answer; nil if all was.
func (filter *Filter) Close(ctx context.Context) error {
	filter.mutex.Lock()
	if !filter.isClosing {
		filter.isClosing, filter.since = true, time.Now()
		close(filter.closing)
	}
	filter.changed.Broadcast()
	filter.mutex.Unlock()
	select {
	case <-filter.done:
	case <-ctx.Done():
		filter.mutex.Lock()
		filter.fail(&Error{Text: "the filter was closed before everything was answered", Err: ctx.Err(), isFinal: true})
		filter.kill()
		filter.mutex.Unlock()
		<-filter.done
	}
	return filter.err
}

// kill ends the child. The caller holds the lock.
func (filter *Filter) kill() {
	if filter.child != nil {
		_ = filter.child.Process.Kill()
	}
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

// run runs one child after the other.
func (filter *Filter) run() {
	defer close(filter.done)
	for {
		err := filter.runChild()
		filter.options.Log(fmt.Sprintf("%s ended: %v", filter.command[0], err))
		if !filter.pause(err) {
			return
		}
	}
}

// pause counts an end for which something waits, pauses, and waits for a message. It tells whether another child is to be started.
func (filter *Filter) pause(err error) bool {
	filter.mutex.Lock()
	var exit *exec.ExitError
	filter.isOver = errors.As(err, &exit) && exit.ExitCode() == format.FilterMisuse
	isBusy := len(filter.waiting) > 0
	if isBusy {
		filter.ends++
	}
	pause := firstPause << filter.ends
	if filter.isOver || filter.ends >= format.FilterMostEnds {
		filter.fail(&Error{Text: filter.command[0] + " does not answer", Err: err, isFinal: filter.isOver})
		isBusy, pause = false, longestPause
	}
	filter.mutex.Unlock()
	// Closing needs no other child, unless something waits.
	closing := filter.closing
	if isBusy {
		closing = nil
	}
	if !filter.isOver {
		select {
		case <-closing:
		case <-time.After(pause):
		}
	}
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	for len(filter.waiting) == 0 && !filter.isClosing && !filter.isOver {
		filter.changed.Wait()
	}
	return len(filter.waiting) > 0
}

// runChild runs a child to its end, and returns why it ended, with its last words.
func (filter *Filter) runChild() error {
	child := exec.Command(filter.command[0], filter.command[1:]...)
	stdin, _ := child.StdinPipe()
	stdout, _ := child.StdoutPipe()
	stderr, err := child.StderrPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		return err
	}
	filter.begin(child)
	words, heard, read, written := &words{log: filter.options.Log}, make(chan struct{}), make(chan error, 1), make(chan struct{})
	go func() {
		_, _ = io.Copy(words, stderr)
		close(heard)
	}()
	go func() {
		filter.write(stdin, child)
		close(written)
	}()
	go func() { read <- filter.read(stdout) }()
	watched := make(chan struct{})
	go filter.watch(watched)
	state, err := child.Process.Wait()
	close(watched)
	filter.mutex.Lock()
	filter.child = nil
	filter.changed.Broadcast()
	filter.mutex.Unlock()
	// A process that it started may hold its output open.
	limit := time.AfterFunc(lastWords, func() { stdout.Close(); stderr.Close() })
	wrong := <-read
	<-heard
	limit.Stop()
	stdout.Close()
	stderr.Close()
	<-written
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		return err
	case state.Success():
		return fmt.Errorf("it ended%s", words.last())
	}
	return fmt.Errorf("%w%s", &exec.ExitError{ProcessState: state}, words.last())
}

// begin has a child get everything that no other has answered, in order.
func (filter *Filter) begin(child *exec.Cmd) {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	filter.child, filter.since = child, time.Now()
	filter.unwritten = filter.unwritten[:0]
	for number := range filter.waiting {
		filter.unwritten = append(filter.unwritten, number)
	}
	sort.Slice(filter.unwritten, func(a, b int) bool { return filter.unwritten[a] < filter.unwritten[b] })
}

// watch kills a child that does not answer in time, or does not end when it should.
func (filter *Filter) watch(ended chan struct{}) {
	ticker := time.NewTicker(filter.options.AnswerTimeout/8 + 1)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		filter.mutex.Lock()
		if (len(filter.waiting) > 0 || filter.isClosing) && time.Since(filter.since) > filter.options.AnswerTimeout {
			filter.options.Log("no answer in time")
			filter.kill()
		}
		filter.mutex.Unlock()
	}
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
		if own := filter.waiting[filter.unwritten[0]]; own != nil {
			lines.Write(own.line)
		}
		filter.unwritten = filter.unwritten[1:]
	}
	return lines.Bytes()
}

// read hands out answers until the child ends, and kills one that answers something else. Half a line at its end is no answer.
func (filter *Filter) read(stdout io.Reader) error {
	reader := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := readLine(reader)
		if err != nil && err != bufio.ErrBufferFull {
			return nil
		}
		number, answer, err := decode(line)
		if err == nil {
			err = filter.hand(number, answer)
		}
		if err != nil {
			filter.mutex.Lock()
			filter.kill()
			filter.mutex.Unlock()
			return err
		}
	}
}

// hand gives an answer to who waits for it.
func (filter *Filter) hand(number uint64, answer *Answer) error {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	own := filter.waiting[number]
	if own == nil {
		return errNoAnswer
	}
	filter.ends, filter.err, filter.since = 0, nil, time.Now()
	delete(filter.waiting, number)
	own.result <- result{answer: answer}
	<-filter.slots
	return nil
}
