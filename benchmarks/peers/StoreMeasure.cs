using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;

namespace Rookery.Peers;

/// <summary>A storage engine that maps keys to values, durably.</summary>
internal interface IStore : IDisposable
{
    /// <summary>Stores documents, and returns when one sync has made all of them durable.</summary>
    void Put(IReadOnlyList<(byte[] Key, byte[] Value)> documents);

    /// <summary>Returns a copy of a value.</summary>
    byte[] Get(byte[] key);

    /// <summary>Writes the data in memory into the engine's files, and completes pending merges.</summary>
    void Settle();
}

/// <summary>Measures puts and gets of a storage engine on one thread.</summary>
internal static class StoreMeasure
{
    public static void Run(string subject, string directory, int batch, double seconds)
    {
        Directory.CreateDirectory(directory);
        using IStore store = subject switch
        {
            "rookery" => new RookeryStore(directory),
            "rocksdb" => new RocksStore(directory),
            "lmdb" => new LmdbStore(directory),
            _ => throw new ArgumentException("The subject is rookery, rocksdb or lmdb.", nameof(subject)),
        };
        var documents = new (byte[] Key, byte[] Value)[batch];
        long count = 0;
        long bytes = 0;
        long begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun).TotalSeconds < seconds)
        {
            for (int one = 0; one < batch; one++)
            {
                documents[one] = (KeyOf(count), ValueOf(count));
                bytes += documents[one].Value.Length;
                count++;
            }

            store.Put(documents);
        }

        Console.WriteLine($"puts/s {count / Stopwatch.GetElapsedTime(begun).TotalSeconds:0}");
        Console.WriteLine($"document-bytes {bytes}");
        store.Settle();
        long gets = 0;
        begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun).TotalSeconds < seconds)
        {
            long number = Random.Shared.NextInt64(count);
            if (!store.Get(KeyOf(number)).AsSpan().SequenceEqual(ValueOf(number)))
            {
                throw new InvalidOperationException($"Document {number} differs from the stored one.");
            }

            gets++;
        }

        Console.WriteLine($"gets/s {gets / Stopwatch.GetElapsedTime(begun).TotalSeconds:0}");
    }

    // An odd factor (2^64 divided by the golden ratio) gives every number a different key, and gives consecutive
    // numbers keys that are far apart.
    private const long KeyFactor = -7046029254386353131;

    private static byte[] KeyOf(long number)
    {
        byte[] key = new byte[8];
        BinaryPrimitives.WriteInt64BigEndian(key, unchecked(number * KeyFactor));
        return key;
    }

    private static byte[] ValueOf(long number) =>
        Encoding.ASCII.GetBytes(
            $$"""
            {"name":"Ada {{number}}","age":{{number % 90}},"city":"London {{number % 977}}",
            "score":0.{{number % 1000003}},"token":"{{number * 2654435761:x16}}","joined":"2026-11-21T10:00"}
            """
        );
}
