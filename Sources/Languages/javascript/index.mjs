// The same interface for ES modules. There is one copy of the code, so that a class is the same however it was loaded.
import pushcrypt from "./index.js";

export const {
    AttachmentReference, CertificateRequest, Credential, FilterError, ProviderKey, PushcryptError, RemoteSealer, SealFilter, SealedPush, Sealer, SigningKey,
    accept, canWithdraw, formatProviderRecord, issueCertificate, limits, parseDeviceRecord, parseProviderRecord, providerPublicKey, readCertificate, refuse,
} = pushcrypt;
