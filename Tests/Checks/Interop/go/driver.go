// Reads questions from standard input, one per line, and answers them with the installed Go package. README.md describes the language.
package main

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/ed25519"
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

func readTrust(pins, learned string) *pushcrypt.Trust {
	var keys []pushcrypt.ProviderPublicKey
	known := map[pushcrypt.ProviderPublicKey]pushcrypt.Learned{}
	for _, pin := range several(pins) {
		keys = append(keys, must(pushcrypt.ParseProviderPublicKey(pin)))
	}
	for _, line := range several(learned) {
		parts := strings.Split(line, ":")
		known[must(pushcrypt.ParseProviderPublicKey(parts[0]))] = pushcrypt.Learned{
			Certificate: must(pushcrypt.ParseCertificate(parts[1])), Floor: uint32(number(parts[2])),
		}
	}
	return must(pushcrypt.NewTrust(keys, known))
}

func writeLearned(trust *pushcrypt.Trust) string {
	var lines []string
	for _, pin := range trust.Pins() {
		if known := trust.Learned(pin); !known.Certificate.IsZero() {
			lines = append(lines, fmt.Sprintf("%s:%s:%d", pin, known.Certificate, known.Floor))
		}
	}
	return joined(lines)
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

func ofSecret(key interface{ SecretText() string }, public []byte, text string) string {
	if key.SecretText() != strings.TrimSuffix(text, "\n") {
		return "the text of the key is another one"
	}
	return fmt.Sprintf("ok %s - %x", secretBytes(text), public)
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
		return ofPublic(must(pushcrypt.ParseProviderPublicKey(text)), text)
	case "pcr-secret-":
		key := must(pushcrypt.ParseDeviceKey(text))
		return ofSecret(key, key.PublicKey().Bytes(), text)
	case "pcs-secret-":
		key := must(pushcrypt.ParseProviderKey(text))
		return ofSecret(key, key.PublicKey().Bytes(), text)
	}
	key := must(pushcrypt.ParseSigningKey(text))
	return ofSecret(key, key.Public().(ed25519.PublicKey), text)
}

func answerCheck(words []string) string {
	if words[0] == "pcr" {
		must(pushcrypt.NewDevicePublicKey(data(words[1])))
	} else {
		must(pushcrypt.NewProviderPublicKey(data(words[1])))
	}
	return "ok"
}

var zeros = must(pushcrypt.NewProviderKey(make([]byte, 32)))

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
	own := pushcrypt.Receiver{Topic: words[0], Trust: readTrust(words[2], words[3]), PushType: pushcrypt.PushType(words[4])}
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
	return opened(own, must(own.OpenEnvelope(must(pushcrypt.ParseEnvelope(string(data(words[6])))), clock(words[5]))))
}

func answerPush(words []string) string {
	own := receiver(words)
	return opened(own, must(own.Open(data(words[6]), clock(words[5]))))
}

func opened(own pushcrypt.Receiver, opened *pushcrypt.Opened) string {
	own.Trust.Learn(opened.Provider, opened.Learned)
	told := "-"
	if opened.HasCertificateConflict {
		told = "certificate-conflict"
	}
	return fmt.Sprintf("opened %s %s %d %d %s %d %s %s", word(opened.Payload), opened.MessageID, opened.SentAt.UnixMilli(),
		opened.TimeToLive/time.Second, opened.Provider, opened.Epoch, writeLearned(own.Trust), told)
}

func answerCertificate(words []string) string {
	trust := readTrust(words[1], words[2])
	change := must(trust.Accept(must(pushcrypt.NewCertificate(data(words[3]))), words[0]))
	outcome := map[pushcrypt.Change]string{
		pushcrypt.Raised: "accepted", pushcrypt.Unchanged: "unchanged", pushcrypt.Conflict: "certificate-conflict",
	}[change]
	return outcome + " " + writeLearned(trust)
}

