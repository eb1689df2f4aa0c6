using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>
/// Reads the blocks of the documents that a command changes, on the caller's thread, before the command is queued: apply, which looks at the previous version of each, then
/// finds them in memory, or the command is refused because they cannot be read. Many callers read at once what the one thread of apply would read one after the other.
/// </summary>
internal sealed class PreviousVersions(StorageEngine storage)
{
    // 16 KiB each: a cache that is smaller than what is in flight would lose blocks before they are used, and what is held beyond its capacity stays within 4 MiB.
    private const int HeldBlocksLimit = 256;

    private int _held;

    /// <summary>Blocks held for commands that are not applied yet.</summary>
    public int Held => Volatile.Read(ref _held);

    /// <summary>Reads what the command's documents were. The block of a single document stays in memory until <see cref="LoadedVersion.Dispose"/>.</summary>
    /// <exception cref="DamagedException">A previous version cannot be read: the command could not be applied.</exception>
    public LoadedVersion Load(scoped CommandReader command)
    {
        switch (command.Kind)
        {
            case CommandKind.Batch or CommandKind.BulkPut:
                return LoadOperations(command);
            case CommandKind.ExpireDocuments:
                LoadExpired(command);
                return default;
            default:
                return default;
        }
    }

    internal void Release() => Interlocked.Decrement(ref _held);

    private LoadedVersion LoadOperations(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        Key.Prefix(key, command.Database, Table.Documents);
        var snapshot = storage.OpenSnapshot();
        Row row = default;
        bool isHeld = false;
        try
        {
            while (command.TryReadOperation(out var operation))
            {
                // Ids that the server makes are new.
                if (operation.Id.Kind != CommandIdKind.Literal)
                {
                    continue;
                }

                int length = operation.Id.WriteLowerName(key[Key.PrefixBytes..]);
                if (snapshot.TryLoadAhead(key[..(Key.PrefixBytes + length)], out row))
                {
                    if (row.IsLarge)
                    {
                        Check(row, isWhole: operation.Kind == OperationKind.Patch || command.SkipUnchanged);
                        continue;
                    }

                    isHeld = command.OperationCount == 1 && TryHold();
                    if (!isHeld)
                    {
                        row.Dispose();
                    }
                }
            }
        }
        finally
        {
            if (!isHeld)
            {
                snapshot.Dispose();
            }
        }

        return isHeld ? new LoadedVersion(this, snapshot, row) : default;
    }

    /// <summary>Reads what apply will read of a large document, so that it is known to be readable: what stands before the body, and the body for a patch or a comparison.</summary>
    private static void Check(in Row row, bool isWhole)
    {
        using var document = new Document(row);
        _ = isWhole ? document.View : document.Head;
    }

    private void LoadExpired(scoped CommandReader command)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        using var snapshot = storage.OpenSnapshot();
        while (command.TryReadExpiry(out var lowerId, out _))
        {
            if (snapshot.TryLoadAhead(Key.Text(key, command.Database, Table.Documents, lowerId), out var row))
            {
                row.Dispose();
            }
        }
    }

    private bool TryHold()
    {
        if (Interlocked.Increment(ref _held) <= HeldBlocksLimit)
        {
            return true;
        }

        Release();
        return false;
    }
}

/// <summary>A previous version whose block is held in memory for apply; the default value holds nothing. Dispose once.</summary>
internal readonly struct LoadedVersion : IDisposable
{
    private readonly PreviousVersions? _owner;
    private readonly Snapshot _snapshot;
    private readonly Row _row;

    public LoadedVersion(PreviousVersions owner, in Snapshot snapshot, in Row row)
    {
        _owner = owner;
        _snapshot = snapshot;
        _row = row;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_owner is not null)
        {
            _row.Dispose();
            _snapshot.Dispose();
            _owner.Release();
        }
    }
}
