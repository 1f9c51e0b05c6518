// The same from CommonJS.
import pushcrypt = require("pushcrypt");

const key: pushcrypt.SenderKey = pushcrypt.SenderKey.generate();
export const text: string = key.publicKey;
