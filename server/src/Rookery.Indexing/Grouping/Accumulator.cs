using System.Globalization;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// One aggregate of one group, as far as its values were added. Its outcome does not depend on their order.
/// </summary>
public sealed class Accumulator
{
    /// <summary>Memory of one without the value it keeps.</summary>
    public const int Bytes = 128;

    private const int MaxCountBytes = 20;

    private ExactSum _sum;
    private long _numbers;
    private byte[]? _extreme;

    /// <summary>Forgets all values.</summary>
    public void Clear() => (_sum, _numbers, _extreme) = (default, 0, null);

    /// <summary>Adds a value. Sums and averages take numbers, least and greatest ones all but null.</summary>
    /// <param name="kind">What is computed.</param>
    /// <param name="json">The value.</param>
    /// <param name="memory">Is charged for what is kept; null where that is bounded otherwise.</param>
    public void Add(AggregateKind kind, ReadOnlySpan<byte> json, IGroupMemory? memory)
    {
        if (kind is AggregateKind.Sum or AggregateKind.Average)
        {
            if (json[0] is (byte)'-' or (>= (byte)'0' and <= (byte)'9'))
            {
                _sum.Add(json);
                _numbers++;
            }
        }
        else if (json[0] != (byte)'n' && (_extreme is null || IsBefore(json, _extreme) == (kind == AggregateKind.Min)))
        {
            memory?.Take(json.Length);
            memory?.Give(_extreme?.Length ?? 0);
            _extreme = json.ToArray();
        }
    }

    /// <summary>
    /// Adds what another one of the same kind, but <see cref="AggregateKind.Count"/>, appended with
    /// <see cref="AppendPart"/>.
    /// </summary>
    public void AddPart(AggregateKind kind, ReadOnlySpan<byte> json)
    {
        if (kind == AggregateKind.Average)
        {
            int comma = json.IndexOf((byte)',');
            _sum.Add(json[1..comma]);
            _numbers += long.Parse(json[(comma + 1)..^1], CultureInfo.InvariantCulture);
        }
        else
        {
            Add(kind, json, memory: null);
        }
    }

    /// <summary>Appends the outcome as a part of greater ones, as JSON.</summary>
    /// <returns>Bytes appended.</returns>
    public int AppendPart(AggregateKind kind, long entries, PooledBytes output)
    {
        int before = output.Length;
        if (kind == AggregateKind.Average)
        {
            // The sum has all its digits, so parts add up exactly.
            output.Append((byte)'[');
            Append(AggregateKind.Sum, entries, output);
            output.Append((byte)',');
            Append(AggregateKind.Count, _numbers, output);
            output.Append((byte)']');
        }
        else
        {
            Append(kind, entries, output);
        }

        return output.Length - before;
    }

    /// <summary>Appends the outcome as JSON.</summary>
    public void Append(AggregateKind kind, long entries, PooledBytes output)
    {
        switch (kind)
        {
            case AggregateKind.Count:
                System.Buffers.Text.Utf8Formatter.TryFormat(entries, output.Reserve(MaxCountBytes), out int written);
                output.Advance(written);
                return;
            case AggregateKind.Sum:
                output.Advance(_sum.Write(output.Reserve(ExactSum.MostBytes)));
                return;
            case AggregateKind.Average when _numbers > 0:
                output.Advance(JsonNumber.Format(_sum.Average(_numbers), output.Reserve(JsonNumber.MostBytes)));
                return;
            default:
                output.Append(_extreme ?? "null"u8);
                return;
        }
    }

    /// <summary>The order of values; of equal ones that are written differently, that of their bytes.</summary>
    private static bool IsBefore(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other)
    {
        Span<byte> a = stackalloc byte[TermKey.MaxBytes];
        Span<byte> b = stackalloc byte[TermKey.MaxBytes];
        int order = a[..TermKey.Write(one, isExact: false, a)]
            .SequenceCompareTo(b[..TermKey.Write(other, isExact: false, b)]);
        return (order == 0 ? one.SequenceCompareTo(other) : order) < 0;
    }
}
