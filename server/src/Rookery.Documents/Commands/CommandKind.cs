using Rookery.Documents.Nodes;

namespace Rookery.Documents.Commands;

/// <summary>What a command does. Numbers are part of the journal's format.</summary>
public enum CommandKind : byte
{
    /// <summary>An atomic list of put, delete and patch.</summary>
    Batch = 1,

    /// <summary>A list of puts; one command, but no promise of atomicity is made to the client.</summary>
    BulkPut = 2,

    /// <summary>The next range of ids for a client's HiLo generator.</summary>
    HiloNext = 3,

    /// <summary>A client gives the unused end of its range back.</summary>
    HiloReturn = 4,

    /// <summary>The next value of an identity.</summary>
    IdentityNext = 5,

    /// <summary>Sets the value of an identity.</summary>
    IdentitySeed = 6,

    /// <summary>Makes a database.</summary>
    CreateDatabase = 7,

    /// <summary>Removes databases.</summary>
    DeleteDatabases = 8,

    /// <summary>Removes documents whose time is over, each only if its etag is still the named one.</summary>
    ExpireDocuments = 9,

    /// <summary>Allows compaction to drop tombstones up to an etag.</summary>
    SetTombstoneHorizon = 10,

    /// <summary>Stores the client configuration of a database.</summary>
    PutClientConfiguration = 11,

    /// <summary>Gives a database a new history id, after a restore.</summary>
    RenewHistory = 12,

    /// <summary>Stores and deletes cluster records, all or none.</summary>
    SetClusterRecords = 13,

    /// <summary>
    /// Stores and deletes definitions of indexes, all or none. From <see cref="FormatLevel.Indexes"/> on.
    /// </summary>
    ChangeIndexes = 14,
}

/// <summary>What one operation of a batch does. Numbers are part of the journal's format.</summary>
public enum OperationKind : byte
{
    /// <summary>Stores a document.</summary>
    Put = 1,

    /// <summary>Removes a document.</summary>
    Delete = 2,

    /// <summary>Changes a document where it is.</summary>
    Patch = 3,
}

/// <summary>
/// What is done with one index of a <see cref="CommandKind.ChangeIndexes"/>. Numbers are part of the journal's format.
/// </summary>
public enum IndexCommandKind : byte
{
    /// <summary>Defines it.</summary>
    Put = 1,

    /// <summary>Removes it.</summary>
    Delete = 2,

    /// <summary>Changes how it is kept.</summary>
    Configure = 3,
}