func answerPlan(words []string) string {
	own, plan := readOptions(words), pushcrypt.Plan{}
	now, _ := own.one("time")
	kind, _ := own.one("kind")
	plan.At, plan.IsStolen = clock(now), kind == "stolen"
	if text, ok := own.one("certificate"); ok {
		plan.Current = must(pushcrypt.ParseCertificate(text))
	}
	if text, ok := own.one("proven"); ok {
		plan.Proven = must(pushcrypt.ParseCertificate(text))
	}
	if seconds, ok := own.one("lifetime"); ok {
		plan.Lifetime = time.Duration(number(seconds)) * time.Second
	}
	for _, line := range own.list("past") {
		epoch, at, _ := strings.Cut(line, " ")
		plan.Past = append(plan.Past, pushcrypt.PastEpoch{Epoch: uint32(number(epoch)), ReplacedAt: clock(at)})
	}
	own.end()
	claim, result := must(plan.Claim()), answer{"ok"}
	result.add("epoch", fmt.Sprint(claim.Epoch))
	result.add("floor", fmt.Sprint(claim.Floor))
	result.add("grace-until", fmt.Sprint(claim.GraceUntil))
	result.add("expires-at", fmt.Sprint(claim.ExpiresAt))
	return result.text
}

func answerCertify(words []string) string {
	claim := pushcrypt.Claim{
		Epoch: uint32(number(words[2])), Floor: uint32(number(words[3])), GraceUntil: must(strconv.ParseUint(words[4], 10, 64)),
		ExpiresAt: must(strconv.ParseUint(words[5], 10, 64)),
	}
	public := must(pushcrypt.ParseSigningKey(words[6])).Public().(ed25519.PublicKey)
	made := must(claim.Certify(must(pushcrypt.ParseProviderKey(words[1])), public, words[0]))
	return fmt.Sprintf("ok %x %s", made.Bytes(), made)
}

// elsewhere is a key in a service, whose signature over the hedge's label is given.
type elsewhere struct {
	crypto.Signer
	hedgeSignature []byte
}

func (own elsewhere) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if bytes.HasPrefix(message, []byte("pushcrypt/1 hedge")) {
		return own.hedgeSignature, nil
	}
	return own.Signer.Sign(random, message, opts)
}

