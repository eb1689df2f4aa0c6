using Rookery.Storage.State;

namespace Rookery.Storage.Engine;

/// <summary>Collects the statistics of an engine.</summary>
internal static class EngineStatistics
{
    /// <summary>Returns all statistics of one moment.</summary>
    public static StorageStatistics Of(EngineContext context, BackgroundMerges merges, string? health)
    {
        var (readerMemoryBytes, readerFileBytes) = context.Readers.Measure();
        EngineState state = context.Published.Acquire();
        try
        {
            return new StorageStatistics
            {
                Groups =
                [
                    .. context
                        .Sources.Tables.Groups.Where(group => !state.Runs.Of(group).IsEmpty)
                        .Select(group => Of(group, state)),
                ],
                MemtableBytes = state.Active.Bytes,
                FrozenBytes = state.Frozen.Sum(memtable => memtable.Bytes),
                Flushes = context.Counters.Flushes,
                FlushedBytes = context.Counters.FlushedBytes,
                Compactions = context.Counters.Compactions,
                CompactedBytes = context.Counters.CompactedBytes,
                LinkedFiles = context.Counters.LinkedFiles,
                ManifestBytes = context.Durable.WrittenBytes,
                Failures = context.Counters.Failures,
                OldestReaderAge = context.Published.OldestReaderAge,
                ReaderMemoryBytes = readerMemoryBytes,
                ReaderFileBytes = readerFileBytes,
                EndedReads = context.Readers.Ended,
                PendingCompactionBytes = merges.PendingBytes(state.Runs),
                RangeTombstones = state.RangeTombstones.Pieces.Count,
                Damage = context.Sources.Damage.Events,
                Health = health,
            };
        }
        finally
        {
            state.Release();
        }
    }

    private static GroupStatistics Of(byte group, EngineState state)
    {
        SortedRun[] runs = state.Runs.Of(group).ToArray();
        return new GroupStatistics(
            group,
            state.Sources.Tables.NamesOf(group),
            runs.Length,
            runs.Sum(run => run.Files.Length),
            runs.Sum(run => run.Bytes),
            runs.Sum(run => run.Rows)
        );
    }
}
