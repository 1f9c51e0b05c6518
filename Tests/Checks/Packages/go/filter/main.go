// The client of `pushcrypt seal --batch`: nothing is lost, whatever happens to the child. The argument is the command.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/filter"
)

const (
	count    = 3000
	patience = 5 * time.Minute
)

var (
	phone    = must(pushcrypt.GenerateDeviceKey())
	provider = must(pushcrypt.GenerateProviderKey())
	receiver = pushcrypt.Receiver{
		Topic: "com.example.app", Keys: []pushcrypt.HeldKey{{Key: phone}},
		Trust: must(pushcrypt.NewTrust([]pushcrypt.ProviderPublicKey{provider.PublicKey()}, nil)),
	}
	command []string
	ctx     = context.Background()
)

func must[T any](value T, err error) T {
	if err != nil {
		fail(err.Error())
	}
	return value
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, "packages: go: filter: "+text)
	os.Exit(1)
}

func expect(name string, found, expected any) {
	if !reflect.DeepEqual(found, expected) {
		fail(fmt.Sprintf("%s: %v, and not %v", name, found, expected))
	}
}

func message(number int) filter.Message {
	value := map[string]any{"aps": map[string]any{"alert": "Hello"}, "number": number, "fill": strings.Repeat("é", number%300)}
	var payload any = value
	if number%3 == 0 {
		payload = must(json.MarshalIndent(value, "", " "))
	}
	return filter.Message{To: phone.PublicKey().String(), Payload: payload, ID: fmt.Sprint("n-", number), Passed: map[string]any{"token": number}}
}

// check says whether the answer is that of the message: the phone opens its payload.
func check(number int, answer *filter.Answer) {
	if answer.Error != nil {
		fail(answer.Error.Error())
	}
	expect("what is passed through", string(answer.Members["token"]), strconv.Itoa(number))
	opened := must(receiver.Open(answer.Payload, time.Time{}))
	var payload struct{ Number int }
	if err := json.Unmarshal(opened.Payload, &payload); err != nil {
		fail(err.Error())
	}
	expect("the payload", payload.Number, number)
}

func start(window int) *filter.Filter {
	return must(filter.Start(filter.Config{Command: command, Window: window}))
}

// killed kills a child again and again, with what it has read and not answered.
func killed() int {
	sealing, kills := start(200), 0
	type pending struct {
		number int
		wait   func(context.Context) (*filter.Answer, error)
	}
	underWay := make(chan pending, 200)
	go func() {
		for number := 0; number < count; number++ {
			underWay <- pending{number, must(sealing.Submit(ctx, message(number)))}
		}
		close(underWay)
	}()
	seen := 0
	for next := range underWay {
		check(next.number, must(next.wait(ctx)))
		seen++
		if pid := sealing.Pid(); seen%250 == 0 && pid != 0 {
			_ = syscall.Kill(pid, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSEGV}[kills%3])
			kills++
		}
	}
	expect("messages answered", seen, count)
	must(0, sealing.Close())
	return kills
}

// heldBack stops a child, which stops its callers.
func heldBack() {
	sealing := start(50)
	check(0, must(sealing.Seal(ctx, message(0))))
	_ = syscall.Kill(sealing.Pid(), syscall.SIGSTOP)
	var taken, answered atomic.Int64
	var all sync.WaitGroup
	for number := 0; number < 500; number++ {
		all.Add(1)
		go func(number int) {
			defer all.Done()
			wait := must(sealing.Submit(ctx, message(number)))
			taken.Add(1)
			check(number, must(wait(ctx)))
			answered.Add(1)
		}(number)
	}
	time.Sleep(300 * time.Millisecond)
	expect("messages taken while the child stands", taken.Load() <= 50, true)
	late, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	_, err := sealing.Seal(late, message(0))
	expect("a caller that waits no longer", errors.Is(err, context.DeadlineExceeded), true)
	cancel()
	_ = syscall.Kill(sealing.Pid(), syscall.SIGCONT)
	all.Wait()
	expect("messages answered after a stop", answered.Load(), int64(500))
	must(0, sealing.Close())
}

