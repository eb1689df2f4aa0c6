using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// What an index holds at one moment. Its files stay until it is disposed, whatever is merged meanwhile. Any number of
/// threads may read it.
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

    /// <summary>The etag through which it follows the documents.</summary>
    public long Watermark { get; }

    /// <summary>Its segments, the older first. An entry that is live stands in one of them.</summary>
    public IReadOnlyList<LiveSegment> Segments { get; }

    /// <summary>Lets go of it.</summary>
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

/// <summary>A segment, and which of its entries count.</summary>
/// <param name="Reader">The segment.</param>
/// <param name="Live">Its live entries.</param>
public readonly record struct LiveSegment(SegmentReader Reader, LiveEntries Live);
