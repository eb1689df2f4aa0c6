using Rookery.Platform;
using Rookery.Server.Operations;

namespace Rookery.Server.Observation;

/// <summary>A disk operation that was slower than nearly all others of its kind.</summary>
/// <param name="Kind">Kind as in /debug/io; a newer member may have kinds that this version does not know.</param>
/// <param name="StartUnixMicroseconds">Time when the operation began.</param>
/// <param name="DurationMicroseconds">Duration of the operation.</param>
/// <param name="Bytes">Bytes read or written.</param>
internal readonly record struct SlowEvent(
    string Kind,
    long StartUnixMicroseconds,
    long DurationMicroseconds,
    long Bytes
)
{
    /// <summary>Time when the operation ended.</summary>
    public long EndUnixMicroseconds => StartUnixMicroseconds + DurationMicroseconds;

    /// <summary>Converts an event of this node's timeline.</summary>
    public static SlowEvent Of(in IoEvent ioEvent) =>
        new(IoKindName.Of(ioEvent.Kind), ioEvent.StartUnixMicroseconds, ioEvent.DurationMicroseconds, ioEvent.Bytes);
}

/// <summary>The last slow events of a node. Thread-safe.</summary>
internal sealed class SlowEvents(MemoryShare memory)
{
    /// <summary>Number of events kept, of all kinds together.</summary>
    public const int MaxEvents = 2048;

    private const int EventBytes = 32;

    private readonly Lock _gate = new();

    // The oldest by arrival is dropped, not the oldest by its time, so a jump of the clock loses nothing.
    private readonly Queue<SlowEvent> _events = new();
    private readonly HashSet<SlowEvent> _recorded = [];
    private long _newest;

    /// <summary>
    /// Latest end of the events in the last <see cref="Add"/>, in microseconds since 1970; 0 before the first.
    /// </summary>
    public long NewestUnixMicroseconds
    {
        get
        {
            lock (_gate)
            {
                return _newest;
            }
        }
    }

    /// <summary>
    /// Adds events; known ones are skipped, and the oldest are dropped beyond <see cref="MaxEvents"/>.
    /// </summary>
    public void Add(IEnumerable<SlowEvent> added)
    {
        lock (_gate)
        {
            long latest = 0;
            foreach (var slowEvent in added)
            {
                latest = Math.Max(latest, slowEvent.EndUnixMicroseconds);
                if (!_recorded.Add(slowEvent))
                {
                    continue;
                }

                _events.Enqueue(slowEvent);
                if (_events.Count > MaxEvents)
                {
                    _recorded.Remove(_events.Dequeue());
                }
                else
                {
                    memory.Reserve(EventBytes);
                }
            }

            _newest = latest > 0 ? latest : _newest;
        }
    }

    /// <summary>Removes all events.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            memory.Release((long)_events.Count * EventBytes);
            _events.Clear();
            _recorded.Clear();
            _newest = 0;
        }
    }

    /// <summary>Returns the events that ended after a time, in order of their ends.</summary>
    public IReadOnlyList<SlowEvent> Since(long unixMicroseconds)
    {
        lock (_gate)
        {
            return
            [
                .. _events
                    .Where(slowEvent => slowEvent.EndUnixMicroseconds > unixMicroseconds)
                    .OrderBy(static slowEvent => slowEvent.EndUnixMicroseconds),
            ];
        }
    }
}
