using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Backups;

/// <summary>
/// Converts copied data of a node to the data of a new cluster. Creates a journal that continues after the data,
/// removes the members of the old cluster, and gives every database a new history id, so that no old change vector
/// matches a new document.
/// </summary>
internal sealed class NewHistory(
    IDisk disk,
    NodeOptions options,
    MemoryBudget memory,
    IIoRecorder io,
    TimeProvider time
)
{
    // Bytes of journal entries per write and sync.
    private const int BytesPerWrite = 1 << 20;

    private string Target => options.DataDirectory;

    /// <summary>
    /// Creates a journal that starts at the end of the copied storage, and writes the entries after it.
    /// </summary>
    public void WriteJournal(IEnumerable<JournalFrame> frames)
    {
        ManifestPosition position;
        Guid storeId;
        using (
            var storage = StorageEngine.Open(
                disk,
                options.ToStorageOptions(DataDirectory.StoragePathOf(Target)),
                memory,
                io,
                time
            )
        )
        {
            (position, storeId) = (storage.Durable, storage.StoreId);
        }

        string journalTarget = options.JournalDirectory ?? DataDirectory.JournalPathOf(Target);
        DataDirectory.CreateDurably(disk, journalTarget);
        var journalOptions = new JournalOptions
        {
            Directory = journalTarget,
            SegmentBytes = options.SegmentBytes,
            StoreId = storeId,
        };
        NodeJournal.Create(
            disk,
            journalOptions,
            new JournalPosition(position.Index, position.Term, position.Sequence),
            io
        );
        using var journal = NodeJournal.Open(
            disk,
            journalOptions,
            new JournalKnowledge(position.Index, position.Term, HasPeers: false),
            io
        );
        Write(journal, frames);
    }

    /// <summary>
    /// Opens the directory as a node does, deletes all databases except the one to keep, renews the histories, and
    /// checks every byte that was written.
    /// </summary>
    /// <param name="onlyDatabase">Name of the only database to keep; null for all.</param>
    /// <exception cref="UnappliedDamageException">An entry needs a row that is damaged.</exception>
    public NewHistoryData Begin(string? onlyDatabase)
    {
        using var store = NodeStore.Open(options with { IsRestoring = true }, disk, memory, io, time);
        store.ApplyAll();
        if (onlyDatabase is not null)
        {
            DeleteOthers(store, onlyDatabase);
        }

        DropRecordsOfMembers(store);
        foreach (var database in store.Databases.All)
        {
            Commit(store, CommandEncoder.RenewHistory(database.Number, HistoryId.Create()));
        }

        store.Storage.Memtables.RequestFlush();
        while (store.Background.DoStep()) { }

        while (!store.Storage.ScrubOnce(BackupPiece.MaxBytes)) { }

        string? trouble = store.Storage.Problem;
        store.Journal.StopCleanly();
        return new NewHistoryData(
            [.. store.Databases.All.Select(CountDocuments)],
            trouble,
            [.. store.Storage.Statistics().Damage.Select(static damage => damage.Sentence)],
            store.Journal.LastIndex,
            store.DurablePosition,
            store.Storage.StoreId
        );
    }

    private static void Write(NodeJournal journal, IEnumerable<JournalFrame> frames)
    {
        var pending = new List<JournalFrame>();
        int bytes = 0;
        foreach (var frame in frames)
        {
            // The new node is its own cluster, so configurations of the old cluster are dropped.
            pending.Add(
                frame.Type == FrameType.Configuration ? frame with { Type = FrameType.NoOp, Payload = default } : frame
            );
            bytes += frame.Payload.Length;
            if (bytes >= BytesPerWrite)
            {
                journal.Write(pending.ToArray());
                pending.Clear();
                bytes = 0;
            }
        }

        if (pending.Count > 0)
        {
            journal.Write(pending.ToArray());
        }
    }

    private static void DeleteOthers(NodeStore store, string onlyDatabase)
    {
        Database[] others =
        [
            .. store.Databases.All.Where(database => !DatabaseName.AreEqual(database.Name, onlyDatabase)),
        ];
        foreach (var database in others)
        {
            // A lock mode would refuse the deletion, or leave the database as it is.
            if (database.Configurations.LockMode != DatabaseLockMode.Unlock)
            {
                Commit(store, CommandEncoder.SetConfiguration(database.Number, ConfigurationName.LockMode, "null"u8));
            }
        }

        if (others.Length > 0)
        {
            Commit(store, CommandEncoder.DeleteDatabases([.. others.Select(static database => database.Name)]));
        }
    }

    // The new cluster starts with one voter; other members join it with empty directories.
    private static void DropRecordsOfMembers(NodeStore store)
    {
        using var writer = new ClusterRecordWriter();
        foreach (var record in ClusterRecordPrefix.BoundToMembers.SelectMany(store.ClusterRecords.List))
        {
            writer.Delete(record.Key);
        }

        if (writer.Count > 0)
        {
            Commit(store, writer.Complete());
        }
    }

    private static (string Name, long Documents) CountDocuments(Database database)
    {
        using var reader = database.OpenReader();
        return (database.Name, reader.ReadStatistics().Documents);
    }

    private static void Commit(NodeStore store, CommandBuffer command)
    {
        using (command)
        {
            if (store.CommitAlone(command).Rejection is { } refusal)
            {
                throw new BackupException($"The new cluster could not begin a new history: {refusal.Message}");
            }
        }
    }
}

/// <summary>Result of <see cref="NewHistory.Begin"/>.</summary>
/// <param name="Databases">Names of the databases, with their number of documents.</param>
/// <param name="Trouble">The problem with the tables, in one sentence; null if there is none.</param>
/// <param name="Damage">The damaged parts of the tables, one sentence each.</param>
/// <param name="LastIndex">Index of the last log entry.</param>
/// <param name="Durable">Position through which the tables are durable without the journal.</param>
/// <param name="StoreId">Id of the new store.</param>
internal sealed record NewHistoryData(
    IReadOnlyList<(string Name, long Documents)> Databases,
    string? Trouble,
    IReadOnlyList<string> Damage,
    long LastIndex,
    JournalPosition Durable,
    Guid StoreId
);
