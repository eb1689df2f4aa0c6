namespace Rookery.Disk;

/// <summary>The newest events, up to a number. Takes memory as it fills, by doubling, and allocates nothing once it is full. Not thread-safe.</summary>
internal sealed class EventRing(int capacity)
{
    private const int FirstLength = 64;
    private IoEvent[] events = [];
    private long count;

    internal void Add(in IoEvent added)
    {
        if (count == events.Length && events.Length < capacity)
        {
            Array.Resize(ref events, Math.Min(capacity, Math.Max(FirstLength, events.Length * 2)));
        }

        events[count % events.Length] = added;
        count++;
    }

    /// <summary>Adds the events that ended after a time to <paramref name="found"/>, oldest first.</summary>
    internal void CollectSince(long unixMicroseconds, List<IoEvent> found)
    {
        for (long i = Math.Max(0, count - events.Length); i < count; i++)
        {
            ref readonly var candidate = ref events[i % events.Length];
            if (candidate.StartUnixMicroseconds + candidate.DurationMicroseconds > unixMicroseconds)
            {
                found.Add(candidate);
            }
        }
    }
}
