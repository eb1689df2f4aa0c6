using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Indexing.Reducing;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Reducing;

/// <summary>
/// Reduces rows with a count, a sum and a maximum, as <c>group by</c> makes them. A row with <c>"bad"</c> cannot be
/// reduced.
/// </summary>
internal sealed class TotalsReducer : IReducer
{
    /// <summary>Returns the row that a document with this value is mapped to.</summary>
    public static byte[] Row(long value) =>
        Encoding.UTF8.GetBytes(
            value is Bad
                ? "{\"bad\":1}"
                : string.Create(CultureInfo.InvariantCulture, $$"""{"n":1,"sum":{{value}},"max":{{value}}}""")
        );

    /// <summary>The value whose row cannot be reduced.</summary>
    public const long Bad = -1_000_000;

    public bool HasOrder { get; init; }

    public void Reduce(in ReduceRows rows, IBufferWriter<byte> row)
    {
        (long n, long sum, long max) = (0, 0, long.MinValue);
        for (int i = 0; i < rows.Count; i++)
        {
            var (count, rowSum, largest) = Read(rows[i]);
            (n, sum, max) = (n + count, sum + rowSum, Math.Max(max, largest));
        }

        row.Write(
            Encoding.UTF8.GetBytes(
                string.Create(CultureInfo.InvariantCulture, $$"""{"n":{{n}},"sum":{{sum}},"max":{{max}}}""")
            )
        );
    }

    /// <summary>Reads the totals of a row.</summary>
    public static (long Count, long Sum, long Max) Read(ReadOnlySpan<byte> row)
    {
        Span<long> totals = stackalloc long[3];
        int member = 0;
        var reader = new Utf8JsonReader(row);
        while (reader.Read())
        {
            if (reader.TokenType is JsonTokenType.PropertyName && reader.ValueTextEquals("bad"u8))
            {
                throw new ReduceException("a row is bad");
            }

            if (reader.TokenType is JsonTokenType.Number)
            {
                totals[member++] = reader.GetInt64();
            }
        }

        return (totals[0], totals[1], totals[2]);
    }
}

/// <summary>The groups that a query index would hold, by reduce key.</summary>
internal sealed class CollectedGroups : IGroupChanges
{
    public SortedDictionary<string, string> Rows { get; } = new(StringComparer.Ordinal);

    public int Changes { get; private set; }

    public void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> row)
    {
        Rows[Encoding.UTF8.GetString(key)] = Encoding.UTF8.GetString(row);
        Changes++;
    }

    public void Remove(ReadOnlySpan<byte> key)
    {
        Rows.Remove(Encoding.UTF8.GetString(key));
        Changes++;
    }
}

/// <summary>Random changes of documents, reproducible by seed, and their groups computed from scratch.</summary>
internal sealed class ReduceWorkload(int seed)
{
    public const string Directory = "/data";

    private readonly Random _random = new(seed);

    /// <summary>The rows of each document, key and value, after each batch; the first state is before any.</summary>
    public List<Dictionary<string, (string Key, long Value)[]>> States { get; } = [new(StringComparer.Ordinal)];

    /// <summary>The documents that each batch changes, in order; null deletes.</summary>
    public List<List<(string Id, (string Key, long Value)[]? Rows)>> Batches { get; } = [];

    /// <summary>Generates one more batch.</summary>
    public void AddBatch()
    {
        var state = new Dictionary<string, (string, long)[]>(States[^1], StringComparer.Ordinal);
        List<(string, (string, long)[]?)> batch = [];
        // Now and then a batch only deletes, so that pages become empty.
        bool isSweep = _random.Next(12) is 0;
        for (int change = isSweep ? 150 : _random.Next(1, 40); change > 0; change--)
        {
            string id = $"things/{_random.Next(isSweep ? 400 : 250)}";
            if (isSweep || _random.Next(4) is 0)
            {
                batch.Add((id, null));
                state.Remove(id);
                continue;
            }

            // A few keys for all documents, so that groups are large, and some rare keys.
            (string, long)[] rows =
            [
                .. Enumerable
                    .Range(0, _random.Next(5))
                    .Select(_ =>
                        (
                            _random.Next(3) > 0 ? $"k{_random.Next(2)}" : $"rare{_random.Next(60)}",
                            (long)_random.Next(-50, 50)
                        )
                    ),
            ];
            batch.Add((id, rows));
            state[id] = rows;
        }

        Batches.Add(batch);
        States.Add(state);
    }

    /// <summary>Applies a batch to a store.</summary>
    public void Apply(ReduceStore store, int batch)
    {
        var mapped = new MappedRows();
        foreach (var (id, rows) in Batches[batch])
        {
            if (rows is null)
            {
                store.Delete(Encoding.UTF8.GetBytes(id));
                continue;
            }

            mapped.Clear();
            foreach (var (key, value) in rows)
            {
                mapped.Add(Encoding.UTF8.GetBytes(key), TotalsReducer.Row(value));
            }

            store.Put(Encoding.UTF8.GetBytes(id), mapped);
        }

        store.Apply(batch + 1);
    }

    /// <summary>Returns all groups after some batches, computed from scratch.</summary>
    public SortedDictionary<string, string> Compute(int batches) =>
        new(
            States[batches]
                .Values.SelectMany(static rows => rows)
                .GroupBy(static row => row.Key, StringComparer.Ordinal)
                .ToDictionary(
                    static group => group.Key,
                    static group =>
                        string.Create(
                            CultureInfo.InvariantCulture,
                            $$"""{"n":{{group.Count()}},"sum":{{group.Sum(static row => row.Value)}},"max":{{group.Max(static row => row.Value)}}}"""
                        ),
                    StringComparer.Ordinal
                ),
            StringComparer.Ordinal
        );

    public static ReduceStore Open(IDisk disk, bool hasOrder = false)
    {
        var reducer = new TotalsReducer { HasOrder = hasOrder };
        var budget = new MemoryBudget(8 << 20);
        return ReduceStore.Open(disk, Directory, reducer, budget, NoRecorder.Instance, new SimulatedTimeProvider());
    }
}
