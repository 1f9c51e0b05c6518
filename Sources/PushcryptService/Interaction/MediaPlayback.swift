/// Keeps the player of a content extension, the system's media button, and what the system was told in step.
///
///     lazy var media = MediaPlayback(
///         start: { [weak self] in self?.player.play() ?? false }, stop: { [weak self] in self?.player.pause() },
///         started: { [weak self] in self?.extensionContext?.mediaPlayingStarted() },
///         paused: { [weak self] in self?.extensionContext?.mediaPlayingPaused() })
///
///     func mediaPlay() { media.play() }
///     func mediaPause() { media.pause() }
///
/// The player is started and stopped once for each change, and the system hears of each change once, after it: it draws the
/// button by that alone. Not run on Apple systems.
@MainActor
public final class MediaPlayback {
    private let start: () -> Bool
    private let stop: () -> Void
    private let started: () -> Void
    private let paused: () -> Void

    /// Whether the media play.
    public private(set) var isPlaying = false

    /// Takes what is done.
    ///
    /// - Parameters:
    ///   - start: starts the player; false if it does not play, for example because the file is damaged.
    ///   - stop: stops the player.
    ///   - started: tells the system that the media play.
    ///   - paused: tells the system that they do not.
    public init(
        start: @escaping () -> Bool, stop: @escaping () -> Void, started: @escaping () -> Void,
        paused: @escaping () -> Void
    ) {
        self.start = start
        self.stop = stop
        self.started = started
        self.paused = paused
    }

    /// Starts the media, for the system's button or one of the view's; tells the system, also when they do not play.
    public func play() {
        guard !isPlaying else { return }
        isPlaying = start()
        isPlaying ? started() : paused()
    }

    /// Stops the media, for a button, another notification or because the view goes.
    public func pause() {
        guard isPlaying else { return }
        stop()
        ended()
    }

    /// Notes that the player has come to the end, or was interrupted.
    public func ended() {
        guard isPlaying else { return }
        isPlaying = false
        paused()
    }
}
