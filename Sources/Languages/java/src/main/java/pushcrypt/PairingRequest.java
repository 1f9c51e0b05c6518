package pushcrypt;

/**
 * What a phone posted, once {@link Pairing#open(String)} has opened it.
 *
 * <p>Without a {@link #record}, send {@link #answer}. Otherwise refuse the record with {@code user-mismatch} if there is no answer yet and you have the device
 * already, unless your operator said that it was set up again [P-9]; or give it to {@link Registration#accept}. Store the device and the pairing that
 * {@link #seal} returns in the transaction in which you read the pairing, and answer then [P-5].
 */
public final class PairingRequest {
    private final Pairing pairing;
    private final byte[] request;
    private final long at;
    private final DeviceRecord record;
    private final String answer;

    /** With the reply record, or null if that is not decided. */
    PairingRequest(Pairing pairing, byte[] request, long at, DeviceRecord record, String reply) {
        this.pairing = pairing;
        this.request = request;
        this.at = at;
        this.record = record;
        answer = reply == null ? null : pairing.exchange.sealReply(request, reply);
    }

    /**
     * What to store, and to answer with status 200.
     *
     * @param pairing the pairing to store
     * @param answer the body of the answer
     */
    public record Sealed(Pairing pairing, String answer) {}

    /**
     * Returns the phone's record.
     *
     * @return the record, with a device id; {@code null} if another phone has the code, or the record breaks a rule
     */
    public DeviceRecord record() {
        return record;
    }

    /**
     * Returns what to answer with status 200, if that is decided. The phone that has paired has an answer too, and in its record perhaps a grant.
     *
     * @return the body, or {@code null}
     */
    public String answer() {
        return answer;
    }

    /**
     * Seals a reply. A refusal leaves the code open. If there was an {@link #answer}, that is it, whatever the reply.
     *
     * @param reply that of {@link Accepted}, or {@link Reply#refuse(PushcryptException)}
     * @return what to store, and to answer
     * @throws PushcryptException {@code invalid-request} if the reply does not acknowledge the record with the code's provider key [P-7]
     */
    public Sealed seal(Reply reply) {
        if (answer != null) return new Sealed(pairing, answer);
        String text = reply.toJson();
        Pairing after = reply.refused() == null ? pairing.claimed(at, record, reply, text) : pairing;
        return new Sealed(after, pairing.exchange.sealReply(request, text));
    }

    /** Returns the id of the pairing. */
    @Override
    public String toString() {
        return "PairingRequest(" + pairing.id() + ")";
    }
}
