package pushcrypt;

import java.time.Duration;
import java.time.Instant;
import java.util.*;
import pushcrypt.internal.*;

/**
 * Asks for a certificate where the provider key is, and installs the answer. It holds no secret.
 *
 * <p>The texts are those of the command: {@code pushcrypt key certify} answers a request of this class, and this class one of {@code pushcrypt key rotate
 * --request}. The machine with the provider key computes epoch, floor and grace from the certificates in the request. Two requests are equal if their texts are.
 */
public final class CertificateRequest {
    private final ProviderPublicKey provider;
    private final String topic;
    private final byte[] signingKey;
    private final CertificatePlan plan;

    CertificateRequest(ProviderPublicKey provider, String topic, byte[] signingKey, CertificatePlan plan) {
        Envelope.checkContext(topic);
        if (signingKey.length != Format.KEY_LENGTH) throw new IllegalArgumentException("a key has 32 bytes");
        Keys.checkVerifyingKey(signingKey);
        this.provider = provider;
        this.topic = topic;
        this.signingKey = signingKey;
        this.plan = plan;
    }

    /**
     * Reads a request.
     *
     * @param json what {@link #toJson} or {@code pushcrypt key rotate --request} wrote
     * @return the request
     * @throws PushcryptException {@code malformed-request}; {@code malformed-certificate} or {@code weak-key} of what is in it
     */
    public static CertificateRequest fromJson(String json) {
        Payload.Members members = members(json);
        if (members.containsKey("certificate")) {
            throw new PushcryptException(Code.MALFORMED_REQUEST, "this is a certificate already; install it, or certify its request");
        }
        Object list = Records.member(members, "past"), stolen = Records.member(members, "stolen");
        List<CertificatePlan.PastEpoch> past = new ArrayList<>();
        for (Object element : list instanceof List<?> elements ? elements : List.of()) {
            if (!(element instanceof Payload.Members epoch)) throw malformed();
            Long replaced = integer(epoch, "replaced");
            if (replaced == null) throw malformed();
            past.add(new CertificatePlan.PastEpoch(certificate(epoch, "certificate"), Instant.ofEpochMilli(replaced)));
        }
        boolean isGood = (list == null || list instanceof List && past.size() <= Format.MOST_PAST_CERTIFICATES) && (stolen == null || stolen instanceof Boolean);
        if (!isGood) throw malformed();
        Long expires = integer(members, "expires");
        CertificatePlan plan = new CertificatePlan(
            certificate(members, "current"), past, certificate(members, "proven"), Boolean.TRUE.equals(stolen),
            expires == null ? null : Duration.ofSeconds(expires));
        byte[] signingKey = AttachmentReference.bytes32(text(members, "signing_key"), Code.MALFORMED_REQUEST);
        return new CertificateRequest(provider(members), topic(members), signingKey, plan);
    }

    private static PushcryptException wrong(String what) {
        return new PushcryptException(Code.WRONG_CERTIFICATE, "the certificate is " + what);
    }

    private static PushcryptException malformed() {
        return new PushcryptException(Code.MALFORMED_REQUEST);
    }

    private static Payload.Members members(String json) {
        Payload.Members members = Payload.parse(json, Code.MALFORMED_REQUEST);
        if (!new Payload.Number("1").equals(members.get("version"))) throw malformed();
        return members;
    }

    private static String text(Map<String, Object> members, String name) {
        if (!(members.get(name) instanceof String text)) throw malformed();
        return text;
    }

    private static String topic(Map<String, Object> members) {
        String topic = text(members, "topic");
        if (!Envelope.isContext(topic)) throw malformed();
        return topic;
    }

    private static ProviderPublicKey provider(Map<String, Object> members) {
        try {
            return ProviderPublicKey.parse(text(members, "provider"));
        } catch (PushcryptException refused) {
            throw malformed();
        }
    }

    private static Certificate certificate(Payload.Members members, String name) {
        return Records.member(members, name) == null ? null : Certificate.parse(text(members, name));
    }

    private static Long integer(Payload.Members members, String name) {
        try {
            return Records.integer(members, name);
        } catch (PushcryptException refused) {
            throw malformed();
        }
    }

    /**
     * Returns the provider key that is to sign.
     *
     * @return the key
     */
    public ProviderPublicKey provider() {
        return provider;
    }

    /**
     * Returns the app.
     *
     * @return its bundle id
     */
    public String topic() {
        return topic;
    }

    /**
     * Returns the new signing key.
     *
     * @return the public half, 32 bytes
     */
    public byte[] signingKey() {
        return signingKey.clone();
    }

