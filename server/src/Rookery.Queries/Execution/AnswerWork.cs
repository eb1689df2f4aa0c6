using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;

namespace Rookery.Queries.Execution;

/// <summary>
/// Tracks one answer's memory, its time, and the number of postings and sort keys that it has read. Not thread-safe.
/// </summary>
/// <param name="memory">The memory of the query.</param>
/// <param name="limits">Checked during the work; throws to end it.</param>
internal sealed class AnswerWork(QueryMemory memory, IWorkLimits limits) : IDisposable
{
    // Reading this many postings takes about as long as reading 1 MiB of JSON.
    private const long PostingsPerStep = 256 * 1024;

    private long _sinceStep;

    /// <summary>Buffers and clock for conditions that read text.</summary>
    public ScanWork Scan { get; } = new(limits);

    /// <summary>The memory that the answer holds.</summary>
    public ScanMemory Memory { get; } = new(memory);

    /// <summary>Number of postings decoded.</summary>
    public long PostingsRead { get; private set; }

    /// <summary>Number of field values read for <c>order by</c>.</summary>
    public long SortKeysRead { get; private set; }

    /// <summary>Counts a field value read for <c>order by</c>.</summary>
    public void CountSortKey() => SortKeysRead++;

    /// <summary>Counts decoded postings.</summary>
    public void CountPostings(long count) => PostingsRead += count;

    /// <summary>Counts entries read or about to be read, and checks the limits now and then.</summary>
    public void Step(long entries)
    {
        _sinceStep += entries;
        if (_sinceStep >= PostingsPerStep)
        {
            _sinceStep = 0;
            limits.CheckLimits();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Memory.Dispose();
        Scan.Release();
    }
}
