using Rookery.Platform;
using Rookery.Search.Segments.Format;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// A reference-counted open segment of a store. When the last holder releases it, the file is closed, and deleted if it
/// was superseded. Thread-safe.
/// </summary>
internal sealed class SegmentHandle
{
    private readonly IDisk _disk;
    private readonly string _path;
    private int _holders = 1;
    private bool _isSuperseded;

    /// <summary>Creates a handle with one holder, the store.</summary>
    public SegmentHandle(IDisk disk, string path, SegmentSummary summary, SegmentReader reader)
    {
        _disk = disk;
        _path = path;
        Summary = summary;
        Reader = reader;
        var ids = reader.Ids();
        Documents = ids.Count;
        if (ids.MoveNext())
        {
            FirstId = ids.Key.ToArray();
            ids.SeekOrdinal(ids.Count - 1);
            LastId = ids.Key.ToArray();
        }
    }

    /// <summary>The part of the segment's record in the manifest that never changes.</summary>
    public SegmentSummary Summary { get; }

    /// <summary>The segment.</summary>
    public SegmentReader Reader { get; }

    /// <summary>Number of documents, including dead ones.</summary>
    public long Documents { get; }

    /// <summary>The lowest document id; empty if there are no documents.</summary>
    public byte[] FirstId { get; } = [];

    /// <summary>The highest document id; empty if there are no documents.</summary>
    public byte[] LastId { get; } = [];

    /// <summary>Adds a holder, which keeps the segment open until <see cref="Release"/>.</summary>
    public void Hold() => Interlocked.Increment(ref _holders);

    /// <summary>Removes a holder.</summary>
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

    /// <summary>Removes the store as a holder. The file is deleted when the last holder releases it.</summary>
    public void Supersede()
    {
        _isSuperseded = true;
        Release();
    }

    // A file that cannot be deleted now is deleted when the index is opened again.
    private void Delete()
    {
        try
        {
            _disk.Delete(_path);
        }
        catch (DiskException) { }
    }
}
