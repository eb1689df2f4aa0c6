using Rookery.Board;

namespace Rookery.Server.Observation;

/// <summary>
/// Reads the storage devices and the processor use of the machine, and waits at most 500 ms. If a driver hangs, the
/// values are unknown until it answers, and no further read starts. Thread-safe.
/// </summary>
/// <param name="board">The board; null without one.</param>
internal sealed class BoardReader(IBoard? board)
{
    // Small kernel files are read in under a millisecond; a card that stalls may take longer to report its state.
    private static readonly TimeSpan ReadTimeout = TimeSpan.FromMilliseconds(500);

    private readonly Lock _gate = new();
    private Task<BoardReadings>? _reading;
    private bool _isLate;

    /// <summary>Reads the values; <see cref="BoardReadings.Nothing"/> if they are late.</summary>
    /// <exception cref="IOException">A file could not be read.</exception>
    public BoardReadings Read()
    {
        if (board is null)
        {
            return BoardReadings.Nothing;
        }

        Task<BoardReadings> reading;
        lock (_gate)
        {
            if (_reading is { IsCompleted: false } && _isLate)
            {
                return BoardReadings.Nothing;
            }

            if (_reading is null or { IsCompleted: true })
            {
                // On a thread of its own, so that a hanging read does not block a thread of the pool.
                _isLate = false;
                _reading = Task.Factory.StartNew(
                    () => new BoardReadings(board.ReadStorage(), board.ReadUse()),
                    CancellationToken.None,
                    TaskCreationOptions.LongRunning,
                    TaskScheduler.Default
                );
            }

            reading = _reading;
        }

        if (Task.WaitAny([reading], ReadTimeout) >= 0)
        {
            return reading.GetAwaiter().GetResult();
        }

        lock (_gate)
        {
            _isLate |= _reading == reading;
        }

        return BoardReadings.Nothing;
    }

    /// <summary>The values that <see cref="BoardReader"/> has read.</summary>
    internal sealed record BoardReadings(IReadOnlyList<StorageReading> Devices, MachineUse Use)
    {
        public static readonly BoardReadings Nothing = new([], Use: default);

        /// <summary>Whether the values were read. If not, there is no board, or a driver hangs.</summary>
        public bool AreKnown => !ReferenceEquals(this, Nothing);
    }
}
