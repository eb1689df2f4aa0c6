using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// An open segment of a store, which its file outlives nobody: it is closed, and deleted when a merge took its place,
/// once the last who reads it has let go. Thread-safe.
/// </summary>
internal sealed class SegmentHandle
{
    private readonly IDisk _disk;
    private readonly string _path;
    private int _holders = 1;
    private bool _isSuperseded;

    /// <summary>Held once, by the store.</summary>
    public SegmentHandle(IDisk disk, string path, SegmentSummary summary, SegmentReader reader)
    {
        (_disk, _path, Summary, Reader) = (disk, path, summary, reader);
        var ids = reader.Ids();
        Documents = ids.Count;
        if (ids.MoveNext())
        {
            FirstId = ids.Key.ToArray();
            ids.SeekOrdinal(ids.Count - 1);
            LastId = ids.Key.ToArray();
        }
    }

    /// <summary>What the manifest says of it.</summary>
    public SegmentSummary Summary { get; }

    /// <summary>The segment.</summary>
    public SegmentReader Reader { get; }

    /// <summary>Its documents, dead ones included.</summary>
    public long Documents { get; }

    /// <summary>Its lowest id.</summary>
    public byte[] FirstId { get; } = [];

    /// <summary>Its highest id.</summary>
    public byte[] LastId { get; } = [];

    /// <summary>Keeps it open until <see cref="Release"/>.</summary>
    public void Hold() => Interlocked.Increment(ref _holders);

    /// <summary>Undoes one <see cref="Hold"/>.</summary>
    public void Release()
    {
        if (Interlocked.Decrement(ref _holders) > 0)
        {
            return;
        }

        Reader.Dispose();
        if (_isSuperseded)
        {
            Delete();
        }
    }

    /// <summary>The store has no need of it any more: its file goes with the last holder.</summary>
    public void Supersede()
    {
        _isSuperseded = true;
        Release();
    }

    // What cannot be deleted now is deleted when the index is opened again.
    private void Delete()
    {
        try
        {
            _disk.Delete(_path);
        }
        catch (DiskException) { }
    }
}
