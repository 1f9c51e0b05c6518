package pushcrypttest

import (
	"encoding/hex"
	"fmt"
	"time"

	"example.com/pushcrypt"
	"example.com/pushcrypt/internal/core"
	"example.com/pushcrypt/internal/jsontext"
)

// SealAnswer answers a message, with the text that the user typed or nil: Docs/FormatAnswers.md. The zero time is now. (invalid-request if the
// message has no answer, or the answer is too long)
func SealAnswer(opened *Opened, action string, text *string, at time.Time) (string, error) {
	member, _ := opened.reserved()["answer"].(string)
	given := core.Decode(member)
	if len(given) != 48 {
		return "", refuse(pushcrypt.InvalidRequest, "the message cannot be answered")
	}
	if len(action) < 1 || len(action) > core.LongestAction {
		return "", refuse(pushcrypt.InvalidRequest, fmt.Sprintf("the action's id has not 1 to %d bytes", core.LongestAction))
	}
	sentAt, _ := core.Milliseconds(opened.SentAt)
	now, _ := core.Milliseconds(at)
	reply := ""
	if text != nil {
		reply = `,"text":` + jsontext.Quote(*text)
	}
	body := fmt.Sprintf(`{"message_id":"%s","sent_at":%d,"action":%s%s,"at":%d}`, opened.MessageID, sentAt, jsontext.Quote(action), reply, now)
	plain := core.PadAnswer([]byte(body))
	if plain == nil {
		return "", refuse(pushcrypt.InvalidRequest, fmt.Sprintf("the answer has %d bytes, over %d; shorten the text", len(body), core.LongestAnswer))
	}
	id, _ := hex.DecodeString(opened.Device.ID())
	return core.Encode(core.SealAnswer(given, id, plain, core.Random(16))), nil
}
