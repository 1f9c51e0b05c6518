package com.example.pushcrypt;

import java.util.List;

/**
 * What became of a record that was accepted.
 *
 * @param device the device that has registered or ended
 * @param changes what to store: {@code device}, and what is left of others that had its key or token. Each replaces what you hold under its id
 * @param reply what to answer once that is stored: {@link Reply#toJson}
 * @param staleStore a certificate of your provider key that you never issued; {@code null} if there is none. Your store is an old copy, or somebody has your
 *     provider key [D-36]: it is {@link CertificatePlan#withProven} of the next certificate
 * @param foreign the members of the record that name a provider key which you never had [D-35]; the reply has them already
 * @param warnings sentences for your operator, about the two before this, and what of the record was stored as something else
 */
public record Accepted(
    StoredDevice device, List<StoredDevice> changes, Reply reply, Certificate staleStore, List<String> foreign, List<String> warnings) {}
