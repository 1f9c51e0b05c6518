// Reads questions from standard input, one per line, and answers them with the installed Go package. README.md describes the language.
package main

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/secretstream"
	"example.com/pushcrypt/internal/vector"
)

// must stops an answer: its error is a refusal, or breaks the test.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func data(word string) []byte {
	if word == "-" {
		return nil
	}
	return must(hex.DecodeString(word))
}

func word(data []byte) string {
	if len(data) == 0 {
		return "-"
	}
	return hex.EncodeToString(data)
}

func several(text string) []string {
	if text == "-" {
		return nil
	}
	return strings.Split(text, ",")
}

func joined(texts []string) string {
	if len(texts) == 0 {
		return "-"
	}
	return strings.Join(texts, ",")
}

func number(text string) int64 { return must(strconv.ParseInt(text, 10, 64)) }

func clock(text string) time.Time {
	value := must(strconv.ParseUint(text, 10, 64))
	return time.Unix(int64(value/1000), int64(value%1000)*1_000_000)
}

// options are names, each with its values. Every one has to be read.
type options map[string][]string

func readOptions(words []string) options {
	read := options{}
	for _, each := range words {
		name, value, _ := strings.Cut(each, "=")
		read[name] = append(read[name], string(must(hex.DecodeString(value))))
	}
	return read
}

func (own options) list(name string) []string {
	values := own[name]
	delete(own, name)
	return values
}

func (own options) one(name string) (string, bool) {
	values := own.list(name)
	if len(values) > 1 {
		panic("twice " + name)
	}
	return strings.Join(values, ""), len(values) == 1
}

func (own options) end() {
	if len(own) > 0 {
		panic(fmt.Sprint("not read: ", own))
	}
}

type answer struct{ text string }

func (own *answer) add(name string, values ...string) {
	for _, value := range values {
		own.text += " " + name + "=" + hex.EncodeToString([]byte(value))
	}
}

func (own *answer) optional(name, value string) {
	if value != "" {
		own.add(name, value)
	}
}

var trusts = map[string]*pushcrypt.Trust{}

func readTrust(text string) *pushcrypt.Trust {
	if trust := trusts[text]; trust != nil {
		return trust
	}
	var senders []pushcrypt.Sender
	for _, each := range strings.Split(text, "/") {
		if each != "-" {
			senders = append(senders, readSender(strings.Split(each, ";")))
		}
	}
	trusts[text] = must(pushcrypt.NewTrust(senders...))
	return trusts[text]
}

func readSender(parts []string) pushcrypt.Sender {
	sender := pushcrypt.Sender{Name: parts[0], LastRecovery: data(parts[4])}
	if parts[1] != "-" {
		sender.Pinned = must(pushcrypt.ParseSenderPublicKey(parts[1]))
	}
	for _, old := range several(parts[2]) {
		key, by, _ := strings.Cut(old, ":")
		sender.Superseded = append(sender.Superseded, pushcrypt.Superseded{Key: must(pushcrypt.ParseSenderPublicKey(key)), Statement: data(by)})
	}
	for _, key := range several(parts[3]) {
		sender.Recovery = append(sender.Recovery, must(pushcrypt.ParseRecoveryPublicKey(key)))
	}
	return sender
}

func writeTrust(trust *pushcrypt.Trust) string {
	var senders []string
	for _, sender := range trust.Senders() {
		pinned := "-"
		if sender.Pinned != (pushcrypt.SenderPublicKey{}) {
			pinned = sender.Pinned.String()
		}
		var superseded, recovery []string
		for _, old := range sender.Superseded {
			superseded = append(superseded, old.Key.String()+":"+word(old.Statement))
		}
		for _, key := range sender.Recovery {
			recovery = append(recovery, key.String())
		}
		senders = append(senders, strings.Join([]string{sender.Name, pinned, joined(superseded), joined(recovery), word(sender.LastRecovery)}, ";"))
	}
	if len(senders) == 0 {
		return "-"
	}
	return strings.Join(senders, "/")
}

func codes(codes []pushcrypt.Code) string {
	var texts []string
	for _, code := range codes {
		texts = append(texts, string(code))
	}
	return joined(texts)
}

// A public key.
type public interface {
	String() string
	ID() string
	Bytes() []byte
}

