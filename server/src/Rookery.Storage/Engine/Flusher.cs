using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>Writes a frozen memtable into one sorted run per group, then writes the manifest.</summary>
internal sealed unsafe class Flusher(EngineContext context)
{
    /// <summary>Flushes the oldest frozen memtable, if there is one. Returns whether there was one.</summary>
    /// <exception cref="DiskException">Nothing changed; the flush can be retried.</exception>
    public bool FlushOldest()
    {
        Memtable[] frozen = context.Published.Current.Frozen;
        if (frozen.Length == 0)
        {
            return false;
        }

        context.Durable.SettleDoubt(context);
        Memtable memtable = frozen[^1];
        Deletions deletions = context.Durable.Deletions.With(memtable.RangeTombstones);
        SortedRun[]?[] runs = context.Published.Current.Runs.ToArrays();
        using var output = new FlushOutput(context, memtable, deletions.Ranges);
        foreach (byte group in context.Sources.Tables.Groups)
        {
            if (output.Write(group) is { } added)
            {
                runs[group] = [added, .. runs[group] ?? []];
            }
        }

        CountReleased(memtable, runs);
        deletions = CoveredRuns.Drop(runs, deletions.Forget(output.DroppedThrough));
        var next = new RunSet(runs);
        try
        {
            output.HandOver();
            context.Durable.Install(context, next, memtable.Position, deletions, memtable);
        }
        finally
        {
            next.Release();
        }

        context.Counters.Flushes++;
        context.Counters.FlushedBytes += output.Bytes;
        return true;
    }

    // Adds the values that this memtable releases to the dead bytes of their chunk files.
    private void CountReleased(Memtable memtable, SortedRun[]?[] runs)
    {
        var dead = new DeadChunks(context.Options.ChunkBytes, runs[TableMap.Chunks] ?? []);
        foreach (SkipList list in memtable.Lists.Where(list => (byte)list.Keyspace == TableMap.Released))
        {
            for (MemtableNode* node = list.First; node is not null; node = MemtableNode.Next(node, level: 0))
            {
                if (node->Batch <= memtable.LastBatch)
                {
                    dead.Add(MemtableNode.Key(node), MemtableNode.Value(node));
                }
            }
        }

        dead.AddToRuns();
    }
}

/// <summary>The files of one flush, of all groups; they are kept or deleted together.</summary>
internal sealed unsafe class FlushOutput(EngineContext context, Memtable memtable, RangeTombstoneSet rangeTombstones)
    : IDisposable
{
    private readonly List<RunOutput> _outputs = [];

    /// <summary>Bytes written.</summary>
    public long Bytes => _outputs.Sum(output => output.Bytes);

    /// <summary>The highest sequence of a dropped tombstone.</summary>
    public long DroppedThrough { get; private set; }

    /// <summary>Writes the rows of one group; returns null if there are none.</summary>
    public SortedRun? Write(byte group)
    {
        RunSet runs = context.Published.Current.Runs;
        using var dropping = new RowDropping(
            context,
            group,
            memtable,
            runs,
            memtable.Position,
            rangeTombstones,
            runs.Of(group)
        );
        var output = new RunOutput(context, group, IoKind.RunWrite, rangeTombstones);
        _outputs.Add(output);
        foreach (SkipList list in memtable.Lists)
        {
            if (context.Sources.Tables.GroupOf((byte)list.Keyspace) == group)
            {
                Write(list, dropping, output);
            }
        }

        DroppedThrough = Math.Max(DroppedThrough, dropping.DroppedThrough);
        IReadOnlyList<RunEntry> files = output.Finish();
        return files.Count == 0 ? null : new SortedRun(files);
    }

    /// <summary>Marks the files as possibly named by a manifest, so that they are not deleted.</summary>
    public void HandOver() => _outputs.ForEach(output => output.HandOver());

    public void Dispose() => _outputs.ForEach(output => output.Dispose());

    private void Write(SkipList list, RowDropping dropping, RunOutput output)
    {
        // Skips batches after the memtable's last one, and older versions of a key, which follow its newest one.
        MemtableNode* written = null;
        for (MemtableNode* node = list.First; node is not null; node = MemtableNode.Next(node, level: 0))
        {
            if (
                node->Batch > memtable.LastBatch
                || (written is not null && MemtableNode.Key(written).SequenceEqual(MemtableNode.Key(node)))
            )
            {
                continue;
            }

            written = node;
            if (!dropping.MayDrop(MemtableNode.Key(node), node->Sequence, node->Kind, MemtableNode.Value(node)))
            {
                output.Add(MemtableNode.Key(node), node->Sequence, node->Kind, MemtableNode.Value(node));
            }
        }
    }
}
