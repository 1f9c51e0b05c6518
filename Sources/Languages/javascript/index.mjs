// The same interface for ES modules. There is one copy of the code, so that a class is the same however it was loaded.
import pushcrypt from "./index.js";

export const {
    AttachmentReference, Credential, DeviceKey, FileOpener, OpenedPush, ProviderKey, PushcryptError, RemoteSealer, SealFilter, SealedPush, Sealer, SigningKey,
    Trust, applyReply, checkRegistration, formatDeviceRecord, formatProviderRecord, formatReply, issueCertificate, limits, messageID, open, openEnvelope,
    parseDeviceRecord, parseProviderRecord, parseReply, readCertificate, readFullBody, showsStaleStore,
} = pushcrypt;
