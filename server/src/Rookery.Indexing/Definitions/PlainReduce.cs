using System.Buffers;
using System.Text;
using Rookery.Indexing.Reducing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// A reduce that only adds numbers up: each member of its row is the key, a part of it, or the sum of a member of the
/// rows. Numbers are added exactly, so that no order counts, and written as the machine writes them. What is no number
/// is left to the machine. Any number of threads.
/// </summary>
internal sealed class PlainReduce
{
    /// <summary>Sums at most.</summary>
    public const int MostSums = PlainRow.MostNames;

    // Of a key that is an object, and of a reduced row: a row of an index is smaller. What is larger is left to the
    // machine, which is bounded.
    private const int MostBytes = 64 << 10;

    [ThreadStatic]
    private static PlainSum[]? _room;

    private readonly NamedMembers _keyNames;
    private readonly PlainValue? _key;
    private readonly PlainRow? _compositeKey;
    private readonly NamedMembers _summed;
    private readonly (byte[] Head, byte[] KeyMember, int Sum)[] _members;
    private readonly bool _isCSharp;

    /// <summary>A reduce.</summary>
    /// <param name="keyNames">What the key speaks of.</param>
    /// <param name="key">What rows are grouped by; null where it is <paramref name="compositeKey"/>.</param>
    /// <param name="compositeKey">The same, where it is an object.</param>
    /// <param name="summed">The members of rows that are added up.</param>
    /// <param name="members">The members of the row: of the key all, or the member <c>KeyMember</c>, where <c>Sum</c>
    /// is negative; else which sum.</param>
    /// <param name="isCSharp">Whether a sum of doubles is written as one.</param>
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

    /// <summary>Whether each sum is of the member that takes it, so that sums of parts are added.</summary>
    public required bool AddsItsOwn { get; init; }

    /// <summary>What a row is grouped by.</summary>
    /// <param name="row">The row.</param>
    /// <param name="room">Takes it where it does not stand in the row.</param>
    /// <param name="key">The key as JSON.</param>
    /// <returns>False where only the machine knows.</returns>
    public bool TryReadKey(ReadOnlySpan<byte> row, GrowableBytes room, out ReadOnlySpan<byte> key)
    {
        key = default;
        var members = row[1..^1];
        if (_compositeKey is not null)
        {
            bool isWritten = _compositeKey.TryWrite(members, MostBytes, room);
            key = room.Written;
            return isWritten;
        }

        Span<Range> places = stackalloc Range[PlainRow.MostNames];
        var found = places[.._keyNames.Count];
        if (!_keyNames.TryFind(members, found) || !_key!.TryRead(members, found, out key))
        {
            return false;
        }

        key = key.IsEmpty ? "null"u8 : key;
        return true;
    }

    /// <summary>Reduces rows.</summary>
    /// <param name="rows">The rows.</param>
    /// <param name="key">Their key.</param>
    /// <param name="reduced">Takes the row.</param>
    /// <returns>False where only the machine knows; nothing is written then.</returns>
    public bool TryReduce(in ReduceRows rows, ReadOnlySpan<byte> key, IBufferWriter<byte> reduced)
    {
        var sums = (_room ??= new PlainSum[MostSums]).AsSpan(0, _summed.Count);
        sums.Clear();
        for (int i = 0; i < rows.Count; i++)
        {
            if (!TryAdd(rows[i][1..^1], sums))
            {
                return false;
            }
        }

        // A member of the key is no longer than the key.
        long mostLength = 2;
        foreach (var (head, name, sum) in _members)
        {
            mostLength += head.Length + 1 + (sum >= 0 ? PlainSum.MostBytes : key.Length);
            if (mostLength > MostBytes)
            {
                return false;
            }

            if (
                sum < 0
                && name.Length > 0
                && (key[0] != (byte)'{' || !StoredJson.TryFindMember(key, 0, name, out _, out _))
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
        Span<Range> places = stackalloc Range[MostSums];
        var found = places[..sums.Length];
        if (!_summed.TryFind(members, found))
        {
            return false;
        }

        for (int i = 0; i < sums.Length; i++)
        {
            if (!sums[i].TryAdd(members[found[i]]))
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
                reduced.Advance(sums[sum].Write(reduced.GetSpan(PlainSum.MostBytes), _isCSharp));
            }
            else if (name.Length == 0)
            {
                reduced.Write(key);
            }
            else
            {
                StoredJson.TryFindMember(key, 0, name, out _, out int at);
                reduced.Write(key[at..StoredJson.SkipValue(key, at)]);
            }
        }

        reduced.Write("}"u8);
    }
}