func ofPublic(key public, text string) string {
	if key.String() != strings.TrimSuffix(text, "\n") {
		return "the text of the key is another one"
	}
	return fmt.Sprintf("ok %x %s -", key.Bytes(), key.ID())
}

func ofSecret(key interface{ SecretText() string }, public public, text string) string {
	if key.SecretText() != strings.TrimSuffix(text, "\n") {
		return "the text of the key is another one"
	}
	return fmt.Sprintf("ok %s - %x", secretBytes(text), public.Bytes())
}

// secretBytes decodes the text of a secret key, which no package gives out as bytes.
func secretBytes(text string) string {
	const alphabet = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
	bits := ""
	for _, letter := range strings.TrimSuffix(text, "\n")[12:64] {
		bits += fmt.Sprintf("%05b", strings.IndexRune(alphabet, letter))
	}
	secret := ""
	for place := 0; place < 256; place += 4 {
		secret += strconv.FormatInt(must(strconv.ParseInt(bits[place:place+4], 2, 8)), 16)
	}
	return secret
}

func answerKey(words []string) string {
	text := string(data(words[1]))
	switch words[0] {
	case "pcr":
		return ofPublic(must(pushcrypt.ParseDevicePublicKey(text)), text)
	case "pcs":
		return ofPublic(must(pushcrypt.ParseSenderPublicKey(text)), text)
	case "pcv":
		return ofPublic(must(pushcrypt.ParseRecoveryPublicKey(text)), text)
	case "pcr-secret-":
		key := must(pushcrypt.ParseDeviceKey(text))
		return ofSecret(key, key.PublicKey(), text)
	case "pcs-secret-":
		key := must(pushcrypt.ParseSenderKey(text))
		return ofSecret(key, key.PublicKey(), text)
	}
	key := must(pushcrypt.ParseRecoveryKey(text))
	return ofSecret(key, key.PublicKey(), text)
}

func answerCheck(words []string) string {
	switch words[0] {
	case "pcr":
		must(pushcrypt.NewDevicePublicKey(data(words[1])))
	case "pcs":
		must(pushcrypt.NewSenderPublicKey(data(words[1])))
	default:
		must(pushcrypt.NewRecoveryPublicKey(data(words[1])))
	}
	return "ok"
}

var zeros = must(pushcrypt.NewSenderKey(make([]byte, 32)))

func answerContext(words []string) string {
	must(pushcrypt.NewSealer(zeros, string(data(words[0])), pushcrypt.Placeholder{}))
	return "ok"
}

func answerText(words []string) string {
	envelope := must(pushcrypt.ParseEnvelope(string(data(words[0]))))
	return fmt.Sprintf("ok %s %d", envelope.RecipientKeyID(), envelope.Bucket())
}

func answerFingerprint(words []string) string {
	return "ok " + pushcrypt.Fingerprint(string(data(words[0])))
}

var deviceKeys = map[string]*pushcrypt.DeviceKey{}

func receiver(words []string) pushcrypt.Receiver {
	own := pushcrypt.Receiver{Topic: words[0], Trust: readTrust(words[2])}
	for _, device := range several(words[1]) {
		text, end, _ := strings.Cut(device, "@")
		if deviceKeys[text] == nil {
			deviceKeys[text] = must(pushcrypt.ParseDeviceKey(text))
		}
		held := pushcrypt.HeldKey{Key: deviceKeys[text]}
		if end != "" {
			held.End = clock(end)
		}
		own.Keys = append(own.Keys, held)
	}
	return own
}

func answerOpen(words []string) string {
	own := receiver(words)
	return opened(own, words, must(own.OpenEnvelope(must(pushcrypt.ParseEnvelope(string(data(words[4])))), clock(words[3]))))
}

func answerPush(words []string) string {
	own := receiver(words)
	return opened(own, words, must(own.Open(data(words[4]), clock(words[3]))))
}

func opened(own pushcrypt.Receiver, words []string, opened *pushcrypt.Opened) string {
	after, accepted, _ := own.Trust.Follow(opened.Statements, words[0], clock(words[3]))
	if len(accepted) != len(opened.Statements) {
		return "broken the statements are not accepted again"
	}
	return fmt.Sprintf("opened %s %s %d %d %s %s %s", word(opened.Payload), opened.MessageID, opened.SentAt.UnixMilli(),
		opened.TimeToLive/time.Second, opened.Sender, writeTrust(after), codes(opened.Told))
}

