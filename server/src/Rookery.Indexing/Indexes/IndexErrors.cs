namespace Rookery.Indexing.Indexes;

/// <summary>A document that an index could not take.</summary>
/// <param name="Time">When.</param>
/// <param name="DocumentId">Which one; empty when it was none.</param>
/// <param name="Action">What was being done: <c>Map</c>, <c>Reduce</c>, <c>Write</c>, <c>Open</c>.</param>
/// <param name="Message">What is wrong, in a sentence.</param>
public sealed record IndexError(DateTimeOffset Time, string DocumentId, string Action, string Message);

/// <summary>The last errors of an index, in memory. Safe from any thread.</summary>
public sealed class IndexErrors
{
    /// <summary>How many are kept.</summary>
    public const int Capacity = 500;

    private readonly Queue<IndexError> _kept = new();
    private readonly Lock _gate = new();

    /// <summary>How many there were since the index was built.</summary>
    public long Count { get; private set; }

    /// <summary>Adds an error, in the place of the oldest where <see cref="Capacity"/> are kept.</summary>
    public void Add(IndexError error)
    {
        lock (_gate)
        {
            Count++;
            if (_kept.Count == Capacity)
            {
                _kept.Dequeue();
            }

            _kept.Enqueue(error);
        }
    }

    /// <summary>Forgets all errors.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            Count = 0;
            _kept.Clear();
        }
    }

    /// <summary>Those that are kept, the oldest first.</summary>
    public IReadOnlyList<IndexError> List()
    {
        lock (_gate)
        {
            return [.. _kept];
        }
    }
}
