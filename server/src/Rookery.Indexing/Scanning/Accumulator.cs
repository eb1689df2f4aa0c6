using Rookery.Disk;
using Rookery.Indexing.Language;
using Rookery.Indexing.Values;
using Rookery.Json;

namespace Rookery.Indexing.Scanning;

/// <summary>
/// One aggregate of one group, as far as its values were added. Its outcome does not depend on their order.
/// </summary>
internal sealed class Accumulator
{
    /// <summary>Memory of one without the value it keeps.</summary>
    public const int Bytes = 128;

    private const int MaxSumBytes = 64;

    private NumberSum _sum;
    private byte[]? _extreme;

    /// <summary>Forgets all values.</summary>
    public void Clear() => (_sum, _extreme) = (default, null);

    /// <summary>Adds a value. Sums and averages take numbers, least and greatest ones all but null.</summary>
    /// <param name="kind">What is computed.</param>
    /// <param name="json">The value.</param>
    /// <param name="memory">Is charged for what is kept; null where that is bounded otherwise.</param>
    public void Add(AggregateKind kind, ReadOnlySpan<byte> json, ScanMemory? memory)
    {
        if (kind is AggregateKind.Sum or AggregateKind.Average)
        {
            if (json[0] is (byte)'-' or (>= (byte)'0' and <= (byte)'9'))
            {
                _sum.Add(json);
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
        if (kind is AggregateKind.Sum or AggregateKind.Average)
        {
            _sum.Add(NumberSum.ReadParts(json));
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
        if (kind is AggregateKind.Sum or AggregateKind.Average)
        {
            _sum.WriteParts(output);
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
                System.Buffers.Text.Utf8Formatter.TryFormat(entries, output.Reserve(MaxSumBytes), out int written);
                output.Advance(written);
                return;
            case AggregateKind.Sum:
                output.Advance(_sum.Write(output.Reserve(MaxSumBytes)));
                return;
            case AggregateKind.Average:
                output.Advance(_sum.WriteAverage(output.Reserve(MaxSumBytes)));
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
