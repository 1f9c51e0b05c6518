package com.example.pushcrypt;

import java.util.Collection;

/** How {@link Registration#accept} looks into your store, in the transaction in which you store what it returns. */
public interface Devices {
    /**
     * Returns what you hold under an id, also of a removed device.
     *
     * @param deviceId the id
     * @return the device; {@code null} if you never knew it
     */
    StoredDevice find(String deviceId);

    /**
     * Returns all that you hold with a key or a token, under any id and of any user.
     *
     * @param key the key
     * @param token the token; {@code null} for none
     * @return the devices, that of the record among them or not
     */
    Collection<StoredDevice> holders(DevicePublicKey key, String token);
}