func answerStatement(words []string) string {
	trust := readTrust(words[0])
	after, conflict, err := trust.Evaluate(data(words[3]), words[1], clock(words[2]))
	must(after, err)
	told, outcome := "-", "accepted"
	if conflict != "" {
		told = string(conflict)
	}
	if after == trust {
		outcome = "unchanged"
	}
	return fmt.Sprintf("%s %s %s", outcome, writeTrust(after), told)
}

// elsewhere is a key in a service, whose signature over the hedge's label is given.
type elsewhere struct {
	*pushcrypt.SenderKey
	hedgeSignature []byte
}

func (own elsewhere) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if bytes.HasPrefix(message, []byte("pushcrypt/1 hedge")) {
		return own.hedgeSignature, nil
	}
	return own.SenderKey.Sign(random, message, opts)
}

var (
	sealers = map[string]*pushcrypt.Sealer{}
	devices = map[string]pushcrypt.DevicePublicKey{}
)

func sealer(context, secret string, own options) *pushcrypt.Sealer {
	signature, isElsewhere := own.one("hedge-signature")
	title, _ := own.one("title")
	sound, hasSound := own.one("sound")
	kept := own.list("kept")
	id := fmt.Sprint(context, secret, signature, title, sound, hasSound, kept)
	if sealer := sealers[id]; sealer != nil {
		return sealer
	}
	placeholder := pushcrypt.Placeholder{Title: title}
	switch {
	case hasSound && sound == "":
		placeholder.Sound = pushcrypt.Silence
	case hasSound:
		placeholder.Sound = pushcrypt.SoundNamed(sound)
	}
	for _, name := range kept {
		placeholder.Clear = append(placeholder.Clear, pushcrypt.ClearField(name))
	}
	key := must(pushcrypt.ParseSenderKey(secret))
	var signer crypto.Signer = key
	if isElsewhere {
		signer = elsewhere{key, []byte(signature)}
	}
	sealers[id] = must(pushcrypt.NewSealer(signer, context, placeholder))
	return sealers[id]
}

// withRandom gives the bytes that a function draws, in order.
func withRandom(drawn []byte, do func()) {
	before := rand.Reader
	rand.Reader = bytes.NewReader(drawn)
	defer func() { rand.Reader = before }()
	do()
}

func answerMessage(words []string) string {
	own := readOptions(words[5:])
	sealing := sealer(words[0], words[2], own)
	sentAt := clock(words[3])
	given := []pushcrypt.Option{pushcrypt.WithTime(sentAt)}
	if text, ok := own.one("push-type"); ok {
		given = append(given, pushcrypt.WithPushType(pushcrypt.PushType(text)))
	}
	if name, ok := own.one("id"); ok {
		given = append(given, pushcrypt.WithName(name))
	}
	if life, ok := own.one("time-to-live"); ok {
		given = append(given, pushcrypt.WithTimeToLive(time.Duration(number(life))*time.Second))
	}
	if life, ok := own.one("sealed-life"); ok {
		vector.SealedLife = uint64(number(life))
		defer func() { vector.SealedLife = 0 }()
	}
	for _, reference := range own.list("attachment") {
		given = append(given, pushcrypt.WithAttachments(must(pushcrypt.ParseReference([]byte(reference)))))
	}
	for _, statement := range own.list("statement") {
		given = append(given, pushcrypt.Announcing([]byte(statement)))
	}
	if exactly, _ := own.one("sent-exactly"); exactly == "yes" {
		given = append(given, pushcrypt.SentExactly())
	}
	var asked []pushcrypt.RequestOption
	if name, ok := own.one("device"); ok {
		asked = append(asked, pushcrypt.ForDevice(name))
	}
	if name, ok := own.one("collapse-name"); ok {
		asked = append(asked, pushcrypt.WithCollapseName(name))
	}
	first, _ := own.one("r-message-id")
	second, isVector := own.one("r-ephemeral")
	own.end()
	if _, ok := devices[words[1]]; !ok {
		devices[words[1]] = must(pushcrypt.ParseDevicePublicKey(words[1]))
	}
	var push *pushcrypt.SealedPush
	seal := func() { push = must(sealing.Seal(data(words[4]), devices[words[1]], given...)) }
	if isVector {
		withRandom([]byte(first+strings.Repeat("0", 32-len(first))+second), seal)
	} else {
		seal()
	}
	request := must(sealing.Request(push, asked...))
	result := answer{fmt.Sprintf("sealed %x", push.Payload)}
	result.add("message-id", push.MessageID.String())
	result.add("time-to-live", strconv.FormatInt(push.ExpiresAt.Sub(sentAt).Milliseconds()/1000, 10))
	result.add("widest-length", strconv.Itoa(push.Widest))
	result.add("expiration", request.Header().Get("apns-expiration"))
	result.add("collapse-id", request.CollapseID)
	return result.text
}

