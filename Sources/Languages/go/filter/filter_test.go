package filter_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/filter"
	"example.com/pushcrypt/pushcrypttest"
)

// A filter that hangs ends the test.
var ctx, _ = context.WithTimeout(context.Background(), 4*time.Minute)

// TestMain is also the child of these tests, in place of "pushcrypt seal --batch".
func TestMain(m *testing.M) {
	for _, argument := range os.Args {
		if mode := strings.TrimPrefix(argument, "fake:"); mode != argument {
			fake(mode)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// fake answers with the payload and what is passed through, or misbehaves.
func fake(mode string) {
	mode, file, _ := strings.Cut(mode, "@")
	input, output := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	input.Buffer(nil, 1<<22)
	fmt.Fprintln(os.Stderr, "a fake child,", mode)
	runs := 0
	if file != "" {
		log, _ := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		fmt.Fprintln(log, mode)
		text, _ := os.ReadFile(file)
		runs = strings.Count(string(text), "\n")
	}
	for count := 0; input.Scan(); count++ {
		var line map[string]json.RawMessage
		if json.Unmarshal(input.Bytes(), &line) != nil {
			os.Exit(65)
		}
		for name := range line {
			if strings.Contains("to id topic ttl placeholder push_type withdraw drop from_name collapse_id priority", name) {
				delete(line, name)
			}
		}
		switch {
		case mode == "dies" && count == 100, mode == "exit1":
			output.Flush()
			os.Exit(1)
		case mode == "misuse":
			os.Exit(64)
		case mode == "ends":
			os.Exit(0)
		case mode == "silent", mode == "silent-first" && runs == 1:
			time.Sleep(time.Hour)
		case mode == "outage" && runs <= 5:
			os.Exit(1)
		case mode == "number":
			line["pushcrypt-number"] = json.RawMessage("0")
		case mode == "garbage":
			fmt.Println("{}")
		case mode == "empty":
			line["error"] = json.RawMessage("{}")
		case mode == "payload":
			line["payload"] = json.RawMessage("7")
		case mode == "text":
			fmt.Println("pushcrypt: hello")
		case mode == "endless":
			for {
				fmt.Print(strings.Repeat("a", 1<<16))
			}
		case mode == "late":
			time.Sleep(10 * time.Millisecond)
		case mode == "refuses":
			delete(line, "payload")
			line["error"] = json.RawMessage(`{"code":"no-key","message":"the device has no key"}`)
		}
		data, _ := json.Marshal(line)
		output.Write(append(data, '\n'))
		output.Flush()
	}
	output.Flush()
}

func command(mode string) []string { return []string{os.Args[0], "--batch", "fake:" + mode} }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func start(t *testing.T, command []string, options *filter.Options) *filter.Filter {
	t.Helper()
	sealing, err := filter.Start(command, options)
	if err != nil {
		t.Fatal(err)
	}
	return sealing
}

func message(number int) filter.Message {
	payload := must(json.MarshalIndent(map[string]any{"aps": map[string]any{"alert": "é"}, "n": number, "fill": strings.Repeat("é", number%300)}, "", " "))
	return filter.Message{To: "phone1", Payload: payload, ID: fmt.Sprint("n-", number), Passed: map[string]any{"token": number}}
}

// check says whether the answer is that of the message.
func check(t *testing.T, number int, answer *filter.Answer, err error) {
	t.Helper()
	if err != nil || answer.Error != nil {
		t.Error(number, err, answer)
		return
	}
	var payload struct{ N int }
	if json.Unmarshal(answer.Payload, &payload) != nil || payload.N != number || string(answer.Members["token"]) != fmt.Sprint(number) {
		t.Error(number, "has the answer", string(answer.Payload), answer.Members)
	}
}

// submit returns a function that waits for the answer.
func submit(sealing *filter.Filter, message filter.Message) func() (*filter.Answer, error) {
	var answer *filter.Answer
	var err error
	done := make(chan struct{})
	go func() {
		answer, err = sealing.Seal(ctx, message)
		close(done)
	}()
	return func() (*filter.Answer, error) {
		<-done
		return answer, err
	}
}

// kill has many messages under way while children are killed again and again.
func kill(t *testing.T, command []string, count, every int, message func(int) filter.Message, check func(*testing.T, int, *filter.Answer, error)) {
	type pending struct {
		number int
		wait   func() (*filter.Answer, error)
	}
	sealing, underWay, kills := start(t, command, &filter.Options{Window: 200}), make(chan pending, 200), 0
	go func() {
		for number := 0; number < count; number++ {
			underWay <- pending{number, submit(sealing, message(number))}
		}
		close(underWay)
	}()
	seen := 0
	for next := range underWay {
		answer, err := next.wait()
		check(t, next.number, answer, err)
		seen++
		if pid := sealing.Pid(); seen%every == 0 && pid != 0 {
			_ = syscall.Kill(pid, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSEGV}[kills%3])
			kills++
		}
	}
	if err := sealing.Close(ctx); seen != count || kills < 3 || err != nil {
		t.Error(seen, "answers,", kills, "kills", err)
	}
}

// signal sends the child a signal. To 0 it would go to the whole group of processes.
func signal(t *testing.T, sealing *filter.Filter, signal syscall.Signal) {
	pid := sealing.Pid()
	if pid == 0 {
		t.Fatal("there is no child")
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}

func TestKilledChildrenLoseNothing(t *testing.T) {
	t.Parallel()
	kill(t, command("good"), 3000, 250, message, check)
	kill(t, command("dies"), 1000, 90, message, check)
}

func TestStoppedChildHoldsBackItsCallers(t *testing.T) {
	t.Parallel()
	sealing := start(t, command("good"), &filter.Options{Window: 50})
	answer, err := sealing.Seal(ctx, message(0))
	check(t, 0, answer, err)
	signal(t, sealing, syscall.SIGSTOP)
	var answered atomic.Int64
	var all sync.WaitGroup
	for number := 0; number < 500; number++ {
		all.Add(1)
		go func(number int) {
			defer all.Done()
			answer, err := sealing.Seal(ctx, message(number))
			check(t, number, answer, err)
			answered.Add(1)
		}(number)
	}
	time.Sleep(300 * time.Millisecond)
	if sealing.UnderWay() != 50 {
		t.Error("messages under way: ", sealing.UnderWay())
	}
	late, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := sealing.Seal(late, message(0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("a caller that waits no longer: ", err)
	}
	signal(t, sealing, syscall.SIGCONT)
	all.Wait()
	if err := sealing.Close(ctx); err != nil || answered.Load() != 500 {
		t.Error(err, answered.Load())
	}
}

func TestHungChildIsKilledAndItsMessagesGoToAnother(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"good", "silent-first@" + filepath.Join(t.TempDir(), "runs")} {
		sealing := start(t, command(mode), &filter.Options{AnswerTimeout: 2 * time.Second})
		if mode == "good" {
			answer, err := sealing.Seal(ctx, message(0))
			check(t, 0, answer, err)
			signal(t, sealing, syscall.SIGSTOP)
		}
		began := time.Now()
		answer, err := sealing.Seal(ctx, message(1))
		check(t, 1, answer, err)
		if took := time.Since(began); took > 25*time.Second {
			t.Error("took ", took)
		}
		time.Sleep(3 * time.Second)
		if answer, err = sealing.Seal(ctx, message(2)); err != nil || answer.Error != nil {
			t.Error("a child for which nothing waits is not killed: ", err)
		}
		if err := sealing.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

func TestLateAnswersAreInTime(t *testing.T) {
	t.Parallel()
	sealing, logged := start(t, command("late"), &filter.Options{AnswerTimeout: 3 * time.Second, Log: func(text string) {
		if strings.Contains(text, "in time") {
			t.Error(text)
		}
	}}), 0
	var waits []func() (*filter.Answer, error)
	for number := 0; number < 400; number++ {
		waits = append(waits, submit(sealing, message(number)))
	}
	for number, wait := range waits {
		answer, err := wait()
		check(t, number, answer, err)
	}
	if err := sealing.Close(ctx); err != nil || logged != 0 {
		t.Error(err)
	}
}

func TestCloseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	sealing := start(t, command("silent"), nil)
	wait := submit(sealing, message(0))
	for sealing.UnderWay() == 0 {
		time.Sleep(time.Millisecond)
	}
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := sealing.Close(soon)
	var own *filter.Error
	if !errors.As(err, &own) || own.Retryable() || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 20*time.Second {
		t.Error(err, time.Since(began))
	}
	if _, err := wait(); !errors.Is(err, pushcrypt.FilterEnded) {
		t.Error("what waited: ", err)
	}
	if _, err := sealing.Seal(ctx, message(1)); !errors.Is(err, filter.ErrClosed) {
		t.Error("a closed filter: ", err)
	}
	if err := sealing.Close(soon); err == nil {
		t.Error("closed twice")
	}
}

func TestCancelledCallerLosesNoOthers(t *testing.T) {
	t.Parallel()
	sealing := start(t, command("late"), &filter.Options{Window: 10})
	for number := 0; number < 30; number++ {
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		_, err := sealing.Seal(soon, message(number))
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}
	answer, err := sealing.Seal(ctx, message(31))
	check(t, 31, answer, err)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := sealing.Seal(cancelled, message(0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := sealing.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestWrongProgramIsReportedAtOnce(t *testing.T) {
	var own *filter.Error
	for _, name := range []string{"/nowhere/pushcrypt", "no-such-pushcrypt", "/etc/passwd", ""} {
		began := time.Now()
		if _, err := filter.Start([]string{name, "--batch"}, nil); !errors.As(err, &own) || own.Retryable() || time.Since(began) > 10*time.Second {
			t.Error(name, err)
		}
	}
	for _, wrong := range [][]string{nil, {}, {"pushcrypt", "seal"}} {
		if _, err := filter.Start(wrong, nil); !errors.Is(err, pushcrypt.InvalidRequest) {
			t.Error(wrong, err)
		}
	}
}

func TestChildrenThatAnswerNothing(t *testing.T) {
	for mode, words := range map[string]string{
		"exit1": "exit status 1: a fake child", "ends": "exit status 0", "garbage": "no answer", "number": "no answer", "empty": "no answer", "payload": "no answer",
		"text": "no answer", "endless": "no answer",
	} {
		mode, words := mode, words
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			sealing := start(t, command(mode), nil)
			var all sync.WaitGroup
			for number := 0; number < 3; number++ {
				all.Add(1)
				go func(number int) {
					defer all.Done()
					_, err := sealing.Seal(ctx, message(number))
					var own *filter.Error
					if !errors.As(err, &own) || !own.Retryable() || !strings.Contains(err.Error(), words) {
						t.Error("the error is ", err)
					}
				}(number)
			}
			all.Wait()
			if err := sealing.Close(ctx); err == nil {
				t.Error("no error at the end")
			}
		})
	}
}

func TestMisuseIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	runs := filepath.Join(t.TempDir(), "runs")
	sealing := start(t, command("misuse@"+runs), nil)
	for number := 0; number < 2; number++ {
		_, err := sealing.Seal(ctx, message(number))
		var own *filter.Error
		if !errors.As(err, &own) || own.Retryable() || !strings.Contains(err.Error(), "exit status 64") {
			t.Error(err)
		}
	}
	if text := must(os.ReadFile(runs)); strings.Count(string(text), "\n") != 1 || sealing.Close(ctx) == nil {
		t.Error("children: ", string(text))
	}
}

func TestOutageFailsWhatWaitsAndNothingLater(t *testing.T) {
	t.Parallel()
	sealing := start(t, command("outage@"+filepath.Join(t.TempDir(), "runs")), &filter.Options{Window: 1})
	var own *filter.Error
	if _, err := sealing.Seal(ctx, message(0)); !errors.As(err, &own) || !own.Retryable() {
		t.Error(err)
	}
	answer, err := sealing.Seal(ctx, message(1))
	check(t, 1, answer, err)
	if err := sealing.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestRefusalIsAnAnswer(t *testing.T) {
	sealing := start(t, command("refuses"), nil)
	answer := must(sealing.Seal(ctx, message(1)))
	if !errors.Is(answer.Error, pushcrypt.Code("no-key")) || answer.Error.Retryable() || string(answer.Members["token"]) != "1" || answer.Payload != nil {
		t.Error(answer)
	}
	_ = sealing.Close(ctx)
}

func TestLinesOfMessages(t *testing.T) {
	for _, one := range []struct {
		message filter.Message
		line    string
	}{
		{filter.Message{}, `{"to":"","payload":{}`},
		{filter.Message{HasNoKey: true, To: "a", Placeholder: (*struct{ A int })(nil), Withdraws: []string{}, Passed: map[string]any{}}, `{"to":null,"payload":{}`},
		{filter.Message{Placeholder: ""}, `{"to":"","payload":{}`},
		{
			filter.Message{
				To: "a", ID: "b", Topic: "c", TimeToLive: time.Hour, Placeholder: "d", PushType: "alert", Withdraws: []string{"e"}, Drop: true,
				From: &pushcrypt.Person{Name: "f"}, CollapseID: "g", Priority: 5, Passed: map[string]any{"h": 1},
			},
			`{"to":"a","id":"b","topic":"c","ttl":3600,"placeholder":"d","push_type":"alert","withdraw":["e"],"drop":true,"from_name":{"name":"f"},` +
				`"collapse_id":"g","priority":5,"h":1,"payload":{}`,
		},
	} {
		one.message.Payload = []byte("{ }")
		if line, err := one.message.Encode(); err != nil || line != one.line {
			t.Error(line, err)
		}
	}
}

func TestPayloadOfAnAnswer(t *testing.T) {
	payload := `{"x":"}\",\\","payload":{"y":[1,{"payload":2}]},"payloa":"d"}`
	for _, line := range []string{
		`{"payload":` + payload + `,"pushcrypt-number":7,"s":"payload","n":[":",{"payload":{}}]}`,
		`{"n":[":",{"payload":{}}],"s":"payload","pushcrypt-number":7,"payload":` + payload + `}`,
		`{"s":"payload","payload":` + payload + `,"n":[":",{"payload":{}}],"pushcrypt-number":7}`,
	} {
		number, answer := filter.Decode([]byte(line))
		if answer == nil || number != 7 || string(answer.Payload) != payload || len(answer.Members) != 2 ||
			string(answer.Members["s"]) != `"payload"` || string(answer.Members["n"]) != `[":",{"payload":{}}]` {
			t.Errorf("%s: %d, %+v", line, number, answer)
		}
	}
	for _, line := range []string{
		``, `{`, `"`, `"\`, `{"payload":`, `{"payload":{`, `{"payload":{},`, `{"payload":{}`, `{"payload":,"pushcrypt-number":7}`, `"payload":{},"pushcrypt-number":7}`,
		`{"payload":"{}","pushcrypt-number":7}`, `{"payload":{}},"pushcrypt-number":7}`, `[{"payload":{},"pushcrypt-number":7}]`,
		`{"payload":{]},"pushcrypt-number":7}`, `{"payload":{a},"pushcrypt-number":7}`, `{"payload":{},"pushcrypt-number":7.0}`, `{"payload":{}}`,
	} {
		if _, answer := filter.Decode([]byte(line)); answer != nil {
			t.Errorf("%s is no answer, and was taken for one", line)
		}
	}
}

func TestMessagesThatCannotBeWritten(t *testing.T) {
	sealing, good := start(t, command("good"), nil), []byte(`{"aps":{"alert":"a"}}`)
	large := []byte(`{"aps":{"alert":"` + strings.Repeat("a", 10<<20) + `"}}`)
	for _, wrong := range []struct {
		message filter.Message
		code    pushcrypt.Code
	}{
		{filter.Message{}, pushcrypt.MalformedPayload},
		{filter.Message{Payload: []byte(`{}},"to":"x"`)}, pushcrypt.MalformedPayload},
		{filter.Message{Payload: []byte("[]")}, pushcrypt.MalformedPayload},
		{filter.Message{Payload: []byte("{\"a\":\"\xff\"}")}, pushcrypt.MalformedPayload},
		{filter.Message{Payload: []byte(`{"a":1`)}, pushcrypt.MalformedPayload},
		{filter.Message{Payload: large}, pushcrypt.InvalidRequest},
		{filter.Message{To: "\xff", Payload: good}, pushcrypt.InvalidRequest},
		{filter.Message{Payload: good, Passed: map[string]any{"ttl": 1}}, pushcrypt.InvalidRequest},
		{filter.Message{Payload: good, Passed: map[string]any{"to_user": "alice"}}, pushcrypt.InvalidRequest},
		{filter.Message{Payload: good, Passed: map[string]any{"token": func() {}}}, pushcrypt.InvalidRequest},
		{filter.Message{Payload: good, Passed: map[string]any{"a": json.RawMessage(`{"b":1,"b":2}`)}}, pushcrypt.InvalidRequest},
		{filter.Message{Payload: good, TimeToLive: 1}, pushcrypt.InvalidTime},
		{filter.Message{Payload: good, TimeToLive: -time.Second}, pushcrypt.InvalidTime},
		{filter.Message{Payload: good, From: &pushcrypt.Person{Name: "a\nb"}}, pushcrypt.InvalidRequest},
	} {
		var own *pushcrypt.Error
		if _, err := sealing.Seal(ctx, wrong.message); !errors.As(err, &own) || own.Code != wrong.code {
			t.Error(wrong.code, err)
		}
	}
	// What encoding/json would write instead of a wrong byte is right where it was meant.
	unusual := message(1)
	unusual.To, unusual.ID = "\ufffd", `\ufffd`
	answer, err := sealing.Seal(ctx, unusual)
	check(t, 1, answer, err)
	if err := sealing.Close(ctx); err != nil {
		t.Error(err)
	}
}

// TestCommand uses the command itself, of the variable PUSHCRYPT or in the path.
func TestCommand(t *testing.T) {
	program := os.Getenv("PUSHCRYPT")
	if program == "" {
		program, _ = exec.LookPath("pushcrypt")
	}
	if program == "" {
		t.Skip("there is no pushcrypt: set PUSHCRYPT")
	}
	phone, provider := pushcrypttest.GenerateDeviceKey(), pushcrypt.GenerateProviderKey()
	key := filepath.Join(t.TempDir(), "provider.key")
	must(0, os.WriteFile(key, []byte(provider.SecretText()), 0o600))
	receiver := pushcrypttest.Receiver{
		Topic: "com.example.app", Keys: []pushcrypttest.HeldKey{{Key: phone}},
		Trust: pushcrypttest.Trust{Pins: []pushcrypt.ProviderPublicKey{provider.PublicKey()}},
	}
	command, to := []string{program, "seal", "--batch", "--signing-key-file", key, "--topic", "com.example.app"}, phone.PublicKey().String()
	kill(t, command, 1500, 250, func(number int) filter.Message {
		own := message(number)
		own.To = to
		return own
	}, func(t *testing.T, number int, answer *filter.Answer, err error) {
		if err != nil || answer.Error != nil {
			t.Fatal(err, answer)
		}
		opened := must(receiver.Open(answer.Payload, time.Time{}))
		check(t, number, &filter.Answer{Payload: opened.Payload, Members: answer.Members}, nil)
	})
	sealing := start(t, command, nil)
	refused := must(sealing.Seal(ctx, filter.Message{To: to, Payload: []byte(`{"aps":{}}`), Passed: map[string]any{"token": 1}}))
	if !errors.Is(refused.Error, pushcrypt.NothingToShow) || string(refused.Members["token"]) != "1" {
		t.Error(refused)
	}
	if refused = must(sealing.Seal(ctx, filter.Message{HasNoKey: true, Payload: []byte(`{"aps":{"alert":"a"}}`)})); refused.Error.Code != "no-key" {
		t.Error(refused)
	}
	answer := must(sealing.Seal(ctx, filter.Message{
		To: to, Payload: []byte(`{"aps":{"alert":"a"}}`), Topic: "com.example.app", TimeToLive: time.Hour, Placeholder: "b", PushType: pushcrypt.VoIP,
		Withdraws: []string{"c"}, Drop: true, From: &pushcrypt.Person{Name: "Anna"}, CollapseID: "d", Priority: 5,
	}))
	receiver.PushType = pushcrypt.VoIP
	opened := must(receiver.Open(answer.Payload, time.Time{}))
	person, _ := opened.Person()
	if person.Name != "Anna" || !opened.IsDropped() || len(opened.Withdraws()) != 1 || opened.TimeToLive != time.Hour {
		t.Error("other options: ", opened)
	}
	deepest := []byte(`{"aps":{"alert":"a"},"own":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + "}")
	if answer := must(sealing.Seal(ctx, filter.Message{To: to, Payload: deepest})); answer.Error != nil {
		t.Error(answer.Error)
	}
	if err := sealing.Close(ctx); err != nil {
		t.Error(err)
	}
}

// BenchmarkCommand has 500 goroutines seal with the command of the variable PUSHCRYPT.
func BenchmarkCommand(b *testing.B) {
	program := os.Getenv("PUSHCRYPT")
	if program == "" {
		b.Skip("there is no pushcrypt: set PUSHCRYPT")
	}
	key, to := filepath.Join(b.TempDir(), "provider.key"), pushcrypttest.GenerateDeviceKey().PublicKey().String()
	must(0, os.WriteFile(key, []byte(pushcrypt.GenerateProviderKey().SecretText()), 0o600))
	sealing := must(filter.Start([]string{program, "seal", "--batch", "--signing-key-file", key, "--topic", "com.example.app"}, nil))
	payload := []byte(`{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}},"chat":"c41"}`)
	must(sealing.Seal(ctx, filter.Message{To: to, Payload: payload}))
	b.ResetTimer()
	b.SetParallelism(250)
	b.RunParallel(func(each *testing.PB) {
		for each.Next() {
			must(sealing.Seal(ctx, filter.Message{To: to, Payload: payload}))
		}
	})
	_ = sealing.Close(ctx)
}
