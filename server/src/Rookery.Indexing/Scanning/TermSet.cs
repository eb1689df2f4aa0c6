using Rookery.Indexing.Values;

namespace Rookery.Indexing.Scanning;

/// <summary>Different term keys, asked for one by one. Made once for a query, however many there are.</summary>
internal sealed class TermSet
{
    private readonly Dictionary<byte[], int>.AlternateLookup<ReadOnlySpan<byte>> indexes;
    private readonly byte[] only = [];
    private readonly bool[] firstCharacters = new bool[256];

    /// <summary>A set of the keys of some values.</summary>
    /// <param name="values">JSON each.</param>
    /// <param name="isExact">Whether letters of texts count with their case.</param>
    public TermSet(IEnumerable<byte[]> values, bool isExact)
    {
        var keys = new Dictionary<byte[], int>(KeyComparer.Instance);
        indexes = keys.GetAlternateLookup<ReadOnlySpan<byte>>();
        Span<byte> key = stackalloc byte[TermKey.MaxBytes];
        foreach (byte[] json in values)
        {
            indexes.TryAdd(key[..TermKey.Write(json, isExact, key)], keys.Count);
            MarkFirst(json[0]);
        }

        Keys = [.. keys.Keys];
        Count = keys.Count;
        only = Count == 1 ? Keys[0] : [];
    }

    /// <summary>How many there are.</summary>
    public int Count { get; }

    /// <summary>The keys, as they were given.</summary>
    public byte[][] Keys { get; }

    /// <summary>Whether a value may be among them, by the first character of its JSON.</summary>
    public bool MayHold(byte first) => firstCharacters[first];

    /// <summary>Which one a key is; -1 for none.</summary>
    public int IndexOf(ReadOnlySpan<byte> key)
    {
        if (Count == 1)
        {
            return key.SequenceEqual(only) ? 0 : -1;
        }

        return indexes.TryGetValue(key, out int index) ? index : -1;
    }

    private void MarkFirst(byte first)
    {
        if (first is not ((byte)'-' or (>= (byte)'0' and <= (byte)'9')))
        {
            firstCharacters[first] = true;
            return;
        }

        firstCharacters['-'] = true; // -0 is 0
        firstCharacters.AsSpan('0', 10).Fill(true);
    }
}
