// The same from CommonJS.
import pushcrypt = require("pushcrypt");

const key: pushcrypt.ProviderKey = pushcrypt.ProviderKey.generate();
export const text: string = key.publicKey;
