using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>A set of distinct term keys, built once for a query.</summary>
internal sealed class TermSet
{
    // Null for a set of one key, which is the usual case.
    private readonly Dictionary<byte[], int>? _keys;
    private readonly byte[] _only = [];
    private UInt128 _firstCharacters;

    /// <summary>Creates the set of the keys of values.</summary>
    /// <param name="values">The values, each as JSON.</param>
    /// <param name="isExact">Whether texts are compared with case.</param>
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

    /// <summary>Number of keys.</summary>
    public int Count => Keys.Length;

    /// <summary>The keys, in the order of the values.</summary>
    public byte[][] Keys { get; }

    /// <summary>Returns whether the set may contain a value whose JSON begins with this byte.</summary>
    public bool MayHold(byte first) => first < 128 && (_firstCharacters & (UInt128.One << first)) != 0;

    /// <summary>Returns the position of a key in <see cref="Keys"/>; -1 if it is not in the set.</summary>
    public int IndexOf(ReadOnlySpan<byte> key)
    {
        if (_keys is null)
        {
            return key.SequenceEqual(_only) ? 0 : -1;
        }

        return _keys.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(key, out int index) ? index : -1;
    }

    // JSON begins with ASCII. Equal numbers may begin differently, as 0 and -0 or 1 and 0.1e1, so a number marks all
    // digits and the sign.
    private void MarkFirst(byte first)
    {
        _firstCharacters |= UInt128.One << first;
        if (first is (byte)'-' or (>= (byte)'0' and <= (byte)'9'))
        {
            _firstCharacters |= (UInt128.One << '-') | ((UInt128)0x3FF << '0');
        }
    }
}
