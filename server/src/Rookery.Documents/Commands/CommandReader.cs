namespace Rookery.Documents.Commands;

/// <summary>Decodes a command in apply: no allocation, every length checked.</summary>
public ref struct CommandReader
{
    /// <summary>Reads a command's header.</summary>
    /// <exception cref="CommandFormatException">It does not decode: the journal is damaged in a way its checksums missed, or written by a newer version.</exception>
    public CommandReader(ReadOnlySpan<byte> command) => throw new NotSupportedException();

    /// <summary>What it does.</summary>
    public readonly CommandKind Kind { get; }

    /// <summary>The database's number; 0 for commands on databases themselves.</summary>
    public readonly uint Database { get; }

    /// <summary>Etags it consumes, whether it succeeds or not.</summary>
    public readonly int OperationCount { get; }

    /// <summary>The idempotency key's hash, or none.</summary>
    public readonly IdempotencyKey Key { get; }

    /// <summary>Batch, BulkPut: a put of an identical document keeps the old version.</summary>
    public readonly bool SkipUnchanged { get; }

    /// <summary>Batch, BulkPut: the next operation.</summary>
    public bool TryReadOperation(out Operation operation) => throw new NotSupportedException();

    /// <summary>ExpireDocuments: the next document.</summary>
    public bool TryReadExpiry(out ReadOnlySpan<byte> lowerId, out long etag) => throw new NotSupportedException();

    /// <summary>DeleteDatabases: the next name.</summary>
    public bool TryReadName(out ReadOnlySpan<byte> name) => throw new NotSupportedException();

    /// <summary>The body of <see cref="CommandKind.HiloNext"/>.</summary>
    public HiloNextCommand ReadHiloNext() => throw new NotSupportedException();

    /// <summary>The body of <see cref="CommandKind.HiloReturn"/>.</summary>
    public HiloReturnCommand ReadHiloReturn() => throw new NotSupportedException();

    /// <summary>The name of <see cref="CommandKind.IdentityNext"/>.</summary>
    public ReadOnlySpan<byte> ReadIdentityNext() => throw new NotSupportedException();

    /// <summary>The body of <see cref="CommandKind.IdentitySeed"/>.</summary>
    public IdentitySeedCommand ReadIdentitySeed() => throw new NotSupportedException();

    /// <summary>The body of <see cref="CommandKind.CreateDatabase"/>.</summary>
    public CreateDatabaseCommand ReadCreateDatabase() => throw new NotSupportedException();

    /// <summary>The etag of <see cref="CommandKind.SetTombstoneHorizon"/>.</summary>
    public long ReadTombstoneHorizon() => throw new NotSupportedException();

    /// <summary>The JSON of <see cref="CommandKind.PutClientConfiguration"/>.</summary>
    public ReadOnlySpan<byte> ReadClientConfiguration() => throw new NotSupportedException();
}

/// <summary>A command from the journal does not decode.</summary>
/// <param name="message">What is wrong, in a sentence.</param>
public sealed class CommandFormatException(string message) : Exception(message);
