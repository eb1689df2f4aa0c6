using System.Buffers;
using System.Text;
using Rookery.Indexing.Reducing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Runs a reduce that only adds numbers, without the script interpreter, which is slower. Each member of the reduced
/// row is the key, a member of the key, or the sum of one member of the rows. Sums are exact, so the order of rows does
/// not matter. The result equals the interpreter's byte for byte; in cases that only the interpreter decides, the
/// methods return false. Thread-safe.
/// </summary>
internal sealed class PlainReduce
{
    /// <summary>Maximum number of sums.</summary>
    public const int MaxSums = PlainRow.MaxNames;

    // Maximum bytes of an object key and of a reduced row. Larger ones do not fit into an index. The interpreter
    // handles them and reports its limits.
    private const int MaxBytes = 64 << 10;

    [ThreadStatic]
    private static PlainSum[]? _room;

    private readonly NamedMembers _keyNames;
    private readonly PlainValue? _key;
    private readonly PlainRow? _compositeKey;
    private readonly NamedMembers _summed;
    private readonly (byte[] Head, byte[] KeyMember, int Sum)[] _members;
    private readonly bool _isCSharp;

    /// <summary>Makes a reduce.</summary>
    /// <param name="keyNames">The members of rows that the key is made of.</param>
    /// <param name="key">The key of a row; null when <paramref name="compositeKey"/> is given.</param>
    /// <param name="compositeKey">The key of a row as an object; null when <paramref name="key"/> is given.</param>
    /// <param name="summed">The members of rows that are summed.</param>
    /// <param name="members">
    /// The members of the reduced row. <c>Sum</c> is the position of a sum; if negative, the member is the key's member
    /// <c>KeyMember</c>, or the whole key if that is empty.
    /// </param>
    /// <param name="isCSharp">Whether a sum of doubles is written as a double even if it is integral.</param>
    public PlainReduce(
        NamedMembers keyNames,
        PlainValue? key,
        PlainRow? compositeKey,
        NamedMembers summed,
        IEnumerable<(string Name, string KeyMember, int Sum)> members,
        bool isCSharp
    )
    {
        _isCSharp = isCSharp;
        (_keyNames, _key, _compositeKey, _summed) = (keyNames, key, compositeKey, summed);
        _members =
        [
            .. members.Select(static member =>
                (Encoding.UTF8.GetBytes($"\"{member.Name}\":"), Encoding.UTF8.GetBytes(member.KeyMember), member.Sum)
            ),
        ];
    }

    /// <summary>
    /// Whether reduced rows can be reduced again: each sum has the name of the member that it sums, and each part of
    /// the key the name of the member that it was read from.
    /// </summary>
    public required bool CanReduceAgain { get; init; }

    /// <summary>Reads the key of a row.</summary>
    /// <param name="row">The row.</param>
    /// <param name="room">Receives the key if the row does not contain it as one value.</param>
    /// <param name="key">The key as JSON.</param>
    /// <returns>False if only the interpreter can decide.</returns>
    public bool TryReadKey(ReadOnlySpan<byte> row, GrowableBytes room, out ReadOnlySpan<byte> key)
    {
        key = default;
        var members = row[1..^1];
        if (_compositeKey is not null)
        {
            bool isWritten = _compositeKey.TryWrite(members, MaxBytes, room);
            key = room.Written;
            return isWritten;
        }

        Span<Range> places = stackalloc Range[PlainRow.MaxNames];
        var ranges = places[.._keyNames.Count];
        if (!_keyNames.TryFind(members, ranges) || !_key!.TryRead(members, ranges, out key))
        {
            return false;
        }

        key = key.IsEmpty ? "null"u8 : key;
        return true;
    }

    /// <summary>Reduces rows of one group.</summary>
    /// <param name="rows">The rows.</param>
    /// <param name="key">The key of the group.</param>
    /// <param name="reduced">Receives the reduced row.</param>
    /// <returns>False if only the interpreter can decide. Then nothing is written.</returns>
    public bool TryReduce(in ReduceRows rows, ReadOnlySpan<byte> key, IBufferWriter<byte> reduced)
    {
        var sums = (_room ??= new PlainSum[MaxSums]).AsSpan(0, _summed.Count);
        sums.Clear();
        for (int i = 0; i < rows.Count; i++)
        {
            if (!TryAdd(rows[i][1..^1], sums))
            {
                return false;
            }
        }

        // The two braces. A member of the key is no longer than the key.
        long maxLength = 2;
        foreach (var (head, name, sum) in _members)
        {
            maxLength += head.Length + 1 + (sum >= 0 ? PlainSum.MaxBytes : key.Length);
            if (maxLength > MaxBytes)
            {
                return false;
            }

            if (
                sum < 0
                && name.Length > 0
                && (key[0] != (byte)'{' || !StoredJson.TryFindMember(key, container: 0, name, out _, out _))
            )
            {
                return false;
            }
        }

        Write(key, sums, reduced);
        return true;
    }

    private bool TryAdd(ReadOnlySpan<byte> members, Span<PlainSum> sums)
    {
        Span<Range> places = stackalloc Range[MaxSums];
        var ranges = places[..sums.Length];
        if (!_summed.TryFind(members, ranges))
        {
            return false;
        }

        for (int i = 0; i < sums.Length; i++)
        {
            if (!sums[i].TryAdd(members[ranges[i]]))
            {
                return false;
            }
        }

        return true;
    }

    private void Write(ReadOnlySpan<byte> key, ReadOnlySpan<PlainSum> sums, IBufferWriter<byte> reduced)
    {
        bool isFirst = true;
        foreach (var (head, name, sum) in _members)
        {
            reduced.Write(isFirst ? "{"u8 : ","u8);
            reduced.Write(head);
            isFirst = false;
            if (sum >= 0)
            {
                reduced.Advance(sums[sum].Write(reduced.GetSpan(PlainSum.MaxBytes), _isCSharp));
            }
            else if (name.Length == 0)
            {
                reduced.Write(key);
            }
            else
            {
                StoredJson.TryFindMember(key, container: 0, name, out _, out int at);
                reduced.Write(key[at..StoredJson.SkipValue(key, at)]);
            }
        }

        reduced.Write("}"u8);
    }
}
