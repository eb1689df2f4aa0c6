using System.Numerics;

namespace Rookery.Search.Segments.Reading;

/// <summary>The set of live entries of a segment. Immutable: each change creates a new set.</summary>
public sealed class LiveEntries
{
    private const int WordBits = 64;

    private readonly ulong[] _dead;

    private LiveEntries(int entries, ulong[] dead, int deadCount)
    {
        Entries = entries;
        _dead = dead;
        DeadCount = deadCount;
    }

    /// <summary>Number of entries of the segment.</summary>
    public int Entries { get; }

    /// <summary>Number of dead entries.</summary>
    public int DeadCount { get; }

    /// <summary>Number of live entries.</summary>
    public int LiveCount => Entries - DeadCount;

    /// <summary>Memory of the set, in bytes.</summary>
    public long UsedBytes => (long)_dead.Length * sizeof(ulong);

    /// <summary>The dead entries as a bitmap; empty if there are none.</summary>
    public ReadOnlySpan<ulong> DeadWords => _dead;

    /// <summary>Returns a set in which all entries are live.</summary>
    public static LiveEntries All(int entries) => new(entries, [], deadCount: 0);

    /// <summary>Returns whether an entry is live.</summary>
    public bool IsLive(int entry) => _dead.Length == 0 || (_dead[entry / WordBits] & (1UL << (entry % WordBits))) == 0;

    /// <summary>Returns the dead entries, ascending.</summary>
    public IEnumerable<int> Dead()
    {
        for (int i = 0; i < _dead.Length; i++)
        {
            // The last expression clears the lowest set bit.
            for (ulong word = _dead[i]; word != 0; word &= word - 1)
            {
                yield return (i * WordBits) + BitOperations.TrailingZeroCount(word);
            }
        }
    }

    /// <summary>Returns the set in which these entries are dead, too. Some of them may be dead already.</summary>
    public LiveEntries Without(IEnumerable<int> entries)
    {
        ulong[] deadWords = _dead.Length > 0 ? [.. _dead] : new ulong[(Entries + WordBits - 1) / WordBits];
        int count = 0;
        foreach (int entry in entries)
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)entry, (uint)Entries);
            deadWords[entry / WordBits] |= 1UL << (entry % WordBits);
        }

        foreach (ulong word in deadWords)
        {
            count += BitOperations.PopCount(word);
        }

        return count == DeadCount ? this : new LiveEntries(Entries, deadWords, count);
    }
}
