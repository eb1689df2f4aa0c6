using System.Buffers;
using Rookery.Indexing.Grouping;
using Rookery.Platform;

namespace Rookery.Indexing.Reducing;

/// <summary>
/// Reduces the rows of an automatic map/reduce index: adds counts and sums, and keeps the least minimum and the
/// greatest maximum. Not thread-safe.
/// </summary>
internal sealed class GroupReducer : IReducer, IDisposable
{
    private readonly int _keys;
    private readonly AggregateKind[] _kinds;
    private readonly Accumulator[] _aggregates;
    private readonly Range[] _values;
    private readonly PooledBytes _row = new();

    /// <summary>Makes a reducer.</summary>
    /// <param name="keys">Number of keys in a row.</param>
    /// <param name="kinds">The kinds of the aggregates in a row.</param>
    public GroupReducer(int keys, IEnumerable<AggregateKind> kinds)
    {
        _keys = keys;
        _kinds = [.. kinds];
        _aggregates = [.. _kinds.Select(static _ => new Accumulator())];
        _values = new Range[_keys + _kinds.Length];
    }

    /// <inheritdoc/>
    public bool HasOrder => false;

    /// <inheritdoc/>
    public void Reduce(in ReduceRows rows, IBufferWriter<byte> row)
    {
        var first = rows[0];
        if (ReducedGroup.IsExcluded(first))
        {
            row.Write(first);
            return;
        }

        long entries = 0;
        foreach (var aggregate in _aggregates)
        {
            aggregate.Clear();
        }

        for (int i = 0; i < rows.Count; i++)
        {
            Add(rows[i], ref entries);
        }

        // All rows have the same keys.
        ReducedGroup.Find(first, _values.AsSpan(0, _keys));
        _row.Clear();
        _row.Append(first[.._values[_keys - 1].End]);
        for (int i = 0; i < _kinds.Length; i++)
        {
            GroupRow.AppendName((byte)'a', i, _row);
            _aggregates[i].AppendPart(_kinds[i], entries, _row);
        }

        _row.Append((byte)'}');
        row.Write(_row.Written);
    }

    /// <inheritdoc/>
    public void Dispose() => _row.Release();

    private void Add(ReadOnlySpan<byte> row, ref long entries)
    {
        ReducedGroup.Find(row, _values);
        for (int i = 0; i < _kinds.Length; i++)
        {
            var value = row[_values[_keys + i]];
            if (_kinds[i] == AggregateKind.Count)
            {
                entries += long.Parse(value, System.Globalization.CultureInfo.InvariantCulture);
            }
            else
            {
                _aggregates[i].AddPart(_kinds[i], value);
            }
        }
    }
}