func refusals() {
	sealing, to := start(0), phone.PublicKey().String()
	passed := map[string]any{"token": 1}
	answer := must(sealing.Seal(ctx, filter.Message{To: to, Payload: map[string]any{"aps": map[string]any{}}, Passed: passed}))
	expect("the code of a refusal", answer.Error.Code+string(answer.Members["token"]), "nothing-to-show1")
	expect("a refusal's code", errors.Is(answer.Error, pushcrypt.NothingToShow), true)
	answer = must(sealing.Seal(ctx, filter.Message{HasNoKey: true, Payload: []byte(`{"aps":{"alert":"a"}}`)}))
	expect("the code of a device without a key", answer.Error.Code, "no-key")
	good := []byte(`{"aps":{"alert":"a"}}`)
	for _, wrong := range []filter.Message{
		{}, {To: to}, {To: to, Payload: []byte(`{}},"to":"x"`)},
		{To: to, Payload: map[string]any{"a": "\xff"}}, {To: to, Payload: json.RawMessage("[]")}, {To: to, Payload: map[string]any{"a": func() {}}},
	} {
		_, err := sealing.Seal(ctx, wrong)
		var own *pushcrypt.Error
		expect(fmt.Sprint("a refused payload: ", wrong, err), errors.As(err, &own) && errors.Is(err, pushcrypt.MalformedPayload), true)
	}
	for _, wrong := range []filter.Message{
		{To: "\xff", Payload: good}, {To: to, Payload: good, Passed: map[string]any{"ttl": 1}}, {To: to, Payload: good, TimeToLive: 1},
		{To: to, Payload: good, From: &pushcrypt.Person{Name: "a\nb"}}, {To: to, Payload: good, Passed: map[string]any{"to_user": "alice"}},
		{To: to, Payload: good, Passed: map[string]any{"token": func() {}}},
	} {
		_, err := sealing.Seal(ctx, wrong)
		expect(fmt.Sprint("a refused message: ", wrong, err), errors.Is(err, pushcrypt.InvalidRequest) || errors.Is(err, pushcrypt.InvalidTime), true)
	}
	answer = must(sealing.Seal(ctx, filter.Message{
		To: to, Payload: good, Topic: "com.example.app", TimeToLive: time.Hour, Placeholder: "b", PushType: pushcrypt.VoIP, Withdraw: []string{"c"},
		Drop: true, From: &pushcrypt.Person{Name: "Anna"}, CollapseID: "d", Priority: 5,
	}))
	called := receiver
	called.PushType = pushcrypt.VoIP
	opened := must(called.Open(answer.Payload, time.Time{}))
	person, _ := opened.Person()
	expect("all options", fmt.Sprintln(person.Name, opened.IsDropped(), len(opened.Withdraws()), opened.TimeToLive), "Anna true 1 1h0m0s\n")
	deep := []byte(`{"aps":{"alert":"a"},"own":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + "}")
	for _, payload := range []any{deep, map[string]json.RawMessage{"aps": json.RawMessage(`{"alert":"a"}`), "own": deep[27 : len(deep)-1]}} {
		expect("the deepest payload", must(sealing.Seal(ctx, filter.Message{To: to, Payload: payload})).Error == nil, true)
	}
	must(0, sealing.Close())
	_, err := sealing.Seal(ctx, message(0))
	expect("a closed filter", errors.Is(err, filter.ErrClosed), true)
}

func neverStarts() {
	for _, wrong := range []struct {
		words   string
		command []string
	}{
		{"nowhere", []string{command[0], "seal", "--batch", "--signing-key-file", "/nowhere", "--topic", "a"}},
		{"/nowhere", []string{"/nowhere", "--batch"}}, {"ended", []string{"true", "--batch"}}, {"exit status 1", []string{"cat", "--batch"}},
		{"belongs to no message", []string{"sh", "-c", "echo '{}'; sleep 1", "--batch"}},
		{"has no end", []string{"sh", "-c", `exec tr '\0' a </dev/zero`, "--batch"}},
		{"belongs to no message", []string{"sh", "-c", `echo '{"pushcrypt-number":0}'; sleep 1`, "--batch"}},
		{"belongs to no message", []string{"sh", "-c", `echo '{"pushcrypt-number":0,"payload":7}'; sleep 1`, "--batch"}},
		{"belongs to no message", []string{"sh", "-c", `echo '{"pushcrypt-number":0,"error":{}}'; sleep 1`, "--batch"}},
	} {
		sealing := must(filter.Start(filter.Config{Command: wrong.command}))
		var all sync.WaitGroup
		for number := 0; number < 3; number++ {
			all.Add(1)
			go func(number int) {
				defer all.Done()
				_, err := sealing.Seal(ctx, message(number))
				isOwn := errors.Is(err, filter.Ended) && strings.Contains(err.Error(), wrong.words)
				expect(fmt.Sprint("the error of ", wrong.command, ": ", err), isOwn, true)
			}(number)
		}
		all.Wait()
		expect("the error at the end", sealing.Close() != nil, true)
	}
	_, err := filter.Start(filter.Config{Command: []string{"pushcrypt", "seal"}})
	expect("a command without --batch", errors.Is(err, pushcrypt.InvalidRequest), true)
}

// outage has a command fail for a while, which fails what waits then, or misused, which is not tried again. A process that the command
// leaves holds its standard error.
func outage(folder string) {
	broken, tried := filepath.Join(folder, "broken"), filepath.Join(folder, "tried")
	script := fmt.Sprintf(`echo . >>%[1]s; [ ! -e %[2]s ] || exit "$(cat %[2]s)"; sleep 100 >/dev/null & exec "$@"`, tried, broken)
	runs := func() int { return len(must(os.ReadFile(tried))) / 2 }
	for _, code := range []string{"1", "64"} {
		must(0, os.WriteFile(broken, []byte(code), 0o600))
		must(0, os.WriteFile(tried, nil, 0o600))
		sealing := must(filter.Start(filter.Config{Command: append([]string{"sh", "-c", script, "-"}, command...), Window: 1}))
		time.Sleep(2 * time.Second)
		expect("children for which nothing waits", runs(), 1)
		_, err := sealing.Seal(ctx, message(0))
		expect("the error of an outage", errors.Is(err, filter.Ended), true)
		before := runs()
		must(0, os.Remove(broken))
		answer, err := sealing.Seal(ctx, message(1))
		if code == "1" {
			check(1, must(answer, err))
			start := time.Now()
			must(0, sealing.Close())
			expect("the time to close", time.Since(start) < 50*time.Second, true)
		} else {
			expect("after a misuse", errors.Is(err, filter.Ended) && runs() == before && sealing.Close() != nil, true)
		}
	}
}

func main() {
	time.AfterFunc(patience, func() { fail("no end: a message is lost") })
	folder := must(os.MkdirTemp("", "filter"))
	defer os.RemoveAll(folder)
	key := filepath.Join(folder, "provider.key")
	must(0, os.WriteFile(key, []byte(provider.SecretText()), 0o600))
	command = []string{os.Args[1], "seal", "--batch", "--signing-key-file", key, "--topic", "com.example.app"}
	kills := killed()
	expect("kills", kills > 3, true)
	heldBack()
	refusals()
	neverStarts()
	outage(folder)
	fmt.Printf("packages: go: filter: %d messages, %d children killed, none lost\n", count, kills)
}