func answerRotation(words []string) string {
	old, new := must(pushcrypt.ParseSenderKey(words[0])), must(pushcrypt.ParseSenderKey(words[1]))
	rotation := pushcrypt.Rotation{
		At: clock(words[2]), AcceptFor: time.Duration(number(words[3])) * time.Second, Overlap: time.Duration(number(words[4])) * time.Second,
	}
	if rotation.Overlap == 0 {
		rotation.Overlap = -1
	}
	return fmt.Sprintf("ok %x", must(pushcrypt.RotationStatement(old, new, rotation)))
}

func answerRecovery(words []string) string {
	recovery, new := must(pushcrypt.ParseRecoveryKey(words[1])), must(pushcrypt.ParseSenderKey(words[2]))
	return fmt.Sprintf("ok %x", must(pushcrypt.RecoveryStatement(recovery, new, words[0], uint32(number(words[4])), clock(words[3]))))
}

func answerAnnounced(words []string) string {
	announced := must(pushcrypt.ParseAnnouncedStatements(string(data(words[2])), must(pushcrypt.ParseSenderPublicKey(words[0]))))
	var texts []string
	for _, statement := range announced.Accepted(clock(words[1])) {
		texts = append(texts, hex.EncodeToString(statement))
	}
	if len(texts) == 0 {
		return "ok -"
	}
	return "ok " + strings.Join(texts, ",")
}

func answerAdding(words []string) string {
	text := string(data(words[3]))
	announced := must(pushcrypt.ParseAnnouncedStatements(text, must(pushcrypt.ParseSenderPublicKey(words[0]))))
	if strings.TrimSpace(announced.Text()) != strings.TrimSpace(text) {
		return "broken another text is written"
	}
	announcedFor := time.Duration(number(words[2])) * time.Second
	if announcedFor == 0 {
		announcedFor = -1
	}
	added := must(announced.Adding(data(words[4]), announcedFor, clock(words[1])))
	return fmt.Sprintf("ok %s %x", added.Sender(), added.Text())
}

func answerLine(words []string) string {
	return fmt.Sprintf("ok %x", must(pushcrypt.StatementLine(data(words[1]), must(pushcrypt.ParseSenderPublicKey(words[0])))))
}

func recoveryTexts(keys []pushcrypt.RecoveryPublicKey) []string {
	var texts []string
	for _, key := range keys {
		texts = append(texts, key.String())
	}
	return texts
}

func optionalSender(key pushcrypt.SenderPublicKey) string {
	if key == (pushcrypt.SenderPublicKey{}) {
		return ""
	}
	return key.String()
}

func optionalTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

