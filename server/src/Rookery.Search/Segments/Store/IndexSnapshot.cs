using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// A snapshot of an index. Its files are kept until it is disposed, even if they are merged meanwhile. Thread-safe.
/// </summary>
public sealed class IndexSnapshot : IDisposable
{
    private readonly IReadOnlyList<SegmentHandle> _handles;
    private int _isDisposed;

    internal IndexSnapshot(long watermark, IReadOnlyList<SegmentHandle> handles, IReadOnlyList<LiveSegment> segments)
    {
        (Watermark, _handles, Segments) = (watermark, handles, segments);
        foreach (var handle in handles)
        {
            handle.Hold();
        }
    }

    /// <summary>The etag through which documents are indexed.</summary>
    public long Watermark { get; }

    /// <summary>The segments, oldest first.</summary>
    public IReadOnlyList<LiveSegment> Segments { get; }

    /// <summary>Returns another snapshot of the same state. This one must not be disposed during the call.</summary>
    public IndexSnapshot Share() => new(Watermark, _handles, Segments);

    /// <summary>Releases the segments.</summary>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) == 0)
        {
            foreach (var handle in _handles)
            {
                handle.Release();
            }
        }
    }
}

/// <summary>A segment with its live entries.</summary>
/// <param name="Reader">The segment.</param>
/// <param name="Live">Its live entries.</param>
public readonly record struct LiveSegment(SegmentReader Reader, LiveEntries Live);
