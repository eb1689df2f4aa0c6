using System.Numerics;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// A segment to merge, with its live entries at the start of the merge. Maps their numbers to those in the new segment.
/// </summary>
internal sealed class MergeSource
{
    private const int WordBits = 64;
    private readonly int[] _deadBefore;

    /// <summary>
    /// Creates a source, and holds the segment's handle. The caller calls <see cref="SegmentHandle.Release"/> after the
    /// merge.
    /// </summary>
    /// <param name="segment">The segment.</param>
    /// <param name="firstEntry">The number of its first live entry in the new segment.</param>
    public MergeSource(HeldSegment segment, int firstEntry)
    {
        (Segment, FirstEntry) = (segment, firstEntry);
        segment.Handle.Hold();
        Reader = segment.Handle.Reader.Uncached(out _);
        var words = segment.Live.DeadWords;
        _deadBefore = new int[words.Length];
        int dead = 0;
        for (int i = 0; i < words.Length; i++)
        {
            _deadBefore[i] = dead;
            dead += BitOperations.PopCount(words[i]);
        }
    }

    /// <summary>The segment with its live entries at the start of the merge.</summary>
    public HeldSegment Segment { get; }

    /// <summary>Reads the segment without evicting pages from the cache.</summary>
    public SegmentReader Reader { get; }

    /// <summary>The number of its first live entry in the new segment.</summary>
    public int FirstEntry { get; }

    /// <summary>Returns whether an entry was live at the start of the merge.</summary>
    public bool IsLive(int entry) => Segment.Live.IsLive(entry);

    /// <summary>Returns the number of a live entry in the new segment.</summary>
    public int NewEntryOf(int entry)
    {
        if (_deadBefore.Length == 0)
        {
            return FirstEntry + entry;
        }

        int word = entry / WordBits;
        int dead =
            _deadBefore[word]
            + BitOperations.PopCount(Segment.Live.DeadWords[word] & ((1UL << (entry % WordBits)) - 1));
        return FirstEntry + entry - dead;
    }
}