func answerRecord(words []string) string {
	result := answer{"ok"}
	if words[0] == "sender" {
		record := must(pushcrypt.ParseSenderRecord(data(words[1])))
		must(record.JSON())
		result.add("key", record.PublicKey.String())
		result.optional("topic", record.Topic)
		result.add("generation", strconv.FormatUint(record.Generation, 10))
		result.optional("created", optionalTime(record.Created))
		result.add("recovery", recoveryTexts(record.Recovery)...)
		return result.text
	}
	record, own := must(pushcrypt.ParseDeviceRecord(data(words[1]))), readOptions(words[2:])
	if again := must(pushcrypt.ParseDeviceRecord(must(record.JSON()))); fmt.Sprint(again) != fmt.Sprint(record) {
		return "broken another record is written"
	}
	registration := pushcrypt.Registration{Record: record}
	key, isHeld := own.one("held-key")
	generation, _ := own.one("held-generation")
	topic, _ := own.one("held-topic")
	user, _ := own.one("held-user")
	if isHeld {
		registration.Held = &pushcrypt.HeldDevice{
			PublicKey: key, Generation: uint64(number(generation)), Topic: topic, User: user,
		}
	}
	// Without a user nobody says who sent it, as when an operator adds it.
	registration.User = user
	if user, ok := own.one("user"); ok {
		registration.User = user
	}
	if user, ok := own.one("elsewhere"); ok {
		registration.Elsewhere = &pushcrypt.HeldDevice{PublicKey: record.PublicKey.String(), User: strings.TrimPrefix(user, "-")}
	}
	replace, _ := own.one("replace")
	registration.Replace = replace == "yes"
	known := map[[32]byte]bool{}
	for _, text := range own.list("provider-has") {
		registration.HasKey = func(key [32]byte) bool { return known[key] }
		if strings.HasPrefix(text, "pcs") {
			known[*(*[32]byte)(must(pushcrypt.ParseSenderPublicKey(text)).Bytes())] = true
		} else {
			known[*(*[32]byte)(must(pushcrypt.ParseRecoveryPublicKey(text)).Bytes())] = true
		}
	}
	own.end()
	foreign := must(registration.Check())
	var suites []string
	for _, suite := range record.Suites {
		suites = append(suites, strconv.Itoa(int(suite)))
	}
	if record.Topic == "" {
		record.Topic = topic
	}
	result.add("key", record.PublicKey.String())
	result.optional("device", record.Device)
	result.add("suites", strings.Join(suites, " "))
	result.optional("topic", record.Topic)
	result.add("generation", strconv.FormatUint(record.Generation, 10))
	result.optional("created", optionalTime(record.Created))
	result.optional("sender", optionalSender(record.Sender))
	result.add("recovery", recoveryTexts(record.Recovery)...)
	result.optional("app-version", record.AppVersion)
	result.add("foreign", foreign...)
	return result.text
}

func answerReply(words []string) string {
	key := must(pushcrypt.ParseDeviceKey(words[0])).PublicKey()
	reply, own := must(pushcrypt.ParseReply(data(words[1]))), readOptions(words[2:])
	if again := must(pushcrypt.ParseReply(must(reply.JSON()))); fmt.Sprint(again) != fmt.Sprint(reply) {
		return "broken another reply is written"
	}
	var pins pushcrypt.Pins
	if text, ok := own.one("pinned"); ok {
		pins.Sender = must(pushcrypt.ParseSenderPublicKey(text))
	}
	for _, text := range own.list("held-recovery") {
		pins.Recovery = append(pins.Recovery, must(pushcrypt.ParseRecoveryPublicKey(text)))
	}
	builtIn := map[string]bool{}
	for _, name := range own.list("built-in") {
		builtIn[name] = true
	}
	own.end()
	confirms, after := reply.Apply(key, pins, builtIn["sender"], builtIn["recovery"])
	result := answer{"ok"}
	if reply.Acknowledged != (pushcrypt.DevicePublicKey{}) {
		result.add("acknowledged", reply.Acknowledged.String())
	}
	result.optional("refused", reply.Refused)
	result.optional("sender", optionalSender(reply.Sender))
	result.add("recovery", recoveryTexts(reply.Recovery)...)
	result.add("foreign", reply.Foreign...)
	result.add("confirms", map[bool]string{true: "yes", false: "no"}[confirms])
	result.optional("pinned-after", optionalSender(after.Sender))
	result.add("recovery-after", recoveryTexts(after.Recovery)...)
	return result.text
}

func answerReserved(words []string) string {
	opened, result := pushcrypt.Opened{Payload: data(words[0])}, answer{"ok"}
	for _, id := range opened.Withdraws() {
		result.add("withdraws", id.String())
	}
	if opened.IsDropped() {
		result.add("drop", "yes")
	}
	person, dropped := opened.Person()
	if person != nil {
		result.add("sender-name", person.Name)
		result.add("handle", person.Handle)
		result.optional("conversation", person.Conversation)
		result.add("recipient", person.Recipients...)
		if person.Avatar != nil {
			result.add("avatar", person.Avatar.URL)
		}
	}
	for _, code := range dropped {
		result.add("dropped", string(code))
	}
	return result.text
}

func answerReference(words []string) string {
	reference := must(pushcrypt.ParseReference(data(words[0])))
	return fmt.Sprintf("ok %s %s %s %x %x %d", word([]byte(reference.URL)), word([]byte(reference.Type)), word([]byte(reference.Name)),
		reference.Key, reference.SHA256, reference.Size)
}

