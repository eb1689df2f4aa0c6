using Rookery.Board;

namespace Rookery.Server.Observation;

/// <summary>
/// Reads of a board what its kernel says of devices and processors, and does not wait for long: where a driver hangs,
/// the figures are unknown until it answers, and nobody asks it meanwhile. Thread-safe.
/// </summary>
/// <param name="board">The board; null where there is none.</param>
internal sealed class BoardSight(IBoard? board)
{
    // Small files of the kernel, read in under a millisecond; a card that stalls may take longer to say how it is.
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(500);

    private readonly Lock _access = new();
    private Task<Seen>? _reading;
    private bool _isLate;

    /// <summary>How it is now; nothing when it did not answer in time.</summary>
    /// <exception cref="IOException">It could not be read.</exception>
    public Seen Read()
    {
        if (board is null)
        {
            return Seen.Nothing;
        }

        Task<Seen> one;
        lock (_access)
        {
            if (_reading is { IsCompleted: false } && _isLate)
            {
                return Seen.Nothing;
            }

            if (_reading is null or { IsCompleted: true })
            {
                // A thread of its own: one that hangs is not to be missed by the pool.
                _isLate = false;
                _reading = Task.Factory.StartNew(
                    () => new Seen(board.ReadStorage(), board.ReadUse()),
                    CancellationToken.None,
                    TaskCreationOptions.LongRunning,
                    TaskScheduler.Default
                );
            }

            one = _reading;
        }

        if (Task.WaitAny([one], Patience) >= 0)
        {
            return one.GetAwaiter().GetResult();
        }

        lock (_access)
        {
            _isLate |= _reading == one;
        }

        return Seen.Nothing;
    }

    /// <summary>What was read.</summary>
    internal sealed record Seen(IReadOnlyList<StorageReading> Devices, MachineUse Use)
    {
        public static readonly Seen Nothing = new([], default);
    }
}
