using System.Numerics;
using Rookery.Platform;

namespace Rookery.Search.Segments.Store;

/// <summary>
/// A growing bit vector. After <see cref="Freeze"/> it supports rank (the number of set bits before a position) and
/// select (the reverse). Takes 12 bytes for 64 bits, reserved from a share.
/// </summary>
internal sealed class RankedBits(MemoryShare share) : IDisposable
{
    private const int WordBits = 64;

    private ulong[] _words = [];
    private int[] _before = [];
    private long _reservedBytes;

    /// <summary>Sets a bit. Bits may be set in any order.</summary>
    public void Set(long position)
    {
        int word = (int)(position / WordBits);
        if (word >= _words.Length)
        {
            Array.Resize(ref _words, Math.Max(word + 1, Math.Max(64, 2 * _words.Length)));
            Charge();
        }

        _words[word] |= 1UL << (int)(position % WordBits);
    }

    /// <summary>Whether a bit is set.</summary>
    public bool this[long position] =>
        position / WordBits < _words.Length && (_words[position / WordBits] & (1UL << (int)(position % WordBits))) != 0;

    /// <summary>Prepares rank and select. No more bits may be set.</summary>
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

    /// <summary>Returns the number of set bits before a position.</summary>
    public int Rank(long position)
    {
        int word = (int)(position / WordBits);
        Invariant.Holds(word < _before.Length, "a rank is that of a position within the bits");
        return _before[word] + BitOperations.PopCount(_words[word] & ((1UL << (int)(position % WordBits)) - 1));
    }

    /// <summary>Returns the position of the set bit that has this many set bits before it.</summary>
    public long Select(int ones)
    {
        int word = Array.BinarySearch(_before, ones);
        if (word < 0)
        {
            word = ~word - 1;
        }

        // If several words have the same count before them, the last of them contains the bit; the others have no set
        // bits.
        while (word + 1 < _before.Length && _before[word + 1] <= ones)
        {
            word++;
        }

        Invariant.Holds(word >= 0, "a selected bit is set");
        ulong bits = _words[word];
        for (int bitsToSkip = ones - _before[word]; bitsToSkip > 0; bitsToSkip--)
        {
            bits &= bits - 1; // clears the lowest set bit
        }

        Invariant.Holds(bits != 0, "a selected bit is set");
        return ((long)word * WordBits) + BitOperations.TrailingZeroCount(bits);
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
        long bytes = ((long)sizeof(ulong) * _words.Length) + ((long)sizeof(int) * _before.Length);
        share.Reserve(bytes - _reservedBytes);
        _reservedBytes = bytes;
    }
}
