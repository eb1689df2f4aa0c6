using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Documents.Ids;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Search.Values;

namespace Rookery.Queries.Scanning;

/// <summary>One key of <c>order by</c>.</summary>
/// <param name="Kind">How values compare.</param>
/// <param name="IsDescending">Whether the greatest comes first.</param>
/// <param name="Field">Where the values stand; null when it is none of a field: with <see cref="OrderKind.Natural"/>
/// the key of a reduced row or of a group.</param>
/// <param name="Seed">Of a shuffled order.</param>
/// <param name="IsNullGreatest">Whether null counts as greater than all others; else as less.</param>
internal sealed record SortKey(
    OrderKind Kind,
    bool IsDescending,
    FieldReader? Field,
    byte[] Seed,
    bool IsNullGreatest = false
);

/// <summary>
/// The keys of <c>order by</c>. What one result is sorted by is written as one byte string: of each key its length in
/// two bytes, and its bytes. Thread-safe.
/// </summary>
internal sealed class SortKeys
{
    private readonly SortKey[] _keys;

    /// <summary>The keys of a query.</summary>
    /// <param name="orders">As they were written.</param>
    /// <param name="fields">Says where fields stand.</param>
    /// <param name="operands">Parameters filled in.</param>
    /// <param name="endsWithKey">Whether equal ones stand by the keys of their rows or groups, which is how a scan
    /// meets them.</param>
    public SortKeys(
        IReadOnlyList<OrderKey> orders,
        FieldResolver fields,
        OperandValues operands,
        bool endsWithKey = false
    )
    {
        _keys = orders.Count == 0 && !endsWithKey ? [] : new SortKey[orders.Count + (endsWithKey ? 1 : 0)];
        for (int i = 0; i < orders.Count; i++)
        {
            var order = orders[i];
            _keys[i] = new SortKey(
                order.Kind,
                order.IsDescending,
                order.Field is null ? null : fields.Reader(order.Field),
                SeedOf(order, operands),
                order.Nulls == (order.IsDescending ? NullPlace.First : NullPlace.Last)
            );
        }

        if (endsWithKey)
        {
            _keys[^1] = new SortKey(OrderKind.Natural, false, null, []);
        }
    }

    /// <summary>The keys, in their order.</summary>
    public ReadOnlySpan<SortKey> Keys => _keys;

    /// <summary>Whether relevance is among them.</summary>
    public bool HasScore => Array.Exists(_keys, static key => key.Kind == OrderKind.Score);

    /// <summary>Whether there are none.</summary>
    public bool IsEmpty => _keys.Length == 0;

    /// <summary>Writes what a result is sorted by.</summary>
    /// <param name="document">The result.</param>
    /// <param name="score">How relevant it is.</param>
    /// <param name="work">Of the scan.</param>
    /// <param name="output">Takes the bytes, behind what it holds.</param>
    public void Write(in QueriedDocument document, double score, ScanWork work, PooledBytes output)
    {
        foreach ((OrderKind kind, bool isDescending, FieldReader? field, byte[] seed, bool isNullGreatest) in _keys)
        {
            Span<byte> room = output.Reserve(sizeof(ushort) + SortValue.MaxBytes);
            Span<byte> value = room.Slice(sizeof(ushort), SortValue.MaxBytes);
            int length = 0;
            if (field is not null)
            {
                work.Walk(document.Members.Length);
                length = WriteField(document, field, kind, isDescending, isNullGreatest, value);
            }
            else if (kind == OrderKind.Score)
            {
                // from 0: the order of the bytes is that of the numbers
                BinaryPrimitives.WriteDoubleBigEndian(value, document.Score);
                length = sizeof(double);
            }
            else if (kind == OrderKind.Random)
            {
                length = document.IsStored
                    ? WriteShuffledById(document.View.Id, seed, value)
                    : WriteShuffled(document.Members, seed, value);
            }
            else if (kind == OrderKind.Score)
            {
                length = WriteScore(score, value);
            }

            BinaryPrimitives.WriteUInt16BigEndian(room, (ushort)length);
            output.Advance(sizeof(ushort) + length);
        }
    }

