internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The settings that the threads of a batch share: how lines are read and answered.
struct SealSettings: Sendable {
    /// The message, unless its line says otherwise.
    var message: Message
    var form = SealForm()
    var lines = LineForm.Content.objects
    /// The folder for bodies that are too long.
    var overflow: Overflow?
    var log: LogFormat?
    let now: @Sendable () -> Timestamp
}

/// How messages are written.
struct SealForm: Sendable {
    var emission = Emission.payload
    /// Whether answers have the facts of `--json`.
    var hasFacts = false
    /// Whether a device without a key is sent its payload unsealed.
    var passesUnencrypted = false
}

/// Seals messages on one thread.
final class SealWorker: LineWorker {
    private let settings: SealSettings
    private let lineForm: LineForm
    private let keys: Keys
    private let console: Console

    init(_ settings: SealSettings, _ keys: Keys, _ console: Console) {
        (self.settings, self.keys, self.console) = (settings, keys, console)
        var form = LineForm(
            .seal(settings.form.emission, hasFacts: settings.form.hasFacts, hasFiles: settings.overflow != nil), console
        )
        form.content = settings.lines
        lineForm = form
    }

    func answer(_ chunk: LineChunk, _ answers: inout Answers) {
        let lines = chunk.lines(lineForm)
        answers.tally.lines = lines.count
        var rest = lines.map { line in
            (
                line,
                Result {
                    try Message(
                        line, settings.message, bringsPayload: settings.lines == .objects,
                        isRequest: settings.form.emission == .request)
                }
            )
        }[...]
        do {
            try keys.refresh()
            defer { if let warning = keys.warning { console.warningOnce("\(warning.code): \(warning)") } }
            while !rest.isEmpty, answers.isWanted {
                let found = try keys.devices(for: rest.lazy.map { try? $0.1.get().recipient })
                for ((line, message), devices) in zip(rest, found) { answer(line, message, devices, &answers) }
                rest = rest.dropFirst(found.count)
            }
        } catch {
            // The next chunk may find the store usable again.
            for (line, message) in rest {
                answer(line, message.flatMap { _ in .failure(error) }, [.success(Device())], &answers)
            }
        }
    }

    private func answer(
        _ line: Line, _ message: Result<Message, any Error>, _ devices: [Result<Device, any Error>],
        _ answers: inout Answers
    ) {
        // A refused line has no device, and one answer.
        for device in devices.isEmpty ? [.success(Device())] : devices where answers.isWanted {
            if line.isListed, case .failure(let error as KeyStoreError) = device,
                [.unknownDevice, .removedDevice].contains(error.code)
            {
                continue
            }
            let id = try? device.get().id
            var sealed: Sealed?
            let failure = answers.answer(line, repeating: { line.writeRefused(id, to: &$0) }) { json in
                let made = try seal(message.get(), for: device.get())
                made.write(settings.form, line, to: &json)
                sealed = made
            }
            if let sealed { sealed.count(in: &answers.tally) }
            log(line, sealed, failure, &answers)
        }
    }

    /// Seals the only message of a command line; returns it, and the line of a batch that answers it.
    func sealOnly(for name: String?) throws -> (Sealed, line: ContiguousArray<UInt8>) {
        guard let device = try keys.devices(for: [settings.message.recipient]).first?.first else {
            preconditionFailure("a recipient is one device")
        }
        let sealed = try seal(settings.message, for: device.get())
        console.warn(ofStale: keys.warning)
        var answers = Answers()
        let line = Line(1, ContiguousArray((name ?? "{}").utf8), lineForm)
        answers.answer(line) { json in sealed.write(settings.form, line, to: &json) }
        return (sealed, answers.output)
    }

    /// Seals a message for a device; for one without a key, makes the unsealed message.
    private func seal(_ message: Message, for device: Device) throws -> Sealed {
        let (now, emission) = (settings.now(), settings.form.emission)
        guard let key = device.key else { return try pass(message, at: now) }
        let sealer = try keys.sealer(for: message, device, at: now)
        var file: OverflowFile?
        let payload: SealedPayload
        if let overflow = settings.overflow {
            (payload, file) = try overflow.seal(message, to: key, by: sealer, at: now)
        } else {
            payload = try sealer.seal(message.content, to: key, at: now)
        }
        let request =
            emission == .payload
            ? nil
            : try sealer.request(
                for: payload, device: device.id, collapseName: message.collapseName, priority: message.priority)
        let relay = emission == .relay ? try request.map { try RelayMessage($0) } : nil
        return Sealed(
            device: device, json: payload.json, payload: payload, request: request, relayMessage: relay, file: file)
    }

    /// No rule of sealing applies, only APNs' own.
    private func pass(_ message: Message, at now: Timestamp) throws -> Sealed {
        guard settings.form.passesUnencrypted else {
            throw Failure(
                .noKey,
                "the device has no key to seal to: register it, or send its pushes unsealed with --unencrypted pass")
        }
        let request =
            settings.form.emission == .payload
            ? nil
            : try keys.sealer(for: message, Device(), at: now)
                .request(unsealed: message.content, priority: message.priority, at: now)
        return Sealed(device: Device(), json: try request?.payload ?? message.content.unsealed(), request: request)
    }

    /// An object also has the caller's id and the time: in text, an id could look like more fields.
    private func log(_ line: Line, _ sealed: Sealed?, _ failure: Failure?, _ answers: inout Answers) {
        guard let format = settings.log else { return }
        var fields = sealed?.logFields ?? []
        fields.insert(("line", .number(line.number)), at: sealed?.payload == nil ? 0 : fields.count)
        if let failure { fields.append(("code", .word(failure.code))) }
        if format == .json {
            if let id = line["id"]?.asName { fields.append(("id", .word(id))) }
            fields.append(("time", .word("\(settings.now())")))
        }
        answers.log += format.messages.line(sealed?.event ?? "refused", fields)
    }
}
