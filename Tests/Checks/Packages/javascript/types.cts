// The same from CommonJS.
import pushcrypt = require("pushcrypt");
import testing = require("pushcrypt/testing");

const key: pushcrypt.ProviderKey = pushcrypt.ProviderKey.generate();
export const text: string = key.publicKey + testing.DeviceKey.generate().publicKey;
export const code = (error: pushcrypt.PushcryptError): pushcrypt.Code => error.code;
