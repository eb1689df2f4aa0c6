using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Limits the memtables and run files that readers of older states keep alive (pin) although the newest state no longer
/// uses them. Checked after each flush and merge: beyond the limits, the readers of the oldest states are ended. Memory
/// of pinned memtables is taken from the block cache.
/// </summary>
internal sealed class ReaderPins(EngineContext context)
{
    // Readers may pin files of at most the free disk space divided by this.
    private const int FreeSpaceDivisor = 4;

    // The block cache keeps at least its configured size divided by this.
    private const int CacheFloorDivisor = 4;

    private long _ended;

    /// <summary>Number of states whose readers were ended since the engine was opened.</summary>
    public long Ended => Volatile.Read(ref _ended);

    /// <summary>Returns the bytes of memtables and files that readers pin.</summary>
    public (long MemoryBytes, long FileBytes) Measure()
    {
        var pins = new Pins(context.Published.Current);
        foreach (EngineState state in context.Published.Held())
        {
            pins.Add(state);
        }

        return (pins.MemoryBytes, pins.FileBytes);
    }

    /// <summary>
    /// Ends the readers of the oldest states until the limits are kept. Called on the background thread.
    /// </summary>
    public void EndExcessive()
    {
        IReadOnlyList<EngineState> states = context.Published.Held();
        var pins = new Pins(context.Published.Current);
        long keptMemory = 0;
        long? fileLimit = null;
        bool isOver = false;

        // Walks from the newest state to the oldest: the first that exceeds a limit is ended, and so are all older
        // ones.
        foreach (EngineState state in states.Reverse())
        {
            pins.Add(state);
            if (pins.FileBytes > 0)
            {
                fileLimit ??= ReadFileLimit();
            }

            isOver |= pins.MemoryBytes > context.Options.ReaderMemoryBytes || pins.FileBytes > fileLimit;
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
            context.Options.CacheBytes / CacheFloorDivisor
        );
    }

    private long ReadFileLimit()
    {
        try
        {
            return Math.Min(
                context.Options.ReaderFileBytes,
                context.Disk.SpaceOf(context.Options.Directory).FreeBytes / FreeSpaceDivisor
            );
        }
        catch (DiskException)
        {
            return 0; // without a known free space, readers may pin no files
        }
    }

    // Sums the memory and files that older states pin. Each is counted once, and not at all if the newest state uses
    // it.
    private sealed class Pins
    {
        private readonly HashSet<object> _counted = new(ReferenceEqualityComparer.Instance);

        public Pins(EngineState newest) => Add(newest, counts: false);

        public long MemoryBytes { get; private set; }

        public long FileBytes { get; private set; }

        public void Add(EngineState state) => Add(state, counts: true);

        private void Add(EngineState state, bool counts)
        {
            Memtable[] memtables = [state.Active, .. state.Frozen];
            foreach (Memtable memtable in memtables)
            {
                if (_counted.Add(memtable) && counts)
                {
                    MemoryBytes += memtable.Bytes;
                }
            }

            if (_counted.Add(state.Runs))
            {
                foreach (RunEntry file in state.Runs.Files())
                {
                    if (file.Reader is { } reader && _counted.Add(reader) && counts)
                    {
                        FileBytes += file.Summary.FileBytes;
                    }
                }
            }
        }
    }
}
