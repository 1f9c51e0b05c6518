/// Keeps the player of a content extension and the system's media button in step.
///
///     lazy var media = MediaPlayback(
///         start: { [weak self] in self?.player.play() ?? false }, stop: { [weak self] in self?.player.pause() },
///         started: { [weak self] in self?.extensionContext?.mediaPlayingStarted() },
///         paused: { [weak self] in self?.extensionContext?.mediaPlayingPaused() })
///
///     func mediaPlay() { media.play() }
///     func mediaPause() { media.pause() }
///
/// Each change starts or stops the player once and then notifies the system once. The system draws the button by these
/// notifications alone. Not run on Apple systems.
@MainActor
public final class MediaPlayback {
    private let start: () -> Bool
    private let stop: () -> Void
    private let started: () -> Void
    private let paused: () -> Void

    /// Whether the player is playing.
    package private(set) var isPlaying = false

    /// Creates a playback control from the actions that it performs.
    ///
    /// - Parameters:
    ///   - start: Starts the player. Returns false if it does not play, for example because the file is damaged.
    ///   - stop: Stops the player.
    ///   - started: Notifies the system that the player is playing.
    ///   - paused: Notifies the system that the player is not playing.
    public init(
        start: @escaping () -> Bool, stop: @escaping () -> Void, started: @escaping () -> Void,
        paused: @escaping () -> Void
    ) {
        self.start = start
        self.stop = stop
        self.started = started
        self.paused = paused
    }

    /// Starts the player, for the system's button or one in the view. Notifies the system, also if it does not play.
    public func play() {
        guard !isPlaying else { return }
        isPlaying = start()
        isPlaying ? started() : paused()
    }

    /// Stops the player, for a button, for another notification or because the view disappears.
    public func pause() {
        guard isPlaying else { return }
        stop()
        ended()
    }

    /// Notifies the system that the player reached the end or was interrupted.
    public func ended() {
        guard isPlaying else { return }
        isPlaying = false
        paused()
    }
}
