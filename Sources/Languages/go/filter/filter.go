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
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sort"
	"strings"
	"sync"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/format"
)

const (
	// The pause before the next child: twice as long after each end for which something waited.
	firstPause   = format.FilterFirstPause * time.Millisecond
	longestPause = format.FilterLongestPause * time.Millisecond
)

// An Error says that the command does not answer, or that the filter is closed. The messages that wait were sealed or not. Its code is
// pushcrypt.FilterEnded.
type Error struct {
	refusal
	isFinal bool
}

type refusal = pushcrypt.Error

// Retryable tells whether the filter goes on, so that the message can be given to it again.
func (e *Error) Retryable() bool { return !e.isFinal }

func ended(text string, err error, isFinal bool) *Error {
	return &Error{refusal{Code: pushcrypt.FilterEnded, Text: text, Err: err}, isFinal}
}

// ErrClosed is the error of a message after Close.
var ErrClosed error = ended("the filter is closed", nil, true)

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
	done    chan struct{}
	// Closing ends with everything answered; when Close's context ends, the filter is abandoned.
	closing, abandoned context.Context
	close, abandon     func()

	mutex   sync.Mutex
	changed *sync.Cond
	number  uint64
	// waiting is what has no answer.
	waiting map[uint64]*waiting
	// The present child, and the lines that it gets; nil without one.
	child *os.Process
	lines chan []byte
	// patience ends a while after the child answered last, or got something to answer.
	patience *time.Timer
	ends     int
	// err is why all that waited got an error, since the last answer. isOver says that no child is started any more.
	err    error
	isOver bool
}

// What waits has its answer or its error when it is done.
type waiting struct {
	line   []byte
	done   chan struct{}
	answer *Answer
	err    error
}

// Start starts a filter of a command: "pushcrypt … seal --batch …" without input and output files. Close ends it. A program that cannot be
// found is an *Error at once; the child is started with the first message.
func Start(command []string, options *Options) (*Filter, error) {
	if !strings.Contains("\x00"+strings.Join(command, "\x00")+"\x00", "\x00--batch\x00") {
		return nil, &pushcrypt.Error{Code: pushcrypt.InvalidRequest, Text: "the filter's command has no --batch"}
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, ended("the command cannot be started", err, true)
	}
	own := Options{Window: format.FilterWindow, AnswerTimeout: format.FilterAnswerTimeout * time.Millisecond, Log: func(string) {}}
	if options != nil && options.Window > 0 {
		own.Window = options.Window
	}
	if options != nil && options.AnswerTimeout > 0 {
		own.AnswerTimeout = options.AnswerTimeout
	}
	if options != nil && options.Log != nil {
		own.Log = options.Log
	}
	filter := &Filter{
		command: append([]string(nil), command...), options: own, slots: make(chan struct{}, own.Window), done: make(chan struct{}),
		waiting: map[uint64]*waiting{},
	}
	filter.closing, filter.close = context.WithCancel(context.Background())
	filter.abandoned, filter.abandon = context.WithCancel(context.Background())
	filter.changed, filter.patience = sync.NewCond(&filter.mutex), time.AfterFunc(own.AnswerTimeout, filter.losePatience)
	go filter.run()
	return filter, nil
}

