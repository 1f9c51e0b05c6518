package com.example.pushcrypt;

import java.math.BigInteger;
import java.time.*;
import java.util.*;
import java.util.function.Supplier;
import com.example.pushcrypt.internal.*;

/**
 * Asks for a certificate where the provider key is, and installs the answer. It holds no secret.
 *
 * <p>The texts are those of the command: {@code pushcrypt key certify} answers a request of this class, and this class one of {@code pushcrypt key rotate
 * --request}. The machine with the provider key computes epoch, floor and grace from the certificates in the request.
 *
 * @param provider the provider key that is to sign
 * @param topic the app's bundle id
 * @param signingKey the public half of the new signing key: 43 characters of base64url
 * @param plan what the certificate follows from
 */
public record CertificateRequest(ProviderPublicKey provider, String topic, String signingKey, CertificatePlan plan) {
    /**
     * Creates a request.
     *
     * @param provider the provider key that is to sign
     * @param topic the app's bundle id
     * @param signingKey the public half of the new signing key: 43 characters of base64url
     * @param plan what the certificate follows from
     * @throws PushcryptException {@code wrong-topic}, {@code malformed-key} or {@code weak-key}
     */
    public CertificateRequest {
        Objects.requireNonNull(provider, "provider");
        Objects.requireNonNull(plan, "plan");
        Envelope.checkContext(topic);
        Keys.checkVerifyingKey(Reference.bytes32(signingKey, Code.MALFORMED_KEY));
    }

    /**
     * Reads a request.
     *
     * @param json what {@link #toJson} or {@code pushcrypt key rotate --request} wrote
     * @return the request
     * @throws PushcryptException {@code malformed-request}; {@code malformed-certificate} or {@code weak-key} of what is in it
     */
    public static CertificateRequest fromJson(String json) {
        return reading(() -> read(members(json)));
    }

    private static CertificateRequest read(Payload.Members members) {
        if (members.containsKey("certificate")) {
            throw new PushcryptException(Code.MALFORMED_REQUEST, "this is a certificate already; install it, or certify its request");
        }
        Object list = Records.member(members, "past"), stolen = Records.member(members, "stolen");
        Records.rule((list == null || list instanceof List) && (stolen == null || stolen instanceof Boolean), "past or stolen");
        List<CertificatePlan.PastEpoch> past = new ArrayList<>();
        for (Object element : list == null ? List.of() : (List<?>) list) {
            Records.rule(element instanceof Payload.Members epoch && epoch.get("replaced") != null && past.size() < Format.MOST_PAST_CERTIFICATES, "past");
            Payload.Members epoch = (Payload.Members) element;
            past.add(new CertificatePlan.PastEpoch(certificate(epoch, "certificate"), Instant.ofEpochMilli(Records.integer(epoch, "replaced"))));
        }
        Long expires = Records.integer(members, "expires");
        CertificatePlan plan = new CertificatePlan(
            certificate(members, "current"), past, certificate(members, "proven"), Boolean.TRUE.equals(stolen),
            expires == null ? null : Duration.ofSeconds(expires));
        return new CertificateRequest(provider(members), text(members, "topic"), text(members, "signing_key"), plan);
    }

    /** Reads a file of this class. What is wrong with a certificate or a signing key in it has its own code, all else is malformed. */
    private static <T> T reading(Supplier<T> work) {
        try {
            return work.get();
        } catch (PushcryptException refused) {
            boolean isOwn = refused.code() == Code.MALFORMED_REQUEST || refused.code() == Code.MALFORMED_CERTIFICATE || refused.code() == Code.WEAK_KEY;
            throw isOwn ? refused : new PushcryptException(Code.MALFORMED_REQUEST);
        }
    }

    private static Payload.Members members(String json) {
        Payload.Members members = Payload.parse(json, Code.MALFORMED_REQUEST);
        Records.rule(new Payload.Number("1").equals(members.get("version")), "version is not 1");
        return members;
    }

