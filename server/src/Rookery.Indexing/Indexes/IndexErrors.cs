namespace Rookery.Indexing.Indexes;

/// <summary>An error of an index on one document.</summary>
/// <param name="Time">When the error happened.</param>
/// <param name="DocumentId">The id of the document; empty if the error concerns no single document.</param>
/// <param name="Action">The failed action: <c>Map</c>, <c>Reduce</c>, <c>Write</c> or <c>Open</c>.</param>
/// <param name="Message">The error in a sentence.</param>
public sealed record IndexError(DateTimeOffset Time, string DocumentId, string Action, string Message);

/// <summary>The most recent errors of an index, in memory. Thread-safe.</summary>
public sealed class IndexErrors
{
    /// <summary>Number of errors that are kept.</summary>
    public const int Capacity = 500;

    private readonly Queue<IndexError> _kept = new();
    private readonly Lock _gate = new();

    /// <summary>
    /// Number of errors since the index was opened or the errors were cleared, including those no longer kept.
    /// </summary>
    public long Count { get; private set; }

    /// <summary>Adds an error. If <see cref="Capacity"/> errors are kept, drops the oldest.</summary>
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

    /// <summary>Removes all errors and resets <see cref="Count"/>.</summary>
    public void Clear()
    {
        lock (_gate)
        {
            Count = 0;
            _kept.Clear();
        }
    }

    /// <summary>Returns the kept errors, oldest first.</summary>
    public IReadOnlyList<IndexError> List()
    {
        lock (_gate)
        {
            return [.. _kept];
        }
    }
}
