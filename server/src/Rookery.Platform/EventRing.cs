namespace Rookery.Platform;

/// <summary>
/// A ring buffer of the most recent events, up to a capacity. It grows by doubling; a full ring allocates nothing. Not
/// thread-safe.
/// </summary>
internal sealed class EventRing(int capacity)
{
    private const int InitialLength = 64;
    private IoEvent[] _events = [];
    private long _lastEndUnixMicroseconds = long.MinValue;
    private long _count; // of all added events, including dropped ones

    /// <summary>
    /// The latest end of a dropped event, in microseconds since 1970 UTC; <see cref="long.MinValue"/> while none is
    /// dropped. The ring has all events that ended later. After the clock was set back, this holds only for the events
    /// that were added since then.
    /// </summary>
    internal long ForgottenUntil { get; private set; } = long.MinValue;

    internal void Add(in IoEvent added)
    {
        if (_count == _events.Length && _events.Length < capacity)
        {
            Array.Resize(ref _events, Math.Min(capacity, Math.Max(InitialLength, _events.Length * 2)));
        }

        if (added.EndUnixMicroseconds < _lastEndUnixMicroseconds)
        {
            // The clock was set back. Otherwise all new events would seem dropped until the clock passes the old time.
            ForgottenUntil = Math.Min(ForgottenUntil, added.EndUnixMicroseconds - 1);
        }

        _lastEndUnixMicroseconds = added.EndUnixMicroseconds;
        ref var place = ref _events[_count % _events.Length];
        if (_count >= _events.Length && place.EndUnixMicroseconds <= added.EndUnixMicroseconds)
        {
            ForgottenUntil = Math.Max(ForgottenUntil, place.EndUnixMicroseconds);
        }

        place = added;
        _count++;
    }

    /// <summary>
    /// Appends to <paramref name="events"/> the events that ended after <paramref name="sinceUnixMicroseconds"/> and
    /// not after <paramref name="untilUnixMicroseconds"/>, in the order in which they were added.
    /// </summary>
    internal void Collect(long sinceUnixMicroseconds, long untilUnixMicroseconds, List<IoEvent> events)
    {
        for (long i = Math.Max(0, _count - _events.Length); i < _count; i++)
        {
            ref readonly var candidate = ref _events[i % _events.Length];
            if (
                candidate.EndUnixMicroseconds > sinceUnixMicroseconds
                && candidate.EndUnixMicroseconds <= untilUnixMicroseconds
            )
            {
                events.Add(candidate);
            }
        }
    }
}
