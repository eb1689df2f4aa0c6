using Rookery.Disk;

namespace Rookery.Server.Observation;

/// <summary>A piece of disk work that took longer than nearly all of its kind.</summary>
/// <param name="Kind">What for, as /debug/io calls it: a newer member may know more kinds.</param>
/// <param name="StartUnixMicroseconds">When it began.</param>
/// <param name="DurationMicroseconds">How long it took.</param>
/// <param name="Bytes">How many bytes it moved.</param>
internal readonly record struct SlowEvent(string Kind, long StartUnixMicroseconds, long DurationMicroseconds, long Bytes)
{
    /// <summary>When it ended.</summary>
    public long EndUnixMicroseconds => StartUnixMicroseconds + DurationMicroseconds;

    /// <summary>As the node's own timeline has it.</summary>
    public static SlowEvent Of(in IoEvent happened) => new(IoKindName.Of(happened.Kind), happened.StartUnixMicroseconds, happened.DurationMicroseconds, happened.Bytes);
}

/// <summary>The newest slow events of a node, as another one remembers them. Thread-safe.</summary>
internal sealed class SlowEvents(MemoryShare memory)
{
    /// <summary>How many are kept, of all kinds together.</summary>
    public const int Most = 2048;

    private const int EventBytes = 32;

    private readonly Lock access = new();
    private readonly SortedSet<SlowEvent> events = new(ByEnd);

    private static IComparer<SlowEvent> ByEnd { get; } = Comparer<SlowEvent>.Create(static (one, other) =>
        (one.EndUnixMicroseconds, one.DurationMicroseconds).CompareTo((other.EndUnixMicroseconds, other.DurationMicroseconds)) is var order and not 0 ? order : string.CompareOrdinal(one.Kind, other.Kind));

    /// <summary>When the newest ended, in microseconds since 1970; 0 when there is none.</summary>
    public long NewestUnixMicroseconds
    {
        get
        {
            lock (access)
            {
                return events.Count > 0 ? events.Max.EndUnixMicroseconds : 0;
            }
        }
    }

    /// <summary>Adds some; those that are known already count once, and the oldest make room.</summary>
    public void Add(IEnumerable<SlowEvent> added)
    {
        lock (access)
        {
            foreach (var one in added)
            {
                if (!events.Add(one))
                {
                    continue;
                }

                if (events.Count > Most)
                {
                    events.Remove(events.Min);
                }
                else
                {
                    memory.Reserve(EventBytes);
                }
            }
        }
    }

    /// <summary>Lets go of all.</summary>
    public void Clear()
    {
        lock (access)
        {
            memory.Release((long)events.Count * EventBytes);
            events.Clear();
        }
    }

    /// <summary>Those that ended after a time, in the order in which they ended.</summary>
    public IReadOnlyList<SlowEvent> Since(long unixMicroseconds)
    {
        lock (access)
        {
            return [.. events.Where(one => one.EndUnixMicroseconds > unixMicroseconds)];
        }
    }
}