// Seal seals one message and waits for its answer; call it from as many goroutines as there are to be messages under way. A refused message is
// an answer with an Error; the other error is the filter's, the context's, or that of a message that cannot be written; after the first two the
// message may have been sealed or not.
func (filter *Filter) Seal(ctx context.Context, message Message) (*Answer, error) {
	line, err := message.encode()
	if err != nil {
		return nil, err
	}
	select {
	case filter.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	own, err := filter.add(line)
	if err != nil {
		<-filter.slots
		return nil, err
	}
	select {
	case <-own.done:
		return own.answer, own.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// add has a line written.
func (filter *Filter) add(line []byte) (*waiting, error) {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	if filter.closing.Err() != nil {
		return nil, ErrClosed
	}
	if filter.isOver {
		return nil, filter.err
	}
	if len(filter.waiting) == 0 {
		filter.patience.Reset(filter.options.AnswerTimeout)
	}
	filter.number++
	own := &waiting{line: fmt.Appendf(line, numbered, filter.number), done: make(chan struct{})}
	filter.waiting[filter.number] = own
	if filter.lines != nil {
		// There is room for all that may wait.
		filter.lines <- own.line
	}
	filter.changed.Signal()
	return own, nil
}

// settle gives a message its answer or its error, and makes room. The caller holds the lock.
func (filter *Filter) settle(number uint64, answer *Answer, err error) {
	own := filter.waiting[number]
	own.answer, own.err = answer, err
	delete(filter.waiting, number)
	close(own.done)
	<-filter.slots
}

// fail gives all that waits an error. The caller holds the lock.
func (filter *Filter) fail(err error) {
	filter.err = err
	for number := range filter.waiting {
		filter.settle(number, nil, err)
	}
}

// Close waits until everything submitted is answered, and ends the child; when the context ends, it kills the child, and what waits gets an
// *Error. It returns why something was not answered since the last answer; nil if all was.
func (filter *Filter) Close(ctx context.Context) error {
	filter.mutex.Lock()
	filter.close()
	filter.endLines()
	filter.patience.Reset(filter.options.AnswerTimeout)
	filter.changed.Signal()
	filter.mutex.Unlock()
	select {
	case <-filter.done:
	case <-ctx.Done():
		filter.mutex.Lock()
		filter.fail(ended("the filter was closed before everything was answered", ctx.Err(), true))
		filter.abandon()
		filter.patience.Reset(0)
		filter.mutex.Unlock()
		<-filter.done
	}
	return filter.err
}

// run runs one child after the other, while something waits.
func (filter *Filter) run() {
	defer close(filter.done)
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	for {
		for len(filter.waiting) == 0 && filter.closing.Err() == nil && !filter.isOver {
			filter.changed.Wait()
		}
		if len(filter.waiting) == 0 {
			return
		}
		filter.mutex.Unlock()
		isMisuse, err := filter.runChild()
		filter.options.Log(fmt.Sprintf("%s ended: %v", filter.command[0], err))
		filter.mutex.Lock()
		// Closing needs no other child, unless something waits.
		hurry, pause := filter.closing, firstPause
		if len(filter.waiting) > 0 {
			filter.ends++
			hurry, pause = filter.abandoned, firstPause<<filter.ends
		}
		if isMisuse || filter.ends >= format.FilterMostEnds {
			filter.isOver = isMisuse
			filter.fail(ended(filter.command[0]+" does not answer", err, isMisuse))
			hurry, pause = filter.closing, longestPause
		}
		filter.mutex.Unlock()
		select {
		case <-hurry.Done():
		case <-time.After(pause):
		}
		filter.mutex.Lock()
	}
}

// runChild runs a child to its end, and returns why it ended, with its last words.
func (filter *Filter) runChild() (isMisuse bool, err error) {
	child := exec.Command(filter.command[0], filter.command[1:]...)
	stdin, _ := child.StdinPipe()
	stdout, _ := child.StdoutPipe()
	stderr, err := child.StderrPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		return false, err
	}
	var all sync.WaitGroup
	var words []string
	wrong, lines := "", filter.begin(child.Process)
	for _, work := range []func(){
		func() { words = filter.listen(stderr) }, func() { write(stdin, lines) }, func() { wrong = filter.read(stdout, child.Process) },
	} {
		all.Add(1)
		go func(work func()) {
			defer all.Done()
			work()
		}(work)
	}
	state, err := child.Process.Wait()
	filter.mutex.Lock()
	filter.child = nil
	filter.endLines()
	filter.mutex.Unlock()
	// A process that it started may hold its output open.
	limit := time.AfterFunc(format.FilterLastWords*time.Millisecond, func() { stdin.Close(); stdout.Close(); stderr.Close() })
	all.Wait()
	limit.Stop()
	stdout.Close()
	stderr.Close()
	if err != nil {
		return false, err
	}
	return state.ExitCode() == format.FilterMisuse, fmt.Errorf("%s%s: %s", wrong, state, strings.Join(words, " "))
}

// begin returns what a child gets: everything that no other has answered, in order, and what comes.
func (filter *Filter) begin(child *os.Process) chan []byte {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	lines, numbers := make(chan []byte, filter.options.Window), []uint64{}
	for number := range filter.waiting {
		numbers = append(numbers, number)
	}
	sort.Slice(numbers, func(a, b int) bool { return numbers[a] < numbers[b] })
	for _, number := range numbers {
		lines <- filter.waiting[number].line
	}
	filter.child, filter.lines = child, lines
	filter.patience.Reset(filter.options.AnswerTimeout)
	if filter.closing.Err() != nil {
		filter.endLines()
	}
	return lines
}

// endLines has the child get no more. The caller holds the lock.
func (filter *Filter) endLines() {
	if filter.lines != nil {
		close(filter.lines)
		filter.lines = nil
	}
}

// listen logs what a child says, and returns its last lines.
func (filter *Filter) listen(stderr io.Reader) (words []string) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		filter.options.Log(lines.Text())
		if words = append(words, lines.Text()); len(words) > 10 {
			words = words[1:]
		}
	}
	_, _ = io.Copy(io.Discard, stderr)
	return words
}

// losePatience kills a child that does not answer in time, or does not end when it should.
func (filter *Filter) losePatience() {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	if filter.child != nil && (len(filter.waiting) > 0 || filter.closing.Err() != nil) {
		filter.options.Log("no answer in time")
		_ = filter.child.Kill()
	}
}

// write writes lines to the child; a full pipe stops it. That a child no longer reads is the reader's matter.
func write(stdin io.WriteCloser, lines chan []byte) {
	defer stdin.Close()
	output := bufio.NewWriterSize(stdin, 1<<16)
	for line := range lines {
		_, err := output.Write(line)
		if err == nil && len(lines) == 0 {
			err = output.Flush()
		}
		if err != nil {
			return
		}
	}
}

// read hands out answers until the child ends, and kills one that answers something else, which it returns.
func (filter *Filter) read(stdout io.Reader, child *os.Process) string {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 1<<16), format.FilterLongestAnswer)
	isRight := true
	for isRight && lines.Scan() {
		isRight = filter.answer(lines.Bytes())
	}
	if !isRight || lines.Err() == bufio.ErrTooLong {
		_ = child.Kill()
		return "it wrote something that is no answer to a message, and the command has to be pushcrypt seal --batch; "
	}
	return ""
}

// answer gives an answer to the message that waits for it.
func (filter *Filter) answer(line []byte) bool {
	number, answer := decode(line)
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	if answer == nil || filter.waiting[number] == nil {
		return false
	}
	filter.ends, filter.err = 0, nil
	filter.patience.Reset(filter.options.AnswerTimeout)
	filter.settle(number, answer, nil)
	return true
}
