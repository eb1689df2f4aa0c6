namespace Rookery.Indexing.Indexes;

/// <summary>
/// Whether all indexes of a database are paused on this node, those included that are opened later. Thread-safe.
/// </summary>
internal sealed class DatabasePause
{
    private bool _isPaused;

    /// <summary>Whether the indexes of the database are paused, except those that were resumed alone since.</summary>
    public bool IsPaused
    {
        get => Volatile.Read(ref _isPaused);
        set => Volatile.Write(ref _isPaused, value);
    }
}
