using System.Text;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Storage.Tests;

/// <summary>
/// Random batches on an engine and on its model, with sizes so small that flushes and merges happen often.
/// </summary>
internal sealed class EngineWorkload(int seed)
{
    public const uint Databases = 3;
    public const string Directory = "/data";

    private readonly Random _random = new(seed);
    private long _index;
    private long _sequence;

    /// <summary>Number, name and group of runs of each table.</summary>
    public static IReadOnlyList<TableDefinition> Tables { get; } =
    [new(1, "documents", 1), new(2, "orders", 2), new(3, "collections", 2)];

    public static StorageOptions Options { get; } =
        new()
        {
            Directory = Directory,
            Tables = Tables,
            MemtableBytes = 24 * 1024,
            CacheBytes = 1024 * 1024,
            BlockBytes = 4096,
            RunBytes = 24 * 1024,
            ChunkBytes = 1024,
            FanIn = 3,
        };

    /// <summary>The model after each batch, by journal index.</summary>
    public List<EngineModel> Models { get; } = [EngineModel.Empty];

    public EngineModel Model => Models[^1];

    public static StorageEngine Open(IDisk disk, StorageOptions? options = null)
    {
        var engine = StorageEngine.Open(
            disk,
            options ?? Options,
            new MemoryBudget(64L * 1024 * 1024),
            NoRecorder.Instance,
            new SimulatedTimeProvider()
        );
        engine.DeleteUnnamedRuns();
        return engine;
    }

    /// <summary>
    /// Returns a key in the node's form: four bytes of the database's number, the table's number, and a name.
    /// </summary>
    public static byte[] Key(uint database, byte table, string name) =>
        [0, 0, (byte)(database >> 8), (byte)database, table, .. Encoding.UTF8.GetBytes(name)];

    /// <summary>Continues from a manifest's position, like a replay of the journal.</summary>
    public void GoBackTo(ManifestPosition position)
    {
        _index = position.Index;
        _sequence = position.Sequence;
        Models.RemoveRange((int)_index + 1, Models.Count - (int)_index - 1);
    }

    /// <summary>Applies one random batch.</summary>
    public void Step(StorageEngine engine)
    {
        WriteBatch batch = engine.Begin(++_index, term: 1);
        EngineModel model = Model;
        for (int operations = _random.Next(1, 12); operations > 0; operations--)
        {
            BatchMark mark = batch.Mark();
            EngineModel changed = Change(batch, model);
            if (_random.Next(10) == 0)
            {
                batch.RollBack(mark);
            }
            else
            {
                model = changed;
            }
        }

        engine.Apply(batch, _sequence);
        Models.Add(model);
    }

    /// <summary>Adds a random operation to a batch. Returns the model after it.</summary>
    private EngineModel Change(WriteBatch batch, EngineModel model)
    {
        _sequence++;
        uint database = (uint)_random.Next(1, (int)Databases + 1);
        TableDefinition table = Tables[_random.Next(Tables.Count)];
        switch (_random.Next(100))
        {
            case 0: // deletes a database
                byte[] first = Key(database, 0, string.Empty)[..4];
                byte[] next = Key(database + 1, 0, string.Empty)[..4];
                batch.DeleteRange(first, next, _sequence);
                return model.DeleteRange(first, next);
            case 1: // deletes a range of a table
                byte[] from = Key(database, 2, $"key{_random.Next(150):D4}");
                byte[] to = Key(database, 2, $"key{_random.Next(150, 200):D4}");
                ReleaseWithin(batch, from, to);
                batch.DeleteRange(from, to, _sequence);
                return model.DeleteRange(from, to);
            case < 20:
                byte[] deleted = Key(database, table.Number, $"key{_random.Next(200):D4}");
                Release(batch, deleted);
                batch.Delete(deleted, _sequence);
                return model.Delete(deleted);
            default:
                // Table 3 only appends, like tables ordered by etag.
                byte[] key = Key(
                    database,
                    table.Number,
                    table.Number == 3 ? $"at{_sequence:D12}" : $"key{_random.Next(200):D4}"
                );
                // Longer than a chunk, so in chunks, or short. Half of it can be compressed.
                byte[] value = new byte[_random.Next(25) == 0 ? _random.Next(1025, 5000) : _random.Next(0, 300)];
                _random.NextBytes(value.AsSpan(0, value.Length / 2));
                Release(batch, key);
                int headBytes = _random.Next(value.Length + 1);
                batch.Put(key, _sequence, value.AsSpan(0, headBytes), value.AsSpan(headBytes));
                return model.Put(key, _sequence, value);
        }
    }

    /// <summary>Releases the chunks of the value at a key, which must precede its deletion or replacement.</summary>
    private void Release(WriteBatch batch, byte[] key)
    {
        if (batch.TryGet(key, out Row row))
        {
            using (row)
            {
                batch.ReleaseLarge(row, _sequence);
            }
        }
    }

    private void ReleaseWithin(WriteBatch batch, byte[] from, byte[] to)
    {
        var keys = new List<byte[]>();
        using (RowCursor cursor = batch.Seek(from, to))
        {
            while (cursor.MoveNext())
            {
                keys.Add(cursor.Key.ToArray());
            }
        }

        keys.ForEach(key => Release(batch, key));
    }
}
