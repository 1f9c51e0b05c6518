// The same interface for ES modules. There is one copy of the code, so that a class is the same however it was loaded.
import pushcrypt from "./index.js";

export const {
    AnnouncedStatements, AttachmentReference, DeviceKey, FileOpener, OpenedPush, PushcryptError, RecoveryKey, RemoteSealer, SealFilter, SealedPush, Sealer, SenderKey, Trust, applyReply,
    checkRegistration, formatDeviceRecord, formatReply, formatSenderRecord, limits, messageID, open, openEnvelope, parseDeviceRecord, parseReply,
    parseSenderRecord, readFullBody, recoveryStatement, rotationStatement, statementLine,
} = pushcrypt;
