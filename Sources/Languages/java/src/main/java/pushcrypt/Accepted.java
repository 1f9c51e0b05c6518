package pushcrypt;

import java.util.List;

/**
 * What became of a record that was accepted.
 *
 * @param device what to store, in the transaction that read the held device. If the record has no device id, give it one: {@link StoredDevice#withDeviceId}
 * @param reply what to answer: {@link Reply#toJson}
 * @param removesElsewhere whether to delete the other device that has the record's key
 * @param staleStore a certificate of your provider key that you never issued; {@code null} if there is none. Your store is an old copy, or somebody has your
 *     provider key [D-36]: warn your operator until you issue another certificate, for which this is {@link CertificatePlan#withProven}
 * @param foreign the members of the record that name a provider key which you never had. Tell your operator [D-35]; the reply has them already
 */
public record Accepted(StoredDevice device, Reply reply, boolean removesElsewhere, Certificate staleStore, List<String> foreign) {}
