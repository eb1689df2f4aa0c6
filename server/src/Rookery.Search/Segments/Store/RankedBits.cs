using System.Numerics;
using Rookery.Platform;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// A growing row of bits; once it is frozen, it tells at once how many ones stand before a place and where one stands:
/// 12 bytes for 64 bits, charged to a share.
/// </summary>
internal sealed class RankedBits(MemoryShare share) : IDisposable
{
    private const int WordBits = 64;

    private ulong[] _words = [];
    private int[] _before = [];
    private long _reservedBytes;

    /// <summary>Sets a bit; no other is set above it yet when bits are set in order, but they need not be.</summary>
    public void Set(long place)
    {
        int word = (int)(place / WordBits);
        if (word >= _words.Length)
        {
            Array.Resize(ref _words, Math.Max(word + 1, Math.Max(64, 2 * _words.Length)));
            Charge();
        }

        _words[word] |= 1UL << (int)(place % WordBits);
    }

    /// <summary>Whether a bit is set.</summary>
    public bool this[long place] =>
        place / WordBits < _words.Length && (_words[place / WordBits] & (1UL << (int)(place % WordBits))) != 0;

    /// <summary>No more bits are set.</summary>
    public void Freeze()
    {
        _before = new int[_words.Length];
        Charge();
        int ones = 0;
        for (int i = 0; i < _words.Length; i++)
        {
            _before[i] = ones;
            ones += BitOperations.PopCount(_words[i]);
        }
    }

    /// <summary>How many ones stand before a place.</summary>
    public int Rank(long place)
    {
        int word = (int)(place / WordBits);
        Invariant.Holds(word < _before.Length, "a rank is asked for within the bits");
        return _before[word] + BitOperations.PopCount(_words[word] & ((1UL << (int)(place % WordBits)) - 1));
    }

    /// <summary>Where the one stands that has so many before it.</summary>
    public long Select(int ones)
    {
        int word = Array.BinarySearch(_before, ones);
        if (word < 0)
        {
            word = ~word - 1;
        }

        // Words without ones have the same number before them as the one behind.
        while (word + 1 < _before.Length && _before[word + 1] <= ones)
        {
            word++;
        }

        Invariant.Holds(word >= 0, "a one is asked for that is there");
        ulong rest = _words[word];
        for (int left = ones - _before[word]; left > 0; left--)
        {
            rest &= rest - 1;
        }

        Invariant.Holds(rest != 0, "a one is asked for that is there");
        return ((long)word * WordBits) + BitOperations.TrailingZeroCount(rest);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        share.Release(_reservedBytes);
        _reservedBytes = 0;
        _words = [];
        _before = [];
    }

    private void Charge()
    {
        long now = ((long)sizeof(ulong) * _words.Length) + ((long)sizeof(int) * _before.Length);
        share.Reserve(now - _reservedBytes);
        _reservedBytes = now;
    }
}