    /// <summary>Writes a relevance: numbers from 0 are in the order of their bytes.</summary>
    /// <returns>Bytes written.</returns>
    internal static int WriteScore(double score, Span<byte> destination)
    {
        BinaryPrimitives.WriteDoubleBigEndian(destination, score);
        return sizeof(double);
    }

    /// <summary>Compares what two results are sorted by.</summary>
    public int Compare(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other)
    {
        foreach (SortKey key in _keys)
        {
            int order = Next(ref one).SequenceCompareTo(Next(ref other));
            if (order != 0)
            {
                return key.IsDescending ? -order : order;
            }
        }

        return 0;
    }

    private static ReadOnlySpan<byte> Next(ref ReadOnlySpan<byte> bytes)
    {
        int length = BinaryPrimitives.ReadUInt16BigEndian(bytes);
        ReadOnlySpan<byte> key = bytes.Slice(sizeof(ushort), length);
        bytes = bytes[(sizeof(ushort) + length)..];
        return key;
    }

    private static byte[] SeedOf(OrderKey order, OperandValues operands) =>
        order switch
        {
            { Kind: not OrderKind.Random } => [],
            { Seed: null } => RandomNumberGenerator.GetBytes(sizeof(ulong)),
            { Seed: { } seed } => SHA256.HashData(operands.Scalar(seed)),
        };

    /// <summary>
    /// Of several values the one counts that comes first: the least, or of a descending order the greatest.
    /// </summary>
    private static int WriteField(
        in QueriedDocument document,
        FieldReader field,
        OrderKind kind,
        bool isDescending,
        bool isNullGreatest,
        Span<byte> destination
    )
    {
        Span<byte> candidate = stackalloc byte[SortValue.MaxBytes];
        var visitor = new FirstValue(kind, isDescending, isNullGreatest, destination, candidate);
        field.Read(document, ref visitor);
        return visitor.Length > 0 ? visitor.Length
            : isNullGreatest ? SortValue.WriteGreatestNull(destination)
            : TermKey.WriteNull(destination);
    }

    private static int WriteShuffledById(ReadOnlySpan<byte> id, byte[] seed, Span<byte> destination)
    {
        Span<byte> lower = stackalloc byte[DocumentId.MaxBytes];
        return WriteShuffled(lower[..DocumentId.ToLower(id, lower)], seed, destination);
    }

    /// <summary>Writes what a shuffled order sorts by.</summary>
    /// <param name="text">What tells results apart: the lower-cased id of a document, the members of a row.</param>
    /// <param name="seed">One order for one seed.</param>
    /// <param name="destination">At least eight bytes.</param>
    /// <returns>Bytes written.</returns>
    internal static int WriteShuffled(ReadOnlySpan<byte> text, byte[] seed, Span<byte> destination)
    {
        ulong hash = 14_695_981_039_346_656_037;
        foreach (byte value in seed)
        {
            hash = (hash ^ value) * 1_099_511_628_211;
        }

        foreach (byte value in text)
        {
            hash = (hash ^ value) * 1_099_511_628_211;
        }

        hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
        hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53;
        BinaryPrimitives.WriteUInt64BigEndian(destination, hash ^ (hash >> 33));
        return sizeof(ulong);
    }

    private ref struct FirstValue(
        OrderKind kind,
        bool isDescending,
        bool isNullGreatest,
        Span<byte> best,
        Span<byte> candidate
    ) : IValueVisitor
    {
        private readonly Span<byte> _best = best;
        private readonly Span<byte> _candidate = candidate;

        public int Length;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            int length = SortValue.Write(kind, json, _candidate);
            ReadOnlySpan<byte> key = _candidate[..(isNullGreatest ? SortValue.TurnNull(_candidate, length) : length)];
            int order = Length == 0 ? -1 : key.SequenceCompareTo(_best[..Length]) * (isDescending ? -1 : 1);
            if (order < 0)
            {
                key.CopyTo(_best);
                Length = key.Length;
            }

            return true;
        }
    }
}
