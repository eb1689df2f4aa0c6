using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;

namespace Rookery.Queries.Execution;

/// <summary>What one answer does and holds: its memory, its time, what it read. For one thread.</summary>
/// <param name="share">What it holds is drawn from here.</param>
/// <param name="clock">Is asked as the work goes on.</param>
internal sealed class AnswerWork(MemoryShare share, IScanClock clock) : IDisposable
{
    // About as long as walking over a MiB of JSON takes.
    private const long PostingsPerStep = 256 * 1024;

    private long _sinceStep;

    /// <summary>What conditions need while they look at texts.</summary>
    public ScanWork Scan { get; } = new(clock);

    /// <summary>What is held.</summary>
    public ScanMemory Memory { get; } = new(share);

    /// <summary>Postings that were decoded.</summary>
    public long PostingsRead { get; private set; }

    /// <summary>Keys of fields that were read for <c>order by</c>.</summary>
    public long SortKeysRead { get; private set; }

    /// <summary>Counts a key that was read for <c>order by</c>.</summary>
    public void CountSortKey() => SortKeysRead++;

    /// <summary>Counts postings that were decoded.</summary>
    public void CountPostings(long count) => PostingsRead += count;

    /// <summary>Counts entries that were or are about to be looked at, and asks the clock now and then.</summary>
    public void Step(long entries)
    {
        _sinceStep += entries;
        if (_sinceStep >= PostingsPerStep)
        {
            _sinceStep = 0;
            clock.OnWork();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Memory.Dispose();
        Scan.Release();
    }
}
