using RocksDbSharp;

namespace Rookery.Peers;

/// <summary>RocksDB with LZ4, a Bloom filter of ten bits, 192 MiB of cache and a synced log for each batch.</summary>
internal sealed class RocksStore : IStore
{
    private readonly RocksDb _database;
    private readonly WriteOptions _synced = new WriteOptions().SetSync(true);

    public RocksStore(string directory)
    {
        var table = new BlockBasedTableOptions()
            .SetFilterPolicy(BloomFilterPolicy.Create(10, false))
            .SetBlockSize(16 << 10)
            .SetBlockCache(Cache.CreateLru(192 << 20));
        var options = new DbOptions()
            .SetCreateIfMissing(true)
            .SetCompression(Compression.Lz4)
            .SetBlockBasedTableFactory(table);
        _database = RocksDb.Open(options, directory);
    }

    public void Put(IReadOnlyList<(byte[] Key, byte[] Value)> documents)
    {
        using var batch = new WriteBatch();
        foreach (var (key, value) in documents)
        {
            batch.Put(key, value);
        }

        _database.Write(batch, _synced);
    }

    public byte[] Get(byte[] key) => _database.Get(key) ?? [];

    public void Settle() => _database.Flush(new FlushOptions().SetWaitForFlush(true));

    public void Dispose() => _database.Dispose();
}
