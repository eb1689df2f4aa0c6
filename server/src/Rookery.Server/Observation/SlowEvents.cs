using Rookery.Platform;
using Rookery.Server.Operations;

namespace Rookery.Server.Observation;

/// <summary>A piece of disk work that took longer than nearly all of its kind.</summary>
/// <param name="Kind">What for, as /debug/io calls it: a newer member may know more kinds.</param>
/// <param name="StartUnixMicroseconds">When it began.</param>
/// <param name="DurationMicroseconds">How long it took.</param>
/// <param name="Bytes">How many bytes it moved.</param>
internal readonly record struct SlowEvent(
    string Kind,
    long StartUnixMicroseconds,
    long DurationMicroseconds,
    long Bytes
)
{
    /// <summary>When it ended.</summary>
    public long EndUnixMicroseconds => StartUnixMicroseconds + DurationMicroseconds;

    /// <summary>As the node's own timeline has it.</summary>
    public static SlowEvent Of(in IoEvent happened) =>
        new(
            IoKindName.Of(happened.Kind),
            happened.StartUnixMicroseconds,
            happened.DurationMicroseconds,
            happened.Bytes
        );
}

/// <summary>The slow events of a node that another one was told last, as that remembers them. Thread-safe.</summary>
internal sealed class SlowEvents(MemoryShare memory)
{
    /// <summary>How many are kept, of all kinds together.</summary>
    public const int Most = 2048;

    private const int EventBytes = 32;

    private readonly Lock _access = new();

    // Which go first follows from when they came, not from what they say of when they were: a clock that jumps must not
    // cost what was kept.
    private readonly Queue<SlowEvent> _events = new();
    private readonly HashSet<SlowEvent> _known = [];
    private long _newest;

    /// <summary>
    /// When the latest of those that came last ended, in microseconds since 1970; 0 when there is none.
    /// </summary>
    public long NewestUnixMicroseconds
    {
        get
        {
            lock (_access)
            {
                return _newest;
            }
        }
    }

    /// <summary>Adds some; those that are known already count once, and those that came first make room.</summary>
    public void Add(IEnumerable<SlowEvent> added)
    {
        lock (_access)
        {
            long latest = 0;
            foreach (var one in added)
            {
                latest = Math.Max(latest, one.EndUnixMicroseconds);
                if (!_known.Add(one))
                {
                    continue;
                }

                _events.Enqueue(one);
                if (_events.Count > Most)
                {
                    _known.Remove(_events.Dequeue());
                }
                else
                {
                    memory.Reserve(EventBytes);
                }
            }

            _newest = latest > 0 ? latest : _newest;
        }
    }

    /// <summary>Lets go of all.</summary>
    public void Clear()
    {
        lock (_access)
        {
            memory.Release((long)_events.Count * EventBytes);
            _events.Clear();
            _known.Clear();
            _newest = 0;
        }
    }

    /// <summary>Those that ended after a time, in the order in which they ended.</summary>
    public IReadOnlyList<SlowEvent> Since(long unixMicroseconds)
    {
        lock (_access)
        {
            return
            [
                .. _events
                    .Where(one => one.EndUnixMicroseconds > unixMicroseconds)
                    .OrderBy(static one => one.EndUnixMicroseconds),
            ];
        }
    }
}
