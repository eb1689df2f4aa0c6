using Rookery.Documents.Backups;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Recovery;

/// <summary>
/// Makes the data of a stopped node, the last that is left of a cluster, those of a new node of a new cluster, in the
/// same directory. Everything is made and checked beside the old data, which count until <see cref="Decide"/> and are
/// kept under other names afterwards. A power cut at any moment leaves the old data or the new.
/// </summary>
/// <param name="disk">The disk.</param>
/// <param name="options">Where the data are.</param>
/// <param name="memory">What bounds memory.</param>
/// <param name="io">Is told of disk work.</param>
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
    /// Where the new data are made; who the node becomes is written there too (the directory <c>cluster</c>), before
    /// <see cref="Decide"/>.
    /// </summary>
    public string WorkDirectory => DirectoryReplacement.WorkPathOf(options.DataDirectory);

    private string JournalDirectory => options.JournalDirectory ?? DataDirectory.JournalPathOf(options.DataDirectory);

    /// <summary>
    /// Completes a recovery that a power cut or a kill left to be completed, if there is one: for who looks at the
    /// directory before a node opens it.
    /// </summary>
    /// <exception cref="DataDirectoryInUseException">A node runs on it.</exception>
    /// <exception cref="DataFormatException">Its journal is not where <paramref name="options"/> say.</exception>
    public static void Settle(IDisk disk, NodeOptions options)
    {
        if (DirectoryReplacement.IsDecided(disk, options.DataDirectory))
        {
            DataDirectory.Lock(disk, options).Dispose();
        }
    }

    /// <summary>
    /// Makes the new data: everything that is held, committed or not, under new histories, and without the members of
    /// before.
    /// </summary>
    /// <param name="old">The old data, which stay open and locked until after <see cref="Decide"/>.</param>
    /// <param name="ids">Whose data they become.</param>
    /// <exception cref="UnappliedDamageException">An entry of the journal needs a row that cannot be read.</exception>
    /// <exception cref="IOException">The disk refused. The old data count.</exception>
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

    /// <summary>
    /// Lets the new data count. When it returns they are in place, and the old ones under the names that it says.
    /// </summary>
    /// <returns>What the names of the old directories and of the old journal's files end with.</returns>
    public string Decide()
    {
        Invariant.Holds(_ids is not null, "data are decided for after they were made");
        string suffix = DirectoryReplacement.KeptSuffixOf(DataDirectory.ReadFormat(disk, options.DataDirectory));
        DirectoryReplacement.Decide(disk, options.DataDirectory, _ids);
        DirectoryReplacement.Settle(disk, options.DataDirectory, JournalDirectory);
        return suffix;
    }
}

/// <summary>What was recovered.</summary>
/// <param name="Databases">The databases, with the number of their documents.</param>
/// <param name="Damage">The parts of the tables that cannot be read, a sentence each; nobody has another copy
/// now.</param>
public sealed record RecoveredData(
    IReadOnlyList<(string Name, long Documents)> Databases,
    IReadOnlyList<string> Damage
);
