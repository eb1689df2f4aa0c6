using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Records;
using Rookery.Journal;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Backups;

/// <summary>
/// Makes data that was copied from a node those of a new one: a journal that goes on behind them, without the members
/// of the old cluster, and a new history id for every database, so that a change vector from before can never match
/// other content.
/// </summary>
internal sealed class NewHistory(
    IDisk disk,
    NodeOptions options,
    MemoryBudget memory,
    IIoRecorder io,
    TimeProvider time
)
{
    // Entries of the journal written by one sync.
    private const int BytesPerWrite = 1 << 20;

    private string Target => options.DataDirectory;

    /// <summary>A journal that begins where the copied storage ends, with the entries behind it.</summary>
    public void WriteJournal(IEnumerable<JournalFrame> frames)
    {
        ManifestPosition position;
        Guid storeId;
        using (
            var storage = StorageEngine.Open(
                disk,
                NodeStore.StorageOptionsOf(options, DataDirectory.StoragePathOf(Target)),
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
    /// Opens the directory as a node does, drops what was not asked for, renews the histories, and checks every byte of
    /// what was written.
    /// </summary>
    /// <param name="onlyDatabase">The name of the one database to keep; null for all.</param>
    /// <exception cref="UnappliedDamageException">An entry needs a row that cannot be read.</exception>
    public NewHistoryData Begin(string? onlyDatabase)
    {
        using var core = NodeStore.Open(options with { IsRestoring = true }, disk, memory, io, time);
        core.ApplyAll();
        string[] others = onlyDatabase is null
            ? []
            :
            [
                .. core
                    .Databases.All.Select(database => database.Name)
                    .Where(name => !DatabaseName.AreEqual(name, onlyDatabase)),
            ];
        if (others.Length > 0)
        {
            Commit(core, CommandEncoder.DeleteDatabases(others));
        }

        DropRecordsOfMembers(core);
        foreach (var database in core.Databases.All)
        {
            Commit(core, CommandEncoder.RenewHistory(database.Number, HistoryId.Create()));
        }

        core.Storage.RequestFlush();
        while (core.WorkOnce()) { }

        while (!core.Storage.ScrubOnce(BackupPiece.MaxBytes)) { }

        string? trouble = core.Storage.Health;
        core.StopCleanly();
        return new NewHistoryData(
            [.. core.Databases.All.Select(CountDocuments)],
            trouble,
            [.. core.Storage.Statistics().Damage.Select(static damage => damage.Sentence)],
            core.Journal.LastIndex,
            core.Durable,
            core.Storage.StoreId
        );
    }

    private static void Write(NodeJournal journal, IEnumerable<JournalFrame> frames)
    {
        var gathered = new List<JournalFrame>();
        int bytes = 0;
        foreach (var frame in frames)
        {
            // A new node is a cluster of its own: who belonged to the old one is left behind.
            gathered.Add(
                frame.Type == FrameType.Configuration ? frame with { Type = FrameType.NoOp, Payload = default } : frame
            );
            bytes += frame.Payload.Length;
            if (bytes >= BytesPerWrite)
            {
                journal.Write(gathered.ToArray());
                gathered.Clear();
                bytes = 0;
            }
        }

        if (gathered.Count > 0)
        {
            journal.Write(gathered.ToArray());
        }
    }

    // The new cluster starts as one voter, and the others join it empty.
    private static void DropRecordsOfMembers(NodeStore core)
    {
        using var writer = new ClusterRecordWriter();
        foreach (var record in ClusterRecordPrefix.BoundToMembers.SelectMany(core.ClusterRecords.List))
        {
            writer.Delete(record.Key);
        }

        if (writer.Count > 0)
        {
            Commit(core, writer.Complete());
        }
    }

    private static (string Name, long Documents) CountDocuments(Database database)
    {
        using var reader = database.OpenReader();
        return (database.Name, reader.ReadStatistics().Documents);
    }

    private static void Commit(NodeStore core, CommandBuffer command)
    {
        using (command)
        {
            if (core.CommitAlone(command).Rejection is { } refusal)
            {
                throw new BackupException($"The new cluster could not begin a new history: {refusal.Message}");
            }
        }
    }
}

/// <summary>What a new history begins with.</summary>
/// <param name="Databases">The databases, with the number of their documents.</param>
/// <param name="Trouble">What is wrong with the tables, in a sentence; null for nothing.</param>
/// <param name="Damage">The parts of the tables that cannot be read, a sentence each.</param>
/// <param name="LastIndex">The end of the log.</param>
/// <param name="Durable">What the tables hold without the journal.</param>
/// <param name="StoreId">The new store.</param>
internal sealed record NewHistoryData(
    IReadOnlyList<(string Name, long Documents)> Databases,
    string? Trouble,
    IReadOnlyList<string> Damage,
    long LastIndex,
    JournalPosition Durable,
    Guid StoreId
);