    private static String text(Payload.Members members, String name) {
        String text = Records.text(members, name);
        Records.rule(text != null, "there is no " + name);
        return text;
    }

    private static ProviderPublicKey provider(Payload.Members members) {
        try {
            return ProviderPublicKey.parse(text(members, "provider"));
        } catch (PushcryptException noKey) {
            throw new PushcryptException(Code.MALFORMED_REQUEST, "the provider key is none");
        }
    }

    private static Certificate certificate(Payload.Members members, String name) {
        String text = Records.text(members, name);
        return text == null ? null : Certificate.parse(text);
    }

    private static PushcryptException wrong(String what) {
        return new PushcryptException(Code.WRONG_CERTIFICATE, "the certificate is " + what);
    }

    Certificate issue(ProviderKey key, Instant at) {
        if (!key.publicKey().equals(provider)) throw new PushcryptException(Code.WRONG_CERTIFICATE, "the request is for provider key " + provider.id());
        List<Certificate> all = new ArrayList<>(Arrays.asList(plan.current(), plan.proven()));
        plan.past().forEach(epoch -> all.add(epoch.certificate()));
        for (Certificate certificate : all) if (certificate != null) certificate.check(provider.key, topic);
        return Certificate.issue(plan.claim(Times.milliseconds(at)), Envelope.decode(signingKey, Code.MALFORMED_KEY), key, topic);
    }

    /**
     * Signs the certificate, where the provider key is. Show a person {@link #topic}, {@link #signingKey} and {@link #plan} before.
     *
     * @param key the provider key
     * @return the answer, for {@link #install}
     * @throws PushcryptException {@code wrong-certificate} for another provider key, {@code bad-certificate-signature} or {@code weak-key} for certificates that
     *     are not of this key and app, {@code epochs-exhausted} after the last epoch
     */
    public String certify(ProviderKey key) {
        return certify(key, Times.now());
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
     *     for one that has expired; {@code malformed-request}, {@code malformed-certificate},
     *     {@code bad-certificate-signature} or {@code weak-key}
     */
    public Credential install(SigningKey key, String answer) {
        return install(key, answer, Times.milliseconds(Times.now()));
    }

    Credential install(SigningKey key, String answer, long now) {
        Payload.Members members = reading(() -> members(answer));
        if (members.containsKey("signing_key")) {
            throw new PushcryptException(Code.MALFORMED_REQUEST, "this is a request that the provider key has not certified yet: certify it first");
        }
        Certificate certificate = reading(() -> Certificate.parse(text(members, "certificate")));
        ProviderPublicKey signer = provider(members);
        String app = reading(() -> text(members, "topic"));
        certificate.verify(signer, app);
        boolean isAnswer = app.equals(topic) && signer.equals(provider) && Envelope.encode(certificate.signingKey()).equals(signingKey)
            && key.publicText().equals(signingKey);
        if (!isAnswer) throw wrong("not the answer to this request; certify this one");
        for (Certificate other : Arrays.asList(plan.current(), plan.proven())) {
            boolean isLater = other == null || other.hasClaimOf(certificate) || certificate.epoch() > other.epoch();
            if (!isLater) throw wrong("of epoch " + certificate.epoch() + ", not above the last, " + other.epoch() + "; make another request");
        }
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
            .map(epoch -> Json.object("certificate", Json.quoted(epoch.certificate()), "replaced", BigInteger.valueOf(Format.LARGEST_TIME).min(new BigInteger(Long.toUnsignedString(Times.milliseconds(epoch.replacedAt())))))).toList();
        return Json.object(
            "version", 1, "topic", Json.quoted(topic), "provider", Json.quoted(provider), "signing_key", Json.quoted(signingKey),
            "expires", plan.lifetime() == null ? null : plan.lifetime().getSeconds(), "stolen", plan.isStolen() ? true : null,
            "current", Json.quoted(plan.current()), "past", Json.array(past), "proven", Json.quoted(plan.proven()));
    }
}