// secretKey reads a provider's secret key, or the three lines of a signing key file.
func secretKey(text string) crypto.Signer {
	if lines := several(text); len(lines) > 1 {
		return must(pushcrypt.ParseCredential(strings.Join(lines, "\n")))
	}
	return must(pushcrypt.ParseProviderKey(text))
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
	signer := secretKey(secret)
	if credential, ok := signer.(*pushcrypt.Credential); ok && isElsewhere {
		credential.Key = elsewhere{credential.Key, []byte(signature)}
	} else if isElsewhere {
		signer = elsewhere{signer, []byte(signature)}
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

func optionalProvider(key pushcrypt.ProviderPublicKey) string {
	if key == (pushcrypt.ProviderPublicKey{}) {
		return ""
	}
	return key.String()
}

func optionalCertificate(certificate pushcrypt.Certificate) string {
	if certificate.IsZero() {
		return ""
	}
	return certificate.String()
}

func optionalTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return strconv.FormatInt(at.UnixMilli(), 10)
}

func answerRecord(words []string) string {
	result := answer{"ok"}
	if words[0] == "provider" {
		record := must(pushcrypt.ParseProviderRecord(data(words[1])))
		must(record.JSON())
		result.add("key", record.PublicKey.String())
		result.optional("topic", record.Topic)
		result.add("generation", strconv.FormatUint(record.Generation, 10))
		result.optional("created", optionalTime(record.Created))
		result.optional("certificate", optionalCertificate(record.Certificate))
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
	removed, _ := own.one("removed")
	if isHeld {
		registration.Held = &pushcrypt.HeldDevice{
			PublicKey: key, Generation: uint64(number(generation)), Topic: topic, User: user, IsRemoved: removed == "yes",
		}
	}
	registration.User, _ = own.one("user")
	if user, ok := own.one("elsewhere"); ok {
		registration.Elsewhere = &pushcrypt.HeldDevice{PublicKey: record.PublicKey.String(), User: strings.TrimPrefix(user, "-")}
	}
	replace, _ := own.one("replace")
	registration.Replace = replace == "yes"
	var keys []pushcrypt.ProviderPublicKey
	for _, text := range own.list("provider-has") {
		keys = append(keys, must(pushcrypt.ParseProviderPublicKey(text)))
		registration.HasKey = func(key pushcrypt.ProviderPublicKey) bool {
			for _, own := range keys {
				if own == key {
					return true
				}
			}
			return false
		}
	}
	var issued []pushcrypt.Certificate
	for _, text := range own.list("issued") {
		issued = append(issued, must(pushcrypt.ParseCertificate(text)))
	}
	own.end()
	foreign := must(registration.Check())
	var suites []string
	for _, suite := range record.Suites {
		suites = append(suites, strconv.Itoa(int(suite)))
	}
	if record.Topic == "" && removed != "yes" {
		record.Topic = topic
	}
	result.add("key", record.PublicKey.String())
	result.optional("device", record.Device)
	result.add("suites", strings.Join(suites, " "))
	result.optional("topic", record.Topic)
	result.add("generation", strconv.FormatUint(record.Generation, 10))
	result.optional("created", optionalTime(record.Created))
	result.optional("provider", optionalProvider(record.Provider))
	result.optional("certificate", optionalCertificate(record.Certificate))
	result.optional("app-version", record.AppVersion)
	result.optional("token", record.Token)
	result.optional("environment", record.Environment)
	result.optional("withdrawal", record.Withdrawal)
	result.optional("grant", record.Grant)
	result.add("foreign", foreign...)
	if len(keys) > 0 && record.ShowsStaleStore(keys[0], record.Topic, issued) {
		result.add("stale", "yes")
	}
	return result.text
}

func answerReply(words []string) string {
	key := must(pushcrypt.ParseDeviceKey(words[0])).PublicKey()
	reply, own := must(pushcrypt.ParseReply(data(words[1]))), readOptions(words[2:])
	again := must(pushcrypt.ParseReply(must(reply.JSON())))
	again.RefusedCertificate = reply.RefusedCertificate
	if fmt.Sprint(again) != fmt.Sprint(reply) {
		return "broken another reply is written"
	}
	pins, hasPins := own.one("pins")
	learned, _ := own.one("learned")
	trust := readTrust("-", "-")
	if hasPins {
		trust = readTrust(pins, learned)
	}
	builtIn, _ := own.one("built-in")
	context, _ := own.one("context")
	own.end()
	confirms, told := reply.Apply(key, trust, context, builtIn == "yes")
	result := answer{"ok"}
	if reply.Acknowledged != (pushcrypt.DevicePublicKey{}) {
		result.add("acknowledged", reply.Acknowledged.String())
	}
	result.optional("refused", reply.Refused)
	result.optional("provider", optionalProvider(reply.Provider))
	result.optional("certificate", optionalCertificate(reply.Certificate))
	result.optional("push-key", hex.EncodeToString(reply.PushKey))
	result.add("suites", strings.Trim(fmt.Sprint(reply.Suites), "[]"))
	result.add("foreign", reply.Foreign...)
	result.add("confirms", map[bool]string{true: "yes", false: "no"}[confirms])
	var texts []string
	for _, pin := range trust.Pins() {
		texts = append(texts, pin.String())
	}
	result.add("pins", joined(texts))
	result.add("learned", writeLearned(trust))
	result.optional("told", string(told))
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
	var sealed bytes.Buffer
	file := must(pushcrypt.SealFile(&sealed, bytes.NewReader(data(words[1])), secretKey(words[0])))
	return fmt.Sprintf("sealed %x %x", file.Key, sealed.Bytes())
}

func answerHedgedFile(words []string) string {
	var file pushcrypt.SealedFile
	var sealed, again bytes.Buffer
	plain := data(words[2])
	withRandom(data(words[1]), func() {
		file = must(pushcrypt.SealFile(&sealed, bytes.NewReader(plain), secretKey(words[0])))
	})
	reference := must(file.Reference("https://a", "public.data", "a"))
	must(0, pushcrypt.OpenFile(&again, &sealed, reference))
	if !bytes.Equal(again.Bytes(), plain) {
		return "broken another file opens"
	}
	return fmt.Sprintf("ok %x %d %x", file.Key, file.Size, file.SHA256)
}

func answerMisuse(words []string) string {
	wrong := misuse(must(pushcrypt.ParseDevicePublicKey(words[0])), must(pushcrypt.ParseProviderKey(words[1])))
	if len(wrong) > 0 {
		return "broken " + strings.Join(wrong, ", ")
	}
	return "ok"
}

var answers = map[string]func([]string) string{
	"key": answerKey, "check": answerCheck, "context": answerContext, "text": answerText, "fingerprint": answerFingerprint,
	"open": answerOpen, "push": answerPush, "certificate": answerCertificate, "plan": answerPlan, "certify": answerCertify,
	"message": answerMessage, "record": answerRecord, "reply": answerReply, "reserved": answerReserved, "reference": answerReference,
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
