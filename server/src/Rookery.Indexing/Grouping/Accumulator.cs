using System.Globalization;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// Computes one aggregate (count, sum, minimum, maximum or average) of one group. The result does not depend on the
/// order of values.
/// </summary>
public sealed class Accumulator
{
    /// <summary>Memory of an accumulator without its minimum or maximum, in bytes.</summary>
    public const int Bytes = 128;

    // Maximum bytes of a long in decimal digits.
    private const int MaxCountBytes = 20;

    private ExactSum _sum;
    private long _numberCount;

    // The minimum or the maximum so far, as JSON.
    private byte[]? _extreme;

    /// <summary>Removes all values.</summary>
    public void Clear() => (_sum, _numberCount, _extreme) = (default, 0, null);

    /// <summary>
    /// Adds a value. Sums and averages ignore values that are not numbers. Minima and maxima ignore null.
    /// </summary>
    /// <param name="kind">The kind of aggregate; the same at each call.</param>
    /// <param name="json">The value as JSON.</param>
    /// <param name="memory">Reserves memory for a kept value; null if other limits bound it.</param>
    public void Add(AggregateKind kind, ReadOnlySpan<byte> json, IGroupMemory? memory)
    {
        if (kind is AggregateKind.Sum or AggregateKind.Average)
        {
            if (json[0] is (byte)'-' or (>= (byte)'0' and <= (byte)'9'))
            {
                _sum.Add(json);
                _numberCount++;
            }
        }
        else if (json[0] != (byte)'n' && (_extreme is null || IsBefore(json, _extreme) == (kind == AggregateKind.Min)))
        {
            memory?.Reserve(json.Length);
            memory?.Release(_extreme?.Length ?? 0);
            _extreme = json.ToArray();
        }
    }

    /// <summary>
    /// Adds a partial result that <see cref="AppendPart"/> of the same kind has appended. Not for
    /// <see cref="AggregateKind.Count"/>.
    /// </summary>
    public void AddPart(AggregateKind kind, ReadOnlySpan<byte> json)
    {
        if (kind == AggregateKind.Average)
        {
            int comma = json.IndexOf((byte)',');
            _sum.Add(json[1..comma]);
            _numberCount += long.Parse(json[(comma + 1)..^1], CultureInfo.InvariantCulture);
        }
        else
        {
            Add(kind, json, memory: null);
        }
    }

    /// <summary>Appends the partial result as JSON, for <see cref="AddPart"/>.</summary>
    /// <param name="kind">The kind of aggregate.</param>
    /// <param name="entries">Number of entries in the group: the value of a count. Other kinds ignore it.</param>
    /// <param name="output">Receives the partial result.</param>
    /// <returns>Number of bytes appended.</returns>
    public int AppendPart(AggregateKind kind, long entries, PooledBytes output)
    {
        int before = output.Length;
        if (kind == AggregateKind.Average)
        {
            // The sum is written with all its digits, so the sum of parts is exact.
            output.Append((byte)'[');
            Append(AggregateKind.Sum, entries, output);
            output.Append((byte)',');
            Append(AggregateKind.Count, _numberCount, output);
            output.Append((byte)']');
        }
        else
        {
            Append(kind, entries, output);
        }

        return output.Length - before;
    }

    /// <summary>Appends the final result as JSON.</summary>
    /// <param name="kind">The kind of aggregate.</param>
    /// <param name="entries">Number of entries in the group: the value of a count. Other kinds ignore it.</param>
    /// <param name="output">Receives the result.</param>
    public void Append(AggregateKind kind, long entries, PooledBytes output)
    {
        switch (kind)
        {
            case AggregateKind.Count:
                System.Buffers.Text.Utf8Formatter.TryFormat(entries, output.Reserve(MaxCountBytes), out int written);
                output.Advance(written);
                return;
            case AggregateKind.Sum:
                output.Advance(_sum.Write(output.Reserve(ExactSum.MaxBytes)));
                return;
            case AggregateKind.Average when _numberCount > 0:
                output.Advance(JsonNumber.Format(_sum.Average(_numberCount), output.Reserve(JsonNumber.MaxBytes)));
                return;
            default:
                output.Append(_extreme ?? "null"u8);
                return;
        }
    }

    /// <summary>Compares by value. Equal values with different text are compared by their bytes.</summary>
    private static bool IsBefore(ReadOnlySpan<byte> one, ReadOnlySpan<byte> other)
    {
        Span<byte> a = stackalloc byte[TermKey.MaxBytes];
        Span<byte> b = stackalloc byte[TermKey.MaxBytes];
        int order = a[..TermKey.Write(one, isExact: false, a)]
            .SequenceCompareTo(b[..TermKey.Write(other, isExact: false, b)]);
        return (order == 0 ? one.SequenceCompareTo(other) : order) < 0;
    }
}
