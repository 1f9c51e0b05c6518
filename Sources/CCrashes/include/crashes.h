// Nothing to call: linked into the command, it has a crash end with a message.
