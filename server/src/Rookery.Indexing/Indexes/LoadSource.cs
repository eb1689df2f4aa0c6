using Rookery.Documents.Databases;

namespace Rookery.Indexing.Indexes;

/// <summary>Makes the maps of indexes load documents from one snapshot until it is disposed.</summary>
internal readonly ref struct LoadSource : IDisposable
{
    private readonly List<RunningIndex> _indexes;

    /// <summary>Sets the snapshot.</summary>
    /// <param name="indexes">The indexes.</param>
    /// <param name="reader">Reads the snapshot that their maps load from.</param>
    public LoadSource(List<RunningIndex> indexes, in DatabaseReader reader)
    {
        _indexes = indexes;
        Set(reader);
    }

    /// <inheritdoc/>
    public void Dispose() => Set(null);

    private void Set(DatabaseReader? reader)
    {
        foreach (var index in _indexes)
        {
            index.LoadFrom(reader);
        }
    }
}
