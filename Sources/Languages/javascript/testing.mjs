// The same for ES modules.
import testing from "./testing.js";

export const { DeviceKey, FileOpener, OpenedPush, Trust, applyReply, formatDeviceRecord, open, openEnvelope, parseReply, readFullBody } = testing;
