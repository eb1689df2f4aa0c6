using System.Runtime.CompilerServices;
using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Tests;

/// <summary>The states of the engine that readers hold, while newer ones replace them.</summary>
public sealed class PublishedStateTests
{
    [Fact]
    public void States_later_than_a_pinned_one_are_removed_once_their_own_readers_are_gone()
    {
        var tables = new TableMap([]);
        var pool = new ArenaPool(new MemoryBudget(1 << 20).AddShare("memtable", limitBytes: 1 << 20));
        var memtable = new Memtable(pool, tables);
        var runs = new RunSet(new SortedRun[]?[RunSet.GroupLimit]);
        var sources = new StorageSources(tables, new DamageRegistry(static _ => { }));
        var time = new SimulatedTimeProvider();
        EngineState CreateState() => new(sources, memtable, [], runs, RangeTombstoneSet.Empty, default);

        var published = new PublishedState(CreateState(), time);
        EngineState kept = published.Acquire();
        published.Replace(CreateState());
        time.Advance(TimeSpan.FromSeconds(1));
        List<WeakReference> laterStates =
        [
            .. Enumerable.Range(0, 2000).Select(_ => ReadAndReplace(published, CreateState)),
        ];
        GC.Collect();
        // The queue is cleaned when its length has doubled, so some of the 2000 are left.
        Assert.InRange(laterStates.Count(static state => state.IsAlive), 0, 200);
        Assert.Equal(TimeSpan.FromSeconds(1), published.OldestReaderAge);
        kept.Release();
        Assert.Equal(TimeSpan.Zero, published.OldestReaderAge);
    }

    // Not inlined, so that no local of the test keeps the state alive.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference ReadAndReplace(PublishedState published, Func<EngineState> createState)
    {
        EngineState read = published.Acquire();
        published.Replace(createState());
        read.Release();
        return new WeakReference(read);
    }
}
