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
/// <param name="IsDescending">Whether the greatest value comes first.</param>
/// <param name="Field">The field; null for an order by score, a shuffled order, or, with
/// <see cref="OrderKind.Natural"/>, the order of a reduced row's or group's own key.</param>
/// <param name="Seed">The seed of a shuffled order; empty otherwise.</param>
/// <param name="IsNullGreatest">Whether null is greater than all other values; otherwise it is less.</param>
internal sealed record SortKey(
    OrderKind Kind,
    bool IsDescending,
    FieldReader? Field,
    byte[] Seed,
    bool IsNullGreatest = false
);

/// <summary>
/// The compiled <c>order by</c>. The sort key of a result is one byte string: for each key of the order, the value's
/// length in two bytes (big-endian) and its bytes. Thread-safe.
/// </summary>
internal sealed class SortKeys
{
    private readonly SortKey[] _keys;

    /// <summary>Compiles an order.</summary>
    /// <param name="orders">The keys as parsed.</param>
    /// <param name="fields">Resolves fields.</param>
    /// <param name="operands">Resolves parameters.</param>
    /// <param name="breaksTiesByRowKey">Whether results with equal keys are ordered by the key of their row or group,
    /// as in a scan.</param>
    public SortKeys(
        IReadOnlyList<OrderKey> orders,
        FieldResolver fields,
        OperandValues operands,
        bool breaksTiesByRowKey = false
    )
    {
        _keys =
            orders.Count == 0 && !breaksTiesByRowKey ? [] : new SortKey[orders.Count + (breaksTiesByRowKey ? 1 : 0)];
        for (int i = 0; i < orders.Count; i++)
        {
            var order = orders[i];
            _keys[i] = new SortKey(
                order.Kind,
                order.IsDescending,
                order.Field is null ? null : fields.CreateReader(order.Field),
                SeedOf(order, operands),
                order.Nulls == (order.IsDescending ? NullPlace.First : NullPlace.Last)
            );
        }

        if (breaksTiesByRowKey)
        {
            _keys[^1] = new SortKey(OrderKind.Natural, IsDescending: false, Field: null, []);
        }
    }

    /// <summary>The keys, in order.</summary>
    public ReadOnlySpan<SortKey> Keys => _keys;

    /// <summary>Whether the order has a score.</summary>
    public bool HasScore => Array.Exists(_keys, static key => key.Kind == OrderKind.Score);

    /// <summary>Whether there are no keys.</summary>
    public bool IsEmpty => _keys.Length == 0;

    /// <summary>Appends the sort key of a result.</summary>
    /// <param name="document">The result, with its score.</param>
    /// <param name="work">The evaluation's limits.</param>
    /// <param name="output">Receives the bytes at its end.</param>
    public void Write(in QueriedDocument document, ScanWork work, PooledBytes output)
    {
        foreach (SortKey key in _keys)
        {
            Span<byte> room = output.Reserve(sizeof(ushort) + SortValue.MaxBytes);
            Span<byte> value = room.Slice(sizeof(ushort), SortValue.MaxBytes);
            int length = 0;
            if (key.Field is { } field)
            {
                work.CountBytes(document.Members.Length);
                length = WriteField(document, field, key.Kind, key.IsDescending, key.IsNullGreatest, value);
            }
            else if (key.Kind == OrderKind.Random)
            {
                length = document.IsStored
                    ? WriteShuffledById(document.View.Id, key.Seed, value)
                    : WriteShuffled(document.Members, key.Seed, value);
            }
            else if (key.Kind == OrderKind.Score)
            {
                length = WriteScore(document.Score, value);
            }

            BinaryPrimitives.WriteUInt16BigEndian(room, (ushort)length);
            output.Advance(sizeof(ushort) + length);
        }
    }

    /// <summary>Writes a score. Scores are not negative, so the bytes order as the numbers do.</summary>
    /// <returns>Bytes written.</returns>
    internal static int WriteScore(double score, Span<byte> destination)
    {
        BinaryPrimitives.WriteDoubleBigEndian(destination, score);
        return sizeof(double);
    }

    /// <summary>Compares the sort keys of two results.</summary>
    public int Compare(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other)
    {
        foreach (SortKey key in _keys)
        {
            int order = ReadFirst(ref one).SequenceCompareTo(ReadFirst(ref other));
            if (order != 0)
            {
                return key.IsDescending ? -order : order;
            }
        }

        return 0;
    }

    private static ReadOnlySpan<byte> ReadFirst(ref ReadOnlySpan<byte> bytes)
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
            { Seed: { } seed } => SHA256.HashData(operands.ReadScalar(seed)),
        };

    /// <summary>
    /// Writes the value of a field. Of several values, the first in order counts: the least, or in a descending order
    /// the greatest.
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
        if (visitor.Length > 0)
        {
            return visitor.Length;
        }

        if (isNullGreatest)
        {
            return SortValue.WriteGreatestNull(destination);
        }

        return TermKey.WriteNull(destination);
    }

    private static int WriteShuffledById(ReadOnlySpan<byte> id, byte[] seed, Span<byte> destination)
    {
        Span<byte> lower = stackalloc byte[DocumentId.MaxBytes];
        return WriteShuffled(lower[..DocumentId.ToLower(id, lower)], seed, destination);
    }

    /// <summary>Writes the sort value of a shuffled order.</summary>
    /// <param name="text">The identity of the result: the lower-cased id of a document, or the members of a
    /// row.</param>
    /// <param name="seed">The seed. Equal seeds give the same order.</param>
    /// <param name="destination">At least eight bytes.</param>
    /// <returns>Bytes written.</returns>
    internal static int WriteShuffled(ReadOnlySpan<byte> text, byte[] seed, Span<byte> destination)
    {
        // FNV-1a, whose bits the finalizer of MurmurHash3 mixes.
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
            ReadOnlySpan<byte> key = _candidate[
                ..(isNullGreatest ? SortValue.ReplaceNull(_candidate, length) : length)
            ];
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
