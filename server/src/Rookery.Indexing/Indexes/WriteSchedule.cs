namespace Rookery.Indexing.Indexes;

/// <summary>When the buffered entries of an index are to be written. Used by the indexing thread.</summary>
/// <param name="time">The clock.</param>
internal sealed class WriteSchedule(TimeProvider time)
{
    private long _changedAt;
    private long _advancedAt;
    private long? _failedAt;
    private bool _hasChanges; // whether there are changes that queries do not see yet

    /// <summary>Whether the last write failed. It is tried again later.</summary>
    public bool IsBlocked => _failedAt is not null;

    /// <summary>Records that an entry changed. Cheap: called for each document.</summary>
    public void RecordChange()
    {
        if (!_hasChanges)
        {
            _hasChanges = true;
            _changedAt = time.GetTimestamp();
        }
    }

    /// <summary>Records that the index was fed.</summary>
    public void RecordAdvance() => _advancedAt = time.GetTimestamp();

    /// <summary>Records that a write failed.</summary>
    public void RecordFailure() => _failedAt = time.GetTimestamp();

    /// <summary>Records that a write succeeded.</summary>
    public void RecordWrite() => _failedAt = null;

    /// <summary>Records that queries see all changes.</summary>
    public void RecordVisible() => _hasChanges = false;

    /// <summary>Returns whether the failed write is to be tried again.</summary>
    public bool IsRetryDue(TimeSpan age) => _failedAt is { } failedAt && time.GetElapsedTime(failedAt) >= age;

    /// <summary>Returns whether buffered entries are due because of their age.</summary>
    /// <param name="age">The age from which they are due.</param>
    /// <param name="mayBecomeVisible">Whether queries see the entries once they are written. Otherwise the entries are
    /// due only if the pass makes no progress, because the index does not run or the next document is damaged.</param>
    public bool IsAgeDue(TimeSpan age, bool mayBecomeVisible) =>
        time.GetElapsedTime(mayBecomeVisible ? _changedAt : _advancedAt) >= age;
}
