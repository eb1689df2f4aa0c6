using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Recovery;

/// <summary>
/// Recovers from the loss of all other members: converts the data of a stopped node to the data of a new node of a new
/// cluster, in the same directory. The new data is built and checked in a subdirectory. The old data stays valid until
/// <see cref="Decide"/>, and is kept under other names afterwards. A power cut at any moment leaves either the old data
/// or the new data.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="options">The directories and settings.</param>
/// <param name="memory">Bounds the memory that the recovery uses.</param>
/// <param name="io">Records all disk work.</param>
/// <param name="time">The clock.</param>
public sealed class DataRecovery(
    IDisk disk,
    NodeOptions options,
    MemoryBudget memory,
    IIoRecorder io,
    TimeProvider time
)
{
    private NodeIds? _ids;

    /// <summary>
    /// Directory in which the new data are built. Before <see cref="Decide"/> the caller writes the new node's identity
    /// there too (the directory <c>cluster</c>).
    /// </summary>
    public string WorkDirectory => DirectoryReplacement.WorkPathOf(options.DataDirectory);

    private string JournalDirectory => options.JournalDirectory ?? DataDirectory.JournalPathOf(options.DataDirectory);

    /// <summary>
    /// Completes a decided recovery that a power cut or a kill interrupted, if there is one. Call it before reading the
    /// directory of a stopped node.
    /// </summary>
    /// <exception cref="DataDirectoryInUseException">A node runs on the directory.</exception>
    /// <exception cref="DataFormatException">The recovered journal is not in the directory that
    /// <paramref name="options"/> name.</exception>
    public static void Settle(IDisk disk, NodeOptions options)
    {
        if (DirectoryReplacement.IsDecided(disk, options.DataDirectory))
        {
            DataDirectory.Lock(disk, options).Dispose(); // Lock completes the recovery
        }
    }

    /// <summary>
    /// Builds the new data: all entries that the old data contain, committed or not, with new histories and without the
    /// old members.
    /// </summary>
    /// <param name="old">The old data, which stays open and locked until after <see cref="Decide"/>.</param>
    /// <param name="ids">The ids of the new node and cluster.</param>
    /// <exception cref="UnappliedDamageException">A journal entry needs a row that is damaged.</exception>
    /// <exception cref="IOException">A disk operation failed. The old data stays valid.</exception>
    public RecoveredData Build(StoppedStore old, NodeIds ids)
    {
        _ids = ids;
        var work = options with { DataDirectory = WorkDirectory, JournalDirectory = null };
        var history = new NewHistory(disk, work, memory, io, time);
        DataDirectory.CreateDurably(disk, WorkDirectory);
        using (DataDirectory.Lock(disk, WorkDirectory))
        {
            DataDirectory.CreateDurably(disk, DataDirectory.StoragePathOf(WorkDirectory));
            old.CopyTables(DataDirectory.StoragePathOf(WorkDirectory));
            history.WriteJournal(old.ReadEntries());
            DataDirectory.WriteFormat(disk, WorkDirectory, ids);
        }

        var data = history.Begin(onlyDatabase: null);
        if (data.Durable.Index != data.LastIndex)
        {
            throw new IOException(
                $"The recovered data could not be written, so nothing was changed: "
                    + $"{data.Trouble ?? "the last entry is not in the tables."}"
            );
        }

        JournalReplacement.Prepare(
            disk,
            new JournalOptions
            {
                Directory = JournalDirectory,
                SegmentBytes = options.SegmentBytes,
                StoreId = data.StoreId,
            },
            data.Durable,
            io
        );
        return new RecoveredData(data.Databases, data.Damage);
    }

    /// <summary>Replaces the old data by the new data, and keeps the old data under other names.</summary>
    /// <returns>The suffix of the old directories and of the old journal's files.</returns>
    public string Decide()
    {
        Invariant.Holds(_ids is not null, "new data is built before it replaces the old");
        string suffix = DirectoryReplacement.KeptSuffixOf(DataDirectory.ReadFormat(disk, options.DataDirectory));
        DirectoryReplacement.Decide(disk, options.DataDirectory, _ids);
        DirectoryReplacement.Settle(disk, options.DataDirectory, JournalDirectory);
        return suffix;
    }
}

/// <summary>Result of a recovery.</summary>
/// <param name="Databases">Names of the databases, with their number of documents.</param>
/// <param name="Damage">The damaged parts of the tables, one sentence each. No member has another copy.</param>
public sealed record RecoveredData(
    IReadOnlyList<(string Name, long Documents)> Databases,
    IReadOnlyList<string> Damage
);
