using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// What readers of older states keep from being given back: memtables that were flushed, and runs that no manifest
/// names any more. Measured when a flush or a merge gives something up; the readers of the oldest states are ended
/// beyond the bounds. While readers keep memtables, blocks have that much less room.
/// </summary>
internal sealed class ReaderPins(EngineContext context)
{
    // What readers keep is missing from the disk: of what is free they may keep a part.
    private const int FreePart = 4;

    private const int LeastCachePart = 4;

    private long _ended;

    /// <summary>States whose readers were ended since the engine was opened.</summary>
    public long Ended => Volatile.Read(ref _ended);

    /// <summary>Bytes that readers keep now, of memtables and of files.</summary>
    public (long MemoryBytes, long FileBytes) Measure()
    {
        var pins = new Pins(context.Published.Current);
        foreach (EngineState held in context.Published.Held())
        {
            pins.Add(held);
        }

        return (pins.MemoryBytes, pins.FileBytes);
    }

    /// <summary>Ends the readers of the oldest states beyond the bounds. On the background thread.</summary>
    public void Bound()
    {
        IReadOnlyList<EngineState> held = context.Published.Held();
        var pins = new Pins(context.Published.Current);
        long keptMemory = 0;
        long? fileBound = null;
        bool isOver = false;
        foreach (EngineState state in held.Reverse())
        {
            pins.Add(state);
            isOver |=
                pins.MemoryBytes > context.Options.ReaderMemoryBytes
                || (pins.FileBytes > 0 && pins.FileBytes > (fileBound ??= FileBound()));
            if (!isOver)
            {
                keptMemory = pins.MemoryBytes;
            }
            else if (state.End())
            {
                Volatile.Write(ref _ended, _ended + 1);
            }
        }

        context.Cache.CapacityBytes = Math.Max(
            context.Options.CacheBytes - keptMemory,
            context.Options.CacheBytes / LeastCachePart
        );
    }

    private long FileBound()
    {
        try
        {
            return Math.Min(
                context.Options.ReaderFileBytes,
                context.Disk.SpaceOf(context.Options.Directory).FreeBytes / FreePart
            );
        }
        catch (DiskException)
        {
            return 0;
        }
    }

    // What a state holds beyond the newest one, and beyond those that were added before.
    private sealed class Pins
    {
        private readonly HashSet<object> _counted = new(ReferenceEqualityComparer.Instance);

        public Pins(EngineState newest) => Add(newest, counts: false);

        public long MemoryBytes { get; private set; }

        public long FileBytes { get; private set; }

        public void Add(EngineState state) => Add(state, counts: true);

        private void Add(EngineState state, bool counts)
        {
            foreach (Memtable memtable in (Memtable[])[state.Active, .. state.Frozen])
            {
                MemoryBytes += _counted.Add(memtable) && counts ? memtable.Bytes : 0;
            }

            if (_counted.Add(state.Runs))
            {
                foreach (RunEntry file in state.Runs.Files())
                {
                    FileBytes +=
                        file.Reader is { } reader && _counted.Add(reader) && counts ? file.Summary.FileBytes : 0;
                }
            }
        }
    }
}
