package pushcrypt;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** The senders that an app trusts, in order. It is durable and only grows; it is not safe for several threads. */
public final class Trust {
    final TrustRules rules;

    /**
     * What a statement did.
     *
     * @param changed whether something changed
     * @param conflict a conflict that it raises nevertheless, or {@code null}
     */
    public record Evaluation(boolean changed, String conflict) {}

    /**
     * What several statements did.
     *
     * @param accepted the accepted ones
     * @param conflicts what the app is told
     */
    public record Following(List<Statement> accepted, List<String> conflicts) {}

    /**
     * Creates a trust.
     *
     * @param senders the senders in order
     * @throws PushcryptException {@code sender-superseded} or {@code corrupt-store}
     */
    public Trust(List<TrustedSender> senders) throws PushcryptException {
        List<TrustRules.Sender> all = new ArrayList<>();
        for (TrustedSender sender : senders) {
            all.add(new TrustRules.Sender(
                sender.name(), sender.pinned() == null ? null : sender.pinned().key,
                sender.superseded().stream().map(old -> new TrustRules.Superseded(old.key().key, old.statement() == null ? null : old.statement().bytes)).toList(),
                sender.recoveryKeys().stream().map(key -> key.key).toList(), sender.lastRecovery()));
        }
        this.rules = new TrustRules(all);
    }

    private Trust(TrustRules rules) {
        this.rules = rules;
    }

    /**
     * Returns the senders.
     *
     * @return the senders in order
     */
    public List<TrustedSender> senders() {
        return rules.senders().stream().map(Trust::sender).toList();
    }

    private static TrustedSender sender(TrustRules.Sender sender) {
        return new TrustedSender(
            sender.name(), sender.pinned() == null ? null : SenderPublicKey.checked(sender.pinned()),
            sender.superseded().stream().map(old -> new TrustedSender.Superseded(SenderPublicKey.checked(old.key()), statement(old.statement()))).toList(),
            sender.recovery().stream().map(RecoveryPublicKey::checked).toList(), sender.lastRecovery());
    }

    private static Statement statement(byte[] bytes) {
        try {
            return bytes == null ? null : Statement.of(bytes);
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns a trust that may change without this one.
     *
     * @return the copy
     */
    public Trust copy() {
        return new Trust(rules.copy());
    }

    /**
     * Follows statements in order, and ignores those that are not accepted.
     *
     * @param statements the statements of a message that opened
     * @param topic the app's bundle id
     * @param at the time of the opening
     * @return what they did
     */
    public Following follow(List<Statement> statements, String topic, Instant at) {
        try {
            TrustRules.Followed followed = Platform.run(
                () -> rules.follow(statements.stream().map(statement -> statement.bytes).toList(), topic, Platform.milliseconds(at)));
            return new Following(followed.accepted().stream().map(Trust::statement).toList(), followed.told());
        } catch (PushcryptException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Follows a statement, or refuses it and changes nothing.
     *
     * @param statement the statement
     * @param topic the app's bundle id
     * @param at the present time
     * @return what it did
     * @throws PushcryptException a code of Docs/FormatRotation.md
     */
    public Evaluation evaluate(Statement statement, String topic, Instant at) throws PushcryptException {
        TrustRules.Evaluated evaluated = Platform.run(() -> rules.evaluate(statement.bytes, topic, Platform.milliseconds(at)));
        return new Evaluation(evaluated.changed(), evaluated.conflict());
    }

    /**
     * Returns the trust as JSON, for storage.
     *
     * @return an array
     */
    public String json() {
        return "[" + String.join(",", senders().stream().map(Trust::json).toList()) + "]";
    }

    private static String json(TrustedSender sender) {
        List<String> superseded = sender.superseded().stream().map(old -> Json.object(
            "key", Json.quoted(old.key().toString()), "statement", old.statement() == null ? "null" : Json.quoted(Envelope.encode(old.statement().bytes)))).toList();
        String recovery = Json.texts(sender.recoveryKeys());
        return Json.object(
            "name", Json.quoted(sender.name()), "pinned", sender.pinned() == null ? "null" : Json.quoted(sender.pinned().toString()),
            "superseded", "[" + String.join(",", superseded) + "]", "recoveryKeys", recovery == null ? "[]" : recovery,
            "lastRecovery", Json.quoted(Envelope.encode(sender.lastRecovery())));
    }

    /**
     * Reads what {@link #json} wrote.
     *
     * @param json the array
     * @return the trust
     * @throws PushcryptException {@code corrupt-store}, or the code of a key
     */
    public static Trust parse(String json) throws PushcryptException {
        Object value = Payload.parseObject(Json.bytes("{\"senders\":" + json + "}", "corrupt-store"), "corrupt-store").get("senders");
        List<TrustedSender> senders = new ArrayList<>();
        for (Object sender : list(value)) senders.add(readSender(sender));
        return new Trust(senders);
    }

    private static TrustedSender readSender(Object value) throws PushcryptException {
        if (!(value instanceof Map<?, ?> members)) throw new PushcryptException("corrupt-store");
        List<TrustedSender.Superseded> superseded = new ArrayList<>();
        for (Object each : list(members.get("superseded"))) {
            if (!(each instanceof Map<?, ?> old)) throw new PushcryptException("corrupt-store");
            Statement statement = old.get("statement") == Payload.NULL ? null : Statement.of(decode(old.get("statement")));
            superseded.add(new TrustedSender.Superseded(SenderPublicKey.parse(text(old.get("key"))), statement));
        }
        List<RecoveryPublicKey> recovery = new ArrayList<>();
        for (Object key : list(members.get("recoveryKeys"))) recovery.add(RecoveryPublicKey.parse(text(key)));
        SenderPublicKey pinned = members.get("pinned") == Payload.NULL ? null : SenderPublicKey.parse(text(members.get("pinned")));
        return new TrustedSender(text(members.get("name")), pinned, superseded, recovery, decode(members.get("lastRecovery")));
    }

    private static List<?> list(Object value) throws PushcryptException {
        if (value instanceof List<?> list) return list;
        throw new PushcryptException("corrupt-store");
    }

    private static String text(Object value) throws PushcryptException {
        if (value instanceof String text) return text;
        throw new PushcryptException("corrupt-store");
    }

    private static byte[] decode(Object value) throws PushcryptException {
        try {
            return Base64.getUrlDecoder().decode(text(value));
        } catch (IllegalArgumentException malformed) {
            throw new PushcryptException("corrupt-store");
        }
    }
}
