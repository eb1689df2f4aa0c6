using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>
/// Limits the memtables and run files that readers of older states keep alive (pin) although the newest state no longer
/// uses them. Checked after each flush and merge: beyond the limits, the readers of the oldest states are ended, those
/// of background work before those of clients. Memory of pinned memtables is taken from the block cache.
/// </summary>
internal sealed class ReaderPins(EngineContext context)
{
    // Readers may pin files of at most the free disk space divided by this.
    private const int FreeSpaceDivisor = 4;

    // The block cache keeps at least its configured size divided by this.
    private const int CacheFloorDivisor = 4;

    private long _ended;

    /// <summary>Number of states whose clients' readers were ended since the engine was opened.</summary>
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
        IReadOnlyList<EngineState> newestFirst = [.. context.Published.Held().Reverse()];
        var pins = new Pins(context.Published.Current);
        long? fileLimit = null;

        // Clients' readers are counted first, so background work never causes a client's reader to be ended.
        End(newestFirst.Where(static state => state.HasClients), EndClients);
        End(newestFirst.Where(static state => state.HasBackgroundReaders), static state => state.EndInBackground());
        long keptMemory = pins.MemoryBytes;

        // Walks from the newest state to the oldest. Ends the first state that exceeds a limit, and all older states.
        void End(IEnumerable<EngineState> states, Action<EngineState> end)
        {
            bool isOver = false;
            foreach (EngineState state in states)
            {
                isOver = isOver || !pins.TryAdd(state, IsWithin);
                if (isOver)
                {
                    end(state);
                }
            }
        }

        void EndClients(EngineState state)
        {
            if (state.End())
            {
                Volatile.Write(ref _ended, _ended + 1);
            }
        }

        bool IsWithin(Pins kept) =>
            kept.MemoryBytes <= context.Options.ReaderMemoryBytes
            && (kept.FileBytes == 0 || kept.FileBytes <= (fileLimit ??= ReadFileLimit()));

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

        public Pins(EngineState newest) => Add(newest, [], counts: false);

        public long MemoryBytes { get; private set; }

        public long FileBytes { get; private set; }

        public void Add(EngineState state) => Add(state, [], counts: true);

        /// <summary>Adds a state unless the sums then exceed the limits.</summary>
        /// <returns>Whether the state was added.</returns>
        public bool TryAdd(EngineState state, Func<Pins, bool> isWithin)
        {
            var (memory, files) = (MemoryBytes, FileBytes);
            List<object> added = [];
            Add(state, added, counts: true);
            if (isWithin(this))
            {
                return true;
            }

            added.ForEach(part => _counted.Remove(part));
            (MemoryBytes, FileBytes) = (memory, files);
            return false;
        }

        private void Add(EngineState state, List<object> added, bool counts)
        {
            foreach (Memtable memtable in (Memtable[])[state.Active, .. state.Frozen])
            {
                if (IsNew(memtable) && counts)
                {
                    MemoryBytes += memtable.Bytes;
                }
            }

            if (IsNew(state.Runs))
            {
                foreach (RunEntry file in state.Runs.Files())
                {
                    if (file.Reader is { } reader && IsNew(reader) && counts)
                    {
                        FileBytes += file.Summary.FileBytes;
                    }
                }
            }

            bool IsNew(object part)
            {
                if (!_counted.Add(part))
                {
                    return false;
                }

                added.Add(part);
                return true;
            }
        }
    }
}