    /**
     * Returns what the certificate follows from.
     *
     * @return the plan
     */
    public CertificatePlan plan() {
        return plan;
    }

    Certificate issue(ProviderKey key, Instant at) {
        if (!key.publicKey().equals(provider)) throw new PushcryptException(Code.WRONG_CERTIFICATE, "the request is for provider key " + provider.id());
        List<Certificate> all = new ArrayList<>(Arrays.asList(plan.current(), plan.proven()));
        plan.past().forEach(epoch -> all.add(epoch.certificate()));
        for (Certificate certificate : all) if (certificate != null) certificate.check(provider.key, topic);
        return Certificate.issue(plan.claim(Times.milliseconds(at)), signingKey, provider.key, key::sign, topic);
    }

    /**
     * Signs the certificate, where the provider key is. Show a person {@link #topic}, {@link #signingKey} and {@link #plan} before.
     *
     * @param key the provider key
     * @return the answer, for {@link #install}
     * @throws PushcryptException {@code wrong-certificate} for another provider key, {@code bad-certificate-signature} or {@code weak-key} for certificates that
     *     are not of this key and app, {@code implausible-epoch} if a clock is wrong
     */
    public String certify(ProviderKey key) {
        return certify(key, Instant.now());
    }

    String certify(ProviderKey key, Instant at) {
        return Json.object(
            "version", 1, "topic", Json.quoted(topic), "provider", Json.quoted(provider), "certificate", Json.quoted(issue(key, at)));
    }

    /**
     * Checks the answer to this request, where the signing key is.
     *
     * @param key the signing key that the request names
     * @param answer what {@link #certify} returned or {@code pushcrypt key certify} wrote
     * @return what signs from now on: store it before you seal with it
     * @throws PushcryptException {@code wrong-certificate} for the answer to another request or another key, for one that is not later than what is in use, and
     *     for one that has expired; {@code implausible-epoch} for one more than 24 hours ahead; {@code malformed-request}, {@code malformed-certificate},
     *     {@code bad-certificate-signature} or {@code weak-key}
     */
    public Credential install(SigningKey key, String answer) {
        return install(key, answer, Times.milliseconds(Instant.now()));
    }

    Credential install(SigningKey key, String answer, long now) {
        Payload.Members members = members(answer);
        if (members.containsKey("signing_key")) {
            throw new PushcryptException(Code.MALFORMED_REQUEST, "this is a request that the provider key has not certified yet: certify it first");
        }
        Certificate certificate = Certificate.parse(text(members, "certificate"));
        certificate.check(provider(members).key, topic(members));
        boolean isAnswer = topic(members).equals(topic) && provider(members).equals(provider) && Arrays.equals(certificate.signingKey(), signingKey)
            && Arrays.equals(key.publicKey, signingKey);
        if (!isAnswer) throw wrong("not the answer to this request; certify this one");
        for (Certificate other : Arrays.asList(plan.current(), plan.proven())) {
            boolean isLater = other == null || other.hasClaimOf(certificate) || certificate.epoch() > other.epoch();
            if (!isLater) throw wrong("of epoch " + certificate.epoch() + ", not above the last, " + other.epoch() + "; make another request");
        }
        if (Times.isAfter(1000 * certificate.epoch(), Times.later(now, Format.CLOCK_TOLERANCE))) throw new PushcryptException(Code.IMPLAUSIBLE_EPOCH);
        if (!Times.isAfter(certificate.expiry(), now)) throw wrong("past its end; certify the request again");
        return new Credential(key, certificate, provider);
    }

    /**
     * Writes the request.
     *
     * @return JSON, without a secret
     */
    public String toJson() {
        List<String> past = plan.past().stream()
            .map(epoch -> Json.object("certificate", Json.quoted(epoch.certificate()), "replaced", epoch.replacedAt().toEpochMilli())).toList();
        return Json.object(
            "version", 1, "topic", Json.quoted(topic), "provider", Json.quoted(provider), "signing_key", Json.quoted(Envelope.encode(signingKey)),
            "expires", plan.lifetime() == null ? null : plan.lifetime().getSeconds(), "stolen", plan.isStolen() ? true : null,
            "current", Json.quoted(plan.current()), "past", Json.array(past), "proven", Json.quoted(plan.proven()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CertificateRequest request && request.toJson().equals(toJson());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(signingKey);
    }

    /** Returns the app and the ids of the keys. */
    @Override
    public String toString() {
        return "CertificateRequest(" + topic + ", " + provider.id() + ")";
    }
}
