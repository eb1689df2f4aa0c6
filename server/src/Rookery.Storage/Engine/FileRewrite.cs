using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>Rewrites one file without its dead rows: chunks of released values and rows in deleted ranges.</summary>
/// <param name="context">The engine.</param>
/// <param name="emptyMemtable">A memtable without rows: a rewrite reads runs only.</param>
internal sealed class FileRewrite(EngineContext context, Memtable emptyMemtable)
{
    private const int SampledRows = 256;

    // With more range tombstones than this, a file is rewritten even if tombstones cover little of it: each tombstone
    // costs space in the manifest and time in every read.
    private const int RangeTombstoneLimit = 64;

    /// <summary>Returns a chunk file of which more than half is dead; null if there is none.</summary>
    public static RunEntry? FindDead(EngineContext context, RunSet runs)
    {
        foreach (SortedRun run in runs.Of(TableMap.Chunks))
        {
            foreach (RunEntry file in run.Files)
            {
                if (file.IsReadable && file.DeadBytes * 2 > file.Summary.LogicalBytes && !IsKnownDamaged(context, file))
                {
                    return file;
                }
            }
        }

        return null;
    }

    /// <summary>
    /// Returns a file of which deleted ranges cover at least a quarter, or any part while there are many deleted
    /// ranges; null if there is none.
    /// </summary>
    public static (byte Group, RunEntry File)? FindCovered(EngineContext context, RunSet runs)
    {
        RangeTombstoneSet tombstones = context.Durable.Deletions.Ranges;
        if (tombstones.IsEmpty)
        {
            return null;
        }

        foreach (byte group in context.Sources.Tables.Groups)
        {
            foreach (SortedRun run in runs.Of(group))
            {
                foreach (RunEntry file in run.Files)
                {
                    if (file.IsReadable && IsWorthRewriting(file, tombstones) && !IsKnownDamaged(context, file))
                    {
                        return (group, file);
                    }
                }
            }
        }

        return null;
    }

    /// <summary>
    /// Returns whether more than half of a sample of the file's rows is stale according to the filter.
    /// </summary>
    public static bool IsMostlyStale(EngineContext context, Memtable emptyMemtable, byte group, RunEntry file)
    {
        if (
            context.Options.Filter is not { } filter
            || !context.Sources.Tables.TablesOf(group).Any(filter.Concerns)
            || !file.IsReadable
        )
        {
            return false;
        }

        var settled = new EngineState(
            context.Sources,
            emptyMemtable,
            [],
            context.Published.Current.Runs,
            context.Durable.Deletions.Ranges,
            context.Durable.Manifest.Position
        );
        try
        {
            using RunCursor rows = file.Reader.OpenCursor();
            return IsMostlyStale(rows, filter, new Snapshot(settled));
        }
        catch (DamagedException)
        {
            return false; // a row that the filter needs is damaged, which is registered: the file stays unchanged
        }
        finally
        {
            settled.Release();
        }
    }

    /// <summary>
    /// Rewrites the file and replaces it by the new one. Returns true even if it could not: the step was executed.
    /// </summary>
    public bool Execute(byte group, RunEntry file)
    {
        context.Durable.SettleDoubt(context);
        ReadOnlySpan<SortedRun> runs = context.Published.Current.Runs.Of(group);
        using var merge = new RunMerge(
            context,
            emptyMemtable,
            group,
            [new SortedRun([file])],
            runs[(PlaceOf(file, runs) + 1)..],
            // A store that retains tombstones drops here only those that no reader of changes can use any more. Merges
            // decide about the others, because only merges compare all files of the group.
            context.RetainedTombstones == 0
                ? long.MaxValue
                : context.Durable.Deletions.DroppedThrough
        );
        if (!merge.Run([]))
        {
            return true; // the file is damaged, which is registered
        }

        SortedRun[]?[] changed = context.Published.Current.Runs.ToArrays();
        SortedRun[] ofGroup = changed[group] ?? [];
        int place = PlaceOf(file, ofGroup);
        if (place == ofGroup.Length)
        {
            return true; // a flush changed the file's entry meanwhile: a later step picks the file again
        }

        RunEntry[] newFiles = [.. merge.Files, .. merge.RemainingInputs().SelectMany(run => run.Files)];
        SortedRun replaced = ofGroup[place].Replace(file, newFiles);
        SortedRun[] replacements = replaced.Files.Length > 0 ? [replaced] : [];
        changed[group] = [.. ofGroup[..place], .. replacements, .. ofGroup[(place + 1)..]];
        merge.Install(changed);
        context.Counters.Compactions++;
        context.Counters.CompactedBytes += merge.Bytes;
        return true;
    }

    private static bool IsMostlyStale(RunCursor rows, IMergeFilter filter, in Snapshot settled)
    {
        int sampled = 0;
        int stale = 0;
        bool hasRow = rows.SeekForward([]);
        while (hasRow && sampled < SampledRows)
        {
            bool isStale =
                rows.Kind == RowKind.Put
                && filter.Concerns(rows.Key[MemtableNode.KeyspaceBytes - 1])
                && filter.IsStale(rows.Key, rows.Sequence, rows.Value, settled);
            stale += isStale ? 1 : 0;
            sampled++;
            hasRow = rows.Move();
        }

        return stale * 2 > sampled;
    }

    private static int PlaceOf(RunEntry file, ReadOnlySpan<SortedRun> runs)
    {
        int place = 0;
        while (place < runs.Length && !runs[place].Files.Any(entry => ReferenceEquals(entry, file)))
        {
            place++;
        }

        return place;
    }

    private static bool IsWorthRewriting(RunEntry file, RangeTombstoneSet tombstones)
    {
        long covered = 0;
        bool isTouched = false;
        foreach (RangeTombstone piece in tombstones.Pieces)
        {
            if (CoveredRuns.MayHide(piece, file))
            {
                isTouched = true;
                covered += BytesWithin(file.Reader!.Index, piece);
            }
        }

        return isTouched && (covered * 4 >= file.Summary.FileBytes || tombstones.Pieces.Count > RangeTombstoneLimit);
    }

    // Counts whole blocks, so the result is slightly more than the covered bytes.
    private static long BytesWithin(RunIndex index, in RangeTombstone piece)
    {
        int first = Math.Max(0, index.BlockOf(piece.From.Span));
        int last = index.BlockOf(piece.ToExclusive.Span);
        return last < first ? 0 : index.Offset(last + 1) - index.Offset(first);
    }

    private static bool IsKnownDamaged(EngineContext context, RunEntry file) =>
        context.Sources.Damage.Events.Any(damage =>
            string.Equals(damage.File, file.Reader!.Path, StringComparison.Ordinal)
        );
}
