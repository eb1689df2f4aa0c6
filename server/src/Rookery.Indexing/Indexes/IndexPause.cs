namespace Rookery.Indexing.Indexes;

/// <summary>
/// Whether one index is paused on this node. An index follows its database until it is paused or resumed alone.
/// Thread-safe.
/// </summary>
/// <param name="database">The pause of all indexes of the database.</param>
internal sealed class IndexPause(DatabasePause database)
{
    private volatile Own _own;

    private enum Own
    {
        None,
        Paused,
        Running,
    }

    /// <summary>Whether the index is paused, alone or with its database.</summary>
    public bool IsPaused => _own is not Own.None and var own ? own == Own.Paused : database.IsPaused;

    /// <summary>Pauses or resumes this index alone; null makes it follow its database again.</summary>
    public void Set(bool? isPaused) =>
        _own = isPaused switch
        {
            null => Own.None,
            true => Own.Paused,
            false => Own.Running,
        };

    /// <summary>Takes over what was set for an index that this one replaces.</summary>
    public void TakeOver(IndexPause replaced) => _own = replaced._own;
}
