using System.Numerics;
using Rookery.Search.Segments.Reading;

namespace Rookery.Search.Segments.Store;

/// <summary>A segment that is merged, as it was when the merge began: where its live entries come to stand.</summary>
internal sealed class MergeSource
{
    private const int WordBits = 64;
    private readonly int[] _deadBefore;

    /// <summary>Holds the segment until <see cref="SegmentHandle.Release"/>.</summary>
    /// <param name="segment">The segment.</param>
    /// <param name="firstEntry">Where its first live entry comes to stand.</param>
    public MergeSource(HeldSegment segment, int firstEntry)
    {
        (Segment, FirstEntry) = (segment, firstEntry);
        segment.Handle.Hold();
        Reader = segment.Handle.Reader.Passing(out _);
        var words = segment.Live.DeadWords;
        _deadBefore = new int[words.Length];
        int dead = 0;
        for (int i = 0; i < words.Length; i++)
        {
            _deadBefore[i] = dead;
            dead += BitOperations.PopCount(words[i]);
        }
    }

    /// <summary>The segment and what was live of it.</summary>
    public HeldSegment Segment { get; }

    /// <summary>Reads it without pushing others' pages out of memory.</summary>
    public SegmentReader Reader { get; }

    /// <summary>Where its first live entry comes to stand.</summary>
    public int FirstEntry { get; }

    /// <summary>Whether an entry was live.</summary>
    public bool IsLive(int entry) => Segment.Live.IsLive(entry);

    /// <summary>Where a live entry comes to stand.</summary>
    public int Place(int entry)
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
