using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>Different term keys, asked for one by one. Made once for a query, however many there are.</summary>
internal sealed class TermSet
{
    // None for one key, which is most of them.
    private readonly Dictionary<byte[], int>? _keys;
    private readonly byte[] _only = [];
    private UInt128 _firstCharacters;

    /// <summary>A set of the keys of some values.</summary>
    /// <param name="values">JSON each.</param>
    /// <param name="isExact">Whether letters of texts count with their case.</param>
    public TermSet(IReadOnlyList<byte[]> values, bool isExact)
    {
        Span<byte> key = stackalloc byte[TermKey.MaxBytes];
        if (values.Count == 1)
        {
            _only = key[..TermKey.Write(values[0], isExact, key)].ToArray();
            MarkFirst(values[0][0]);
            Keys = [_only];
            return;
        }

        _keys = new Dictionary<byte[], int>(BytesComparer.Instance);
        var indexes = _keys.GetAlternateLookup<ReadOnlySpan<byte>>();
        foreach (byte[] json in values)
        {
            indexes.TryAdd(key[..TermKey.Write(json, isExact, key)], _keys.Count);
            MarkFirst(json[0]);
        }

        Keys = [.. _keys.Keys];
    }

    /// <summary>How many there are.</summary>
    public int Count => Keys.Length;

    /// <summary>The keys, as they were given.</summary>
    public byte[][] Keys { get; }

    /// <summary>Whether a value may be among them, by the first character of its JSON.</summary>
    public bool MayHold(byte first) => first < 128 && (_firstCharacters & (UInt128.One << first)) != 0;

    /// <summary>Which one a key is; -1 for none.</summary>
    public int IndexOf(ReadOnlySpan<byte> key)
    {
        if (_keys is null)
        {
            return key.SequenceEqual(_only) ? 0 : -1;
        }

        return _keys.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(key, out int index) ? index : -1;
    }

    // JSON begins with ASCII.
    private void MarkFirst(byte first)
    {
        _firstCharacters |= UInt128.One << first;
        if (first is (byte)'-' or (>= (byte)'0' and <= (byte)'9'))
        {
            _firstCharacters |= (UInt128.One << '-') | ((UInt128)0x3FF << '0'); // -0 is 0
        }
    }
}