func answerAttachments(words []string) string {
	opened := pushcrypt.Opened{Payload: data(words[0])}
	references, dropped := opened.Attachments()
	var names []string
	for _, reference := range references {
		names = append(names, word([]byte(reference.Name)))
	}
	body, err := opened.FullBody()
	url := "-"
	if body != nil {
		url = word([]byte(body.URL))
	}
	var refused *pushcrypt.Error
	if errors.As(err, &refused) {
		dropped = append(dropped, refused.Code)
	}
	return fmt.Sprintf("ok %s %s %s", joined(names), url, codes(dropped))
}

func answerFullBody(words []string) string {
	must(pushcrypt.CheckFullBody(data(words[0])))
	return "ok"
}

// fileReference needs an address that nothing fetches.
func fileReference(key, size, sha256 string) pushcrypt.Reference {
	return pushcrypt.Reference{
		URL: "https://a", Key: *(*[32]byte)(data(key)), Size: must(strconv.ParseUint(size, 10, 64)), SHA256: *(*[32]byte)(data(sha256)),
		Type: "public.data", Name: "a",
	}
}

func answerFile(words []string) string {
	opener, plain := pushcrypt.NewFileOpener(fileReference(words[0], words[1], words[2])), []byte(nil)
	for _, piece := range several(words[3]) {
		plain = append(plain, must(opener.Update(data(piece)))...)
	}
	plain = append(plain, must(opener.Finish())...)
	return fmt.Sprintf("opened %d %x", len(plain), sha256.Sum256(plain))
}

func answerSealFile(words []string) string {
	plain, header, sealed := data(words[1]), sha256.Sum256(data(words[0])), bytes.Buffer{}
	sum := sha256.Sum256(plain)
	_, _, err := secretstream.Seal(&sealed, bytes.NewReader(plain), data(words[0]), header[:24], sum[:])
	must(0, err)
	return fmt.Sprintf("sealed %x", sealed.Bytes())
}

func answerHedgedFile(words []string) string {
	var file pushcrypt.SealedFile
	var sealed, again bytes.Buffer
	plain := data(words[3])
	withRandom(append(data(words[1]), data(words[2])...), func() {
		file = must(pushcrypt.SealFile(&sealed, bytes.NewReader(plain), must(pushcrypt.ParseSenderKey(words[0]))))
	})
	reference := must(file.Reference("https://a", "public.data", "a"))
	must(0, pushcrypt.OpenFile(&again, &sealed, reference))
	if !bytes.Equal(again.Bytes(), plain) {
		return "broken another file opens"
	}
	return fmt.Sprintf("ok %x %d %x", file.Key, file.Size, file.SHA256)
}

func answerMisuse(words []string) string {
	wrong := misuse(must(pushcrypt.ParseDevicePublicKey(words[0])), must(pushcrypt.ParseSenderKey(words[1])))
	if len(wrong) > 0 {
		return "broken " + strings.Join(wrong, ", ")
	}
	return "ok"
}

var answers = map[string]func([]string) string{
	"key": answerKey, "check": answerCheck, "context": answerContext, "text": answerText, "fingerprint": answerFingerprint,
	"open": answerOpen, "push": answerPush, "statement": answerStatement, "message": answerMessage, "rotation": answerRotation,
	"announced": answerAnnounced, "adding": answerAdding, "line": answerLine,
	"recovery": answerRecovery, "record": answerRecord, "reply": answerReply, "reserved": answerReserved, "reference": answerReference,
	"attachments": answerAttachments, "fullbody": answerFullBody, "file": answerFile, "sealfile": answerSealFile,
	"hedgedfile": answerHedgedFile, "misuse": answerMisuse,
}

// ask turns a refusal into an answer.
func ask(words []string) (text string) {
	defer func() {
		if failure := recover(); failure != nil {
			err, _ := failure.(error)
			var refused *pushcrypt.Error
			if errors.As(err, &refused) {
				text = "refused " + string(refused.Code)
			} else {
				text = fmt.Sprintf("broken %v", failure)
			}
		}
	}()
	return answers[words[0]](words[1:])
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := input.ReadString('\n')
		if err != nil {
			return
		}
		fmt.Println(ask(strings.Fields(line)))
	}
}
