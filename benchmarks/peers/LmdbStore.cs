using System.Runtime.InteropServices;
using LightningDB;

namespace Rookery.Peers;

/// <summary>LMDB with its default durability: each transaction is synced.</summary>
internal sealed class LmdbStore : IStore
{
    private readonly LightningEnvironment _environment;
    private readonly LightningDatabase _database;

    public LmdbStore(string directory)
    {
        // Uses the library of Debian's package liblmdb0, because the one in the NuGet package needs a newer C library.
        NativeLibrary.SetDllImportResolver(
            typeof(LightningEnvironment).Assembly,
            static (_, _, _) => NativeLibrary.Load("liblmdb.so.0")
        );
        _environment = new LightningEnvironment(directory, new EnvironmentConfiguration { MapSize = 16L << 30 });
        _environment.Open();
        using var transaction = _environment.BeginTransaction();
        _database = transaction.OpenDatabase(
            configuration: new DatabaseConfiguration { Flags = DatabaseOpenFlags.Create }
        );
        Succeed(transaction.Commit());
    }

    public void Put(IReadOnlyList<(byte[] Key, byte[] Value)> documents)
    {
        using var transaction = _environment.BeginTransaction();
        foreach (var (key, value) in documents)
        {
            Succeed(transaction.Put(_database, key, value));
        }

        Succeed(transaction.Commit());
    }

    public byte[] Get(byte[] key)
    {
        using var transaction = _environment.BeginTransaction(TransactionBeginFlags.ReadOnly);
        var (_, _, value) = transaction.Get(_database, key);
        return value.CopyToNewArray();
    }

    public void Settle()
    {
        // Nothing to do: each transaction has written its pages.
    }

    public void Dispose()
    {
        _database.Dispose();
        _environment.Dispose();
    }

    private static void Succeed(MDBResultCode code)
    {
        if (code != MDBResultCode.Success)
        {
            throw new IOException($"LMDB refused: {code}.");
        }
    }
}
