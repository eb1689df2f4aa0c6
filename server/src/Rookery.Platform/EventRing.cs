namespace Rookery.Platform;

/// <summary>
/// The newest events, up to a number. Takes memory as it fills, by doubling, and allocates nothing once it is full. Not
/// thread-safe.
/// </summary>
internal sealed class EventRing(int capacity)
{
    private const int FirstLength = 64;
    private IoEvent[] _events = [];
    private long _count;

    /// <summary>
    /// When the newest event that was forgotten ended, in microseconds since 1970 UTC; <see cref="long.MinValue"/>
    /// while all are kept. What ended later is there.
    /// </summary>
    internal long ForgottenUntil { get; private set; } = long.MinValue;

    internal void Add(in IoEvent added)
    {
        if (_count == _events.Length && _events.Length < capacity)
        {
            Array.Resize(ref _events, Math.Min(capacity, Math.Max(FirstLength, _events.Length * 2)));
        }

        ref var place = ref _events[_count % _events.Length];
        if (_count >= _events.Length)
        {
            // After a clock was set back the newest that is forgotten is not the one that ended last.
            ForgottenUntil = Math.Max(ForgottenUntil, place.EndUnixMicroseconds);
        }

        place = added;
        _count++;
    }

    /// <summary>
    /// Adds the events that ended after one time and not after another to <paramref name="found"/>, in the order in
    /// which they were added.
    /// </summary>
    internal void Collect(long sinceUnixMicroseconds, long untilUnixMicroseconds, List<IoEvent> found)
    {
        for (long i = Math.Max(0, _count - _events.Length); i < _count; i++)
        {
            ref readonly var candidate = ref _events[i % _events.Length];
            if (
                candidate.EndUnixMicroseconds > sinceUnixMicroseconds
                && candidate.EndUnixMicroseconds <= untilUnixMicroseconds
            )
            {
                found.Add(candidate);
            }
        }
    }
}
